//! The cables of a story's world: which port of which switch each link leads to, and which lead to another
//! host.

use fabric::{Action, Fabric, PortAction};
use platforms::SlotRef;
use scenarios::{Cable, StepAction, Story};

/// Plugs the ports of a world at rest into the switches that its file states. A port whose neighbour reboots
/// in the story has another host at its other end.
pub(super) fn plug(fabric: &mut Fabric, story: &Story) {
    let cables = story.cluster.cables.iter().filter_map(|cable: &Cable| {
        let port = &cable.port;
        let function = fabric.function_named(&port.node, &port.device)?;
        let slot = SlotRef {
            node: function.node,
            pci: function.pci,
            port: port.port,
        };
        Some((cable.switch.as_str(), slot))
    });
    let cables: Vec<_> = cables.collect();
    let steps = story.given.iter().chain(&story.steps);
    let actions = steps.flat_map(|step| &step.actions);
    let to_hosts = actions.filter_map(|action| match action {
        StepAction::World(Action::Port(slot, PortAction::NeighbourReboot { .. })) => {
            Some(slot.clone())
        }
        _ => None,
    });
    fabric.plug(cables, to_hosts);
}
