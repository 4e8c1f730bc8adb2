//! A node's kernel log as the stream `dev/kmsg`: one record a line, from the boot on.
//!
//! A record is `<level>,<number>,<microseconds since boot>,-;<text>` ("Documentation/ABI/testing/dev-kmsg").
//! Every line of a driver is of level 6, information, for its data tell no levels; numbers begin at 0
//! with each boot. A reader that comes to the end finds no more, where the kernel's would wait. Start at
//! [`Kmsg::edits`].

use platforms::NodeName;
use simfs::{Edit, SimTime, TreePath};

use crate::{Fabric, node::Node};

/// Where it stands below the root.
const PATH: &str = "dev/kmsg";

/// How much of a node's log a tree has.
#[derive(Clone, Debug, Default)]
pub struct Kmsg {
    /// The boot whose log it has; none before the first edits.
    boot: Option<(SimTime, u64)>,
    /// The records of it.
    records: usize,
}

impl Kmsg {
    /// A log in which nothing stands yet: the first edits make it too, if it is not there.
    #[must_use]
    pub fn empty() -> Edit {
        Edit::Stream(TreePath::new(PATH))
    }

    /// What to do to a tree that was edited so far by this one, so that it has the whole log; nothing
    /// for an unknown node.
    #[must_use]
    pub fn edits(&mut self, fabric: &Fabric, node: &NodeName) -> Vec<Edit> {
        let Ok(node) = fabric.node(node) else {
            return Vec::new();
        };
        let path = || TreePath::new(PATH);
        let mut edits = Vec::new();
        if self.boot != Some(node.booted) {
            // The log of another boot is another stream.
            if self.boot.replace(node.booted).is_some() {
                edits.push(Edit::Remove(path()));
            }
            edits.push(Self::empty());
            self.records = 0;
        }
        let new = records(node).skip(self.records).collect::<String>();
        if !new.is_empty() {
            edits.push(Edit::Append {
                path: path(),
                bytes: new.into_bytes(),
            });
        }
        self.records = node.log.len();
        edits
    }
}

fn records(node: &Node) -> impl Iterator<Item = String> {
    let (booted, boot_ns) = node.booted;
    node.log.iter().enumerate().map(move |(number, line)| {
        let us = (boot_ns + line.at.since(booted).as_ns()) / 1000;
        format!("6,{number},{us},-;{}\n", line.text)
    })
}
