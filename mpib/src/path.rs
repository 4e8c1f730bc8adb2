//! The use of the two rails by one end of a connection, fixed when the connection is made.
//!
//! | | share of SUP | clear-to-send goes over |
//! |---|---|---|
//! | `spec`, `g1` inside an island | the agent's hint at every send | SUP |
//! | `spec`, `g1` between islands | 0, no hint read | SOUT |
//! | `g2` vanilla inside | all, no hint read | SUP |
//! | `g2` vanilla between | 0, no hint read, no queue pairs on SUP | SOUT |
//! | `g2` advanced | the agent's hint at every send | SOUT |
//! | NCCL's own transport | 0 | SOUT |
//!
//! Clear-to-send depends on the class and not on the mask, so inside an island it uses SUP even if
//! the hint sends the data over SOUT.

use super::{Bytes, Mode, MpibProfile, Parameters, PathClass, PerRail, Rail, Split, SupBandwidth};

/// The source of SUP's share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareSource {
    /// The agent's shared memory, at every send (`hintActive=1`).
    Agent,
    /// The value cached when the connection was made (`hintActive=0`).
    Cached(SupBandwidth),
}

/// One end's use of its rails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    class: Option<(MpibProfile, PathClass)>,
    share: ShareSource,
    cts_rail: Rail,
    queue_pairs: PerRail<u8>,
}

impl Path {
    /// The path of an end for a connection of `class`.
    #[must_use]
    pub fn new(profile: MpibProfile, parameters: &Parameters, class: PathClass) -> Self {
        let is_intra = class == PathClass::Intra;
        let cached = ShareSource::Cached(SupBandwidth::new(class.path_sup_bandwidth()));
        let mut queue_pairs = PerRail {
            sout: parameters.sout_queue_pairs,
            sup: parameters.sup_queue_pairs,
        };
        let (share, is_cts_on_sup) = match (profile, parameters.mode) {
            (MpibProfile::Spec | MpibProfile::G1, _) if is_intra => (ShareSource::Agent, true),
            (MpibProfile::Spec | MpibProfile::G1, _) => (cached, false),
            (MpibProfile::G2, Mode::Vanilla) => (cached, is_intra),
            (MpibProfile::G2, Mode::Advanced) => (ShareSource::Agent, false),
        };
        if profile == MpibProfile::G2 && parameters.mode == Mode::Vanilla && !is_intra {
            queue_pairs.sup = 0;
        }
        // If a rail has no queue pairs, the other rail's first one is used (the documents do not
        // define it; without any on SOUT, the plugin's entry 0 is SUP's).
        let cts_rail = match (is_cts_on_sup, queue_pairs.sout, queue_pairs.sup) {
            (true, _, 1..) | (false, 0, 1..) => Rail::Sup,
            _ => Rail::Sout,
        };
        Self {
            class: Some((profile, class)),
            share,
            cts_rail,
            queue_pairs,
        }
    }

    /// The path of NCCL's own transport: one rail, SOUT, one queue pair, no classification.
    #[must_use]
    pub const fn internal() -> Self {
        Self {
            class: None,
            share: ShareSource::Cached(SupBandwidth::NONE),
            cts_rail: Rail::Sout,
            queue_pairs: PerRail { sout: 1, sup: 0 },
        }
    }

    /// The class; `None` on NCCL's own transport.
    #[must_use]
    pub fn class(&self) -> Option<PathClass> {
        self.class.map(|(_, class)| class)
    }

    /// The source of SUP's share.
    #[must_use]
    pub const fn share(&self) -> ShareSource {
        self.share
    }

    /// The rail of this end's clear-to-send writes.
    #[must_use]
    pub const fn cts_rail(&self) -> Rail {
        self.cts_rail
    }

    /// Number of queue pairs by rail.
    #[must_use]
    pub const fn queue_pairs(&self) -> PerRail<u8> {
        self.queue_pairs
    }

    /// Divides a message, given the share.
    #[must_use]
    pub fn split(&self, share: SupBandwidth, size: Bytes) -> Split {
        match self.class {
            Some((profile, class)) => Split::new(profile, class, share, size),
            None => Split::all_sout(size),
        }
    }

    /// The queue pair on `rail` for the message at `head` of the ring, as an index into the array
    /// with SOUT's first and SUP's after them; `None` if the rail has none.
    #[must_use]
    pub fn queue_pair(&self, rail: Rail, head: u64) -> Option<u8> {
        let count = self.queue_pairs[rail];
        let on_rail = head.checked_rem(u64::from(count))?;
        let on_rail = u8::try_from(on_rail).expect("a remainder is less than its divisor");
        Some(self.first(rail).saturating_add(on_rail))
    }

    /// The queue pair of clear-to-send writes: the first of its rail; `None` if no rail has any.
    #[must_use]
    pub fn cts_queue_pair(&self) -> Option<u8> {
        self.queue_pair(self.cts_rail, 0)
    }

    const fn first(&self, rail: Rail) -> u8 {
        match rail {
            Rail::Sout => 0,
            Rail::Sup => self.queue_pairs.sout,
        }
    }
}
