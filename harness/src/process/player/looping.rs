//! A tick of a monitor whose loops poll one after another.

use std::time::Instant;

use platforms::NodeName;

use super::{
    Play, Player, stage,
    waiting::{LOOK, Waited},
};
use director::MonitorId;
use observe::Drains;

use crate::process::{loops::Loops, node_runtime::NodeRuntime};

impl Player<'_> {
    /// Lets every loop of a monitor that is due poll once. A poll that a rule holds for some ticks goes on where
    /// it was; meanwhile the other loops wait at the gate.
    pub(super) fn poll_loops(&mut self, node: &NodeName, monitor: MonitorId) -> Play<()> {
        let mut polled = false;
        while self.let_one_go(node, monitor)? {
            if self.one_is_back(node, monitor)? != Waited::Done {
                return Ok(());
            }
            if !std::mem::replace(&mut polled, true) {
                let node_runtime = self.node_runtime(node);
                node_runtime.tick.polls += 1;
                node_runtime.polled = true;
            }
        }
        Ok(())
    }

    /// Lets the next loop that is due poll, unless one is in its poll already; `false` if none is due any more,
    /// or the monitor has ended.
    fn let_one_go(&mut self, node: &NodeName, monitor: MonitorId) -> Play<bool> {
        let Some(instance) = self.node_runtime(node).instances.get(&monitor) else {
            return Ok(false);
        };
        if instance.granted.is_some() {
            return Ok(true);
        }
        if self.come(node, monitor)? != Waited::Done {
            return Ok(false);
        }
        self.await_connection(node, monitor)?;
        let (tick, heals) = (self.tick(), self.director.healing_from().is_some());
        let node_runtime = self.node_runtime(node);
        let NodeRuntime {
            instances,
            tick: done,
            ..
        } = node_runtime;
        let Some(instance) = instances.get_mut(&monitor) else {
            return Ok(false);
        };
        let loops = instance.loops.as_mut().expect("its descriptor has loops");
        let Some(hold) = loops.next(tick, heals, &mut instance.gate, done) else {
            return Ok(false);
        };
        if let Some(then) = loops.not_before() {
            self.await_time(then)?;
        }
        let node_runtime = self.node_runtime(node);
        let Some(instance) = node_runtime.instances.get_mut(&monitor) else {
            return Ok(false);
        };
        instance.granted = Some(1);
        if let Some(loops) = instance.loops.as_mut() {
            loops.goes_at(Instant::now());
        }
        node_runtime.release(hold);
        Ok(true)
    }

    /// Waits for a time, and handles what comes meanwhile.
    fn await_time(&mut self, then: Instant) -> Play<()> {
        loop {
            let left = then.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            if let Some(event) = self.next(left.min(LOOK)) {
                self.react(event)?;
            }
        }
    }

    /// Waits until the loop that was let go is at the gate again, and notes what it did. A loop that the real time
    /// paces comes late; its poll is over once the monitor is at rest.
    fn one_is_back(&mut self, node: &NodeName, monitor: MonitorId) -> Play<Waited> {
        let loops = self.node_runtime(node).instances.get(&monitor);
        let loops = loops.and_then(|instance| instance.loops.as_ref());
        let paced = loops.is_some_and(Loops::paced_one_goes);
        let (tick, heals) = (self.tick(), self.director.healing_from().is_some());
        let waited = self.wait(
            node,
            monitor,
            "the end of a loop's poll",
            move |instance, loops| {
                let all = instance.loops.as_ref();
                let over = |granted| all.is_none_or(|all| all.may_be_over(granted));
                let is_spared = |all: &Loops| all.spares_the_paced(tick, heals, Instant::now());
                let away = paced || all.is_some_and(is_spared);
                instance.granted.is_some_and(over)
                    && instance.gate.len() + usize::from(away) >= loops
            },
        )?;
        if waited != Waited::Done {
            return Ok(waited);
        }
        if paced || self.descriptor.drains == Drains::Quiet {
            let rested = self.rest(node, monitor)?;
            if rested != Waited::Done {
                return Ok(rested);
            }
        }
        let tick = self.tick();
        let node_runtime = self.node_runtime(node);
        node_runtime.note_reads();
        let NodeRuntime {
            instances,
            tick: done,
            ..
        } = node_runtime;
        let Some(instance) = instances.get_mut(&monitor) else {
            return Ok(Waited::Gone);
        };
        instance.granted = None;
        if let Some(loops) = instance.loops.as_mut() {
            let gate = (!paced).then_some(&instance.gate);
            let ended = loops.ended(tick, gate, done);
            ended.map_err(|error| stage(&error))?;
        }
        Ok(Waited::Done)
    }
}
