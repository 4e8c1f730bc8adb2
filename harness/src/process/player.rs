//! The process arm's hands in the lockstep: what happens in one tick of a drill, with real processes.
//!
//! Between polls a monitor waits at the gate: the mount holds its listing of the anchor folder. A tick
//! makes the world's changes visible, performs the story's steps on the monitor, releases the listing,
//! and waits until the monitor is at the gate again; everything it emits until then belongs to the
//! tick. During a hang for ticks, a pause, and the time between a kill and a restart, ticks have no
//! poll.
//!
//! The director decides what happens, and [`memory::Lockstep`] in which order; this file carries it out. Start at [`Player::play`]. `starting.rs`
//! starts monitors, `polling.rs` lets them poll, `waiting.rs` implements the waits, `react.rs` the reactions
//! to messages that arrive meanwhile.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use director::{Director, InstanceAct, MonitorId, Stage, Truth};
use memory::{Lockstep, Played, TraceLog, Turn};
use observe::{
    Broken, Descriptor, ExpectedLoop, Medium, MonitorTick, Pace, Recording, RootAt, Tick,
};
use platforms::{NodeName, WORLD_START_WALL_NS};
use scenarios::{Signal, Story};
use simfs::Fs;
use simfs_fuse::{MountError, Options, Server};
use terms::Arm;

use super::{
    ProcessArm, host_root,
    inbox::EventSender,
    node_runtime::{MonitorInstance, NodeRuntime},
    outage::Outage,
    quiet,
    slurm::Slurm,
};

use budget::Budget;
use lingering::Lingering;

mod asked;
mod asking;
mod budget;
mod ending;
mod hearing;
mod lingering;
mod looping;
mod polling;
mod react;
mod reconnecting;
mod runs;
mod starting;
mod waiting;
mod watching;

/// A drill that is being played.
pub(super) struct Player<'a> {
    arm: &'a mut ProcessArm,
    story: &'a Story,
    descriptor: &'a Descriptor,
    /// Listings of the anchor folder in one poll.
    listings: u32,
    /// The loops that come to the gate, if the descriptor states them.
    loops: Vec<ExpectedLoop>,
    director: Director<'a>,
    node_runtimes: BTreeMap<NodeName, NodeRuntime>,
    ticks: Vec<Tick>,
    turn: Turn,
    /// Nodes and ticks at whose end nobody had connected to the connector that listened again.
    unreached: BTreeSet<(String, u64)>,
    /// The real time so far in which nothing came from a monitor that was waited for.
    idle: Duration,
    /// What its monitors may use up.
    budget: Budget,
    /// Until when alert rules are still given time after healing, once it is over.
    lingering: Option<Lingering>,
}

/// The result of a step of a drill that may fail to go on.
type Play<T> = Result<T, Broken>;

impl<'a> Player<'a> {
    /// Plays a drill from beginning to end. The mount, the socket and every child are gone when this
    /// returns.
    pub(super) fn play(
        arm: &'a mut ProcessArm,
        story: &'a Story,
        descriptor: &'a Descriptor,
    ) -> Played {
        let Stage { director, files } = match arm.options.trees.stage(story) {
            Ok(stage) => stage,
            Err(error) => return unplayed(stage(&error)),
        };
        let mut player = Self {
            arm,
            story,
            descriptor,
            listings: descriptor.listings(story.checks.names().len()),
            loops: descriptor.expected_loops(
                &story.checks.names(),
                Duration::from_nanos(story.ticks.interval().as_ns()),
            ),
            director,
            node_runtimes: BTreeMap::new(),
            ticks: Vec::new(),
            turn: Turn::default(),
            unreached: BTreeSet::new(),
            idle: Duration::ZERO,
            budget: Budget::new(),
            lingering: None,
        };
        let result = player.mount(files).and_then(|()| player.play_ticks());
        let connections = player.connections(result.is_err());
        let cleared = player.clear();
        player.into_played(result.and(cleared).err(), connections)
    }

