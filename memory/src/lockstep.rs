//! The lockstep: the order of what happens in one tick, which both arms keep.
//!
//! The world's changes become visible, then monitors end and start, then they poll, and then they are asked for their
//! metrics. An arm carries each of these out; [`Lockstep::play_ticks`] decides when.

use std::collections::{BTreeMap, VecDeque};

use director::{InstanceAct, InstancePlan, MonitorId};
use observe::Broken;
use platforms::NodeName;
use scenarios::Signal;

/// What is left to do on monitors in the present tick: first every operation, then every poll.
#[derive(Debug, Default)]
pub struct Turn {
    /// Ends and starts of monitors.
    pub acts: VecDeque<(NodeName, InstanceAct)>,
    /// The monitors that poll, one after another.
    pub polls: VecDeque<(NodeName, MonitorId)>,
}

impl Turn {
    /// The turn that a tick's plan states. `held` is the monitor whose poll continues from the tick before.
    #[must_use]
    pub fn of(
        plan: BTreeMap<NodeName, InstancePlan>,
        held: Option<(&NodeName, MonitorId)>,
    ) -> Self {
        let mut turn = Self::default();
        for (name, instance) in plan {
            let acts = instance.acts.into_iter();
            turn.acts.extend(acts.map(|act| (name.clone(), act)));
            let polls = instance.polls.into_iter();
            let free = polls.filter(|monitor| held != Some((&name, *monitor)));
            turn.polls
                .extend(free.map(|monitor| (name.clone(), monitor)));
        }
        turn
    }
}

/// An arm, as far as the lockstep asks it. Each error ends the drill.
pub trait Lockstep {
    /// Begins the next tick of the world; on an error there is none.
    ///
    /// # Errors
    /// The world cannot go on.
    fn begin_tick(&mut self) -> Result<(), Broken>;

    /// Makes the tick's changes visible.
    ///
    /// # Errors
    /// The stage cannot show them.
    fn show(&mut self) -> Result<(), Broken>;

    /// The next operation of the tick.
    fn next_act(&mut self) -> Option<(NodeName, InstanceAct)>;

    /// Ends a monitor.
    ///
    /// # Errors
    /// The monitor does not end, or the world cannot go on.
    fn end(&mut self, node: &NodeName, monitor: MonitorId, signal: Signal) -> Result<(), Broken>;

    /// Starts a monitor with these further flags and this configuration.
    ///
    /// # Errors
    /// The monitor does not come to its first poll, or the world cannot go on.
    fn start(
        &mut self,
        node: &NodeName,
        monitor: MonitorId,
        flags: &[String],
        config: &str,
    ) -> Result<(), Broken>;

    /// The next poll of the tick.
    fn next_poll(&mut self) -> Option<(NodeName, MonitorId)>;

    /// Lets a monitor poll.
    ///
    /// # Errors
    /// The monitor does not end its poll, or the world cannot go on.
    fn poll(&mut self, node: &NodeName, monitor: MonitorId) -> Result<(), Broken>;

    /// Asks the monitors for what is read after the polls.
    ///
    /// # Errors
    /// A monitor exceeds what it may use, or does not answer.
    fn ask(&mut self) -> Result<(), Broken>;

    /// Ends the tick, and records what the monitors did in it.
    fn end_tick(&mut self);

    /// Whether the drill is over.
    ///
    /// # Errors
    /// What decides it cannot be read.
    fn is_over(&mut self) -> Result<bool, Broken>;

    /// Plays the drill, tick by tick, until it is over.
    ///
    /// # Errors
    /// Why the drill could not be played to its end. The tick in which this happened is recorded.
    fn play_ticks(&mut self) -> Result<(), Broken> {
        loop {
            self.begin_tick()?;
            let played = self.play_tick();
            self.end_tick();
            played?;
            if self.is_over()? {
                return Ok(());
            }
        }
    }

    /// Plays what is between the beginning and the end of a tick.
    ///
    /// # Errors
    /// As [`Lockstep::play_ticks`].
    fn play_tick(&mut self) -> Result<(), Broken> {
        self.show()?;
        while let Some((node, act)) = self.next_act() {
            match act {
                InstanceAct::End { monitor, signal } => self.end(&node, monitor, signal)?,
                InstanceAct::Start {
                    monitor,
                    flags,
                    config,
                } => self.start(&node, monitor, &flags, &config)?,
            }
        }
        while let Some((node, monitor)) = self.next_poll() {
            self.poll(&node, monitor)?;
        }
        self.ask()
    }
}
