//! Doing the story's deeds: to the world, to the files, to the connector, to the monitor.

use fabric::{Action, DeviceAction, PortAction};
use platforms::NodeName;
use scenarios::{
    CallMoment, Deed, FileRef, MonitorDeed, RuleDeed, RuleEffect, RuleLasting, Signal, Step,
};
use simfs::{Fs, MomentId, RuleId, SimTime};

use super::{ArmedRule, Change, Director, MomentDo, MonitorId, Sequel, StageError, files};

impl<'s> Director<'s> {
    pub(super) fn step(&mut self, step: &'s Step) -> Result<(), StageError> {
        let Some(moment) = &step.moment else {
            return step.deeds.iter().try_for_each(|deed| self.deed(deed, step));
        };
        let node = self.node_of(step);
        if let Some(call) = moment.call {
            self.scene(&node)?.call_moments.push((call, step));
            return Ok(());
        }
        let id = MomentId(self.id());
        let Some(awaited) = files::moment(&self.fabric, id, moment) else {
            return Err(StageError::deed(
                step,
                "a moment names an operation before or after which it lies",
            ));
        };
        let scene = self.scene(&node)?;
        scene.moments.insert(id, Sequel::Step(step));
        scene.changes.push(Change::Await(awaited));
        Ok(())
    }

    /// The node whose poll a step with a moment waits for: the one its deeds are about, else the
    /// first with a chair.
    fn node_of(&self, step: &Step) -> NodeName {
        let named = step.deeds.iter().find_map(|deed| match deed {
            Deed::Rule(rule) => Some(&rule.node),
            Deed::Connector(node, _) | Deed::Monitor(node, _) | Deed::StateFile(node, _) => {
                Some(node)
            }
            Deed::Reboot { node, .. } => Some(node),
            Deed::World(_) | Deed::Unrule(_) | Deed::Load(_) => None,
        });
        let first = named
            .or(self.story.chairs.first())
            .or(self.nodes.keys().next());
        first.expect("a story has at least one node").clone()
    }

    pub(super) fn deed(&mut self, deed: &'s Deed, step: &'s Step) -> Result<(), StageError> {
        match deed {
            Deed::World(action) => self.act(action, step),
            Deed::Rule(rule) => self.rule(rule, step),
            Deed::Unrule(file) => {
                self.unrule(file.as_ref());
                Ok(())
            }
            Deed::Connector(node, deed) => {
                let now = self.fabric.now();
                self.scene(node)?.connector.set(now, deed);
                Ok(())
            }
            Deed::Monitor(node, deed) => self.monitor(node, deed, step),
            Deed::StateFile(node, deed) => {
                self.scene(node)?.changes.push(Change::Disk(deed, step));
                Ok(())
            }
            Deed::Load(deed) => {
                let done = self.workloads.act(deed, &self.fabric);
                done.map_err(|cause| StageError::Workload {
                    place: step.place.clone(),
                    line: step.text.clone(),
                    cause: Box::new(cause),
                })
            }
            Deed::Reboot {
                node,
                takes,
                action,
            } => {
                self.workloads.node_goes(node, &self.fabric);
                let back = self.fabric.now() + *takes;
                let tick = back.div_ceil(self.story.tick);
                if let Some(chair) = &mut self.scene(node)?.chair {
                    chair.end_all(Signal::Kill);
                    chair.start_in(tick);
                }
                self.reboots.push((back, action, step));
                Ok(())
            }
        }
    }

    pub(super) fn act(&mut self, action: &Action, step: &Step) -> Result<(), StageError> {
        self.fabric.act(action).map_err(|cause| StageError::Action {
            place: step.place.clone(),
            line: step.text.clone(),
            cause: Box::new(cause),
        })
    }

    fn rule(&mut self, deed: &'s RuleDeed, step: &'s Step) -> Result<(), StageError> {
        let (now, id) = (self.fabric.now(), self.id());
        let Some(rule) = files::rule(&self.fabric, RuleId(id), deed, now) else {
            let awaited = files::vanishing(&self.fabric, MomentId(id), deed);
            let scene = self.scene(&deed.node)?;
            scene
                .moments
                .insert(MomentId(id), Sequel::Vanish(deed, step));
            scene.changes.push(Change::Await(awaited));
            return Ok(());
        };
        let torn = match &deed.effect {
            RuleEffect::Torn(rest) => Some(rest.as_slice()),
            _ => None,
        };
        let scene = self.scene(&deed.node)?;
        let until = match deed.lasting {
            RuleLasting::For(span) => now + span,
            RuleLasting::Always | RuleLasting::Nth(_) | RuleLasting::First(_) => SimTime::MAX,
        };
        scene.rules.push(ArmedRule {
            id: RuleId(id),
            deed,
            until,
        });
        scene.changes.push(Change::Arm { rule, torn });
        Ok(())
    }

