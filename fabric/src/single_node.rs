//! A world of one node without a story: its fabric, and the state of its machine that was rendered
//! last.
//!
//! The owner keeps the machine's tree, on a mount or in memory. Start at [`SingleNode::at_rest`].

use platforms::{Machine, NodeName, Platform};
use simfs::{Edit, SimTime};

use crate::{Fabric, Timing};

/// The name of the node in a world of one node. Chosen.
pub const NODE: &str = "node-a";

/// The only node of its world.
pub struct SingleNode {
    /// Its fabric.
    pub fabric: Fabric,
    name: NodeName,
    shown: Machine,
}

impl SingleNode {
    /// A platform at rest.
    #[must_use]
    pub fn new(platform: &Platform) -> Self {
        let name = NodeName::from(NODE);
        let fabric = Fabric::new(vec![(name.clone(), platform.clone())], Timing::default());
        let shown = machine(&fabric, &name).clone();
        Self {
            fabric,
            name,
            shown,
        }
    }

    /// A platform at rest, and the edits that render it into an empty tree.
    pub fn at_rest(platform: &Platform) -> (Self, Vec<Edit>) {
        let node = Self::new(platform);
        let edits = platforms::render(&node.shown);
        (node, edits)
    }

    /// The machine as it was rendered last.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.shown
    }

    /// Its name.
    pub fn name(&self) -> &NodeName {
        &self.name
    }

    /// Advances the world to this time; does nothing if the time is in the past.
    pub fn advance(&mut self, to: SimTime) {
        if to > self.fabric.now() {
            self.fabric.advance(to);
        }
    }

    /// The edits that render what has changed since the previous call.
    pub fn unshown(&mut self) -> Vec<Edit> {
        let machine = machine(&self.fabric, &self.name);
        platforms::follow(&mut self.shown, machine)
    }
}

fn machine<'f>(fabric: &'f Fabric, name: &NodeName) -> &'f Machine {
    fabric.machine(name).expect("the world has its node")
}
