//! PCI addresses.

use std::{fmt, str};

use serde::Deserialize;
use terms::Card;

/// The address of a PCI function, such as `0000:0c:00.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PciAddress {
    /// The domain; above 0xffff only behind some host bridges (Azure, VMD).
    pub domain: u32,
    /// The bus, 0 to 255.
    pub bus: u8,
    /// The device, 0 to 31.
    pub device: u8,
    /// The function, 0 to 7.
    pub function: u8,
}

impl PciAddress {
    /// The card: the address without the function.
    #[must_use]
    pub const fn card(self) -> Card {
        Card {
            domain: self.domain,
            bus: self.bus,
            device: self.device,
        }
    }

    /// The address of a virtual function: this one plus `offset` routing ids, in the same domain
    /// (SR-IOV: First VF Offset, VF Stride).
    #[must_use]
    pub fn routed(&self, offset: u16) -> Self {
        let id = u16::from_be_bytes([self.bus, self.device << 3 | self.function]);
        let [bus, devfn] = id.wrapping_add(offset).to_be_bytes();
        Self {
            domain: self.domain,
            bus,
            device: devfn >> 3,
            function: devfn & 7,
        }
    }
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            domain,
            bus,
            device,
            function,
        } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function}")
    }
}

/// A text that is not a PCI address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid PCI address `{0}`\nhint: {hint}", hint = Self::HINT)]
pub struct PciAddressError(String);

impl PciAddressError {
    /// The hint.
    pub const HINT: &str = "write domain, bus, device and function, as in `0000:0c:00.1`";
}

impl str::FromStr for PciAddress {
    type Err = PciAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let mut parts = text.splitn(3, ':');
            let (domain, bus, rest) = (parts.next()?, parts.next()?, parts.next()?);
            let (device, function) = rest.split_once('.')?;
            let hex = |text: &str, digits: std::ops::RangeInclusive<usize>| {
                let plain = text.bytes().all(|byte| byte.is_ascii_hexdigit());
                (plain && digits.contains(&text.len()))
                    .then(|| u32::from_str_radix(text, 16).ok())
                    .flatten()
            };
            let small = |number: u32, below: u32| {
                u8::try_from(number)
                    .ok()
                    .filter(|number| u32::from(*number) < below)
            };
            Some(Self {
                domain: hex(domain, 4..=8)?,
                bus: small(hex(bus, 2..=2)?, 256)?,
                device: small(hex(device, 2..=2)?, 32)?,
                function: small(hex(function, 1..=1)?, 8)?,
            })
        };
        parse().ok_or_else(|| PciAddressError(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for PciAddress {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_as_it_prints() {
        for text in ["0000:0c:00.1", "0010:03:00.0", "10000:e1:1f.7"] {
            assert_eq!(
                text.parse::<PciAddress>().map(|pci| pci.to_string()),
                Ok(text.to_owned())
            );
        }
    }

    #[test]
    fn an_address_out_of_range_is_refused() {
        for text in [
            "",
            "0c:00.1",
            "0000:0c:00",
            "0000:0c:20.0",
            "0000:0c:00.8",
            "0000:+c:00.0",
        ] {
            assert!(text.parse::<PciAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_virtual_function_is_reached_over_device_boundaries() {
        let pf: PciAddress = "0000:0c:00.1".parse().unwrap();
        assert_eq!(pf.routed(8).to_string(), "0000:0c:01.1");
        assert_eq!(pf.card().to_string(), "0000:0c:00");
    }
}