    fn unrule(&mut self, file: Option<&'s FileRef>) {
        let meant = |deed: &RuleDeed| file.is_none_or(|file| *file == deed.file);
        for scene in self.nodes.values_mut() {
            for armed in scene.rules.extract_if(.., |armed| meant(armed.deed)) {
                scene.changes.push(Change::Disarm(armed.id));
            }
            let vanishing =
                |sequel: &Sequel<'_>| matches!(sequel, Sequel::Vanish(deed, _) if meant(deed));
            for (id, _) in scene.moments.extract_if(.., |_, sequel| vanishing(sequel)) {
                scene.changes.push(Change::Forget(id));
            }
            scene.changes.push(Change::Reappear(file));
        }
    }

    fn monitor(
        &mut self,
        node: &NodeName,
        deed: &MonitorDeed,
        step: &Step,
    ) -> Result<(), StageError> {
        let tick = self.fabric.now().div_ceil(self.story.tick);
        let Some(chair) = &mut self.scene(node)?.chair else {
            return Err(StageError::deed(step, "no monitor sits on this node"));
        };
        match deed {
            MonitorDeed::Restart {
                signal,
                away_ticks,
                flags,
                config,
            } => {
                chair.end_oldest(*signal);
                chair.equip(flags, config.as_ref());
                chair.start_in(tick + u64::from(*away_ticks));
            }
            MonitorDeed::Stop { signal } => {
                chair.end_oldest(*signal);
            }
            MonitorDeed::Start { flags } => chair.start_with(tick, flags),
            MonitorDeed::Pause { ticks } => chair.pause_until(tick + u64::from(*ticks)),
        }
        Ok(())
    }

    /// Does a step at its moment.
    pub(super) fn sequel(
        &mut self,
        step: &'s Step,
        node: &NodeName,
        by: MonitorId,
    ) -> Result<MomentDo, StageError> {
        let mut end = MomentDo::Go;
        for deed in &step.deeds {
            if self.kills(deed, node, by)? {
                end = MomentDo::Kill;
            } else {
                self.deed(deed, step)?;
            }
        }
        Ok(end)
    }

    /// Does the steps that wait for this moment of a call.
    pub(super) fn call_moment(
        &mut self,
        moment: CallMoment,
        node: &NodeName,
        by: MonitorId,
        fs: &mut Fs,
    ) -> Result<MomentDo, StageError> {
        let scene = self.scene(node)?;
        if scene.call_moments.is_empty() {
            return Ok(MomentDo::Go);
        }
        let come: Vec<_> = scene
            .call_moments
            .extract_if(.., |(awaited, _)| *awaited == moment)
            .collect();
        let mut end = MomentDo::Go;
        for (_, step) in come {
            if self.sequel(step, node, by)? == MomentDo::Kill {
                end = MomentDo::Kill;
            }
        }
        self.refresh(node, fs)?;
        Ok(end)
    }

    /// Whether a deed at a moment kills the monitor that asked; if so, its seat is empty and its
    /// return arranged.
    fn kills(
        &mut self,
        deed: &'s Deed,
        node: &NodeName,
        by: MonitorId,
    ) -> Result<bool, StageError> {
        let next = self.tick + 1;
        let Deed::Monitor(named, deed) = deed else {
            return Ok(false);
        };
        let Some(chair) = self.scene(named)?.chair.as_mut().filter(|_| named == node) else {
            return Ok(false);
        };
        match deed {
            MonitorDeed::Restart {
                away_ticks,
                flags,
                config,
                ..
            } => {
                chair.left(by);
                chair.equip(flags, config.as_ref());
                chair.start_in(next + u64::from(*away_ticks));
                Ok(true)
            }
            MonitorDeed::Stop { .. } => {
                chair.left(by);
                Ok(true)
            }
            MonitorDeed::Start { .. } | MonitorDeed::Pause { .. } => Ok(false),
        }
    }

    /// A device goes off the bus, a port off its device; any other file goes from the tree alone.
    pub(super) fn vanish(&mut self, deed: &'s RuleDeed, step: &'s Step) -> Result<(), StageError> {
        match &deed.file {
            FileRef::Device(node, pci, below) if below.is_empty() => {
                let function = fabric::FunctionRef {
                    node: node.clone(),
                    pci: *pci,
                };
                self.act(&DeviceAction::Remove.on(function), step)
            }
            FileRef::Port(slot, below) if below.is_empty() => {
                self.act(&PortAction::RemovePort.on(slot.clone()), step)
            }
            file => {
                let path = files::path_of(&self.fabric, file);
                self.scene(&deed.node)?
                    .changes
                    .push(Change::Vanish(deed, path));
                Ok(())
            }
        }
    }
}

/// Whether a deed has a meaning in mid-poll.
pub(super) fn sense_in_moment(deed: &Deed) -> Result<(), &'static str> {
    match deed {
        Deed::Monitor(
            _,
            MonitorDeed::Restart {
                signal: Signal::Term,
                ..
            }
            | MonitorDeed::Stop {
                signal: Signal::Term,
            },
        ) => Err(
            "SIGTERM ends a monitor some time later, not at a moment\nhint: use `signal: KILL`, or leave out `in_poll`",
        ),
        Deed::Monitor(_, MonitorDeed::Start { .. } | MonitorDeed::Pause { .. })
        | Deed::Reboot { .. } => {
            Err("this cannot happen at a moment within a poll\nhint: leave out `in_poll`")
        }
        _ => Ok(()),
    }
}
