//! `nicdrill show`: shows one drill in full.

use std::process;

use harness::{
    MemoryPlayer, Player, play_for,
    suite::{self, Starting},
};
use judge::{JudgedIn, lanes};
use reports::{
    DrillReport, ExitCode, RunEvent, RunReport, Wall, drill_block, judged_line, lanes_page,
    not_judged_page, one_line,
};
use terms::Arm;

use super::{
    Stop, needs,
    select::choose_one,
    stage::{self, Standing},
};
use crate::{
    arguments::{Arms, Color, ShowArguments},
    pages::drill_page,
    terminal::{Terminal, log},
};

/// Plays one drill in one arm and prints all of it.
pub(crate) fn show(arguments: &ShowArguments) -> Result<process::ExitCode, Stop> {
    if let Some(Arms::Both) = arguments.arm {
        return Err(
            Stop::usage("`show` plays in one arm").hint("`--arm memory` or `--arm process`")
        );
    }
    let choice = choose_one(
        &arguments.which,
        arguments.arm,
        arguments.monitor.clone(),
        arguments.against,
    )?;
    let needs = needs::read(arguments.needs.as_deref(), &choice.library)?;
    let Some(planned) = choice.first() else {
        return Ok(ExitCode::NothingJudged.into());
    };
    let arm = match arguments.arm {
        Some(Arms::Process) => Arm::Process,
        None if !planned.arms.contains(&Arm::Memory) => Arm::Process,
        _ => Arm::Memory,
    };
    let here = match stage::set(arm == Arm::Process) {
        Standing::Outside(code) => return Ok(code.into()),
        Standing::Here(here) => here,
    };
    let mut player: Box<dyn Player> = match (arm, &here.stage) {
        (Arm::Memory, _) => Box::new(MemoryPlayer::default()),
        (Arm::Process, Ok(stage)) => Starting {
            pin: true,
            tell: Some(log),
            ..Starting::default()
        }
        .player(stage, 0)
        .map_err(|reason| Stop::with(ExitCode::StageNotSet, reason.to_string()))?,
        (Arm::Process, Err(reason)) => {
            return Err(Stop::with(ExitCode::StageNotSet, reason.to_string()));
        }
    };
    let story = suite::story(&choice.library, &planned.drill)
        .expect("a drill that was selected is in the library")
        .map_err(Stop::input)?;
    let of_site = needs.as_ref().map(|of| &of.needs);
    let result = play_for(&story, &choice.descriptor, of_site, &mut [player.as_mut()]);
    let mut terminal = Terminal::new(if arguments.lanes {
        arguments.color
    } else {
        Color::Never
    });
    for played in &result.played {
        if !arguments.lanes {
            terminal.out(&drill_page(&story, &played.recording));
            continue;
        }
        let of = JudgedIn {
            arm: played.arm,
            findings: &result.findings,
            judged: &result.judged,
        };
        let (truth, recording) = (&played.truth, &played.recording);
        let drawn = lanes(&story, truth, recording, &choice.descriptor, of).shown();
        let drawn = if arguments.reads {
            drawn
        } else {
            drawn.without_reads()
        };
        let width = arguments.width.unwrap_or_else(|| terminal.columns());
        terminal.out(&format!(
            "{}\n{}, {arm} arm\n\n",
            one_line(&story.title),
            planned.drill
        ));
        terminal.out(&lanes_page(&drawn, width, terminal.style()));
    }
    let by = suite::judged_by(&choice.descriptor, needs.as_ref(), &choice.again);
    let mut again = choice.again.clone();
    if let Some(needs) = &arguments.needs {
        again.extend(["--needs".to_owned(), needs.clone()]);
    }
    let show = suite::show_again(&again, &planned.drill, Some(arm));
    let report = DrillReport {
        drill: planned.drill.clone(),
        outcome: DrillReport::outcome_of(&result.arms, &result.findings),
        arms: result.arms,
        findings: result.findings,
        verdicts: result.verdicts,
        judged: result.judged,
        file: String::new(),
        repeat: show.clone(),
        show,
        wall: Wall::default(),
    }
    .shown();
    terminal.out(&format!("\n{}", drill_block(&report, terminal.style())));
    let mut run = RunReport::default();
    run.take(&RunEvent::DrillPassed(report));
    run.summary = run.counted();
    if !run.summary.judged.not_judged.is_empty() || !run.summary.judged.parts.is_empty() {
        terminal.out(&not_judged_page(&run, terminal.style()));
    }
    terminal.out(&format!("{}\n", judged_line(&run.summary, &by)));
    let code = run
        .drills
        .iter()
        .fold(ExitCode::Success, |code, drill| code.or(drill.exit_code()));
    let code = code.or(suite::judged_exit_code(&by, &run.summary));
    if code != ExitCode::Success {
        log(&format!("exit code {code}: {}", code.meaning()));
    }
    Ok(code.into())
}
