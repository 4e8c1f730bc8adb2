//! One node on the stage: its mount, its socket path, and its monitors.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use director::{MonitorId, state_file};
use memory::TraceLog;
use observe::{Limits, MonitorTick, PageForm, PageText, Reads, Subject, Textfiles};
use simfs::{Fs, RuleId};
use simfs_fuse::{HoldId, Server};
use tokio::task::JoinHandle;

use super::{
    loops::Loops, monitor_process::MonitorProcess, mount_space::MountSpace, outage::Outage,
    shared_folder::SharedFolder, slurm::Slurm,
};

/// The folder of a node in which a textfile collector looks.
const TEXTFILES: &str = "textfile";

/// One node. Fields are dropped in order: the mount goes before the monitors, so that no request
/// holds them.
pub(super) struct NodeRuntime {
    /// `None` for a node without a monitor, whose files nothing reads.
    pub(super) server: Option<Server>,
    pub(super) fs: Arc<Mutex<Fs>>,
    /// The folder of its mount, its socket and its configuration files.
    pub(super) folder: PathBuf,
    pub(super) root: PathBuf,
    pub(super) socket: PathBuf,
    /// The mount namespaces of the monitors that were started.
    pub(super) spaces: Vec<Arc<MountSpace>>,
    pub(super) instances: BTreeMap<MonitorId, MonitorInstance>,
    /// Monitors that are run again and again, while the story has them.
    pub(super) runs: BTreeMap<MonitorId, Runs>,
    /// Its recording `scontrol`, if the monitor asks Slurm.
    pub(super) slurm: Option<Slurm>,
    /// Requests that a rule holds.
    pub(super) hangs: BTreeMap<HoldId, Hang>,
    /// What the node's monitor has done in the present tick.
    pub(super) tick: MonitorTick,
    pub(super) trace: TraceLog,
    /// Whether a poll ended in the present tick, by itself or by a kill.
    pub(super) polled: bool,
    /// The outage of its socket that goes on, or after which nobody has connected yet.
    pub(super) outage: Option<Outage>,
    /// How many bytes of output are in its log so far.
    pub(super) logged: usize,
    /// The last page that it was asked for.
    pub(super) page: Option<Arc<str>>,
}

/// A request that a rule holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hang {
    pub(super) rule: RuleId,
    pub(super) pid: u32,
    /// Of a monitor that has no gate, the tick in which the request is released if it is held for ticks.
    pub(super) until: Option<u64>,
}

/// A monitor that is run again and again.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) flags: Vec<String>,
    pub(super) config: String,
    /// Whether its time to run at the start of the node is over.
    pub(super) booted: bool,
    /// The run that goes on.
    pub(super) run: Option<Run>,
    /// The subjects that its last run had a fault of.
    pub(super) open: BTreeSet<Subject>,
}

/// One run of a program.
#[derive(Debug)]
pub(super) struct Run {
    /// When it began, in nanoseconds since the drill began.
    pub(super) begun_ns: u64,
    /// What it has written so far.
    pub(super) output: String,
    /// Whether it was killed because it took too long.
    pub(super) overran: bool,
    /// Whether it does not end although it was killed, because it waits in the kernel.
    pub(super) stuck: bool,
}

/// A page that was asked for and has not come yet.
pub(super) struct Asking {
    /// When it was asked for, in nanoseconds since the drill began.
    pub(super) begun_ns: u64,
    pub(super) reply: JoinHandle<io::Result<(u16, String)>>,
}

/// A running monitor.
pub(super) struct MonitorInstance {
    pub(super) program: MonitorProcess,
    /// The port for metrics and health.
    pub(super) metrics_port: u16,
    /// Held listings of the anchor folder, oldest first.
    pub(super) gate: VecDeque<HoldId>,
    /// How many listings of the present poll were released; `None` between polls.
    pub(super) granted: Option<u32>,
    /// A request that is held for a number of ticks, and the tick in which it is released.
    pub(super) held: Option<(HoldId, u64)>,
    /// Whether it was told to end, or killed.
    pub(super) ending: bool,
    /// Whether its listings are not held any more, so that it can end.
    pub(super) let_go: bool,
    /// Its loops, if its descriptor states them.
    pub(super) loops: Option<Loops>,
    /// The page that it was asked for, if it has no answer yet.
    pub(super) asking: Option<Asking>,
}

