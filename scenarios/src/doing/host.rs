//! Telling what is done to a node beside its ports: reboot, monitor, metadata file, route table.

use fabric::RebootPlan;
use platforms::{DeviceName, Metadata, MetadataFile, Route, Routes};

use super::Doing;
use crate::deed::{MetadataSaid, MonitorSaid, RebootSaid, RoutesSaid};
use crate::error::Unfit;
use crate::ground::GroundNode;
use crate::story::MonitorDeed;
use crate::subject::Subjects;

impl Doing<'_> {
    pub(super) fn plan(&self, said: &RebootSaid) -> Result<RebootPlan, Unfit> {
        let slots = |of: &Option<Subjects>| {
            let ports = of.as_ref().map(|of| self.ground.find_ports(of, None));
            let ports = ports.unwrap_or_default().into_iter();
            ports.map(|port| self.ground.slot(port)).collect()
        };
        let functions = |of: &Option<Subjects>| {
            of.as_ref()
                .map(|of| self.ground.find_functions(of, None))
                .unwrap_or_default()
                .into_iter()
                .map(|function| function.pci)
                .collect()
        };
        Ok(RebootPlan {
            takes: said.takes,
            loses_power: !said.announced,
            mend: slots(&said.mend),
            remove: functions(&said.remove),
            restore: functions(&said.restore),
            replace: functions(&said.replace),
            names: self.names(&said.names)?,
            keep_counters: said.keep_counters,
            same_boot_id: said.same_boot_id,
        })
    }

    pub(super) fn monitor(&self, said: &MonitorSaid) -> MonitorDeed {
        let ticks = |span| u32::try_from(self.polls.ticks(span)).unwrap_or(u32::MAX);
        match said {
            MonitorSaid::Restart {
                signal,
                away,
                flags,
                config,
            } => MonitorDeed::Restart {
                signal: *signal,
                away_ticks: ticks(*away),
                flags: flags.clone(),
                config: config.clone(),
            },
            MonitorSaid::Stop(signal) => MonitorDeed::Stop { signal: *signal },
            MonitorSaid::Start { flags } => MonitorDeed::Start {
                flags: flags.clone(),
            },
            MonitorSaid::Pause(span) => MonitorDeed::Pause {
                ticks: ticks(*span),
            },
        }
    }

    pub(super) fn metadata(&self, said: &MetadataSaid, node: &GroundNode) -> MetadataFile {
        let at_rest = || node.platform.collect(&node.machine);
        let changed = |change: &dyn Fn(&mut Metadata)| {
            let mut metadata = at_rest();
            change(&mut metadata);
            MetadataFile::Written(metadata.into())
        };
        let rows = |of: &Subjects| -> Vec<DeviceName> {
            let functions = self.ground.find_functions(of, None);
            functions
                .iter()
                .filter(|function| function.node == node.name)
                .filter_map(|function| self.ground.name_at_rest(function))
                .collect()
        };
        match said {
            MetadataSaid::Missing => MetadataFile::Missing,
            MetadataSaid::Text(text) => MetadataFile::Text(text.clone()),
            MetadataSaid::AtRest => MetadataFile::Written(at_rest().into()),
            MetadataSaid::EmptyTopology => changed(&|metadata| metadata.nic_topology.clear()),
            MetadataSaid::UnknownNuma => changed(&|metadata| {
                metadata.gpus.iter_mut().for_each(|gpu| gpu.numa_node = -1);
            }),
            MetadataSaid::NoGpus => changed(&|metadata| metadata.gpus.clear()),
            MetadataSaid::Without(of) => changed(&|metadata| {
                metadata
                    .nic_topology
                    .retain(|name, _| !rows(of).contains(name));
            }),
            MetadataSaid::ShortRow(of) => changed(&|metadata| {
                for name in rows(of) {
                    metadata.nic_topology.entry(name).and_modify(|row| {
                        row.pop();
                    });
                }
            }),
        }
    }

    pub(super) fn routes(&self, said: &RoutesSaid, node: &GroundNode) -> Result<Routes, Unfit> {
        let over = |interface: &str| {
            let row = |destination, gateway, prefix| Route {
                interface: interface.to_owned(),
                destination,
                gateway,
                prefix,
                metric: 100,
            };
            Routes::Rows(vec![
                row([0; 4], [10, 10, 0, 1], 0),
                row([10, 10, 0, 0], [0; 4], 16),
            ])
        };
        Ok(match said {
            RoutesSaid::Missing => Routes::Missing,
            RoutesSaid::NoDefault => match &node.machine.routes {
                Routes::Rows(rows) => {
                    Routes::Rows(rows.iter().filter(|row| row.prefix != 0).cloned().collect())
                }
                Routes::Text(_) | Routes::Missing => Routes::Rows(Vec::new()),
            },
            RoutesSaid::AtRest => node.machine.routes.clone(),
            RoutesSaid::Over(interface) => over(interface),
            RoutesSaid::OverPort(of) => {
                let port = match self.ground.find_ports(of, None)[..] {
                    [port] => &self.ground.ports[port],
                    ref many => {
                        let what = format!("a route goes over one port, this names {}", many.len());
                        return Err(self.source.wrong(of.place, what).into());
                    }
                };
                let netdev = port.facts.netdev.as_deref().ok_or_else(|| {
                    Unfit::lacks(format!(
                        "`{}` has no net device for a route",
                        port.facts.device
                    ))
                })?;
                over(netdev)
            }
        })
    }
}
