//! The lockstep: one drill, tick by tick.
//!
//! Between polls a monitor stands at the gate, held in its listing of the anchor. A tick makes the
//! world's changes visible, does what the story does to the monitor, lets the listing go, and waits
//! until the monitor stands at the gate again: everything it said until then belongs to the tick.
//! A hang for ticks, a pause and the time between a kill and a restart are ticks without a poll.
//!
//! The order of things is the director's; this is the hand that carries it out. Start at
//! [`Player::play`]; how it waits is `waiting.rs`, what it does with the news that come meanwhile
//! `react.rs`.

use std::{
    collections::BTreeMap,
    fs, io,
    path::Path,
    sync::{Arc, Mutex},
};

use director::{ChairAct, ChairPlan, Director, MonitorId, STATE_FILE, Stage, Truth};
use memory::{Played, TraceLog};
use observe::{Broken, Descriptor, Drains, Filling, MonitorTick, Recording, Tick};
use platforms::{NodeName, WORLD_START_WALL_NS};
use scenarios::{Arm, Story};
use simfs::Fs;
use simfs_fuse::{MountError, Options, Server};

use super::{
    ProcessArm,
    chair::{Chair, Order},
    inbox::Teller,
    quiet,
    station::{Seat, Station},
};
mod asking;
mod ending;
mod react;
mod waiting;

use waiting::Waited;

/// A drill that is being played.
pub(super) struct Player<'a> {
    arm: &'a mut ProcessArm,
    story: &'a Story,
    descriptor: &'a Descriptor,
    /// Listings of the anchor in one poll.
    listings: u32,
    director: Director<'a>,
    stations: BTreeMap<NodeName, Station>,
    ticks: Vec<Tick>,
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
        let Stage { director, files } = match arm.options.trees.stage(story) {
            Ok(stage) => stage,
            Err(error) => return unplayed(stage(&error)),
        };
        let mut player = Self {
            arm,
            story,
            descriptor,
            listings: descriptor.listings(story.checks.names().len()),
            director,
            stations: BTreeMap::new(),
            ticks: Vec::new(),
        };
        let result = player.mount(files).and_then(|()| player.ticks());
        let cleared = player.clear();
        player.told(result.and(cleared).err())
    }

    /// Mounts the files of every node that has a chair and opens its socket; whom nobody watches has no
    /// files that anybody could see.
    fn mount(&mut self, mut files: BTreeMap<NodeName, Fs>) -> Play<()> {
        while self.arm.inbox.try_recv().is_ok() {}
        let cpu = self
            .arm
            .settle(self.descriptor)
            .map_err(|error| stage(&error))?;
        for (at, node) in self.story.chairs.iter().enumerate() {
            let fs = files.remove(node).expect("every monitored node has files");
            let fs = Arc::new(Mutex::new(fs));
            let root = self.arm.folder.join(at.to_string());
            let socket = self.arm.folder.join(format!("{at}.sock"));
            let mut station = Station {
                server: None,
                fs,
                root,
                socket,
                seats: BTreeMap::new(),
                hangs: BTreeMap::new(),
                tick: MonitorTick::default(),
                trace: TraceLog::default(),
                polled: false,
            };
            let teller = Teller::new(node.clone(), self.arm.tell.clone());
            let (transport, _) = self.arm.transport(self.descriptor.speaks);
            transport.open(node, &station.socket, &station.root, teller.clone());
            fs::create_dir_all(&station.root).map_err(|error| stage(&error))?;
            let options = Options { cpu, gate: true };
            let server = Server::mount(
                Arc::clone(&station.fs),
                &station.root,
                options,
                Arc::new(teller),
            );
            station.server = Some(server.map_err(|error: MountError| stage(&error))?);
            self.stations.insert(node.clone(), station);
        }
        Ok(())
    }

    fn ticks(&mut self) -> Play<()> {
        loop {
            let plan = self.director.tick().map_err(|error| stage(&error))?;
            self.ticks.push(Tick {
                at_ns: plan.at.as_ns(),
                ..Tick::default()
            });
            let played = self.show().and_then(|()| self.chairs(&plan.chairs));
            let played = played.and_then(|()| self.ask());
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
                let (transport, runtime) = self.arm.transport(self.descriptor.speaks);
                transport
                    .stand(runtime, node, socket)
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
        self.station(node)
            .seats
            .insert(monitor, Seat::new(chair, order.metrics_port));
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
        let state_file = format!("{root}/{STATE_FILE}");
        let checks = self.story.checks.names();
        let filling = Filling {
            this: &self.arm.this,
            root: &root,
            state_file: &state_file,
            socket: &socket,
            config: &config_path,
            node: node.as_str(),
            metrics_port: self.arm.network.port()?,
            checks: &checks,
        };
        if let Some(text) = self.descriptor.config_text(config, &filling) {
            fs::write(&config_file, text)?;
        }
        let species = self.arm.options.species.as_deref();
        let mut words = self.arm.options.wrap.clone();
        words.extend(self.descriptor.arguments(
            self.story.holds_for_good(),
            flags,
            species,
            &filling,
        ));
        let env = self
            .descriptor
            .env
            .iter()
            .map(|(name, value)| (name.clone(), filling.fill(value)));
        Ok(Order {
            words,
            env: env.collect(),
            metrics_port: filling.metrics_port,
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
        let all = self.listings;
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
                tick.insert((&node).into(), ended);
            }
        }
        Tick::share_last(&mut self.ticks);
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
        let (transport, _) = self.arm.transport(self.descriptor.speaks);
        let said = text.lines().filter_map(|line| transport.line(node, line));
        let said = said.map(|said| said.answered(true, "written".to_owned()));
        station.tick.calls.extend(said);
        station.tick.log.extend(text.lines().map(str::to_owned));
    }

    fn told(self, broken: Option<Broken>) -> Played {
        let missed = self.director.missed().iter();
        let recording = Recording {
            protocol: self.descriptor.speaks,
            start_wall_ns: WORLD_START_WALL_NS,
            ticks: self.ticks,
            healing_from: self.director.healing_from(),
            settled_at: self.director.settled_at(),
            broken,
            missed_moments: missed
                .map(|(place, text)| format!("{place}: {text}"))
                .collect(),
        };
        Played {
            arm: Arm::Process,
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
            self.listings / self.descriptor.listings_per_poll
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
        broken: Some(broken),
        ..Recording::default()
    };
    Played {
        arm: Arm::Process,
        recording,
        truth: Truth::default(),
    }
}

fn stage(error: &dyn std::error::Error) -> Broken {
    Broken::Stage {
        cause: error.to_string(),
    }
}
