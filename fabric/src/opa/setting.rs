//! What a Set(PortInfo) does to a port.
//!
//! Whether it may is `state.rs`'s. Start at [`Network::set`].

use super::{
    deed::{DeedError, Reply, SetPortInfo},
    kernel::state_line,
    layout::EndRef,
    network::Network,
    reason::LinkDownReason,
    state::{Change, Logical, Physical, change},
};

impl Network {
    /// Asks a port for other states, and to forget its reasons.
    ///
    /// # Errors
    ///
    /// The node is off, or the port refuses; then nothing has changed.
    pub fn set(&mut self, request: &SetPortInfo) -> Result<Reply, DeedError> {
        let end = &request.end;
        self.powered(end)?;
        let port = self.port(end)?;
        let (logical, physical) = (port.logical, port.physical);
        let asked = (
            request.logical.map_or(0, Logical::code),
            request.physical.map_or(0, Physical::code),
        );
        let verdict = change((logical.code(), physical.code()), asked);
        if verdict == Change::Refused {
            let to = request.physical.map_or_else(
                || request.logical.map_or(String::new(), |to| to.to_string()),
                |to| to.to_string(),
            );
            let from = if request.physical.is_some() {
                physical.to_string()
            } else {
                logical.to_string()
            };
            self.log(end, state_line::refused(&from, &to));
            let end = end.clone();
            return Err(DeedError::Refused { end, from, to });
        }
        let host = self.host(&end.node).is_ok();
        self.port_mut(end)
            .record
            .clear(request.clear_local, request.clear_neighbour);
        if verdict == Change::Ignored {
            return Ok(Reply::Answered);
        }
        let reply = match request.physical.filter(|asked| *asked != physical) {
            Some(Physical::Disabled) => {
                self.port_mut(end).testing = false;
                self.initiate(end, LinkDownReason::SMA_DISABLED, true)?;
                if host { Reply::Silent } else { Reply::Answered }
            }
            Some(Physical::Polling) if physical == Physical::LinkUp => {
                self.initiate(end, LinkDownReason::FM_BOUNCE, true)?;
                Reply::Answered
            }
            Some(Physical::Polling) => {
                self.relent(end, LinkDownReason::SMA_DISABLED)?;
                Reply::Answered
            }
            Some(Physical::Test) => {
                self.port_mut(end).testing = true;
                self.settle(end);
                Reply::Answered
            }
            _ => {
                self.walk_up(end, request.logical);
                Reply::Answered
            }
        };
        self.advance(self.now);
        Ok(reply)
    }

    /// A logical state that was asked for and may be taken: `Armed` from `Init` alone. A port becomes
    /// active only beside an armed neighbour.
    fn walk_up(&mut self, end: &EndRef, asked: Option<Logical>) {
        let now = self.now;
        match asked {
            Some(Logical::Armed) => {
                let port = self.port_mut(end);
                port.go(Logical::Armed, Physical::LinkUp, now);
                port.configured = true;
            }
            Some(Logical::Active) if self.neighbour_is_normal(end) => self.make_active(end),
            _ => {}
        }
    }
}
