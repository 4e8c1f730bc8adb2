//! Telling what is done to a node beside its ports: reboot, monitor, metadata file, route table.

use fabric::RebootPlan;
use platforms::{DeviceName, Metadata, MetadataFile, Route, Routes};

use super::Doing;
use crate::error::Unfit;
use crate::ground::GroundNode;
use crate::story::MonitorDeed;
use crate::subject::Subjects;
use crate::verbs::spec::{MetadataSpec, MonitorSpec, RebootSpec, RoutesSpec};

impl Doing<'_> {
    pub(super) fn plan(&self, said: &RebootSpec) -> Result<RebootPlan, Unfit> {
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
            mend: slots(&said.mend),
            remove: functions(&said.remove),
            restore: functions(&said.restore),
            replace: functions(&said.replace),
            names: self.names(&said.names)?,
            keep_counters: said.keep_counters,
            same_boot_id: said.same_boot_id,
        })
    }

    pub(super) fn monitor(&self, said: &MonitorSpec) -> MonitorDeed {
        let ticks = |span| u32::try_from(self.polls.ticks(span)).unwrap_or(u32::MAX);
        match said {
            MonitorSpec::Restart {
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
            MonitorSpec::Stop(signal) => MonitorDeed::Stop { signal: *signal },
            MonitorSpec::Start { flags } => MonitorDeed::Start {
                flags: flags.clone(),
            },
            MonitorSpec::Pause(span) => MonitorDeed::Pause {
                ticks: ticks(*span),
            },
        }
    }

    pub(super) fn metadata(&self, said: &MetadataSpec, node: &GroundNode) -> MetadataFile {
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
            MetadataSpec::Missing => MetadataFile::Missing,
            MetadataSpec::Malformed => MetadataFile::Text("{ \"gpus\": [".to_owned()),
            MetadataSpec::Text(text) => MetadataFile::Text(text.clone()),
            MetadataSpec::AtRest => MetadataFile::Written(at_rest().into()),
            MetadataSpec::EmptyTopology => changed(&|metadata| metadata.nic_topology.clear()),
            MetadataSpec::UnknownNuma => changed(&|metadata| {
                metadata.gpus.iter_mut().for_each(|gpu| gpu.numa_node = -1);
            }),
            MetadataSpec::NoGpus => changed(&|metadata| metadata.gpus.clear()),
            MetadataSpec::Without(of) => changed(&|metadata| {
                metadata
                    .nic_topology
                    .retain(|name, _| !rows(of).contains(name));
            }),
            MetadataSpec::ShortRow(of) => changed(&|metadata| {
                for name in rows(of) {
                    metadata.nic_topology.entry(name).and_modify(|row| {
                        row.pop();
                    });
                }
            }),
        }
    }

    pub(super) fn routes(&self, said: &RoutesSpec, node: &GroundNode) -> Result<Routes, Unfit> {
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
            RoutesSpec::Missing => Routes::Missing,
            RoutesSpec::NoDefault => match &node.machine.routes {
                Routes::Rows(rows) => {
                    Routes::Rows(rows.iter().filter(|row| row.prefix != 0).cloned().collect())
                }
                Routes::Text(_) | Routes::Missing => Routes::Rows(Vec::new()),
            },
            RoutesSpec::AtRest => node.machine.routes.clone(),
            RoutesSpec::Over(interface) => over(interface),
            RoutesSpec::OverPort(of) => {
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
