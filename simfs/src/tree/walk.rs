//! Resolves paths through folders and links, as a kernel does.

use std::collections::BTreeMap;

use crate::{Errno, NodeId, Tree, node::Body};

/// The number of links that one path may lead through: `MAXSYMLINKS`, `include/linux/namei.h`.
const LINKS_MAX: u32 = 40;

/// The resolution of one path.
pub(crate) struct Walk<'a> {
    tree: &'a Tree,
    fails: Option<&'a BTreeMap<NodeId, Errno>>,
    links: u32,
    /// Whether it passed through the writable folder, whose names change without a new structure
    /// number.
    pub(crate) met_writable: bool,
}

impl<'a> Walk<'a> {
    /// A resolution in which the links of `fails` cannot be read.
    pub(crate) fn new(tree: &'a Tree, fails: Option<&'a BTreeMap<NodeId, Errno>>) -> Self {
        Self {
            tree,
            fails,
            links: 0,
            met_writable: false,
        }
    }

    /// Resolves `path` from `start`; with `follow`, a link at the end is followed.
    pub(crate) fn from(
        &mut self,
        start: NodeId,
        path: &str,
        follow: bool,
    ) -> Result<NodeId, Errno> {
        let mut at = if path.starts_with('/') {
            NodeId::ROOT
        } else {
            start
        };
        let mut parts = path
            .split('/')
            .filter(|part| !matches!(*part, "" | "."))
            .peekable();
        while let Some(part) = parts.next() {
            let folder = self.tree.node(at).ok_or(Errno::ENOENT)?;
            let Body::Folder(children) = &folder.body else {
                return Err(Errno::ENOTDIR);
            };
            if part == ".." {
                at = folder.parent;
                continue;
            }
            let next = match children.get(part) {
                Some(id) => *id,
                None => self.ghost(at, part).ok_or(Errno::ENOENT)?,
            };
            let node = self
                .tree
                .node(next)
                .expect("a folder names only nodes that live");
            self.met_writable |= node.writable;
            at = match &node.body {
                Body::Link(target) if follow || parts.peek().is_some() => {
                    self.through(next, at, target)?
                }
                _ => next,
            };
        }
        Ok(at)
    }

    fn through(&mut self, link: NodeId, folder: NodeId, target: &str) -> Result<NodeId, Errno> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(Errno::ELOOP);
        }
        if let Some(errno) = self.fails.and_then(|fails| fails.get(&link)) {
            return Err(*errno);
        }
        self.from(folder, target, true)
    }

    fn ghost(&self, folder: NodeId, name: &str) -> Option<NodeId> {
        let anchor = self.tree.anchor.as_ref()?;
        (anchor.parent == folder && anchor.path.name() == name).then_some(anchor.ghost)
    }
}
