//! The process arm: a real program, started as its descriptor says, on a real mount and over a real
//! gRPC socket, led through a story in lockstep.
//!
//! One [`ProcessArm`] belongs to one job and stays on the thread that made it: everything that a
//! drill needs runs there or next to it, on one CPU. What a run needs first is a [`Stage`]. The
//! lockstep itself is `player.rs`; what is said of the outcome is the judge's work.
//!
//! Start at [`enter`], then [`ProcessArm::new`].

use std::{
    collections::BTreeMap,
    fs, io,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};
use scenarios::{Arm, Story};
use tokio::{runtime::Runtime, sync::mpsc};

mod connector;
mod http;
mod inbox;
mod line;
mod monitor_process;
mod network;
mod node_runtime;
mod player;
mod probe;
mod quiet;
mod stage;
mod transport;

pub use probe::ProbeFailure;
pub use stage::{Entered, NoStage, Stage, enter};

use inbox::NodeEvent;
use network::Network;
use player::Player;
use transport::Transport;

use memory::Played;
use observe::{Descriptor, Protocol};

use crate::{SharedTrees, drill, turn::Turn};

/// How drills are played as processes.
#[derive(Clone, Debug)]
pub struct ProcessOptions {
    /// How long a monitor may make no progress.
    pub limit: Duration,
    /// Whether a job stays on one CPU together with its monitor, if the monitor's descriptor lets it.
    pub pin: bool,
    /// Words put before the monitor's command.
    pub wrap: Vec<String>,
    /// The wrong monitor to play, by its name; the descriptor's own if there is none.
    pub species: Option<String>,
    /// The trees that drills begin with.
    pub trees: SharedTrees,
}

impl Default for ProcessOptions {
    /// Ten seconds, pinned, not wrapped, the descriptor's own monitor.
    fn default() -> Self {
        let limit = Duration::from_secs(10);
        Self {
            limit,
            pin: true,
            wrap: Vec::new(),
            species: None,
            trees: SharedTrees::default(),
        }
    }
}

/// What one job needs to play drills as processes, one after the other.
pub struct ProcessArm {
    folder: PathBuf,
    interrupted: Arc<AtomicBool>,
    options: ProcessOptions,
    this: String,
    cpus: CpuSet,
    cpu: Option<usize>,
    network: Network,
    /// One for each protocol that was spoken so far.
    transports: BTreeMap<Protocol, Box<dyn Transport>>,
    inbox: mpsc::UnboundedReceiver<NodeEvent>,
    report: mpsc::UnboundedSender<NodeEvent>,
    runtime: Runtime,
    /// A drill that waits lets another of its job go on.
    turn: Turn,
}

impl ProcessArm {
    /// The arm of one job, counted from 0. It is used by the calling thread alone, which from now
    /// on has a network of its own where the kernel allows that.
    ///
    /// # Errors
    /// If the kernel refuses a folder, a thread's affinity or a reactor.
    pub fn new(stage: &Stage, job: usize, options: ProcessOptions) -> io::Result<Self> {
        let folder = stage.folder().join(job.to_string());
        fs::create_dir_all(&folder)?;
        let this = std::env::current_exe()?.to_string_lossy().into_owned();
        let cpus = sched_getaffinity(Pid::from_raw(0))?;
        let allowed: Vec<usize> = (0..CpuSet::count())
            .filter(|cpu| cpus.is_set(*cpu) == Ok(true))
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
        let interrupted = Arc::clone(stage.interrupted());
        Ok(Self {
            folder,
            interrupted,
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
        })
    }

    /// What brings the words of monitors that speak this protocol.
    fn transport(&mut self, protocol: Protocol) -> (&mut dyn Transport, &Runtime) {
        let runtime = &self.runtime;
        let transports = &mut self.transports;
        let transport = transports
            .entry(protocol)
            .or_insert_with(|| transport::start(protocol, runtime));
        (transport.as_mut(), runtime)
    }

    /// The CPU on which a monitor and the server of its files run; `None` for any.
    fn settle(&self, descriptor: &Descriptor) -> io::Result<Option<usize>> {
        let cpu = self.cpu.filter(|_| descriptor.pin);
        let set = match cpu {
            None => self.cpus,
            Some(cpu) => {
                let mut set = CpuSet::new();
                set.set(cpu)?;
                set
            }
        };
        sched_setaffinity(Pid::from_raw(0), &set)?;
        Ok(cpu)
    }
}

impl drill::Player for ProcessArm {
    fn arm(&self) -> Arm {
        Arm::Process
    }

    fn play(&mut self, story: &Story, descriptor: &Descriptor) -> Played {
        Player::play(self, story, descriptor)
    }

    fn takes(&mut self, turn: &Turn) {
        self.turn = turn.clone();
    }
}
