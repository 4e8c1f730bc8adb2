//! How a poll reads: few batches, nothing twice, and no error mistaken for a value.
//!
//! The class folder is listed first, then the clocks are read, then every entry's link: it names the
//! PCI function, so what stands with the function ([`standing`]) is read again only when a device is
//! new, its identity changed, or an earlier read failed. Ports and their states are read each time.
//! The batches of a steady poll are kept ready ([`Plan`]).

mod counting;
mod standing;

pub(crate) use counting::{CounterPlan, Shapes, Target};

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::slice;
use std::sync::Arc;

use crate::chars;
use crate::config::Config;
use crate::flags::Paths;
use crate::hands::{Answer, Hands, ReadError, Request};
use crate::memory::{Memory, SlotKey};
use crate::metadata::Metadata;
use crate::name::{DeviceName, LinkLayer, PciFunction, PortNumber, Role};
use crate::reading::{PhysState, Reading};
use crate::route::default_route_interface;
use crate::schedule::Schedule;
use crate::scope::Placement;
use crate::sight::{
    Anchor, Blind, Cause, Facts, Identity, Seen, SeenPort, SeenPorts, SeenScope, Sight,
};
use crate::zoo::Hooks;

/// What is known of the host's default route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// The table cannot be read; asked again.
    Unread(ReadError),
    /// There is none.
    Absent,
    /// It leaves by that interface.
    Interface(String),
}

impl Route {
    pub(crate) fn read(bytes: Result<&[u8], ReadError>) -> Route {
        match bytes.map(default_route_interface) {
            Ok(Some(interface)) => Route::Interface(interface),
            Ok(None) | Err(ReadError::ENOENT) => Route::Absent,
            Err(error) => Route::Unread(error),
        }
    }
}

/// The requests of a steady poll, and what they were made for.
#[derive(Debug, Clone, Default)]
struct Plan {
    names: Vec<String>,
    devices: Vec<DeviceName>,
    links: Vec<Request>,
    listed: Vec<DeviceName>,
    lists: Vec<Request>,
    ports: Vec<(DeviceName, PortNumber)>,
    reads: Vec<Request>,
}

/// What a poll learnt besides what it saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Learnt {
    route: Option<Route>,
    plan: Option<Plan>,
    counter_plan: Option<Arc<CounterPlan>>,
    /// Some device's facts are new.
    facts_changed: bool,
}

/// Where to look, and what need not be read again.
#[derive(Debug, Clone)]
pub(crate) struct Eyes {
    pub(crate) config: Config,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) route: Route,
    pub(crate) route_path: String,
    pub(crate) boot_id_path: String,
    /// The boot id is still to be read.
    pub(crate) wants_boot_id: bool,
    pub(crate) enabled: Vec<LinkLayer>,
    anchor: Request,
    facts: BTreeMap<String, Arc<Facts>>,
    missing: BTreeSet<String>,
    plan: Plan,
    pub(crate) shapes: Shapes,
    /// Character devices are watched.
    wants_chars: bool,
    counter_plan: Arc<CounterPlan>,
    pub(crate) hooks: Hooks,
}

/// The state files of a port, in the order in which they are read.
const PORT_FILES: [&str; 3] = ["state", "phys_state", "link_layer"];

impl Eyes {
    pub(crate) fn new(
        config: Config,
        metadata: Option<Metadata>,
        route: Route,
        enabled: Vec<LinkLayer>,
        shapes: Shapes,
        wants_chars: bool,
        paths: &Paths,
    ) -> Eyes {
        Eyes {
            anchor: Request::List(config.sys_class_infiniband.clone()),
            config,
            metadata,
            route,
            route_path: paths.route.clone(),
            boot_id_path: paths.boot_id.clone(),
            wants_boot_id: false,
            enabled,
            facts: BTreeMap::new(),
            missing: BTreeSet::new(),
            plan: Plan::default(),
            shapes,
            wants_chars,
            counter_plan: Arc::default(),
            hooks: Hooks::default(),
        }
    }