    /// Mounts the files of every monitored node and opens its socket. A node without a monitor needs no
    /// mount, because nothing reads its files.
    fn mount(&mut self, mut files: BTreeMap<NodeName, Fs>) -> Play<()> {
        while self.arm.inbox.try_recv().is_ok() {}
        let cpu = self
            .arm
            .settle(self.descriptor)
            .map_err(|error| stage(&error))?;
        let space = self.descriptor.limits.most_space();
        let bounded = self.arm.folder.bound(space);
        bounded.map_err(|error| stage(&error))?;
        for (at, node) in self.story.monitors.iter().enumerate() {
            let mut fs = files.remove(node).expect("every monitored node has files");
            if self.descriptor.root == RootAt::Host {
                fs.apply(&host_root::folders());
            }
            let fs = Arc::new(Mutex::new(fs));
            let folder = self.arm.folder.path().join(at.to_string());
            let root = folder.join("root");
            let socket = folder.join("connector.sock");
            let mut node_runtime = NodeRuntime {
                server: None,
                fs,
                folder,
                root,
                socket,
                spaces: Vec::new(),
                instances: BTreeMap::new(),
                runs: BTreeMap::new(),
                slurm: None,
                hangs: BTreeMap::new(),
                tick: MonitorTick::default(),
                trace: TraceLog::default(),
                polled: false,
                outage: None,
                logged: 0,
                page: None,
            };
            let sender = EventSender::new(node.clone(), self.arm.report.clone());
            let (transport, _) = self.arm.transport(self.descriptor.speaks);
            transport.open(
                node,
                &node_runtime.socket,
                &node_runtime.root,
                sender.clone(),
            );
            fs::create_dir_all(&node_runtime.root).map_err(|error| stage(&error))?;
            self.set_up(&mut node_runtime, node)
                .map_err(|error| stage(&error))?;
            let options = Options {
                cpu,
                gate: self.descriptor.pace() == Pace::Gate,
                ..Options::default()
            };
            let server = Server::mount(
                Arc::clone(&node_runtime.fs),
                &node_runtime.root,
                options,
                Arc::new(sender),
            );
            node_runtime.server = Some(server.map_err(|error: MountError| stage(&error))?);
            self.node_runtimes.insert(node.clone(), node_runtime);
        }
        Ok(())
    }

    /// Makes the folders that the monitor's protocol needs.
    fn set_up(&self, node_runtime: &mut NodeRuntime, node: &NodeName) -> io::Result<()> {
        let codes = self.descriptor.exit_code.as_ref();
        if let Some(codes) = codes.filter(|codes| codes.actions.is_some()) {
            let drained_by = codes.drained_by.as_deref();
            let slurm = Slurm::set_up(&node_runtime.folder, node.as_str(), drained_by)?;
            node_runtime.slurm = Some(slurm);
        }
        let folder = node_runtime.textfile_dir();
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        if self.descriptor.medium() == Medium::Files {
            fs::create_dir_all(folder)?;
        }
        Ok(())
    }

    /// Hears what is written for nobody, after the polls of all monitors.
    fn hear_all(&mut self) -> Play<()> {
        for node in self.node_runtimes.keys().cloned().collect::<Vec<_>>() {
            self.hear_slurm(&node);
            self.collect(&node)?;
            self.scrape_nobody(&node);
        }
        Ok(())
    }

    fn into_played(mut self, broken: Option<Broken>, connections: Vec<String>) -> Played {
        let ticks = std::mem::take(&mut self.ticks);
        let recording = self.recording(ticks, broken, connections);
        Played {
            arm: Arm::Process,
            recording,
            truth: self.director.into_truth(),
        }
    }

    /// What was recorded in these ticks.
    fn recording(
        &self,
        ticks: Vec<Tick>,
        broken: Option<Broken>,
        connections: Vec<String>,
    ) -> Recording {
        let missed = self.director.missed().iter();
        Recording {
            protocol: self.descriptor.speaks,
            start_wall_ns: WORLD_START_WALL_NS,
            ticks,
            healing_from: self.director.healing_from(),
            settled_at: self.director.settled_at(),
            broken,
            missed_moments: missed
                .map(|(place, text)| format!("{place}: {text}"))
                .collect(),
            connections,
            unreached: self.unreached.clone(),
        }
    }

    /// The number of the present tick.
    fn tick(&self) -> u64 {
        self.ticks.len().saturating_sub(1) as u64
    }

    /// How many loops of a monitor come to the gate in each tick.
    fn loops(&self) -> usize {
        if !self.loops.is_empty() {
            return self.loops.len();
        }
        let loops = if self.descriptor.concurrent {
            self.listings / self.descriptor.listings_per_poll
        } else {
            1
        };
        usize::try_from(loops).expect("a monitor has few loops")
    }

    fn node_runtime(&mut self, node: &NodeName) -> &mut NodeRuntime {
        self.node_runtimes
            .get_mut(node)
            .expect("a plan names nodes of its story only")
    }

    fn instance(&mut self, node: &NodeName, monitor: MonitorId) -> &mut MonitorInstance {
        self.node_runtime(node)
            .instances
            .get_mut(&monitor)
            .expect("a monitor that was waited for sits there")
    }
}

