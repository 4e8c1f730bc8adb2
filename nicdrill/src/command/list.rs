//! `nicdrill list`: what would run, what would not, and why.

use std::fmt::Write as _;

use reports::{ExitCode, counted};
use serde_json::{Value, json};

use super::{
    Stop,
    select::{Choice, choose},
};
use crate::{
    arguments::{Color, ListArguments},
    terminal::Terminal,
};

/// Lists the drills of a selection.
pub(crate) fn list(arguments: &ListArguments) -> Result<ExitCode, Stop> {
    let choice = choose(&arguments.select, 0)?;
    let text = if arguments.json {
        as_json(&choice)
    } else {
        as_lines(&choice)
    };
    Terminal::new(Color::Never).out(&text);
    let nothing = choice.selected.drills.is_empty();
    Ok(if nothing {
        ExitCode::NothingJudged
    } else {
        ExitCode::Success
    })
}

/// The selection as JSON, with a newline at its end.
fn as_json(choice: &Choice) -> String {
    let drill = |planned: &reports::PlannedDrill| {
        let scenario = choice.library.scenario(&planned.drill.scenario);
        json!({
            "drill": planned.drill,
            "scenario": planned.drill.scenario,
            "title": scenario.map(|of| of.scenario.title()),
            "file": scenario.map(|of| of.file.as_str()),
            "platform": planned.drill.world,
            "arms": planned.arms,
            "because": choice.selected.because.get(&planned.drill),
        })
    };
    let drills: Vec<Value> = choice.selected.drills.iter().map(drill).collect();
    let list = json!({
        "list_version": 1,
        "drills": drills,
        "not_applicable": choice.selected.not_applicable,
    });
    format!("{list:#}\n")
}

/// The selection as a line for each drill and each pair that does not fit, and the totals.
fn as_lines(choice: &Choice) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| {
        writeln!(text, "{words}").expect("writing to a string cannot fail");
    };
    for planned in &choice.selected.drills {
        let arms: Vec<String> = planned.arms.iter().map(ToString::to_string).collect();
        let arms = arms.join(" ");
        match choice.selected.because.get(&planned.drill) {
            Some(because) => line(format_args!("{}  {arms}: {because}", planned.drill)),
            None => line(format_args!("{}  {arms}", planned.drill)),
        }
    }
    for pair in &choice.selected.not_applicable {
        line(format_args!(
            "{}  not applicable: {}",
            pair.drill, pair.reason
        ));
    }
    let in_arm = |name| {
        choice
            .selected
            .drills
            .iter()
            .filter(|planned| planned.arms.contains(&name))
            .count()
    };
    line(format_args!(
        "{} ({} in the memory arm, {} in the process arm); {} not applicable",
        counted(choice.selected.drills.len() as u64, "drill"),
        in_arm(reports::ArmName::Memory),
        in_arm(reports::ArmName::Process),
        counted(choice.selected.not_applicable.len() as u64, "pair"),
    ));
    text
}
