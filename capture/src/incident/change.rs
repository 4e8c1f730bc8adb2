//! The differences between two snapshots, as actions of the scenario language.

use std::collections::{BTreeMap, BTreeSet};

use fabric::{Action, CounterChange, DeviceAction, FunctionRef, NodeAction, PortAction};
use platforms::{CounterValue, DeviceName, PciAddress, PhysState, PortNumber, PortState, SlotRef};
use simfs::Errno;

use super::seen::{DeviceSeen, FileSeen, PortSeen, Seen};

/// The ports of the platform at rest, each with its device's name then.
pub(super) type Slots = BTreeMap<SlotRef, DeviceName>;

/// An action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The port it is about, or a port of its device; `None` for the whole node.
    slot: Option<SlotRef>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    ListFails(Errno),
    Lists,
    Unload,
    Load,
    Remove,
    Restore,
    Leave,
    Return,
    Rename(DeviceName),
    RemovePort,
    RestorePort,
    Set(Option<PortState>, Option<PhysState>),
    Operstate(String),
    Counter(String, CounterValue),
    ReadFails(String, Errno),
    Reads(String),
}

/// A rule on reading.
pub(super) struct Rule<'a> {
    /// The file of a port; `None` for the listing of the devices.
    pub(super) file: Option<(&'a SlotRef, &'a str)>,
    /// The error; `None` if reading succeeds again.
    pub(super) fails: Option<Errno>,
}

/// The differences: actions, and those that cannot be expressed.
pub(super) type Differences = (Vec<Change>, BTreeSet<String>);

/// Whether the devices can be listed.
pub(super) fn rules(shown: &Seen, seen: &Seen, _: &Slots) -> Differences {
    let of = |kind| Change { slot: None, kind };
    let change = match (&shown.devices, &seen.devices) {
        (Err(before), Err(now)) if before == now => None,
        (Ok(_), Ok(_)) => None,
        (_, Err(now)) => Some(of(Kind::ListFails(*now))),
        (Err(_), Ok(_)) => Some(of(Kind::Lists)),
    };
    (change.into_iter().collect(), BTreeSet::new())
}

/// Devices that are back on the bus and listed.
pub(super) fn returns(shown: &Seen, seen: &Seen, slots: &Slots) -> Differences {
    let listed = seen.devices.iter().flat_map(BTreeMap::keys);
    let back = listed.filter(|pci| seen.functions.contains(pci) && !shown.functions.contains(pci));
    let changes = back.filter_map(|pci| {
        let slot = Some(first_slot(slots, pci)?.clone());
        let kind = Kind::Restore;
        Some(Change { slot, kind })
    });
    (changes.collect(), BTreeSet::new())
}

/// Devices that are present, their names and their ports.
pub(super) fn presence(shown: &Seen, seen: &Seen, slots: &Slots) -> Differences {
    let (mut changes, mut unsaid) = (Vec::new(), BTreeSet::new());
    let (Ok(before), Ok(now)) = (&shown.devices, &seen.devices) else {
        return (changes, unsaid);
    };
    let on_bus = |pci: &PciAddress| seen.functions.contains(pci);
    let whole = |kind| Change { slot: None, kind };
    if now.is_empty() && !before.is_empty() && before.keys().all(on_bus) {
        return (vec![whole(Kind::Unload)], unsaid);
    }
    // If all devices of a node disappeared but stayed on the bus, their driver was unloaded.
    let was_unloaded = before.is_empty() && shown.functions.iter().any(|pci| is_nic(slots, pci));
    if was_unloaded && !now.is_empty() {
        changes.push(whole(Kind::Load));
    }
    for (pci, device) in now {
        let Some(slot) = first_slot(slots, pci) else {
            unsaid.insert(format!(
                "`{}` at {pci}, which is not there at rest",
                device.name
            ));
            continue;
        };
        let of = |kind| Change {
            slot: Some(slot.clone()),
            kind,
        };
        match before.get(pci) {
            Some(was) => {
                if was.name != device.name {
                    changes.push(of(Kind::Rename(DeviceName(device.name.clone()))));
                }
                ports_listed(slot, was, device, &mut changes);
            }
            None if was_unloaded => {}
            None if shown.functions.contains(pci) => changes.push(of(Kind::Return)),
            None => changes.push(of(Kind::Restore)),
        }
    }
    // Functions that are on the bus again, without their device yet.
    for pci in seen
        .functions
        .iter()
        .filter(|pci| !shown.functions.contains(pci))
    {
        if let Some(slot) = first_slot(slots, pci).filter(|_| !now.contains_key(pci)) {
            let (slot, kind) = (Some(slot.clone()), Kind::Restore);
            changes.push(Change { slot, kind });
        }
    }
    for pci in before.keys().filter(|pci| !now.contains_key(pci)) {
        let slot = first_slot(slots, pci).cloned();
        let kind = if on_bus(pci) {
            Kind::Leave
        } else {
            Kind::Remove
        };
        changes.push(Change { slot, kind });
    }
    (changes, unsaid)
}