    /// Looks once; an error when no clock could be read.
    pub(crate) fn look(
        &self,
        hands: &dyn Hands,
        memory: &Memory,
        schedule: &Schedule,
    ) -> Result<(Sight, Learnt), ReadError> {
        let mut learnt = Learnt::default();
        let listing = fetch_one(hands, &self.anchor);
        let mut sight = Sight::new(self.hooks.clocks(hands.clocks()?), Anchor::Listed);
        sight.due = schedule.due(sight.clocks.boot_ns);
        let listing = match listing {
            Ok(Answer::Names(names)) => Ok(names),
            Ok(_) => Err(ReadError::EIO),
            Err(error) => Err(error),
        };
        let mut names = match listing {
            Ok(names) => names,
            Err(error) => {
                sight.anchor = if error.is_absence() {
                    Anchor::Missing
                } else {
                    let path = self.config.sys_class_infiniband.clone();
                    sight.troubles.push((path, Cause::Failed(error)));
                    Anchor::Unreadable(error)
                };
                return Ok((sight, learnt));
            }
        };
        if self.wants_boot_id {
            let answer = fetch_one(hands, &Request::Read(self.boot_id_path.clone()));
            sight.boot_id = Some(boot_id(answer));
        }
        names.sort_unstable();
        names.dedup();
        let mut drafts = self.identify(hands, names, &mut sight, &mut learnt);
        self.read_standing(hands, &mut drafts, &mut sight, &mut learnt);
        disown(&mut drafts);
        self.read_ports(hands, drafts, memory, &mut sight, &mut learnt);
        if sight.due.counters && self.shapes.is_watching() {
            self.read_counters(hands, memory, &mut sight, &mut learnt);
        }
        if sight.due.state && self.wants_chars {
            let chars = chars::read::read(self, hands, &mut sight);
            sight.chars = Some(chars);
        }
        Ok((sight, learnt))
    }

    /// Keeps what need not be read again.
    pub(crate) fn keep(&mut self, sight: &Sight, learnt: Learnt) {
        if sight.anchor != Anchor::Listed {
            return;
        }
        if let Some(route) = learnt.route {
            self.route = route;
        }
        if let Some(plan) = learnt.plan {
            self.plan = plan;
        }
        if let Some(plan) = learnt.counter_plan {
            self.counter_plan = plan;
        }
        if learnt.facts_changed || self.facts.len() != sight.devices.len() {
            let known = sight.devices.iter().filter_map(|seen| {
                let facts = seen.facts.as_ref()?;
                Some((seen.name.to_string(), Arc::clone(facts)))
            });
            self.facts = known.collect();
        }
        self.missing.clone_from(&sight.missing);
    }

    pub(crate) fn path(&self, device: &DeviceName, rest: impl fmt::Display) -> String {
        let anchor = &self.config.sys_class_infiniband;
        format!("{anchor}/{device}/{rest}")
    }

    /// Sorts an error below a listed device into race and unreadable, and keeps the books.
    fn blind(&self, path: &str, error: ReadError, sight: &mut Sight) -> Blind {
        if error.is_absence() {
            sight.missing.insert(path.to_owned());
            if !self.missing.contains(path) {
                return Blind::Race;
            }
        }
        sight.troubles.push((path.to_owned(), Cause::Failed(error)));
        Blind::Unreadable(Cause::Failed(error))
    }

    fn garbled(path: &str, sight: &mut Sight) -> Blind {
        sight.troubles.push((path.to_owned(), Cause::Garbled));
        Blind::Unreadable(Cause::Garbled)
    }

