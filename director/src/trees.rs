//! Worlds at rest and their trees, made once and cloned for every drill that begins with one.
//!
//! A clone shares what it is made of with the original until something in it changes. Left out: what
//! a story adds before the first poll (`show.rs`). Start at [`Trees`].

use std::{collections::BTreeMap, fmt};

use fabric::{Fabric, Kmsg, Timing};
use platforms::{CLASS_INFINIBAND, Machine, NodeName, Platform};
use simfs::Fs;

use crate::WRITABLE;

/// How many worlds are kept. Chosen: more than there are platforms and variants.
const WORLDS_MAX: usize = 64;

/// A world of more nodes is not kept when its drill has begun: at rest it would stand beside itself in
/// motion. Chosen: more than the worlds of the suite have.
const NODES_KEPT_MAX: usize = 16;

/// The worlds that were met so far.
#[derive(Clone, Default)]
pub struct Trees(Vec<World>);

/// A world at rest, and its trees as far as they were asked for.
#[derive(Clone)]
struct World {
    nodes: Vec<(NodeName, Platform)>,
    fabric: Fabric,
    trees: BTreeMap<NodeName, Fs>,
}

impl Trees {
    /// The world of these nodes at rest.
    pub(crate) fn fabric(&mut self, nodes: &[(NodeName, Platform)]) -> Fabric {
        world(&mut self.0, nodes).fabric.clone()
    }

    /// The machine of one of these nodes at rest, and its tree in full with its names, its anchor and
    /// its writable folder; `None` if there is no such node.
    pub(crate) fn of(
        &mut self,
        nodes: &[(NodeName, Platform)],
        node: &NodeName,
    ) -> Option<(Machine, Fs)> {
        let world = world(&mut self.0, nodes);
        let machine = world.fabric.machine(node)?.clone();
        let fs = match world.trees.get(node) {
            Some(fs) => fs.clone(),
            None => {
                let fs = world
                    .like(node, &machine)
                    .unwrap_or_else(|| rendered(&machine));
                world.trees.insert(node.clone(), fs.clone());
                fs
            }
        };
        Some((machine, fs))
    }

    /// The nodes of a drill have their trees: what is too large to be kept for another one goes.
    pub(crate) fn drop_large(&mut self) {
        self.0.retain(|world| world.nodes.len() <= NODES_KEPT_MAX);
    }
}

/// The world of these nodes. What was asked for last stands last, so that it is found first and goes
/// last.
fn world<'k>(known: &'k mut Vec<World>, nodes: &[(NodeName, Platform)]) -> &'k mut World {
    match known.iter().rposition(|world| world.is_of(nodes)) {
        Some(place) => known[place..].rotate_left(1),
        None => {
            if known.len() == WORLDS_MAX {
                known.remove(0);
            }
            known.push(World {
                nodes: nodes.to_vec(),
                fabric: Fabric::new(nodes.to_vec(), Timing::default()),
                trees: BTreeMap::new(),
            });
        }
    }
    known.last_mut().expect("it was just put there")
}

impl World {
    /// The tree of this node made of another's of the same make, of which it shares all that is equal.
    fn like(&self, node: &NodeName, machine: &Machine) -> Option<Fs> {
        let (_, platform) = self.nodes.iter().find(|(name, _)| name == node)?;
        let mut twins = self
            .nodes
            .iter()
            .filter(|(_, other)| platform.is_same_copy(other));
        let (other, tree) = twins.find_map(|(name, _)| Some((name, self.trees.get(name)?)))?;
        let mut fs = tree.clone();
        fs.apply(&platforms::diff(self.fabric.machine(other)?, machine));
        Some(fs)
    }

    fn is_of(&self, nodes: &[(NodeName, Platform)]) -> bool {
        let same = |(ours, theirs): (&(NodeName, Platform), &(NodeName, Platform))| {
            ours.0 == theirs.0 && ours.1.is_same_copy(&theirs.1)
        };
        self.nodes.len() == nodes.len() && self.nodes.iter().zip(nodes).all(same)
    }
}

impl fmt::Debug for Trees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trees").finish_non_exhaustive()
    }
}

fn rendered(machine: &Machine) -> Fs {
    let mut fs = Fs::new();
    for folder in [CLASS_INFINIBAND, "sys/class/net", "sys/bus/pci/devices"] {
        fs.alias_folder(folder);
    }
    fs.apply(&platforms::render(machine));
    fs.apply(&[Kmsg::empty()]);
    fs.set_anchor(CLASS_INFINIBAND);
    fs.set_writable(WRITABLE);
    fs.know_names();
    fs
}

#[cfg(test)]
mod tests {
    use platforms::Platforms;

    use super::*;

    #[track_caller]
    fn check(nodes: usize, kept: usize) {
        let shipped = Platforms::shipped();
        let platform = shipped.get("two-rail-vm").unwrap();
        let nodes: Vec<_> = (0..nodes)
            .map(|nth| {
                (
                    NodeName::from(format!("node-{nth}").as_str()),
                    platform.clone(),
                )
            })
            .collect();
        let mut trees = Trees::default();
        for (node, _) in &nodes {
            assert!(trees.of(&nodes, node).is_some());
        }
        trees.drop_large();
        assert_eq!(trees.0.len(), kept);
    }

    #[test]
    fn a_world_is_kept_for_the_next_drill_unless_it_has_many_nodes() {
        check(1, 1);
        check(16, 1);
        check(17, 0);
    }
}