impl Lockstep for Player<'_> {
    fn begin_tick(&mut self) -> Play<()> {
        let plan = self.director.tick().map_err(|error| stage(&error))?;
        self.ticks.push(Tick {
            at_ns: plan.at.as_ns(),
            ..Tick::default()
        });
        self.turn = Turn::of(plan.instances, None);
        Ok(())
    }

    /// Makes changes visible, and ends the hangs that are over.
    fn show(&mut self) -> Play<()> {
        self.refill();
        let tick = self.tick();
        for (node, node_runtime) in &mut self.node_runtimes {
            node_runtime.polled = false;
            let director = &mut self.director;
            let held = node_runtime
                .instances
                .values()
                .any(|instance| instance.held.is_some())
                || node_runtime.hangs.values().any(|hang| hang.until.is_some());
            let shown = node_runtime.change(|fs| {
                if held {
                    director.show_held(node, fs)
                } else {
                    director.show(node, fs)
                }
            });
            shown.map_err(|error| stage(&error))?;
            if node_runtime.server.is_some() {
                let socket = self.director.connector(node).socket();
                let (transport, runtime) = self.arm.transport(self.descriptor.speaks);
                transport
                    .stand(runtime, node, socket)
                    .map_err(|error| error.broken(tick))?;
                node_runtime.outage = Outage::after(node_runtime.outage, socket);
            }
            let for_ticks: Vec<_> = node_runtime
                .instances
                .values()
                .filter_map(|instance| instance.held)
                .collect();
            let over = node_runtime.hangs.extract_if(.., |hold, hang| {
                match for_ticks.iter().find(|(held, _)| held == hold) {
                    Some((_, until)) => *until <= tick,
                    None => match hang.until {
                        Some(until) => until <= tick,
                        None => self.director.hang_end(node, hang.rule).is_none(),
                    },
                }
            });
            for (hold, hang) in over.collect::<Vec<_>>() {
                if for_ticks.iter().any(|(held, _)| *held == hold) {
                    continue;
                }
                // The monitor must have received the result before its next poll starts.
                let slept = quiet::sleeps_of(hang.pid);
                node_runtime.release(hold);
                if !quiet::await_next_sleep(hang.pid, slept, self.arm.options.limit) {
                    return Err(Broken::Hung {
                        tick,
                        waiting_for: "the end of a read that was let go".to_owned(),
                    });
                }
            }
        }
        Ok(())
    }

    fn next_act(&mut self) -> Option<(NodeName, InstanceAct)> {
        self.turn.acts.pop_front()
    }

    fn end(&mut self, node: &NodeName, monitor: MonitorId, signal: Signal) -> Play<()> {
        self.end_process(node, monitor, signal)
    }

    fn start(
        &mut self,
        node: &NodeName,
        monitor: MonitorId,
        flags: &[String],
        config: &str,
    ) -> Play<()> {
        self.start_process(node, monitor, flags, config)
    }

    fn next_poll(&mut self) -> Option<(NodeName, MonitorId)> {
        self.turn.polls.pop_front()
    }

    fn poll(&mut self, node: &NodeName, monitor: MonitorId) -> Play<()> {
        self.let_poll(node, monitor)
    }

    fn ask(&mut self) -> Play<()> {
        self.hear_all()?;
        self.ask_for_metrics()?;
        self.look_at_use()
    }

    fn end_tick(&mut self) {
        let node_runtimes = &self.node_runtimes;
        self.director.end_tick(|node| {
            node_runtimes
                .get(node)
                .is_some_and(|node_runtime| node_runtime.polled)
        });
        for node in self.node_runtimes.keys().cloned().collect::<Vec<_>>() {
            let monitors: Vec<_> = self.node_runtimes[&node]
                .instances
                .keys()
                .copied()
                .collect();
            for monitor in monitors {
                self.hear(&node, monitor, false);
            }
            self.note_unreached(&node);
            let ended = self.node_runtime(&node).end_tick();
            if let Some(tick) = self.ticks.last_mut() {
                tick.insert((&node).into(), ended);
            }
        }
        Tick::share_last(&mut self.ticks);
        if let Some(sighting) = &mut self.arm.sighting {
            sighting.ends.push(Instant::now());
        }
    }

    fn is_over(&mut self) -> Play<bool> {
        Ok(self.director.is_over() && !self.lingers()?)
    }
}

fn unplayed(broken: Broken) -> Played {
    let recording = Recording {
        broken: Some(broken),
        ..Recording::default()
    };
    Played {
        arm: Arm::Process,
        recording,
        truth: Truth::default(),
    }
}

/// The end of a drill whose stage failed.
pub(super) fn stage(error: &dyn std::error::Error) -> Broken {
    Broken::Stage {
        cause: error.to_string(),
    }
}
