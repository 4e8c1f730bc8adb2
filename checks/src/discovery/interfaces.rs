//! Reads the network interfaces of a device, and `operstate` for messages. Start with
//! [`Discovery::read_operstates`].

use terms::LinkLayer;

use super::{Discovery, fetch_one};
use crate::hands::{Answer, Hands, Request};
use crate::memory::Memory;
use crate::name::DeviceName;
use crate::snapshot::{SeenPorts, SeenScope, Snapshot};

impl Discovery {
    /// Reads `operstate` where a message may contain it: for RoCE ports that are unhealthy and
    /// whose worst severity is not reported yet.
    pub(super) fn read_operstates(
        &self,
        hands: &dyn Hands,
        memory: &Memory,
        snapshot: &mut Snapshot,
    ) {
        let mut wanted = Vec::new();
        for (index, seen) in snapshot.devices.iter().enumerate() {
            let SeenScope::In(_, SeenPorts::Listed(ports)) = &seen.scope else {
                continue;
            };
            let key = seen.facts.as_ref().map(|facts| &facts.key);
            for (place, port) in ports.iter().enumerate() {
                let is_sick = port.layer == Some(LinkLayer::Ethernet)
                    && port
                        .reading
                        .as_ref()
                        .is_ok_and(|reading| !reading.is_healthy());
                if is_sick && port.out.is_none() && memory.may_speak_of(key, seen, port) {
                    wanted.push((index, place));
                }
            }
        }
        for (index, place) in wanted {
            let operstate = self.operstate(hands, &snapshot.devices[index].name);
            if let SeenScope::In(_, SeenPorts::Listed(ports)) = &mut snapshot.devices[index].scope {
                ports[place].operstate = operstate;
            }
        }
    }

    fn operstate(&self, hands: &dyn Hands, device: &DeviceName) -> Option<String> {
        let interface = self.interfaces(hands, device).into_iter().next()?;
        let net = &self.config.sys_class_net;
        let request = Request::Read(format!("{net}/{interface}/operstate"));
        let Ok(Answer::Bytes(bytes)) = fetch_one(hands, &request) else {
            return None;
        };
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// The network interfaces of a device, in order of name.
    pub(crate) fn interfaces(&self, hands: &dyn Hands, device: &DeviceName) -> Vec<String> {
        interfaces(hands, &self.interfaces_request(device))
    }

    pub(super) fn interfaces_request(&self, device: &DeviceName) -> Request {
        Request::List(self.path(device, "device/net"))
    }
}

pub(super) fn interfaces(hands: &dyn Hands, request: &Request) -> Vec<String> {
    match fetch_one(hands, request) {
        Ok(Answer::Names(mut names)) => {
            names.sort_unstable();
            names
        }
        _ => Vec::new(),
    }
}
