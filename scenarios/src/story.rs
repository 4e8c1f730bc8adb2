//! One scenario in one world with everything resolved: the input of a drill.
//!
//! A story holds slots instead of selections and times instead of texts; every line keeps its place
//! in the file. [`crate::Scenario::in_world`] builds it.

use std::{collections::BTreeMap, fmt};

use platforms::{NodeName, Platform};
use simfs::SimTime;
use terms::{Arm, Check, CheckKind};

use crate::cluster::ClusterPlan;
use crate::ticks::Ticks;

mod action;
mod event_pattern;
mod expectation;
mod moment;
mod plan;
mod workload_facts;

pub use action::{
    ConnectorAction, ConnectorBehaviour, ConnectorLasting, HangEnd, MonitorAction, RuleAction,
    RuleEffect, RuleLasting, Signal, StateFileAction, StepAction,
};
pub use event_pattern::{About, EventPattern, Times};
pub use expectation::{
    EndIs, Expectation, MetricIs, PairIs, StateFileIs, USUAL_FIRST_POLL, What, Window,
};
pub use moment::{CallMoment, FileMoment, FileOp, FileRef, StepMoment};
pub use plan::{NiChange, Plan, WorkloadAction};
pub use workload_facts::{CountIs, CounterOf, LnetIs, WorkloadCounter, WorkloadIs};

/// A place in a scenario file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePlace {
    /// The file name as given to the reader.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Which of the monitor's checks run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChecksRun {
    /// The two state checks.
    #[default]
    State,
    /// The two counter checks.
    Counters,
    /// The check of character devices alone.
    CharDevices,
    /// Every one.
    All,
}

impl ChecksRun {
    /// The names of the checks that run; all of one link layer, then those of the other.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let runs = |check: &Check| match self {
            Self::State => check.kind() == CheckKind::State,
            Self::Counters => check.kind() == CheckKind::Degradation,
            Self::CharDevices => check.kind() == CheckKind::CharDevice,
            Self::All => true,
        };
        let mut run: Vec<Check> = Check::ALL.into_iter().filter(runs).collect();
        run.sort_by_key(|check| check.layer());
        run.into_iter().map(Check::name).collect()
    }
}

/// Whether and how the world is healed at the story's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heal {
    /// Every fault is mended, and this many polls later nothing may be outstanding.
    Within {
        /// The deadline, in polls after the last port that should be up is ACTIVE.
        polls: u32,
        /// The ticks from one poll of the story's checks to the next, by the flags of the story's monitor; 1 unless
        /// these state a longer interval.
        every: u64,
    },
    /// The story ends with faults in place.
    Never {
        /// The reason given in the file.
        because: String,
    },
}

/// One scenario in one world.
#[derive(Clone, Debug)]
pub struct Story {
    /// `family/name`, from the file's place.
    pub name: String,
    /// The scenario's title line.
    pub title: String,
    /// Its purpose.
    pub why: String,
    /// Ids of the clauses it covers, such as `lsd/3.4/healthy-to-unhealthy-is-fatal`.
    pub covers: Vec<String>,
    /// The world's name: the platform's for a world of one node.
    pub world: String,
    /// The nodes with their platforms, sorted by name.
    pub nodes: Vec<(NodeName, Platform)>,
    /// The nodes that run a monitor.
    pub monitors: Vec<NodeName>,
    /// The workloads that run from the start, by name.
    pub workloads: BTreeMap<String, Plan>,
    /// The cluster that receives the monitors' events.
    pub cluster: ClusterPlan,
    /// When its ticks come.
    pub ticks: Ticks,
    /// The last instant of the story; healing follows.
    pub until: SimTime,
    /// How it ends.
    pub heal: Heal,
    /// Which checks run.
    pub checks: ChecksRun,
    /// The arms in which it can be played, in order.
    pub arms: Vec<Arm>,
    /// Flags for the monitor in addition to the descriptor's (in the reference monitor's spelling),
    /// in order.
    pub flags: Vec<String>,
    /// Lines for the monitor's config.toml.
    pub config: String,
    /// What is done before the monitor starts.
    pub given: Vec<Step>,
    /// What is done while it runs, in order of time.
    pub steps: Vec<Step>,
    /// What is expected.
    pub expectations: Vec<Expectation>,
    /// Whether quiet minutes are folded in a trace.
    pub fold_quiet: bool,
}

/// Something that is done at an instant.
#[derive(Clone, Debug)]
pub struct Step {
    /// When.
    pub at: SimTime,
    /// Its place in the file.
    pub place: FilePlace,
    /// The line as shown to people.
    pub text: String,
    /// The moment within the next poll at which it is done, instead of before the poll.
    pub moment: Option<StepMoment>,
    /// What is done, in order.
    pub actions: Vec<StepAction>,
}

impl Story {
    /// The monitored nodes, by name as a recording has them.
    #[must_use]
    pub fn monitors_by_name(&self) -> BTreeMap<&str, &NodeName> {
        let monitors = self.monitors.iter();
        monitors.map(|node| (node.as_str(), node)).collect()
    }

    /// The platform of a node; `None` if the story has no such node.
    #[must_use]
    pub fn platform_of(&self, node: &NodeName) -> Option<&Platform> {
        let mut nodes = self.nodes.iter();
        nodes.find_map(|(of, platform)| (of == node).then_some(platform))
    }

    /// Everything that is done, before the monitor starts and while it runs.
    pub fn actions(&self) -> impl Iterator<Item = &StepAction> {
        let steps = self.given.iter().chain(&self.steps);
        steps.flat_map(|step| &step.actions)
    }

    /// Whether a read or call is held until the monitor's own timeout ends it, in real time.
    #[must_use]
    pub fn holds_for_good(&self) -> bool {
        self.actions().any(|action| match action {
            StepAction::Rule(rule) => matches!(rule.effect, RuleEffect::Hang { .. }),
            StepAction::Connector(_, action) => action.behaviour == ConnectorBehaviour::Hang,
            _ => false,
        })
    }
}
