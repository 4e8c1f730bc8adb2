//! Starting plugins and making connections.

use super::{HostState, Net, Transport};
use crate::connection::{ConnectError, Connection, ConnectionId, End};
use crate::log::{self, Speaker};
use crate::{
    FlowId, HostId, LogLine, Mode, MpibProfile, Parameters, Path, PathClass, Rail, RailState,
    Refusal,
};

use platforms::LinkLayer;

impl Net {
    /// Starts the plugin of a host's rank, as NCCL does before it lists any device.
    ///
    /// # Errors
    ///
    /// If the plugin refuses to start. It has logged nothing then.
    pub fn init(&mut self, host: HostId) -> Result<(), Refusal> {
        let host_state = self.host_state(host);
        let parameters = Parameters::read(&host_state.host.environment)?;
        let mut speed_mbps: u32 = 0;
        for rail in Rail::BOTH {
            let nic = &host_state.host.nics[rail];
            let device = match rail {
                Rail::Sout => parameters.hca_sout.clone(),
                Rail::Sup => parameters.hca_sup.clone(),
            };
            if nic.device != device {
                return Err(Refusal::NoDevice { device });
            }
            if nic.link_layer != LinkLayer::Ethernet {
                return Err(Refusal::NotEthernet { device });
            }
            speed_mbps = speed_mbps.saturating_add(nic.speed_mbps);
        }
        match host_state.host.agent.map() {
            None => return Err(Refusal::NoHints),
            Some(memory) => memory?,
        };
        self.log(host, Speaker::Init, log::using(&parameters, speed_mbps));
        self.host_state_mut(host).parameters = Some(parameters);
        Ok(())
    }

    /// Uses NCCL's own transport, as NCCL does if a plugin refuses to start.
    pub fn fall_back(&mut self) {
        self.transport = Transport::Internal;
    }

    /// Makes a connection on which `from` sends to `to`: `connect` at one end, `accept` at the other.
    ///
    /// Each end classifies by its own environment and registers with its own agent, the connecting
    /// end first. If the accepting end fails, the other releases its slot.
    ///
    /// # Errors
    ///
    /// If a plugin is not loaded, a rail with queue pairs is not up, or an agent assigns no slot.
    pub fn connect(&mut self, from: HostId, to: HostId) -> Result<ConnectionId, ConnectError> {
        let paths = match self.transport {
            Transport::Mpib => (self.path_of(from, to)?, self.path_of(to, from)?),
            Transport::Internal => (Path::internal(), Path::internal()),
        };
        for (host, path) in [(from, &paths.0), (to, &paths.1)] {
            self.require_rails(host, path)?;
        }
        let send = self.make_end(from, to, paths.0, Speaker::Connect)?;
        let receive = match self.make_end(to, from, paths.1, Speaker::Accept) {
            Ok(end) => end,
            Err(error) => {
                if self.transport == Transport::Mpib {
                    // Like the plugin, it ignores the agent's answer.
                    let _ = self.agent_mut(from).deregister(send.flow);
                }
                return Err(error);
            }
        };
        let id = u32::try_from(self.connections.len()).expect("fewer connections than numbers");
        self.connections.push(Connection::new(send, receive));
        Ok(ConnectionId(id))
    }

    /// The path of `local` for a connection with `remote`.
    fn path_of(&self, local: HostId, remote: HostId) -> Result<Path, ConnectError> {
        let parameters = self.loaded(local)?;
        let (source, destination) = self.classified_by(local, remote);
        let class = parameters.island_prefix.class(source, destination);
        Ok(Path::new(self.settings.profile, parameters, class))
    }

    fn loaded(&self, host: HostId) -> Result<&Parameters, ConnectError> {
        let parameters = self.host_state(host).parameters.as_ref();
        parameters.ok_or(ConnectError::NotLoaded { host })
    }

    /// The addresses that determine islands: those in the SOUT GIDs, or in the second generation
    /// those of the control connection.
    fn classified_by(&self, local: HostId, remote: HostId) -> (u32, u32) {
        let address = |host| {
            let HostState { host, .. } = self.host_state(host);
            match self.settings.profile {
                MpibProfile::Spec | MpibProfile::G1 => host.nics.sout.gid.ipv4_bits(),
                MpibProfile::G2 => host.oob.to_bits(),
            }
        };
        (address(local), address(remote))
    }

    fn require_rails(&self, host: HostId, path: &Path) -> Result<(), ConnectError> {
        for rail in Rail::BOTH {
            if path.queue_pairs()[rail] > 0 && self.host_state(host).rails[rail] != RailState::Up {
                return Err(ConnectError::RailNotUp { host, rail });
            }
        }
        Ok(())
    }

    fn make_end(
        &mut self,
        local: HostId,
        remote: HostId,
        path: Path,
        speaker: Speaker,
    ) -> Result<End, ConnectError> {
        let host_state = self.host_state_mut(local);
        host_state.flows = host_state.flows.wrapping_add(1);
        // There is one rank per host: the process has the host's number, counted from 1.
        let flow = FlowId::new(local.number().wrapping_add(1), host_state.flows);
        let Some(class) = path.class() else {
            return Ok(End::new(local, flow, None, path));
        };
        self.log_classification(local, remote, class, speaker);
        let source = self.host(local).nics.sout.gid.ipv4_bits();
        let destination = self.host(remote).nics.sout.gid.ipv4_bits();
        let slot = self.agent_mut(local).register(flow, source, destination);
        let slot = slot.map_err(|reason| ConnectError::Unregistered {
            host: local,
            reason,
        })?;
        Ok(End::new(local, flow, Some(slot), path))
    }

    fn log_classification(
        &mut self,
        local: HostId,
        remote: HostId,
        class: PathClass,
        speaker: Speaker,
    ) {
        let Some(parameters) = self.host_state(local).parameters.clone() else {
            return;
        };
        let profile = self.settings.profile;
        if profile == MpibProfile::G2 {
            // The second generation's own classification text is not known.
            if (parameters.mode, class) == (Mode::Vanilla, PathClass::Inter) {
                let text = log::suppressed(parameters.sup_queue_pairs);
                self.log(local, speaker, text);
            }
            return;
        }
        if profile == MpibProfile::G1 {
            for host in [local, remote] {
                let gid = self.host(host).nics.sout.gid;
                if !gid.is_ipv4() {
                    self.log(local, speaker, log::not_ipv4(gid));
                }
            }
            if parameters.is_prefix_replaced {
                self.log(local, speaker, log::prefix_replaced(&parameters));
            }
        }
        let (source, destination) = self.classified_by(local, remote);
        let text = log::classification(class, source, destination);
        self.log(local, speaker, text);
    }

    fn log(&mut self, host: HostId, speaker: Speaker, text: String) {
        let at = self.now;
        self.logs.push(LogLine {
            at,
            host,
            speaker,
            text,
        });
    }
}
