//! A file system: a tree with its rules, moments, trace, anchor and writable folder.
//!
//! One `Fs` serves a reader in memory (`client.rs`) and processes on a mount (`simfs-fuse`, by way
//! of `perform.rs`), so that both meet the same story. Start at [`Fs::apply`], [`Fs::arm`] and
//! [`Fs::read`].

use std::collections::BTreeMap;

use crate::{
    Edit, Errno, Moment, MomentId, NodeId, NodeKind, OpCounts, Rule, RuleId, SimTime, Stale,
    TraceEntry, Tree, TreePath,
    client::Progress,
    moment::Moments,
    name::{Name, Names},
    node::Body,
    routes::Routes,
    rule::Rules,
    trace::Trace,
    tree::Walk,
};

/// The size that sysfs says every attribute has: one page (`sysfs_add_file_mode_ns`, `fs/sysfs/file.c`).
const ATTRIBUTE_LEN: u64 = 4096;

/// A file system in memory.
#[derive(Clone, Debug, Default)]
pub struct Fs {
    pub(crate) tree: Tree,
    pub(crate) rules: Rules,
    pub(crate) moments: Moments,
    pub(crate) trace: Trace,
    pub(crate) names: Names,
    pub(crate) now: SimTime,
    pub(crate) poll: u64,
    /// Links that cannot be read now, by rules.
    pub(crate) link_fails: BTreeMap<NodeId, Errno>,
    /// How many descriptors processes hold on files of the writable folder.
    pub(crate) opens: BTreeMap<NodeId, u64>,
    pub(crate) modes: BTreeMap<NodeId, u16>,
    pub(crate) progress: Option<Progress>,
    pub(crate) routes: Routes,
    stale: Option<Vec<Stale>>,
}

/// What a node is like from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attr {
    /// Its number.
    pub node: NodeId,
    /// What sort of node it is.
    pub kind: NodeKind,
    /// Its size in bytes, as its kind has it: always 4096 for an attribute, true for a stream, for
    /// a link, and in the writable folder.
    pub len: u64,
    /// Its permission bits.
    pub mode: u16,
    /// It is the writable folder or lies in it.
    pub writable: bool,
}

impl Fs {
    /// A file system with nothing but a root.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The tree as it is now.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Makes a set of edits visible at once.
    pub fn apply(&mut self, edits: &[Edit]) {
        let stale = self.tree.apply(edits);
        self.note_stale(stale);
        self.settle_links();
    }

    /// Lets the links of a folder lend their names to what they lead to. Of several such folders
    /// the first that fits wins, and in it the link that leads deepest.
    pub fn alias_folder(&mut self, path: impl Into<TreePath>) {
        self.names.alias_folder(path.into());
    }

    /// Works out the names of all nodes: what is cloned from here need not.
    pub fn know_names(&mut self) {
        self.names.know_all(&self.tree);
    }

    /// Makes a name one that always resolves, so that each listing of it reaches the server: where
    /// nothing bears it, listing it ends with `ENOENT`, which is traced. Its parents are made.
    pub fn set_anchor(&mut self, path: impl Into<TreePath>) {
        let stale = self.tree.set_anchor(&path.into());
        self.note_stale(stale);
    }

    /// The node to list for the anchor now: the one that bears its name, or its ghost; `None`
    /// without an anchor.
    #[must_use]
    pub fn anchor(&self) -> Option<NodeId> {
        self.tree.anchored().or(self.tree.ghost())
    }

    /// Whether this is the anchor, there or not.
    #[must_use]
    pub fn is_anchor(&self, node: NodeId) -> bool {
        self.tree.ghost() == Some(node) || self.tree.anchored() == Some(node)
    }

    /// Makes a folder in which a reader may create, write, rename and remove. All else is
    /// read-only.
    pub fn set_writable(&mut self, path: impl Into<TreePath>) {
        let stale = self.tree.set_writable(&path.into());
        self.note_stale(stale);
    }

