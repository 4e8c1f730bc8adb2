//! The tree: numbered nodes, changed by sets of edits.
//!
//! A tree has names, links and content; rules, trace and open files are in [`Fs`](crate::Fs). Start at
//! [`Tree::apply`] and [`Tree::resolve`].

mod epoch;
mod walk;

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    Edit, Errno, FileValue, NodeId, NodeKind, Stale, TreePath,
    node::{Body, Node},
    pages::Pages,
};

use epoch::LastFolder;
pub(crate) use walk::Walk;

/// A tree of folders, files, links and streams.
///
/// The number of a node is never reused. A path in an [`Edit`] is canonical: it leads through folders
/// only, not through links.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Shared with the original of a clone until either changes a node.
    nodes: Pages<Arc<Node>>,
    /// The number of the next node.
    next: usize,
    structure: u64,
    writable: Option<TreePath>,
    anchor: Option<Anchor>,
}

/// A name that always resolves; see [`Tree::set_anchor`].
#[derive(Clone, Debug)]
struct Anchor {
    path: TreePath,
    parent: NodeId,
    ghost: NodeId,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// A tree with a root only.
    #[must_use]
    pub fn new() -> Self {
        let root = Node {
            parent: NodeId::ROOT,
            name: "".into(),
            body: Body::Folder(BTreeMap::new()),
            writable: false,
        };
        let mut nodes = Pages::default();
        nodes.set(NodeId::ROOT.index(), Arc::new(root));
        Self {
            nodes,
            next: NodeId::ROOT.index() + 1,
            structure: 0,
            writable: None,
            anchor: None,
        }
    }

    /// Applies the edits in order, and returns what a kernel that serves the tree must invalidate.
    ///
    /// An edit always succeeds. Missing parent folders are created; a node of another kind at the path
    /// is removed with everything below it, and a node that keeps its kind keeps its number. The root
    /// stays: an edit that would replace it does nothing, and removing it empties it.
    pub fn apply(&mut self, edits: &[Edit]) -> Vec<Stale> {
        let mut stale = Vec::new();
        let mut last = LastFolder::default();
        let before = self.structure;
        for edit in edits {
            self.apply_one(edit, &mut last, &mut stale);
        }
        if self.structure != before {
            self.keep_promises(&mut stale);
        }
        stale
    }

    /// A number that changes whenever a name or a link does, but not for content. Changes of names in
    /// the writable folder by its reader do not count.
    #[must_use]
    pub fn structure(&self) -> u64 {
        self.structure
    }

