//! Lets a monitor poll: its listings are released, and its poll is over when it lists again.

use director::MonitorId;
use observe::{Drains, Medium, Pace};
use platforms::NodeName;

use super::{Play, Player, waiting::Waited};

impl Player<'_> {
    /// Lets a monitor poll once, or continue the poll in which it is held.
    pub(super) fn let_poll(&mut self, node: &NodeName, monitor: MonitorId) -> Play<()> {
        match self.descriptor.pace() {
            Pace::Gate => {}
            Pace::Runs => return self.run(node, monitor),
            Pace::Asked => return self.scrape(node, monitor),
        }
        if !self.resume(node, monitor)? {
            return Ok(());
        }
        if !self.loops.is_empty() {
            return self.poll_loops(node, monitor);
        }
        let loops = self.loops();
        if self
            .node_runtime(node)
            .instances
            .get(&monitor)
            .is_some_and(|instance| instance.granted.is_none() && instance.held.is_none())
        {
            if self.come(node, monitor)? != Waited::Done {
                return Ok(());
            }
            self.await_connection(node, monitor)?;
            if !self.node_runtime(node).instances.contains_key(&monitor) {
                return Ok(());
            }
            let instance = self.instance(node, monitor);
            let granted: Vec<_> = instance.gate.drain(..loops).collect();
            instance.granted = Some(u32::try_from(granted.len()).expect("a monitor has few loops"));
            granted
                .into_iter()
                .for_each(|hold| self.node_runtime(node).release(hold));
        }
        let all = self.listings;
        let waited = self.wait(
            node,
            monitor,
            "the end of its poll",
            move |instance, loops| {
                instance.granted.is_some_and(|granted| granted >= all)
                    && instance.gate.len() >= loops
            },
        )?;
        if waited == Waited::Done {
            if self.descriptor.drains == Drains::Quiet && self.rest(node, monitor)? != Waited::Done
            {
                return Ok(());
            }
            self.instance(node, monitor).granted = None;
            // What a daemon has written is heard when the collector looks.
            let is_heard = self.descriptor.medium() != Medium::Files || self.is_due();
            let node_runtime = self.node_runtime(node);
            node_runtime.tick.polls += u32::from(is_heard);
            node_runtime.polled = true;
            node_runtime.note_reads();
        }
        Ok(())
    }

    /// Lets go a read that was held for some ticks, if they are over; `false` if the monitor cannot poll in this
    /// tick.
    fn resume(&mut self, node: &NodeName, monitor: MonitorId) -> Play<bool> {
        let tick = self.tick();
        let Some(instance) = self.node_runtime(node).instances.get(&monitor) else {
            return Ok(false);
        };
        match instance.held {
            Some((_, until)) if tick < until => return Ok(false),
            Some((hold, _)) => {
                self.instance(node, monitor).held = None;
                self.node_runtime(node).hangs.remove(&hold);
                self.node_runtime(node).release(hold);
                if self.instance(node, monitor).granted.is_none() {
                    // It was held on the way to its first poll.
                    self.come(node, monitor)?;
                }
            }
            None => {}
        }
        Ok(true)
    }
}
