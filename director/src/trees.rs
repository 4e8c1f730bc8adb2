//! A cache of worlds at rest and their trees, which drills clone.
//!
//! A clone shares its parts with the original until they change. `show.rs` applies what a story
//! changes before the first poll. Start at [`Trees`].

use std::{collections::BTreeMap, fmt};

use fabric::{Fabric, Kmsg, Timing};
use platforms::{CLASS_INFINIBAND, Machine, NodeName, Platform};
use simfs::Fs;

use crate::WRITABLE;

/// The number of cached worlds. Chosen: more than there are platforms and variants.
const WORLDS_MAX: usize = 64;

/// A world with more nodes is dropped once its drill has started, to save memory. Chosen: more nodes
/// than the suite's worlds have.
const NODES_KEPT_MAX: usize = 16;

/// The cached worlds.
#[derive(Clone, Default)]
pub struct Trees(Vec<World>);

/// A world at rest, and the trees that were built so far.
#[derive(Clone)]
struct World {
    nodes: Vec<(NodeName, Platform)>,
    fabric: Fabric,
    trees: BTreeMap<NodeName, Fs>,
}

impl Trees {
    /// The fabric of these nodes at rest.
    pub(crate) fn fabric(&mut self, nodes: &[(NodeName, Platform)]) -> Fabric {
        world(&mut self.0, nodes).fabric.clone()
    }

    /// The machine of one of these nodes at rest, and its complete tree with its names, its anchor
    /// folder and its writable folder; `None` if there is no such node.
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

    /// Drops worlds that are too large to be cached, once a drill has its trees.
    pub(crate) fn drop_large(&mut self) {
        self.0.retain(|world| world.nodes.len() <= NODES_KEPT_MAX);
    }
}

/// The world of these nodes. The most recently used world is last in the list, so that it is found
/// first and dropped last.
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
    /// The tree of this node, cloned from another node with the same platform and edited where it
    /// differs.
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

/// The files of a node at rest: its tree with names, modes, times, an empty kernel log, the anchor folder and
/// the writable folder.
#[must_use]
pub fn rendered(machine: &Machine) -> Fs {
    let mut fs = Fs::new();
    for folder in [CLASS_INFINIBAND, "sys/class/net", "sys/bus/pci/devices"] {
        fs.alias_folder(folder);
    }
    fs.apply(&platforms::render(machine));
    fs.apply(&[Kmsg::empty()]);
    fs.set_named_modes(platforms::MODES.iter().copied());
    // When the node booted.
    let clock = machine.clock;
    fs.set_mtime(clock.wall_ns.saturating_sub(clock.boot_ns));
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