    /// The number of nodes, including the root.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.iter().count()
    }

    /// The node at a canonical path, if there is one; links are not followed.
    #[must_use]
    pub fn get(&self, path: &TreePath) -> Option<NodeId> {
        self.walk_to(path)
    }

    fn walk_to(&self, path: &str) -> Option<NodeId> {
        path.split('/')
            .filter(|part| !part.is_empty())
            .try_fold(NodeId::ROOT, |at, part| self.child(at, part))
    }

    /// The kind of a node; `None` if it was removed.
    #[must_use]
    pub fn kind(&self, node: NodeId) -> Option<NodeKind> {
        self.node(node).map(|node| node.body.kind())
    }

    /// The content of a file; `None` if the node is not a file or was removed.
    #[must_use]
    pub fn value(&self, node: NodeId) -> Option<&FileValue> {
        match &self.node(node)?.body {
            Body::File(value) => Some(value),
            _ => None,
        }
    }

    /// The target of a link, as written; `None` if the node is not a link or was removed.
    #[must_use]
    pub fn target(&self, node: NodeId) -> Option<&str> {
        match &self.node(node)?.body {
            Body::Link(target) => Some(target),
            _ => None,
        }
    }

    /// The names in a folder and their nodes, by name; empty if the node is not a folder or was
    /// removed.
    pub fn children(&self, folder: NodeId) -> impl Iterator<Item = (&str, NodeId)> {
        let map = match self.node(folder).map(|node| &node.body) {
            Some(Body::Folder(children)) => Some(children),
            _ => None,
        };
        map.into_iter()
            .flatten()
            .map(|(name, node)| (&**name, *node))
    }

    /// The node of this name in a folder; links are not followed.
    #[must_use]
    pub fn child(&self, folder: NodeId, name: &str) -> Option<NodeId> {
        match &self.node(folder)?.body {
            Body::Folder(children) => children.get(name).copied(),
            _ => None,
        }
    }

    /// The canonical path of a node; `None` if it was removed.
    #[must_use]
    pub fn path_of(&self, node: NodeId) -> Option<TreePath> {
        let mut names = Vec::new();
        let mut at = node;
        while at != NodeId::ROOT {
            let node = self.node(at)?;
            names.push(&*node.name);
            at = node.parent;
        }
        names.reverse();
        Some(TreePath::new(&names.join("/")))
    }

    /// The folder of a node (the root's is itself); `None` if the node was removed.
    #[must_use]
    pub fn parent_of(&self, node: NodeId) -> Option<NodeId> {
        self.node(node).map(|node| node.parent)
    }

    /// Resolves a path from the root, following links like a kernel.
    ///
    /// # Errors
    /// `ENOENT` if a name is missing, `ENOTDIR` if the path leads through a node that is not a folder,
    /// `ELOOP` beyond 40 links.
    pub fn resolve(&self, path: &str) -> Result<NodeId, Errno> {
        Walk::new(self, None).from(NodeId::ROOT, path, true)
    }

    /// Makes this name always resolve: to its node, or otherwise to a ghost, an empty folder with its
    /// own number that no listing shows. Its parent folders are created, and created again when they
    /// are removed.
    pub(crate) fn set_anchor(&mut self, path: &TreePath) -> Vec<Stale> {
        let mut stale = Vec::new();
        let parent = self.make_folder(&path.parent().unwrap_or_default(), &mut stale);
        let ghost = self.push(Node {
            parent,
            name: path.name().into(),
            body: Body::Folder(BTreeMap::new()),
            writable: false,
        });
        self.anchor = Some(Anchor {
            path: path.clone(),
            parent,
            ghost,
        });
        self.structure += 1;
        stale
    }

    /// The ghost's node, if there is an anchor.
    pub(crate) fn ghost(&self) -> Option<NodeId> {
        self.anchor.as_ref().map(|anchor| anchor.ghost)
    }

    /// The node that has the anchor's name, if any.
    pub(crate) fn anchored(&self) -> Option<NodeId> {
        let anchor = self.anchor.as_ref()?;
        self.child(anchor.parent, anchor.path.name())
    }

    /// Makes this folder, and everything below it now and later, writable.
    pub(crate) fn set_writable(&mut self, path: &TreePath) -> Vec<Stale> {
        let mut stale = Vec::new();
        self.writable = Some(path.clone());
        self.make_folder(path, &mut stale);
        self.keep_promises(&mut stale);
        stale
    }

    pub(crate) fn writable_root(&self) -> Option<NodeId> {
        self.writable.as_ref().and_then(|path| self.get(path))
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index()).map(AsRef::as_ref)
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.nodes.get_mut(id.index()).map(Arc::make_mut)
    }

    /// Every node, by number.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.nodes
            .iter()
            .map(|(index, _)| NodeId::from_index(index))
    }

    /// Every link, by number.
    pub(crate) fn links(&self) -> impl Iterator<Item = NodeId> {
        self.nodes()
            .filter(|id| self.kind(*id) == Some(NodeKind::Link))
    }

    /// Changes the structure number although no edit was made, because links read differently.
    pub(crate) fn touch_structure(&mut self) {
        self.structure += 1;
    }

    /// Adds a new node to a folder that has no such name.
    pub(crate) fn add(&mut self, parent: NodeId, name: &str, body: Body) -> NodeId {
        let writable = self.node(parent).is_some_and(|node| node.writable);
        let id = self.push(Node {
            parent,
            name: name.into(),
            body,
            writable,
        });
        self.enter(parent, name, id);
        id
    }

    /// Removes a node from its folder. It stays available by number until [`Tree::bury`].
    pub(crate) fn detach(&mut self, id: NodeId) {
        let Some(node) = self.node(id) else { return };
        let (parent, name) = (node.parent, node.name.clone());
        if let Some(Node {
            body: Body::Folder(children),
            ..
        }) = self.node_mut(parent)
            && children.get(&name) == Some(&id)
        {
            children.remove(&name);
        }
    }

    /// Deletes a detached node and everything below it.
    pub(crate) fn bury(&mut self, id: NodeId) {
        let Some(node) = self.nodes.take(id.index()) else {
            return;
        };
        if let Body::Folder(children) = &node.body {
            for child in children.values() {
                self.bury(*child);
            }
        }
    }

    /// Attaches a detached node to a folder.
    pub(crate) fn attach(&mut self, id: NodeId, parent: NodeId, name: &str) {
        if let Some(node) = self.node_mut(id) {
            node.parent = parent;
            node.name = name.into();
        }
        self.enter(parent, name, id);
    }

    fn push(&mut self, node: Node) -> NodeId {
        let id = NodeId::from_index(self.next);
        self.nodes.set(id.index(), Arc::new(node));
        self.next += 1;
        id
    }

    fn enter(&mut self, parent: NodeId, name: &str, id: NodeId) {
        if let Some(Node {
            body: Body::Folder(children),
            ..
        }) = self.node_mut(parent)
        {
            children.insert(name.into(), id);
        }
    }
}
