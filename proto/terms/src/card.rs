//! A physical card, by its place on the PCI bus.

use std::fmt;

/// The address of a card, `0000:0c:00`: that of its functions without their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Card {
    /// The domain; above 0xffff only behind some host bridges (Azure, VMD).
    pub domain: u32,
    /// The bus, 0 to 255.
    pub bus: u8,
    /// The device, 0 to 31.
    pub device: u8,
}

impl Card {
    /// The card of this text; `None` if no card prints so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (domain, rest) = text.split_once(':')?;
        let (bus, device) = rest.split_once(':')?;
        let hex = |text: &str| {
            let is_plain = text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            let number = u32::from_str_radix(text, 16).ok();
            number.filter(|_| is_plain)
        };
        let byte = |text: &str| u8::try_from(hex(text).filter(|_| text.len() == 2)?).ok();
        let is_padded = domain.len() == 4 || domain.len() > 4 && !domain.starts_with('0');
        Some(Self {
            domain: hex(domain).filter(|_| is_padded)?,
            bus: byte(bus)?,
            device: byte(device)?,
        })
    }

    /// Whether this text names the card, as it prints.
    #[must_use]
    pub fn is_called(self, name: &str) -> bool {
        Self::parse(name) == Some(self)
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            domain,
            bus,
            device,
        } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_reads_as_it_prints() {
        for text in ["0000:0c:00", "0101:00:1f", "10000:e1:00", "ffffffff:ff:00"] {
            let card = Card::parse(text);
            assert_eq!(card.map(|card| card.to_string()).as_deref(), Some(text));
        }
    }

    #[test]
    fn a_text_that_no_card_prints_names_none() {
        for text in [
            "",
            "mlx5_0",
            "0:c:0",
            "000:0c:00",
            "00000:0c:00",
            "100000000:0c:00",
            "0000:0C:00",
            "0000:+c:00",
            "0000:0c:00.0",
            "0000:0c:00:00",
            "0000:100:00",
        ] {
            assert_eq!(Card::parse(text), None, "{text}");
        }
    }
}
