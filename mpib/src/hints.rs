//! The agent's hints in shared memory (`/tmp/mpib/hints`), byte for byte.
//!
//! A header of 16 bytes, then 256 slots of 16 bytes: the share of SUP, a sequence number, and the
//! pair of addresses that the slot serves. A slot is guarded by its sequence (a seqlock): odd while
//! the agent writes. A reader spins for as long as the sequence is odd, without limit; an agent that
//! dies in the middle of a write leaves it odd for ever.
//!
//! The header's fields beyond magic and slot count are not known and stand at 0; numbers are
//! little-endian, as on the hosts that map them. Who owns which slot is the agent's affair
//! ([`Agent`](super::Agent)).

use super::SupBandwidth;

/// The number that the memory begins with: "MPIH", `0x4D504948`.
pub const HINTS_MAGIC: u32 = 0x4D50_4948;

/// The number of slots, hence of distinct pairs of addresses that one agent can ever serve.
pub const HINT_SLOTS: u16 = 256;

const HEADER_BYTES: usize = 16;
const SLOT_BYTES: usize = 16;
const SUP_BW_AT: usize = 0;
const SEQUENCE_AT: usize = 4;
const SOURCE_AT: usize = 8;
const DESTINATION_AT: usize = 12;

/// A slot's number. Range: 0 to 255.
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

/// Why a plugin does not accept what it mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHints {
    /// The file has not the size of header and slots.
    #[error(
        "hints of {found} bytes\n(hint: a header of 16 bytes and 256 slots of 16 make 4112; is the agent of the same version?)"
    )]
    Size {
        /// The bytes that were mapped.
        found: usize,
    },
    /// The header begins with another number.
    #[error("hints with magic `{found:#010x}`\n(hint: an agent writes `0x4d504948`)")]
    Magic {
        /// The number that was found.
        found: u32,
    },
}

/// The memory that agent and plugins share. It outlives the agent, as a file does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HintMemory(Vec<u8>);

impl HintMemory {
    /// What an agent makes when it starts: the header, and every slot at 0.
    #[must_use]
    pub fn new() -> Self {
        let bytes = vec![0; HEADER_BYTES + usize::from(HINT_SLOTS) * SLOT_BYTES];
        let mut memory = Self(bytes);
        memory.store(0, HINTS_MAGIC);
        memory.store(4, u32::from(HINT_SLOTS));
        memory
    }

    /// What a plugin maps.
    ///
    /// # Errors
    ///
    /// The size is not 4112 bytes, or the magic is another.
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

    /// The bytes: 4112 of them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Gives the slot to a pair of addresses (host order).
    pub fn assign(&mut self, slot: HintSlot, source: u32, destination: u32) {
        self.store(slot.at(SOURCE_AT), source);
        self.store(slot.at(DESTINATION_AT), destination);
    }

    /// The pair of addresses that the slot serves; zeros before it was given away.
    #[must_use]
    pub fn pair(&self, slot: HintSlot) -> (u32, u32) {
        (
            self.load(slot.at(SOURCE_AT)),
            self.load(slot.at(DESTINATION_AT)),
        )
    }

    /// The slot's sequence; odd while it is being written.
    #[must_use]
    pub fn sequence(&self, slot: HintSlot) -> u32 {
        self.load(slot.at(SEQUENCE_AT))
    }

    /// Writes a share, from the first step to the last.
    pub fn write(&mut self, slot: HintSlot, share: SupBandwidth) {
        let mut writing = HintWriter::new(slot, share);
        while writing.step(self) {}
    }

    /// Reads the slot while nobody writes: the share, or `None` where the reader would spin for ever
    /// because the sequence was left odd.
    #[must_use]
    pub fn read(&self, slot: HintSlot) -> Option<SupBandwidth> {
        let mut reader = HintReader::new(slot);
        // An undisturbed reader is through after its four steps, or it never will be.
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

/// A write under way, one store at a time; whoever drops it half way leaves the sequence odd.
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

    /// The next store: the sequence made odd, the share, the sequence made even. False when nothing
    /// was left to do.
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

/// A read under way, one load at a time, as the plugin's `mpib_hint_read` does it.
///
/// Its `continue` on an odd sequence goes to the loop's condition, which compares with the second
/// sequence of the round before: an odd value that has not changed since ends the loop. For one
/// 32-bit field that is harmless, as what it returns was written whole.
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

    /// The next load; the share once the loop is left.
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
