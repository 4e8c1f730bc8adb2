//! A run as text for a terminal: one block for each failure, and one line at the end.
//!
//! Only texts are created here; the caller knows whether there is a terminal and whether it supports
//! colours.

use std::{fmt::Write as _, time::Duration};

use crate::{
    ArmStatus, ClauseCoverage, ClauseStatus, Coverage, CoverageCount, DrillReport, ExitCode,
    Finding, JudgedBy, Outcome, ProbeOutcome, RunEvent, RunReport, ScenarioCoverage, Summary,
    VerdictCount, Wall, counted, harmless, judged_line, judged_page::left_out_lines, visible,
};

/// The largest number of reads in a block. Chosen: two polls of two ports fit a screen.
const READS_MAX: usize = 24;

/// The largest number of nearest candidates in a block. Chosen: enough to see what came instead.
const CAME_MAX: usize = 8;

/// From which real time of a poll on a note is shown, in milliseconds. Chosen: a drill of 50 polls then takes 10 s.
const SLOW_POLL_MS: u64 = 200;

/// The style of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to use colours.
    pub color: bool,
}

impl Style {
    pub(crate) fn bold(self, text: &str) -> String {
        self.dressed("1", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.dressed("1;31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.dressed("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.dressed("33", text)
    }

    /// A text for a terminal in which nothing foreign is left that it would obey, as [`crate::as_output`] gives it, but for the
    /// colours of this style.
    #[must_use]
    pub fn safe(self, text: &str) -> String {
        let mut safe = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\u{1b}') {
            let (before, from) = rest.split_at(at);
            safe.push_str(&visible(before));
            let dress = DRESSES.iter().find(|dress| from.starts_with(**dress));
            let kept = match dress {
                Some(dress) if self.color => dress.len(),
                _ => 1,
            };
            let (own, after) = from.split_at(kept);
            match kept {
                1 => safe.push_str(&visible(own)),
                _ => safe.push_str(own),
            }
            rest = after;
        }
        safe.push_str(&visible(rest));
        harmless(&safe).into_owned()
    }

    fn dressed(self, code: &str, text: &str) -> String {
        if self.color {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// The sequences that a style writes.
const DRESSES: [&str; 5] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[1;31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
];

/// The text of an event that is shown at once; `None` if there is none.
///
/// Passed drills are shown only if expectations of them were not judged: their number is in the last line.
#[must_use]
pub fn event_line(event: &RunEvent, style: Style) -> Option<String> {
    match event {
        RunEvent::DrillFailed(drill) | RunEvent::DrillKnown(drill) => {
            Some(drill_block(drill, style))
        }
        RunEvent::DrillPassed(drill) if !drill.judged.left_out.is_empty() => {
            Some(drill_block(drill, style))
        }
        RunEvent::Probe {
            monitor,
            outcome: ProbeOutcome::Failed { reason, exit_code },
            ..
        } => Some(format!(
            "{}  the monitor `{monitor}` {}: {reason}\n      ({exit_code}: {})\n",
            style.red("STOP"),
            not_drilled(*exit_code),
            exit_code.meaning(),
        )),
        RunEvent::Probe {
            outcome: ProbeOutcome::Skipped { reason },
            ..
        } => Some(format!(
            "{}  the process arm is skipped: {reason}\n",
            style.yellow("NOTE")
        )),
        RunEvent::Probe {
            outcome: ProbeOutcome::Ready { advice },
            wall,
            ..
        } => {
            let advice = advice
                .as_ref()
                .map(|advice| format!("{}  the monitor: {advice}\n", style.yellow("NOTE")));
            let notes: String = slow_polls(wall, style).into_iter().chain(advice).collect();
            (!notes.is_empty()).then_some(notes)
        }
        _ => None,
    }
}

/// What is said of a monitor whose probe failed with this code: it cannot be drilled, or a signal ended the probe.
pub(crate) const fn not_drilled(code: ExitCode) -> &'static str {
    match code.is_early_end() {
        true => "was not drilled",
        false => "cannot be drilled",
    }
}

/// A note about a monitor whose polls take long in real time; `None` if they do not.
fn slow_polls(wall: &Wall, style: Style) -> Option<String> {
    let poll_ms = wall.0.get("poll_ms")?.as_u64()?;
    (poll_ms >= SLOW_POLL_MS).then(|| {
        format!(
            "{}  a poll of the monitor takes {:.1} s of real time, and a drill of 50 polls {} s: shorten its interval by\n      `command`, `env` or `config` of its descriptor\n",
            style.yellow("NOTE"),
            Duration::from_millis(poll_ms).as_secs_f64(),
            (poll_ms * 50 + 500) / 1000,
        )
    })
}

/// The block of a drill: for a failed one, each failure, and the command that repeats the drill.
#[must_use]
pub fn drill_block(drill: &DrillReport, style: Style) -> String {
    let word = match drill.outcome {
        Outcome::Passed => style.green("PASS"),
        Outcome::Failed => style.red("FAIL"),
        Outcome::Known => style.yellow("KNOWN"),
        Outcome::Skipped => style.yellow("SKIP"),
    };
    let mut block = format!("{word}  {}", style.bold(&drill.drill.to_string()));
    let arms: Vec<String> = drill
        .arms
        .iter()
        .map(|arm| match &arm.status {
            ArmStatus::Passed => format!("{}: passed", arm.arm),
            ArmStatus::Failed => format!("{}: failed", arm.arm),
            ArmStatus::Skipped { reason } => format!("{}: skipped, {reason}", arm.arm),
        })
        .collect();
    writeln!(block, "  ({})", arms.join("; ")).expect(WRITES);
    for finding in &drill.findings {
        let place = finding.line.as_ref().map(|line| line.place.as_str());
        block += &failure_block(finding, place, style);
    }
    let left_out = drill.judged.left_out.iter();
    block.extend(left_out.map(left_out_lines));
    if matches!(drill.outcome, Outcome::Failed | Outcome::Known) {
        writeln!(block, "  repeat it: {}", style.bold(&drill.repeat)).expect(WRITES);
    }
    block
}

/// The last lines of a run: all counts, and how much was judged, by what. Unless it is told already, they say where the
/// reasons of what was not judged are found.
#[must_use]
pub fn summary_line(run: &RunReport, style: Style, is_told: bool) -> String {
    let Summary {
        drills,
        passed,
        failed,
        known,
        skipped,
        not_reached,
        not_applicable,
        ..
    } = run.summary;
    let mut line = format!(
        "{} of {}: {passed} passed, {failed} failed",
        counted(drills, "drill"),
        run.plan.monitor_text()
    );
    let mut add = |count: u64, words: &str| {
        if count > 0 {
            write!(line, ", {count} {words}").expect(WRITES);
        }
    };
    add(known, "known");
    add(skipped, "skipped");
    add(not_reached, "not reached");
    for (name, arm) in [
        ("memory", run.summary.memory),
        ("process", run.summary.process),
    ] {
        if arm.planned > 0 {
            write!(line, "; {name} arm: {} of {} run", arm.run, arm.planned).expect(WRITES);
        }
    }
    if let Some(reason) = &run.summary.process_skipped {
        write!(line, " ({reason})").expect(WRITES);
    }
    let both = run
        .plan
        .drills
        .iter()
        .filter(|planned| planned.arms.len() > 1);
    let both = both.count();
    if run.summary.memory.planned > 0 && run.summary.process.planned > 0 && both > 0 {
        write!(line, "; {} in both", counted(both as u64, "drill")).expect(WRITES);
    }
    match not_applicable {
        0 => {}
        1 => line += "; 1 more pair of scenario and platform does not fit (`nicdrill list --drills` tells why)",
        pairs => write!(
            line,
            "; {pairs} more pairs of scenario and platform do not fit (`nicdrill list --drills` tells why)"
        )
        .expect(WRITES),
    }
    let line = match run.exit_code {
        Some(ExitCode::Success) => style.green(&line),
        _ => style.red(&line),
    };
    let own = match run.plan.names_no_monitor() {
        true => format!(
            "no monitor was named, so nicdrill's own was drilled, `{}`: `--monitor FILE` drills yours\n",
            run.plan.monitor
        ),
        false => String::new(),
    };
    let mut lines = own + &verdict_line(run.summary.verdicts.as_ref()) + &line;
    if let Some(ms) = run.wall.ms() {
        write!(lines, "; {}.{:01} s", ms / 1000, ms % 1000 / 100).expect(WRITES);
    }
    if run.plan.loses_events {
        lines += "\nthe monitor promises no delivery: an event whose call fails is lost";
    }
    let mut judged = judged_line(&run.summary, &run.plan.judged_by);
    let by_laws = matches!(run.plan.judged_by, JudgedBy::Laws { .. });
    if !run.summary.judged.not_judged.is_empty() && !by_laws && !is_told {
        judged += "; `--not-judged` tells why not all";
    }
    let judged = match run.plan.judged_by {
        JudgedBy::Promises if !run.summary.judged.is_nothing() => judged,
        _ => style.yellow(&judged),
    };
    format!("{lines}\n{judged}\n")
}

/// How often the monitor was right about workloads, and how early it reported; empty if none ran.
fn verdict_line(verdicts: Option<&VerdictCount>) -> String {
    let Some(count) = verdicts else {
        return String::new();
    };
    let mut line = format!(
        "the monitor's reports and {}: {}, {}, {}",
        counted(
            count.agreement + count.over_report + count.under_report,
            "workload"
        ),
        counted(count.agreement, "agreement"),
        counted(count.over_report, "over-report"),
        counted(count.under_report, "under-report"),
    );
    if let Some(leads) = count.lead_ms {
        let [least, median, most] = leads.map(|ms| {
            let sign = if ms < 0 { "-" } else { "" };
            format!("{sign}{}.{} s", ms.abs() / 1000, ms.abs() % 1000 / 100)
        });
        write!(
            line,
            "; fatal {least} to {most} before the failure, {median} at the median"
        )
        .expect(WRITES);
    }
    line + "\n"
}

/// The coverage matrix: a line for each clause with what covers it, then the uncovered clauses, and
/// the counts.
#[must_use]
pub fn coverage_page(coverage: &Coverage, style: Style) -> String {
    let mut page = String::new();
    let width = coverage.clauses().map(|clause| clause.id.len()).max();
    let width = width.unwrap_or_default();
    for source in &coverage.sources {
        writeln!(page, "{}", style.bold(&source.source)).expect(WRITES);
        for clause in &source.clauses {
            let status = format!("{:<9}", clause.status.words());
            let status = match clause.status {
                ClauseStatus::Covered => style.green(&status),
                ClauseStatus::Failed | ClauseStatus::Uncovered => style.red(&status),
                ClauseStatus::NotRun => style.yellow(&status),
                ClauseStatus::Deferred => status,
            };
            let mut by = covered_by(clause);
            if clause.status != ClauseStatus::Deferred {
                let between = if by.is_empty() { "" } else { "; " };
                write!(by, "{between}{}", clause.defence).expect(WRITES);
            }
            let line = format!("  {status}  {:<width$}  {by}", clause.id);
            writeln!(page, "{}", line.trim_end()).expect(WRITES);
        }
    }
    for status in [
        ClauseStatus::Failed,
        ClauseStatus::NotRun,
        ClauseStatus::Uncovered,
    ] {
        for clause in coverage.clauses().filter(|clause| clause.status == status) {
            let (words, says) = (status.words(), &clause.says);
            writeln!(page, "{words}: {}: {says}", clause.id).expect(WRITES);
        }
    }
    let CoverageCount {
        clauses,
        covered,
        by_tests_alone,
        failed,
        not_run,
        uncovered,
        deferred,
        defended,
        undefended,
        unbreakable,
    } = coverage.count;
    let line = format!(
        "{}: {covered} covered ({by_tests_alone} by tests alone), {failed} failed, {not_run} not run, \
         {uncovered} uncovered, {deferred} deferred",
        counted(clauses, "clause")
    );
    let line = if failed + not_run + uncovered == 0 {
        style.green(&line)
    } else {
        style.red(&line)
    };
    writeln!(page, "{line}").expect(WRITES);
    writeln!(
        page,
        "{defended} defended, {undefended} undefended, {unbreakable} unbreakable"
    )
    .expect(WRITES);
    page
}

/// What covers a clause, counted: scenarios with their drills, and tests.
fn covered_by(clause: &ClauseCoverage) -> String {
    if let Some(to) = &clause.deferred {
        return format!("belongs to: {to}");
    }
    let mut parts = Vec::new();
    if !clause.scenarios.is_empty() {
        let count = |of: fn(&ScenarioCoverage) -> u64| clause.scenarios.iter().map(of).sum::<u64>();
        let scenarios = u64::try_from(clause.scenarios.len()).expect("a count fits 64 bits");
        let mut part = counted(scenarios, "scenario");
        write!(part, ": {} passed", count(|one| one.passed)).expect(WRITES);
        for (count, words) in [
            (count(|one| one.failed), "failed"),
            (count(|one| one.skipped), "skipped"),
            (count(|one| one.not_applicable), "not applicable"),
        ] {
            if count > 0 {
                write!(part, ", {count} {words}").expect(WRITES);
            }
        }
        parts.push(part);
    }
    if !clause.tests.is_empty() {
        let tests = u64::try_from(clause.tests.len()).expect("a count fits 64 bits");
        parts.push(counted(tests, "test"));
    }
    parts.join("; ")
}

/// The lines of one failure, without its place.
pub(crate) fn failure_lines(finding: &Finding, style: Style) -> Vec<String> {
    let block = failure_block(finding, None, style);
    block.lines().map(str::to_owned).collect()
}

fn failure_block(finding: &Finding, place: Option<&str>, style: Style) -> String {
    let mut block = String::new();
    let mut head = finding.words().to_owned();
    if let Some(arm) = finding.arm {
        write!(head, " ({arm} arm").expect(WRITES);
        if let Some(tick) = finding.tick {
            write!(head, ", poll {tick}").expect(WRITES);
        }
        head.push(')');
    } else if let Some(tick) = finding.tick {
        write!(head, " (poll {tick})").expect(WRITES);
    }
    if let Some(node) = &finding.node {
        write!(head, " on {node}").expect(WRITES);
    }
    if finding.times > 1 {
        write!(head, ", {} times", finding.times).expect(WRITES);
    }
    writeln!(block, "  {}", style.red(&head)).expect(WRITES);
    if let Some(place) = place {
        writeln!(block, "    {place}").expect(WRITES);
    }
    if let Some(line) = &finding.line {
        for text in line.text.lines() {
            writeln!(block, "      | {text}").expect(WRITES);
        }
    }
    rows(&mut block, "before", &finding.before);
    rows(&mut block, "expected", &finding.expected);
    if finding.came.is_empty() {
        rows(&mut block, "came", &["nothing".to_owned()]);
    } else {
        rows(&mut block, "came", &shortened(&finding.came, CAME_MAX));
    }
    if !finding.reads.is_empty() {
        let reads: Vec<String> = finding
            .reads
            .iter()
            .map(|read| format!("poll {}: {}", read.poll, read.text))
            .collect();
        rows(&mut block, "reads", &shortened(&reads, READS_MAX));
    }
    block
}

fn rows(block: &mut String, name: &str, texts: &[String]) {
    for (row, text) in texts.iter().flat_map(|text| text.lines()).enumerate() {
        let name = if row == 0 { name } else { "" };
        writeln!(block, "    {name:<9} {text}").expect(WRITES);
    }
}

fn shortened(texts: &[String], at_most: usize) -> Vec<String> {
    let mut shown: Vec<String> = texts.iter().take(at_most).cloned().collect();
    if texts.len() > at_most {
        shown.push(format!("… and {} more", texts.len() - at_most));
    }
    shown
}

const WRITES: &str = "writing to a string cannot fail";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_colours_of_a_style_reach_a_terminal() {
        let text = "a\t\u{1b}[1;31mred\u{1b}[0m \u{1b}[2J\u{1b}]0;x\u{7}\r\n ::error::b\n";
        let plain = Style { color: false }.safe(text);
        let escaped =
            "a\\t\\u001b[1;31mred\\u001b[0m \\u001b[2J\\u001b]0;x\\u0007\\r\n \\u003a:error::b\n";
        assert_eq!(plain, escaped);
        let coloured = Style { color: true };
        let own = coloured.red("red")
            + &coloured.bold("b")
            + &coloured.green("g")
            + &coloured.yellow("y");
        assert_eq!(coloured.safe(&own), own);
        assert!(coloured.safe(text).contains("\\u001b[2J"));
    }
}
