//! Read access to a net.

use simfs::SimTime;

use super::{Hazard, Net, Settings, Transport};
use crate::HintSlot;
use crate::connection::{ConnectionId, Death, Side};
use crate::{Agent, Host, HostId, LogLine, NetEvent, NicBytes, Path, Post, Rail};

impl Net {
    /// The transport that moves the data.
    #[must_use]
    pub const fn transport(&self) -> Transport {
        self.transport
    }

    /// The settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What outages did to the queue pairs, and the devices' asynchronous events, in order.
    #[must_use]
    pub fn events(&self) -> &[NetEvent] {
        &self.events
    }

    /// Both ends' hosts: the sender's first.
    ///
    /// # Panics
    ///
    /// If the connection does not belong to this net.
    #[must_use]
    pub fn ends(&self, connection: ConnectionId) -> [HostId; 2] {
        let connection = self.connection(connection);
        [connection.send.host, connection.receive.host]
    }

    /// The hint slot of an end, from 0; `None` on NCCL's own transport.
    ///
    /// # Panics
    ///
    /// If the connection does not belong to this net.
    #[must_use]
    pub fn slot(&self, connection: ConnectionId, side: Side) -> Option<HintSlot> {
        self.connection(connection).end(side).slot
    }

    /// How many messages were sent on a connection with each mask, by its bits (0 to 3).
    ///
    /// # Panics
    ///
    /// If the connection does not belong to this net.
    #[must_use]
    pub fn masks(&self, connection: ConnectionId) -> [u64; 4] {
        self.connection(connection).masks
    }

    /// Every line that the plugins logged, in order.
    #[must_use]
    pub fn logs(&self) -> &[LogLine] {
        &self.logs
    }

    /// Every post, in order, if they are recorded.
    #[must_use]
    pub fn posts(&self) -> &[Post] {
        &self.posts
    }

    /// The hazards, in the order in which they occurred.
    #[must_use]
    pub fn hazards(&self) -> &[Hazard] {
        &self.hazards
    }

    /// The hosts' numbers.
    pub fn hosts(&self) -> impl Iterator<Item = HostId> + use<> {
        let count = u16::try_from(self.host_states.len()).expect("a net has at most 65535 hosts");
        (0..count).map(HostId::new)
    }

    /// The host with this name.
    #[must_use]
    pub fn host_named(&self, name: &str) -> Option<HostId> {
        self.hosts()
            .find(|host| self.host(*host).name.as_str() == name)
    }

    /// A host.
    ///
    /// # Panics
    ///
    /// If the net has no such host.
    #[must_use]
    pub fn host(&self, host: HostId) -> &Host {
        &self.host_state(host).host
    }

    /// A host's agent.
    ///
    /// # Panics
    ///
    /// If the net has no such host.
    pub fn agent_mut(&mut self, host: HostId) -> &mut Agent {
        &mut self.host_state_mut(host).host.agent
    }

    /// The byte counters of a NIC.
    ///
    /// # Panics
    ///
    /// If the net has no such host.
    #[must_use]
    pub fn nic(&self, host: HostId, rail: Rail) -> NicBytes {
        self.host_state(host).nics[rail]
    }

    /// How often a host's plugin has read its shared memory for a send.
    ///
    /// # Panics
    ///
    /// If the net has no such host.
    #[must_use]
    pub fn hint_reads(&self, host: HostId) -> u64 {
        self.host_state(host).hint_reads
    }

    /// The time and the cause of a connection's death.
    ///
    /// # Panics
    ///
    /// If the connection does not belong to this net.
    #[must_use]
    pub fn death(&self, connection: ConnectionId) -> Option<(SimTime, Death)> {
        self.connection(connection).dead
    }

    /// An end's use of its rails.
    ///
    /// # Panics
    ///
    /// If the connection does not belong to this net.
    #[must_use]
    pub fn path(&self, connection: ConnectionId, side: Side) -> &Path {
        &self.connection(connection).end(side).path
    }
}
