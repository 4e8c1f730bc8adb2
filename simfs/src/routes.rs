//! A cache of resolved paths, valid while no name or link changes.
//!
//! A reader requests the same paths in the same order in every poll: each entry remembers which path
//! was requested after it, so that in a steady poll each path costs one comparison.

use std::{collections::BTreeMap, sync::Arc};

use crate::NodeId;

/// The number of cached paths. Chosen: any value above the number of paths of a poll works.
const ROUTES_MAX: usize = 65_536;

/// The cached paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    /// The structure number of the tree for which they are valid.
    structure: u64,
    routes: Vec<Route>,
    by_path: BTreeMap<Arc<str>, usize>,
    /// The path that was requested last.
    last: usize,
}

#[derive(Clone, Debug)]
struct Route {
    path: Arc<str>,
    node: NodeId,
    /// The path that was requested after it the last time.
    next: usize,
}

impl Routes {
    /// The node at a path in the tree with this structure number, if it is cached.
    pub(crate) fn node(&mut self, structure: u64, path: &str) -> Option<NodeId> {
        if self.structure != structure {
            *self = Self {
                structure,
                ..Self::default()
            };
        }
        let next = self.routes.get(self.last)?.next;
        if let Some(route) = self.routes.get(next)
            && *route.path == *path
        {
            self.last = next;
            return Some(route.node);
        }
        let place = *self.by_path.get(path)?;
        self.go(place);
        Some(self.routes[place].node)
    }

    /// Adds a path that [`Routes::node`] did not find.
    pub(crate) fn learn(&mut self, path: &str, node: NodeId) {
        if self.routes.len() == ROUTES_MAX {
            return;
        }
        let place = self.routes.len();
        let path: Arc<str> = path.into();
        self.by_path.insert(Arc::clone(&path), place);
        self.routes.push(Route {
            path,
            node,
            next: 0,
        });
        self.go(place);
    }

    fn go(&mut self, place: usize) {
        self.routes[self.last].next = place;
        self.last = place;
    }
}
