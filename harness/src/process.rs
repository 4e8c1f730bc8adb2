//! The process arm: runs a monitor as a process, started by its descriptor, on a FUSE mount with a
//! gRPC socket, and plays a story in lockstep with it.
//!
//! Each job has one [`ProcessArm`], which stays on the thread that created it; monitor and server
//! share its CPU. A run first creates a [`Stage`]. `player.rs` implements the lockstep; the crate
//! `judge` judges the recording.
//!
//! Start at [`enter`], then [`ProcessArm::new`].

use std::{collections::BTreeMap, fs, io, path::PathBuf, time::Duration};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use scenarios::{Arm, Story};
use tokio::{runtime::Runtime, sync::mpsc};

mod authority;
mod binds;
mod confinement;
mod connector;
mod conversation;
mod empty_input;
mod host_root;
pub(crate) mod host_shell;
mod http;
mod inbox;
mod line;
mod loops;
mod monitor_process;
mod mount_space;
mod network;
mod node_runtime;
mod outage;
mod output;
mod own_clock;
mod player;
mod probe;
mod quiet;
mod refused_calls;
mod sighting;
mod slurm;
mod stage;
mod stage_folder;
mod start_error;
#[cfg(test)]
mod stops_page;
mod transport;
mod watchdog;

pub use probe::{ProbeCause, ProbeFailure, ProbeFinding, ProbedOn};
pub use stage::{Entered, NoStage, Stage, enter, is_inner, password, run_pid, trial};

use inbox::NodeEvent;
use network::Network;
use player::Player;
use sighting::Sighting;
use transport::Transport;
use watchdog::Watchdog;

use memory::Played;
use observe::{Broken, Descriptor, Protocol};

use crate::{Interruption, SharedTrees, alert_rules, drill, turn::Turn};

/// Options of the process arm.
#[derive(Clone, Debug)]
pub struct ProcessOptions {
    /// How long a monitor may make no progress before the drill fails.
    pub limit: Duration,
    /// How long a drill may take in all, in addition to what nicdrill allows by its ticks.
    pub drill_limit: Option<Duration>,
    /// Whether a job stays on one CPU together with its monitor, if the descriptor allows it.
    pub pin: bool,
    /// Words put before the monitor's command.
    pub wrap: Vec<String>,
    /// The wrong monitor to play, by its name; the descriptor's own if there is none.
    pub wrong: Option<String>,
    /// The trees that drills start with, shared.
    pub trees: SharedTrees,
}

impl Default for ProcessOptions {
    /// Limit of ten seconds, pinned, not wrapped, the descriptor's own monitor.
    fn default() -> Self {
        let limit = Duration::from_secs(10);
        Self {
            limit,
            drill_limit: None,
            pin: true,
            wrap: Vec::new(),
            wrong: None,
            trees: SharedTrees::default(),
        }
    }
}

/// How many CPUs there are in a set.
fn count(cpus: &CpuSet) -> usize {
    usize::try_from(cpus.count()).unwrap_or(1)
}

/// Plays drills as processes, one after another, for one job.
pub struct ProcessArm {
    folder: PathBuf,
    /// The folder of the stage, if monitors can have mount namespaces of their own.
    stage: Option<PathBuf>,
    interruption: Interruption,
    options: ProcessOptions,
    this: String,
    cpus: CpuSet,
    cpu: Option<usize>,
    network: Network,
    /// One transport for each protocol used so far.
    transports: BTreeMap<Protocol, Box<dyn Transport>>,
    inbox: mpsc::UnboundedReceiver<NodeEvent>,
    report: mpsc::UnboundedSender<NodeEvent>,
    runtime: Runtime,
    /// Yielded while a drill only waits, so that another drill of the job can run.
    turn: Turn,
    /// What is kept of the monitor while it is probed.
    sighting: Option<Sighting>,
    /// Looks whether the machine stalls while a drill is played.
    watchdog: Watchdog,
}

impl ProcessArm {
    /// Creates the arm of one job, counted from 0. Only the calling thread uses it, and from now on
    /// has a network namespace of its own if the kernel allows that.
    ///
    /// # Errors
    /// If the kernel refuses a folder, a thread's affinity or a reactor.
    pub fn new(stage: &Stage, job: usize, options: ProcessOptions) -> io::Result<Self> {
        let folder = stage.folder().join(job.to_string());
        fs::create_dir_all(&folder)?;
        let this = std::env::current_exe()?.to_string_lossy().into_owned();
        let cpus = sched_getaffinity(None)?;
        let allowed: Vec<usize> = (0..CpuSet::MAX_CPU)
            .filter(|cpu| cpus.is_set(*cpu))
            .collect();
        let cpu = if options.pin {
            allowed.get(job % allowed.len().max(1)).copied()
        } else {
            None
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let (report, inbox) = mpsc::unbounded_channel();
        let network = Network::enter();
        Ok(Self {
            folder,
            stage: stage.is_private().then(|| stage.folder().to_owned()),
            interruption: stage.interruption().clone(),
            options,
            this,
            cpus,
            cpu,
            network,
            transports: BTreeMap::new(),
            inbox,
            report,
            runtime,
            turn: Turn::default(),
            sighting: None,
            watchdog: Watchdog::start(count(&cpus))?,
        })
    }

    /// The transport for this protocol, created on first use.
    fn transport(&mut self, protocol: Protocol) -> (&mut dyn Transport, &Runtime) {
        let runtime = &self.runtime;
        let transports = &mut self.transports;
        let transport = transports
            .entry(protocol)
            .or_insert_with(|| transport::start(protocol, runtime));
        (transport.as_mut(), runtime)
    }

    /// Pins the thread; returns the CPU for the monitor and its file server, `None` for any.
    fn settle(&self, descriptor: &Descriptor) -> io::Result<Option<usize>> {
        let cpu = self.cpu.filter(|_| descriptor.pin);
        let set = match cpu {
            None => self.cpus,
            Some(cpu) => {
                let mut set = CpuSet::new();
                set.set(cpu);
                set
            }
        };
        sched_setaffinity(None, &set)?;
        Ok(cpu)
    }
}

impl drill::Player for ProcessArm {
    fn arm(&self) -> Arm {
        Arm::Process
    }

    fn play(&mut self, story: &Story, descriptor: &Descriptor) -> Played {
        self.watchdog.begin();
        if let Some(sighting) = &mut self.sighting {
            *sighting = Sighting::default();
        }
        let mut played = Player::play(self, story, descriptor);
        let rules = descriptor.prometheus.as_ref();
        if rules.is_some_and(|rules| !rules.is_only_recorded) && played.recording.broken.is_none() {
            let tick_ns = story.ticks.interval().as_ns();
            let said = alert_rules::observe_alerts(descriptor, &mut played.recording, tick_ns);
            played.recording.broken = said.err().map(|cause| Broken::Stage { cause });
        }
        played
    }

    fn stall(&mut self) -> Option<String> {
        self.watchdog.stall()
    }

    fn takes(&mut self, turn: &Turn) {
        self.turn = turn.clone();
    }
}
