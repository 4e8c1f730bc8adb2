//! Reads the ports of devices that are monitored or may be, and their states. Start with
//! [`Discovery::read_ports`].

use std::slice;
use std::sync::Arc;

use super::identity::Draft;
use super::{Batch, Discovery, Learnt};
use crate::hands::{Answer, Hands, ReadError, Request};
use crate::memory::Memory;
use crate::name::{AssignedRole, DeviceName, PortNumber, parse_link_layer};
use crate::reading::{PhysState, Reading};
use crate::scope::Placement;
use crate::snapshot::{Blind, Seen, SeenPort, SeenPorts, SeenScope, Snapshot};

/// The state files of a port, in the order in which they are read.
const PORT_FILES: [&str; 3] = ["state", "phys_state", "link_layer"];

impl Discovery {
    /// Lists the ports of devices that are monitored or may be, and reads their states.
    pub(super) fn read_ports(
        &self,
        hands: &dyn Hands,
        drafts: Vec<Draft>,
        memory: &Memory,
        snapshot: &mut Snapshot,
        learnt: &mut Learnt,
    ) {
        let mut watched = Vec::new();
        for draft in drafts {
            let remembered = || {
                let key = draft.known.as_ref().map(|facts| &facts.key);
                let slot = memory.find(key, &draft.name)?;
                memory.slots.get(&slot).map(|slot| slot.role)
            };
            let placement = match (&draft.trouble, draft.known.as_deref()) {
                (Some(Blind::Race), _) => Err(Blind::Race),
                (Some(blind), None) => Err(*blind),
                (_, Some(facts)) => facts.placement.clone(),
                (None, None) => Err(Blind::Race),
            };
            let placement = match placement {
                Err(Blind::Unreadable(cause)) if draft.known.is_some() => remembered()
                    .map(Placement::Fixed)
                    .ok_or(Blind::Unreadable(cause)),
                other => other,
            };
            let scope = match &placement {
                Ok(Placement::Out(reason)) => SeenScope::Out(reason.clone()),
                Ok(_) => SeenScope::Unknown(Blind::Race),
                Err(blind) => match remembered() {
                    Some(role) => SeenScope::In(role, SeenPorts::Blind(*blind)),
                    None => SeenScope::Unknown(*blind),
                },
            };
            if let Ok(placement) = placement
                && !matches!(placement, Placement::Out(_))
            {
                watched.push((snapshot.devices.len(), placement));
            }
            snapshot.devices.push(Seen {
                name: draft.name,
                facts: draft.known,
                scope,
            });
        }
        let listed = self.list_ports(hands, &watched, snapshot, learnt);
        self.read_states(hands, &watched, listed, memory, snapshot, learnt);
    }

    /// The port numbers of each such device, in order.
    fn list_ports(
        &self,
        hands: &dyn Hands,
        watched: &[(usize, Placement)],
        snapshot: &mut Snapshot,
        learnt: &mut Learnt,
    ) -> Vec<Result<Vec<PortNumber>, Blind>> {
        let name = |(index, _): &(usize, Placement)| snapshot.devices[*index].name.clone();
        let names = watched.iter().map(name).collect();
        let list = |name: &DeviceName| Request::List(self.path(name, "ports"));
        let lists = Batch::of(&mut learnt.batches.ports, names, |names| {
            names.iter().map(list).collect()
        });
        let answers = hands.fetch(&lists.requests);
        let mut listed = Vec::with_capacity(watched.len());
        for (request, answer) in lists.requests.iter().zip(answers) {
            listed.push(match answer {
                Ok(Answer::Names(names)) => {
                    let mut numbers: Vec<PortNumber> = names
                        .iter()
                        .filter_map(|name| name.parse().ok().map(PortNumber))
                        .collect();
                    numbers.sort_unstable();
                    Ok(numbers)
                }
                Ok(_) => Err(Self::garbled(request.path(), snapshot)),
                Err(error) => Err(self.blind(request.path(), error, snapshot)),
            });
        }
        listed
    }

    fn read_states(
        &self,
        hands: &dyn Hands,
        watched: &[(usize, Placement)],
        listed: Vec<Result<Vec<PortNumber>, Blind>>,
        memory: &Memory,
        snapshot: &mut Snapshot,
        learnt: &mut Learnt,
    ) {
        let states = self.state_requests(watched, &listed, snapshot, learnt);
        let mut answers = hands.fetch(&states.requests).into_iter();
        let mut requests = states.requests.iter();
        for ((index, placement), numbers) in watched.iter().zip(listed) {
            let ports = match numbers {
                Err(blind) => Err(blind),
                Ok(numbers) => Ok(numbers
                    .into_iter()
                    .map(|number| self.one_port(number, &mut requests, &mut answers, snapshot))
                    .collect::<Vec<SeenPort>>()),
            };
            let seen = &snapshot.devices[*index];
            let key = seen.facts.as_ref().map(|facts| &facts.key);
            let remembered = || {
                let slot = memory.slots.get(&memory.find(key, &seen.name)?);
                slot.map(|slot| slot.role)
            };
            let scope = scope_of(placement, ports, remembered);
            snapshot.devices[*index].scope = scope;
        }
        self.read_operstates(hands, memory, snapshot);
    }

