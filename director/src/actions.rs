//! Executes a story's steps on the world, the files, the connector and the monitor.

use fabric::{Action, DeviceAction, NodeAction, PortAction};
use platforms::NodeName;
use scenarios::{
    CallMoment, FileRef, MonitorAction, RuleAction, RuleEffect, RuleLasting, Signal, Step,
    StepAction,
};
use simfs::{Fs, MomentId, RuleId, SimTime};

use super::{
    ArmedRule, Change, Director, MissingFile, MomentDo, MonitorId, RuleAbout, Sequel, StageError,
    files,
};

impl<'s> Director<'s> {
    pub(super) fn step(&mut self, step: &'s Step) -> Result<(), StageError> {
        let ticks = self.story.ticks;
        let Some(moment) = &step.moment else {
            for action in &step.actions {
                self.action(action, step)?;
                self.truth.log.write(action, step, ticks, true);
            }
            return Ok(());
        };
        for action in &step.actions {
            self.truth.log.write(action, step, ticks, false);
        }
        let node = self.node_of(step);
        if let Some(call) = moment.call {
            self.scene(&node)?.call_moments.push((call, step));
            return Ok(());
        }
        let id = MomentId(self.id());
        let Some(awaited) = files::moment(&self.fabric, id, moment) else {
            return Err(StageError::action(
                step,
                "a moment names an operation before or after which it lies",
                None,
            ));
        };
        let scene = self.scene(&node)?;
        scene.moments.insert(id, Sequel::Step(step));
        scene.changes.push(Change::Await(awaited));
        Ok(())
    }

    /// The node whose poll a step with a moment waits for: the node that its actions are about,
    /// otherwise the first monitored one.
    fn node_of(&self, step: &Step) -> NodeName {
        let named = step.actions.iter().find_map(|action| match action {
            StepAction::Rule(rule) => Some(&rule.node),
            StepAction::Connector(node, _)
            | StepAction::Monitor(node, _)
            | StepAction::StateFile(node, _) => Some(node),
            StepAction::Reboot { node, .. } => Some(node),
            StepAction::World(_) | StepAction::Unrule(_) | StepAction::Load(_) => None,
        });
        let first = named
            .or(self.story.monitors.first())
            .or(self.nodes.keys().next());
        first.expect("a story has at least one node").clone()
    }

