//! Whether there is anything that a pattern can mean: what is to be read, listed or written must be in the tree.
//!
//! Nothing is asked of files in the writable folder, which a reader creates. Start at [`Fs::unmet`].

use crate::{Fs, NodeId, NodeKind, Op, OpSet, Pattern, TreePath};

/// Why no operation can meet a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// No node has such a path.
    Missing {
        /// The last folder on the way that is there; empty for the root.
        folder: String,
        /// The first component that nothing in it has; it may have a `*`.
        name: String,
        /// The names in this folder, in order.
        beside: Vec<String>,
    },
    /// Nodes have such paths, but none takes the operation.
    Kind {
        /// The path of one of them.
        path: String,
        /// What it is.
        kind: NodeKind,
    },
}

impl Fs {
    /// Why none of these operations is possible on a path of this pattern now; `None` if one is, or if the path is one
    /// in the writable folder.
    pub fn unmet(&mut self, ops: OpSet, pattern: &Pattern) -> Option<Unmet> {
        if self.is_in_the_writable_folder(pattern) {
            return None;
        }
        let nodes = self.meant(pattern);
        let Some(first) = nodes.first() else {
            return Some(self.missing(pattern));
        };
        if nodes.iter().any(|node| self.takes(*node, ops)) {
            return None;
        }
        Some(Unmet::Kind {
            path: self.tree.path_of(*first)?.as_str().to_owned(),
            kind: self.tree.kind(*first)?,
        })
    }

    fn is_in_the_writable_folder(&self, pattern: &Pattern) -> bool {
        let root = self.tree.writable_root();
        let Some(root) = root.and_then(|root| self.tree.path_of(root)) else {
            return false;
        };
        let literal = pattern.as_str().split('*').next().unwrap_or_default();
        let is_below = literal.strip_prefix(root.as_str());
        is_below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            || (pattern.is_wild() && root.as_str().starts_with(literal))
    }

    /// The nodes that have a path of this pattern, as rules match it.
    fn meant(&mut self, pattern: &Pattern) -> Vec<NodeId> {
        if !pattern.is_wild() {
            return self.tree.resolve(pattern.as_str()).into_iter().collect();
        }
        let nodes: Vec<NodeId> = self.tree.nodes().collect();
        let mut meant = Vec::new();
        for node in nodes {
            let name = self.names.of(&self.tree, node);
            let is_meant = name.is_some_and(|name| {
                pattern.matches(&name.canonical) || pattern.matches(&name.shown)
            });
            if is_meant {
                meant.push(node);
            }
        }
        meant
    }

    fn takes(&self, node: NodeId, ops: OpSet) -> bool {
        let kind = self.tree.kind(node);
        Op::ALL.into_iter().any(|op| {
            ops.has(op)
                && match op {
                    Op::Read => kind == Some(NodeKind::File),
                    Op::List => kind == Some(NodeKind::Folder),
                    Op::ReadLink => kind == Some(NodeKind::Link),
                    _ => self.attr(node).is_ok_and(|attr| attr.mode & 0o222 != 0),
                }
        })
    }

    fn missing(&self, pattern: &Pattern) -> Unmet {
        let mut folders = vec![(String::new(), NodeId::ROOT)];
        let parts: Vec<&str> = pattern.as_str().split('/').collect();
        for (nth, part) in parts.iter().enumerate() {
            let (folder, node) = &folders[0];
            if *part == "**" {
                return Unmet::Missing {
                    folder: folder.clone(),
                    name: parts[nth..].join("/"),
                    beside: Vec::new(),
                };
            }
            let of_part = Pattern::new(part);
            let below = folders.iter().flat_map(|(folder, node)| {
                let named = self.tree.children(*node);
                let named = named.filter(|(name, _)| of_part.matches(name));
                named.filter_map(move |(name, _)| {
                    let path = TreePath::new(&format!("{folder}/{name}"));
                    let node = self.tree.resolve(&path).ok()?;
                    Some((path.as_str().to_owned(), node))
                })
            });
            let below: Vec<(String, NodeId)> = below.collect();
            if below.is_empty() {
                let beside = self.tree.children(*node);
                return Unmet::Missing {
                    folder: folder.clone(),
                    name: (*part).to_owned(),
                    beside: beside.map(|(name, _)| name.to_owned()).collect(),
                };
            }
            folders = below;
        }
        // Its text leads there through a link, which a pattern with a `*` does not follow.
        Unmet::Missing {
            folder: String::new(),
            name: pattern.as_str().to_owned(),
            beside: Vec::new(),
        }
    }
}
