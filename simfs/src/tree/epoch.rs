//! Applies edits to nodes: which nodes are created, kept and removed.

use std::collections::BTreeMap;

use crate::{
    Edit, NodeId, NodeKind, Stale, Tree, TreePath,
    node::{Body, Node},
};

/// The folder of the previous edit. Edits are sorted by path, so most are in the same folder as the
/// previous one, and the path is resolved only once.
///
/// It is valid for one set of edits, in which no folder moves.
#[derive(Default)]
pub(super) struct LastFolder<'e> {
    path: &'e str,
    node: Option<NodeId>,
}

impl Tree {
    pub(super) fn apply_one<'e>(
        &mut self,
        edit: &'e Edit,
        last: &mut LastFolder<'e>,
        stale: &mut Vec<Stale>,
    ) {
        let path = edit.path();
        let (folder, name) = path.in_two();
        let mut there = || {
            let folder = self.folder_at(folder, last)?;
            self.child(folder, name)
        };
        match edit {
            Edit::Folder(_) => {
                if there().is_none_or(|id| self.kind(id) != Some(NodeKind::Folder)) {
                    self.make_folder(path, stale);
                }
            }
            Edit::Remove(_) => self.remove(path, stale),
            _ if path.is_empty() => {}
            Edit::File { value, .. } => match there().and_then(|id| self.node_mut(id)) {
                Some(Node {
                    body: Body::File(old),
                    ..
                }) => old.clone_from(value),
                _ => self.replace(path, Body::File(value.clone()), last, stale),
            },
            Edit::Link { target, .. } => match there().and_then(|id| Some((id, self.node(id)?))) {
                Some((id, node)) if matches!(node.body, Body::Link(_)) => {
                    self.turn_link(id, target, stale);
                }
                _ => self.replace(path, Body::Link(target.as_str().into()), last, stale),
            },
            Edit::Stream(_) => self.append(path, &[], last, stale),
            Edit::Append { bytes, .. } => self.append(path, bytes, last, stale),
        }
    }

    /// The folder at a canonical path, if it exists.
    fn folder_at<'e>(&self, path: &'e str, last: &mut LastFolder<'e>) -> Option<NodeId> {
        let is_folder = |id: &NodeId| self.kind(*id) == Some(NodeKind::Folder);
        if last.path != path || !last.node.as_ref().is_some_and(is_folder) {
            *last = LastFolder {
                path,
                node: self.walk_to(path).filter(is_folder),
            };
        }
        last.node
    }

    fn turn_link(&mut self, id: NodeId, target: &str, stale: &mut Vec<Stale>) {
        if self.target(id) == Some(target) {
            return;
        }
        if let Some(node) = self.node_mut(id) {
            node.body = Body::Link(target.into());
            self.structure += 1;
            stale.push(Stale::Inode(id));
        }
    }

    fn append<'e>(
        &mut self,
        path: &'e TreePath,
        bytes: &[u8],
        last: &mut LastFolder<'e>,
        stale: &mut Vec<Stale>,
    ) {
        match self.get(path).and_then(|id| self.node_mut(id)) {
            Some(Node {
                body: Body::Stream(old),
                ..
            }) => old.extend_from_slice(bytes),
            _ => self.replace(path, Body::Stream(bytes.to_vec()), last, stale),
        }
    }

    pub(super) fn make_folder(&mut self, path: &str, stale: &mut Vec<Stale>) -> NodeId {
        let mut at = NodeId::ROOT;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            at = match self.child(at, part) {
                Some(id) if self.kind(id) == Some(NodeKind::Folder) => id,
                other => {
                    if let Some(id) = other {
                        self.remove_node(id, stale);
                    }
                    self.structure += 1;
                    self.note_arrival(at, part, stale);
                    // The folder above has one link more.
                    stale.push(Stale::Inode(at));
                    self.add(at, part, Body::Folder(BTreeMap::new()))
                }
            };
        }
        at
    }

    fn replace<'e>(
        &mut self,
        path: &'e TreePath,
        body: Body,
        last: &mut LastFolder<'e>,
        stale: &mut Vec<Stale>,
    ) {
        let (folder, name) = path.in_two();
        let parent = match self.folder_at(folder, last) {
            Some(parent) => {
                if let Some(old) = self.child(parent, name) {
                    self.remove_node(old, stale);
                }
                parent
            }
            None => {
                let made = self.make_folder(folder, stale);
                *last = LastFolder {
                    path: folder,
                    node: Some(made),
                };
                made
            }
        };
        self.structure += 1;
        self.note_arrival(parent, name, stale);
        self.add(parent, name, body);
    }

    fn remove(&mut self, path: &TreePath, stale: &mut Vec<Stale>) {
        if path.is_empty() {
            let children: Vec<NodeId> = self.children(NodeId::ROOT).map(|(_, id)| id).collect();
            children
                .into_iter()
                .for_each(|id| self.remove_node(id, stale));
        } else if let Some(id) = self.get(path) {
            self.remove_node(id, stale);
        }
    }

    fn remove_node(&mut self, id: NodeId, stale: &mut Vec<Stale>) {
        let Some(node) = self.node(id) else { return };
        stale.push(Stale::Entry {
            parent: node.parent,
            name: node.name.clone(),
        });
        if node.is_folder() {
            // The folder above has one link less.
            stale.push(Stale::Inode(node.parent));
        }
        self.detach(id);
        self.bury(id);
        self.structure += 1;
    }

    /// Invalidates a name that a kernel may have cached for the ghost and that now belongs to a real
    /// node.
    fn note_arrival(&self, parent: NodeId, name: &str, stale: &mut Vec<Stale>) {
        if self
            .anchor
            .as_ref()
            .is_some_and(|anchor| anchor.parent == parent && anchor.path.name() == name)
        {
            stale.push(Stale::Entry {
                parent,
                name: name.into(),
            });
        }
    }

    /// Ensures that the anchor's parents exist, and that the writable folder is marked.
    pub(super) fn keep_promises(&mut self, stale: &mut Vec<Stale>) {
        if let Some(path) = self
            .anchor
            .as_ref()
            .map(|anchor| anchor.path.parent().unwrap_or_default())
        {
            let parent = self.make_folder(&path, stale);
            let ghost = self.anchor.as_mut().map(|anchor| {
                anchor.parent = parent;
                anchor.ghost
            });
            if let Some(ghost) = ghost.and_then(|ghost| self.node_mut(ghost)) {
                ghost.parent = parent;
            }
        }
        if let Some(root) = self.writable_root()
            && self.node(root).is_some_and(|node| !node.writable)
        {
            self.mark_writable(root);
        }
    }

    fn mark_writable(&mut self, id: NodeId) {
        if let Some(node) = self.node_mut(id) {
            node.writable = true;
        }
        let below: Vec<NodeId> = self.children(id).map(|(_, child)| child).collect();
        below
            .into_iter()
            .for_each(|child| self.mark_writable(child));
    }
}
