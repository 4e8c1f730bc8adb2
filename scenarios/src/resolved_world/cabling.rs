//! A world of several nodes at rest: its nodes, their rails and their cables.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use files::Place;
use platforms::{DeviceName, NodeName, Platform, PortNumber, PortRef, Shared};

use super::ResolvedWorld;
use crate::cluster::Cable;
use crate::error::ScenarioError;
use crate::world::World;

impl ResolvedWorld {
    /// Builds a world at rest; `platform` finds a platform by its name.
    ///
    /// # Errors
    /// A name in the world's file that a platform does not have, with its place.
    pub(crate) fn of_world<'p>(
        world: &World,
        platform: impl Fn(&str) -> Option<&'p Platform>,
        known: &[&str],
    ) -> Result<Self, ScenarioError> {
        let source = world.source();
        let mut resolved = Self {
            world: world.name.clone(),
            is_platform: false,
            nodes: Shared::default(),
            ports: Shared::default(),
            switches: world
                .switches
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
            handles: BTreeMap::new(),
        };
        for spec in &world.nodes {
            let (name, place) = &spec.platform;
            let found = platform(name)
                .ok_or_else(|| source.unknown(*place, "platform", name, known.iter().copied()))?;
            for (nth, name) in (0..).zip(&spec.names) {
                resolved.add(&NodeName::from(name.as_str()), found, spec.monitored);
                for rail in &spec.rails {
                    let (device, place) = &rail.device;
                    let port = resolved.port_on(world, name, device, PortNumber(1), *place)?;
                    // That there are so many addresses is checked where they are read.
                    let address =
                        Ipv4Addr::from_bits(rail.of.address.to_bits().saturating_add(nth));
                    resolved.ports[port].rail = Some((rail.of.rail, address));
                }
            }
        }
        for cable in &world.cables {
            let named: Vec<String> = if cable.nodes.is_empty() {
                world
                    .nodes
                    .iter()
                    .flat_map(|node| node.names.clone())
                    .collect()
            } else {
                cable.nodes.iter().map(|(name, _)| name.clone()).collect()
            };
            for name in named {
                for (device, place) in &cable.devices {
                    let port = resolved.port_on(world, &name, device, cable.port, *place)?;
                    let at_rest = &mut resolved.ports[port];
                    if !at_rest.facts.cabled {
                        let what = format!("`{device}` of `{name}` has no cable at rest");
                        return Err(source
                            .wrong(*place, what)
                            .hint("its platform says which ports have one"));
                    }
                    if at_rest.switch.is_some() {
                        let what = format!("`{device}` of `{name}` has two cables");
                        return Err(source.wrong(*place, what));
                    }
                    at_rest.switch = Some(cable.to.0.clone());
                }
            }
        }
        Ok(resolved)
    }

    /// Every port with a cable to a switch, by its device's name at rest.
    pub(crate) fn cables(&self) -> Vec<Cable> {
        let cables = self.ports.iter().filter_map(|port| {
            Some(Cable {
                switch: port.switch.clone()?,
                port: PortRef {
                    node: self.nodes[port.node].name.clone(),
                    device: port.facts.device.clone(),
                    port: port.facts.port,
                },
            })
        });
        cables.collect()
    }

    fn port_on(
        &self,
        world: &World,
        node: &str,
        device: &DeviceName,
        number: PortNumber,
        place: Place,
    ) -> Result<usize, ScenarioError> {
        let on_node = (0..self.ports.len()).filter(|port| self.node_of(*port).as_str() == node);
        let mut ports = on_node.clone().filter(|port| {
            let facts = &self.ports[*port].facts;
            facts.device == *device && facts.port == number
        });
        ports.next().ok_or_else(|| {
            let names = on_node.map(|port| self.ports[port].facts.device.as_str());
            world
                .source()
                .unknown(place, "port of a device", device.as_str(), names)
        })
    }
}
