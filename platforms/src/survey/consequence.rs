//! Which problems of a platform or driver are gone once another one is mended, as a rule. Start at [`without_consequences`].

use crate::ProblemKind as Kind;
use crate::check::Finding;

/// The findings that may not be the consequence of another one.
pub(super) fn without_consequences(findings: Vec<Finding>) -> Vec<Finding> {
    let is_own = |one: &&Finding| {
        let mut others = findings.iter().map(|other| &other.problem.problem);
        !others.any(|other| follows(&one.problem.problem, other))
    };
    findings.iter().filter(is_own).cloned().collect()
}

/// Whether a problem may be the consequence of another one.
fn follows(one: &Kind, other: &Kind) -> bool {
    match (other, one) {
        // What the GPUs are is not known.
        (
            Kind::GpuCount { .. } | Kind::NoGpus,
            Kind::TopoLength { .. }
            | Kind::NumaWithoutGpu { .. }
            | Kind::StrayNuma { .. }
            | Kind::NoCpus { .. }
            | Kind::NumaAcrossSwitch { .. },
        ) => true,
        // How many ports the device has is not known.
        (
            Kind::PortCount { device: other, .. },
            Kind::NoSuchPort { device, .. } | Kind::Interfaces { device, .. },
        ) => device == other,
        // Its row, or its node, is another one.
        (
            Kind::TopoLength { device: other, .. },
            Kind::NumaAcrossSwitch { device, .. },
        )
        | (
            Kind::NumaAcrossSwitch { device: other, .. },
            Kind::NumaWithoutGpu { device, .. },
        ) => device == other,
        // A device is on another node, or has another role.
        (Kind::NumaWithoutGpu { .. }, Kind::StrayNuma { .. } | Kind::Roles { .. })
        | (Kind::NumaAcrossSwitch { .. }, Kind::StrayNuma { .. })
        // The node has another number.
        | (Kind::StrayNuma { .. }, Kind::NoCpus { .. })
        // An interface has another name, or a device lacks one.
        | (
            Kind::Interfaces { .. }
            | Kind::PortCount { .. }
            | Kind::Twice { what: "interface", .. }
            | Kind::NoFileName { .. },
            Kind::NoSuchInterface(_) | Kind::DanglingLower { .. },
        )
        // A device has another address, or another name.
        | (
            Kind::Twice { what: "address", .. },
            Kind::NoFirstFunction { .. } | Kind::VfsCollide { .. },
        )
        | (
            Kind::NoFirstFunction { .. },
            Kind::VfsCollide { .. },
        )
        | (
            Kind::Twice { what: "device", .. },
            Kind::TooManyVfs { .. }
            | Kind::VfsCollide { .. }
            | Kind::Twice { what: crate::problem::NODE_GUID, .. },
        )
        | (Kind::TooManyVfs { .. }, Kind::VfsCollide { .. })
        // The slot has another width.
        | (Kind::Spelling { .. }, Kind::TooFast { .. })
        // The entry is about something else.
        | (Kind::NamesNothing(_), Kind::NoProvenance(_))
        // There is one device more.
        | (
            Kind::Skipped { .. },
            Kind::Roles { .. }
            | Kind::NoFirstFunction { .. }
            | Kind::NoSuchInterface(_)
            | Kind::DanglingLower { .. }
            | Kind::StrayNuma { .. }
            | Kind::UnusedModel(_)
            | Kind::NoSuchCounter(_),
        ) => true,
        _ => false,
    }
}