    /// Puts a rule in force, behind those that are.
    pub fn arm(&mut self, rule: Rule) {
        self.rules.arm(rule);
        self.settle_links();
    }

    /// Ends a rule; whether there was one. What it holds stays held.
    pub fn disarm(&mut self, id: RuleId) -> bool {
        let was = self.rules.disarm(id);
        self.settle_links();
        was
    }

    /// Ends every rule and forgets every moment.
    pub fn disarm_all(&mut self) {
        self.rules.clear();
        self.moments.clear();
        self.settle_links();
    }

    /// How many operations a rule was about since it was armed, or `None` if there is no such rule.
    #[must_use]
    pub fn rule_count(&self, id: RuleId) -> Option<u64> {
        self.rules.count(id)
    }

    /// Awaits a moment.
    pub fn arm_moment(&mut self, moment: Moment) {
        self.moments.arm(moment);
    }

    /// Awaits a moment no more; whether it was awaited. One that has come is awaited no more.
    pub fn disarm_moment(&mut self, id: MomentId) -> bool {
        self.moments.disarm(id)
    }

    /// What time it is: rules go by it, and the trace tells it.
    pub fn set_now(&mut self, now: SimTime) {
        self.now = now;
        self.settle_links();
    }

    /// What time it is.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// A poll begins: the trace counts it, and what moments remember of the one before is gone.
    pub fn poll_begins(&mut self, now: SimTime) {
        self.poll += 1;
        self.progress = None;
        self.moments.poll_begins();
        self.trace.poll_begins();
        self.set_now(now);
    }

    /// Switches the trace on (as it is at first) or off. Operations are counted all the same.
    pub fn set_tracing(&mut self, on: bool) {
        self.trace.off = !on;
    }

    /// The operations since the trace was last taken. At most 65,536 are kept; see
    /// [`Fs::trace_dropped`].
    pub fn take_trace(&mut self) -> Vec<TraceEntry> {
        self.trace.take()
    }

    /// How many entries the trace has lost because nobody took them.
    #[must_use]
    pub fn trace_dropped(&self) -> u64 {
        self.trace.dropped()
    }

    /// How often each operation was done since the poll began.
    #[must_use]
    pub fn op_counts(&self) -> OpCounts {
        self.trace.counts()
    }

    /// From now on, keeps what a kernel must forget until [`Fs::take_stale`].
    pub fn watch_stale(&mut self) {
        self.stale.get_or_insert_default();
    }

