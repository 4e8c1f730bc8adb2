//! Where paths lead, remembered while no name or link changes.
//!
//! A reader asks for the same paths in the same order, poll by poll: each path remembers which one was
//! asked for after it, so that a steady poll compares each path once and walks nowhere.

use std::{collections::BTreeMap, sync::Arc};

use crate::NodeId;

/// How many paths are remembered. Chosen: any value above the number of paths that a reader asks for in
/// a poll works.
const ROUTES_MAX: usize = 65_536;

/// The paths that were asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    /// The structure number of the tree for which they hold.
    structure: u64,
    routes: Vec<Route>,
    by_path: BTreeMap<Arc<str>, usize>,
    /// Which one was asked for last.
    last: usize,
}

#[derive(Clone, Debug)]
struct Route {
    path: Arc<str>,
    node: NodeId,
    /// Which one was asked for after it when that was last learnt.
    next: usize,
}

impl Routes {
    /// Where a path leads in the tree with this structure number, if that is known.
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

    /// Remembers where a path leads that [`Routes::node`] did not know.
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