impl MonitorInstance {
    pub(super) fn new(program: MonitorProcess, metrics_port: u16, loops: Option<Loops>) -> Self {
        Self {
            program,
            metrics_port,
            gate: VecDeque::new(),
            granted: None,
            held: None,
            ending: false,
            let_go: false,
            loops,
            asking: None,
        }
    }
}

impl NodeRuntime {
    pub(super) fn fs(&self) -> MutexGuard<'_, Fs> {
        self.fs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the files; once this returns, no process sees the old state.
    pub(super) fn change<T>(&self, work: impl FnOnce(&mut Fs) -> T) -> T {
        match &self.server {
            Some(server) => server.with_fs(work),
            None => work(&mut self.fs()),
        }
    }

    /// Releases a held request.
    pub(super) fn release(&self, hold: HoldId) {
        if let Some(server) = &self.server {
            // A request that is not held any more was ended by a kill.
            server.release(hold);
        }
    }

    /// The monitor that a thread belongs to. With one monitor on the node it is that one.
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

    /// The folder in which a textfile collector looks.
    pub(super) fn textfile_dir(&self) -> PathBuf {
        self.folder.join(TEXTFILES)
    }

    /// What the collector shows of the files in that folder.
    ///
    /// # Errors
    /// Of the kind `FileTooLarge`, if they are over a bound; the text is the bound, such as `more than 64 MiB`.
    pub(super) fn textfiles(&self, limits: &Limits) -> io::Result<Textfiles> {
        let folder = SharedFolder::open(&self.folder).and_then(|own| own.below(TEXTFILES));
        let listed = folder.and_then(|folder| Ok((folder.names()?, folder)));
        let (names, folder) = match listed {
            Ok((names, folder)) => (names, folder),
            // As node_exporter has it (textfile.go): a folder that cannot be read is an error, and shows nothing.
            Err(error) => {
                let refused = vec![format!("the folder cannot be read: {error}")];
                return Ok(Textfiles::beside(&BTreeMap::new(), refused));
            }
        };
        let (mut files, mut refused) = (BTreeMap::new(), Vec::new());
        let mut page = PageText::new(PageForm::File, limits);
        for name in names {
            let shown = name.to_string_lossy().into_owned();
            if !Textfiles::is_read(&shown) {
                continue;
            }
            let mut excess = None;
            let read = folder.read(&name, |piece| {
                page.push(piece).map_err(|what| {
                    excess = Some(what);
                    io::ErrorKind::FileTooLarge.into()
                })
            });
            if let Some(what) = excess {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
            }
            let text = page.take();
            match read {
                Ok(()) => {
                    files.insert(shown, text);
                }
                // One that is replaced meanwhile has the new content, or is not there.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => refused.push(format!("{shown}: {error}")),
            }
        }
        refused.sort();
        Ok(Textfiles::beside(&files, refused))
    }

    /// Assigns the file operations since the previous call to the present tick.
    pub(super) fn note_reads(&mut self) {
        let mut fs = self.fs.lock().unwrap_or_else(PoisonError::into_inner);
        self.tick.reads = self.trace.reads(&mut fs, &self.tick.reads);
    }

    /// Discards the file operations since the previous call, which belong to no poll.
    pub(super) fn forget_reads(&self) {
        self.fs().take_trace();
    }

    /// The file operations since the previous call, which belong to no poll.
    pub(super) fn take_reads(&self) -> Vec<String> {
        TraceLog::default()
            .reads(&mut self.fs(), &Reads::default())
            .to_lines()
    }

    /// Returns what the node's monitor did in the tick that ends.
    pub(super) fn end_tick(&mut self) -> Arc<MonitorTick> {
        let mut fs = self.fs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tick = std::mem::take(&mut self.tick);
        let loops = self.instances.values_mut();
        loops
            .filter_map(|instance| instance.loops.as_mut())
            .for_each(Loops::tick_ends);
        tick.state_file = self.trace.state_file(state_file(&mut fs));
        self.trace.ended(tick)
    }
}
