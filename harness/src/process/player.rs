//! The lockstep: one drill, tick by tick.
//!
//! Between polls a monitor stands at the gate, held in its listing of the anchor. A tick makes the
//! world's changes visible, does what the story does to the monitor, lets the listing go, and waits
//! until the monitor stands at the gate again: everything it said until then belongs to the tick.
//! A hang for ticks, a pause and the time between a kill and a restart are ticks without a poll.
//!
//! The order of things is the director's; this is the hand that carries it out. Start at
//! [`Player::play`]; what comes while it waits is `react.rs`.

use std::{
    collections::BTreeMap,
    fs, io,
    path::Path,
    sync::{Arc, Mutex, atomic::Ordering},
    time::{Duration, Instant},
};

use platforms::NodeName;
use scenarios::{Arm, Signal, Story};
use simfs::Errno;
use simfs_fuse::{MountError, Options, Server};

use super::{
    ProcessArm,
    chair::{Chair, Order},
    inbox::{Happening, Teller},
    quiet,
    station::{Seat, Station},
};
use crate::{
    descriptor::{Descriptor, Drains, Filling},
    director::{ChairAct, ChairPlan, Director, MonitorId, Truth},
    memory::{Played, TraceLog},
    recording::{Broken, Recording, Tick},
};

mod react;

/// How often a wait looks whether the run is to end.
const LOOK: Duration = Duration::from_millis(100);

/// A monitor that publishes behind its polls is at rest when no thread of it has run for this long.
const QUIET: Duration = Duration::from_millis(20);

/// Or, where threads never rest, when it has said nothing for this long.
const SILENT: Duration = Duration::from_millis(200);

/// How long after SIGTERM a listing at the gate is ended, as a signal ends a slow read.
const TERM_GRACE: Duration = Duration::from_millis(200);

/// How long a wrapped program may take to end after SIGTERM.
const WRAP_GRACE: Duration = Duration::from_secs(3);

/// A drill that is being played.
pub(super) struct Player<'a> {
    arm: &'a mut ProcessArm,
    story: &'a Story,
    descriptor: &'a Descriptor,
    director: Director<'a>,
    stations: BTreeMap<NodeName, Station>,
    ticks: Vec<Tick>,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waited {
    /// As it was to.
    Done,
    /// The monitor is not there any more.
    Gone,
    /// A rule holds the monitor for some ticks.
    Held,
}

/// A drill that cannot be played to its end.
type Play<T> = Result<T, Broken>;

impl<'a> Player<'a> {
    /// Plays a drill from beginning to end. The mount, the socket and every child are gone when
    /// this returns.
    pub(super) fn play(
        arm: &'a mut ProcessArm,
        story: &'a Story,
        descriptor: &'a Descriptor,
    ) -> Played {
        let director = match Director::new(story) {
            Ok(director) => director,
            Err(error) => return unplayed(stage(&error)),
        };
        let mut player = Self {
            arm,
            story,
            descriptor,
            director,
            stations: BTreeMap::new(),
            ticks: Vec::new(),
        };
        let result = player.furnish().and_then(|()| player.ticks());
        let cleared = player.clear();
        player.told(result.and(cleared).err())
    }

    /// Mounts every node's files and opens its socket.
    fn furnish(&mut self) -> Play<()> {
        while self.arm.inbox.try_recv().is_ok() {}
        let cpu = self
            .arm
            .settle(self.descriptor)
            .map_err(|error| stage(&error))?;
        for (at, (node, _)) in self.story.nodes.iter().enumerate() {
            let fs = Arc::new(Mutex::new(
                self.director.furnish(node).map_err(|error| stage(&error))?,
            ));
            let root = self.arm.folder.join(at.to_string());
            let socket = self.arm.folder.join(format!("{at}.sock"));
            let mut station = Station {
                server: None,
                fs,
                root,
                socket,
                seats: BTreeMap::new(),
                hangs: BTreeMap::new(),
                tick: crate::ChairTick::default(),
                trace: TraceLog::default(),
                polled: false,
            };
            if self.story.chairs.contains(node) {
                let teller = Teller::new(node.clone(), self.arm.tell.clone());
                self.arm
                    .connector
                    .open(node, &station.socket, teller.clone());
                fs::create_dir_all(&station.root).map_err(|error| stage(&error))?;
                let options = Options {
                    cpu,
                    gate: true,
                    stale_bytes_for_test: self.arm.options.stale_bytes_for_test.clone(),
                };
                let server = Server::mount(
                    Arc::clone(&station.fs),
                    &station.root,
                    options,
                    Arc::new(teller),
                );
                station.server = Some(server.map_err(|error: MountError| stage(&error))?);
            }
            self.stations.insert(node.clone(), station);
        }
        Ok(())
    }

