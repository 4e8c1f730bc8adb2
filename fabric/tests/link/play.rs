//! Plays a row: actions in order, time, and expectations in between.
//!
//! `observe.rs` computes observations. Start at [`play`].

use std::collections::BTreeMap;

use fabric::{
    Action, ActionError, DeviceAction, Fabric, FunctionRef, NodeAction, PortAction, PortsAction,
    Side, Timing,
    opa::{
        ErrorInfo, LinkDownReason, LinkInitReason, Logical, Physical, PortErrorAction, Profile,
        Reply, SetPortInfo,
    },
};
use platforms::{DeviceName, NodeName, PciAddress, Platforms, SlotRef};
use simfs::SimTime;

use crate::{
    case::{Clear, LogicalName, PhysicalName, ProfileName, Row, Verb, World},
    observe::{end, observe},
};

#[expect(
    clippy::disallowed_types,
    reason = "read once for hundreds of worlds; never changed"
)]
static SHIPPED: std::sync::LazyLock<Platforms> = std::sync::LazyLock::new(Platforms::shipped);

/// One link of a node, on which a row is played.
pub(crate) struct Stage {
    pub(crate) fabric: Fabric,
    pub(crate) slot: SlotRef,
    pub(crate) profile: Profile,
    /// The result of the last Set(PortInfo).
    pub(crate) reply: Option<Result<Reply, ActionError>>,
}

/// The link of a row's world; ports of the first platform behave as specified, those of the other like
/// hfi1.
fn stage(row: &Row) -> Result<Stage, String> {
    let (platform, profile) = match row.profile {
        ProfileName::Spec => ("dgx-a100", Profile::Spec),
        ProfileName::Hfi1 => ("opa-cn5000", Profile::Hfi1),
    };
    let node = NodeName::from("a");
    let platform = SHIPPED.get(platform).ok_or("it does not ship")?.clone();
    let timing = Timing {
        quiet: SimTime::from_ms(row.quiet_ms),
        ..Timing::default()
    };
    let mut fabric = Fabric::new(vec![(node.clone(), platform)], timing);
    let ports = fabric.ports(&node);
    let mut slot = ports.first().ok_or("it has no port")?.slot.clone();
    if !matches!(row.world, World::AtRest) {
        let at = PciAddress {
            domain: 9,
            ..slot.pci
        };
        let card = DeviceAction::HotAdd {
            at,
            name: DeviceName::from("new_0"),
            cabled: matches!(row.world, World::NewCard),
        };
        let like = FunctionRef {
            node,
            pci: slot.pci,
        };
        fabric
            .act(&card.on(like))
            .map_err(|error| error.to_string())?;
        slot.pci = at;
    }
    Ok(Stage {
        fabric,
        slot,
        profile,
        reply: None,
    })
}

/// Plays a row; returns the number of values that were as expected, or the first that was not.
pub(crate) fn play(row: &Row) -> Result<usize, String> {
    let mut stage = stage(row)?;
    let mut seen = 0;
    for verb in &row.steps {
        seen += step(&mut stage, verb)?;
    }
    if seen == 0 {
        return Err("it expects nothing".to_owned());
    }
    Ok(seen)
}

/// Performs one step; returns the number of values that it compared.
fn step(stage: &mut Stage, verb: &Verb) -> Result<usize, String> {
    match verb {
        Verb::ToMs(ms) => stage.fabric.advance(SimTime::from_ms(*ms)),
        Verb::See(values) => {
            for (key, expected) in values {
                let found = observe(stage, key)?;
                if found != *expected {
                    return Err(format!("`{key}` is {found:?}, expected {expected:?}"));
                }
            }
            return Ok(values.len());
        }
        Verb::Repeat {
            times,
            every_ms,
            action,
        } => {
            for _ in 0..*times {
                step(stage, action)?;
                let next = stage.fabric.now() + SimTime::from_ms(*every_ms);
                stage.fabric.advance(next);
            }
        }
        Verb::Set {
            end: name,
            logical,
            physical,
            clear,
        } => {
            let request = SetPortInfo {
                logical: logical.map(|name| match name {
                    LogicalName::Armed => Logical::Armed,
                    LogicalName::Active => Logical::Active,
                }),
                physical: physical.map(|name| match name {
                    PhysicalName::Polling => Physical::Polling,
                    PhysicalName::Disabled => Physical::Disabled,
                    PhysicalName::Offline => Physical::Offline,
                }),
                clear_local: matches!(clear, Some(Clear::Local | Clear::Both)),
                clear_neighbour: matches!(clear, Some(Clear::Neighbour | Clear::Both)),
            };
            let side = end(name)?;
            let reply = stage.fabric.set_port_info(&stage.slot, side, &request);
            stage.reply = Some(reply);
        }
        verb => {
            let action = action(&stage.slot, verb)?;
            let done = stage.fabric.act(&action);
            done.map_err(|error| format!("{action:?}: {error}"))?;
        }
    }
    Ok(0)
}

/// A long simulated time.
const HOUR: SimTime = SimTime::from_secs(3600);

