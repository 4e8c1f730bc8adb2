//! Decides which devices are monitored, in which role, and for what reason not.
//!
//! Order of the signals (`lsd 4.2.2`, `4.2.3`): default route, NUMA gate, PIX/PXB, InfiniBand,
//! NODE/PHB, all-SYS with the BlueField exclusion. `discovery` reads the signals.

use std::fmt;

use terms::{Check, LinkLayer};

use crate::metadata::{Metadata, Nearness};
use crate::name::{AssignedRole, DeviceName};
use crate::policy::Policy;

/// Why a device, or a port of it, is not monitored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Its name matches `nicExclusionRegex`.
    Excluded,
    /// `nicInclusionRegexOverride` names other devices.
    NotPinned,
    /// `device/physfn` exists.
    VirtualFunction,
    /// Not an mlx5 device.
    ForeignVendor,
    /// Carries the host's default route.
    DefaultRoute,
    /// Its NUMA node, given here, has no GPU; -1 is unknown.
    NoGpuOnNumaNode(i64),
    /// A data processing unit (by its `hca_type`) on a machine whose topology matrix is all SYS.
    BlueField(String),
    /// The check of this link layer is not among `--checks`.
    CheckOff(Check),
    /// The port has another link layer now.
    LayerIsNow(LinkLayer),
}

impl Reason {
    /// Whether it is a management NIC.
    #[must_use]
    pub fn is_management(&self) -> bool {
        matches!(
            self,
            Reason::DefaultRoute | Reason::NoGpuOnNumaNode(_) | Reason::BlueField(_)
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Excluded => f.write_str("excluded by nicExclusionRegex"),
            Reason::NotPinned => f.write_str("not named by nicInclusionRegexOverride"),
            Reason::VirtualFunction => f.write_str("virtual function"),
            Reason::ForeignVendor => f.write_str("foreign vendor"),
            Reason::DefaultRoute => f.write_str("management: carries the default route"),
            Reason::NoGpuOnNumaNode(-1) => f.write_str("management: NUMA node unknown"),
            Reason::NoGpuOnNumaNode(node) => write!(f, "management: no GPU on NUMA node {node}"),
            Reason::BlueField(hca_type) => write!(f, "management: BlueField {hca_type}"),
            Reason::CheckOff(check) => write!(f, "{check} is not enabled"),
            Reason::LayerIsNow(layer) => write!(f, "link layer is now {layer}"),
        }
    }
}

/// The role as far as the device's constant facts define it; a port's link layer decides the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Placement {
    Out(Reason),
    Fixed(AssignedRole),
    /// InfiniBand is Compute; Ethernet is Storage, or not monitored.
    ByLayer {
        ethernet: Option<Reason>,
    },
}

impl Placement {
    /// The role of a port of that layer.
    pub(crate) fn role(&self, layer: LinkLayer) -> Result<AssignedRole, &Reason> {
        match (self, layer) {
            (Placement::Out(reason), _) => Err(reason),
            (Placement::Fixed(role), _) => Ok(*role),
            (Placement::ByLayer { .. }, LinkLayer::InfiniBand) => Ok(AssignedRole::Compute),
            (Placement::ByLayer { ethernet }, LinkLayer::Ethernet) => match ethernet {
                Some(reason) => Err(reason),
                None => Ok(AssignedRole::Storage),
            },
        }
    }
}

/// The rule that gave a monitored device its role, for people; the rules are those of [`place`].
pub(crate) fn why(
    placement: &Placement,
    role: AssignedRole,
    metadata: Option<&Metadata>,
    name: &DeviceName,
) -> &'static str {
    let nearness = metadata.map(|metadata| metadata.nearness(name.as_str()));
    match (placement, role, nearness) {
        (Placement::Fixed(AssignedRole::Pinned), ..) => "it is named by nicInclusionRegexOverride",
        (Placement::Fixed(_), ..) => "it shares a PCIe switch with a GPU (PIX or PXB)",
        (_, AssignedRole::Compute, _) => "on a GPU's NUMA node, and its link layer is InfiniBand",
        (_, _, Some(Nearness::System)) => {
            "Ethernet on a GPU's NUMA node, SYS to all GPUs, no BlueField"
        }
        _ => "Ethernet on a GPU's NUMA node, and NODE or PHB to a GPU",
    }
}

/// `hca_type` of BlueField-2, its variant and BlueField-3 (`lsd 4.2.4`).
const BLUEFIELD: [&str; 3] = ["MT41682", "MT41686", "MT41692"];

/// Is that the `hca_type` of a `BlueField`?
pub(crate) fn is_bluefield(hca_type: &str) -> bool {
    BLUEFIELD.iter().any(|known| hca_type.starts_with(known))
}

