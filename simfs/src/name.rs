//! Names of nodes in traces.
//!
//! A process reaches a device's file through a class link, but a server sees only the node at the
//! end. Therefore links in alias folders give their names: a file of the device that
//! `sys/class/infiniband/mlx5_0` leads to is shown as `sys/class/infiniband/mlx5_0/…`, by whichever
//! path it was reached.

use std::{collections::BTreeMap, sync::Arc};

use crate::{NodeId, NodeKind, Tree, TreePath, pages::Pages, pattern::Place};

/// The two names of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// The path in the tree.
    pub(crate) canonical: Arc<str>,
    /// The name through an alias folder, otherwise the path in the tree.
    pub(crate) shown: Arc<str>,
    /// The rank of the alias folder that gives the name; the largest rank if none does.
    rank: usize,
}

impl Name {
    pub(crate) fn place(&self) -> Place<'_> {
        Place {
            canonical: &self.canonical,
            shown: &self.shown,
        }
    }

    /// The name of a child of the node with this name.
    fn below(&self, name: &str) -> Self {
        let join = |base: &str| -> Arc<str> {
            if base.is_empty() {
                name.into()
            } else {
                format!("{base}/{name}").into()
            }
        };
        let canonical = join(&self.canonical);
        let shown = if self.rank == usize::MAX {
            Arc::clone(&canonical)
        } else {
            join(&self.shown)
        };
        Self {
            canonical,
            shown,
            rank: self.rank,
        }
    }
}

/// A cache of the names of nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    alias_folders: Vec<TreePath>,
    /// The structure number of the tree for which `led_to` is valid.
    structure: Option<u64>,
    /// The targets of links in alias folders: the rank of the folder and the link's path.
    led_to: Arc<BTreeMap<NodeId, (usize, TreePath)>>,
    /// By node number. A node keeps its name while it exists and the same links lead to it and to the folders above it.
    known: Pages<Arc<Name>>,
}

impl Names {
    pub(crate) fn alias_folder(&mut self, folder: TreePath) {
        self.alias_folders.push(folder);
        self.structure = None;
    }

    /// The name of a node; `None` if it was removed.
    pub(crate) fn of(&mut self, tree: &Tree, id: NodeId) -> Option<Arc<Name>> {
        if self.structure != Some(tree.structure()) {
            self.learn(tree);
        }
        // Changes of names in the writable folder do not change the structure number.
        let is_fixed = !tree.node(id)?.writable;
        if is_fixed && let Some(name) = self.known.get(id.index()) {
            return Some(Arc::clone(name));
        }
        let name = Arc::new(self.make(tree, id)?);
        if is_fixed {
            self.known.set(id.index(), Arc::clone(&name));
        }
        Some(name)
    }

    /// Computes the names of all nodes.
    pub(crate) fn know_all(&mut self, tree: &Tree) {
        for id in tree.nodes() {
            self.of(tree, id);
        }
    }

    /// The name of an entry of a folder, whether it exists or not.
    pub(crate) fn below(&mut self, tree: &Tree, folder: NodeId, name: &str) -> Option<Arc<Name>> {
        self.of(tree, folder)
            .map(|folder| Arc::new(folder.below(name)))
    }

    /// A node's name consists of its folder's and its own, unless a link of an alias folder leads
    /// to it: of two links in folders of the same rank the one with the deeper target is used,
    /// which is this.
    fn make(&mut self, tree: &Tree, id: NodeId) -> Option<Name> {
        let node = tree.node(id)?;
        if id == NodeId::ROOT {
            let nothing: Arc<str> = "".into();
            return Some(Name {
                canonical: Arc::clone(&nothing),
                shown: nothing,
                rank: usize::MAX,
            });
        }
        let name = self.of(tree, node.parent)?.below(&node.name);
        match self.led_to.get(&id) {
            Some((rank, link)) if *rank <= name.rank => Some(Name {
                shown: link.as_str().into(),
                rank: *rank,
                ..name
            }),
            _ => Some(name),
        }
    }

    fn learn(&mut self, tree: &Tree) {
        let mut led_to = BTreeMap::new();
        for (rank, folder) in self.alias_folders.iter().enumerate() {
            let Some(id) = tree.get(folder) else { continue };
            for (name, child) in tree.children(id) {
                if tree.kind(child) != Some(NodeKind::Link) {
                    continue;
                }
                let link = folder.join(name);
                if let Ok(target) = tree.resolve(&link)
                    && target != NodeId::ROOT
                {
                    led_to.entry(target).or_insert((rank, link));
                }
            }
        }
        self.structure = Some(tree.structure());
        if led_to == *self.led_to {
            return;
        }
        let before = std::mem::replace(&mut self.led_to, Arc::new(led_to));
        let now = Arc::clone(&self.led_to);
        let both = before.keys().chain(now.keys());
        for target in both.filter(|target| before.get(target) != now.get(target)) {
            self.forget(tree, *target);
        }
    }

    /// Forgets the names of a node and of everything below it.
    fn forget(&mut self, tree: &Tree, id: NodeId) {
        self.known.take(id.index());
        for (_, child) in tree.children(id) {
            self.forget(tree, child);
        }
    }
}
