//! What was read of a node, by short paths that are the same for a live node and for a dump.
//!
//! | path | what |
//! |---|---|
//! | `infiniband/DEVICE/…` | the files of an RDMA device; `device` leads to its function |
//! | `pci/ADDRESS/…` | the files of a PCI function; `driver` and `physfn` are links |
//! | `net/INTERFACE/…` | the files of an interface; `device` and `lower_…` are links |
//! | `gpu/NUMBER/…` | what a tool lists of a GPU without NICs: `pci`, `numa_node` |
//! | `route`, `gpu_metadata.json` | the route table, what the metadata collector wrote |

use std::collections::{BTreeMap, BTreeSet};

use crate::PciAddress;

/// What was read of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    entries: BTreeMap<String, Entry>,
}

/// The entry at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Text(String),
    Unreadable(String),
    Link(String),
    Folder,
}

impl Snapshot {
    /// Adds a file.
    pub fn file(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.entries.insert(path.into(), Entry::Text(text.into()));
    }

    /// Adds a file that exists but could not be read, and why.
    pub fn unreadable(&mut self, path: impl Into<String>, cause: impl Into<String>) {
        let cause = Entry::Unreadable(cause.into());
        self.entries.insert(path.into(), cause);
    }

    /// Adds a link with its target.
    pub fn link(&mut self, path: impl Into<String>, target: impl Into<String>) {
        self.entries.insert(path.into(), Entry::Link(target.into()));
    }

    /// Adds a folder.
    pub fn folder(&mut self, path: impl Into<String>) {
        self.entries.insert(path.into(), Entry::Folder);
    }

    /// The text of a file, without trailing blanks.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        match self.entries.get(path)? {
            Entry::Text(text) => Some(text.trim_end()),
            _ => None,
        }
    }

    /// The last component of a link's target.
    #[must_use]
    pub fn target(&self, path: &str) -> Option<&str> {
        match self.entries.get(path)? {
            Entry::Link(target) => target.trim_end_matches('/').rsplit('/').next(),
            _ => None,
        }
    }

    /// The names below a folder, in order.
    #[must_use]
    pub fn names(&self, folder: &str) -> BTreeSet<&str> {
        let below = format!("{folder}/");
        let paths = self.entries.range(below.clone()..);
        let paths = paths.take_while(|(path, _)| path.starts_with(&below));
        let names = paths.filter_map(|(path, _)| path[below.len()..].split('/').next());
        names.collect()
    }

    /// The files that could not be read, and why.
    pub fn unread(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().filter_map(|(path, entry)| match entry {
            Entry::Unreadable(cause) => Some((path.as_str(), cause.as_str())),
            _ => None,
        })
    }

    /// Moves everything below a folder; what is there already stays.
    pub(super) fn rename_below(&mut self, from: &str, to: &str) {
        let paths = self.entries.range(from.to_owned()..);
        let paths = paths.take_while(|(path, _)| path.starts_with(from));
        let paths: Vec<String> = paths.map(|(path, _)| path.clone()).collect();
        for path in paths {
            if let Some(entry) = self.entries.remove(&path) {
                let moved = format!("{to}{}", &path[from.len()..]);
                self.entries.entry(moved).or_insert(entry);
            }
        }
    }

    /// A number in a file, decimal or with `0x` hexadecimal.
    pub(super) fn number(&self, path: &str) -> Option<i64> {
        let text = self.text(path)?;
        match text.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        }
    }

    /// The PCI address that a link leads to.
    pub(super) fn address(&self, path: &str) -> Option<PciAddress> {
        self.target(path)?.parse().ok()
    }
}