    fn ticks(&mut self) -> Play<()> {
        loop {
            let plan = self.director.tick().map_err(|error| stage(&error))?;
            self.ticks.push(Tick {
                at: plan.at,
                chairs: BTreeMap::new(),
            });
            let played = self.show().and_then(|()| self.chairs(&plan.chairs));
            self.end_tick();
            played?;
            if self.director.is_over() {
                return Ok(());
            }
        }
    }

    /// Makes visible what has changed, and ends the hangs that are over.
    fn show(&mut self) -> Play<()> {
        let tick = self.tick();
        for (node, station) in &mut self.stations {
            station.polled = false;
            let director = &mut self.director;
            let held = station.seats.values().any(|seat| seat.held.is_some());
            let shown = station.change(|fs| {
                if held {
                    director.show_held(node, fs)
                } else {
                    director.show(node, fs)
                }
            });
            shown.map_err(|error| stage(&error))?;
            if station.server.is_some() {
                let socket = self.director.connector(node).socket();
                self.arm
                    .connector
                    .stand(&self.arm.runtime, node, socket)
                    .map_err(|error| stage(&error))?;
            }
            let for_ticks: Vec<_> = station
                .seats
                .values()
                .filter_map(|seat| seat.held)
                .collect();
            let over = station.hangs.extract_if(.., |hold, hang| {
                match for_ticks.iter().find(|(held, _)| held == hold) {
                    Some((_, until)) => *until <= tick,
                    None => self.director.hang_end(node, hang.rule).is_none(),
                }
            });
            for (hold, hang) in over.collect::<Vec<_>>() {
                if for_ticks.iter().any(|(held, _)| *held == hold) {
                    continue;
                }
                // The monitor has to know that the read has ended before its next poll begins.
                let slept = quiet::sleeps_of(hang.pid);
                station.release(hold);
                quiet::await_next_sleep(hang.pid, slept);
            }
        }
        Ok(())
    }

    /// What the plan wants of the chairs: all acts, then all polls.
    fn chairs(&mut self, plan: &BTreeMap<NodeName, ChairPlan>) -> Play<()> {
        for (node, chair) in plan {
            for act in &chair.acts {
                match act {
                    ChairAct::End { monitor, signal } => self.end(node, *monitor, *signal)?,
                    ChairAct::Start {
                        monitor,
                        flags,
                        config,
                    } => self.start(node, *monitor, flags, config)?,
                }
            }
        }
        for (node, chair) in plan {
            for monitor in &chair.polls {
                self.poll(node, *monitor)?;
            }
        }
        Ok(())
    }

    /// Starts a monitor and waits until it stands at the gate.
    fn start(
        &mut self,
        node: &NodeName,
        monitor: MonitorId,
        flags: &[String],
        config: &str,
    ) -> Play<()> {
        if self
            .stations
            .values()
            .any(|station| !station.seats.is_empty())
        {
            self.arm.network.leave();
        }
        let order = self
            .order(node, monitor, flags, config)
            .map_err(|error| stage(&error))?;
        let teller = Teller::new(node.clone(), self.arm.tell.clone());
        let chair = Chair::start(&self.arm.runtime, &order, teller, monitor).map_err(|error| {
            Broken::Stage {
                cause: format!("`{}` cannot be started: {error}", order.words.join(" ")),
            }
        })?;
        self.station(node).seats.insert(monitor, Seat::new(chair));
        self.wait(
            node,
            monitor,
            "its first listing of `{root}/sys/class/infiniband`",
            |seat, loops| seat.gate.len() >= loops,
        )?;
        self.station(node).forget_reads();
        Ok(())
    }

