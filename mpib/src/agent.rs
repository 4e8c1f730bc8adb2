//! The transport agent of a host: it assigns hint slots and writes hints.
//!
//! A plugin registers each end of a connection over `/tmp/mpib/agent.sock` and gets the slot of its
//! pair of addresses. Slots are counted by their users but never reassigned to another pair, so the
//! 257th distinct pair is rejected. Every slot starts with the agent's first share, which for the
//! document's dummy agent is `UINT32_MAX`.
//!
//! The memory outlives the agent: a dead agent's hints are still read ([`HintMemory`]). Only magic,
//! kind and size of the socket's messages are known and modelled.

use std::collections::BTreeMap;

use platforms::NodeName;

use super::hints::{HINT_SLOTS, HintMemory, HintSlot, HintWriter};
use super::{BadHints, SupBandwidth};

/// A message on the agent's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentMessage {
    /// A plugin requests the slot of a pair.
    Register,
    /// A plugin releases its use of a slot.
    Deregister,
    /// The agent answers.
    Response,
}

impl AgentMessage {
    /// The kind, as in the message.
    #[must_use]
    pub const fn kind(self) -> u32 {
        match self {
            Self::Register => 1,
            Self::Deregister => 2,
            Self::Response => 128,
        }
    }

    /// Its size in bytes; the response's is not known.
    #[must_use]
    pub const fn size_bytes(self) -> Option<usize> {
        match self {
            Self::Register => Some(28),
            Self::Deregister => Some(12),
            Self::Response => None,
        }
    }
}

/// The id of a connection at the agent: the process in the upper half, a counter in the lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(u32);

impl FlowId {
    /// The `counter`th connection of process `pid`.
    #[must_use]
    pub const fn new(pid: u16, counter: u16) -> Self {
        Self((pid as u32) << 16 | counter as u32)
    }

    /// The id as in a message.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Why an agent assigns no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unregistered {
    /// No agent listens on the socket.
    #[error("no agent at `/tmp/mpib/agent.sock`\n(hint: start it before the job)")]
    NoAgent,
    /// Status 1: every slot belongs to another pair.
    #[error("no free hint slots\n(hint: an agent serves 256 distinct pairs in its life)")]
    NoFreeSlots,
    /// Status 2: the request is invalid, such as a release without a registration.
    #[error("invalid request to the agent")]
    Invalid,
}

impl Unregistered {
    /// The status in the agent's answer; `None` if there is no agent. 0 is success.
    #[must_use]
    pub const fn status(self) -> Option<u32> {
        match self {
            Self::NoAgent => None,
            Self::NoFreeSlots => Some(1),
            Self::Invalid => Some(2),
        }
    }
}

/// An action of an agent, or on it; `H` names hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentAction<H = NodeName> {
    /// It writes a hint for a pair.
    Hint {
        /// The other host of the pair.
        to: H,
        /// The share.
        share: SupBandwidth,
    },
    /// It dies.
    Dies,
    /// It dies while it writes a hint for a pair.
    DiesWhileWriting {
        /// The other host of the pair.
        to: H,
    },
}

/// The content of a host's `/tmp/mpib`: an agent, or the memory that one left.
#[derive(Clone, Debug)]
pub struct Agent {
    killed: bool,
    memory: Option<Result<HintMemory, BadHints>>,
    first_share: SupBandwidth,
    slots: BTreeMap<(u32, u32), (HintSlot, u32)>,
    flows: BTreeMap<FlowId, (u32, u32)>,
}

impl Agent {
    /// A running agent whose slots start with `first_share`.
    #[must_use]
    pub fn running(first_share: SupBandwidth) -> Self {
        Self {
            killed: false,
            memory: Some(Ok(HintMemory::new())),
            first_share,
            slots: BTreeMap::new(),
            flows: BTreeMap::new(),
        }
    }

    /// No agent, and no memory of one.
    #[must_use]
    pub fn missing() -> Self {
        Self {
            memory: None,
            ..Self::running(SupBandwidth::MAX)
        }
    }

    /// A running agent with memory in a state that a plugin does not expect.
    #[must_use]
    pub fn with_memory(bytes: &[u8]) -> Self {
        Self {
            memory: Some(HintMemory::map(bytes)),
            ..Self::running(SupBandwidth::MAX)
        }
    }

