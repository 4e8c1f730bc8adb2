//! Reactions of a player to messages that arrive while it waits.

use simfs::{Errno, MomentId, RuleId};
use simfs_fuse::HoldId;
use tokio::sync::oneshot;

use platforms::NodeName;
use scenarios::{HangEnd, Signal};

use super::{Play, Player, stage};
use director::{MomentDo, MonitorId, Reaction};
use observe::{Broken, Delivery, Pace};

use crate::process::{
    inbox::{NodeEvent, RuntimeEvent},
    loops::Loops,
    monitor_process::MonitorProcess,
    node_runtime::{Hang, NodeRuntime},
    own_clock,
};

impl Player<'_> {
    pub(super) fn react(&mut self, event: NodeEvent) -> Play<()> {
        let NodeEvent { node, what } = event;
        match what {
            RuntimeEvent::Gate { hold, pid } => self.gate(&node, hold, pid)?,
            RuntimeEvent::Hung { hold, pid, rule } => self.hung(&node, hold, pid, rule),
            RuntimeEvent::Moment { hold, pid, moment } => self.moment(&node, hold, pid, moment)?,
            RuntimeEvent::Answered => {}
            // One that was killed because it took too long may take its time to end.
            RuntimeEvent::Stuck if self.is_overrun_stuck(&node) => {}
            RuntimeEvent::Stuck => return Err(Broken::StuckInKernel { tick: self.tick() }),
            RuntimeEvent::Killed { hold } => {
                let node_runtime = self.node_runtime(&node);
                node_runtime.hangs.remove(&hold);
                node_runtime
                    .instances
                    .values_mut()
                    .for_each(|instance| instance.gate.retain(|held| *held != hold));
            }
            RuntimeEvent::Call {
                reported,
                pid,
                answer,
            } => self.call(&node, reported, pid, answer)?,
            RuntimeEvent::Ended { monitor } => self.ended(&node, monitor)?,
        }
        Ok(())
    }

    /// A further listing within a poll, or of a monitor that was told to end, is released at once.
    fn gate(&mut self, node: &NodeName, hold: HoldId, pid: u32) -> Play<()> {
        let all = self.listings;
        let node_runtime = self.node_runtime(node);
        let Some(monitor) = node_runtime.whose(pid) else {
            node_runtime.release(hold);
            return Ok(());
        };
        let mut more = node_runtime
            .instances
            .get(&monitor)
            .is_some_and(|instance| instance.let_go);
        if !more
            && let Some(instance) = node_runtime.instances.get_mut(&monitor)
            && let Some(granted) = instance.granted
        {
            let depends = instance.loops.as_ref().is_some_and(Loops::is_unknown);
            if depends {
                node_runtime.note_reads();
            }
            let NodeRuntime {
                instances, tick, ..
            } = node_runtime;
            let loops = instances
                .get_mut(&monitor)
                .and_then(|instance| instance.loops.as_mut());
            more = match loops {
                None => granted < all,
                Some(loops) => loops
                    .goes_on(granted, tick)
                    .map_err(|error| stage(&error))?,
            };
        }
        let Some(instance) = node_runtime.instances.get_mut(&monitor) else {
            return Ok(());
        };
        if more {
            instance.granted = instance.granted.map(|granted| granted + 1);
            node_runtime.release(hold);
        } else {
            instance.gate.push_back(hold);
        }
        Ok(())
    }

    fn hung(&mut self, node: &NodeName, hold: HoldId, pid: u32, rule: RuleId) {
        let tick = self.tick();
        let end = self.director.hang_end(node, rule);
        let has_gate = self.descriptor.pace() == Pace::Gate;
        let node_runtime = self.node_runtime(node);
        let until = match end {
            Some(HangEnd::Ticks(ticks)) if !has_gate => Some(tick + u64::from(ticks)),
            _ => None,
        };
        node_runtime.hangs.insert(hold, Hang { rule, pid, until });
        if !has_gate {
            return;
        }
        if let Some(HangEnd::Ticks(ticks)) = end
            && let Some(monitor) = node_runtime.whose(pid)
            && let Some(instance) = node_runtime.instances.get_mut(&monitor)
        {
            instance.held = Some((hold, tick + u64::from(ticks)));
        }
    }

    fn moment(&mut self, node: &NodeName, hold: HoldId, pid: u32, moment: MomentId) -> Play<()> {
        let node_runtime = self
            .node_runtimes
            .get_mut(node)
            .expect("news come from nodes of the story");
        let Some(by) = node_runtime.whose(pid) else {
            node_runtime.release(hold);
            return Ok(());
        };
        let director = &mut self.director;
        let done = node_runtime
            .change(|fs| director.moment(node, moment, by, fs))
            .map_err(|error| stage(&error))?;
        match done {
            MomentDo::Go => node_runtime.release(hold),
            MomentDo::Kill => {
                self.strike(node, by);
                if let Some(server) = &self.node_runtime(node).server {
                    server.answer(hold, Errno::EINTR);
                }
            }
        }
        Ok(())
    }

    /// Kills a monitor in mid-poll: the poll ends here, and accepted events remain.
    fn strike(&mut self, node: &NodeName, monitor: MonitorId) {
        let node_runtime = self.node_runtime(node);
        node_runtime.polled = true;
        if let Some(instance) = node_runtime.instances.get_mut(&monitor) {
            instance.ending = true;
            let pid = instance.program.pid();
            self.arm.watchdog.leave(pid);
            self.instance(node, monitor).program.signal(Signal::Kill);
        }
        self.interrupt(node, monitor);
    }

    fn call(
        &mut self,
        node: &NodeName,
        mut reported: Delivery,
        pid: u32,
        answer: oneshot::Sender<Reaction>,
    ) -> Play<()> {
        self.budget.spend(&reported);
        let node_runtime = self
            .node_runtimes
            .get_mut(node)
            .expect("news come from nodes of the story");
        let by = node_runtime.whose(pid).unwrap_or_default();
        let director = &mut self.director;
        let done = node_runtime
            .change(|fs| director.call(node, by, fs))
            .map_err(|error| stage(&error))?;
        if let Some(tolerance) = self.descriptor.clock_tolerance {
            own_clock::judge(&mut reported.observations, tolerance);
        }
        let (accepted, rendered) = (done.reaction.accepted(), done.reaction.answer());
        node_runtime
            .tick
            .calls
            .push(reported.answered(accepted, rendered));
        if done.kill {
            self.strike(node, by);
        }
        // The caller may have timed out.
        let _ = answer.send(done.reaction);
        Ok(())
    }

    /// Whether it is a run that was killed because it took too long, which is noted.
    fn is_overrun_stuck(&mut self, node: &NodeName) -> bool {
        let runs = self.node_runtime(node).runs.values_mut();
        let mut killed = runs
            .filter_map(|runs| runs.run.as_mut())
            .filter(|run| run.overran);
        killed.next().is_some_and(|run| {
            run.stuck = true;
            true
        })
    }

    /// Handles a monitor's end. Unless the player or the story ended it, the drill is broken.
    fn ended(&mut self, node: &NodeName, monitor: MonitorId) -> Play<()> {
        let Some(instance) = self.node_runtime(node).instances.get_mut(&monitor) else {
            return Ok(());
        };
        let ending = instance.ending;
        let program = Some(&instance.program).filter(|_| !ending);
        let excess = program.and_then(MonitorProcess::look_at_use);
        let excess = excess.map(|what| format!("it had {what}"));
        if !ending && self.has_runs() {
            self.run_ended(node, monitor)?;
            return excess.map_or(Ok(()), |what| Err(self.over_limit(what)));
        }
        let Some(instance) = self.node_runtime(node).instances.get_mut(&monitor) else {
            return Ok(());
        };
        let polling = instance.granted.is_some();
        let exit = instance.program.reap().map_err(|error| stage(&error))?;
        self.hear(node, monitor, true);
        let tick = self.tick();
        let expected = ending || self.director.expects_exit(node);
        let node_runtime = self.node_runtime(node);
        let instance = node_runtime.instances.remove(&monitor);
        if node_runtime.runs.remove(&monitor).is_some() {
            // What the run has left behind is waited for at the end of the drill.
            let space = instance.and_then(|instance| instance.program.space());
            node_runtime.spaces.extend(space);
        }
        if polling {
            node_runtime.polled = true;
            node_runtime.note_reads();
        } else {
            self.outside_polls(node);
        }
        let node_runtime = self.node_runtime(node);
        node_runtime.tick.exits.push(exit);
        let last_words = node_runtime
            .tick
            .log
            .iter()
            .rev()
            .take(5)
            .rev()
            .cloned()
            .collect();
        if !ending {
            self.director.left(node, monitor);
        }
        if let Some(what) = excess {
            return Err(self.over_limit(what));
        }
        if expected {
            Ok(())
        } else {
            Err(Broken::Crashed {
                tick,
                exit,
                last_words,
            })
        }
    }
}
