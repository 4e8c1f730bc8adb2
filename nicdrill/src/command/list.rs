//! `nicdrill list`: what would run, what would not, and why.

mod markdown;

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use reports::{ExitCode, PlannedDrill, counted};
use serde_json::{Value, json};
use terms::Arm;

use super::{
    Stop,
    select::{Choice, choose},
};
use crate::{
    arguments::{Color, ListArguments},
    pages::platform_pages::in_columns,
    terminal::Terminal,
};

/// Lists the drills of a selection.
pub(crate) fn list(arguments: &ListArguments) -> Result<ExitCode, Stop> {
    let choice = choose(&arguments.select, 0)?;
    let text = if arguments.json {
        as_json(&choice)
    } else if arguments.markdown {
        markdown::page(&choice)
    } else if arguments.drills {
        drills(&choice)
    } else {
        scenarios(&choice)
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
    let drill = |planned: &PlannedDrill| {
        let scenario = choice.library.scenario(&planned.drill.scenario);
        json!({
            "drill": planned.drill,
            "scenario": planned.drill.scenario,
            "title": scenario.map(|of| of.scenario.title()),
            "file": scenario.map(|of| of.file.as_str()),
            "platform": planned.drill.world,
            "arms": planned.arms,
            "because": choice.selected.because.get(&planned.drill),
            "real_time_s": choice.selected.real_time.get(&planned.drill).map(Duration::as_secs_f64),
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

/// The selection as a line for each scenario, and the totals.
fn scenarios(choice: &Choice) -> String {
    let mut of_scenario: BTreeMap<&str, Vec<&PlannedDrill>> = BTreeMap::new();
    for planned in &choice.selected.drills {
        let drills = of_scenario.entry(&planned.drill.scenario).or_default();
        drills.push(planned);
    }
    // A scenario that fits nowhere has a line too.
    for pair in &choice.selected.not_applicable {
        of_scenario.entry(&pair.drill.scenario).or_default();
    }
    let rows = of_scenario.iter().map(|(name, drills)| {
        let arms = [Arm::Memory, Arm::Process].map(|arm| {
            let count = drills.iter().filter(|drill| drill.arms.contains(&arm));
            format!("{} {arm}", count.count())
        });
        let drills = match drills.len() {
            0 => "fits nowhere".to_owned(),
            count => format!("{} ({})", counted(count as u64, "drill"), arms.join(", ")),
        };
        let title = choice.library.scenario(name);
        let title = title.map_or("", |of| of.scenario.title());
        [(*name).to_owned(), drills, title.to_owned()]
    });
    let rows: Vec<[String; 3]> = rows.collect();
    let mut text = String::new();
    for line in in_columns(&rows) {
        writeln!(text, "{line}").expect(WRITES);
    }
    let scenarios = counted(of_scenario.len() as u64, "scenario");
    writeln!(text, "{scenarios}: {}", totals(choice)).expect(WRITES);
    text
}

/// The selection as a line for each drill and each pair that does not fit, and the totals.
fn drills(choice: &Choice) -> String {
    let mut text = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| writeln!(text, "{words}").expect(WRITES);
    for planned in &choice.selected.drills {
        let arms: Vec<String> = planned.arms.iter().map(ToString::to_string).collect();
        let arms = match choice.selected.real_time.get(&planned.drill) {
            Some(needed) => {
                let needed = needed.as_secs_f64().ceil();
                format!("{}, {needed} s of real time", arms.join(" "))
            }
            None => arms.join(" "),
        };
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
    line(format_args!("{}", totals(choice)));
    text
}

/// How many drills there are, in which arm, and how many pairs do not fit.
fn totals(choice: &Choice) -> String {
    let drills = &choice.selected.drills;
    let in_arm = |arm| {
        let planned = drills.iter().filter(|planned| planned.arms.contains(&arm));
        planned.count()
    };
    format!(
        "{} ({} in the memory arm, {} in the process arm); {} not applicable",
        counted(drills.len() as u64, "drill"),
        in_arm(Arm::Memory),
        in_arm(Arm::Process),
        counted(choice.selected.not_applicable.len() as u64, "pair"),
    )
}

/// A string takes everything.
const WRITES: &str = "writing to a string cannot fail";
