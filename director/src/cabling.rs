//! The cables of a story's world: which port of which switch each link leads to.

use fabric::Fabric;
use platforms::SlotRef;
use scenarios::Cable;

/// Plugs the ports of a world at rest into the switches that its file states.
pub(super) fn plug(fabric: &mut Fabric, cables: &[Cable]) {
    let cables = cables.iter().filter_map(|cable| {
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
    fabric.plug(cables);
}
