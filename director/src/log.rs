//! What happened in a drill, written by the director as it acts, for those who judge: they read this and never the
//! script.
//!
//! It leaves out what a view of the true state shows by itself: how long a port is down is in [`crate::NodeView`]. What
//! an action does is decided in one place, `act.rs`, by matches that name every verb. Start at [`Log`].

use std::collections::BTreeSet;

use platforms::NodeName;
use scenarios::{
    ConnectorAction, ConnectorLasting, FileRef, MonitorAction, RuleAction, RuleLasting, Step,
    StepAction, Story, Ticks,
};
use simfs::SimTime;

mod act;
mod occurrence;
mod span;

pub use occurrence::{Act, Episode, Fault, MovedBy, Occurrence, Reach, Target};
pub use span::{MonitorStart, Outage, PortFault, RuledReads};

/// What happened in a drill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// What the steps did: one entry for each action, those before the monitor starts first, then in order of time.
    pub acts: Vec<Act>,
    /// The faults of ports that no state of a port shows, in order of time.
    pub faults: Vec<PortFault>,
    /// What reads of files give instead of their content, in order of time.
    pub reads: Vec<RuledReads>,
    /// When connectors accept nothing, in order of time.
    pub outages: Vec<Outage>,
    /// The starts of monitors that steps cause, in the order of these; the first monitor of each node is not among them.
    pub starts: Vec<MonitorStart>,
    /// The nodes whose driver is unloaded.
    unloaded: BTreeSet<NodeName>,
    /// The nodes whose boot id is under a rule.
    boot_id_ruled: BTreeSet<NodeName>,
}

impl Log {
    /// What will happen in a story if each step is carried out at its time, and each moment comes: what is known of a
    /// drill that is not played yet.
    #[must_use]
    pub fn foreseen(story: &Story) -> Self {
        let mut log = Self::default();
        log.write_given(story);
        for step in &story.steps {
            for action in &step.actions {
                log.write(action, step, story.ticks, true);
            }
        }
        log
    }

    /// What was done to monitors, in order: the act, the node, and what was done.
    pub fn monitors(&self) -> impl Iterator<Item = (&Act, &NodeName, &MonitorAction)> {
        self.acts.iter().filter_map(|act| {
            let Target::Monitor(node) = &act.on else {
                return None;
            };
            let mut what = act.what.iter();
            let action = what.find_map(|what| match what {
                Occurrence::Monitor(action) => Some(action),
                _ => None,
            });
            Some((act, node, action?))
        })
    }

    /// Writes what was done before the monitor starts, in the order of the story.
    pub(crate) fn write_given(&mut self, story: &Story) {
        for step in &story.given {
            for action in &step.actions {
                self.enter(action, (step, SimTime::ZERO, 0), (true, true), story.ticks);
            }
        }
    }

    /// Writes what an action of a step does; `came` is false while the step waits for its moment.
    pub(crate) fn write(&mut self, action: &StepAction, step: &Step, ticks: Ticks, came: bool) {
        let tick = ticks.first_from(step.at);
        self.enter(action, (step, step.at, tick), (false, came), ticks);
    }

    /// Notes that the moment of a step came.
    pub(crate) fn came(&mut self, step: &Step) {
        let of_it = |act: &&mut Act| !act.came && act.at == step.at && act.step == step.place;
        let acts = self.acts.iter_mut().filter(of_it);
        acts.take(step.actions.len())
            .for_each(|act| act.came = true);
    }

    fn enter(
        &mut self,
        action: &StepAction,
        (step, at, tick): (&Step, SimTime, u64),
        (is_given, came): (bool, bool),
        ticks: Ticks,
    ) {
        let (on, mut what) = act::done(action);
        self.complete(&mut what);
        match action {
            StepAction::Rule(rule) => self.begin_rule(rule, (step, at, tick), ticks),
            StepAction::Unrule(file) => self.end_rules(file.as_ref(), step, tick),
            StepAction::Connector(node, action) => {
                self.connector(node, action, (step, at, tick), ticks);
            }
            StepAction::Monitor(node, action) => match action {
                MonitorAction::Restart { away_ticks, .. } => {
                    self.start(node, tick + u64::from(*away_ticks), step);
                }
                MonitorAction::Start { .. } => self.start(node, tick, step),
                MonitorAction::Stop { .. } | MonitorAction::Pause { .. } => {}
            },
            StepAction::Reboot { node, plan } => {
                self.start(node, ticks.first_from(at + plan.takes), step);
            }
            StepAction::World(_) | StepAction::StateFile(..) | StepAction::Load(_) => {
                self.faults(&on, &what, step, tick);
            }
        }
        self.acts.push(Act {
            step: step.place.clone(),
            at,
            tick,
            is_given,
            came,
            on,
            what,
        });
    }

