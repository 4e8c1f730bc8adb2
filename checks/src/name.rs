//! Names of things on a node: devices, ports, PCI functions, cards.
//!
//! Start with [`DeviceName`] and [`PciFunction`]: an event contains the first; a fault follows the
//! second when the kernel assigns names differently.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use terms::LinkLayer;

/// The name of an RDMA device as the kernel lists it, such as `mlx5_0`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct DeviceName(Arc<str>);

impl DeviceName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is `mlx5_` and a number, the default name of the mlx5 driver (`lsd 5.3`).
    #[must_use]
    pub fn is_mlx5_number(&self) -> bool {
        self.0
            .strip_prefix("mlx5_")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

impl From<&str> for DeviceName {
    fn from(text: &str) -> Self {
        DeviceName(text.into())
    }
}

impl From<String> for DeviceName {
    fn from(text: String) -> Self {
        DeviceName(text.into())
    }
}

impl From<DeviceName> for String {
    fn from(name: DeviceName) -> Self {
        name.0.as_ref().to_owned()
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// The number of a port within its device, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PortNumber(pub u32);

impl fmt::Display for PortNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A PCI function in full, `<domain>:<bus>:<device>.<function>`, such as `0000:47:00.1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PciFunction(Arc<str>);

impl PciFunction {
    /// Reads a function's address; `None` if the text is not one.
    #[must_use]
    pub fn parse(text: &str) -> Option<PciFunction> {
        let (slot, function) = text.rsplit_once('.')?;
        let mut parts = slot.split(':');
        let (domain, bus, device) = (parts.next()?, parts.next()?, parts.next()?);
        let hex = |part: &str, lengths: &[usize]| {
            lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        // Domains beyond 16 bits exist (VMD, some Hyper-V hosts): five to eight digits.
        let is_address = parts.next().is_none()
            && hex(domain, &[4, 5, 6, 7, 8])
            && hex(bus, &[2])
            && hex(device, &[2])
            && hex(function, &[1, 2]);
        is_address.then(|| PciFunction(text.into()))
    }

    /// The function behind `class/infiniband/<dev>`, read from the link's target
    /// (`../../devices/pci…/<function>/infiniband/<dev>`).
    #[must_use]
    pub fn from_class_link(target: &str) -> Option<PciFunction> {
        let mut parts = target.rsplit('/');
        parts.next()?;
        (parts.next()? == "infiniband").then_some(())?;
        PciFunction::parse(parts.next()?)
    }

    /// The function named by the line `PCI_SLOT_NAME=` of a `uevent` file.
    #[must_use]
    pub fn from_uevent(text: &str) -> Option<PciFunction> {
        text.lines()
            .find_map(|line| line.strip_prefix("PCI_SLOT_NAME="))
            .and_then(|address| PciFunction::parse(address.trim()))
    }

    /// The function's card: the address without the function.
    #[must_use]
    pub fn card(&self) -> Card {
        let slot = self.0.rsplit_once('.').map_or(&*self.0, |(slot, _)| slot);
        Card(slot.into())
    }

    /// Whether it is a function of this card.
    pub(crate) fn is_of(&self, card: &Card) -> bool {
        let function = self.0.strip_prefix(card.as_str());
        function.is_some_and(|function| function.starts_with('.'))
    }

    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PciFunction {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        PciFunction::parse(&text).ok_or_else(|| format!("`{text}` is no PCI function"))
    }
}

impl From<PciFunction> for String {
    fn from(function: PciFunction) -> Self {
        function.0.as_ref().to_owned()
    }
}

impl fmt::Display for PciFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key of a fault: the PCI function, or the name if no function could be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SlotKey {
    Function(PciFunction),
    Name(DeviceName),
}

/// A physical card: a PCI address without its function, such as `0000:47:00`, or the device's name
/// where no address could be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Card(Arc<str>);

impl Card {
    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Card {
    fn from(text: String) -> Self {
        Card(text.into())
    }
}

impl From<Card> for String {
    fn from(card: Card) -> Self {
        card.0.as_ref().to_owned()
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads the kernel's text of `link_layer`; `None` for its `Unknown` and for anything else.
pub(crate) fn parse_link_layer(text: &str) -> Option<LinkLayer> {
    match text.trim() {
        "InfiniBand" => Some(LinkLayer::InfiniBand),
        "Ethernet" => Some(LinkLayer::Ethernet),
        _ => None,
    }
}

/// The use of a NIC (`lsd 4.2.3`), printed in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AssignedRole {
    /// Carries the host's own traffic: never monitored.
    Management,
    /// Carries GPU to GPU traffic.
    Compute,
    /// Carries storage traffic.
    Storage,
    /// Selected by `nicInclusionRegexOverride`: monitored without comparison with peers.
    Pinned,
}

impl fmt::Display for AssignedRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AssignedRole::Management => "management",
            AssignedRole::Compute => "compute",
            AssignedRole::Storage => "storage",
            AssignedRole::Pinned => "pinned",
        })
    }
}

/// Serializes a check by its name, as in the state file.
pub(crate) mod check_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use terms::Check;

    pub(crate) fn serialize<S: Serializer>(check: &Check, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(check.name())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Check, D::Error> {
        let name = String::deserialize(from)?;
        Check::parse(&name).ok_or_else(|| D::Error::unknown_variant(&name, &Check::NAMES))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "../../devices/pci0000:00/0000:00:01.0/0000:47:00.0/infiniband/mlx5_0",
        Some("0000:47:00.0")
    )]
    #[case("../../devices/virtual/infiniband/rxe0", None)]
    #[case("../../devices/pci0000:00/0000:47:00.0/net/eth0", None)]
    #[case("", None)]
    fn the_function_is_read_from_the_class_link(#[case] target: &str, #[case] want: Option<&str>) {
        let got = PciFunction::from_class_link(target);
        assert_eq!(got.as_ref().map(PciFunction::as_str), want);
    }

    #[test]
    fn the_function_is_read_from_uevent() {
        let text = "DRIVER=mlx5_core\nPCI_ID=15B3:101B\nPCI_SLOT_NAME=0008:3b:00.1\n";
        let function = PciFunction::from_uevent(text).unwrap();
        assert_eq!(function.as_str(), "0008:3b:00.1");
        assert_eq!(function.card().as_str(), "0008:3b:00");
        assert_eq!(PciFunction::from_uevent("PCI_SLOT_NAME=\n"), None);
    }

    #[rstest]
    #[case("mlx5_0", true)]
    #[case("mlx5_17", true)]
    #[case("mlx5_", false)]
    #[case("mlx5_bond_0", false)]
    #[case("mlx4_0", false)]
    #[case("ibp3s0", false)]
    fn only_mlx5_and_a_number_is_a_drivers_default_name(#[case] name: &str, #[case] want: bool) {
        assert_eq!(DeviceName::from(name).is_mlx5_number(), want);
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_no_panic(text in "\\PC*") {
            let _ = PciFunction::from_class_link(&text);
            let _ = PciFunction::from_uevent(&text);
            let _ = parse_link_layer(&text);
            if let Some(function) = PciFunction::parse(&text) {
                prop_assert_eq!(function.as_str(), text);
            }
        }
    }

    #[rstest]
    #[case("0000:47:00.0", true)]
    #[case("10000:e1:00.1", true)]
    #[case("0000aBcD:47:1f.1f", true)]
    #[case("000:47:00.0", false)]
    #[case("000000000:47:00.0", false)]
    #[case("000g:47:00.0", false)]
    #[case("0000:4:00.0", false)]
    #[case("0000:4g:00.0", false)]
    #[case("0000:47:0.0", false)]
    #[case("0000:47:0g.0", false)]
    #[case("0000:47:00.", false)]
    #[case("0000:47:00.g", false)]
    #[case("0000:47:00.000", false)]
    #[case("0000:47:00:00.0", false)]
    #[case("0000:47.0", false)]
    #[case("0000:47:00", false)]
    fn an_address_has_all_its_parts_in_hexadecimal(#[case] text: &str, #[case] is_one: bool) {
        let function = PciFunction::parse(text);
        assert_eq!(function.is_some(), is_one);
        let rendered = function.map(|function| function.to_string());
        assert_eq!(rendered, is_one.then(|| text.to_owned()));
    }

    #[test]
    fn a_name_is_shown_as_a_text() {
        assert_eq!(format!("{:?}", DeviceName::from("mlx5_0")), "\"mlx5_0\"");
    }
}
