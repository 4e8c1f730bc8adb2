//! One node on stage: its mount, its socket's place, and the monitors in its chair.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use director::{MonitorId, state_file};
use memory::TraceLog;
use observe::MonitorTick;
use simfs::{Fs, RuleId};
use simfs_fuse::{HoldId, Server};

use super::monitor_process::MonitorProcess;

/// One node. The mount goes before the monitors, so that none of them is held for ever.
pub(super) struct NodeRuntime {
    /// `None` for a node without a chair: nobody reads its files.
    pub(super) server: Option<Server>,
    pub(super) fs: Arc<Mutex<Fs>>,
    pub(super) root: PathBuf,
    pub(super) socket: PathBuf,
    pub(super) instances: BTreeMap<MonitorId, MonitorInstance>,
    /// Requests that a rule holds.
    pub(super) hangs: BTreeMap<HoldId, Hang>,
    /// What the chair has done in the present tick.
    pub(super) tick: MonitorTick,
    pub(super) trace: TraceLog,
    /// A poll ended in the present tick, by itself or by a kill.
    pub(super) polled: bool,
}

/// A request that a rule holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hang {
    pub(super) rule: RuleId,
    pub(super) pid: u32,
}

/// A monitor that runs.
pub(super) struct MonitorInstance {
    pub(super) program: MonitorProcess,
    /// Where it answers.
    pub(super) metrics_port: u16,
    /// Listings of the anchor that are held, oldest first.
    pub(super) gate: VecDeque<HoldId>,
    /// How many listings of the present poll were let go; `None` between polls.
    pub(super) granted: Option<u32>,
    /// The request that is held for a number of ticks, and the tick in which it is let go.
    pub(super) held: Option<(HoldId, u64)>,
    /// It was told to end, or killed.
    pub(super) ending: bool,
}

impl MonitorInstance {
    pub(super) fn new(program: MonitorProcess, metrics_port: u16) -> Self {
        Self {
            program,
            metrics_port,
            gate: VecDeque::new(),
            granted: None,
            held: None,
            ending: false,
        }
    }
}

impl NodeRuntime {
    pub(super) fn fs(&self) -> MutexGuard<'_, Fs> {
        self.fs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something to the files; when it returns, no process meets what was before.
    pub(super) fn change<T>(&self, work: impl FnOnce(&mut Fs) -> T) -> T {
        match &self.server {
            Some(server) => server.with_fs(work),
            None => work(&mut self.fs()),
        }
    }

    /// Lets held requests go on.
    pub(super) fn release(&self, hold: HoldId) {
        if let Some(server) = &self.server {
            // One that is held no more has been ended by a kill.
            server.release(hold);
        }
    }

    /// Whose thread this is. With one monitor in the chair there is no doubt.
    pub(super) fn whose(&self, tid: u32) -> Option<MonitorId> {
        let mut instances = self.instances.iter();
        match (instances.next(), instances.next()) {
            (Some((only, _)), None) => Some(*only),
            _ => self
                .instances
                .iter()
                .find(|(_, instance)| instance.program.is(tid))
                .map(|(monitor, _)| *monitor),
        }
    }

    /// What was read and written since this was last asked belongs to the present tick.
    pub(super) fn note_reads(&mut self) {
        let mut fs = self.fs.lock().unwrap_or_else(PoisonError::into_inner);
        self.tick.reads = self.trace.reads(&mut fs, &self.tick.reads);
    }

    /// What was read and written since this was last asked is no part of a poll.
    pub(super) fn forget_reads(&self) {
        self.fs().take_trace();
    }

    /// What the chair did in the tick that ends.
    pub(super) fn end_tick(&mut self) -> Arc<MonitorTick> {
        let mut fs = self.fs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tick = std::mem::take(&mut self.tick);
        tick.state_file = self.trace.state_file(state_file(&mut fs));
        self.trace.ended(tick)
    }
}
