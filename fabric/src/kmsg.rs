//! A node's kernel log as the stream `dev/kmsg`: one record per line, from the boot on.
//!
//! A record is `<level>,<number>,<microseconds since boot>,-;<text>` ("Documentation/ABI/testing/dev-kmsg").
//! Driver lines have level 6 (information), because their data state no level; numbers start at 0 with each
//! boot. At the end a reader gets end of file, where the kernel's stream would block. Start at
//! [`Kmsg::edits`].

use platforms::NodeName;
use simfs::{Edit, SimTime, TreePath};

use crate::{Fabric, node::Node};

/// The path below the root.
const PATH: &str = "dev/kmsg";

/// How much of a node's log a tree has.
#[derive(Clone, Debug, Default)]
pub struct Kmsg {
    /// The boot whose log it has; `None` before the first edits.
    boot: Option<(SimTime, u64)>,
    /// The number of records written.
    records: usize,
}

impl Kmsg {
    /// An empty log. It is optional: the first edits create the file if it does not exist.
    #[must_use]
    pub fn empty() -> Edit {
        Edit::Stream(TreePath::new(PATH))
    }

    /// The edits that complete the log in a tree that was edited only by this value; empty for an unknown
    /// node.
    #[must_use]
    pub fn edits(&mut self, fabric: &Fabric, node: &NodeName) -> Vec<Edit> {
        let Ok(node) = fabric.node(node) else {
            return Vec::new();
        };
        let path = || TreePath::new(PATH);
        let mut edits = Vec::new();
        if self.boot != Some(node.booted) {
            // After a reboot the stream starts anew.
            if self.boot.replace(node.booted).is_some() {
                edits.push(Edit::Remove(path()));
            }
            edits.push(Self::empty());
            self.records = 0;
        }
        let new = records(node, self.records).collect::<String>();
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

impl Fabric {
    /// The kernel log of a node's present boot, as `dmesg` prints it: each line after the boot clock's
    /// seconds in brackets (`print_time` of `kernel/printk/printk.c`). Empty for an unknown node.
    #[must_use]
    pub fn dmesg(&self, node: &NodeName) -> String {
        let Ok(node) = self.node(node) else {
            return String::new();
        };
        stamped(node)
            .map(|(us, text)| {
                let (seconds, rest) = (us / 1_000_000, us % 1_000_000);
                format!("[{seconds:5}.{rest:06}] {text}\n")
            })
            .collect()
    }
}

/// The lines with their boot clock's time in microseconds.
fn stamped(node: &Node) -> impl Iterator<Item = (u64, &str)> {
    let (booted, boot_ns) = node.booted;
    node.log.iter().map(move |line| {
        let us = (boot_ns + line.at.since(booted).as_ns()) / 1000;
        (us, line.text.as_str())
    })
}

/// The records from this number on.
fn records(node: &Node, from: usize) -> impl Iterator<Item = String> {
    let lines = stamped(node).enumerate().skip(from);
    lines.map(|(number, (us, text))| format!("6,{number},{us},-;{text}\n"))
}