fn ports_listed(slot: &SlotRef, was: &DeviceSeen, now: &DeviceSeen, changes: &mut Vec<Change>) {
    let mut of = |port: PortNumber, kind| {
        let slot = SlotRef {
            port,
            ..slot.clone()
        };
        let slot = Some(slot);
        changes.push(Change { slot, kind });
    };
    for port in was.ports.keys().filter(|it| !now.ports.contains_key(it)) {
        of(*port, Kind::RemovePort);
    }
    for port in now.ports.keys().filter(|it| !was.ports.contains_key(it)) {
        of(*port, Kind::RestorePort);
    }
}

/// The values of the ports.
pub(super) fn ports(shown: &Seen, seen: &Seen, slots: &Slots) -> Differences {
    let (mut changes, mut unsaid) = (Vec::new(), BTreeSet::new());
    let (Ok(before), Ok(now)) = (&shown.devices, &seen.devices) else {
        return (changes, unsaid);
    };
    for slot in slots.keys() {
        let (Some(was), Some(device)) = (before.get(&slot.pci), now.get(&slot.pci)) else {
            continue;
        };
        let (was, port) = (was.ports.get(&slot.port), device.ports.get(&slot.port));
        if let (Some(was), Some(port)) = (was, port) {
            port_shows(slot, &device.name, was, port, &mut changes, &mut unsaid);
        }
    }
    (changes, unsaid)
}

fn port_shows(
    slot: &SlotRef,
    device: &str,
    was: &PortSeen,
    now: &PortSeen,
    changes: &mut Vec<Change>,
    unsaid: &mut BTreeSet<String>,
) {
    let mut of = |kind| {
        let slot = Some(slot.clone());
        changes.push(Change { slot, kind });
    };
    let is_counter = |file: &str| file.contains('/') || file == "carrier_changes";
    let (mut state, mut phys_state) = (None, None);
    for (file, now) in now {
        let Some(was) = was.get(file) else {
            unsaid.insert(format!("the file `{file}`, which the driver's file lacks"));
            continue;
        };
        if was == now {
            continue;
        }
        let name = file.rsplit('/').next().unwrap_or(file);
        match now {
            _ if is_counter(file) => {
                let value = match now {
                    FileSeen::Fails(errno) => CounterValue::Fails(*errno),
                    FileSeen::Text(text) => match text.parse() {
                        Ok(count) => CounterValue::Count(count),
                        Err(_) => CounterValue::Text(text.clone()),
                    },
                };
                of(Kind::Counter(name.to_owned(), value));
            }
            FileSeen::Fails(errno) if file != "operstate" => {
                of(Kind::ReadFails(file.clone(), *errno));
            }
            FileSeen::Text(text) => {
                if let FileSeen::Fails(_) = was {
                    of(Kind::Reads(file.clone()));
                }
                let number = text
                    .split_once(':')
                    .and_then(|(number, _)| number.parse().ok());
                match (file.as_str(), number) {
                    ("operstate", _) => of(Kind::Operstate(text.clone())),
                    ("state", Some(number)) => state = Some(PortState(number)),
                    ("phys_state", Some(number)) => phys_state = Some(PhysState(number)),
                    _ => {
                        unsaid.insert(format!("`{text}` in `{file}` of `{device}`"));
                    }
                }
            }
            FileSeen::Fails(errno) => {
                unsaid.insert(format!("{errno} of `{file}` of `{device}`"));
            }
        }
    }
    for file in was.keys().filter(|file| !now.contains_key(*file)) {
        unsaid.insert(format!("the absence of the file `{file}`"));
    }
    if state.is_some() || phys_state.is_some() {
        of(Kind::Set(state, phys_state));
    }
}

