//! Ends a monitor, by a step of the story or at the drill's end.

use std::time::{Duration, Instant};

use platforms::NodeName;
use scenarios::Signal;
use simfs::Errno;

use super::{Play, Player, stage, waiting::LOOK};
use director::MonitorId;
use observe::Broken;

use crate::process::quiet;

/// How long a monitor may take after SIGTERM to end without another poll. Chosen: the reference monitor looks
/// for the signal every 100 ms while its listing is held. One that ends later is let go from the gate.
const TERM_GRACE: Duration = Duration::from_millis(200);

/// How long a wrapped program may take to end after SIGTERM.
const WRAP_GRACE: Duration = Duration::from_secs(3);

impl Player<'_> {
    /// Ends a monitor and waits until it has ended.
    pub(super) fn end_process(
        &mut self,
        node: &NodeName,
        monitor: MonitorId,
        signal: Signal,
    ) -> Play<()> {
        let node_runtime = self.node_runtime(node);
        let Some(instance) = node_runtime.instances.get_mut(&monitor) else {
            node_runtime.runs.remove(&monitor);
            return Ok(());
        };
        instance.ending = true;
        let pid = instance.program.pid();
        if signal == Signal::Kill {
            self.arm.watchdog.leave(pid);
        }
        self.instance(node, monitor).program.signal(signal);
        let begun = Instant::now();
        if signal == Signal::Kill {
            self.interrupt(node, monitor);
        }
        while self.node_runtime(node).instances.contains_key(&monitor) {
            if begun.elapsed() > self.patience() {
                return Err(Broken::Hung {
                    tick: self.tick(),
                    waiting_for: format!("its end after {}", word(signal)),
                });
            }
            match self.next(TERM_GRACE) {
                Some(event) => self.react(event)?,
                None if begun.elapsed() < TERM_GRACE => {}
                None if signal == Signal::Kill => self.interrupt(node, monitor),
                None => self.let_go(node, monitor),
            }
        }
        Ok(())
    }

    /// Lets a monitor that was told to end go from the gate, now and whenever it comes to it, because it may end
    /// only after its poll. What it calls until then belongs to the present tick. A monitor that runs is not let
    /// go: it may be about to end.
    fn let_go(&mut self, node: &NodeName, monitor: MonitorId) {
        let node_runtime = self.node_runtime(node);
        let Some(instance) = node_runtime.instances.get_mut(&monitor) else {
            return;
        };
        if instance.gate.is_empty() || quiet::stir(instance.program.pid()).runs {
            return;
        }
        instance.let_go = true;
        // It polls once more, and sees what this tick has changed.
        instance.granted = Some(instance.granted.unwrap_or(0));
        for hold in std::mem::take(&mut instance.gate) {
            node_runtime.release(hold);
        }
    }

    /// Interrupts a monitor's listings at the gate, as a signal interrupts a slow system call.
    pub(super) fn interrupt(&mut self, node: &NodeName, monitor: MonitorId) {
        let node_runtime = self.node_runtime(node);
        let Some(instance) = node_runtime.instances.get_mut(&monitor) else {
            return;
        };
        let gate = std::mem::take(&mut instance.gate);
        if let Some(server) = &node_runtime.server {
            for hold in gate {
                server.answer(hold, Errno::EINTR);
            }
        }
    }

    /// Ends all monitors, and removes sockets and mounts.
    pub(super) fn clear(&mut self) -> Play<()> {
        let mut cleared = Ok(());
        for node in self.node_runtimes.keys().cloned().collect::<Vec<_>>() {
            let monitors: Vec<_> = self.node_runtimes[&node]
                .instances
                .keys()
                .copied()
                .collect();
            for monitor in monitors {
                if self.node_runtimes[&node].instances[&monitor]
                    .program
                    .ends_gently()
                {
                    self.end_gently(&node, monitor);
                }
                self.free(&node, monitor);
                let ended = self.end_process(&node, monitor, Signal::Kill);
                cleared = cleared.and(ended);
            }
        }
        let tick = self.tick();
        let (transport, runtime) = self.arm.transport(self.descriptor.speaks);
        let closed = transport.close(runtime);
        cleared = cleared.and(closed.map_err(|error| error.broken(tick)));
        let (turn, limit) = (&self.arm.turn, self.arm.options.limit);
        for node_runtime in self.node_runtimes.values_mut() {
            if let Some(server) = node_runtime.server.take() {
                // Held requests are released first, so that a process that cannot be killed can
                // end. The kernel takes some milliseconds for the unmount, in which another drill
                // may work.
                let unmounted = turn
                    .aside(|| server.unmount())
                    .map_err(|error| stage(&error));
                cleared = cleared.and(unmounted);
            }
            // What a monitor has left behind, such as a daemon, ends before the next drill.
            let spaces = std::mem::take(&mut node_runtime.spaces);
            if !turn.aside(|| spaces.iter().all(|space| space.clear(limit))) {
                let cause = "a process that the monitor has started does not end".to_owned();
                cleared = cleared.and(Err(Broken::Stage { cause }));
            }
        }
        cleared
    }

    /// Kills a monitor and releases the requests that a rule holds, so that a stuck one ends too.
    pub(super) fn free(&mut self, node: &NodeName, monitor: MonitorId) {
        let node_runtime = self.node_runtime(node);
        let Some(instance) = node_runtime.instances.get_mut(&monitor) else {
            return;
        };
        instance.ending = true;
        let pid = instance.program.pid();
        self.arm.watchdog.leave(pid);
        self.instance(node, monitor).program.signal(Signal::Kill);
        let node_runtime = self.node_runtime(node);
        for (hold, _) in std::mem::take(&mut node_runtime.hangs) {
            node_runtime.release(hold);
        }
    }

    /// A wrapper may write output when it ends, such as measurements.
    pub(super) fn end_gently(&mut self, node: &NodeName, monitor: MonitorId) {
        let begun = Instant::now();
        let instance = self.instance(node, monitor);
        instance.ending = true;
        instance.program.signal(Signal::Term);
        while self.node_runtime(node).instances.contains_key(&monitor)
            && begun.elapsed() < WRAP_GRACE
        {
            match self.next(LOOK) {
                // Events from here on do not belong to the drill, and errors are ignored.
                Some(event) => drop(self.react(event)),
                None => self.interrupt(node, monitor),
            }
        }
    }
}

fn word(signal: Signal) -> &'static str {
    match signal {
        Signal::Term => "SIGTERM",
        Signal::Kill => "SIGKILL",
    }
}
