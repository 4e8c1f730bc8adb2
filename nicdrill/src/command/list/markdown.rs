//! `nicdrill list --markdown`: the scenarios of a selection as a page, such as docs/suite.md.

use std::{collections::BTreeMap, fmt::Write as _};

use harness::read_files::SuiteScenario;
use reports::counted;

use super::{super::select::Choice, WRITES};

/// A table for each family: its scenarios, each with its title, on how many platforms or in which world it is played, and
/// the clauses that it covers.
pub(super) fn page(choice: &Choice) -> String {
    let mut platforms: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for planned in &choice.selected.drills {
        let of_scenario = platforms.entry(&planned.drill.scenario).or_default();
        of_scenario.push(&planned.drill.world);
    }
    let all = choice.library.platforms.iter().count();
    let mut families: BTreeMap<String, Vec<&SuiteScenario>> = BTreeMap::new();
    let listed = choice.library.scenarios.iter();
    for of in listed.filter(|of| platforms.contains_key(of.name.as_str())) {
        families.entry(of.scenario.family()).or_default().push(of);
    }
    let count = platforms.len() as u64;
    let mut page = format!(
        "# The suite\n\n{} in {}. `nicdrill list --markdown` prints this page, `nicdrill show NAME` the story of one, and\n\
         `nicdrill list --drills NAME` where it is played. *Played on* counts platforms and their variants, of which {all} ship.\n",
        counted(count, "scenario"),
        counted(families.len() as u64, "folder"),
    );
    for (family, scenarios) in &families {
        write!(
            page,
            "\n## {family}\n\n| scenario | what happens | played on | covers |\n|---|---|---|---|\n"
        )
        .expect(WRITES);
        for of in scenarios {
            let name = of.name.rsplit('/').next().unwrap_or(&of.name);
            let played = match of.scenario.world() {
                Some(world) => format!("the world `{world}`"),
                None => platforms[of.name.as_str()].len().to_string(),
            };
            let covers: Vec<String> = of
                .scenario
                .covers()
                .iter()
                .map(|id| format!("`{id}`"))
                .collect();
            let title = of.scenario.title().replace('|', "\\|");
            let covers = covers.join(" ");
            writeln!(page, "| `{name}` | {title} | {played} | {covers} |").expect(WRITES);
        }
    }
    page
}
