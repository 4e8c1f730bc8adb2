//! Virtual functions of a dump that lacks their link `physfn`, known by their PCI device id. Start at
//! [`owner_of_unlinked`].

use super::cards::KnownCards;
use crate::PciAddress;

/// A function of a NIC: its address, and its vendor and device id as far as they were read.
pub(super) struct Ids {
    pub(super) pci: PciAddress,
    pub(super) vendor: Option<u16>,
    pub(super) device: Option<u16>,
}

/// Whose virtual function it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Nobody's here: a physical function, or one that was passed to a guest, in which nothing else is known of it.
    Nobody,
    /// The only physical function of its bus.
    One(PciAddress),
    /// One of several physical functions of its bus.
    Unknown,
}

/// Whose virtual function this is, among all functions without a link. Virtual functions have ids of their own
/// (PCI ID Repository, `101e  ConnectX Family mlx5Gen Virtual Function`) and are on their owner's bus as long as their
/// routing ids do not run over it (PCI Express Base Specification, SR-IOV, First VF Offset).
pub(super) fn owner_of_unlinked(function: &Ids, all: &[Ids], known: &KnownCards<'_>) -> Owner {
    let is_virtual = |of: &Ids| known.is_virtual(of.vendor, of.device);
    if !is_virtual(function) {
        return Owner::Nobody;
    }
    let bus = |of: &Ids| (of.pci.domain, of.pci.bus);
    let mut owners = all
        .iter()
        .filter(|other| bus(other) == bus(function) && !is_virtual(other));
    match (owners.next(), owners.next()) {
        (None, _) => Owner::Nobody,
        (Some(owner), None) => Owner::One(owner.pci),
        (Some(_), Some(_)) => Owner::Unknown,
    }
}
