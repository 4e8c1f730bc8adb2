//! A file system: a tree with rules, moments, a trace, an anchor and a writable folder.
//!
//! The same `Fs` type serves readers in memory (`client.rs`) and processes on a mount (`simfs-fuse`,
//! through `perform.rs`), so that both see the same behaviour. Start at [`Fs::apply`], [`Fs::arm`] and
//! [`Fs::read`].

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    Edit, Errno, MomentId, NodeId, NodeKind, OpCounts, OpMoment, Pattern, Rule, RuleId, SimTime,
    Stale, TraceEntry, Tree, TreePath,
    client::Progress,
    moment::Moments,
    name::{Name, Names},
    node::Body,
    routes::Routes,
    rule::Rules,
    trace::Trace,
    tree::Walk,
};

/// The size of every attribute in sysfs: one page (`sysfs_add_file_mode_ns`, `fs/sysfs/file.c`).
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
    /// Links that cannot be read at present because of rules.
    pub(crate) link_fails: BTreeMap<NodeId, Errno>,
    /// The number of descriptors that processes hold on files of the writable folder.
    pub(crate) opens: BTreeMap<NodeId, u64>,
    pub(crate) modes: BTreeMap<NodeId, u16>,
    /// The permission bits of files by name, outside the writable folder.
    named_modes: Arc<BTreeMap<Box<str>, u16>>,
    mtime_ns: u64,
    pub(crate) progress: Option<Progress>,
    pub(crate) routes: Routes,
    stale: Option<Vec<Stale>>,
}

/// The attributes of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attr {
    /// Its number.
    pub node: NodeId,
    /// Its kind.
    pub kind: NodeKind,
    /// Its size in bytes: 4096 for an attribute; the real size of a stream, a link, and a file of the
    /// writable folder.
    pub len: u64,
    /// Its permission bits.
    pub mode: u16,
    /// The number of its links: for a folder, two and one for each folder in it (`kernfs_refresh_inode`,
    /// `fs/kernfs/inode.c`).
    pub links: u32,
    /// When it was made, in nanoseconds since 1970-01-01T00:00:00Z.
    pub mtime_ns: u64,
    /// Whether it is the writable folder or below it.
    pub writable: bool,
}

impl Fs {
    /// A file system with a root only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The present tree.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Applies a set of edits, which become visible at once.
    pub fn apply(&mut self, edits: &[Edit]) {
        let stale = self.tree.apply(edits);
        self.note_stale(stale);
        self.settle_links();
    }

    /// Declares an alias folder, whose links give their names to their targets. If several such folders
    /// match, the first is used, and in it the link with the deepest target.
    pub fn alias_folder(&mut self, path: impl Into<TreePath>) {
        self.names.alias_folder(path.into());
    }

    /// Computes the names of all nodes, so that clones need not.
    pub fn know_names(&mut self) {
        self.names.know_all(&self.tree);
    }

    /// Makes a name always resolve, so that each listing of it reaches the server: if no node has the
    /// name, listing it fails with `ENOENT`, which is traced. Its parent folders are created.
    pub fn set_anchor(&mut self, path: impl Into<TreePath>) {
        let stale = self.tree.set_anchor(&path.into());
        self.note_stale(stale);
    }

    /// The node to be listed for the anchor: the node with its name, or its ghost; `None` without an
    /// anchor.
    #[must_use]
    pub fn anchor(&self) -> Option<NodeId> {
        self.tree.anchored().or(self.tree.ghost())
    }

    /// Whether this is the anchor or its ghost.
    #[must_use]
    pub fn is_anchor(&self, node: NodeId) -> bool {
        self.tree.ghost() == Some(node) || self.tree.anchored() == Some(node)
    }

    /// Creates a folder in which a reader may create, write, rename and remove. Everything else is
    /// read-only.
    pub fn set_writable(&mut self, path: impl Into<TreePath>) {
        let stale = self.tree.set_writable(&path.into());
        self.note_stale(stale);
    }

