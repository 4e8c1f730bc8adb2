//! The probe drill, which finds out whether a monitor can be drilled at all.
//!
//! A machine is at rest for some polls, then every cable is pulled. A monitor that never comes to
//! the gate, or never calls the connector, would fail every drill in the same way.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use fabric::PortAction;
use platforms::{NodeName, Platform, SlotRef};
use scenarios::{Arm, ChecksRun, ClusterPlan, Heal, Place, Step, StepAction, Story};
use simfs::SimTime;

use super::ProcessArm;
use observe::{Broken, Descriptor, MonitorTick};

use crate::drill::Player as _;

/// The tick in which the cables are pulled.
const CUT_TICK: u64 = 2;

/// The last tick: late enough for a monitor that reports a change only after several polls.
const LAST_TICK: u64 = 12;

/// How many lines of the monitor's output are kept.
const OUTPUT_LINES: usize = 20;

/// A monitor cannot be drilled: why, and what it did until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeFailure {
    /// Why.
    pub cause: ProbeCause,
    /// The last lines that it wrote to its output, 20 at most.
    pub output: Vec<String>,
    /// What it listed and read in its last poll, as `op path: outcome`.
    pub reads: Vec<String>,
}

/// Why a monitor cannot be drilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeCause {
    /// The monitor ended or stopped before the end of the drill; or the stage could not be set.
    Broken(Broken),
    /// It polled but never called the connector, although every cable was pulled.
    NeverCalled {
        /// Number of polls that were played.
        polls: u64,
    },
}

impl ProbeFailure {
    /// Whether the cause is the stage and not the monitor.
    #[must_use]
    pub fn is_of_the_stage(&self) -> bool {
        matches!(self.cause, ProbeCause::Broken(Broken::Stage { .. }))
    }

    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self.cause {
            ProbeCause::NeverCalled { .. } => {
                Some("does it get the socket's path? see `command` and `env` of its descriptor")
            }
            ProbeCause::Broken(Broken::Hung { tick: 0, .. }) => Some(
                "does it list its root's `sys/class/infiniband`, and not the host's? see `command` and `env` of its descriptor",
            ),
            ProbeCause::Broken(_) => None,
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
                write!(f, "the monitor ended by itself at poll {tick}: {exit:?}")
            }
            ProbeCause::Broken(Broken::StuckInKernel { tick }) => {
                write!(f, "the monitor is stuck in the kernel at poll {tick}")
            }
            ProbeCause::Broken(Broken::Stage { cause }) => {
                return write!(f, "the stage cannot be set: {cause}");
            }
            ProbeCause::NeverCalled { polls } => write!(
                f,
                "the monitor polled {polls} times and never called the connector, although every cable was pulled"
            ),
        }?;
        list(f, "the files of its last poll", "files", &self.reads)?;
        list(f, "its last output", "output", &self.output)?;
        self.hint()
            .map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

/// Writes a list below a headline.
fn list(f: &mut fmt::Formatter<'_>, head: &str, what: &str, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return write!(f, "\n  no {what}");
    }
    write!(f, "\n  {head}:")?;
    let shown = lines.iter().take(OUTPUT_LINES);
    for line in shown {
        write!(f, "\n    {line}")?;
    }
    match lines.len().checked_sub(OUTPUT_LINES) {
        None | Some(0) => Ok(()),
        Some(more) => write!(f, "\n    and {more} more"),
    }
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
    ) -> Result<(), ProbeFailure> {
        let story = story(platform);
        let recording = self.play(&story, descriptor).recording;
        let ticks = recording.ticks.iter();
        let nodes: Vec<&MonitorTick> = ticks
            .flat_map(|tick| tick.monitors.values())
            .map(Arc::as_ref)
            .collect();
        let cause = match recording.broken {
            Some(broken) => ProbeCause::Broken(broken),
            None if nodes.iter().any(|node| !node.calls.is_empty()) => return Ok(()),
            None => ProbeCause::NeverCalled {
                polls: LAST_TICK + 1,
            },
        };
        let mut output: Vec<String> = nodes.iter().flat_map(|node| node.log.clone()).collect();
        output.drain(..output.len().saturating_sub(OUTPUT_LINES));
        let last = nodes.iter().rev().find(|node| !node.reads.is_empty());
        Err(ProbeFailure {
            cause,
            output,
            reads: last.map(|node| node.reads.to_lines()).unwrap_or_default(),
        })
    }
}

/// The probe as a story without expectations.
fn story(platform: &Platform) -> Story {
    let node = NodeName::from("node-a");
    let place = Place {
        file: "probe".to_owned(),
        line: 1,
        column: 1,
    };
    let monitored = platform
        .ports()
        .into_iter()
        .filter(|port| port.cabled && port.is_monitored());
    let cut = monitored.map(|port| {
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
        tick: SimTime::from_secs(1),
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
