//! The output of `nicdrill zoo`: the list of the wrong monitors, the table of what catches them,
//! the totals.

use std::fmt::Write as _;

use ::zoo::{Mutant, RIGHT_POLLS};
use reports::counted;

use super::hunt::{AsProcess, Caught};

const WRITES: &str = "writing to a string cannot fail";

/// So many scenarios are named in a row of the table.
const NAMED: usize = 3;

/// A wrong monitor caught by so many scenarios at most is a subtle one.
const FEW: usize = 2;

/// What each is modelled on, and the story in which it is right at first; in full, as YAML too.
pub(super) fn list(mutants: &[Mutant], in_full: bool) -> String {
    let mut page = String::new();
    for mutant in mutants {
        writeln!(page, "{}", mutant.name).expect(WRITES);
        writeln!(page, "  models  {}", mutant.models).expect(WRITES);
        let story = scenarios::read(&format!("zoo/{}.yaml", mutant.name), mutant.story);
        let (title, why) = story
            .as_ref()
            .map_or(("", ""), |story| (story.title(), story.why()));
        writeln!(
            page,
            "  right   for {RIGHT_POLLS} polls when {title}: {why}"
        )
        .expect(WRITES);
        if in_full {
            for line in mutant.story.trim().lines() {
                writeln!(page, "  | {line}").expect(WRITES);
            }
        }
    }
    page
}

/// Who was caught, by how many of the drills that it played, how soon, and by which.
pub(super) fn table(caught: &[Caught]) -> String {
    let wide = caught.iter().map(|one| one.mutant.name.len()).max();
    let wide = wide.unwrap_or(0).max("wrong monitor".len());
    let mut page = format!(
        "{:<wide$}  {:<11} {:<9} by\n",
        "wrong monitor", "drills", "soonest"
    );
    for one in caught {
        let name = one.mutant.name;
        let drills = format!("{:>3} of {:<4}", one.by.len(), one.played);
        let Some((_, soonest)) = one.by.first() else {
            writeln!(page, "{name:<wide$}  {drills} {:<9} not caught", "-").expect(WRITES);
            continue;
        };
        let poll = soonest.map_or_else(|| "-".to_owned(), |poll| format!("poll {poll}"));
        let named: Vec<String> = one
            .by
            .iter()
            .take(NAMED)
            .map(|(drill, _)| drill.to_string())
            .collect();
        let more = match one.by.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let rendered = match &one.as_process {
            AsProcess::Caught | AsProcess::NotPlayed(_) => String::new(),
            AsProcess::Passes(drill) => format!("; NOT AS A PROCESS: {drill} passes"),
        };
        writeln!(
            page,
            "{name:<wide$}  {drills} {poll:<9} {}{more}{rendered}",
            named.join(", ")
        )
        .expect(WRITES);
    }
    page
}

/// The scenarios that are of no use to the hunt.
pub(super) fn idle(idle: &[String]) -> String {
    let mut page = String::new();
    for scenario in idle {
        writeln!(
            page,
            "{scenario} catches nobody and states no row of a table"
        )
        .expect(WRITES);
    }
    page
}

/// What came of it, in one line; only a whole hunt tells how many scenarios are idle, and which monitors few catch.
pub(super) fn sum(caught: &[Caught], idle: Option<&[String]>) -> String {
    let lives = caught.iter().filter(|one| one.lives()).count();
    let by_few = caught
        .iter()
        .filter(|one| !one.by.is_empty() && one.by.len() <= FEW);
    let as_process = caught
        .iter()
        .filter(|one| one.as_process == AsProcess::Caught);
    let mut sum = format!(
        "{}: {} caught, {lives} live; {} as a process too",
        counted(caught.len() as u64, "wrong monitor"),
        caught.len() - lives,
        as_process.count()
    );
    if let Some(idle) = idle {
        write!(
            sum,
            "; {} by one or two scenarios only; {}",
            by_few.count(),
            counted(idle.len() as u64, "idle scenario")
        )
        .expect(WRITES);
    }
    let unplayed = caught.iter().find_map(|one| match &one.as_process {
        AsProcess::NotPlayed(reason) if !one.by.is_empty() => Some(reason),
        _ => None,
    });
    if let Some(reason) = unplayed {
        write!(sum, " (not as a process: {reason})").expect(WRITES);
    }
    sum.push('\n');
    sum
}
