//! Applies what happened to a node to its tree.

use std::{collections::BTreeMap, sync::Arc};

use fabric::Side;
use platforms::{NodeName, Shared};
use scenarios::{FileRef, RuleAction};
use simfs::{Fs, Pattern, SimTime};

use super::{
    Change, Director, Interface, LinkTruth, MissingFile, NodeTruth, RuleAbout, StageError,
    TickTruth, disk, files,
};

impl Director<'_> {
    /// Applies changes in mid-poll.
    pub(super) fn refresh(&mut self, node: &NodeName, fs: &mut Fs) -> Result<(), StageError> {
        self.fabric.advance(self.fabric.now());
        self.edit(node, fs)?;
        self.change(node, fs)
    }

    /// Records what a poll of this tick can see.
    pub(super) fn look(&mut self, at: SimTime) {
        let mut nodes = Shared::<BTreeMap<_, _>>::default();
        let watched = self.nodes.iter_mut();
        for (name, scene) in watched.filter(|(_, scene)| scene.instances.is_some()) {
            let Some(machine) = self.fabric.machine(name) else {
                continue;
            };
            scene.mirror.refresh(&self.fabric, name);
            let views = scene.mirror.views();
            let truth = NodeTruth {
                wall_at_start_ns: machine.clock.wall_ns.wrapping_sub(at.as_ns()),
                after: Arc::clone(&views),
                views,
            };
            nodes.insert(name.clone(), truth);
        }
        let end = |slot, side| self.fabric.end(slot, side);
        let links = self.asked.links.iter().filter_map(|slot| {
            let (here, there) = (end(slot, Side::Here)?, end(slot, Side::There)?);
            Some((slot.clone(), LinkTruth { here, there }))
        });
        let links = links.collect();
        let stats = |name: &String| Some((name.clone(), self.workloads.stats(name)?));
        let interfaces = self.asked.interfaces.iter().filter_map(|interface| {
            let Interface {
                workload,
                seen_from,
                slot,
            } = interface;
            let ni = self.workloads.ni(workload, seen_from, slot)?;
            Some((interface.clone(), ni))
        });
        let counters = self.asked.counters.iter();
        let counters =
            counters.filter_map(|counter| Some((counter.clone(), self.workloads.count(counter)?)));
        if let Some(before) = self.truth.ticks.last() {
            nodes.share_with(&before.nodes);
        }
        let truth = TickTruth {
            at,
            nodes,
            links,
            workloads: self.story.workloads.keys().filter_map(stats).collect(),
            interfaces: interfaces.collect(),
            counters: counters.collect(),
        };
        self.truth.ticks.push(truth);
    }

    /// Applies what changed on a node's machine since the last call.
    pub(super) fn edit(&mut self, node: &NodeName, fs: &mut Fs) -> Result<(), StageError> {
        let machine = self
            .fabric
            .machine(node)
            .ok_or_else(|| StageError::NoSuchNode(node.clone()))?;
        let scene = self
            .nodes
            .get_mut(node)
            .ok_or_else(|| StageError::NoSuchNode(node.clone()))?;
        scene.mirror.refresh(&self.fabric, node);
        let edits = platforms::follow(&mut scene.shown, machine);
        if !edits.is_empty() {
            fs.apply(&edits);
        }
        let records = scene.kmsg.edits(&self.fabric, node);
        if !records.is_empty() {
            fs.apply(&records);
        }
        if !edits.is_empty() {
            self.rules_follow(node, fs)?;
        }
        Ok(())
    }

    /// Moves the rules on files of devices to where these are called now.
    fn rules_follow(&mut self, node: &NodeName, fs: &mut Fs) -> Result<(), StageError> {
        let fabric = &self.fabric;
        let scene = self.nodes.get_mut(node);
        let scene = scene.ok_or_else(|| StageError::NoSuchNode(node.clone()))?;
        for armed in &mut scene.rules {
            if matches!(armed.action.file, FileRef::Path(_) | FileRef::StateFile) {
                continue;
            }
            let path = files::path_of(fabric, &armed.action.file);
            if path != armed.path {
                fs.move_rule(armed.id, &Pattern::new(&path));
                armed.path = path;
            }
        }
        Ok(())
    }

    /// Checks that the files appeared which were said to appear later, once the story is over.
    fn appeared(&mut self, node: &NodeName, fs: &mut Fs) -> Result<(), StageError> {
        let is_last = self.tick == self.last_story_tick;
        let fabric = &self.fabric;
        let scene = self.nodes.get_mut(node);
        let scene = scene.ok_or_else(|| StageError::NoSuchNode(node.clone()))?;
        let path = |about: &RuleAbout<'_>| files::path_of(fabric, &about.action.file);
        scene
            .awaited
            .retain(|(ops, about)| fs.unmet(*ops, &Pattern::new(&path(about))).is_some());
        match scene.awaited.first().filter(|_| is_last) {
            Some((_, about)) => {
                let missing = MissingFile {
                    path: path(about),
                    unmet: None,
                    appears_later: true,
                };
                Err(StageError::file(about.step, missing))
            }
            None => Ok(()),
        }
    }

    /// Leaves out what happens to a state file, where no monitor writes one.
    pub(super) fn forget_state_file(&mut self, node: &NodeName) -> Result<(), StageError> {
        let is_of_it = |change: &Change<'_>| matches!(change, Change::Disk(..));
        self.scene(node)?.changes.retain(|change| !is_of_it(change));
        Ok(())
    }

    /// Applies the changes to a node's tree that are not edits of the machine.
    pub(super) fn change(&mut self, node: &NodeName, fs: &mut Fs) -> Result<(), StageError> {
        let scene = self
            .nodes
            .get_mut(node)
            .ok_or_else(|| StageError::NoSuchNode(node.clone()))?;
        for change in std::mem::take(&mut scene.changes) {
            match change {
                Change::Arm {
                    mut rule,
                    torn,
                    about,
                } => {
                    scene.begins((rule.ops, &rule.pattern), about, fs)?;
                    if let Some(new) = torn {
                        let old = fs.peek(rule.pattern.as_str()).unwrap_or_default();
                        rule.verdict = simfs::Verdict::Content(files::torn(old, new));
                    }
                    fs.arm(rule);
                }
                Change::Disarm(id) => {
                    fs.disarm(id);
                }
                Change::Await(moment) => fs.arm_moment(moment),
                Change::AwaitVanishing(moment, about) => {
                    if let simfs::Turn::Before(spot) = &moment.turn {
                        scene.begins((spot.ops, &spot.pattern), about, fs)?;
                    }
                    fs.arm_moment(moment);
                }
                Change::Forget(id) => {
                    fs.disarm_moment(id);
                }
                Change::Disk(action, step) => {
                    disk::change(action, fs).map_err(|cause| StageError::Disk {
                        place: step.place.clone(),
                        line: step.text.clone(),
                        cause,
                    })?
                }
                Change::Vanish(action, path) => {
                    scene.vanished.push((action, disk::vanish(&path, fs)))
                }
                Change::Reappear(file) => {
                    let meant = |action: &RuleAction| file.is_none_or(|file| *file == action.file);
                    let back = scene.vanished.extract_if(.., |(action, _)| meant(action));
                    let paths: Vec<String> = back.map(|(_, path)| path).collect();
                    disk::reappear(&paths, &scene.shown, fs);
                }
                Change::Mend => fs.disarm_all(),
            }
        }
        self.appeared(node, fs)
    }
}
