//! The configuration space of a PCI function: 4096 bytes, as `config` shows them.
//!
//! Layout and values are those of the PCI Local Bus Specification 3.0, 6.1 and 6.7 (header, power management,
//! MSI-X), the PCI Express Base Specification, 7.5.3 (PCI Express capability) and 9.3.3 (SR-IOV); the names of
//! the fields are in `include/uapi/linux/pci_regs.h`. No region has an address, because nothing maps one.
//! Start at [`ConfigSpace::of`].

use crate::BridgePort;

/// What the header says.
pub(super) struct ConfigHeader {
    /// Vendor and device.
    pub(super) id: [u16; 2],
    /// Subsystem vendor and device; not in the header of a bridge.
    pub(super) subsystem: [u16; 2],
    pub(super) class: u32,
    pub(super) revision: u8,
    pub(super) shape: Shape,
}

/// The type of a header, and the port's type of the PCI Express capability.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Type 0: a function with registers of its own.
    Endpoint,
    /// Type 0 of a virtual function, whose ids read `0xffff` (9.3.4.1.1).
    Virtual,
    /// Type 1: a bridge between these buses: primary, secondary, subordinate.
    Bridge(BridgePort, [u8; 3]),
}

/// SR-IOV of a physical function.
pub(super) struct Sriov {
    pub(super) total: u16,
    pub(super) count: u16,
    pub(super) offset: u16,
    pub(super) device: u16,
}

/// A configuration space that is being written.
pub(super) struct ConfigSpace(Vec<u8>);

/// The addresses of the capabilities. Chosen.
const POWER: usize = 0x40;
const EXPRESS: usize = 0x60;
const MSIX: usize = 0xb0;
const EXTENDED: usize = 0x100;

impl ConfigSpace {
    /// The header and the list of capabilities: power management, PCI Express with this link, MSI-X.
    pub(super) fn of(header: &ConfigHeader, link: Link) -> Self {
        let mut space = Self(vec![0; 4096]);
        space.header(header);
        // PCI_CAP_ID_PM, version 3; in D0, without a reset when it leaves D3hot.
        space.capability(POWER, 0x01, EXPRESS);
        space.word(POWER + 2, 0x0003);
        space.word(POWER + 4, 0x0008);
        space.express(header.shape, link);
        // PCI_CAP_ID_MSIX: 64 vectors, enabled.
        space.capability(MSIX, 0x11, 0);
        space.word(MSIX + 2, 0x8000 | 63);
        space.long(MSIX + 4, 0x2000);
        space.long(MSIX + 8, 0x3000);
        space
    }

    /// The same, with the extended capability of SR-IOV (PCI_EXT_CAP_ID_SRIOV).
    pub(super) fn with_sriov(mut self, sriov: &Sriov) -> Self {
        self.long(EXTENDED, 0x0001_0010);
        // VF Enable, VF Memory Space Enable.
        self.word(EXTENDED + 0x08, if sriov.count > 0 { 0x0009 } else { 0 });
        self.word(EXTENDED + 0x0c, sriov.total);
        self.word(EXTENDED + 0x0e, sriov.total);
        self.word(EXTENDED + 0x10, sriov.count);
        self.word(EXTENDED + 0x14, sriov.offset);
        // VF Stride.
        self.word(EXTENDED + 0x16, 1);
        self.word(EXTENDED + 0x1a, sriov.device);
        // Pages of 4 KiB, the only size.
        self.long(EXTENDED + 0x1c, 1);
        self.long(EXTENDED + 0x20, 1);
        self
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn header(&mut self, header: &ConfigHeader) {
        let ConfigHeader {
            id,
            subsystem,
            class,
            ..
        } = header;
        let ids = match header.shape {
            Shape::Virtual => [0xffff; 2],
            Shape::Endpoint | Shape::Bridge(..) => *id,
        };
        self.word(0x00, ids[0]);
        self.word(0x02, ids[1]);
        // Command: memory space, bus master, no interrupt by pin. Status: a list of capabilities.
        self.word(0x04, 0x0406);
        self.word(0x06, 0x0010);
        self.long(0x08, class << 8 | u32::from(header.revision));
        self.byte(0x34, POWER);
        match header.shape {
            Shape::Endpoint | Shape::Virtual => {
                self.word(0x2c, subsystem[0]);
                self.word(0x2e, subsystem[1]);
            }
            Shape::Bridge(_, [primary, secondary, subordinate]) => {
                self.0[0x0e] = 0x01;
                self.0[0x18..0x1b].copy_from_slice(&[primary, secondary, subordinate]);
                // The windows for ports and memory are closed: each base is above its limit.
                self.word(0x1c, 0x01f1);
                self.long(0x20, 0x0000_fff0);
                self.long(0x24, 0x0001_fff1);
            }
        }
    }

    /// PCI_CAP_ID_EXP, version 2.
    fn express(&mut self, shape: Shape, link: Link) {
        let port = match shape {
            Shape::Endpoint | Shape::Virtual => 0x0,
            Shape::Bridge(BridgePort::Root, _) => 0x4,
            Shape::Bridge(BridgePort::Upstream, _) => 0x5,
            Shape::Bridge(BridgePort::Downstream, _) => 0x6,
        };
        // The data link layer's state is reported by ports that lead downwards.
        let leads_down = matches!(
            shape,
            Shape::Bridge(BridgePort::Root | BridgePort::Downstream, _)
        );
        self.capability(EXPRESS, 0x10, MSIX);
        self.word(EXPRESS + 0x02, 2 | port << 4);
        // Payloads up to 512 bytes, role-based errors, and a function level reset of endpoints.
        let resets = if port == 0 { 1 << 28 } else { 0 };
        self.long(EXPRESS + 0x04, 0x8002 | resets);
        // Payloads of 256 bytes, read requests of 512 bytes, every error reported.
        self.word(EXPRESS + 0x08, 0x202f);
        let state = u32::from(link.speed) | u32::from(link.width & 0x3f) << 4;
        self.long(EXPRESS + 0x0c, state | if leads_down { 1 << 20 } else { 0 });
        // Common clock.
        self.word(EXPRESS + 0x10, 0x0040);
        let active = if leads_down { 1 << 13 } else { 0 };
        let state = u16::try_from(state).expect("ten bits fit in sixteen");
        self.word(EXPRESS + 0x12, state | 1 << 12 | active);
        // Supported speeds: up to this one; bit 1 is the first.
        self.long(EXPRESS + 0x2c, ((1 << link.speed) - 1) << 1);
        self.word(EXPRESS + 0x30, u16::from(link.speed));
    }

    fn capability(&mut self, at: usize, id: u8, next: usize) {
        self.0[at] = id;
        self.byte(at + 1, next);
    }

    fn byte(&mut self, at: usize, value: usize) {
        self.0[at] = u8::try_from(value).expect("capabilities are in the first 256 bytes");
    }

    fn word(&mut self, at: usize, value: u16) {
        self.0[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    fn long(&mut self, at: usize, value: u32) {
        self.0[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
}

/// A link, as the registers have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// 1 for 2.5 GT/s up to 6 for 64 GT/s; 0 if unknown.
    pub(super) speed: u8,
    /// Lanes.
    pub(super) width: u8,
}

impl Link {
    /// The link of these attributes.
    pub(super) fn of(speed: &str, width: u8) -> Self {
        let speed = crate::bridges::link_speed(speed);
        Self { speed, width }
    }
}
