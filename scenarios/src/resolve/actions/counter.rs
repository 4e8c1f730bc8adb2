//! What a port can do with a counter.

use fabric::CounterChange;
use platforms::CounterValue;

use super::ActionResolver;
use crate::error::Unfit;
use crate::resolved_world::ResolvedNode;

impl ActionResolver<'_> {
    /// Whether a port can do this with a counter: its driver has it, and one that is to grow does not
    /// stand at its field's maximum at rest. A counter that no driver at all has is left to the stage,
    /// which says what there is.
    pub(super) fn can_count(
        &self,
        port: usize,
        name: &str,
        change: &CounterChange,
    ) -> Result<(), Unfit> {
        let port = &self.resolved.ports[port];
        let ResolvedNode {
            platform, machine, ..
        } = &self.resolved.nodes[port.node];
        let device = &port.facts.device;
        let own = platform.driver(&port.facts.driver_file);
        let Some(file) = own.and_then(|driver| driver.counter(name)) else {
            let mut drivers = platform.drivers();
            return match own {
                Some(_) if drivers.any(|driver| driver.counter(name).is_some()) => {
                    Err(Unfit::lacks(format!("`{device}` has no counter `{name}`")))
                }
                _ => Ok(()),
            };
        };
        let rdma = machine.functions.get(&port.facts.pci);
        let rdma = rdma.and_then(|function| function.rdma.as_ref());
        let at_rest = rdma.and_then(|rdma| rdma.ports.get(&port.facts.port)?.counters.get(name));
        let grows = matches!(
            change,
            CounterChange::Add(_) | CounterChange::RatePerSecond(_)
        );
        if grows && at_rest == Some(&CounterValue::Count(file.max())) {
            return Err(Unfit::lacks(format!(
                "`{name}` of `{device}` stands at its field's maximum at rest"
            )));
        }
        Ok(())
    }
}
