//! Waits of a player: until a monitor is at the gate, has ended its poll, or is at rest.

use std::time::{Duration, Instant};

use platforms::NodeName;
use rustix::process::Pid;

use super::{Play, Player};
use director::MonitorId;
use observe::Broken;
use simfs_fuse::Server;

use crate::process::{
    ProcessArm, count,
    inbox::NodeEvent,
    loops::Loops,
    node_runtime::{MonitorInstance, Run},
    quiet,
};

/// The interval at which a wait checks whether the run is to end.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// After this long without a message, a drill lets another of its job work.
const IDLE: Duration = Duration::from_millis(20);

/// A monitor that publishes in the background is at rest once none of its threads has run for this
/// long.
const QUIET: Duration = Duration::from_millis(20);

/// How often in a row no thread may be seen to have run. A busy machine gives the player few looks in [`QUIET`].
/// Chosen: as many as it takes on an idle one.
const LOOKS_AT_REST: u32 = 8;

/// If its threads never rest, it counts as at rest once it has emitted nothing for this long.
const SILENT: Duration = Duration::from_millis(200);

/// The result of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// The condition is met.
    Done,
    /// The monitor has ended.
    Gone,
    /// A rule holds the monitor for some ticks.
    Held,
}

/// Watches whether a process is at rest.
#[derive(Debug)]
pub(super) struct Stillness {
    since: Instant,
    stir: quiet::Stir,
    looks: u32,
    operations: u64,
}

impl Default for Stillness {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            stir: quiet::Stir::default(),
            looks: 0,
            operations: 0,
        }
    }
}

impl Stillness {
    /// Whether the file server has had something to do since the last look, by the number of its operations.
    fn works(&self, operations: u64) -> bool {
        self.operations != operations
    }

    /// Whether a thread ran, or was ready to, at the last look.
    fn runs(&self) -> bool {
        self.stir.runs
    }

    /// Looks once; whether no thread has run for a while, and the file server has had nothing to do.
    pub(super) fn look(&mut self, pid: Pid, operations: u64) -> bool {
        let stir = quiet::stir(pid);
        let works = std::mem::replace(&mut self.operations, operations) != operations;
        if stir != self.stir || stir.runs {
            (self.since, self.stir, self.looks) = (Instant::now(), stir, 0);
        } else if works {
            self.looks = 0;
        } else {
            self.looks += 1;
        }
        self.since.elapsed() >= QUIET && self.looks >= LOOKS_AT_REST
    }
}

