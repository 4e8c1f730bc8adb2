//! A port whose counters are read, and the counter of each file. `discovery` reads the files. Start
//! with [`Target`].

use std::sync::Arc;

use terms::LinkLayer;

use super::table::Place;
use super::threshold::Watched;
use crate::name::{DeviceName, PortNumber};

/// What is read of a port, and the counter of each file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shape {
    pub(crate) files: Vec<(Place, &'static str)>,
    /// In the order of the configuration: a watched counter, and the index of its file.
    pub(crate) counters: Vec<(Watched, usize)>,
}

impl Shape {
    pub(crate) fn of(watched: &[Watched], has_net: bool) -> Shape {
        let mut shape = Shape::default();
        for watched in watched {
            let row = watched.id.row();
            if row.place.is_net() && !has_net {
                continue;
            }
            let file = (row.place, row.file);
            let known = shape.files.iter().position(|known| *known == file);
            let place = known.unwrap_or_else(|| {
                shape.files.push(file);
                shape.files.len() - 1
            });
            shape.counters.push((*watched, place));
        }
        shape
    }
}

/// A port whose counters are read.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The index of its device in the snapshot.
    pub(crate) device: usize,
    pub(crate) name: DeviceName,
    pub(crate) number: PortNumber,
    pub(crate) layer: LinkLayer,
    /// The net device of its interface counters.
    pub(crate) interface: Option<String>,
    pub(crate) shape: Arc<Shape>,
    /// The index of its first file among the requests.
    pub(crate) first: usize,
}

impl PartialEq for Target {
    /// Compares everything but the shape, which follows from the interface.
    fn eq(&self, other: &Target) -> bool {
        self.device == other.device
            && self.name == other.name
            && self.number == other.number
            && self.layer == other.layer
            && self.interface == other.interface
            && self.first == other.first
    }
}