    /// What a kernel must forget because of what was done since it was last asked.
    pub fn take_stale(&mut self) -> Vec<Stale> {
        self.stale.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The node of a name in a folder; the anchor's name always has one.
    ///
    /// # Errors
    /// `ENOENT` if there is no such name or the folder has gone, `ENOTDIR` if it is no folder.
    pub fn lookup(&self, folder: NodeId, name: &str) -> Result<NodeId, Errno> {
        Walk::new(&self.tree, None).from(self.real(folder), name, false)
    }

    /// What a node is like from outside.
    ///
    /// # Errors
    /// `ENOENT` if it has gone.
    pub fn attr(&self, id: NodeId) -> Result<Attr, Errno> {
        let node = self.tree.node(id).ok_or(Errno::ENOENT)?;
        let kind = node.body.kind();
        let len = match &node.body {
            Body::Folder(_) => 0,
            Body::File(crate::Value::Bytes(bytes)) if node.writable => bytes.len() as u64,
            Body::File(_) => ATTRIBUTE_LEN,
            Body::Link(target) => target.len() as u64,
            Body::Stream(bytes) => bytes.len() as u64,
        };
        let usual = match (kind, node.writable) {
            (NodeKind::Folder, _) => 0o755,
            (NodeKind::Link, _) => 0o777,
            (_, true) => 0o644,
            (_, false) => 0o444,
        };
        let mode = self.modes.get(&id).copied().unwrap_or(usual);
        Ok(Attr {
            node: id,
            kind,
            len,
            mode,
            writable: node.writable,
        })
    }

    /// What a link says, unless a rule on [`Op::ReadLink`](crate::Op::ReadLink) forbids it.
    ///
    /// # Errors
    /// `ENOENT` if it has gone, `EINVAL` if it is no link, else the rule's error.
    pub fn target(&self, id: NodeId) -> Result<&str, Errno> {
        if let Some(errno) = self.link_fails.get(&id) {
            return Err(*errno);
        }
        let node = self.tree.node(id).ok_or(Errno::ENOENT)?;
        match &node.body {
            Body::Link(target) => Ok(target),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Sets the permission bits of a node of the writable folder.
    ///
    /// # Errors
    /// `ENOENT` if it has gone, `EROFS` elsewhere.
    pub fn set_mode(&mut self, id: NodeId, mode: u16) -> Result<(), Errno> {
        if !self.attr(id)?.writable {
            return Err(Errno::EROFS);
        }
        self.modes.insert(id, mode & 0o7777);
        Ok(())
    }

    /// A process holds one more descriptor on a node. A file of the writable folder lives while
    /// one is held, also without a name.
    pub fn opened(&mut self, id: NodeId) {
        if self.tree.node(id).is_some_and(|node| node.writable) {
            *self.opens.entry(id).or_default() += 1;
        }
    }

    /// A process has closed a descriptor.
    pub fn closed(&mut self, id: NodeId) {
        let Some(held) = self.opens.get_mut(&id) else {
            return;
        };
        *held -= 1;
        if *held == 0 {
            self.opens.remove(&id);
            if !self.has_name(id) {
                self.end(id);
            }
        }
    }

    /// Where a path leads for a reader, with rules on links.
    pub(crate) fn resolve(&mut self, path: &str) -> Result<NodeId, Errno> {
        let structure = self.tree.structure();
        if let Some(node) = self.routes.node(structure, path) {
            return Ok(node);
        }
        let mut walk = Walk::new(&self.tree, Some(&self.link_fails));
        let found = walk.from(NodeId::ROOT, path, true)?;
        // Names in the writable folder change without a new structure number.
        if !walk.met_writable {
            self.routes.learn(path, found);
        }
        Ok(found)
    }

    pub(crate) fn real(&self, folder: NodeId) -> NodeId {
        if self.tree.ghost() == Some(folder) {
            self.anchor().unwrap_or(folder)
        } else {
            folder
        }
    }

    pub(crate) fn has_name(&self, id: NodeId) -> bool {
        self.tree
            .node(id)
            .is_some_and(|node| self.tree.child(node.parent, &node.name) == Some(id))
    }

    /// Ends a node that has no name, unless somebody holds it.
    pub(crate) fn end(&mut self, id: NodeId) {
        if !self.opens.contains_key(&id) {
            self.tree.bury(id);
            self.modes.remove(&id);
        }
    }

    pub(crate) fn note_stale(&mut self, stale: Vec<Stale>) {
        if let Some(all) = &mut self.stale {
            all.extend(stale);
        }
    }

    /// Works out which links cannot be read now. Rules on links are rare, so all links are looked
    /// at whenever something changes while there is one.
    fn settle_links(&mut self) {
        if self.link_fails.is_empty() && !self.rules.any_on_links() {
            return;
        }
        let mut fails = BTreeMap::new();
        let links: Vec<NodeId> = self.tree.links().collect();
        for link in links {
            if let Some(name) = self.names.of(&self.tree, link)
                && let Some(errno) =
                    self.rules
                        .link_fails(&Name::place(&name), self.now, &self.tree)
            {
                fails.insert(link, errno);
            }
        }
        if fails == self.link_fails {
            return;
        }
        let changed: Vec<Stale> = self
            .link_fails
            .keys()
            .chain(fails.keys())
            .filter(|link| self.link_fails.get(link) != fails.get(link))
            .map(|link| Stale::Inode(*link))
            .collect();
        self.link_fails = fails;
        self.tree.touch_structure();
        self.note_stale(changed);
    }
}
