//! The agent's hints in shared memory (`/tmp/mpib/hints`), byte for byte.
//!
//! The memory has a header of 16 bytes and 256 slots of 16 bytes: the share of SUP, a sequence
//! number, and the pair of addresses of the slot. The sequence guards the slot (a seqlock): it is
//! odd while the agent writes. A reader spins as long as the sequence is odd, without limit; an
//! agent that dies in the middle of a write leaves it odd forever.
//!
//! The header's fields other than magic and slot count are not known and are 0; numbers are
//! little-endian, as on the hosts. [`Agent`](super::Agent) assigns the slots.

use super::SupBandwidth;

/// The number at the start of the memory: "MPIH", `0x4D504948`.
pub const HINTS_MAGIC: u32 = 0x4D50_4948;

/// The number of slots, which limits the distinct pairs of addresses of one agent.
pub(crate) const HINT_SLOTS: u16 = 256;

const HEADER_BYTES: usize = 16;
const SLOT_BYTES: usize = 16;
const SUP_BW_AT: usize = 0;
const SEQUENCE_AT: usize = 4;
const SOURCE_AT: usize = 8;
const DESTINATION_AT: usize = 12;

/// The number of a slot. Range: 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HintSlot(u8);

impl HintSlot {
    /// The slot with this number.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    fn at(self, field: usize) -> usize {
        HEADER_BYTES + usize::from(self.0) * SLOT_BYTES + field
    }
}

/// Why a plugin rejects the mapped memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHints {
    /// The size is not that of header and slots.
    #[error(
        "hints of {found} bytes\n(hint: a header of 16 bytes and 256 slots of 16 make 4112; is the agent of the same version?)"
    )]
    Size {
        /// The number of mapped bytes.
        found: usize,
    },
    /// The magic number is wrong.
    #[error("hints with magic `{found:#010x}`\n(hint: an agent writes `0x4d504948`)")]
    Magic {
        /// The number that was found.
        found: u32,
    },
}

/// The memory shared by agent and plugins. Like a file, it outlives the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HintMemory(Vec<u8>);

impl HintMemory {
    /// The memory of a newly started agent: the header, and every slot at 0.
    #[must_use]
    pub fn new() -> Self {
        let bytes = vec![0; HEADER_BYTES + usize::from(HINT_SLOTS) * SLOT_BYTES];
        let mut memory = Self(bytes);
        memory.store(0, HINTS_MAGIC);
        memory.store(4, u32::from(HINT_SLOTS));
        memory
    }

    /// The memory as a plugin maps it.
    ///
    /// # Errors
    ///
    /// If the size is not 4112 bytes, or the magic number is wrong.
    pub fn map(bytes: &[u8]) -> Result<Self, BadHints> {
        let memory = Self(bytes.to_vec());
        if bytes.len() != HEADER_BYTES + usize::from(HINT_SLOTS) * SLOT_BYTES {
            return Err(BadHints::Size { found: bytes.len() });
        }
        match memory.load(0) {
            HINTS_MAGIC => Ok(memory),
            found => Err(BadHints::Magic { found }),
        }
    }

    /// The 4112 bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Assigns the slot to a pair of addresses (host order).
    pub fn assign(&mut self, slot: HintSlot, source: u32, destination: u32) {
        self.store(slot.at(SOURCE_AT), source);
        self.store(slot.at(DESTINATION_AT), destination);
    }

    /// The pair of addresses of the slot; zeros if it is not assigned.
    #[must_use]
    pub fn pair(&self, slot: HintSlot) -> (u32, u32) {
        (
            self.load(slot.at(SOURCE_AT)),
            self.load(slot.at(DESTINATION_AT)),
        )
    }

    /// The sequence of the slot; odd during a write.
    #[must_use]
    pub fn sequence(&self, slot: HintSlot) -> u32 {
        self.load(slot.at(SEQUENCE_AT))
    }

    /// Writes a share completely.
    pub fn write(&mut self, slot: HintSlot, share: SupBandwidth) {
        let mut writing = HintWriter::new(slot, share);
        while writing.step(self) {}
    }

    /// Reads the slot while no write is in progress: the share, or `None` if the reader would spin
    /// forever because the sequence was left odd.
    #[must_use]
    pub fn read(&self, slot: HintSlot) -> Option<SupBandwidth> {
        let mut reader = HintReader::new(slot);
        // An undisturbed reader finishes within four steps, or never.
        (0..4).find_map(|_| reader.step(self))
    }

    fn load(&self, at: usize) -> u32 {
        let bytes = self.0.get(at..at + 4).and_then(|part| part.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes)
    }

    fn store(&mut self, at: usize, value: u32) {
        self.0[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
}

impl Default for HintMemory {
    fn default() -> Self {
        Self::new()
    }
}

/// A write in progress, one store at a time; dropping it half way leaves the sequence odd.
#[derive(Clone, Debug)]
pub struct HintWriter {
    slot: HintSlot,
    share: SupBandwidth,
    done: u8,
}

impl HintWriter {
    /// A write that has not begun.
    #[must_use]
    pub const fn new(slot: HintSlot, share: SupBandwidth) -> Self {
        Self {
            slot,
            share,
            done: 0,
        }
    }

    /// The next store: makes the sequence odd, stores the share, makes the sequence even. Returns
    /// `false` if nothing was left to do.
    pub fn step(&mut self, memory: &mut HintMemory) -> bool {
        match self.done {
            0 | 2 => {
                let sequence = memory.sequence(self.slot).wrapping_add(1);
                memory.store(self.slot.at(SEQUENCE_AT), sequence);
            }
            1 => memory.store(self.slot.at(SUP_BW_AT), self.share.get()),
            _ => return false,
        }
        self.done += 1;
        true
    }
}

/// A read in progress, one load at a time, like the plugin's `mpib_hint_read`.
///
/// Its `continue` on an odd sequence jumps to the loop's condition, which compares with the second
/// sequence of the previous round: an odd value that has not changed since ends the loop. For one
/// 32-bit field that is harmless, because the returned value was written atomically.
#[derive(Clone, Debug)]
pub struct HintReader {
    slot: HintSlot,
    at: ReaderAt,
    first: u32,
    value: SupBandwidth,
    second: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
enum ReaderAt {
    First,
    Value,
    Second,
}

impl HintReader {
    /// A read that has not begun.
    #[must_use]
    pub const fn new(slot: HintSlot) -> Self {
        Self {
            slot,
            at: ReaderAt::First,
            first: 0,
            value: SupBandwidth::NONE,
            second: None,
        }
    }

    /// The next load; returns the share once the loop ends.
    pub fn step(&mut self, memory: &HintMemory) -> Option<SupBandwidth> {
        match self.at {
            ReaderAt::First => {
                self.first = memory.sequence(self.slot);
                if self.first.is_multiple_of(2) {
                    self.at = ReaderAt::Value;
                    return None;
                }
            }
            ReaderAt::Value => {
                self.value = SupBandwidth::new(memory.load(self.slot.at(SUP_BW_AT)));
                self.at = ReaderAt::Second;
                return None;
            }
            ReaderAt::Second => {
                self.second = Some(memory.sequence(self.slot));
                self.at = ReaderAt::First;
            }
        }
        (self.second == Some(self.first)).then_some(self.value)
    }
}
