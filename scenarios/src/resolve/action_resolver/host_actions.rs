//! Resolves steps on a node itself: reboot, monitor, metadata file, route table.

use fabric::RebootPlan;
use platforms::{DeviceName, Metadata, MetadataFile, Route, Routes};

use super::ActionResolver;
use crate::error::Unfit;
use crate::resolved_world::ResolvedNode;
use crate::story::MonitorAction;
use crate::subject::Subjects;
use crate::verbs::spec::{MetadataSpec, MonitorSpec, RebootSpec, RoutesSpec};

impl ActionResolver<'_> {
    pub(super) fn plan(&self, spec: &RebootSpec) -> Result<RebootPlan, Unfit> {
        let slots = |of: &Option<Subjects>| {
            let ports = of.as_ref().map(|of| self.resolved.find_ports(of, None));
            let ports = ports.unwrap_or_default().into_iter();
            ports.map(|port| self.resolved.slot(port)).collect()
        };
        let functions = |of: &Option<Subjects>| {
            of.as_ref()
                .map(|of| self.resolved.find_functions(of, None))
                .unwrap_or_default()
                .into_iter()
                .map(|function| function.pci)
                .collect()
        };
        Ok(RebootPlan {
            takes: spec.takes,
            loses_power: !spec.announced,
            mend: slots(&spec.mend),
            remove: functions(&spec.remove),
            restore: functions(&spec.restore),
            replace: functions(&spec.replace),
            names: self.names(&spec.names)?,
            keep_counters: spec.keep_counters,
            same_boot_id: spec.same_boot_id,
        })
    }

    pub(super) fn monitor(&self, spec: &MonitorSpec) -> MonitorAction {
        let ticks = |span| u32::try_from(self.polls.ticks(span)).unwrap_or(u32::MAX);
        match spec {
            MonitorSpec::Restart {
                signal,
                away,
                flags,
                config,
            } => MonitorAction::Restart {
                signal: *signal,
                away_ticks: ticks(*away),
                flags: flags.clone(),
                config: config.clone(),
            },
            MonitorSpec::Stop(signal) => MonitorAction::Stop { signal: *signal },
            MonitorSpec::Start { flags } => MonitorAction::Start {
                flags: flags.clone(),
            },
            MonitorSpec::Pause(span) => MonitorAction::Pause {
                ticks: ticks(*span),
            },
        }
    }

    pub(super) fn metadata(&self, spec: &MetadataSpec, node: &ResolvedNode) -> MetadataFile {
        let at_rest = || node.platform.collect(&node.machine);
        let changed = |change: &dyn Fn(&mut Metadata)| {
            let mut metadata = at_rest();
            change(&mut metadata);
            MetadataFile::Written(metadata.into())
        };
        let rows = |of: &Subjects| -> Vec<DeviceName> {
            let functions = self.resolved.find_functions(of, None);
            functions
                .iter()
                .filter(|function| function.node == node.name)
                .filter_map(|function| self.resolved.name_at_rest(function))
                .collect()
        };
        match spec {
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

    pub(super) fn routes(&self, spec: &RoutesSpec, node: &ResolvedNode) -> Result<Routes, Unfit> {
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
        Ok(match spec {
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
                let port = match self.resolved.find_ports(of, None)[..] {
                    [port] => &self.resolved.ports[port],
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
