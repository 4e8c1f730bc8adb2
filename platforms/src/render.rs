//! Renders a machine as the tree that its kernel would show, below one mount root.
//!
//! The tree consists of *parts*: a PCI function's own files, an RDMA device, a port, its counters,
//! an interface. Unchanged parts are recognised cheaply, so that [`diff`] costs little for small
//! changes. If a part has another incarnation than before, it was removed and added again: its nodes
//! are new ones.
//!
//! Functions are below their PCIe bridges (`sys/devices/pci0000:0b/0000:0b:01.0/0000:0c:00.0`). Start at [`render`];
//! the files are in `render/*.rs`.

use std::collections::{BTreeMap, BTreeSet};

use simfs::{Edit, TreePath};

use crate::{Counters, Machine, PciAddress};

mod bridge;
mod config_space;
mod cpu_list;
mod header;
mod host;
mod modes;
mod net;
mod net_dev;
mod nodes;
mod pci_function;
mod rdma;
mod system;

pub(crate) use cpu_list::{cpus_of, unlike_a_range};

use nodes::{Node, Nodes};

pub use modes::MODES;

/// The folder with the links to RDMA devices, below the mount root: the anchor folder, which every
/// poll lists.
pub const CLASS_INFINIBAND: &str = "sys/class/infiniband";

/// The edits that make an empty tree show `machine`.
#[must_use]
pub fn render(machine: &Machine) -> Vec<Edit> {
    let mut edits = Vec::new();
    for part in parts(machine, None) {
        edits.extend(edits_of(&part));
    }
    edits
}

/// The edits that make a part anew.
fn edits_of(part: &Part<'_>) -> impl Iterator<Item = Edit> {
    let nodes = part.nodes().0.into_iter();
    nodes.map(|(name, node)| node.edit(part.path(&name)))
}

/// The edits that make a tree which shows `old` show `new`: removals first, then additions and
/// changes. What is in both keeps its node; what was removed and added again gets a new one.
#[must_use]
pub fn diff(old: &Machine, new: &Machine) -> Vec<Edit> {
    if old.is_same_but_for_clock(new) {
        return clock_diff(old, new);
    }
    changes(old, new)
}

/// [`diff`] of machines that differ in more than their clocks.
fn changes(old: &Machine, new: &Machine) -> Vec<Edit> {
    let touched = touched(old, new);
    let before = parts(old, Some((new, &touched)));
    let after = parts(new, Some((old, &touched)));
    let mut gone = Removals::default();
    let mut fresh = BTreeMap::new();
    let pairs = pair(&before, &after);
    for (was, now) in &pairs {
        match (was, now) {
            (Some(was), None) => was.forget(&mut gone),
            (Some(was), Some(now)) if !was.is_same(now) => compare(was, now, &mut gone, &mut fresh),
            _ => {}
        }
    }
    for (was, now) in &pairs {
        if let Some(now) = now
            && (was.is_none() || gone.covers(&now.root))
        {
            place(now, &mut fresh);
        }
    }
    let mut edits = gone.edits();
    edits.extend(fresh.into_iter().map(|(path, node)| node.edit(path)));
    edits
}

/// [`diff`] of machines that differ in their clocks at most.
fn clock_diff(old: &Machine, new: &Machine) -> Vec<Edit> {
    match old.clock == new.clock {
        true => Vec::new(),
        false => edits_of(&host::clock(new)).collect(),
    }
}

/// The [`diff`] from `shown` to `new`, after which `shown` is `new`.
#[must_use]
pub fn follow(shown: &mut Machine, new: &Machine) -> Vec<Edit> {
    if shown.is_same_but_for_clock(new) {
        let edits = clock_diff(shown, new);
        shown.clock = new.clock;
        return edits;
    }
    let edits = changes(shown, new);
    new.clone_into(shown);
    edits
}

/// Each part with its counterpart in the other machine.
fn pair<'p, 'a>(
    before: &'p [Part<'a>],
    after: &'p [Part<'a>],
) -> Vec<(Option<&'p Part<'a>>, Option<&'p Part<'a>>)> {
    let same = |(was, now): (&Part<'_>, &Part<'_>)| was.key() == now.key();
    if before.len() == after.len() && before.iter().zip(after).all(same) {
        return before
            .iter()
            .zip(after)
            .map(|(was, now)| (Some(was), Some(now)))
            .collect();
    }
    let mut pairs: BTreeMap<_, _> = before
        .iter()
        .map(|part| (part.key(), (Some(part), None)))
        .collect();
    for part in after {
        pairs.entry(part.key()).or_insert((None, None)).1 = Some(part);
    }
    pairs.into_values().collect()
}

/// The functions that differ between the machines, or are in one of them only.
fn touched(old: &Machine, new: &Machine) -> BTreeSet<PciAddress> {
    let all = old.class_present != new.class_present;
    let changed = old
        .functions
        .iter()
        .filter(|(pci, function)| all || new.functions.get(pci).is_none_or(|now| now != *function));
    let came = new
        .functions
        .keys()
        .filter(|pci| !old.functions.contains_key(pci));
    changed.map(|(pci, _)| *pci).chain(came.copied()).collect()
}

/// A part of a machine's tree that changes as a unit.
pub(crate) struct Part<'a> {
    /// Its folder; removing it removes every node of the part whose name does not begin with `/`.
    root: String,
    of: Of<'a>,
}