/// The remaining difference after all expressible actions.
pub(super) fn left(shown: &Seen, seen: &Seen) -> Option<String> {
    if shown == seen {
        return None;
    }
    let (Ok(before), Ok(now)) = (&shown.devices, &seen.devices) else {
        return Some("how listing the devices ends".to_owned());
    };
    let differs = |pci: &&PciAddress| before.get(*pci) != now.get(*pci);
    if let Some(pci) = before.keys().chain(now.keys()).find(differs) {
        let name = now
            .get(pci)
            .or(before.get(pci))
            .map_or("", |device| &device.name);
        let file = before.get(pci).zip(now.get(pci)).and_then(|(was, now)| {
            let ports = was.ports.iter().zip(&now.ports);
            let files = ports.flat_map(|((_, was), (_, now))| was.iter().zip(now));
            let mut files = files.filter(|(was, now)| was != now);
            files.next().map(|(_, (file, _))| format!("`{file}` of "))
        });
        return Some(format!(
            "all that was seen of {}`{name}`",
            file.unwrap_or_default()
        ));
    }
    let differs =
        |pci: &&PciAddress| shown.functions.contains(*pci) != seen.functions.contains(*pci);
    let function = shown.functions.iter().chain(&seen.functions).find(differs);
    function.map(|pci| format!("{pci}, which comes to the bus or leaves it"))
}

fn is_nic(slots: &Slots, pci: &PciAddress) -> bool {
    first_slot(slots, pci).is_some()
}

fn first_slot<'s>(slots: &'s Slots, pci: &PciAddress) -> Option<&'s SlotRef> {
    slots.keys().find(|slot| slot.pci == *pci)
}

impl Change {
    /// The port it is about, or a port of its device.
    pub(super) fn slot(&self) -> Option<&SlotRef> {
        self.slot.as_ref()
    }

    /// Whether it changes a device's name.
    pub(super) fn is_rename(&self) -> bool {
        matches!(self.kind, Kind::Rename(_))
    }

