//! Whose ports a monitor promises to monitor. Start at [`Scope`].

use std::collections::BTreeSet;

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

/// Whose ports a monitor monitors. All that is stated must hold for a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scope {
    /// By the roles that platforms declare; compute and storage if nothing is stated.
    pub roles: Option<BTreeSet<ScopeRole>>,
    /// Only ports that have a cable.
    pub cabled: Option<bool>,
    /// `false`: no ports of the device through which the node's default route leads.
    pub default_route: Option<bool>,
    /// `true`: only ports of devices with a NUMA node.
    pub numa_node: Option<bool>,
    /// `true`: also ports of devices that a PCIe switch connects to a GPU (`PIX`, `PXB`) and whose NUMA node is none of a
    /// GPU; by the documents that one decides first.
    pub near_gpu: Option<bool>,
    /// Only ports of cards of these PCI vendors.
    pub vendors: Option<BTreeSet<u16>>,
    /// Only ports of devices with these names.
    pub devices: Option<BTreeSet<String>>,
    /// What a filter that pins devices by name lets in.
    pub pinned: Option<Pinned>,
}

impl Scope {
    /// The lists that are empty: a monitor that watches nothing cannot be drilled.
    pub(crate) fn problems(&self) -> impl Iterator<Item = Problem> {
        let lists = [
            (
                "roles",
                self.roles.as_ref().map(BTreeSet::is_empty),
                "write roles such as `[ compute ]`, or leave it out",
            ),
            (
                "vendors",
                self.vendors.as_ref().map(BTreeSet::is_empty),
                "write PCI vendors such as `[ 0x15b3 ]`, or leave it out",
            ),
            (
                "devices",
                self.devices.as_ref().map(BTreeSet::is_empty),
                "write names of devices such as `[ mlx5_0 ]`, or leave it out",
            ),
        ];
        let empty = lists
            .into_iter()
            .filter(|(_, is_empty, _)| *is_empty == Some(true));
        empty.map(|(key, _, hint)| {
            let what = format!("`scope.{key}` names nobody, so that nothing is monitored");
            Problem::at(["scope", key], what, hint)
        })
    }
}

/// What a filter that pins devices by name lets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pinned {
    /// Physical functions of the vendors, as the documents ask.
    Functions,
    /// All that have such a name, virtual functions too. They are judged without their peers.
    All,
}

/// A declared role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScopeRole {
    /// It carries the traffic of jobs.
    Compute,
    /// It carries storage traffic.
    Storage,
    /// It manages the node; documents exclude it.
    Management,
}