    /// Gives files with these names these permission bits, outside the writable folder; other files have 0444.
    /// A file that has a bit for writing can be opened for it, as an attribute of sysfs can: a write is an
    /// operation, and fails with `EROFS` unless a rule answers it.
    pub fn set_named_modes<'n>(&mut self, modes: impl IntoIterator<Item = (&'n str, u16)>) {
        let modes = modes.into_iter().map(|(name, mode)| (name.into(), mode));
        self.named_modes = Arc::new(modes.collect());
    }

    /// Sets the time of every node, in nanoseconds since 1970-01-01T00:00:00Z; 0 at first.
    pub fn set_mtime(&mut self, mtime_ns: u64) {
        self.mtime_ns = mtime_ns;
    }

    /// Adds a rule after the existing ones.
    pub fn arm(&mut self, rule: Rule) {
        self.rules.arm(rule);
        self.settle_links();
    }

    /// Makes a rule apply to other paths from now on; what it counted stays. Nothing happens if there is no such rule.
    pub fn move_rule(&mut self, id: RuleId, pattern: &Pattern) {
        self.rules.move_to(id, pattern);
        self.settle_links();
    }

    /// Removes a rule; returns whether it existed. Requests that it holds stay held.
    pub fn disarm(&mut self, id: RuleId) -> bool {
        let was = self.rules.disarm(id);
        self.settle_links();
        was
    }

    /// Removes every rule and every moment.
    pub fn disarm_all(&mut self) {
        self.rules.clear();
        self.moments.clear();
        self.settle_links();
    }

    /// The number of operations that a rule matched since it was armed; `None` if there is no such rule.
    #[must_use]
    pub fn rule_count(&self, id: RuleId) -> Option<u64> {
        self.rules.count(id)
    }

    /// Arms a moment.
    pub fn arm_moment(&mut self, moment: OpMoment) {
        self.moments.arm(moment);
    }

    /// Disarms a moment; returns whether it was armed. A moment that has come is not armed any more.
    pub fn disarm_moment(&mut self, id: MomentId) -> bool {
        self.moments.disarm(id)
    }

    /// Sets the time, which rules and the trace use.
    pub fn set_now(&mut self, now: SimTime) {
        self.now = now;
        self.settle_links();
    }

    /// The present time.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Starts a poll: the trace counts it, and moments forget the previous one.
    pub fn poll_begins(&mut self, now: SimTime) {
        self.poll += 1;
        self.progress = None;
        self.moments.poll_begins();
        self.trace.poll_begins();
        self.set_now(now);
    }

    /// Switches the trace on (the default) or off. Operations are counted in both cases.
    pub fn set_tracing(&mut self, on: bool) {
        self.trace.off = !on;
    }

    /// Returns the operations since the previous call. At most 65,536 are kept; see
    /// [`Fs::trace_dropped`].
    pub fn take_trace(&mut self) -> Vec<TraceEntry> {
        self.trace.take()
    }

    /// The number of trace entries that were dropped because they were not taken in time.
    #[must_use]
    pub fn trace_dropped(&self) -> u64 {
        self.trace.dropped()
    }

    /// How often each operation was done since the poll started.
    #[must_use]
    pub fn op_counts(&self) -> OpCounts {
        self.trace.counts()
    }

    /// From now on, collects what a kernel must invalidate for [`Fs::take_stale`].
    pub fn watch_stale(&mut self) {
        self.stale.get_or_insert_default();
    }

    /// What a kernel must invalidate because of changes since the previous call.
    pub fn take_stale(&mut self) -> Vec<Stale> {
        self.stale.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The node of a name in a folder; the anchor's name always has one.
    ///
    /// # Errors
    /// `ENOENT` if there is no such name or the folder was removed, `ENOTDIR` if it is not a folder.
    pub fn lookup(&self, folder: NodeId, name: &str) -> Result<NodeId, Errno> {
        Walk::new(&self.tree, None).from(self.real(folder), name, false)
    }

    /// The attributes of a node.
    ///
    /// # Errors
    /// `ENOENT` if it was removed.
    pub fn attr(&self, id: NodeId) -> Result<Attr, Errno> {
        let node = self.tree.node(id).ok_or(Errno::ENOENT)?;
        let kind = node.body.kind();
        let len = match &node.body {
            Body::Folder(_) => 0,
            Body::File(crate::FileValue::Bytes(bytes)) if node.writable => bytes.len() as u64,
            Body::File(_) => ATTRIBUTE_LEN,
            Body::Link(target) => target.len() as u64,
            Body::Stream(bytes) => bytes.len() as u64,
        };
        let usual = match (kind, node.writable) {
            (NodeKind::Folder, _) => 0o755,
            (NodeKind::Link, _) => 0o777,
            (_, true) => 0o644,
            (_, false) => self.named_modes.get(&node.name).copied().unwrap_or(0o444),
        };
        let folders = match &node.body {
            Body::Folder(children) => children
                .values()
                .filter(|child| self.tree.kind(**child) == Some(NodeKind::Folder))
                .count(),
            _ => 0,
        };
        let links = match kind {
            NodeKind::Folder => 2 + u32::try_from(folders).unwrap_or(u32::MAX - 2),
            _ => 1,
        };
        let mode = self.modes.get(&id).copied().unwrap_or(usual);
        Ok(Attr {
            node: id,
            kind,
            len,
            mode,
            links,
            mtime_ns: self.mtime_ns,
            writable: node.writable,
        })
    }

    /// The target of a link, unless a rule on [`Op::ReadLink`](crate::Op::ReadLink) forbids it.
    ///
    /// # Errors
    /// `ENOENT` if it was removed, `EINVAL` if it is not a link, otherwise the rule's error.
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
    /// `ENOENT` if it was removed, `EROFS` elsewhere.
    pub fn set_mode(&mut self, id: NodeId, mode: u16) -> Result<(), Errno> {
        if !self.attr(id)?.writable {
            return Err(Errno::EROFS);
        }
        self.modes.insert(id, mode & 0o7777);
        Ok(())
    }

    /// Records that a process opened a descriptor on a node. A file of the writable folder lives as long
    /// as one is open, even without a name.
    pub fn opened(&mut self, id: NodeId) {
        if self.tree.node(id).is_some_and(|node| node.writable) {
            *self.opens.entry(id).or_default() += 1;
        }
    }

    /// Records that a process closed a descriptor.
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

    /// Resolves a path for a reader, with rules on links.
    pub(crate) fn resolve(&mut self, path: &str) -> Result<NodeId, Errno> {
        let structure = self.tree.structure();
        if let Some(node) = self.routes.node(structure, path) {
            return Ok(node);
        }
        let mut walk = Walk::new(&self.tree, Some(&self.link_fails));
        let found = walk.from(NodeId::ROOT, path, true)?;
        // Changes of names in the writable folder do not change the structure number.
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

    /// Deletes a node that has no name, unless a process has it open.
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

    /// Computes which links cannot be read at present. Rules on links are rare, so all links are checked
    /// on every change while there is one.
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
