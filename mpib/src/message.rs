//! Messages: offered receives, and the immediate data that announces their parts.

use super::{Bytes, RailMask};

/// Distinguishes messages of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag(pub u32);

/// A buffer that a receiver offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receive {
    /// The tag of the message.
    pub tag: Tag,
    /// The largest message that fits.
    pub size_max: Bytes,
}

/// A request that `isend` or `irecv` returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub(super) u64);

/// The 32 bits of immediate data of each part of a message: slot, mask, and the size in grains.
///
/// The plugin packs `slot | mask << 8 | size_q << 10`. That the size is counted in 128 bytes is
/// inferred; a size that is not a multiple, or too large, is encoded as the sentinel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Immediate(u32);

impl Immediate {
    /// The `size_q` of a size that is not encoded.
    pub(crate) const SIZE_SENTINEL: u32 = 0x3F_FFFF;

    /// Packs the immediate data of a part.
    #[must_use]
    pub fn new(slot: u8, mask: RailMask, size: Bytes) -> Self {
        let grains = size.get() / 128;
        let grains = u32::try_from(grains).unwrap_or(Self::SIZE_SENTINEL);
        let grains = if size.get().is_multiple_of(128) {
            grains.min(Self::SIZE_SENTINEL)
        } else {
            Self::SIZE_SENTINEL
        };
        Self(u32::from(slot) | u32::from(mask.bits()) << 8 | grains << 10)
    }

    /// The value on the wire.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The slot of the receiver's ring. Range: 0 to 255.
    #[must_use]
    pub const fn slot(self) -> u8 {
        self.0.to_le_bytes()[0]
    }

    /// Every rail that carries a part.
    #[must_use]
    pub const fn mask(self) -> RailMask {
        RailMask::from_bits(self.0.to_le_bytes()[1])
    }

    /// The message's size, if it is encoded.
    #[must_use]
    pub fn size(self) -> Option<Bytes> {
        let grains = self.0 >> 10;
        (grains != Self::SIZE_SENTINEL).then(|| Bytes::new(u64::from(grains) * 128))
    }
}

/// One buffer of a group, and the parts received into it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub(super) receive: Receive,
    pub(super) is_sent: bool,
    expected: RailMask,
    seen: RailMask,
}

impl Buffer {
    pub(super) const fn new(receive: Receive) -> Self {
        Self {
            receive,
            is_sent: false,
            expected: RailMask::NONE,
            seen: RailMask::NONE,
        }
    }

    /// Records a part on `rail`; the first part states which rails to wait for.
    pub(super) fn arrived(&mut self, rail: super::Rail, immediate: Immediate) {
        if self.expected == RailMask::NONE {
            self.expected = immediate.mask();
        }
        self.seen = self.seen.with(rail);
    }

    /// Whether every rail of the mask has delivered.
    pub(super) fn is_complete(&self) -> bool {
        self.expected != RailMask::NONE && self.seen == self.expected
    }
}

/// The buffers of one `irecv`, one to eight, under one clear-to-send.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) request: RequestId,
    pub(super) is_clear: bool,
    pub(super) buffers: Vec<Buffer>,
}

impl Group {
    pub(super) fn is_complete(&self) -> bool {
        self.buffers.iter().all(Buffer::is_complete)
    }
}
