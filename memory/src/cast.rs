//! The monitors of a drill in memory: their starts, ends and polls. Start at [`Cast`].

use std::{cell::RefCell, collections::BTreeMap};

use checks::{Agent, Flags, Publisher, Refusal, Start, Todo};
use director::{InstanceAct, MonitorId, STATE_FILE};
use observe::{Broken, Descriptor, Exit, Filling};
use platforms::NodeName;
use scenarios::{Signal, Story};

use crate::{
    CONFIG, KILLED, Lockstep, SOCKET, Variant, World, hands::MemoryHands,
    publisher::MemoryPublisher,
};

/// The monitors of a drill.
pub(super) struct Cast<'w, 's> {
    pub(super) story: &'s Story,
    pub(super) descriptor: &'s Descriptor,
    pub(super) variant: Variant,
    pub(super) world: &'w RefCell<World<'s>>,
    pub(super) running: BTreeMap<(NodeName, MonitorId), Running<'w>>,
}

/// A running monitor.
pub(super) struct Running<'w> {
    pub(super) agent: Agent,
    publisher: Box<dyn Publisher + 'w>,
}

impl Lockstep for Cast<'_, '_> {
    fn begin_tick(&mut self) -> Result<(), Broken> {
        let mut world = self.world.borrow_mut();
        world.begin_tick(None);
        world.go_on()
    }

    fn show(&mut self) -> Result<(), Broken> {
        let mut world = self.world.borrow_mut();
        world.show(None);
        world.go_on()
    }

    fn next_act(&mut self) -> Option<(NodeName, InstanceAct)> {
        self.world.borrow_mut().turn.acts.pop_front()
    }

    fn end(&mut self, node: &NodeName, monitor: MonitorId, signal: Signal) -> Result<(), Broken> {
        self.end_agent(node, monitor, signal);
        self.world.borrow_mut().go_on()
    }

    fn start(
        &mut self,
        node: &NodeName,
        monitor: MonitorId,
        flags: &[String],
        config: &str,
    ) -> Result<(), Broken> {
        self.start_agent(node, monitor, flags, config);
        self.world.borrow_mut().go_on()
    }

    fn next_poll(&mut self) -> Option<(NodeName, MonitorId)> {
        self.world.borrow_mut().turn.polls.pop_front()
    }

    fn poll(&mut self, node: &NodeName, monitor: MonitorId) -> Result<(), Broken> {
        self.let_poll(node, monitor);
        self.world.borrow_mut().go_on()
    }

    fn ask(&mut self) -> Result<(), Broken> {
        self.ask_for_metrics();
        Ok(())
    }

    fn end_tick(&mut self) {
        self.world.borrow_mut().end_tick();
    }

    fn is_over(&mut self) -> Result<bool, Broken> {
        Ok(self.world.borrow().director.is_over())
    }
}

