//! The probe drill, which finds out whether a monitor can be drilled at all.
//!
//! A machine is at rest for some polls, then every cable is pulled. A monitor that never comes to
//! the gate, or never calls the connector, would fail every drill in the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fabric::PortAction;
use platforms::{NodeName, Platform, SlotRef};
use reports::ExitCode;
use scenarios::{ChecksRun, ClusterPlan, FilePlace, Heal, Step, StepAction, Story, Ticks};
use simfs::SimTime;
use terms::{Arm, Severity};

use super::{ProcessArm, sighting::Sighting};
use memory::Played;
use observe::{Broken, Descriptor, Medium, MonitorTick, Protocol, RunEnd, Tick};

use crate::{run_folder::Artifact, still::play_still};

mod evidence;
mod kept;
mod listings;
mod probed_on;

use evidence::Evidence;
pub use probed_on::ProbedOn;

/// The tick in which the cables are pulled.
const CUT_TICK: u64 = 2;

/// The last tick: late enough for a monitor that reports a change only after several polls.
const LAST_TICK: u64 = 12;

/// How many lines of each list are printed; the run folder has all.
const LINES: usize = 20;

/// How many characters of a line are printed. Chosen: a few rows of a terminal.
const WIDTH: usize = 400;

/// A monitor cannot be drilled: why, and what it did until then. In all texts `{root}` and `{socket}` stand for the
/// paths of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeFailure {
    /// Why.
    pub cause: ProbeCause,
    /// The platform that it was probed on.
    pub on: ProbedOn,
    /// Further platforms, on which it said nothing either.
    pub also_on: Vec<ProbedOn>,
    /// What it wrote to its output.
    pub output: Vec<String>,
    /// What it listed and read below its root, each once, as `op path: outcome`.
    pub reads: Vec<String>,
    /// What was spoken on its connections to the socket.
    pub connections: Vec<String>,
    /// The paths that it had open at the end.
    pub open_files: Vec<String>,
    /// What the user can look at or change, the likeliest first.
    pub hints: Vec<String>,
    /// What the run folder keeps of the probe.
    pub files: Vec<Artifact>,
}

/// What a probe has found of a monitor that can be drilled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeFinding {
    /// How long one of its polls takes in real time.
    pub pace: Duration,
    /// What its descriptor seems to say wrongly, and what to write.
    pub advice: Option<String>,
}

/// Why a monitor cannot be drilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeCause {
    /// The monitor ended or stopped before the end of the drill; or the stage could not be set.
    Broken(Broken),
    /// It polled but said nothing that means anything, although every cable was pulled.
    SaidNothing {
        /// Number of ticks that were played.
        polls: u64,
        /// How it would have said something.
        by: Protocol,
    },
}

impl ProbeFailure {
    /// Whether the cause is the stage and not the monitor.
    #[must_use]
    pub fn is_of_the_stage(&self) -> bool {
        matches!(
            self.cause,
            ProbeCause::Broken(Broken::Stage { .. } | Broken::Interrupted)
        )
    }

    /// Whether the monitor may be drillable on a platform with other devices: it polled, and said nothing of these.
    #[must_use]
    pub fn is_of_the_platform(&self) -> bool {
        matches!(self.cause, ProbeCause::SaidNothing { .. })
    }

    /// The exit code of a run that it ends.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self.is_of_the_stage() || self.is_of_the_platform() {
            true => ExitCode::StageNotSet,
            false => ExitCode::CrashedOrHung,
        }
    }
}

impl fmt::Display for ProbeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            ProbeCause::Broken(Broken::Hung { tick, waiting_for }) => {
                write!(
                    f,
                    "the monitor made no progress at poll {tick}: waited for {waiting_for}"
                )
            }
            ProbeCause::Broken(Broken::Crashed { tick, exit, .. }) => {
                write!(f, "the monitor ended by itself at poll {tick}: {exit}")
            }
            ProbeCause::Broken(Broken::Excess { tick, what }) => {
                write!(f, "the monitor did too much at poll {tick}: {what}")
            }
            ProbeCause::Broken(Broken::StuckInKernel { tick }) => {
                write!(f, "the monitor is stuck in the kernel at poll {tick}")
            }
            ProbeCause::Broken(Broken::SocketTampered { tick, what }) => {
                write!(
                    f,
                    "the monitor took the connector's socket away at poll {tick}: {what}"
                )
            }
            ProbeCause::Broken(Broken::Interrupted) => {
                return f.write_str("interrupted before the first drill");
            }
            ProbeCause::Broken(Broken::Stage { cause }) => {
                return write!(f, "the stage cannot be set: {cause}");
            }
            ProbeCause::SaidNothing { polls, by } => {
                let nothing = by.facts().silence;
                let nothing = nothing.replace("{polls}", &polls.to_string());
                write!(f, "{nothing}, although every cable was pulled")
            }
        }?;
        write!(f, "\n  it was probed on {}", self.on)?;
        for also in &self.also_on {
            write!(f, "\n  and likewise on {also}")?;
        }
        list(
            f,
            "its connections",
            "connection to its socket",
            &self.connections,
        )?;
        list(
            f,
            "what it listed and read",
            "file below its root was listed or read",
            &self.reads,
        )?;
        if !self.open_files.is_empty() {
            list(f, "what it has open", "", &self.open_files)?;
        }
        let output = told_once(&self.output);
        let last = output.len().saturating_sub(LINES);
        list(f, "its last output", "output", &output[last..])?;
        self.hints
            .iter()
            .try_for_each(|hint| write!(f, "\nhint: {hint}"))
    }
}