enum Of<'a> {
    Host(host::HostPart<'a>),
    Pci(pci_function::PciPart<'a>),
    Rdma(rdma::RdmaPart<'a>),
    Net(net::NetPart<'a>),
}

impl Part<'_> {
    /// The key of a part, which two versions of it share.
    fn key(&self) -> (&str, &'static str, (u32, u32)) {
        (&self.root, self.kind(), self.incarnation())
    }

    /// Distinguishes parts that share a folder.
    fn kind(&self) -> &'static str {
        match &self.of {
            Of::Host(part) => part.kind(),
            Of::Pci(part) => part.kind(),
            Of::Rdma(part) => part.kind(),
            Of::Net(part) => part.kind(),
        }
    }

    fn incarnation(&self) -> (u32, u32) {
        match &self.of {
            Of::Host(_) => (0, 0),
            Of::Pci(part) => part.incarnation(),
            Of::Rdma(part) => part.incarnation(),
            Of::Net(part) => part.incarnation(),
        }
    }

    /// Whether it certainly shows the same; `false` if that is not known without rendering.
    fn is_same(&self, other: &Self) -> bool {
        match (&self.of, &other.of) {
            (Of::Host(a), Of::Host(b)) => a.is_same(b),
            (Of::Pci(a), Of::Pci(b)) => a.is_same(b),
            (Of::Rdma(a), Of::Rdma(b)) => a.is_same(b),
            (Of::Net(a), Of::Net(b)) => a.is_same(b),
            _ => false,
        }
    }

    fn nodes(&self) -> Nodes {
        let mut nodes = Nodes::default();
        match &self.of {
            Of::Host(part) => part.nodes(&mut nodes),
            Of::Pci(part) => part.nodes(&mut nodes),
            Of::Rdma(part) => part.nodes(&mut nodes),
            Of::Net(part) => part.nodes(&mut nodes),
        }
        nodes
    }

    fn counters(&self) -> Option<&Counters> {
        match &self.of {
            Of::Host(_) | Of::Pci(_) => None,
            Of::Rdma(part) => part.counters(),
            Of::Net(part) => part.counters(),
        }
    }

    fn path(&self, name: &str) -> String {
        match name.strip_prefix('/') {
            Some(path) => path.to_owned(),
            None if name.is_empty() => self.root.clone(),
            None => format!("{}/{name}", self.root),
        }
    }

    /// Removes the whole part.
    fn forget(&self, gone: &mut Removals) {
        for (name, _) in self.nodes().0 {
            gone.add(self.path(&name));
        }
    }
}

/// Paths to be removed, without those below another removed path.
#[derive(Default)]
struct Removals(BTreeSet<String>);

impl Removals {
    fn add(&mut self, path: String) {
        self.0.insert(path);
    }

    fn covers(&self, path: &str) -> bool {
        !self.0.is_empty()
            && path
                .match_indices('/')
                .map(|(at, _)| &path[..at])
                .chain([path])
                .any(|above| self.0.contains(above))
    }

    fn edits(&self) -> Vec<Edit> {
        let mut kept: Vec<&String> = Vec::new();
        for path in &self.0 {
            let above = path.rfind('/').map_or("", |at| &path[..at]);
            if !self.covers(above) {
                kept.push(path);
            }
        }
        kept.into_iter()
            .map(|path| Edit::Remove(TreePath::new(path)))
            .collect()
    }
}

fn place(part: &Part<'_>, nodes: &mut BTreeMap<String, Node>) {
    for (name, node) in part.nodes().0 {
        nodes.insert(part.path(&name), node);
    }
}

fn compare(
    old: &Part<'_>,
    new: &Part<'_>,
    gone: &mut Removals,
    fresh: &mut BTreeMap<String, Node>,
) {
    if let (Some(before), Some(after)) = (old.counters(), new.counters())
        && before.keys().eq(after.keys())
    {
        let mut nodes = Nodes::default();
        for ((name, before), after) in before.iter().zip(after.values()) {
            if before != after {
                rdma::counter(name.to_string(), after, &mut nodes);
            }
        }
        fresh.extend(
            nodes
                .0
                .into_iter()
                .map(|(name, node)| (new.path(&name), node)),
        );
        return;
    }
    let (old_nodes, new_nodes) = (old.nodes().0, new.nodes().0);
    let same_names = old_nodes.len() == new_nodes.len()
        && old_nodes
            .iter()
            .zip(&new_nodes)
            .all(|((a, _), (b, _))| a == b);
    if same_names {
        for ((_, before), (name, after)) in old_nodes.into_iter().zip(new_nodes) {
            if before != after {
                fresh.insert(new.path(&name), after);
            }
        }
        return;
    }
    let mut before: BTreeMap<_, _> = old_nodes.into_iter().collect();
    for (name, node) in new_nodes {
        match before.remove(&name) {
            Some(was) if was == node => {}
            Some(was) => {
                if std::mem::discriminant(&was) != std::mem::discriminant(&node) {
                    gone.add(new.path(&name));
                }
                fresh.insert(new.path(&name), node);
            }
            None => {
                fresh.insert(new.path(&name), node);
            }
        }
    }
    for name in before.into_keys() {
        gone.add(old.path(&name));
    }
}

/// The parts of a machine; with another machine given, only those that differ from it.
fn parts<'a>(
    machine: &'a Machine,
    other: Option<(&Machine, &BTreeSet<PciAddress>)>,
) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    host::parts(machine, other, &mut parts);
    for (pci, function) in &machine.functions {
        if other.is_none_or(|(_, touched)| touched.contains(pci)) {
            pci_function::parts(machine, function, &mut parts);
        }
    }
    parts
}