impl<'w> Cast<'w, '_> {
    fn end_agent(&mut self, node: &NodeName, monitor: MonitorId, signal: Signal) {
        let Some(mut running) = self.running.remove(&(node.clone(), monitor)) else {
            return;
        };
        let exit = match signal {
            Signal::Kill => KILLED,
            Signal::Term => {
                running.agent.stop();
                self.drain(node, monitor, &mut running);
                Exit::Code(0)
            }
        };
        let mut world = self.world.borrow_mut();
        let scene = world.node(node);
        scene.hung.clear();
        scene.tick.exits.push(exit);
    }

    fn start_agent(&mut self, node: &NodeName, monitor: MonitorId, flags: &[String], config: &str) {
        let started = self.started(node, monitor, flags, config);
        let mut world = self.world.borrow_mut();
        let scene = world.node(node);
        scene.fs.take_trace();
        scene.struck = None;
        match started {
            Ok((running, records)) => {
                scene
                    .tick
                    .log
                    .extend(records.iter().map(ToString::to_string));
                drop(world);
                self.running.insert((node.clone(), monitor), running);
            }
            Err(refusal) => {
                let exit = Exit::Code(refusal.code.into());
                scene.tick.exits.push(exit);
                scene.tick.log.push(refusal.to_string());
                world.director.left(node, monitor);
                world
                    .turn
                    .polls
                    .retain(|(named, which)| named != node || *which != monitor);
                if !world.director.expects_exit(node) {
                    let tick = world.ticks.len() as u64 - 1;
                    world.broken = Some(Broken::Crashed {
                        tick,
                        exit,
                        last_words: vec![refusal.to_string()],
                    });
                }
            }
        }
    }

    fn started(
        &self,
        node: &NodeName,
        monitor: MonitorId,
        flags: &[String],
        config: &str,
    ) -> Result<(Running<'w>, Vec<checks::LogRecord>), Refusal> {
        let state_file = format!("/{STATE_FILE}");
        let checks = self.story.checks.names();
        let filling = Filling {
            this: "nicdrill",
            root: "",
            state_file: &state_file,
            socket: SOCKET,
            config: CONFIG,
            files: "",
            textfile_dir: "",
            node: node.as_str(),
            metrics_port: 0,
            checks: &checks,
        };
        let arguments =
            self.descriptor
                .arguments(self.story.holds_for_good(), flags, None, &filling);
        let flags = arguments
            .iter()
            .map(String::as_str)
            .skip_while(|word| !word.starts_with("--"));
        let (settings, mut records) = Flags::from_args(flags)?.settings()?;
        let paths = settings.paths.clone();
        let config = self.descriptor.config_text(config, &filling);
        let hands = MemoryHands {
            world: self.world,
            node,
            monitor,
        };
        let [metadata, route, boot_id, state] = [
            &paths.metadata,
            &paths.route,
            &paths.boot_id,
            &paths.state_file,
        ]
        .map(|path| hands.read_at_start(path));
        let start = Start {
            settings,
            config: config
                .as_deref()
                .map(str::as_bytes)
                .ok_or(checks::ReadError::ENOENT),
            metadata: metadata.as_deref().map_err(|error| *error),
            route: route.as_deref().map_err(|error| *error),
            boot_id: boot_id.as_deref().map_err(|error| *error),
            state: state.as_deref().map_err(|error| *error),
        };
        let (agent, more) = Agent::start_with(start, (self.variant.policy)())?;
        records.extend(more);
        let publisher = MemoryPublisher {
            world: self.world,
            node: node.clone(),
            monitor,
        };
        let publisher = (self.variant.publisher)(Box::new(publisher));
        Ok((Running { agent, publisher }, records))
    }

    fn let_poll(&mut self, node: &NodeName, monitor: MonitorId) {
        let key = (node.clone(), monitor);
        let Some(mut running) = self.running.remove(&key) else {
            return;
        };
        let hands = MemoryHands {
            world: self.world,
            node,
            monitor,
        };
        let polled = running.agent.poll(&hands);
        if !self.is_struck(node) {
            running.agent.take(polled);
            self.drain(node, monitor, &mut running);
            // No real time passes here.
            running.agent.took(std::time::Duration::ZERO);
        }
        let mut world = self.world.borrow_mut();
        let scene = world.node(node);
        scene.polled = true;
        scene.tick.reads = scene.trace.reads(&mut scene.fs, &scene.tick.reads);
        if let Some(exit) = scene.struck.take() {
            scene.hung.clear();
            scene.tick.exits.push(exit);
        } else {
            scene.tick.polls += 1;
            drop(world);
            self.running.insert(key, running);
        }
    }

    fn is_struck(&self, node: &NodeName) -> bool {
        self.world.borrow_mut().node(node).struck.is_some()
    }

    /// Carries out what the agent requests, until it requests nothing or is killed.
    fn drain(&self, node: &NodeName, monitor: MonitorId, running: &mut Running<'w>) {
        let Running { agent, publisher } = running;
        loop {
            match agent.next() {
                Todo::Done => return,
                Todo::Wait(_) => {}
                Todo::LogRecord(record) => self
                    .world
                    .borrow_mut()
                    .node(node)
                    .tick
                    .log
                    .push(record.to_string()),
                Todo::Publish { batch, .. } => {
                    let Some(outcome) = publisher.publish(batch) else {
                        return;
                    };
                    agent.published(&outcome);
                }
                Todo::Save(steps) => {
                    let hands = MemoryHands {
                        world: self.world,
                        node,
                        monitor,
                    };
                    let saved = steps.iter().try_for_each(|step| hands.save(step));
                    if self.is_struck(node) {
                        return;
                    }
                    agent.saved(saved);
                }
            }
        }
    }
}
