//! The monitor instances of a node: running, to be started, or paused.
//!
//! This file decides when a monitor is started, stopped and asked to poll; a player carries it out.

use scenarios::Signal;

/// The number of a monitor instance on a node, from 0. A restart gets a new number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MonitorId(pub u32);

/// An operation on a node's monitor before the poll of a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstanceAct {
    /// Stop this monitor.
    End {
        /// The monitor.
        monitor: MonitorId,
        /// The signal.
        signal: Signal,
    },
    /// Start a monitor.
    Start {
        /// The number of the new instance.
        monitor: MonitorId,
        /// Flags in addition to the descriptor's.
        flags: Vec<String>,
        /// The story's lines of its configuration.
        config: String,
    },
}

/// The operations and polls of one node in one tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstancePlan {
    /// Operations, in order, before the polls.
    pub acts: Vec<InstanceAct>,
    /// The monitors that poll, one after another. A monitor that is still held in an earlier poll
    /// stays held.
    pub polls: Vec<MonitorId>,
}

#[derive(Clone, Debug)]
pub(super) struct MonitorInstances {
    running: Vec<MonitorId>,
    next: u32,
    starts: Vec<(u64, Vec<String>, String)>,
    paused_until: u64,
    flags: Vec<String>,
    config: String,
    acts: Vec<InstanceAct>,
}

impl MonitorInstances {
    /// A node whose first monitor starts in tick 0.
    pub(super) fn new(flags: &[String], config: &str) -> Self {
        Self {
            running: Vec::new(),
            next: 0,
            starts: vec![(0, flags.to_vec(), config.to_owned())],
            paused_until: 0,
            flags: flags.to_vec(),
            config: config.to_owned(),
            acts: Vec::new(),
        }
    }

    /// Stops the monitor that has run longest, and returns it.
    pub(super) fn end_oldest(&mut self, signal: Signal) -> Option<MonitorId> {
        if self.running.is_empty() {
            return None;
        }
        let monitor = self.running.remove(0);
        self.acts.push(InstanceAct::End { monitor, signal });
        Some(monitor)
    }

    /// Stops every monitor, and cancels planned starts.
    pub(super) fn end_all(&mut self, signal: Signal) {
        while self.end_oldest(signal).is_some() {}
        self.starts.clear();
    }

    /// Removes a monitor that has ended; returns whether it was running.
    pub(super) fn left(&mut self, monitor: MonitorId) -> bool {
        let before = self.running.len();
        self.running.retain(|seated| *seated != monitor);
        self.running.len() < before
    }

    /// Appends flags and replaces the configuration lines, from now on.
    pub(super) fn equip(&mut self, flags: &[String], config: Option<&String>) {
        self.flags.extend(flags.iter().cloned());
        if let Some(config) = config {
            self.config.clone_from(config);
        }
    }

    /// Plans the start of a monitor in this tick.
    pub(super) fn start_in(&mut self, tick: u64) {
        self.starts
            .push((tick, self.flags.clone(), self.config.clone()));
    }

    /// Plans the start of a monitor in this tick, with additional flags for this start only.
    pub(super) fn start_with(&mut self, tick: u64, flags: &[String]) {
        let flags = [&self.flags, flags].concat();
        self.starts.push((tick, flags, self.config.clone()));
    }

    /// Suspends polls until this tick.
    pub(super) fn pause_until(&mut self, tick: u64) {
        self.paused_until = tick;
    }

    /// Healing: planned starts happen now, pauses end, and a node without a monitor gets one as at
    /// the story's start.
    pub(super) fn heal(&mut self, tick: u64, flags: &[String], config: &str) {
        self.paused_until = 0;
        for start in &mut self.starts {
            start.0 = tick;
        }
        if self.running.is_empty() && self.starts.is_empty() {
            self.starts.push((tick, flags.to_vec(), config.to_owned()));
        }
    }

