//! A world of one node without a story: its fabric, and what of its machine was shown last.
//!
//! Where the tree of that machine lies, on a mount or in memory, is its owner's. Start at
//! [`SingleNode::at_rest`].

use platforms::{Machine, NodeName, Platform};
use simfs::{Edit, SimTime};

use crate::{Fabric, Timing};

/// The name of the node of a world of one. Chosen.
pub const NODE: &str = "node-a";

/// One node, alone in its world.
pub struct SingleNode {
    /// What is so.
    pub fabric: Fabric,
    name: NodeName,
    shown: Machine,
}

impl SingleNode {
    /// A platform at rest, and the edits that show it in an empty tree.
    pub fn at_rest(platform: &Platform) -> (Self, Vec<Edit>) {
        let name = NodeName::from(NODE);
        let fabric = Fabric::new(vec![(name.clone(), platform.clone())], Timing::default());
        let shown = machine(&fabric, &name).clone();
        let edits = platforms::render(&shown);
        let node = Self {
            fabric,
            name,
            shown,
        };
        (node, edits)
    }

    /// Its name.
    pub fn name(&self) -> &NodeName {
        &self.name
    }

    /// Lets the world come to this time, unless it is there already.
    pub fn advance(&mut self, to: SimTime) {
        if to > self.fabric.now() {
            self.fabric.advance(to);
        }
    }

    /// The edits that show what has changed since this was asked before.
    pub fn unshown(&mut self) -> Vec<Edit> {
        let machine = machine(&self.fabric, &self.name);
        let edits = platforms::diff(&self.shown, machine);
        if !edits.is_empty() {
            self.shown = machine.clone();
        }
        edits
    }
}

fn machine<'f>(fabric: &'f Fabric, name: &NodeName) -> &'f Machine {
    fabric.machine(name).expect("the world has its node")
}