/// Places a device that is not a VF, is of a monitored vendor, and does not carry the default
/// route. `hca_type` is used only if [`wants_hca_type`] returns true.
pub(crate) fn place(
    metadata: &Metadata,
    name: &DeviceName,
    numa_node: i64,
    hca_type: Option<&str>,
    policy: &dyn Policy,
) -> Placement {
    if !policy.is_near_gpu(numa_node, metadata.gpu_numa_nodes()) {
        return Placement::Out(Reason::NoGpuOnNumaNode(numa_node));
    }
    match metadata.nearness(name.as_str()) {
        Nearness::Switch => Placement::Fixed(AssignedRole::Compute),
        Nearness::Socket => Placement::ByLayer { ethernet: None },
        Nearness::System => {
            let bluefield = hca_type.filter(|hca_type| policy.is_bluefield(hca_type));
            Placement::ByLayer {
                ethernet: bluefield.map(|hca_type| Reason::BlueField(hca_type.to_owned())),
            }
        }
    }
}

/// Whether the placement of that device depends on its `hca_type`.
pub(crate) fn wants_hca_type(metadata: &Metadata, name: &DeviceName) -> bool {
    metadata.nearness(name.as_str()) == Nearness::System
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::policy::Right;

    /// GPUs on NUMA nodes 0 and 1; rows as in the field validation of `lsd 4.2.4`.
    fn metadata() -> Metadata {
        let text = r#"{"gpus":[{"numa_node":0},{"numa_node":1}],"nic_topology":{
            "pxb":["SYS","PXB"],"node":["NODE","SYS"],"phb":["PHB","SYS"],"sys":["SYS","SYS"]}}"#;
        Metadata::read("/m", Ok(text.as_bytes())).unwrap()
    }

    #[rstest]
    #[case::a100_oci_management("sys", 6, "MT4123", LinkLayer::Ethernet, "management")]
    #[case::a100_oci_compute("pxb", 1, "MT4123", LinkLayer::Ethernet, "compute")]
    #[case::the_numa_gate_comes_before_pix("pxb", 2, "MT4123", LinkLayer::Ethernet, "management")]
    #[case::numa_unknown("pxb", -1, "MT4123", LinkLayer::Ethernet, "management")]
    #[case::h100_oci_storage("node", 0, "MT4129", LinkLayer::Ethernet, "storage")]
    #[case::l40s_oci("phb", 0, "MT4125", LinkLayer::Ethernet, "storage")]
    #[case::l40s_onprem_compute("node", 0, "MT4129", LinkLayer::InfiniBand, "compute")]
    #[case::gb200_compute("sys", 0, "MT4129", LinkLayer::InfiniBand, "compute")]
    #[case::gb200_dpu("sys", 1, "MT41692", LinkLayer::Ethernet, "management")]
    #[case::bluefield_2("sys", 1, "MT41682", LinkLayer::Ethernet, "management")]
    #[case::bluefield_2_variant("sys", 1, "MT41686", LinkLayer::Ethernet, "management")]
    #[case::a_dpu_near_a_gpu_stays("node", 1, "MT41692", LinkLayer::Ethernet, "storage")]
    #[case::a_dpu_on_infiniband_stays("sys", 1, "MT41692", LinkLayer::InfiniBand, "compute")]
    #[case::unknown_hardware_is_monitored("sys", 1, "MT49999", LinkLayer::Ethernet, "storage")]
    #[case::missing_row_is_all_sys("other", 1, "MT4129", LinkLayer::Ethernet, "storage")]
    fn every_row_of_the_roles_table(
        #[case] name: &str,
        #[case] numa_node: i64,
        #[case] hca_type: &str,
        #[case] layer: LinkLayer,
        #[case] want: &str,
    ) {
        let placement = place(&metadata(), &name.into(), numa_node, Some(hca_type), &Right);
        let got = match placement.role(layer) {
            Ok(role) => role.to_string(),
            Err(reason) => {
                assert!(reason.is_management());
                "management".to_owned()
            }
        };
        assert_eq!(got, want);
    }

    #[rstest]
    #[case::pinned(
        Placement::Fixed(AssignedRole::Pinned),
        AssignedRole::Pinned,
        "sys",
        "it is named by"
    )]
    #[case::switch(
        Placement::Fixed(AssignedRole::Compute),
        AssignedRole::Compute,
        "pxb",
        "it shares a PCIe switch"
    )]
    #[case::infiniband(
        Placement::ByLayer { ethernet: None },
        AssignedRole::Compute,
        "sys",
        "on a GPU's NUMA node, and its link layer is InfiniBand"
    )]
    #[case::far(
        Placement::ByLayer { ethernet: None },
        AssignedRole::Storage,
        "sys",
        "Ethernet on a GPU's NUMA node, SYS to all GPUs"
    )]
    #[case::near(
        Placement::ByLayer { ethernet: None },
        AssignedRole::Storage,
        "node",
        "Ethernet on a GPU's NUMA node, and NODE or PHB"
    )]
    fn the_rule_that_placed_a_device_is_told(
        #[case] placement: Placement,
        #[case] role: AssignedRole,
        #[case] name: &str,
        #[case] begins: &str,
    ) {
        let rendered = why(&placement, role, Some(&metadata()), &name.into());
        assert!(rendered.starts_with(begins), "{rendered}");
    }
}
