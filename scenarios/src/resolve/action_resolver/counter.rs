//! Whether a port has a counter that can change.

use std::collections::BTreeSet;

use fabric::{CARRIER_COUNTERS, CounterChange};
use files::Place;
use platforms::{CounterFile, CounterValue, Driver};

use super::ActionResolver;
use crate::error::Unfit;
use crate::resolved_world::ResolvedNode;

impl ActionResolver<'_> {
    /// Checks that a port can change this counter: its driver has it, and the port an interface if the interface counts it;
    /// and one that is to grow is not at its maximum at rest.
    ///
    /// # Errors
    /// [`Unfit::NotApplicable`] if it cannot; [`Unfit::Wrong`] for a counter that no driver has.
    pub(super) fn can_count(
        &self,
        port: usize,
        name: &str,
        change: &CounterChange,
        place: Place,
    ) -> Result<(), Unfit> {
        let port = &self.resolved.ports[port];
        let ResolvedNode {
            platform, machine, ..
        } = &self.resolved.nodes[port.node];
        let device = &port.facts.device;
        let own = platform.driver(&port.facts.driver_file);
        let is_of_carrier = CARRIER_COUNTERS.contains(&name);
        let mut of_interface = own.into_iter().flat_map(|driver| &driver.statistics);
        if (is_of_carrier || of_interface.any(|file| file.name == name))
            && port.facts.netdev.is_none()
        {
            return Err(Unfit::lacks(format!("`{device}` has no interface")));
        }
        if is_of_carrier {
            return Ok(());
        }
        let Some(file) = own.and_then(|driver| driver.counter(name)) else {
            let mut drivers = platform.drivers();
            if drivers.any(|driver| driver.counter(name).is_some()) {
                return Err(Unfit::lacks(format!("`{device}` has no counter `{name}`")));
            }
            let files: Vec<&CounterFile> = match own {
                Some(own) => own.counter_files().collect(),
                None => platform.drivers().flat_map(Driver::counter_files).collect(),
            };
            let known: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
            return Err(self.source.unknown(place, "counter", name, known).into());
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
                "`{name}` of `{device}` is at its field's maximum at rest"
            )));
        }
        Ok(())
    }
}