fn action(slot: &SlotRef, verb: &Verb) -> Result<Action, String> {
    let port = |action: PortAction| Ok(action.on(slot.clone()));
    let device = |action: DeviceAction| {
        let function = FunctionRef {
            node: slot.node.clone(),
            pci: slot.pci,
        };
        Ok(action.on(function))
    };
    let node = |action: NodeAction| Ok(action.on(slot.node.clone()));
    let take_down = |name: &str, reason, says| {
        let side = end(name)?;
        port(PortAction::TakeDown { side, reason, says })
    };
    match verb {
        Verb::Pull(name) => end(name).and_then(|_| port(PortAction::Cut)),
        Verb::Plug(name) => end(name).and_then(|_| port(PortAction::Mend)),
        Verb::ModuleOut(name) | Verb::ModuleIn(name) => port(PortAction::Module {
            side: end(name)?,
            there: matches!(verb, Verb::ModuleIn(_)),
        }),
        Verb::Initiate {
            end: name,
            reason: code,
            says,
        } => take_down(name, reason(*code)?, *says),
        Verb::InitiateBoth {
            end: name,
            reason: code,
            says,
            other,
            other_says,
        } => {
            let (one, other) = ((reason(*code)?, *says), (reason(*other)?, *other_says));
            let (here, there) = match end(name)? {
                Side::Here => (one, other),
                Side::There => (other, one),
            };
            port(PortAction::BothTakeDown { here, there })
        }
        Verb::Release {
            end: name,
            reason: code,
        } => port(PortAction::Release {
            side: end(name)?,
            reason: reason(*code)?,
        }),
        Verb::Hear {
            end: name,
            message: code,
        } => port(PortAction::Hear {
            side: end(name)?,
            message: reason(*code)?,
        }),
        Verb::PacketError {
            end: name,
            reason: code,
        } => port(PortAction::PacketError {
            side: end(name)?,
            reason: reason(*code)?,
        }),
        Verb::Errors {
            end: name,
            fm_config,
            receive,
        } => match end(name)? {
            Side::Here => port(PortAction::ErrorRegisters {
                info: ErrorInfo {
                    fm_config: *fm_config,
                    receive: *receive,
                },
            }),
            Side::There => Err("only a host has such registers".to_owned()),
        },
        Verb::BufferOverrun(name) => port(PortAction::BufferOverrun { side: end(name)? }),
        Verb::ErrorAction { end: name, bits } => port(PortAction::ErrorAction {
            side: end(name)?,
            action: PortErrorAction(*bits),
        }),
        Verb::Bounce(name) => take_down(name, LinkDownReason::FM_BOUNCE, true),
        Verb::Disable(name) => match end(name)? {
            Side::Here => port(PortAction::Disable),
            Side::There => take_down(name, LinkDownReason::SMA_DISABLED, true),
        },
        Verb::Enable(name) => port(PortAction::Release {
            side: end(name)?,
            reason: LinkDownReason::SMA_DISABLED,
        }),
        Verb::Unload(name) => match end(name)? {
            Side::Here => node(NodeAction::DriverUnload),
            Side::There => port(PortAction::NeighbourReboot { takes: HOUR }),
        },
        Verb::Load(name) => match end(name)? {
            Side::Here => node(NodeAction::DriverLoad {
                names: BTreeMap::new(),
            }),
            Side::There => Err("no driver of a neighbour's is loaded by name".to_owned()),
        },
        Verb::PowerOff(name) | Verb::PowerOn(name) => {
            let on = matches!(verb, Verb::PowerOn(_));
            match end(name)? {
                Side::Here if on => device(DeviceAction::Restore),
                Side::Here => device(DeviceAction::Remove),
                Side::There => Ok(PortsAction::SwitchPower { on }.on(vec![slot.clone()])),
            }
        }
        Verb::DeviceFatal {
            end: name,
            takes_ms,
        } => match end(name)? {
            Side::Here => device(DeviceAction::PciError {
                takes: SimTime::from_ms(*takes_ms),
            }),
            Side::There => Err("a switch has no kernel to tell".to_owned()),
        },
        Verb::Quarantine {
            end: name,
            reason: code,
        } => port(PortAction::Quarantine {
            side: end(name)?,
            reason: LinkInitReason::by_code(*code),
        }),
        Verb::StopManager => Ok(Action::SubnetManager {
            running: false,
            reinitialise: false,
            keeps_logs: true,
        }),
        Verb::StartManager { keeps_logs } => Ok(Action::SubnetManager {
            running: true,
            reinitialise: false,
            keeps_logs: *keeps_logs,
        }),
        Verb::ToMs(_) | Verb::See(_) | Verb::Repeat { .. } | Verb::Set { .. } => {
            Err(format!("{verb:?} cannot stand here"))
        }
    }
}

fn reason(code: u8) -> Result<LinkDownReason, String> {
    LinkDownReason::by_code(code).ok_or_else(|| format!("{code} is no reason"))
}

/// Changes every part of every expected value, one at a time, and requires that the row then fails.
pub(crate) fn each_alteration_fails(row: &Row) -> Result<(), String> {
    let mut altered = 0;
    for (place, verb) in row.steps.iter().enumerate() {
        let Verb::See(values) = verb else { continue };
        for (key, value) in values {
            for other in alterations(value) {
                let mut values = values.clone();
                values.insert(key.clone(), other.clone());
                let mut row = row.clone();
                row.steps[place] = Verb::See(values);
                if play(&row).is_ok() {
                    return Err(format!("`{key}` may as well be {other:?} as {value:?}"));
                }
                altered += 1;
            }
        }
    }
    if altered == 0 {
        return Err("there is nothing to alter".to_owned());
    }
    Ok(())
}

/// The values in which one word or number is changed, and one with an additional character.
fn alterations(value: &str) -> Vec<String> {
    let mut others = vec![format!("{value}.")];
    let mut from = 0;
    while let Some(start) = value[from..].find(|char: char| char.is_ascii_alphanumeric()) {
        let start = from + start;
        let rest = &value[start..];
        let length = rest.find(|char: char| !char.is_ascii_alphanumeric());
        let to = start + length.unwrap_or(rest.len());
        let part = &value[start..to];
        let other = part
            .parse::<u64>()
            .map_or_else(|_| format!("{part}s"), |number| (number + 1).to_string());
        others.push(format!("{}{other}{}", &value[..start], &value[to..]));
        from = to;
    }
    others
}
