//! The director: simulates the world of one drill, with the same code in both arms.
//!
//! It executes the story's steps when they are due, advances the fabric, and returns to a player what to show to the
//! monitor, which monitors to start and stop, and which poll. It plays nothing itself and does not see what a monitor
//! emits. In each tick a player calls, in this order: [`Director::tick`], for each node [`Director::show`], then the
//! operations and polls of the plan (and [`Director::moment`] when one comes), then [`Director::end_tick`].
//!
//! Start at [`Director`]. Files: `scene.rs` has the state of a node, `instances.rs` its monitor instances; `actions.rs`
//! executes steps, `files.rs` and `disk.rs` those on files, `running_workloads.rs` those on workloads, `moments.rs`
//! those within a read or call; `healing.rs` ends the drill; `show.rs` updates the trees, `truth.rs` records the true
//! state, and `log.rs` what happened.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use fabric::{Fabric, Kmsg};
use platforms::{Clock, NodeName, SlotRef};
use scenarios::{FilePlace, HangEnd, RuleEffect, Step, StepAction, Story, What};
use simfs::{Fs, RuleId, SimTime};

mod actions;
mod asked;
mod cabling;
mod connector;
mod disk;
mod error;
mod files;
mod freeze;
mod healing;
mod instances;
mod log;
mod missing_file;
mod moments;
mod query;
mod running_workloads;
mod scene;
mod show;
mod stage;
mod trees;
mod truth;
mod views;

pub use connector::{ConnectorScript, Reaction, Socket, UNAVAILABLE, code_word};
pub use disk::state_file;
pub use error::StageError;
pub(crate) use files::WRITABLE;
pub use files::{STATE_FILE, rule as rule_of};
pub use freeze::{FreezeError, freeze_at, watch};
pub use instances::{InstanceAct, InstancePlan, MonitorId};
pub use log::{
    Act, Episode, Fault, Log, MonitorStart, MovedBy, Occurrence, Outage, PortFault, Reach,
    RuledReads, Target,
};
pub use missing_file::MissingFile;
pub use moments::{CallDo, MomentDo};
pub use query::{MetricsQuery, metrics_query};
pub use running_workloads::{RunningWorkloads, WorkloadError};
pub use stage::Stage;
pub use trees::{Trees, rendered};
pub use truth::{
    ComparedCard, FunctionView, Interface, LinkTruth, NodeTruth, NodeView, PortView, TickTruth,
    Truth,
};

use asked::Asked;
use healing::last_story_tick;
use instances::MonitorInstances;
use scene::{ArmedRule, Change, RuleAbout, Scene, Sequel};

/// The plan of a tick for a player.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TickPlan {
    /// The simulated time of the tick.
    pub at: SimTime,
    /// The operations and polls by node.
    pub instances: BTreeMap<NodeName, InstancePlan>,
}

/// The world of one drill.
#[derive(Debug)]
pub struct Director<'s> {
    story: &'s Story,
    fabric: Fabric,
    workloads: RunningWorkloads,
    /// The bytes of each job's port that its counters have.
    carried: BTreeMap<SlotRef, [u64; 2]>,
    steps: VecDeque<&'s Step>,
    reboots: Vec<(SimTime, &'s NodeName)>,
    nodes: BTreeMap<NodeName, Scene<'s>>,
    tick: u64,
    last_story_tick: u64,
    healing_from: Option<u64>,
    settled_at: Option<u64>,
    next_id: u64,
    truth: Truth,
    /// The parts of the world that the story's expectations are about.
    asked: Asked,
    missed: Vec<(FilePlace, String)>,
}

impl<'s> Director<'s> {
    /// The world of a story at its start, after the `given` steps.
    ///
    /// # Errors
    /// [`StageError`] if the world cannot perform a `given` step, or a step is not possible where it is written.
    pub(crate) fn new(story: &'s Story, trees: &mut Trees) -> Result<Self, StageError> {
        let mut fabric = trees.fabric(&story.nodes);
        cabling::plug(&mut fabric, story);
        let mut nodes = BTreeMap::new();
        for (name, _) in &story.nodes {
            let shown = fabric
                .machine(name)
                .ok_or_else(|| StageError::NoSuchNode(name.clone()))?
                .clone();
            let instances = story
                .monitors
                .contains(name)
                .then(|| MonitorInstances::new(&story.flags, &story.config));
            nodes.insert(name.clone(), Scene::new(shown, instances));
        }
        let mut director = Self {
            story,
            fabric,
            workloads: RunningWorkloads::default(),
            carried: BTreeMap::new(),
            steps: story.steps.iter().collect(),
            reboots: Vec::new(),
            nodes,
            tick: 0,
            last_story_tick: last_story_tick(story),
            healing_from: None,
            settled_at: None,
            next_id: 0,
            truth: Truth::default(),
            asked: Asked::by(story),
            missed: Vec::new(),
        };
        for step in story.steps.iter().filter(|step| step.moment.is_some()) {
            for action in &step.actions {
                actions::sense_in_moment(action)
                    .map_err(|(what, hint)| StageError::action(step, what, Some(hint)))?;
            }
        }
        let is_load = |action: &&StepAction| matches!(action, StepAction::Load(_));
        for step in &story.given {
            for action in step.actions.iter().filter(|action| !is_load(action)) {
                director.action(action, step)?;
            }
        }
        director.workloads = RunningWorkloads::start(&story.workloads, &director.fabric)?;
        for step in &story.given {
            for action in step.actions.iter().filter(is_load) {
                director.action(action, step)?;
            }
        }
        director.truth.log.write_given(story);
        Ok(director)
    }