    /// Completes episodes by what happened before them.
    fn complete(&mut self, what: &mut [Occurrence]) {
        for what in what {
            let Occurrence::Episode {
                kind,
                reach: Reach::Node(node),
            } = what
            else {
                continue;
            };
            match kind {
                Episode::DriverUnload => {
                    self.unloaded.insert(node.clone());
                }
                Episode::DriverLoad { is_end } => *is_end = self.unloaded.remove(node),
                Episode::BootId => {
                    self.boot_id_ruled.insert(node.clone());
                }
                Episode::MonitorRestart { is_boot_id_ruled } => {
                    *is_boot_id_ruled = self.boot_id_ruled.contains(node);
                }
                _ => {}
            }
        }
    }

    /// Begins and ends the faults of a port that no state shows.
    fn faults(&mut self, on: &Target, what: &[Occurrence], step: &Step, tick: u64) {
        let mended = what.iter().find_map(|what| match what {
            Occurrence::Mended(slot) => Some(slot),
            _ => None,
        });
        if let Some(slot) = mended {
            let standing = self
                .faults
                .iter_mut()
                .filter(|fault| fault.slot == *slot && fault.to.is_none());
            for fault in standing {
                (fault.to, fault.ended_by) = (Some(tick), Some(step.place.clone()));
            }
            return;
        }
        let (Target::Port(slot) | Target::Counter(slot) | Target::CharDevice(slot)) = on else {
            return;
        };
        for what in what {
            let Occurrence::Fault(fault) = what else {
                continue;
            };
            if !fault.is_beside_states() {
                continue;
            }
            self.faults.push(PortFault {
                slot: slot.clone(),
                fault: fault.clone(),
                from: tick,
                to: None,
                step: step.place.clone(),
                ended_by: None,
            });
        }
    }

    fn start(&mut self, node: &NodeName, tick: u64, step: &Step) {
        self.starts.push(MonitorStart {
            node: node.clone(),
            tick,
            step: step.place.clone(),
        });
    }

    fn begin_rule(
        &mut self,
        rule: &RuleAction,
        (step, at, from): (&Step, SimTime, u64),
        ticks: Ticks,
    ) {
        let (to, reads) = match rule.lasting {
            RuleLasting::Always => (None, None),
            RuleLasting::For(long) => (Some(ticks.first_from(at + long)), None),
            RuleLasting::Nth(nth) => (None, Some(nth..=nth)),
            RuleLasting::First(count) => (None, Some(1..=count)),
        };
        self.reads.push(RuledReads {
            rule: rule.clone(),
            episode: act::episode_of_rule(rule),
            from,
            to,
            reads,
            step: step.place.clone(),
            ended_by: None,
        });
    }

    /// Removes the rules on a file, or all.
    fn end_rules(&mut self, file: Option<&FileRef>, step: &Step, tick: u64) {
        let is_meant = |of: &FileRef| file.is_none_or(|file| file == of);
        for ruled in &mut self.reads {
            if is_meant(&ruled.rule.file) && ruled.to.is_none_or(|to| to > tick) {
                (ruled.to, ruled.ended_by) = (Some(tick), Some(step.place.clone()));
            }
        }
        if file.is_none_or(act::is_boot_id) {
            self.boot_id_ruled.clear();
        }
    }

    /// Ends what a connector did, and begins what it does from now on, if it accepts nothing then.
    fn connector(
        &mut self,
        node: &NodeName,
        action: &ConnectorAction,
        (step, at, from): (&Step, SimTime, u64),
        ticks: Ticks,
    ) {
        let mut outages = self.outages.iter_mut().rev();
        let last = outages.find(|outage| outage.node == *node);
        if let Some(last) = last.filter(|last| last.to.is_none_or(|to| to > from)) {
            (last.to, last.ended_by) = (Some(from), Some(step.place.clone()));
        }
        let Some(socket) = act::outage_of(&action.behaviour) else {
            return;
        };
        let (to, calls) = match action.lasting {
            ConnectorLasting::Always => (None, None),
            ConnectorLasting::For(long) => (Some(ticks.first_from(at + long)), None),
            ConnectorLasting::Calls(calls) => (None, Some(calls)),
        };
        self.outages.push(Outage {
            node: node.clone(),
            socket,
            from,
            to,
            calls,
            step: step.place.clone(),
            ended_by: None,
        });
    }
}