/// Writes a list below a headline.
fn list(f: &mut fmt::Formatter<'_>, head: &str, what: &str, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return write!(f, "\n  no {what}");
    }
    write!(f, "\n  {head}:")?;
    for line in lines.iter().take(LINES) {
        let (shown, cut) = match line.char_indices().nth(WIDTH) {
            Some((end, _)) => (&line[..end], "…"),
            None => (line.as_str(), ""),
        };
        write!(f, "\n    {shown}{cut}")?;
    }
    match lines.len().checked_sub(LINES) {
        None | Some(0) => Ok(()),
        Some(more) => write!(f, "\n    and {more} more"),
    }
}

/// Lines, those that are equal and follow one another once, with their number.
fn told_once(lines: &[String]) -> Vec<String> {
    let alike = lines.chunk_by(|one, next| one == next);
    let told = alike.map(|alike| match alike {
        [line] => line.clone(),
        _ => format!("{} ({} times)", alike[0], alike.len()),
    });
    told.collect()
}

impl std::error::Error for ProbeFailure {}

impl ProcessArm {
    /// Plays the probe drill of a monitor on a platform.
    ///
    /// # Errors
    /// [`ProbeFailure`] if the monitor cannot be drilled.
    pub fn probe(
        &mut self,
        platform: &Platform,
        descriptor: &Descriptor,
    ) -> Result<ProbeFinding, Box<ProbeFailure>> {
        let story = story(platform);
        self.sighting = Some(Sighting::default());
        let wrong = |played: &Played| {
            let mut ticks = played.recording.ticks.iter();
            let speaks = ticks.any(|tick| {
                let mut nodes = tick.monitors.values();
                nodes.any(|node| says_something(node, descriptor))
            });
            let broken = played.recording.broken.clone();
            (broken.is_some() || !speaks).then_some(broken)
        };
        let still = play_still(self, &story, descriptor, wrong);
        let recording = still.played.recording;
        let sighting = self.sighting.take().unwrap_or_default();
        let ticks = recording.ticks.iter();
        let nodes: Vec<&MonitorTick> = ticks
            .flat_map(|tick| tick.monitors.values())
            .map(Arc::as_ref)
            .collect();
        let checks = story.checks.names();
        let advice = listings::advice(&nodes, descriptor, checks.len());
        let run_ends = nodes.iter().flat_map(|node| &node.run_ends);
        let run_ends: Vec<RunEnd> = run_ends.copied().collect();
        let cause = match recording.broken {
            Some(broken) => ProbeCause::Broken(broken),
            None if nodes.iter().any(|node| says_something(node, descriptor)) => {
                return Ok(ProbeFinding {
                    pace: sighting.pace().unwrap_or_default(),
                    advice,
                });
            }
            None if let Some(crashed) = crashed(&recording.ticks, descriptor) => {
                ProbeCause::Broken(crashed)
            }
            None => ProbeCause::SaidNothing {
                polls: LAST_TICK + 1,
                by: descriptor.speaks,
            },
        };
        let lines = nodes.iter().flat_map(|node| &node.log);
        let output: Vec<String> = lines.map(|line| sighting.fold(line)).collect();
        let mut reads = sighting.reads.clone();
        reads.extend(nodes.iter().flat_map(|node| node.reads.to_lines()));
        let mut seen = BTreeSet::new();
        reads.retain(|read| seen.insert(read.clone()));
        let evidence = Evidence {
            cause: &cause,
            output: &output,
            reads: &reads,
            connections: &recording.connections,
            sighting: &sighting,
            run_ends: &run_ends,
            descriptor,
            checks: &checks,
            advice: advice.as_deref(),
            limit: self.options.limit,
        };
        let hints = evidence.hints();
        let files = kept::files(&sighting, &output, &reads, &recording.connections);
        Err(Box::new(ProbeFailure {
            cause,
            on: ProbedOn::of(platform),
            also_on: Vec::new(),
            output,
            reads,
            connections: recording.connections,
            open_files: sighting.open_files,
            hints,
            files,
        }))
    }
}

