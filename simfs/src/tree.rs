//! The tree: nodes with numbers, changed by whole edit sets.
//!
//! A tree knows names, links and bytes. It has no rules, no trace and no open files; those are
//! the work of [`Fs`](crate::Fs). Start at [`Tree::apply`] and [`Tree::resolve`].

mod epoch;
mod walk;

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    Edit, Errno, NodeId, NodeKind, Stale, TreePath, Value,
    node::{Body, Node},
};

use epoch::LastFolder;
pub(crate) use walk::Walk;

/// A tree of folders, files, links and streams.
///
/// Every node has a number that is never given to another node. A path in an [`Edit`] is canonical:
/// it leads through folders, never through links.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Shared with the trees that this one was cloned from, until one of them changes a node.
    nodes: Vec<Option<Arc<Node>>>,
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
    /// A tree with nothing but its root.
    #[must_use]
    pub fn new() -> Self {
        let root = Node {
            parent: NodeId::ROOT,
            name: "".into(),
            body: Body::Folder(BTreeMap::new()),
            writable: false,
        };
        Self {
            nodes: vec![None, Some(Arc::new(root))],
            structure: 0,
            writable: None,
            anchor: None,
        }
    }

    /// Makes every edit, in order, and says what a kernel that serves the tree must forget.
    ///
    /// An edit always succeeds. Folders on the way are made; a node of another kind that stands in
    /// the way of a new one is removed with all that is below it, and a node that keeps its kind keeps
    /// its number. The root stays: an edit that would replace it does nothing, and removing it
    /// empties it.
    pub fn apply(&mut self, edits: &[Edit]) -> Vec<Stale> {
        let mut stale = Vec::new();
        let mut last = LastFolder::default();
        for edit in edits {
            self.apply_one(edit, &mut last, &mut stale);
        }
        self.keep_promises(&mut stale);
        stale
    }

    /// A number that changes whenever a name or a link does, and not when only bytes do. Names in
    /// the writable folder do not count when its owner changes them.
    #[must_use]
    pub fn structure(&self) -> u64 {
        self.structure
    }

    /// How many nodes there are, the root included.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.iter().flatten().count()
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

    /// What sort of node this is, or `None` if it has gone.
    #[must_use]
    pub fn kind(&self, node: NodeId) -> Option<NodeKind> {
        self.node(node).map(|node| node.body.kind())
    }

    /// What a file gives; `None` if the node is no file or has gone.
    #[must_use]
    pub fn value(&self, node: NodeId) -> Option<&Value> {
        match &self.node(node)?.body {
            Body::File(value) => Some(value),
            _ => None,
        }
    }

    /// What a link says, as written; `None` if the node is no link or has gone.
    #[must_use]
    pub fn target(&self, node: NodeId) -> Option<&str> {
        match &self.node(node)?.body {
            Body::Link(target) => Some(target),
            _ => None,
        }
    }

    /// The names in a folder and their nodes, by name; nothing if the node is no folder or has gone.
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

    /// The canonical path of a node, or `None` if it has gone.
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

    /// The folder that holds a node (the root holds itself), or `None` if the node has gone.
    #[must_use]
    pub fn parent_of(&self, node: NodeId) -> Option<NodeId> {
        self.node(node).map(|node| node.parent)
    }

    /// Where a path leads, from the root, through links, as a kernel walks it.
    ///
    /// # Errors
    /// `ENOENT` if a name is missing, `ENOTDIR` if the path leads through something that is no
    /// folder, `ELOOP` beyond 40 links.
    pub fn resolve(&self, path: &str) -> Result<NodeId, Errno> {
        Walk::new(self, None).from(NodeId::ROOT, path, true)
    }

    /// Makes this name one that always resolves: to the node that is there, or else to a ghost, an
    /// empty folder with a number of its own that no listing shows. Its parents are made, and made
    /// again when they go.
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

    /// The ghost's number, if there is an anchor.
    pub(crate) fn ghost(&self) -> Option<NodeId> {
        self.anchor.as_ref().map(|anchor| anchor.ghost)
    }

    /// The node that now bears the anchor's name, if any does.
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
        self.nodes.get(id.index())?.as_deref()
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.nodes.get_mut(id.index())?.as_mut().map(Arc::make_mut)
    }

    /// Every node, by number.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        let live = self.nodes.iter().enumerate();
        live.filter_map(|(index, node)| node.as_ref().map(|_| NodeId::from_index(index)))
    }

    /// Every link, by number.
    pub(crate) fn links(&self) -> impl Iterator<Item = NodeId> {
        self.nodes()
            .filter(|id| self.kind(*id) == Some(NodeKind::Link))
    }

    /// Says that links answer otherwise than before, though no edit was made.
    pub(crate) fn touch_structure(&mut self) {
        self.structure += 1;
    }

    /// Puts a new node into a folder that has no such name.
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

    /// Takes a node out of its folder. It lives on by its number until [`Tree::bury`].
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

    /// Ends a detached node and all that is below it.
    pub(crate) fn bury(&mut self, id: NodeId) {
        let Some(slot) = self.nodes.get_mut(id.index()) else {
            return;
        };
        let Some(node) = slot.take() else { return };
        if let Body::Folder(children) = &node.body {
            for child in children.values() {
                self.bury(*child);
            }
        }
    }

    /// Gives a detached node another place.
    pub(crate) fn attach(&mut self, id: NodeId, parent: NodeId, name: &str) {
        if let Some(node) = self.node_mut(id) {
            node.parent = parent;
            node.name = name.into();
        }
        self.enter(parent, name, id);
    }

    fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(Some(Arc::new(node)));
        NodeId::from_index(self.nodes.len() - 1)
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