    fn order(
        &self,
        node: &NodeName,
        monitor: MonitorId,
        flags: &[String],
        config: &str,
    ) -> io::Result<Order> {
        let station = &self.stations[node];
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let config_file = self
            .arm
            .folder
            .join(format!("{}-{}.toml", node.as_str(), monitor.0));
        let (root, socket, config_path) = (
            path(&station.root),
            path(&station.socket),
            path(&config_file),
        );
        let filling = Filling {
            this: &self.arm.this,
            root: &root,
            socket: &socket,
            config: &config_path,
            node: node.as_str(),
            metrics_port: self.arm.network.port()?,
            checks: self.story.checks,
        };
        if let Some(text) = self.descriptor.config_text(config, &filling) {
            fs::write(&config_file, text)?;
        }
        let species = self.arm.options.species.as_deref();
        let mut words = self.arm.options.wrap.clone();
        words.extend(
            self.descriptor
                .arguments(self.story, flags, species, &filling),
        );
        let env = self
            .descriptor
            .env
            .iter()
            .map(|(name, value)| (name.clone(), filling.fill(value)));
        Ok(Order {
            words,
            env: env.collect(),
            wrapped: !self.arm.options.wrap.is_empty(),
        })
    }

    /// Lets a monitor poll once, or go on with the poll in which it is held.
    fn poll(&mut self, node: &NodeName, monitor: MonitorId) -> Play<()> {
        let (tick, loops) = (self.tick(), self.loops());
        let Some(seat) = self.station(node).seats.get(&monitor) else {
            return Ok(());
        };
        match seat.held {
            Some((_, until)) if tick < until => return Ok(()),
            Some((hold, _)) => {
                self.seat(node, monitor).held = None;
                self.station(node).hangs.remove(&hold);
                self.station(node).release(hold);
                if self.seat(node, monitor).granted.is_none() {
                    // It was held on its way to its first poll.
                    self.come(node, monitor)?;
                }
            }
            None => {}
        }
        if self
            .station(node)
            .seats
            .get(&monitor)
            .is_some_and(|seat| seat.granted.is_none() && seat.held.is_none())
        {
            if self.come(node, monitor)? != Waited::Done {
                return Ok(());
            }
            let seat = self.seat(node, monitor);
            let granted: Vec<_> = seat.gate.drain(..loops).collect();
            seat.granted = Some(u32::try_from(granted.len()).expect("a monitor has few loops"));
            granted
                .into_iter()
                .for_each(|hold| self.station(node).release(hold));
        }
        let all = self.descriptor.listings(self.story.checks);
        let waited = self.wait(node, monitor, "the end of its poll", move |seat, loops| {
            seat.granted.is_some_and(|granted| granted >= all) && seat.gate.len() >= loops
        })?;
        if waited == Waited::Done {
            if self.descriptor.drains == Drains::Quiet && self.rest(node, monitor)? != Waited::Done
            {
                return Ok(());
            }
            self.seat(node, monitor).granted = None;
            let station = self.station(node);
            station.tick.polls += 1;
            station.polled = true;
            station.note_reads();
        }
        Ok(())
    }

    /// Waits until a monitor stands at the gate.
    fn come(&mut self, node: &NodeName, monitor: MonitorId) -> Play<Waited> {
        self.wait(
            node,
            monitor,
            "its next listing of `{root}/sys/class/infiniband`",
            |seat, loops| seat.gate.len() >= loops,
        )
    }

    /// Waits until a monitor that publishes behind its polls has said everything.
    fn rest(&mut self, node: &NodeName, monitor: MonitorId) -> Play<Waited> {
        let mut said = Instant::now();
        let mut ran = (Instant::now(), quiet::Stir::default());
        loop {
            let Some(seat) = self.station(node).seats.get(&monitor) else {
                return Ok(Waited::Gone);
            };
            let stir = quiet::stir(seat.chair.pid());
            if stir != ran.1 || stir.runs {
                ran = (Instant::now(), stir);
            }
            if ran.0.elapsed() >= QUIET || (said.elapsed() >= SILENT && !stir.runs) {
                return Ok(Waited::Done);
            }
            if let Some(happening) = self.next(Duration::from_millis(2)) {
                self.react(happening)?;
                said = Instant::now();
            }
        }
    }

