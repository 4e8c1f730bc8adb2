//! `--explain`: how every device is classified and why, signal by signal.
//!
//! The output is for people; nothing is judged. For RoCE ports the GID table is shown too (`lsd
//! 9.1`): with an empty table every queue pair fails, and with a type that peers do not share the
//! connection fails.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use terms::CheckKind;

use super::Agent;
use crate::config::NameVerdict;
use crate::discovery::fetch_one;
use crate::gids::GidTable;
use crate::hands::{Answer, Hands, ReadError, Request};
use crate::metadata::Row;
use crate::name::{AssignedRole, DeviceName, PortNumber};
use crate::route::Route;
use crate::scope::{self, Reason};
use crate::snapshot::{Anchor, Blind, Seen, SeenPorts, SeenScope};

/// Devices in order of name, each with its role, or why it is not monitored.
pub type Classified = Vec<(DeviceName, Result<AssignedRole, Unmonitored>)>;

/// Why a device has no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmonitored {
    /// It is not monitored, for this reason.
    #[error("{0}")]
    Out(Reason),
    /// It is not known whether it is: why not, in words.
    #[error("{0}")]
    Unknown(String),
}

impl Unmonitored {
    /// Whether it is a management NIC.
    #[must_use]
    pub fn is_management(&self) -> bool {
        matches!(self, Unmonitored::Out(reason) if reason.is_management())
    }
}

impl Agent {
    /// One paragraph per device of the class folder, or one line that says why there is none.
    #[must_use]
    pub fn explain(&self, hands: &dyn Hands) -> String {
        let folder = &self.discovery.config.sys_class_infiniband;
        let (snapshot, _) = match self.discovery.look(hands, &self.memory, &self.schedule) {
            Ok(looked) => looked,
            Err(error) => return format!("the clock cannot be read: {error}\n"),
        };
        let mut rendered = String::new();
        match snapshot.anchor {
            Anchor::Listed => {}
            Anchor::Missing => return format!("{folder} is missing\n"),
            Anchor::Unreadable(error) => {
                return format!("{folder} cannot be read: {error}\n");
            }
        }
        if let Some(metadata) = &self.discovery.metadata {
            let nodes: Vec<String> = metadata
                .gpu_numa_nodes()
                .iter()
                .map(ToString::to_string)
                .collect();
            line(
                &mut rendered,
                format_args!("GPUs are on NUMA nodes {}", nodes.join(", ")),
            );
        }
        let route = match &self.discovery.route {
            Route::Interface(interface) => format!("leaves by {interface}"),
            Route::Absent => "none, so no device is excluded by it".to_owned(),
            Route::Unread(error) => format!("cannot be read: {error}"),
        };
        line(&mut rendered, format_args!("default route: {route}"));
        let checks: Vec<&str> = self.checks.iter().map(|check| check.name()).collect();
        line(&mut rendered, format_args!("checks: {}", checks.join(", ")));
        if self
            .checks
            .iter()
            .any(|c| c.kind() == CheckKind::Degradation)
        {
            let watched = self.discovery.shapes.watched.iter();
            let watched: Vec<String> = watched.map(|watched| watched.id.to_string()).collect();
            line(
                &mut rendered,
                format_args!("counters: {}", watched.join(", ")),
            );
        }
        for record in &snapshot.records {
            line(&mut rendered, format_args!("warning: {record}"));
        }
        for seen in &snapshot.devices {
            self.explain_device(hands, seen, &mut rendered);
        }
        if snapshot.devices.is_empty() {
            line(&mut rendered, format_args!("no device in {folder}"));
        }
        rendered
    }

    /// The role of each device of the class folder, or why it is not monitored, in order of name.
    ///
    /// # Errors
    ///
    /// If the clocks cannot be read.
    pub fn classified(&self, hands: &dyn Hands) -> Result<Classified, ReadError> {
        let (snapshot, _) = self.discovery.look(hands, &self.memory, &self.schedule)?;
        let role = |seen: &Seen| match &seen.scope {
            SeenScope::In(role, _) => Ok(*role),
            SeenScope::Out(reason) => Err(Unmonitored::Out(reason.clone())),
            SeenScope::Unknown(blind) => Err(Unmonitored::Unknown(blind_text(*blind))),
        };
        let devices = snapshot.devices.iter();
        Ok(devices
            .map(|seen| (seen.name.clone(), role(seen)))
            .collect())
    }

