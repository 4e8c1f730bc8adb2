//! The process arm: runs a monitor as a process, started by its descriptor, on a FUSE mount with a
//! gRPC socket, and plays a story in lockstep with it.
//!
//! Each job has one [`ProcessArm`], which stays on the thread that created it; monitor and server
//! share its CPU. A run first creates a [`Stage`]. `player.rs` implements the lockstep; the crate
//! `judge` judges the recording.
//!
//! Start at [`enter`], then [`ProcessArm::new`].

use std::{collections::BTreeMap, io, path::PathBuf, sync::Arc, time::Duration};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use scenarios::Story;
use terms::Arm;
use tokio::{runtime::Runtime, sync::mpsc};

mod authority;
mod binds;
mod census;
mod confinement;
mod connector;
mod conversation;
mod empty_input;
mod host_root;
pub(crate) mod host_shell;
mod http;
mod inbox;
mod job_folder;
mod line;
mod loops;
mod monitor_process;
mod mount_space;
mod network;
mod node_runtime;
mod outage;
mod output;
mod own_clock;
mod pace;
mod pid_space;
mod player;
mod probe;
mod quiet;
mod refused_calls;
mod shared_folder;
mod sighting;
mod slurm;
mod stage;
mod stage_folder;
mod start_error;
#[cfg(test)]
mod stops_page;
mod transport;
mod usage;
mod watchdog;

pub use probe::{ProbeCause, ProbeFailure, ProbeFinding, ProbedOn};
pub use stage::{Entered, NoStage, Stage, enter, is_inner, password, run_pid, trial};

use inbox::NodeEvent;
use job_folder::JobFolder;
use network::Network;
use pid_space::PidSpace;
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
    /// Whether the monitors of a job are in a pid namespace of their own, if the kernel grants one; a benchmark measures what it costs.
    pub own_pids: bool,
    /// Words put before the monitor's command.
    pub wrap: Vec<String>,
    /// The wrong monitor to play, by its name; the descriptor's own if there is none.
    pub wrong: Option<String>,
    /// The trees that drills start with, shared.
    pub trees: SharedTrees,
    /// Tells whoever waits for a drill that it is played again, and why; nobody if `None`.
    pub tell: Option<fn(&str)>,
}

impl Default for ProcessOptions {
    /// Limit of ten seconds, pinned, in a pid namespace, not wrapped, the descriptor's own monitor.
    fn default() -> Self {
        let limit = Duration::from_secs(10);
        Self {
            limit,
            drill_limit: None,
            pin: true,
            own_pids: true,
            wrap: Vec::new(),
            wrong: None,
            trees: SharedTrees::default(),
            tell: None,
        }
    }
}

/// How many CPUs there are in a set.
fn count(cpus: &CpuSet) -> usize {
    usize::try_from(cpus.count()).unwrap_or(1)
}

/// Plays drills as processes, one after another, for one job.
pub struct ProcessArm {
    folder: JobFolder,
    /// The folder of the stage, if monitors can have mount namespaces of their own.
    stage: Option<PathBuf>,
    /// The pid namespace of its monitors, or why they have none of their own.
    pids: Result<Arc<PidSpace>, String>,
    interruption: Interruption,
    options: ProcessOptions,
    this: String,
    cpus: CpuSet,
    cpu: Option<usize>,
    network: Network,
    /// The transports used so far, by whether they have a connector.
    transports: BTreeMap<bool, Box<dyn Transport>>,
    inbox: mpsc::UnboundedReceiver<NodeEvent>,
    report: mpsc::UnboundedSender<NodeEvent>,
    runtime: Runtime,
    /// Yielded while a drill only waits, so that another drill of the job can run.
    turn: Turn,
    /// What is kept of the monitor while it is probed.
    sighting: Option<Sighting>,
    /// Looks whether the machine stalls while a drill is played.
    watchdog: Watchdog,
    /// Whether the drill that was played last ended because its monitor was over a limit, whatever time that took.
    is_over_limit: bool,
}

impl ProcessArm {
    /// Creates the arm of one job, counted from 0. Only the calling thread uses it, and from now on
    /// has a network namespace of its own if the kernel allows that.
    ///
    /// # Errors
    /// If the kernel refuses a folder, a thread's affinity or a reactor.
    pub fn new(stage: &Stage, job: usize, options: ProcessOptions) -> io::Result<Self> {
        let folder = JobFolder::make(stage.folder().join(job.to_string()), stage.is_private())?;
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
        let pids = match (stage.is_private(), options.own_pids) {
            (true, true) => PidSpace::make(
                &this,
                stage::MARK,
                stage.folder().join(format!("{job}.proc")),
            )
            .map(Arc::new)
            .map_err(|error| error.to_string()),
            (false, _) => Err("the stage is not private".to_owned()),
            (true, false) => Err("it is to have no pid namespace".to_owned()),
        };
        Ok(Self {
            folder,
            pids,
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
            is_over_limit: false,
        })
    }

    /// The transport of this protocol, created on first use.
    fn transport(&mut self, protocol: Protocol) -> (&mut dyn Transport, &Runtime) {
        let runtime = &self.runtime;
        let transports = &mut self.transports;
        let transport = transports
            .entry(protocol.has_connector())
            .or_insert_with_key(|has_connector| transport::start(*has_connector, runtime));
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
        self.is_over_limit = false;
        if let Some(sighting) = &mut self.sighting {
            *sighting = Sighting::default();
        }
        let mut played = Player::play(self, story, descriptor);
        if let Some(Broken::Hung { waiting_for, .. }) = &mut played.recording.broken
            && let Some(load) = self.watchdog.load()
        {
            waiting_for.push_str(&format!(" ({load})"));
        }
        let rules = descriptor.prometheus.as_ref();
        if rules.is_some_and(|rules| !rules.is_only_recorded) && played.recording.broken.is_none() {
            let tick_ns = story.ticks.interval().as_ns();
            let said = alert_rules::observe_alerts(descriptor, &mut played.recording, tick_ns);
            played.recording.broken = said.err().map(|error| player::stage(&error));
        }
        played
    }

    fn stall(&mut self) -> Option<String> {
        self.watchdog.stall().filter(|_| !self.is_over_limit)
    }

    fn tells(&mut self, what: &str) {
        if let Some(tell) = self.options.tell {
            tell(what);
        }
    }

    fn takes(&mut self, turn: &Turn) {
        self.turn = turn.clone();
    }
}