    /// Ends a monitor and waits until it has gone.
    fn end(&mut self, node: &NodeName, monitor: MonitorId, signal: Signal) -> Play<()> {
        let Some(seat) = self.station(node).seats.get_mut(&monitor) else {
            return Ok(());
        };
        seat.ending = true;
        seat.chair.signal(signal);
        let begun = Instant::now();
        if signal == Signal::Kill {
            self.interrupt(node, monitor);
        }
        while self.station(node).seats.contains_key(&monitor) {
            if begun.elapsed() > self.arm.options.limit {
                return Err(Broken::Hung {
                    tick: self.tick(),
                    waiting_for: format!("its end after {}", word(signal)),
                });
            }
            match self.next(TERM_GRACE) {
                Some(happening) => self.react(happening)?,
                None if begun.elapsed() >= TERM_GRACE => self.interrupt(node, monitor),
                None => {}
            }
        }
        Ok(())
    }

    /// Ends a monitor's listings at the gate, as a signal ends a slow system call.
    fn interrupt(&mut self, node: &NodeName, monitor: MonitorId) {
        let station = self.station(node);
        let Some(seat) = station.seats.get_mut(&monitor) else {
            return;
        };
        let gate = std::mem::take(&mut seat.gate);
        if let Some(server) = &station.server {
            for hold in gate {
                server.answer(hold, Errno::EINTR);
            }
        }
    }

    /// Waits for a monitor; `done` is told how many of its loops come to the gate.
    fn wait(
        &mut self,
        node: &NodeName,
        monitor: MonitorId,
        what: &str,
        done: impl Fn(&Seat, usize) -> bool,
    ) -> Play<Waited> {
        let loops = self.loops();
        let mut progress = Instant::now();
        loop {
            let Some(seat) = self.station(node).seats.get(&monitor) else {
                return Ok(Waited::Gone);
            };
            if done(seat, loops) {
                return Ok(Waited::Done);
            }
            if seat.held.is_some() {
                return Ok(Waited::Held);
            }
            if self.arm.interrupted.load(Ordering::Relaxed) {
                return Err(Broken::Stage {
                    cause: "interrupted".to_owned(),
                });
            }
            match self.next(LOOK) {
                Some(happening) => {
                    self.react(happening)?;
                    progress = Instant::now();
                }
                None if progress.elapsed() >= self.arm.options.limit => {
                    return Err(Broken::Hung {
                        tick: self.tick(),
                        waiting_for: what.to_owned(),
                    });
                }
                None => {}
            }
        }
    }

    /// What happens next, if anything does in this time.
    fn next(&mut self, limit: Duration) -> Option<Happening> {
        let inbox = &mut self.arm.inbox;
        self.arm.runtime.block_on(async {
            tokio::time::timeout(limit, inbox.recv())
                .await
                .ok()
                .flatten()
        })
    }

    fn end_tick(&mut self) {
        let stations = &self.stations;
        self.director
            .end_tick(|node| stations.get(node).is_some_and(|station| station.polled));
        for node in self.stations.keys().cloned().collect::<Vec<_>>() {
            let monitors: Vec<_> = self.stations[&node].seats.keys().copied().collect();
            for monitor in monitors {
                self.hear(&node, monitor, false);
            }
            let ended = self.station(&node).end_tick();
            if let Some(tick) = self.ticks.last_mut() {
                tick.chairs.insert(node, ended);
            }
        }
    }

    /// Takes what a monitor has written, line by line; `at_end` also what follows its last line.
    fn hear(&mut self, node: &NodeName, monitor: MonitorId, at_end: bool) {
        let station = self
            .stations
            .get_mut(node)
            .expect("a monitor sits on a node of the story");
        let Some(seat) = station.seats.get_mut(&monitor) else {
            return;
        };
        let text = String::from_utf8_lossy(&seat.chair.heard(at_end))
            .replace(&*station.root.to_string_lossy(), "{root}");
        station.tick.log.extend(text.lines().map(str::to_owned));
    }