    /// The plan of this tick.
    pub(super) fn plan(&mut self, tick: u64) -> InstancePlan {
        let due: Vec<_> = self.starts.extract_if(.., |(at, ..)| *at <= tick).collect();
        for (_, flags, config) in due {
            let monitor = MonitorId(self.next);
            self.next += 1;
            self.running.push(monitor);
            self.acts.push(InstanceAct::Start {
                monitor,
                flags,
                config,
            });
        }
        let polls = if tick < self.paused_until {
            Vec::new()
        } else {
            self.running.clone()
        };
        InstancePlan {
            acts: std::mem::take(&mut self.acts),
            polls,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restarted_monitor_polls_once_it_is_back() {
        let mut instances = MonitorInstances::new(&[], "");
        assert_eq!(instances.plan(0).polls, [MonitorId(0)]);
        instances.end_oldest(Signal::Term);
        instances.start_in(3);
        assert_eq!(
            instances.plan(1),
            InstancePlan {
                acts: vec![InstanceAct::End {
                    monitor: MonitorId(0),
                    signal: Signal::Term
                }],
                polls: vec![],
            }
        );
        assert_eq!(instances.plan(2).polls, []);
        assert_eq!(instances.plan(3).polls, [MonitorId(1)]);
    }

    #[test]
    fn the_older_of_two_is_ended_first() {
        let mut instances = MonitorInstances::new(&[], "");
        instances.plan(0);
        instances.start_with(1, &["--x".to_owned()]);
        assert_eq!(instances.plan(1).polls, [MonitorId(0), MonitorId(1)]);
        instances.end_oldest(Signal::Term);
        assert_eq!(instances.plan(2).polls, [MonitorId(1)]);
    }

    #[test]
    fn who_has_left_sits_there_no_longer() {
        let mut instances = MonitorInstances::new(&[], "");
        instances.plan(0);
        assert!(instances.left(MonitorId(0)));
        assert!(!instances.left(MonitorId(0)));
        assert_eq!(instances.plan(1), InstancePlan::default());
    }

    /// Flags of one start are for it alone, and what a chair is equipped with stays until it is healed.
    #[test]
    fn a_start_has_the_flags_and_the_configuration_of_its_node() {
        let flags = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let started = |instances: &mut MonitorInstances, tick| {
            let acts = instances.plan(tick).acts.into_iter();
            acts.map(|act| match act {
                InstanceAct::Start { flags, config, .. } => (flags, config),
                InstanceAct::End { .. } => (Vec::new(), "an end".to_owned()),
            })
            .collect::<Vec<_>>()
        };
        let mut instances = MonitorInstances::new(&flags(&["--a"]), "one");
        assert_eq!(
            started(&mut instances, 0),
            [(flags(&["--a"]), "one".to_owned())]
        );
        instances.start_with(1, &flags(&["--b"]));
        assert_eq!(
            started(&mut instances, 1),
            [(flags(&["--a", "--b"]), "one".to_owned())]
        );
        instances.equip(&flags(&["--c"]), Some(&"two".to_owned()));
        instances.start_in(2);
        assert_eq!(
            started(&mut instances, 2),
            [(flags(&["--a", "--c"]), "two".to_owned())]
        );
        instances.end_all(Signal::Kill);
        assert_eq!(started(&mut instances, 3).len(), 3);
        instances.heal(4, &flags(&["--a"]), "one");
        assert_eq!(
            started(&mut instances, 4),
            [(flags(&["--a"]), "one".to_owned())]
        );
    }

    /// Healing fills an empty chair, and brings forward who is to come to it; it does not do both.
    #[test]
    fn healing_starts_a_monitor_once() {
        let mut seated = MonitorInstances::new(&[], "");
        seated.plan(0);
        seated.heal(5, &[], "");
        assert_eq!(seated.plan(5).polls, [MonitorId(0)]);
        let mut awaited = MonitorInstances::new(&[], "");
        awaited.plan(0);
        awaited.end_oldest(Signal::Kill);
        awaited.start_in(9);
        awaited.heal(5, &[], "");
        assert_eq!(awaited.plan(5).polls, [MonitorId(1)]);
        assert_eq!(awaited.plan(9).polls, [MonitorId(1)]);
    }

    #[test]
    fn a_pause_keeps_the_instance() {
        let mut instances = MonitorInstances::new(&[], "");
        instances.plan(0);
        instances.pause_until(3);
        assert_eq!(instances.plan(2).polls, []);
        assert_eq!(instances.plan(3).polls, [MonitorId(0)]);
    }
}