    pub(super) fn action(
        &mut self,
        action: &'s StepAction,
        step: &'s Step,
    ) -> Result<(), StageError> {
        match action {
            StepAction::World(action) => self.act(action, step),
            StepAction::Rule(rule) => self.rule(rule, step),
            StepAction::Unrule(file) => {
                // A step at a moment that did not come may have made it.
                let any = self.unrule(file.as_ref()) || !self.missed.is_empty();
                any.then_some(()).ok_or_else(|| {
                    let hint = "rules are `read`, `list`, `write` and what fails a state file";
                    StageError::action(step, "there is no rule to remove", Some(hint))
                })
            }
            StepAction::Connector(node, action) => {
                let now = self.fabric.now();
                self.scene(node)?.connector.set(now, action);
                Ok(())
            }
            StepAction::Monitor(node, action) => self.monitor(node, action, step),
            StepAction::StateFile(node, action) => {
                self.scene(node)?.changes.push(Change::Disk(action, step));
                Ok(())
            }
            StepAction::Load(action) => {
                let done = self.workloads.act(action, &self.fabric);
                done.map_err(|cause| StageError::Workload {
                    place: step.place.clone(),
                    line: step.text.clone(),
                    cause: Box::new(cause),
                })
            }
            StepAction::Reboot { node, plan } => {
                self.workloads.node_goes(node, &self.fabric);
                let back = self.fabric.now() + plan.takes;
                let plan = plan.clone();
                self.act(&NodeAction::Reboot { plan }.on(node.clone()), step)?;
                let tick = self.story.ticks.first_from(back);
                if let Some(instances) = &mut self.scene(node)?.instances {
                    instances.end_all(Signal::Kill);
                    instances.start_in(tick);
                }
                self.reboots.push((back, node));
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

    fn rule(&mut self, action: &'s RuleAction, step: &'s Step) -> Result<(), StageError> {
        let (now, id) = (self.fabric.now(), self.id());
        if self.scene(&action.node)?.instances.is_none() {
            let what = "no monitor runs on this node, so nobody reads its files";
            return Err(StageError::action(step, what, None));
        }
        let path = files::path_of(&self.fabric, &action.file);
        // What a reboot takes away comes back by itself.
        let boots = self.reboots.iter().any(|(_, node)| **node == action.node);
        if !boots && !action.appears_later && !files::bearer_is_there(&self.fabric, &action.file) {
            let missing = MissingFile {
                path,
                unmet: None,
                appears_later: false,
            };
            return Err(StageError::file(step, missing));
        }
        let about = RuleAbout {
            action,
            step,
            met: boots,
        };
        let Some(rule) = files::rule(&self.fabric, RuleId(id), action, now) else {
            let awaited = files::vanishing(&self.fabric, MomentId(id), action);
            let scene = self.scene(&action.node)?;
            scene
                .moments
                .insert(MomentId(id), Sequel::Vanish(action, step));
            scene.changes.push(Change::AwaitVanishing(awaited, about));
            return Ok(());
        };
        let torn = match &action.effect {
            RuleEffect::Torn(rest) => Some(rest.as_slice()),
            _ => None,
        };
        let scene = self.scene(&action.node)?;
        let until = match action.lasting {
            RuleLasting::For(span) => now + span,
            RuleLasting::Always | RuleLasting::Nth(_) | RuleLasting::First(_) => SimTime::MAX,
        };
        scene.rules.push(ArmedRule {
            id: RuleId(id),
            action,
            until,
            path,
        });
        scene.changes.push(Change::Arm { rule, torn, about });
        Ok(())
    }

    /// Removes the rules on a file, or all; returns whether there was one.
    fn unrule(&mut self, file: Option<&'s FileRef>) -> bool {
        let mut any = false;
        let meant = |action: &RuleAction| file.is_none_or(|file| *file == action.file);
        for scene in self.nodes.values_mut() {
            any |= scene.vanished.iter().any(|(action, _)| meant(action));
            any |= scene
                .changes
                .iter()
                .any(|change| matches!(change, Change::Vanish(action, _) if meant(action)));
            for armed in scene.rules.extract_if(.., |armed| meant(armed.action)) {
                any = true;
                scene.changes.push(Change::Disarm(armed.id));
            }
            let vanishing =
                |sequel: &Sequel<'_>| matches!(sequel, Sequel::Vanish(action, _) if meant(action));
            for (id, _) in scene.moments.extract_if(.., |_, sequel| vanishing(sequel)) {
                any = true;
                scene.changes.push(Change::Forget(id));
            }
            scene.awaited.retain(|(_, about)| !meant(about.action));
            scene.changes.push(Change::Reappear(file));
        }
        any
    }

    fn monitor(
        &mut self,
        node: &NodeName,
        action: &MonitorAction,
        step: &Step,
    ) -> Result<(), StageError> {
        let tick = self.story.ticks.first_from(self.fabric.now());
        let Some(instances) = &mut self.scene(node)?.instances else {
            return Err(StageError::action(
                step,
                "no monitor runs on this node",
                None,
            ));
        };
        match action {
            MonitorAction::Restart {
                signal,
                away_ticks,
                flags,
                config,
            } => {
                instances.end_oldest(*signal);
                instances.equip(flags, config.as_ref());
                instances.start_in(tick + u64::from(*away_ticks));
            }
            MonitorAction::Stop { signal } => {
                instances.end_oldest(*signal);
            }
            MonitorAction::Start { flags } => instances.start_with(tick, flags),
            MonitorAction::Pause { ticks } => instances.pause_until(tick + u64::from(*ticks)),
        }
        Ok(())
    }

    /// Executes a step at its moment.
    pub(super) fn sequel(
        &mut self,
        step: &'s Step,
        node: &NodeName,
        by: MonitorId,
    ) -> Result<MomentDo, StageError> {
        let mut end = MomentDo::Go;
        for action in &step.actions {
            if self.kills(action, node, by)? {
                end = MomentDo::Kill;
            } else {
                self.action(action, step)?;
            }
        }
        self.truth.log.came(step);
        Ok(end)
    }

    /// Executes the steps that wait for this moment of a call.
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

    /// Whether an action at a moment kills the monitor that caused the moment; if so, removes it
    /// and plans its restart.
    fn kills(
        &mut self,
        action: &'s StepAction,
        node: &NodeName,
        by: MonitorId,
    ) -> Result<bool, StageError> {
        let next = self.tick + 1;
        let StepAction::Monitor(named, action) = action else {
            return Ok(false);
        };
        let Some(instances) = self
            .scene(named)?
            .instances
            .as_mut()
            .filter(|_| named == node)
        else {
            return Ok(false);
        };
        match action {
            MonitorAction::Restart {
                away_ticks,
                flags,
                config,
                ..
            } => {
                instances.left(by);
                instances.equip(flags, config.as_ref());
                instances.start_in(next + u64::from(*away_ticks));
                Ok(true)
            }
            MonitorAction::Stop { .. } => {
                instances.left(by);
                Ok(true)
            }
            MonitorAction::Start { .. } | MonitorAction::Pause { .. } => Ok(false),
        }
    }

    /// A device goes off the bus, a port disappears from its device; any other file is removed from
    /// the tree only.
    pub(super) fn vanish(
        &mut self,
        action: &'s RuleAction,
        step: &'s Step,
    ) -> Result<(), StageError> {
        match &action.file {
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
                self.scene(&action.node)?
                    .changes
                    .push(Change::Vanish(action, path));
                Ok(())
            }
        }
    }
}

/// Checks that an action is possible in mid-poll.
pub(super) fn sense_in_moment(action: &StepAction) -> Result<(), (&'static str, &'static str)> {
    match action {
        StepAction::Monitor(
            _,
            MonitorAction::Restart {
                signal: Signal::Term,
                ..
            }
            | MonitorAction::Stop {
                signal: Signal::Term,
            },
        ) => Err((
            "SIGTERM ends a monitor some time later, not at a moment",
            "use `signal: KILL`, or leave out `in_poll`",
        )),
        StepAction::Monitor(_, MonitorAction::Start { .. } | MonitorAction::Pause { .. })
        | StepAction::Reboot { .. } => Err((
            "this cannot happen at a moment within a poll",
            "leave out `in_poll`",
        )),
        _ => Ok(()),
    }
}
