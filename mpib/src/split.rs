//! The bytes of a message on each rail.
//!
//! The first generation computes `ratio = s / (1 + s)` in single precision, gives SUP `size × ratio`
//! rounded down to a multiple of 128 bytes, and SOUT the rest. The formula is asymptotic: even with
//! the largest hint, SOUT gets the rest modulo 128. Between 2^24 and 2^25 the ratio is not monotone
//! in the hint; the arithmetic in `f32` is reproduced exactly.

use super::{Bytes, MpibProfile, PathClass, Rail, RailMask};

/// SUP gets multiples of this many bytes.
const GRAIN_BYTES: u64 = 128;

/// The share of SUP in an agent's hint (`sup_bw`): a ratio to SOUT in the first generation, 1024ths
/// of the message in the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SupBandwidth(u32);

impl SupBandwidth {
    /// Nothing for SUP.
    pub const NONE: Self = Self(0);
    /// The largest value, which the document's dummy agent writes.
    pub const MAX: Self = Self(u32::MAX);

    /// From the number in the hint slot.
    #[must_use]
    pub const fn new(value: u32) -> Self {
        Self(value)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The first generation's ratio: 0 to 1, in single precision.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "the plugin computes in single precision, and its rounding is the fact"
    )]
    pub fn ratio(self) -> f32 {
        if self.0 == 0 {
            return 0.0;
        }
        self.0 as f32 / (1.0 + self.0 as f32)
    }
}

/// A message divided among the rails; the parts add up to its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    sout: Bytes,
    sup: Bytes,
    mask: RailMask,
}

impl Split {
    /// Divides a message of `size` on a connection of `class`, with this share.
    ///
    /// In [`MpibProfile::Spec`] only the class matters: a connection "uses exactly one of the two NICs".
    /// The plugin uses the share only.
    #[must_use]
    pub fn new(profile: MpibProfile, class: PathClass, share: SupBandwidth, size: Bytes) -> Self {
        let sup = match (profile, class) {
            (MpibProfile::Spec, PathClass::Intra) => size,
            (MpibProfile::Spec, PathClass::Inter) => Bytes::ZERO,
            (MpibProfile::G1, _) => by_ratio(share, size),
            (MpibProfile::G2, _) => by_1024ths(share, size),
        };
        Self::of_parts(size.without(sup), sup)
    }

    /// Everything on SOUT, as on the internal transport, which has one rail.
    #[must_use]
    pub const fn all_sout(size: Bytes) -> Self {
        Self {
            sout: size,
            sup: Bytes::ZERO,
            mask: RailMask::SOUT,
        }
    }

    /// The rails with bytes; an empty message uses SOUT.
    #[must_use]
    pub const fn mask(self) -> RailMask {
        self.mask
    }

    /// The bytes on `rail`.
    #[must_use]
    pub const fn on(self, rail: Rail) -> Bytes {
        match rail {
            Rail::Sout => self.sout,
            Rail::Sup => self.sup,
        }
    }

    fn of_parts(sout: Bytes, sup: Bytes) -> Self {
        let mut mask = RailMask::NONE;
        if sout > Bytes::ZERO {
            mask = mask.with(Rail::Sout);
        }
        if sup > Bytes::ZERO {
            mask = mask.with(Rail::Sup);
        }
        if mask == RailMask::NONE {
            mask = RailMask::SOUT;
        }
        Self { sout, sup, mask }
    }
}

/// SUP's bytes in the first generation. In single precision a size above 2^24 may be rounded up; the
/// result is limited to the size, so that the parts add up (the documents do not define it).
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the plugin computes in single precision, and its rounding is the fact; the product is not negative and a cast from float saturates"
)]
fn by_ratio(share: SupBandwidth, size: Bytes) -> Bytes {
    let whole = (size.get() as f32 * share.ratio()) as u64;
    Bytes::new(whole.min(size.get())).rounded_down_to(GRAIN_BYTES)
}

/// SUP's bytes in the second generation: 1024ths, where 1024 and more are everything, in grains.
fn by_1024ths(share: SupBandwidth, size: Bytes) -> Bytes {
    let share = u128::from(share.get().min(1024));
    let whole = u128::from(size.get()) * share / 1024;
    let whole = u64::try_from(whole).expect("a part is not larger than its message");
    Bytes::new(whole).rounded_down_to(GRAIN_BYTES)
}