    /// Ends what still runs, and takes socket and mount away.
    fn clear(&mut self) -> Play<()> {
        let mut cleared = Ok(());
        for node in self.stations.keys().cloned().collect::<Vec<_>>() {
            let monitors: Vec<_> = self.stations[&node].seats.keys().copied().collect();
            for monitor in monitors {
                if self.stations[&node].seats[&monitor].chair.ends_gently() {
                    self.end_gently(&node, monitor);
                }
                self.free(&node, monitor);
                let ended = self.end(&node, monitor, Signal::Kill);
                cleared = cleared.and(ended);
            }
        }
        let closed = self.arm.connector.close(&self.arm.runtime);
        cleared = cleared.and(closed.map_err(|error| stage(&error)));
        for station in self.stations.values_mut() {
            if let Some(server) = station.server.take() {
                // Whatever is still held is let go first, so that whoever cannot be killed can end.
                let unmounted = server.unmount().map_err(|error| stage(&error));
                cleared = cleared.and(unmounted);
            }
        }
        cleared
    }

    /// Kills a monitor and lets go what a rule holds of it, so that also one that cannot be killed
    /// ends.
    fn free(&mut self, node: &NodeName, monitor: MonitorId) {
        let station = self.station(node);
        let Some(seat) = station.seats.get_mut(&monitor) else {
            return;
        };
        seat.ending = true;
        seat.chair.signal(Signal::Kill);
        for (hold, _) in std::mem::take(&mut station.hangs) {
            station.release(hold);
        }
    }

    /// A wrapper may write something when it ends, such as what it measured.
    fn end_gently(&mut self, node: &NodeName, monitor: MonitorId) {
        let begun = Instant::now();
        let seat = self.seat(node, monitor);
        seat.ending = true;
        seat.chair.signal(Signal::Term);
        while self.station(node).seats.contains_key(&monitor) && begun.elapsed() < WRAP_GRACE {
            match self.next(LOOK) {
                // What is said now is no part of the drill, nor is a failure.
                Some(happening) => drop(self.react(happening)),
                None => self.interrupt(node, monitor),
            }
        }
    }

    fn told(self, broken: Option<Broken>) -> Played {
        let missed = self.director.missed().iter();
        let recording = Recording {
            arm: Some(Arm::Process),
            ticks: self.ticks,
            healing_from: self.director.healing_from(),
            settled_at: self.director.settled_at(),
            broken,
            missed_moments: missed
                .map(|(place, text)| format!("{place}: {text}"))
                .collect(),
        };
        Played {
            recording,
            truth: self.director.into_truth(),
        }
    }

    /// The number of the present tick.
    fn tick(&self) -> u64 {
        self.ticks.len().saturating_sub(1) as u64
    }

    /// How many loops of a monitor come to the gate in each tick.
    fn loops(&self) -> usize {
        let loops = if self.descriptor.concurrent {
            self.descriptor.listings(self.story.checks) / self.descriptor.listings_per_poll
        } else {
            1
        };
        usize::try_from(loops).expect("a monitor has few loops")
    }

    fn station(&mut self, node: &NodeName) -> &mut Station {
        self.stations
            .get_mut(node)
            .expect("a plan names nodes of its story only")
    }

    fn seat(&mut self, node: &NodeName, monitor: MonitorId) -> &mut Seat {
        self.station(node)
            .seats
            .get_mut(&monitor)
            .expect("a monitor that was waited for sits there")
    }
}

fn unplayed(broken: Broken) -> Played {
    let recording = Recording {
        arm: Some(Arm::Process),
        broken: Some(broken),
        ..Recording::default()
    };
    Played {
        recording,
        truth: Truth::default(),
    }
}

fn stage(error: &dyn std::error::Error) -> Broken {
    Broken::Stage {
        cause: error.to_string(),
    }
}

fn word(signal: Signal) -> &'static str {
    match signal {
        Signal::Term => "SIGTERM",
        Signal::Kill => "SIGKILL",
    }
}