    /// The rule on reading that it adds or removes; `None` for other actions.
    pub(super) fn rule(&self) -> Option<Rule<'_>> {
        let slot = self.slot.as_ref();
        match (&self.kind, slot) {
            (Kind::ListFails(errno), _) => Some(Rule {
                file: None,
                fails: Some(*errno),
            }),
            (Kind::Lists, _) => Some(Rule {
                file: None,
                fails: None,
            }),
            (Kind::ReadFails(file, errno), Some(slot)) => Some(Rule {
                file: Some((slot, file)),
                fails: Some(*errno),
            }),
            (Kind::Reads(file), Some(slot)) => Some(Rule {
                file: Some((slot, file)),
                fails: None,
            }),
            _ => None,
        }
    }

    /// The action on the world; `None` for a rule on reading.
    pub(super) fn action(&self, node: &platforms::NodeName) -> Option<Action> {
        let slot = || self.slot.clone();
        let function = || {
            let pci = self.slot.as_ref()?.pci;
            let node = node.clone();
            Some(FunctionRef { node, pci })
        };
        Some(match &self.kind {
            Kind::ListFails(_) | Kind::Lists | Kind::ReadFails(..) | Kind::Reads(_) => return None,
            Kind::Unload => NodeAction::DriverUnload.on(node.clone()),
            Kind::Load => NodeAction::DriverLoad {
                names: BTreeMap::new(),
            }
            .on(node.clone()),
            Kind::Remove => DeviceAction::Remove.on(function()?),
            Kind::Restore => DeviceAction::Restore.on(function()?),
            Kind::Leave => DeviceAction::LeaveNamespace.on(function()?),
            Kind::Return => DeviceAction::ReturnToNamespace.on(function()?),
            Kind::Rename(to) => DeviceAction::Rename { to: to.clone() }.on(function()?),
            Kind::RemovePort => PortAction::RemovePort.on(slot()?),
            Kind::RestorePort => PortAction::RestorePort.on(slot()?),
            Kind::Set(state, phys_state) => PortAction::Set {
                state: *state,
                phys_state: *phys_state,
            }
            .on(slot()?),
            Kind::Operstate(text) => PortAction::Operstate { text: text.clone() }.on(slot()?),
            Kind::Counter(name, value) => PortAction::Counter {
                name: name.clone(),
                change: CounterChange::Set(value.clone()),
            }
            .on(slot()?),
        })
    }

    /// A line of `do:` about the port's handle.
    pub(super) fn line(&self, handle: &str) -> String {
        let device = |verb: &str| format!("{{ {verb}: device of {handle} }}");
        match &self.kind {
            Kind::ListFails(errno) => format!("{{ list: class/infiniband, fail: {errno} }}"),
            Kind::Lists => "{ no_rule: class/infiniband }".to_owned(),
            Kind::Unload => "{ driver: unload }".to_owned(),
            Kind::Load => "{ driver: load }".to_owned(),
            Kind::Remove => device("remove"),
            Kind::Restore => device("restore"),
            Kind::Leave => device("leave_namespace"),
            Kind::Return => device("return_to_namespace"),
            Kind::Rename(to) => format!(
                "{{ rename: device of {handle}, to: {} }}",
                text(to.as_str())
            ),
            Kind::RemovePort => format!("{{ remove_port: {handle} }}"),
            Kind::RestorePort => format!("{{ restore_port: {handle} }}"),
            Kind::Set(state, phys_state) => {
                let state = state.map(|it| format!(", state: {}", state_word(it)));
                let phys_state = phys_state.map(|it| format!(", phys_state: {}", phys_word(it)));
                let (state, phys_state) =
                    (state.unwrap_or_default(), phys_state.unwrap_or_default());
                format!("{{ set: {handle}{state}{phys_state} }}")
            }
            Kind::Operstate(to) => format!("{{ operstate: {handle}, to: {} }}", text(to)),
            Kind::Counter(name, value) => {
                let value = match value {
                    CounterValue::Count(count) => format!("shows: {count}"),
                    CounterValue::Text(shown) => format!("shows: {}", text(shown)),
                    CounterValue::Fails(errno) => format!("fails: {errno}"),
                };
                format!("{{ counter: {handle}, name: {}, {value} }}", text(name))
            }
            Kind::ReadFails(file, errno) => {
                format!("{{ read: {handle}/{file}, fail: {errno} }}")
            }
            Kind::Reads(file) => format!("{{ no_rule: {handle}/{file} }}"),
        }
    }

    /// The line without a handle, for people.
    pub(super) fn rendered(&self) -> String {
        let slot = self.slot.as_ref().map(|slot| slot.pci.to_string());
        self.line(slot.as_deref().unwrap_or("the node"))
    }
}

/// The word for the number if there is one, or the number.
fn state_word(state: PortState) -> String {
    let shown = state.to_string();
    let word = shown.split_once(": ").map_or("", |(_, word)| word);
    match PortState::by_word(word) == Some(state) {
        true => word.to_owned(),
        false => state.0.to_string(),
    }
}

fn phys_word(state: PhysState) -> String {
    let shown = state.to_string();
    let word = shown.split_once(": ").map_or("", |(_, word)| word);
    match PhysState::by_word(word) == Some(state) {
        true => text(word),
        false => state.0.to_string(),
    }
}

/// A text in JSON quotes, which YAML accepts.
pub fn text(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}