/// The crash of a program of which every run crashed.
fn crashed(ticks: &[Tick], descriptor: &Descriptor) -> Option<Broken> {
    let ends = (0..).zip(ticks).flat_map(|(tick, monitors)| {
        let monitors = monitors.monitors.values();
        let ends = monitors.flat_map(|monitor| &monitor.run_ends);
        ends.map(move |end| (tick, *end))
    });
    let ends: Vec<(u64, RunEnd)> = ends.collect();
    let (tick, RunEnd::Exit(exit)) = *ends.first()? else {
        return None;
    };
    let all = ends.iter().all(|(_, end)| descriptor.is_crash(*end));
    all.then_some(Broken::Crashed {
        tick,
        exit,
        last_words: Vec::new(),
    })
}

/// Whether a monitor has called somebody, or said something that is known of a node.
fn says_something(tick: &MonitorTick, descriptor: &Descriptor) -> bool {
    let known = |call: &observe::Call| {
        let mut said = call.observations.iter();
        said.any(|event| event.severity != Severity::Unknown)
    };
    if descriptor.adapter().may_be_silent() {
        return tick.polls > 0;
    }
    // Alerts are pending for longer than a probe lasts: a page is enough.
    let page = |scrape: &observe::Scrape| scrape.series().is_some_and(|page| !page.is_empty());
    match descriptor.medium() {
        Medium::KeptPages => tick.scrapes.iter().any(page),
        Medium::Calls | Medium::Output => !tick.calls.is_empty(),
        Medium::RunEnds | Medium::Files | Medium::Page => tick.calls.iter().any(known),
    }
}

/// The probe as a story without expectations.
fn story(platform: &Platform) -> Story {
    let node = NodeName::from("node-a");
    let place = FilePlace {
        file: "probe".to_owned(),
        line: 1,
        column: 1,
    };
    let ports = platform.ports().into_iter();
    let cut = ports.filter(probed_on::is_cut).map(|port| {
        let slot = SlotRef {
            node: node.clone(),
            pci: port.pci,
            port: port.port,
        };
        StepAction::World(PortAction::Cut.on(slot))
    });
    let step = Step {
        at: SimTime::from_secs(CUT_TICK),
        place,
        text: "every cable is pulled".to_owned(),
        moment: None,
        actions: cut.collect(),
    };
    Story {
        name: "probe".to_owned(),
        title: "the probe drill".to_owned(),
        why: "distinguishes a monitor that cannot be drilled from one that is wrong".to_owned(),
        covers: Vec::new(),
        world: platform.name(),
        nodes: vec![(node.clone(), platform.clone())],
        workloads: BTreeMap::new(),
        cluster: ClusterPlan::default(),
        monitors: vec![node],
        ticks: Ticks::every(SimTime::from_secs(1)),
        until: SimTime::from_secs(LAST_TICK),
        heal: Heal::Never {
            because: "nothing is judged".to_owned(),
        },
        checks: ChecksRun::State,
        arms: vec![Arm::Process],
        flags: Vec::new(),
        config: String::new(),
        given: Vec::new(),
        steps: vec![step],
        expectations: Vec::new(),
        fold_quiet: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown_and_equal_ones_in_a_row_once() {
        let lines = (0..30).map(|nth| format!("line {nth}"));
        let again = std::iter::repeat_n("cannot dial".to_owned(), 17);
        let failure = ProbeFailure {
            cause: ProbeCause::SaidNothing {
                polls: 13,
                by: Protocol::default(),
            },
            on: ProbedOn::default(),
            also_on: Vec::new(),
            output: lines
                .chain(again)
                .chain(["line 29".to_owned(), "cannot dial".to_owned()])
                .collect(),
            reads: Vec::new(),
            connections: Vec::new(),
            open_files: Vec::new(),
            hints: Vec::new(),
            files: Vec::new(),
        };
        let text = failure.to_string();
        let (_, output) = text.split_once("its last output:\n").expect("it is shown");
        let output: Vec<&str> = output.lines().map(str::trim).collect();
        assert_eq!(output.len(), LINES);
        assert_eq!(output[0], "line 13");
        assert_eq!(
            output[17..],
            ["cannot dial (17 times)", "line 29", "cannot dial"]
        );
    }
}
