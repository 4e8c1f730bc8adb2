//! How edits become nodes: what is made, what keeps its number, and what goes.

use std::collections::BTreeMap;

use crate::{
    Edit, NodeId, NodeKind, Stale, Tree, TreePath,
    node::{Body, Node},
};

impl Tree {
    pub(super) fn apply_one(&mut self, edit: &Edit, stale: &mut Vec<Stale>) {
        let path = edit.path();
        match edit {
            Edit::Folder(path) => {
                self.make_folder(path, stale);
            }
            Edit::Remove(path) => self.remove(path, stale),
            _ if path.is_empty() => {}
            Edit::File { value, .. } => match self.get(path).and_then(|id| self.node_mut(id)) {
                Some(Node {
                    body: Body::File(old),
                    ..
                }) => old.clone_from(value),
                _ => self.replace(path, Body::File(value.clone()), stale),
            },
            Edit::Link { target, .. } => self.apply_link(path, target, stale),
            Edit::Stream(_) => self.append(path, &[], stale),
            Edit::Append { bytes, .. } => self.append(path, bytes, stale),
        }
    }

    fn apply_link(&mut self, path: &TreePath, target: &str, stale: &mut Vec<Stale>) {
        match self.get(path).and_then(|id| Some((id, self.node_mut(id)?))) {
            Some((
                _,
                Node {
                    body: Body::Link(old),
                    ..
                },
            )) if **old == *target => {}
            Some((
                id,
                Node {
                    body: Body::Link(old),
                    ..
                },
            )) => {
                *old = target.into();
                self.structure += 1;
                stale.push(Stale::Inode(id));
            }
            _ => self.replace(path, Body::Link(target.into()), stale),
        }
    }

    fn append(&mut self, path: &TreePath, bytes: &[u8], stale: &mut Vec<Stale>) {
        match self.get(path).and_then(|id| self.node_mut(id)) {
            Some(Node {
                body: Body::Stream(old),
                ..
            }) => old.extend_from_slice(bytes),
            _ => self.replace(path, Body::Stream(bytes.to_vec()), stale),
        }
    }

    pub(super) fn make_folder(&mut self, path: &TreePath, stale: &mut Vec<Stale>) -> NodeId {
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
                    self.add(at, part, Body::Folder(BTreeMap::new()))
                }
            };
        }
        at
    }

    fn replace(&mut self, path: &TreePath, body: Body, stale: &mut Vec<Stale>) {
        if let Some(old) = self.get(path) {
            self.remove_node(old, stale);
        }
        let parent = self.make_folder(&path.parent().unwrap_or_default(), stale);
        self.structure += 1;
        self.note_arrival(parent, path.name(), stale);
        self.add(parent, path.name(), body);
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
        self.detach(id);
        self.bury(id);
        self.structure += 1;
    }

    /// A name that a kernel may hold for the ghost now belongs to a real node.
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

    /// The anchor's parents are there, and the writable folder is known as such.
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