    fn state_requests(
        &self,
        watched: &[(usize, Placement)],
        listed: &[Result<Vec<PortNumber>, Blind>],
        snapshot: &Snapshot,
        learnt: &mut Learnt,
    ) -> Arc<Batch<(DeviceName, PortNumber)>> {
        let mut ports = Vec::new();
        for ((index, _), numbers) in watched.iter().zip(listed) {
            let name = &snapshot.devices[*index].name;
            let numbers = numbers.iter().flatten();
            ports.extend(numbers.map(|number| (name.clone(), *number)));
        }
        let reads = |(name, number): &(DeviceName, PortNumber)| {
            PORT_FILES
                .map(|file| Request::Read(self.path(name, format_args!("ports/{number}/{file}"))))
        };
        Batch::of(&mut learnt.batches.states, ports, |ports| {
            ports.iter().flat_map(reads).collect()
        })
    }

    fn one_port<'a>(
        &self,
        number: PortNumber,
        requests: &mut slice::Iter<'a, Request>,
        answers: &mut impl Iterator<Item = Result<Answer, ReadError>>,
        snapshot: &mut Snapshot,
    ) -> SeenPort {
        let mut next = |snapshot: &mut Snapshot| {
            let path = requests.next().map_or("", Request::path);
            let bytes = match answers.next() {
                Some(Ok(Answer::Bytes(bytes))) => Ok(bytes),
                Some(Err(error)) => Err(self.blind(path, error, snapshot)),
                _ => Err(Self::garbled(path, snapshot)),
            };
            (path, bytes)
        };
        let (path, bytes) = next(snapshot);
        let state = bytes.and_then(|bytes| {
            let state = self.policy.port_state(&bytes);
            state.ok_or_else(|| Self::garbled(path, snapshot))
        });
        let (path, bytes) = next(snapshot);
        let phys = bytes.and_then(|bytes| {
            PhysState::parse(&bytes).ok_or_else(|| Self::garbled(path, snapshot))
        });
        let (path, bytes) = next(snapshot);
        let layer = bytes.and_then(|bytes| {
            parse_link_layer(&String::from_utf8_lossy(&bytes))
                .ok_or_else(|| Self::garbled(path, snapshot))
        });
        let reading = match (state, phys) {
            (Ok(state), Ok(phys)) => Ok(self.policy.reading(Reading { state, phys })),
            (Err(Blind::Race), _) | (_, Err(Blind::Race)) => Err(Blind::Race),
            (Err(blind), _) | (_, Err(blind)) => Err(blind),
        };
        SeenPort {
            number,
            layer: layer.as_ref().ok().copied(),
            // Without the layer it is unknown which check a reading belongs to.
            reading: match layer {
                Ok(_) => reading,
                Err(blind) => Err(blind),
            },
            operstate: None,
            out: None,
        }
    }
}

/// The role of a device, given the layers of its ports; marks ports that are not monitored.
fn scope_of(
    placement: &Placement,
    ports: Result<Vec<SeenPort>, Blind>,
    remembered: impl Fn() -> Option<AssignedRole>,
) -> SeenScope {
    let fixed = match placement {
        Placement::Fixed(role) => Some(*role),
        Placement::Out(_) | Placement::ByLayer { .. } => None,
    };
    let ports = match ports {
        Ok(ports) => ports,
        Err(blind) => {
            return match fixed.or_else(remembered) {
                Some(role) => SeenScope::In(role, SeenPorts::Blind(blind)),
                None => SeenScope::Unknown(blind),
            };
        }
    };
    let mut role = None;
    let mut reason = None;
    let mut blind = None;
    let mut kept = Vec::with_capacity(ports.len());
    for port in ports {
        match (port.layer.map(|layer| placement.role(layer)), &port.reading) {
            (Some(Ok(of_port)), _) => {
                role.get_or_insert(of_port);
                kept.push(port);
            }
            (Some(Err(why)), _) => {
                reason.get_or_insert(why.clone());
                kept.push(SeenPort {
                    out: Some(why.clone()),
                    ..port
                });
            }
            (None, Err(why)) => {
                blind.get_or_insert(*why);
                kept.push(port);
            }
            (None, Ok(_)) => unreachable!("a port without a layer has no reading"),
        }
    }
    match (role.or(fixed), reason, blind) {
        (Some(role), _, _) => SeenScope::In(role, SeenPorts::Listed(kept)),
        (None, Some(reason), None) => SeenScope::Out(reason),
        (None, _, blind) => match (remembered(), blind) {
            (Some(role), _) => SeenScope::In(role, SeenPorts::Listed(kept)),
            (None, Some(blind)) => SeenScope::Unknown(blind),
            // Listed and without a port: too early to decide.
            (None, None) => SeenScope::Unknown(Blind::Race),
        },
    }
}
