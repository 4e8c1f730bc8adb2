//! `nicdrill list`: what would run, what would not, and why.

use std::fmt::Write as _;

use reports::{ExitCode, counted};

use super::{Stop, select::choose};
use crate::{
    arguments::{Color, SelectArguments},
    terminal::Terminal,
};

/// Lists the drills of a selection.
pub(crate) fn list(arguments: &SelectArguments) -> Result<ExitCode, Stop> {
    let choice = choose(arguments, 0)?;
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
    Terminal::new(Color::Never).out(&text);
    let nothing = choice.selected.drills.is_empty();
    Ok(if nothing {
        ExitCode::NothingJudged
    } else {
        ExitCode::Success
    })
}