    /// Reads every entry's link, and `uevent` where the entry is none.
    fn identify(
        &self,
        hands: &dyn Hands,
        names: Vec<String>,
        sight: &mut Sight,
        learnt: &mut Learnt,
    ) -> Vec<Draft> {
        let is_steady = names == self.plan.names;
        let links = if is_steady {
            Cow::Borrowed(&self.plan.links)
        } else {
            let anchor = &self.config.sys_class_infiniband;
            let link = |name: &String| Request::ReadLink(format!("{anchor}/{name}"));
            Cow::Owned(names.iter().map(link).collect())
        };
        let answers = hands.fetch(&links);
        let devices = if is_steady {
            Cow::Borrowed(&self.plan.devices)
        } else {
            Cow::Owned(names.iter().map(|name| name.as_str().into()).collect())
        };
        let mut drafts: Vec<Draft> = names
            .iter()
            .zip(devices.iter())
            .map(|(name, device)| Draft {
                name: device.clone(),
                known: self.facts.get(name).map(Arc::clone),
                identity: None,
                trouble: None,
            })
            .collect();
        let mut folders = Vec::new();
        for (index, answer) in answers.into_iter().enumerate() {
            let Some(draft) = drafts.get_mut(index) else {
                break;
            };
            match answer {
                Ok(Answer::Target(target)) => draft.identity = Some(Identity::Link(target)),
                Err(ReadError::EINVAL) => folders.push(index),
                Err(error) => {
                    draft.trouble = Some(self.blind(links[index].path(), error, sight));
                }
                Ok(_) => draft.trouble = Some(Self::garbled(links[index].path(), sight)),
            }
        }
        if !folders.is_empty() {
            self.identify_folders(hands, &folders, &mut drafts, sight);
        }
        if !is_steady {
            learnt.plan = Some(Plan {
                links: links.into_owned(),
                devices: devices.into_owned(),
                names,
                ..Plan::default()
            });
        }
        drafts
    }

    fn identify_folders(
        &self,
        hands: &dyn Hands,
        folders: &[usize],
        drafts: &mut [Draft],
        sight: &mut Sight,
    ) {
        let requests: Vec<Request> = folders
            .iter()
            .map(|&index| Request::Read(self.path(&drafts[index].name, "device/uevent")))
            .collect();
        let answers = hands.fetch(&requests);
        for ((&index, request), answer) in folders.iter().zip(&requests).zip(answers) {
            let draft = &mut drafts[index];
            match answer {
                Ok(Answer::Bytes(bytes)) => {
                    let text = String::from_utf8_lossy(&bytes);
                    draft.identity = Some(Identity::Folder(PciFunction::from_uevent(&text)));
                }
                // A device without a bus has no `uevent` to speak of: it goes by its name.
                Err(ReadError::ENOENT) => draft.identity = Some(Identity::Folder(None)),
                Err(error) => draft.trouble = Some(self.blind(request.path(), error, sight)),
                Ok(_) => draft.trouble = Some(Self::garbled(request.path(), sight)),
            }
        }
    }

