//! The memory arm: the agent with simulated I/O; no process, no mount, no socket.
//!
//! It plays the same story with the same director as the process arm, and makes a recording of the
//! same form. A kill drops the agent and keeps the state file; a restart starts a new agent; a hung
//! read is answered *timed out* at once, or after the number of ticks that the story states. Start
//! with [`play_in_memory`]; `hands.rs` has the agent's reads and writes.

use std::{cell::RefCell, collections::BTreeMap};

use director::{Director, MonitorId, Stage, StageError, Trees, Truth, state_file};
use observe::{Broken, Descriptor, Exit, MonitorTick, Recording, Tick};
use platforms::{NodeName, WORLD_START_WALL_NS};
use scenarios::Story;
use simfs::Fs;
use terms::Arm;

mod asking;
mod cast;
mod classify;
mod hands;
mod lockstep;
mod publisher;
mod reads;

pub use checks::{Unmonitored, Variant};
pub use classify::{FoundRoles, Unclassified, Watched, classified, roles_found};
pub use lockstep::{Lockstep, Turn};
pub use reads::TraceLog;

use cast::Cast;

/// The exit by SIGKILL (`signal(7)`).
const KILLED: Exit = Exit::Signal(9);

/// The path of the configuration; the agent receives its text.
const CONFIG: &str = "/conf/config.toml";

/// The path of the socket.
const SOCKET: &str = "/run/nvsentinel.sock";

/// A drill as it was played: what the monitor reported, and the true state.
#[derive(Clone, Debug)]
pub struct Played {
    /// The arm.
    pub arm: Arm,
    /// What the monitor reported.
    pub recording: Recording,
    /// The true state of the world.
    pub truth: Truth,
}

/// Plays a story in memory, with the reference monitor or the given wrong one.
#[must_use]
pub fn play_in_memory(
    story: &Story,
    descriptor: &Descriptor,
    wrong: Option<Variant>,
    trees: &mut Trees,
) -> Played {
    play_on(Stage::set(story, trees), story, descriptor, wrong)
}

/// Plays a story on a stage; if the stage could not be prepared, the recording states the cause.
#[must_use]
pub fn play_on(
    stage: Result<Stage<'_>, StageError>,
    story: &Story,
    descriptor: &Descriptor,
    wrong: Option<Variant>,
) -> Played {
    let mut recording = Recording {
        start_wall_ns: WORLD_START_WALL_NS,
        ..Recording::default()
    };
    let world = match stage {
        Ok(stage) => RefCell::new(World::new(stage)),
        Err(error) => {
            recording.broken = Some(Broken::Stage {
                cause: error.to_string(),
            });
            return Played {
                arm: Arm::Memory,
                recording,
                truth: Truth::default(),
            };
        }
    };
    let mut cast = Cast {
        story,
        descriptor,
        variant: wrong.unwrap_or_default(),
        world: &world,
        running: BTreeMap::new(),
    };
    recording.broken = cast.play_ticks().err();
    drop(cast);
    world.into_inner().played(recording)
}

/// The stage of a drill in memory: the director and each node's files.
struct World<'s> {
    director: Director<'s>,
    nodes: BTreeMap<NodeName, Node>,
    ticks: Vec<Tick>,
    turn: Turn,
    /// Whether the last of the ticks is not ended yet.
    in_tick: bool,
    /// Why the drill cannot go on, until the lockstep asks.
    broken: Option<Broken>,
}

/// One node in memory.
struct Node {
    fs: Fs,
    tick: MonitorTick,
    trace: TraceLog,
    /// Paths of reads that hang, with the rule that holds each.
    hung: BTreeMap<String, simfs::RuleId>,
    /// Whether a poll began, or was interrupted by an end of the monitor, in the present tick.
    polled: bool,
    /// How the monitor that is running was ended in the middle of its work.
    struck: Option<Exit>,
}

impl<'s> World<'s> {
    fn new(stage: Stage<'s>) -> Self {
        let files = stage.files.into_iter();
        let nodes = files.map(|(name, fs)| {
            let node = Node {
                fs,
                tick: MonitorTick::default(),
                trace: TraceLog::default(),
                hung: BTreeMap::new(),
                polled: false,
                struck: None,
            };
            (name, node)
        });
        Self {
            director: stage.director,
            nodes: nodes.collect(),
            ticks: Vec::new(),
            turn: Turn::default(),
            in_tick: false,
            broken: None,
        }
    }

    fn node(&mut self, name: &NodeName) -> &mut Node {
        self.nodes
            .get_mut(name)
            .expect("a plan names nodes of its story only")
    }

    /// Begins the next tick. `held` is the monitor whose poll continues from the tick before.
    fn begin_tick(&mut self, held: Option<(&NodeName, MonitorId)>) {
        match self.director.tick() {
            Ok(plan) => {
                self.ticks.push(Tick {
                    at_ns: plan.at.as_ns(),
                    ..Tick::default()
                });
                self.in_tick = true;
                self.turn = Turn::of(plan.instances, held);
            }
            Err(error) => self.stage_failed(&error),
        }
    }

    /// Makes the tick's changes visible.
    fn show(&mut self, held: Option<&NodeName>) {
        for (name, node) in &mut self.nodes {
            let shown = match held {
                Some(holder) if holder == name => self.director.show_held(name, &mut node.fs),
                _ => self.director.show(name, &mut node.fs),
            };
            if let Err(error) = shown {
                return self.stage_failed(&error);
            }
            node.polled = false;
        }
    }

    /// Ends the present tick, if there is one, and records what the monitors did in it.
    fn end_tick(&mut self) {
        if !std::mem::take(&mut self.in_tick) {
            return;
        }
        let nodes = &self.nodes;
        self.director
            .end_tick(|name| nodes.get(name).is_some_and(|node| node.polled));
        let tick = self.ticks.last_mut().expect("a tick has begun");
        for (name, node) in &mut self.nodes {
            let mut instance = std::mem::take(&mut node.tick);
            instance.state_file = node.trace.state_file(state_file(&mut node.fs));
            tick.insert(name.into(), node.trace.ended(instance));
        }
        Tick::share_last(&mut self.ticks);
    }

    /// Whether the drill can go on.
    fn go_on(&mut self) -> Result<(), Broken> {
        self.broken.take().map_or(Ok(()), Err)
    }

    fn stage_failed(&mut self, error: &StageError) {
        self.broken = Some(Broken::Stage {
            cause: error.to_string(),
        });
        for node in self.nodes.values_mut() {
            node.struck = Some(KILLED);
        }
    }

    fn played(self, mut recording: Recording) -> Played {
        recording.ticks = self.ticks;
        recording.healing_from = self.director.healing_from();
        recording.settled_at = self.director.settled_at();
        let missed = self.director.missed().iter();
        recording.missed_moments = missed
            .map(|(place, text)| format!("{place}: {text}"))
            .collect();
        Played {
            arm: Arm::Memory,
            recording,
            truth: self.director.into_truth(),
        }
    }
}
