//! The probe drill, which finds out whether a monitor can be drilled at all.
//!
//! A machine is at rest for some polls, then every cable is pulled. A monitor that never comes to
//! the gate, or never calls the connector, would fail every drill in the same way.

use std::collections::BTreeMap;
use std::fmt;

use fabric::PortAction;
use platforms::{NodeName, Platform, SlotRef};
use scenarios::{Arm, ChecksRun, ClusterPlan, Heal, Place, Step, StepAction, Story};
use simfs::SimTime;

use super::ProcessArm;
use observe::{Broken, Descriptor};

use crate::drill::Player as _;

/// The tick in which the cables are pulled.
const CUT_TICK: u64 = 2;

/// The last tick: late enough for a monitor that reports a change only after several polls.
const LAST_TICK: u64 = 12;

/// Why a monitor cannot be drilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeFailure {
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
        matches!(self, Self::Broken(Broken::Stage { .. }))
    }
}

impl fmt::Display for ProbeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(Broken::Hung { tick, waiting_for }) => {
                write!(
                    f,
                    "the monitor made no progress at poll {tick}: waited for {waiting_for}"
                )
            }
            Self::Broken(Broken::Crashed {
                tick,
                exit,
                last_words,
            }) => {
                write!(f, "the monitor ended by itself at poll {tick}: {exit:?}")?;
                last_words
                    .iter()
                    .try_for_each(|line| write!(f, "\n  {line}"))
            }
            Self::Broken(Broken::StuckInKernel { tick }) => {
                write!(f, "the monitor is stuck in the kernel at poll {tick}")
            }
            Self::Broken(Broken::Stage { cause }) => write!(f, "the stage cannot be set: {cause}"),
            Self::NeverCalled { polls } => write!(
                f,
                "the monitor polled {polls} times and never called the connector, although every cable was pulled"
            ),
        }?;
        self.hint()
            .map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

impl ProbeFailure {
    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        matches!(self, Self::NeverCalled { .. })
            .then_some("does it get the socket's path? see `command` and `env` of its descriptor")
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
        if let Some(broken) = recording.broken {
            return Err(ProbeFailure::Broken(broken));
        }
        let mut instances = recording
            .ticks
            .iter()
            .flat_map(|tick| tick.monitors.values());
        if instances.any(|program| !program.calls.is_empty()) {
            return Ok(());
        }
        Err(ProbeFailure::NeverCalled {
            polls: LAST_TICK + 1,
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
