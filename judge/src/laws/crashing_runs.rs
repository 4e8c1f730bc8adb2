//! The law that a program that is run again and again does not crash in run after run. Start at
//! [`Judging::crashing_runs`].

use observe::RunEnd;
use platforms::NodeName;
use reports::{Finding, FindingKind};

use crate::Judging;

/// How many runs one after another crash before it is no accident. Chosen: a single one is *unknown*, for a file that
/// cannot be read may be its reason.
const IN_A_ROW: u64 = 3;

/// How many of the last lines of its output are told. Chosen.
const LAST_LINES: usize = 5;

/// Runs that crashed one after another.
#[derive(Default)]
struct Streak {
    /// How many.
    runs: u64,
    /// The tick in which the first ended.
    from: u64,
    /// How the last one ended.
    end: Option<RunEnd>,
    /// The last lines of the last one's tick.
    last_words: Vec<String>,
}

impl Judging<'_> {
    /// Reports the first runs of each node's program that crashed one after another.
    pub(crate) fn crashing_runs(&mut self) {
        for node in &self.story.monitors {
            let Some(streak) = self.streak(node) else {
                continue;
            };
            let cause = Finding::of(FindingKind::Crashed).cause;
            let (kind, tick) = (FindingKind::Crashed, Some(streak.from));
            let mut finding = self.finding(kind, cause, Some(node), tick);
            finding
                .expected
                .push("a run that ends with a code that means something".to_owned());
            let end = streak.end.map_or_else(String::new, |end| end.to_string());
            finding
                .came
                .push(format!("{end}, in {} runs one after another", streak.runs));
            finding.came.extend(streak.last_words);
            finding.reads = self.reads(Some(node), streak.from, &[]);
            self.findings.push(finding);
        }
    }

    /// The first streak that is long enough.
    fn streak(&self, node: &NodeName) -> Option<Streak> {
        let mut streak = Streak::default();
        for (tick, monitors) in (0..).zip(&self.recording.ticks) {
            let Some(monitor) = monitors.monitors.get(node.as_str()) else {
                continue;
            };
            for end in &monitor.run_ends {
                if !self.context.descriptor.is_crash(*end) {
                    if streak.runs >= IN_A_ROW {
                        return Some(streak);
                    }
                    streak = Streak::default();
                    continue;
                }
                if streak.runs == 0 {
                    streak.from = tick;
                }
                streak.runs += 1;
                streak.end = Some(*end);
                let first = monitor.log.len().saturating_sub(LAST_LINES);
                streak.last_words = monitor.log[first..].to_vec();
            }
        }
        (streak.runs >= IN_A_ROW).then_some(streak)
    }
}
