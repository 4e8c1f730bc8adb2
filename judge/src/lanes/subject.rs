//! The subjects of lanes, and their names. Start at [`Of`].

use director::Truth;
use platforms::{NodeName, PciAddress, PortNumber, SlotRef};
use reports::LaneOf;

/// The subject of a lane, in the order of drawing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    World,
    Port(NodeName, PciAddress, PortNumber),
    Device(NodeName, PciAddress),
    Card(NodeName, String),
    Workload(String),
    Monitor(NodeName),
    Connector(NodeName),
    Cluster,
}

impl Of {
    pub(super) fn slot(slot: &SlotRef) -> Self {
        Self::Port(slot.node.clone(), slot.pci, slot.port)
    }

    pub(super) const fn word(&self) -> LaneOf {
        match self {
            Self::World => LaneOf::World,
            Self::Port(..) => LaneOf::Port,
            Self::Device(..) => LaneOf::Device,
            Self::Card(..) => LaneOf::Card,
            Self::Workload(_) => LaneOf::Workload,
            Self::Monitor(_) => LaneOf::Monitor,
            Self::Connector(_) => LaneOf::Connector,
            Self::Cluster => LaneOf::Cluster,
        }
    }
}

/// The names of lanes.
pub(super) struct Names<'a> {
    pub(super) is_several: bool,
    pub(super) truth: &'a Truth,
}

impl Names<'_> {
    pub(super) fn of(&self, of: &Of) -> String {
        match of {
            Of::World | Of::Cluster => String::new(),
            Of::Port(node, pci, port) => {
                self.on(node, &format!("{}/{port}", self.device(node, *pci)))
            }
            Of::Device(node, pci) => self.on(node, &self.device(node, *pci)),
            Of::Card(node, card) => self.on(node, card),
            Of::Workload(name) => name.clone(),
            Of::Monitor(node) | Of::Connector(node) => match self.is_several {
                true => node.to_string(),
                false => String::new(),
            },
        }
    }

    /// A name with that of its node, where there are several.
    fn on(&self, node: &NodeName, name: &str) -> String {
        match self.is_several {
            true => format!("{node}/{name}"),
            false => name.to_owned(),
        }
    }

    /// The first name of a device.
    fn device(&self, node: &NodeName, pci: PciAddress) -> String {
        let mut ticks = self.truth.ticks.iter();
        let name =
            ticks.find_map(|tick| Some(tick.nodes.get(node)?.views.0.get(&pci)?.name.0.clone()));
        name.unwrap_or_else(|| pci.to_string())
    }
}
