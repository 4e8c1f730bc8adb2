//! The page of `nicdrill suite check`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use harness::suite::{CheckedLine, CheckedScenario, NeverJudged, NotShown, run_again};
use judge::Bite;
use reports::{DrillName, counted};

const WRITES: &str = "writing to a string cannot fail";

/// Counts of one kind of line.
#[derive(Default)]
struct Row {
    lines: usize,
    alterations: usize,
    red: usize,
    equivalent: usize,
    not_judged: usize,
    unnoticed: usize,
}

impl Row {
    fn add(&mut self, line: &CheckedLine) {
        self.lines += 1;
        for (_, bite) in &line.alterations {
            self.alterations += 1;
            *match bite {
                Bite::Red => &mut self.red,
                Bite::Equivalent(_) => &mut self.equivalent,
                Bite::NotJudged(_) => &mut self.not_judged,
                Bite::Green => &mut self.unnoticed,
            } += 1;
        }
    }
}

/// A table by kinds of lines, what makes no difference and why, and the lines of which something went unnoticed; with
/// `verbose` each line.
pub(crate) fn suite_check_page(
    checked: &[CheckedScenario],
    again: &[String],
    verbose: bool,
) -> String {
    let mut page = String::new();
    let mut line = |words: std::fmt::Arguments<'_>| writeln!(page, "{words}").expect(WRITES);
    let lines = || checked.iter().flat_map(|of| &of.lines);
    if verbose {
        for of in lines() {
            line(format_args!("{}  {}", of.line.place, of.line.text));
            for (alteration, bite) in &of.alterations {
                line(format_args!("    {alteration}: {}", came(bite)));
            }
        }
    }
    for of in lines() {
        let unnoticed: Vec<&str> = of.unnoticed().collect();
        if !unnoticed.is_empty() {
            line(format_args!("{}  {}", of.line.place, of.line.text));
            line(format_args!(
                "    green although altered: {}",
                unnoticed.join(", ")
            ));
        } else if of.asserts_nothing() {
            line(format_args!("{}  {}", of.line.place, of.line.text));
            let reasons = of.alterations.iter().map(|(_, bite)| came(bite));
            let reasons: BTreeSet<&str> = reasons.collect();
            let reasons: Vec<&str> = reasons.into_iter().collect();
            line(format_args!("    asserts nothing: {}", reasons.join("; ")));
        }
    }
    for of in checked.iter().flat_map(|of| &of.never_judged) {
        line(format_args!("{}  {}", of.line.place, of.line.text));
        line(format_args!("    {}", never_judged(of)));
    }
    for (drill, reason, more) in folded(checked, verbose) {
        let more = match more {
            0 => String::new(),
            more => format!(
                "; so do {} like it: `-v` lists them",
                counted(more, "drill")
            ),
        };
        match reason {
            NotShown::Red(arm) => line(format_args!(
                "{drill}  shows nothing: it is red as it is in the {arm} arm; `{}` says why{more}",
                run_again(again, drill, None)
            )),
            NotShown::NotPlayed(reason) => {
                line(format_args!("{drill}  shows nothing: {reason}{more}"));
            }
        }
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, bite) in lines().flat_map(|of| &of.alterations) {
        match bite {
            Bite::Equivalent(reason) => *reasons.entry(reason).or_default() += 1,
            Bite::NotJudged(reason) => *reasons.entry(reason).or_default() += 1,
            Bite::Red | Bite::Green => {}
        }
    }
    if !reasons.is_empty() {
        line(format_args!(
            "alterations that make no difference, and why:"
        ));
        for (reason, count) in reasons {
            line(format_args!("{count:>7}  {reason}"));
        }
    }
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for of in lines() {
        rows.entry(of.kind).or_default().add(of);
        rows.entry("~all").or_default().add(of);
    }
    line(format_args!(
        "{:<20}{:>7}{:>13}{:>7}{:>12}{:>12}{:>11}",
        "expectation", "lines", "alterations", "red", "equivalent", "not judged", "unnoticed"
    ));
    for (kind, row) in rows {
        line(format_args!(
            "{:<20}{:>7}{:>13}{:>7}{:>12}{:>12}{:>11}",
            kind.trim_start_matches('~'),
            row.lines,
            row.alterations,
            row.red,
            row.equivalent,
            row.not_judged,
            row.unnoticed
        ));
    }
    // A drill that is red shows nothing, and was played.
    let is_red = |(_, reason): &&(DrillName, NotShown)| matches!(reason, NotShown::Red(_));
    let red = |of: &CheckedScenario| of.not_shown.iter().filter(is_red).count();
    let played: usize = checked.iter().map(|of| of.played + red(of)).sum();
    line(format_args!(
        "{}, {} played",
        counted(checked.len() as u64, "scenario"),
        counted(played as u64, "drill")
    ));
    page
}

/// The drills that show nothing, each with the reason; of those of one scenario in one arm, and of those that are not played
/// for one reason, the first, with the number of the others. With `all`, each.
fn folded(checked: &[CheckedScenario], all: bool) -> Vec<(&DrillName, &NotShown, u64)> {
    let mut folded: Vec<(&DrillName, &NotShown, u64)> = Vec::new();
    for (drill, reason) in checked.iter().flat_map(|of| &of.not_shown) {
        let is_like = |(first, of, _): &(&DrillName, &NotShown, u64)| {
            let is_of_scenario = first.scenario == drill.scenario;
            match (of, reason) {
                (NotShown::Red(one), NotShown::Red(other)) => is_of_scenario && one == other,
                (NotShown::NotPlayed(one), NotShown::NotPlayed(other)) => {
                    is_of_scenario || one == other
                }
                _ => false,
            }
        };
        match folded.iter().position(is_like).filter(|_| !all) {
            Some(at) => folded[at].2 += 1,
            None => folded.push((drill, reason, 0)),
        }
    }
    folded
}

/// Why a line was never judged.
fn never_judged(of: &NeverJudged) -> String {
    let quoted = |names: &[String]| {
        let names = names.iter().map(|name| format!("`{name}`"));
        names.collect::<Vec<_>>().join(", ")
    };
    let selected = quoted(&of.selected);
    if of.fits.is_empty() {
        format!("never judged: fits none of the platforms {selected}")
    } else {
        let fits = quoted(&of.fits);
        format!("never judged: fits none of the platforms {selected}; it fits {fits}, not selected")
    }
}

fn came(bite: &Bite) -> &str {
    match bite {
        Bite::Red => "red",
        Bite::Equivalent(reason) => reason,
        Bite::NotJudged(reason) => reason,
        Bite::Green => "GREEN",
    }
}
