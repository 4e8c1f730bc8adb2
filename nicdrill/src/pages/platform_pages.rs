//! Pages about platforms: the list, one platform, and `topo -m` texts.
//!
//! [`super::platform_check`] checks whether a monitor finds in the rendered tree what is declared.

use std::{collections::BTreeMap, fmt::Write as _};

use files::did_you_mean;
use platforms::{
    Metadata, MetadataGpu, NodeName, Platform,
    topo::{self, ListedGpu, Printed, TopoError},
};

use platforms::Platforms;

/// An unknown platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no platform `{name}`\nhint: {hint}")]
pub(crate) struct NoSuchPlatform {
    pub(crate) name: String,
    pub(crate) hint: String,
}

/// The platform of this name.
///
/// # Errors
/// If there is none.
pub(crate) fn find<'p>(
    platforms: &'p Platforms,
    name: &str,
) -> Result<&'p Platform, NoSuchPlatform> {
    platforms.get(name).ok_or_else(|| {
        let near = did_you_mean(name, platforms.iter().map(|(name, _)| name));
        NoSuchPlatform {
            name: name.to_owned(),
            hint: near + "`nicdrill platform list` lists them",
        }
    })
}

/// Every platform and variant, one per line.
#[must_use]
pub(crate) fn list(platforms: &Platforms) -> String {
    let width = platforms
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    let mut page = String::new();
    for (name, platform) in platforms.iter() {
        writeln!(page, "{name:<width$}  {}", platform.about()).expect(WRITES);
    }
    page
}

/// One platform: its description, and each declared port.
///
/// # Errors
/// If there is no such platform.
pub(crate) fn show(platforms: &Platforms, name: &str) -> Result<String, NoSuchPlatform> {
    let platform = find(platforms, name)?;
    let roles = platform.roles();
    let mut page = format!(
        "{name}: {}\n{} management, {} compute, {} storage\n\n",
        platform.about(),
        roles.management,
        roles.compute,
        roles.storage
    );
    let header = ["device", "port", "pci", "role", "layer", "netdev", "cable"].map(str::to_owned);
    let rows: Vec<[String; 7]> = platform
        .ports()
        .into_iter()
        .map(|port| {
            let role = if port.is_vf {
                "virtual".to_owned()
            } else {
                port.role.to_string()
            };
            [
                port.device.to_string(),
                port.port.to_string(),
                port.pci.to_string(),
                role,
                format!("{:?}", port.layer),
                port.netdev.unwrap_or_else(|| "-".to_owned()),
                if port.cabled { "yes" } else { "no" }.to_owned(),
            ]
        })
        .collect();
    let rows: Vec<[String; 7]> = std::iter::once(header).chain(rows).collect();
    for line in in_columns(&rows) {
        writeln!(page, "{line}").expect(WRITES);
    }
    for note in platform.notes() {
        write!(page, "\nnote: {note}\n").expect(WRITES);
    }
    Ok(page)
}

/// Pads cells to aligned columns.
pub(crate) fn in_columns<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    rows.iter()
        .map(|row| {
            let cells = row.iter().zip(widths);
            let cells: Vec<String> = cells
                .map(|(cell, width)| format!("{cell:<width$}"))
                .collect();
            cells.join("  ").trim_end().to_owned()
        })
        .collect()
}

/// Why a platform has no `nvidia-smi topo -m` text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoMatrix {
    /// There is no platform of this name.
    #[error(transparent)]
    NoSuchPlatform(#[from] NoSuchPlatform),
    /// Its GPUs are from another vendor.
    #[error(
        "there is no matrix of GPUs and NICs of `{0}`: its GPUs are not NVIDIA's, so it has no `nvidia-smi`"
    )]
    OtherMake(String),
}

/// The output of `nvidia-smi topo -m` on this platform.
///
/// # Errors
/// If there is no such platform, or it does not have the tool.
pub(crate) fn matrix(platforms: &Platforms, name: &str) -> Result<String, NoMatrix> {
    let platform = find(platforms, name)?;
    if !platform.profile().gpus.have_matrix() {
        return Err(NoMatrix::OtherMake(name.to_owned()));
    }
    Ok(platform.topo_text(&platform.machine(&NodeName::from(fabric::NODE))))
}

/// The `gpu_metadata.json` of an output of `nvidia-smi topo -m`, and the labels of NICs that its
/// legend does not resolve. Fields that the output does not contain (node, time, driver, addresses)
/// are empty.
///
/// # Errors
/// If the text is ambiguous: why, and where.
pub(crate) fn metadata(matrix: &str) -> Result<(String, Vec<String>), TopoError> {
    let topology = match topo::read(matrix)? {
        Printed::Matrix(topology) => topology,
        Printed::Gpus(gpus) => return Ok(of_gpus(&gpus)),
    };
    let unnamed: Vec<&str> = topology.unnamed().map(|nic| nic.label.as_str()).collect();
    let mut notes = Vec::new();
    if !unnamed.is_empty() {
        notes.push(format!(
            "no legend names {}: they go by their labels, which no monitor knows",
            unnamed.join(", ")
        ));
    }
    notes.extend(topology.asymmetries().iter().map(ToString::to_string));
    let metadata = topology.metadata(&NodeName::from(""), "", "");
    Ok((metadata.to_json(), notes))
}

/// The metadata of GPUs that a tool lists without NICs, with a note on what they lack.
fn of_gpus(gpus: &[ListedGpu]) -> (String, Vec<String>) {
    let gpus = (0..).zip(gpus).map(|(gpu_id, gpu)| MetadataGpu {
        gpu_id,
        uuid: String::new(),
        pci_address: gpu.pci.map(|pci| pci.to_string()).unwrap_or_default(),
        serial_number: String::new(),
        device_name: String::new(),
        numa_node: gpu.numa_node.unwrap_or(-1),
    });
    let metadata = Metadata {
        node: NodeName::from(""),
        timestamp: String::new(),
        driver_version: String::new(),
        gpus: gpus.collect(),
        nic_topology: BTreeMap::new(),
    };
    let note = "the tool lists GPUs and no NIC: with such metadata a monitor that tells NICs apart by their levels refuses to start";
    (metadata.to_json(), vec![note.to_owned()])
}

const WRITES: &str = "writing to a string cannot fail";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_of_a_platform_is_a_row() {
        let platforms = Platforms::shipped();
        for (name, platform) in platforms.iter() {
            let page = show(&platforms, name).unwrap();
            let rows = page
                .split("\n\n")
                .nth(1)
                .unwrap_or_default()
                .lines()
                .skip(1);
            let rows = rows.count();
            assert_eq!(rows, platform.ports().len(), "{page}");
            match matrix(&platforms, name) {
                Ok(text) => assert!(text.contains("GPU0"), "{name}"),
                Err(error) => assert_eq!(error, NoMatrix::OtherMake("mi300x".to_owned())),
            }
        }
    }

    #[test]
    fn a_misspelt_platform_is_refused_with_the_nearest() {
        let error = show(&Platforms::shipped(), "h100-oic").unwrap_err();
        assert!(
            error.to_string().contains("did you mean `h100-oci`?"),
            "{error}"
        );
    }
}