    /// Builds a node's complete tree, with its names, its anchor folder and its writable folder.
    ///
    /// # Errors
    /// [`StageError`] if the world has no such node, or its state file cannot be created as given.
    pub(crate) fn build_tree(
        &mut self,
        node: &NodeName,
        trees: &mut Trees,
    ) -> Result<Fs, StageError> {
        let no_such_node = || StageError::NoSuchNode(node.clone());
        let machine = self.fabric.machine(node).ok_or_else(no_such_node)?;
        let (at_rest, mut fs) = trees.of(&self.story.nodes, node).ok_or_else(no_such_node)?;
        if at_rest != *machine {
            fs.apply(&platforms::diff(&at_rest, machine));
        }
        let shown = machine.clone();
        let scene = self
            .nodes
            .get_mut(node)
            .ok_or_else(|| StageError::NoSuchNode(node.clone()))?;
        scene.shown = shown;
        scene.kmsg = Kmsg::default();
        fs.apply(&scene.kmsg.edits(&self.fabric, node));
        self.change(node, &mut fs)?;
        Ok(fs)
    }

    /// Advances the world to the next tick (0 at first): steps that are due are executed in order, to the millisecond;
    /// the fabric advances; after the story's end, healing begins. Nothing is visible before [`Director::show`].
    ///
    /// # Errors
    /// [`StageError`] if the world cannot perform a step.
    pub fn tick(&mut self) -> Result<TickPlan, StageError> {
        let tick = self.truth.ticks.len() as u64;
        self.tick = tick;
        let at = self.story.ticks.at(tick);
        self.act_until(at)?;
        self.fabric.advance(at);
        // Workloads end with the story; the effect of healing on them is not simulated.
        if tick <= self.last_story_tick {
            self.follow();
        }
        self.heal(tick)?;
        for scene in self.nodes.values_mut() {
            scene.connector.advance(at);
        }
        self.look(at);
        let plan = |scene: &mut Scene<'s>| {
            scene
                .instances
                .as_mut()
                .map(|instances| instances.plan(tick))
        };
        let instances = self
            .nodes
            .iter_mut()
            .filter_map(|(name, scene)| Some((name.clone(), plan(scene)?)));
        Ok(TickPlan {
            at,
            instances: instances.collect(),
        })
    }

    /// Advances the world to an instant after the present tick and before the next one; does nothing for a time in the
    /// past.
    ///
    /// # Errors
    /// [`StageError`] if the world cannot perform a step.
    pub(crate) fn play_until(&mut self, at: SimTime) -> Result<(), StageError> {
        self.act_until(at)?;
        self.fabric.advance(at);
        if self.tick <= self.last_story_tick {
            self.follow();
        }
        Ok(())
    }

    /// Advances the workloads, and counts what their jobs moved at the ports.
    fn follow(&mut self) {
        self.workloads.follow(&self.fabric);
        for (slot, [sent, received]) in self.workloads.carried() {
            let before = self.carried.entry(slot.clone()).or_default();
            self.fabric
                .carry(&slot, sent - before[0], received - before[1]);
            *before = [sent, received];
        }
    }

    /// Applies everything that happened on a node to its tree at once, and starts a poll.
    ///
    /// # Errors
    /// [`StageError`] if the state file cannot be changed as the story says.
    pub fn show(&mut self, node: &NodeName, fs: &mut Fs) -> Result<(), StageError> {
        fs.poll_begins(self.fabric.now());
        let scene = self.scene(node)?;
        (scene.calls, scene.calls_accepted) = (0, 0);
        self.take_effect(node, fs)
    }

    /// As [`Director::show`], while a rule holds a poll that was started in an earlier tick.
    ///
    /// # Errors
    /// As [`Director::show`].
    pub fn show_held(&mut self, node: &NodeName, fs: &mut Fs) -> Result<(), StageError> {
        fs.set_now(self.fabric.now());
        self.take_effect(node, fs)
    }

    /// Applies the edits of a node's machine, then the other changes. What a rule is about has to be there before the
    /// edits or after them: both are in the same tick.
    fn take_effect(&mut self, node: &NodeName, fs: &mut Fs) -> Result<(), StageError> {
        self.scene(node)?.meet(fs);
        self.edit(node, fs)?;
        self.change(node, fs)
    }

    /// Ends the tick; `polled` returns the nodes on which a poll was started or interrupted in it. Moments that did not
    /// come in it are missed.
    pub fn end_tick(&mut self, polled: impl Fn(&NodeName) -> bool) {
        let Some(truth) = self.truth.ticks.last_mut() else {
            return;
        };
        for (name, scene) in &mut self.nodes {
            let after = scene.mirror.views();
            let noted = truth.nodes.get(name);
            if noted.is_some_and(|noted| !Arc::ptr_eq(&noted.after, &after))
                && let Some(node) = truth.nodes.get_mut(name)
            {
                node.after = after;
            }
            if !polled(name) {
                continue;
            }
            for (_, step) in scene.call_moments.drain(..) {
                self.missed.push((step.place.clone(), step.text.clone()));
            }
            let missed = scene
                .moments
                .extract_if(.., |_, sequel| matches!(sequel, Sequel::Step(_)));
            for (id, sequel) in missed {
                if let Sequel::Step(step) = sequel {
                    self.missed.push((step.place.clone(), step.text.clone()));
                }
                scene.changes.push(Change::Forget(id));
            }
        }
    }

    /// The connector script of a node.
    ///
    /// # Panics
    /// If the story has no such node.
    pub fn connector(&mut self, node: &NodeName) -> &mut ConnectorScript {
        let scene = self.nodes.get_mut(node);
        &mut scene
            .expect("a player asks about nodes of its story only")
            .connector
    }

    /// When a read held by this rule ends; `None` once the rule is gone or its time is over, and the read is released.
    #[must_use]
    pub fn hang_end(&self, node: &NodeName, rule: RuleId) -> Option<HangEnd> {
        let armed = self
            .nodes
            .get(node)?
            .rules
            .iter()
            .find(|armed| armed.id == rule)?;
        match &armed.action.effect {
            RuleEffect::Hang { until, .. } if self.fabric.now() < armed.until => Some(*until),
            _ => None,
        }
    }

    /// Whether the story expects the monitor to exit on this node in the present tick.
    #[must_use]
    pub fn expects_exit(&self, node: &NodeName) -> bool {
        self.story.expectations.iter().any(|expectation| {
            matches!(expectation.what, What::Exit { .. })
                && expectation.node.as_ref().is_none_or(|named| named == node)
                && (expectation.window.from..=expectation.window.to).contains(&self.tick)
        })
    }

    /// Removes a monitor that ended by itself.
    pub fn left(&mut self, node: &NodeName, monitor: MonitorId) {
        if let Some(instances) = self
            .nodes
            .get_mut(node)
            .and_then(|scene| scene.instances.as_mut())
        {
            instances.left(monitor);
        }
    }

    /// The clocks of a node as its monitor would read them now.
    ///
    /// # Panics
    /// If the story has no such node.
    #[must_use]
    pub fn clock(&self, node: &NodeName) -> Clock {
        self.fabric
            .machine(node)
            .expect("a player asks about nodes of its story only")
            .clock
    }

    /// The steps whose moment never came, with their places.
    #[must_use]
    pub fn missed(&self) -> &[(FilePlace, String)] {
        &self.missed
    }

    /// The present state of the world.
    #[must_use]
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The workloads.
    #[must_use]
    pub fn workloads(&self) -> &RunningWorkloads {
        &self.workloads
    }

    /// The true state, tick by tick.
    #[must_use]
    pub fn truth(&self) -> &Truth {
        &self.truth
    }

    /// The true state, at the end of the drill.
    #[must_use]
    pub fn into_truth(self) -> Truth {
        self.truth
    }

    fn scene(&mut self, node: &NodeName) -> Result<&mut Scene<'s>, StageError> {
        self.nodes
            .get_mut(node)
            .ok_or_else(|| StageError::NoSuchNode(node.clone()))
    }

    /// Executes everything that is due up to and including `at`.
    fn act_until(&mut self, at: SimTime) -> Result<(), StageError> {
        loop {
            let step = self
                .steps
                .front()
                .map(|step| step.at)
                .filter(|due| *due <= at);
            let reboot = self
                .reboots
                .iter()
                .map(|(due, ..)| *due)
                .min()
                .filter(|due| *due <= at);
            match (reboot, step) {
                (Some(due), step) if step.is_none_or(|step| due <= step) => {
                    self.fabric.advance(due);
                    let which = self.reboots.iter().position(|(at, ..)| *at == due);
                    let (_, node) = self.reboots.remove(which.expect("it was just found"));
                    self.workloads.node_returns(node, &self.fabric);
                }
                (_, Some(due)) => {
                    self.fabric.advance(due);
                    if let Some(step) = self.steps.pop_front() {
                        self.step(step)?;
                    }
                }
                (_, None) => return Ok(()),
            }
        }
    }

    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}