    fn explain_device(&self, hands: &dyn Hands, seen: &Seen, rendered: &mut String) {
        let name = &seen.name;
        let verdict = match &seen.scope {
            SeenScope::Out(reason) => format!("not monitored ({reason})"),
            SeenScope::In(role, _) => format!("monitored as {role}"),
            SeenScope::Unknown(blind) => blind_text(*blind),
        };
        line(rendered, format_args!("{name}: {verdict}"));
        let function = seen
            .facts
            .as_ref()
            .and_then(|facts| facts.function.as_ref());
        let function = function.map_or("unknown", |function| function.as_str());
        line(rendered, format_args!("  function: {function}"));
        let placement = seen.facts.as_ref().map(|facts| facts.placement.as_ref());
        if let (SeenScope::In(role, _), Some(Ok(placement))) = (&seen.scope, placement) {
            let why = scope::why(placement, *role, self.discovery.metadata.as_ref(), name);
            line(rendered, format_args!("  because: {why}"));
        }
        let filter = match self.discovery.config.judge_name(name) {
            NameVerdict::Open => "none speaks against it",
            NameVerdict::Pinned => "named by nicInclusionRegexOverride",
            NameVerdict::NotPinned => "not named by nicInclusionRegexOverride",
            NameVerdict::Excluded => "excluded by nicExclusionRegex",
        };
        line(rendered, format_args!("  filters: {filter}"));
        let default_name = if name.is_mlx5_number() { "yes" } else { "no" };
        line(rendered, format_args!("  name is mlx5_<n>: {default_name}"));
        for (label, request) in [
            (
                "driver",
                Request::ReadLink(self.discovery.path(name, "device/driver")),
            ),
            (
                "vendor",
                Request::Read(self.discovery.path(name, "device/vendor")),
            ),
            (
                "physfn",
                Request::ReadLink(self.discovery.path(name, "device/physfn")),
            ),
            (
                "NUMA node",
                Request::Read(self.discovery.path(name, "device/numa_node")),
            ),
            (
                "hca_type",
                Request::Read(self.discovery.path(name, "hca_type")),
            ),
            ("fw_ver", Request::Read(self.discovery.path(name, "fw_ver"))),
            (
                "board_id",
                Request::Read(self.discovery.path(name, "board_id")),
            ),
        ] {
            let answer = answer_text(fetch_one(hands, &request));
            line(rendered, format_args!("  {label}: {answer}"));
        }
        if let Some(metadata) = &self.discovery.metadata {
            let row = match metadata.row(name.as_str()) {
                Row::Full(row) => row.join(" "),
                Row::Short => "short: counts as all SYS".to_owned(),
                Row::Missing => "missing: counts as all SYS".to_owned(),
            };
            line(rendered, format_args!("  topology: {row}"));
        }
        if let SeenScope::In(_, SeenPorts::Listed(ports)) = &seen.scope {
            for port in ports {
                let layer = port
                    .layer
                    .map_or_else(|| "unknown layer".to_owned(), |layer| layer.to_string());
                let reading = match &port.reading {
                    Ok(reading) => format!("{}, {}", reading.state, reading.phys),
                    Err(_) => "not read".to_owned(),
                };
                let number = port.number;
                line(
                    rendered,
                    format_args!("  port {number}: {layer}, {reading}"),
                );
                self.explain_gids(hands, name, number, rendered);
            }
        }
    }

    /// Counts the valid GIDs by type, and names their net devices.
    fn explain_gids(
        &self,
        hands: &dyn Hands,
        name: &DeviceName,
        number: PortNumber,
        rendered: &mut String,
    ) {
        let folder = self.discovery.path(name, format_args!("ports/{number}"));
        let table = match GidTable::read(hands, &folder) {
            Ok(table) => table,
            Err(error) if error.is_absence() => return,
            Err(error) => return line(rendered, format_args!("    GIDs: cannot be read: {error}")),
        };
        let mut types: BTreeMap<&str, u64> = BTreeMap::new();
        let mut owners: BTreeMap<&str, u64> = BTreeMap::new();
        for ((kind, owner), count) in &table.entries {
            *types
                .entry(kind.as_deref().unwrap_or("unknown"))
                .or_default() += count;
            if let Some(owner) = owner {
                *owners.entry(owner).or_default() += count;
            }
        }
        let valid = table.valid();
        let list = |counts: &BTreeMap<&str, u64>| {
            let parts: Vec<String> = counts.iter().map(|(k, n)| format!("{k} x{n}")).collect();
            parts.join(", ")
        };
        let mut owners = list(&owners);
        if owners.is_empty() {
            owners = self.discovery.interfaces(hands, name).join(", ");
        }
        line(
            rendered,
            format_args!(
                "    GIDs: {valid} valid; types: {}; interfaces: {owners}",
                list(&types)
            ),
        );
    }
}

fn blind_text(blind: Blind) -> String {
    match blind {
        Blind::Race => "not known: nothing of it is there yet".to_owned(),
        Blind::Unreadable(cause) => format!("not known: {cause}"),
    }
}

fn answer_text(answer: Result<Answer, ReadError>) -> String {
    match answer {
        Ok(Answer::Bytes(bytes)) => String::from_utf8_lossy(&bytes).trim().to_owned(),
        Ok(Answer::Target(target)) => target,
        Ok(Answer::Names(names)) => names.join(" "),
        Err(ReadError::ENOENT) => "absent".to_owned(),
        Err(error) => format!("cannot be read: {error}"),
    }
}

fn line(rendered: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(rendered, "{text}").expect("writing to a string cannot fail");
}