    /// What a plugin maps at its start; `None` if there is no memory.
    #[must_use]
    pub fn map(&self) -> Option<Result<&HintMemory, BadHints>> {
        self.memory
            .as_ref()
            .map(|memory| memory.as_ref().map_err(|bad| *bad))
    }

    /// Registers one end of a connection; ends of the same pair share a slot.
    ///
    /// # Errors
    ///
    /// If there is no agent, it has no free slot, or the flow is registered already.
    pub fn register(
        &mut self,
        flow: FlowId,
        source: u32,
        destination: u32,
    ) -> Result<HintSlot, Unregistered> {
        self.live_memory()?;
        if self.flows.contains_key(&flow) {
            return Err(Unregistered::Invalid);
        }
        let pair = (source, destination);
        let slot = if let Some((slot, users)) = self.slots.get_mut(&pair) {
            *users += 1;
            *slot
        } else {
            let Ok(number) = u8::try_from(self.slots.len()) else {
                return Err(Unregistered::NoFreeSlots);
            };
            let (slot, share) = (HintSlot::new(number), self.first_share);
            let memory = self.live_memory()?;
            memory.assign(slot, source, destination);
            memory.write(slot, share);
            self.slots.insert(pair, (slot, 1));
            slot
        };
        self.flows.insert(flow, pair);
        Ok(slot)
    }

    /// Releases one end's use of a slot. The pair keeps its slot.
    ///
    /// # Errors
    ///
    /// If there is no agent, or the flow is not registered.
    pub fn deregister(&mut self, flow: FlowId) -> Result<(), Unregistered> {
        self.live_memory()?;
        let pair = self.flows.remove(&flow).ok_or(Unregistered::Invalid)?;
        let (_, users) = self.slots.get_mut(&pair).ok_or(Unregistered::Invalid)?;
        *users = users.saturating_sub(1);
        Ok(())
    }

    /// Writes a hint for a pair; returns `false` if the agent is dead or has no slot for the pair.
    pub fn write(&mut self, source: u32, destination: u32, share: SupBandwidth) -> bool {
        let slot = self.slot(source, destination);
        let (Some(slot), Ok(memory)) = (slot, self.live_memory()) else {
            return false;
        };
        memory.write(slot, share);
        true
    }

    /// Kills the agent. Its memory stays.
    pub fn kill(&mut self) {
        self.killed = true;
    }

    /// Kills the agent in the middle of a write: the slot's sequence stays odd. Returns `false` if it
    /// was dead already or has no slot for the pair.
    pub fn kill_while_writing(&mut self, source: u32, destination: u32) -> bool {
        let slot = self.slot(source, destination);
        let (Some(slot), Ok(memory)) = (slot, self.live_memory()) else {
            return false;
        };
        HintWriter::new(slot, SupBandwidth::NONE).step(memory);
        self.killed = true;
        true
    }

    /// Reads a slot as a plugin does; `None` if the reader would spin forever.
    #[must_use]
    pub fn read(&self, slot: HintSlot) -> Option<SupBandwidth> {
        self.map()?.ok()?.read(slot)
    }

    /// The number of slots that were ever assigned. Range: 0 to 256.
    #[must_use]
    pub fn slots(&self) -> u16 {
        u16::try_from(self.slots.len()).unwrap_or(HINT_SLOTS)
    }

    /// The number of registered ends that use the pair's slot; `None` for an unknown pair.
    #[must_use]
    pub fn users(&self, source: u32, destination: u32) -> Option<u32> {
        self.slots
            .get(&(source, destination))
            .map(|(_, users)| *users)
    }

    fn live_memory(&mut self) -> Result<&mut HintMemory, Unregistered> {
        match (self.killed, &mut self.memory) {
            (false, Some(Ok(memory))) => Ok(memory),
            _ => Err(Unregistered::NoAgent),
        }
    }

    fn slot(&self, source: u32, destination: u32) -> Option<HintSlot> {
        self.slots
            .get(&(source, destination))
            .map(|(slot, _)| *slot)
    }
}
