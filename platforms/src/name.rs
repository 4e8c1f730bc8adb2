//! Names: of nodes, devices, ports, slots and roles.

use std::{fmt, sync::Arc};

use files::yaml::Refused;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PciAddress;

/// The name of a node, such as `node-1`. Clones share the text, because recordings repeat it in
/// every tick.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(from = "String", into = "String")]
pub struct NodeName(Arc<str>);

/// The name of an RDMA device, such as `mlx5_3`. After a rename it may belong to another device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(transparent)]
pub struct DeviceName(pub String);

/// The number of a port of a device, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(transparent)]
pub struct PortNumber(pub u8);

/// The most characters of a name that a file gives. Chosen: a drill's name is two or three of them and stays
/// below the 255 bytes of a file name.
pub(crate) const NAME_CHARS_MAX: usize = 64;

/// What a name may be, as a hint.
pub const NAME_HINT: &str = "a name has 1 to 64 characters that can be seen, none of `/`, `#`, `%`, `*` and `?`, and no blank at its ends";

/// What is wrong with a name that a file gives to a scenario, platform, variant, driver, world, node or handle;
/// `None` if nothing is. Such a name becomes a part of paths, of lines in lists, of ids of findings (`scenario#cause`), of
/// patterns and of links, so it has 1 to 64 characters that can be seen, none of `/`, `#`, `%`, `*` and `?`, no
/// blank at its ends, and is not `.` or `..`.
#[must_use]
pub fn name_mistake(name: &str) -> Option<String> {
    let told = |what: &str| Some(format!("the name {name:?} {what}"));
    if name.trim().is_empty() {
        return told("is empty");
    }
    if name.chars().nth(NAME_CHARS_MAX).is_some() {
        let begin: String = name.chars().take(NAME_CHARS_MAX).collect();
        return Some(format!(
            "the name that begins {begin:?} has more than {NAME_CHARS_MAX} characters"
        ));
    }
    let is_odd = |c: &char| "/#%*?".contains(*c) || c.is_control() || turns_or_ends_a_line(*c);
    if let Some(odd) = name.chars().find(is_odd) {
        return told(&format!("has the character {odd:?}"));
    }
    if name.trim() != name {
        return told("begins or ends with a blank");
    }
    if [".", ".."].contains(&name) {
        return told("is a folder's");
    }
    None
}

/// Whether a character cannot be seen, and changes how the others of its line are: a mark of direction (Unicode Standard Annex
/// 9), a separator of lines, or the byte order mark.
const fn turns_or_ends_a_line(char: char) -> bool {
    matches!(
        char,
        '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
    )
}

macro_rules! text_name {
    ($($name:ident),*) => {$(
        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

text_name!(NodeName, DeviceName);

impl From<String> for NodeName {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&NodeName> for Arc<str> {
    fn from(name: &NodeName) -> Self {
        Self::clone(&name.0)
    }
}

impl From<NodeName> for String {
    fn from(name: NodeName) -> Self {
        name.as_str().to_owned()
    }
}

impl fmt::Display for PortNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A port by its device's present name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortRef {
    /// The node.
    pub node: NodeName,
    /// Its device's present name.
    pub device: DeviceName,
    /// Its number.
    pub port: PortNumber,
}

impl fmt::Display for PortRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} port {}", self.node, self.device, self.port)
    }
}

/// A slot: a port by its position in the machine, which does not change with renames.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotRef {
    /// The node.
    pub node: NodeName,
    /// The PCI function of the port.
    pub pci: PciAddress,
    /// The port's number.
    pub port: PortNumber,
}

impl fmt::Display for SlotRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} port {}", self.node, self.pci, self.port)
    }
}

/// The role of a function, as the platform declares it (`lsd 4.2.3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NicRole {
    /// The host's own networking; not monitored.
    Management,
    /// The fabric between GPUs.
    Compute,
    /// Storage and everything else that workloads need.
    Storage,
}

impl fmt::Display for NicRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Management => "management",
            Self::Compute => "compute",
            Self::Storage => "storage",
        })
    }
}

/// The level between a NIC and a GPU: a cell of `nvidia-smi topo -m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TopoLevel {
    /// The same device.
    X,
    /// At most one PCIe bridge between them.
    PIX,
    /// Several PCIe bridges, no host bridge.
    PXB,
    /// A PCIe host bridge between them.
    PHB,
    /// Two host bridges of one NUMA node.
    NODE,
    /// Two NUMA nodes.
    SYS,
    /// This many NVLinks.
    NV(u8),
}

impl TopoLevel {
    /// The level with this spelling (`PXB`, `NV18`).
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        Some(match word {
            "X" => Self::X,
            "PIX" => Self::PIX,
            "PXB" => Self::PXB,
            "PHB" => Self::PHB,
            "NODE" => Self::NODE,
            "SYS" => Self::SYS,
            other => Self::NV(other.strip_prefix("NV")?.parse().ok()?),
        })
    }
}

impl fmt::Display for TopoLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::X => f.write_str("X"),
            Self::PIX => f.write_str("PIX"),
            Self::PXB => f.write_str("PXB"),
            Self::PHB => f.write_str("PHB"),
            Self::NODE => f.write_str("NODE"),
            Self::SYS => f.write_str("SYS"),
            Self::NV(links) => write!(f, "NV{links}"),
        }
    }
}

impl<'de> Deserialize<'de> for TopoLevel {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::by_word(&word).ok_or_else(|| {
            serde::de::Error::custom(Refused {
                what: format!("invalid topology level `{word}`"),
                hint: "allowed: X, PIX, PXB, PHB, NODE, SYS, NV<n>",
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path_no_line_and_no_longer_than_a_file_name_can_hold() {
        let longest = "n".repeat(NAME_CHARS_MAX);
        for good in ["h100-oci", "a name", "mlx5_0", "knoten-ä", &longest] {
            assert_eq!(name_mistake(good), None, "{good}");
        }
        let longer = "n".repeat(NAME_CHARS_MAX + 1);
        for bad in [
            "",
            " ",
            ".",
            "..",
            "../../../x",
            "/x",
            "a\nb",
            "a\u{1b}[2J",
            "a\0",
            "a\u{202e}b",
            "a#b",
            "100%",
            "a*",
            "a?",
            " a",
            "a ",
            &longer,
        ] {
            assert!(name_mistake(bad).is_some(), "{bad:?}");
        }
        let told = name_mistake("../x\ny").unwrap();
        assert!(!told.contains('\n'), "{told}");
    }
}