impl Player<'_> {
    /// Waits until a monitor is at the gate. A loop that the real time paces is waited for when it is due only.
    pub(super) fn come(&mut self, node: &NodeName, monitor: MonitorId) -> Play<Waited> {
        let (tick, heals) = (self.tick(), self.director.healing_from().is_some());
        self.wait(
            node,
            monitor,
            "its next listing of `{root}/sys/class/infiniband`",
            move |instance, loops| {
                let is_spared = |all: &Loops| all.spares_the_paced(tick, heals, Instant::now());
                let spared = instance.loops.as_ref().is_some_and(is_spared);
                instance.gate.len() + usize::from(spared) >= loops
            },
        )
    }

    /// Waits until a monitor that publishes in the background has emitted everything: no thread of it has run for a
    /// while, and none waits for a file or an answer, both of which a busy machine can keep from it.
    pub(super) fn rest(&mut self, node: &NodeName, monitor: MonitorId) -> Play<Waited> {
        let mut reported = Instant::now();
        let mut still = Stillness::default();
        loop {
            let node_runtime = self.node_runtime(node);
            let so_far = node_runtime.server.as_ref().map_or(0, Server::settle);
            let Some(instance) = node_runtime.instances.get(&monitor) else {
                return Ok(Waited::Gone);
            };
            if instance.held.is_some() {
                return Ok(Waited::Held);
            }
            let pid = instance.program.pid();
            if still.works(so_far) {
                reported = Instant::now();
            }
            let is_at_rest = still.look(pid, so_far);
            if is_at_rest || (reported.elapsed() >= SILENT && !still.runs()) {
                return Ok(Waited::Done);
            }
            self.goes_on()?;
            if let Some(event) = self.next(Duration::from_millis(2)) {
                self.react(event)?;
                reported = Instant::now();
                still.looks = 0;
            }
        }
    }

    /// Waits until `done` holds, which receives the number of the monitor's loops that come to the
    /// gate.
    pub(super) fn wait(
        &mut self,
        node: &NodeName,
        monitor: MonitorId,
        what: &str,
        done: impl Fn(&MonitorInstance, usize) -> bool,
    ) -> Play<Waited> {
        let all = self.loops();
        let mut progress = Instant::now();
        loop {
            self.goes_on()?;
            let Some(instance) = self.node_runtime(node).instances.get(&monitor) else {
                return Ok(Waited::Gone);
            };
            let loops = instance.loops.as_ref().map_or(all, Loops::count);
            if done(instance, loops) {
                return Ok(Waited::Done);
            }
            if instance.held.is_some() || self.holds_a_run(node) {
                return Ok(Waited::Held);
            }
            match self.next(LOOK) {
                Some(event) => {
                    self.react(event)?;
                    progress = Instant::now();
                }
                None if self.is_out_of_patience(node, monitor, &mut progress) => {
                    let came = self.node_runtime(node).instances.get(&monitor);
                    let came = came.map_or(0, |instance| instance.gate.len());
                    let waiting_for = if loops > 1 {
                        format!("{what} ({came} of its {loops} loops are at the gate)")
                    } else {
                        what.to_owned()
                    };
                    return Err(Broken::Hung {
                        tick: self.tick(),
                        waiting_for,
                    });
                }
                None => self.idle(node, monitor, what)?,
            }
        }
    }

    /// Whether a run waits for a read that the story holds, so that ticks go on.
    fn holds_a_run(&self, node: &NodeName) -> bool {
        let hangs = &self.node_runtimes[node].hangs;
        // One that is being killed ends now, unless it waits in the kernel.
        let mut runs = self.node_runtimes[node].runs.values();
        let is_killed = |run: &Run| run.overran && !run.stuck;
        if runs.any(|runs| runs.run.as_ref().is_some_and(is_killed)) {
            return false;
        }
        let ends = hangs.values().any(|hang| hang.until.is_some());
        self.has_runs() && (ends || (!hangs.is_empty() && !self.descriptor.has_own_timeout()))
    }

    /// How long a monitor may make no progress.
    pub(super) fn patience(&self) -> Duration {
        let usual = self.usual_patience() + self.descriptor.real_time.patience();
        self.stated_answer().unwrap_or(usual)
    }

    /// How long a whole poll may take while the connector's socket is missing, progress or not: a missing socket is skipped,
    /// and what is held meanwhile gets old.
    pub(super) fn patience_without_socket(&self) -> Duration {
        self.usual_patience() + self.descriptor.real_time.without_socket()
    }

    /// The limit of every wait, with the longest pause of a loop that the real time paces.
    fn usual_patience(&self) -> Duration {
        let paced = self.loops.iter().filter_map(|spec| spec.paced).max();
        self.arm.options.limit + paced.unwrap_or_default()
    }

    /// Whether a monitor has made no progress for too long. While it is ready to run on a machine that is busy with others,
    /// and gets hardly a CPU, it is as if it made some, until it has run for long enough all the same.
    pub(super) fn is_out_of_patience(
        &mut self,
        node: &NodeName,
        monitor: MonitorId,
        progress: &mut Instant,
    ) -> bool {
        let cpus = count(&self.arm.cpus);
        let waited = progress.elapsed();
        if waited >= LOOK {
            self.note_ran();
        }
        // Looks at every thread of many monitors would be a load of their own, and most waits are short.
        let is_busy = waited >= self.patience() / 2
            && quiet::is_busy(cpus)
            && !self.arm.watchdog.is_busy_with_them()
            && !self.has_had_its_time();
        let instance = self.node_runtime(node).instances.get(&monitor);
        if is_busy && instance.is_some_and(|instance| instance.program.runs()) {
            *progress = Instant::now();
        }
        let is_over = progress.elapsed() >= self.patience();
        if is_over && self.has_had_its_time() {
            self.arm.is_over_limit = true;
        }
        is_over
    }

    /// Counts a look without progress, and ends a drill that waits longer than its descriptor allows. A monitor that
    /// runs, or would if it had a CPU, does not wait.
    fn idle(&mut self, node: &NodeName, monitor: MonitorId, what: &str) -> Play<()> {
        let Some(at_most) = self.descriptor.real_time.at_most else {
            return Ok(());
        };
        let instance = self.node_runtime(node).instances.get(&monitor);
        if instance.is_some_and(|instance| quiet::stir(instance.program.pid()).runs) {
            return Ok(());
        }
        self.idle += LOOK;
        let (checks, ticks) = (self.story.checks.names(), self.ticks.len() as u64);
        let tick = Duration::from_nanos(self.story.ticks.interval().as_ns());
        let intervals = self.descriptor.between_polls(&checks, ticks + 1, tick);
        if self.idle <= at_most.0 + intervals {
            return Ok(());
        }
        Err(Broken::Hung {
            tick: self.tick(),
            waiting_for: format!(
                "{what} (the drill has waited for more than {at_most} of real time, which is what `real_time` allows)"
            ),
        })
    }

    /// The next message, if one arrives within this time.
    pub(super) fn next(&mut self, limit: Duration) -> Option<NodeEvent> {
        let ProcessArm {
            runtime,
            inbox,
            turn,
            ..
        } = &mut *self.arm;
        let mut within = |limit| {
            runtime.block_on(async {
                tokio::time::timeout(limit, inbox.recv())
                    .await
                    .ok()
                    .flatten()
            })
        };
        let soon = limit.min(IDLE);
        match within(soon) {
            None if limit > soon => turn.aside(|| within(limit - soon)),
            event => event,
        }
    }
}