    /// Lists the ports of what is monitored, or may be, and reads their states.
    fn read_ports(
        &self,
        hands: &dyn Hands,
        drafts: Vec<Draft>,
        memory: &Memory,
        sight: &mut Sight,
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
                watched.push((sight.devices.len(), placement));
            }
            sight.devices.push(Seen {
                name: draft.name,
                facts: draft.known,
                scope,
            });
        }
        let listed = self.list_ports(hands, &watched, sight, learnt);
        self.read_states(hands, &watched, listed, memory, sight, learnt);
    }

    /// The port numbers of each watched device, in order.
    fn list_ports(
        &self,
        hands: &dyn Hands,
        watched: &[(usize, Placement)],
        sight: &mut Sight,
        learnt: &mut Learnt,
    ) -> Vec<Result<Vec<PortNumber>, Blind>> {
        let names = |index: &(usize, Placement)| sight.devices[index.0].name.clone();
        let is_steady = learnt.plan.is_none()
            && watched.len() == self.plan.listed.len()
            && watched
                .iter()
                .zip(&self.plan.listed)
                .all(|((index, _), name)| sight.devices[*index].name == *name);
        let lists = if is_steady {
            Cow::Borrowed(&self.plan.lists)
        } else {
            let listed: Vec<DeviceName> = watched.iter().map(names).collect();
            let list = |name: &DeviceName| Request::List(self.path(name, "ports"));
            let lists: Vec<Request> = listed.iter().map(list).collect();
            let plan = learnt.plan.get_or_insert_with(|| self.plan.clone());
            (plan.listed, plan.lists) = (listed, lists.clone());
            Cow::Owned(lists)
        };
        let answers = hands.fetch(&lists);
        let mut listed = Vec::with_capacity(watched.len());
        for (request, answer) in lists.iter().zip(answers) {
            listed.push(match answer {
                Ok(Answer::Names(names)) => {
                    let mut numbers: Vec<PortNumber> = names
                        .iter()
                        .filter_map(|name| name.parse().ok().map(PortNumber))
                        .collect();
                    numbers.sort_unstable();
                    Ok(numbers)
                }
                Ok(_) => Err(Self::garbled(request.path(), sight)),
                Err(error) => Err(self.blind(request.path(), error, sight)),
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
        sight: &mut Sight,
        learnt: &mut Learnt,
    ) {
        let reads = self.state_requests(watched, &listed, sight, learnt);
        let mut answers = hands.fetch(&reads).into_iter();
        let mut requests = reads.iter();
        for ((index, placement), numbers) in watched.iter().zip(listed) {
            let ports = match numbers {
                Err(blind) => Err(blind),
                Ok(numbers) => Ok(numbers
                    .into_iter()
                    .map(|number| self.one_port(number, &mut requests, &mut answers, sight))
                    .collect::<Vec<SeenPort>>()),
            };
            let seen = &sight.devices[*index];
            let key = seen.facts.as_ref().map(|facts| &facts.key);
            let slot = memory
                .find(key, &seen.name)
                .and_then(|key| memory.slots.get(&key));
            let remembered = slot.map(|slot| slot.role);
            sight.devices[*index].scope = scope_of(placement, ports, remembered);
        }
        self.read_operstates(hands, memory, sight);
    }

    fn state_requests(
        &self,
        watched: &[(usize, Placement)],
        listed: &[Result<Vec<PortNumber>, Blind>],
        sight: &Sight,
        learnt: &mut Learnt,
    ) -> Cow<'_, [Request]> {
        let wanted = || {
            watched
                .iter()
                .zip(listed)
                .flat_map(|((index, _), numbers)| {
                    let name = &sight.devices[*index].name;
                    numbers.iter().flatten().map(move |number| (name, *number))
                })
        };
        let is_steady = learnt.plan.is_none()
            && wanted().eq(self.plan.ports.iter().map(|(name, number)| (name, *number)));
        if is_steady {
            return Cow::Borrowed(&self.plan.reads);
        }
        let reads: Vec<Request> = wanted()
            .flat_map(|(name, number)| {
                PORT_FILES.map(|file| {
                    Request::Read(self.path(name, format_args!("ports/{number}/{file}")))
                })
            })
            .collect();
        let ports = wanted()
            .map(|(name, number)| (name.clone(), number))
            .collect();
        let plan = learnt.plan.get_or_insert_with(|| self.plan.clone());
        (plan.ports, plan.reads) = (ports, reads.clone());
        Cow::Owned(reads)
    }

    fn one_port<'a>(
        &self,
        number: PortNumber,
        requests: &mut slice::Iter<'a, Request>,
        answers: &mut impl Iterator<Item = Result<Answer, ReadError>>,
        sight: &mut Sight,
    ) -> SeenPort {
        let mut next = |sight: &mut Sight| {
            let path = requests.next().map_or("", Request::path);
            let bytes = match answers.next() {
                Some(Ok(Answer::Bytes(bytes))) => Ok(bytes),
                Some(Err(error)) => Err(self.blind(path, error, sight)),
                _ => Err(Self::garbled(path, sight)),
            };
            (path, bytes)
        };
        let (path, bytes) = next(sight);
        let state = bytes.and_then(|bytes| {
            let state = self.hooks.port_state(&bytes);
            state.ok_or_else(|| Self::garbled(path, sight))
        });
        let (path, bytes) = next(sight);
        let phys = bytes
            .and_then(|bytes| PhysState::parse(&bytes).ok_or_else(|| Self::garbled(path, sight)));
        let (path, bytes) = next(sight);
        let layer = bytes.and_then(|bytes| {
            LinkLayer::parse(&String::from_utf8_lossy(&bytes))
                .ok_or_else(|| Self::garbled(path, sight))
        });
        let reading = match (state, phys) {
            (Ok(state), Ok(phys)) => Ok(self.hooks.reading(Reading { state, phys })),
            (Err(Blind::Race), _) | (_, Err(Blind::Race)) => Err(Blind::Race),
            (Err(blind), _) | (_, Err(blind)) => Err(blind),
        };
        SeenPort {
            number,
            layer: layer.as_ref().ok().copied(),
            // Without its layer nobody knows which check a reading belongs to.
            reading: match layer {
                Ok(_) => reading,
                Err(blind) => Err(blind),
            },
            operstate: None,
            out: None,
        }
    }

    /// Reads `operstate` where it would join a message: RoCE ports that are unhealthy, and of which
    /// the worst is not said yet.
    fn read_operstates(&self, hands: &dyn Hands, memory: &Memory, sight: &mut Sight) {
        let mut wanted = Vec::new();
        for (index, seen) in sight.devices.iter().enumerate() {
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
            let operstate = self.operstate(hands, &sight.devices[index].name);
            if let SeenScope::In(_, SeenPorts::Listed(ports)) = &mut sight.devices[index].scope {
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

    /// The network interfaces of a device, in order of their names.
    pub(crate) fn interfaces(&self, hands: &dyn Hands, device: &DeviceName) -> Vec<String> {
        match fetch_one(hands, &Request::List(self.path(device, "device/net"))) {
            Ok(Answer::Names(mut names)) => {
                names.sort_unstable();
                names
            }
            _ => Vec::new(),
        }
    }
}

/// A device on its way to being seen.
#[derive(Debug)]
struct Draft {
    name: DeviceName,
    known: Option<Arc<Facts>>,
    identity: Option<Identity>,
    /// Why its identity could not be read.
    trouble: Option<Blind>,
}

/// An entry that cannot be read is taken for whom it last was, unless that one is here under another
/// name.
fn disown(drafts: &mut [Draft]) {
    if drafts.iter().all(|draft| draft.trouble.is_none()) {
        return;
    }
    let of = |draft: &Draft| draft.known.as_ref().map(|facts| facts.key.clone());
    let read = drafts.iter().filter(|draft| draft.trouble.is_none());
    let here: BTreeSet<SlotKey> = read.filter_map(of).collect();
    for draft in drafts.iter_mut().filter(|draft| draft.trouble.is_some()) {
        if of(draft).is_some_and(|key| here.contains(&key)) {
            draft.known = None;
        }
    }
}

/// The role of a device by the layers of its ports; ports that are out are marked.
fn scope_of(
    placement: &Placement,
    ports: Result<Vec<SeenPort>, Blind>,
    remembered: Option<Role>,
) -> SeenScope {
    let fixed = match placement {
        Placement::Fixed(role) => Some(*role),
        Placement::Out(_) | Placement::ByLayer { .. } => None,
    };
    let ports = match (ports, fixed.or(remembered)) {
        (Ok(ports), _) => ports,
        (Err(blind), Some(role)) => return SeenScope::In(role, SeenPorts::Blind(blind)),
        (Err(blind), None) => return SeenScope::Unknown(blind),
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
        (None, _, blind) => match (remembered, blind) {
            (Some(role), _) => SeenScope::In(role, SeenPorts::Listed(kept)),
            (None, Some(blind)) => SeenScope::Unknown(blind),
            // Listed, and without a port: nothing to say of it yet.
            (None, None) => SeenScope::Unknown(Blind::Race),
        },
    }
}

pub(crate) fn fetch_one(hands: &dyn Hands, request: &Request) -> Result<Answer, ReadError> {
    let mut answers = hands.fetch(slice::from_ref(request));
    answers.pop().unwrap_or(Err(ReadError::EIO))
}

/// The boot id of a file's bytes; an empty one is garbled.
pub(crate) fn boot_id(answer: Result<Answer, ReadError>) -> Result<String, Cause> {
    match answer {
        Ok(Answer::Bytes(bytes)) => {
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            if text.is_empty() {
                Err(Cause::Garbled)
            } else {
                Ok(text)
            }
        }
        Ok(_) => Err(Cause::Garbled),
        Err(error) => Err(Cause::Failed(error)),
    }
}

/// The key that a device's faults follow.
pub(crate) fn slot_key(name: &DeviceName, function: Option<&PciFunction>) -> SlotKey {
    match function {
        Some(function) => SlotKey::Function(function.clone()),
        None => SlotKey::Name(name.clone()),
    }
}
