//! Playing a row: deeds in order, time, and looks in between.
//!
//! What a look sees is `observe.rs`'s. Start at [`play`].

use fabric::{
    Timing,
    opa::{
        Deed, DeedError, EndRef, ErrorInfo, FirmwareReport, Layout, LinkDownReason, LinkInitReason,
        Logical, Network, Physical, PortErrorAction, Profile, Reply, SetPortInfo,
    },
};
use platforms::NodeName;
use simfs::SimTime;

use crate::{
    case::{Clear, LogicalName, PhysicalName, ProfileName, Row, Verb, WorldKind},
    observe::{end, observe},
};

/// What a row is played on.
pub(crate) struct Stage {
    pub(crate) network: Network,
    /// What became of the last Set(PortInfo).
    pub(crate) reply: Option<Result<Reply, DeedError>>,
}

/// Plays a row; the number of values that were as expected, or the first that was not.
pub(crate) fn play(row: &Row) -> Result<usize, String> {
    let mut layout = match row.world.kind {
        WorldKind::Switch => Layout::host_and_switch(),
        WorldKind::Hosts => Layout::two_hosts(),
    };
    for name in &row.world.empty {
        layout.empty.insert(end(name)?);
    }
    layout.off = row
        .world
        .off
        .iter()
        .map(|name| NodeName::from(name.as_str()))
        .collect();
    let profile = match row.profile {
        ProfileName::Spec => Profile::Spec,
        ProfileName::Hfi1 => Profile::Hfi1,
    };
    let network = Network::new(&layout, profile, Timing::default());
    let network = network.map_err(|error| error.to_string())?;
    let mut stage = Stage {
        network: network.quiet_for(SimTime::from_ms(row.world.quiet_ms)),
        reply: None,
    };
    let mut seen = 0;
    for verb in &row.steps {
        seen += step(&mut stage, verb)?;
    }
    if seen == 0 {
        return Err("it expects nothing".to_owned());
    }
    Ok(seen)
}

/// Does one step; the number of values that it compared.
fn step(stage: &mut Stage, verb: &Verb) -> Result<usize, String> {
    match verb {
        Verb::ToMs(ms) => stage.network.advance(SimTime::from_ms(*ms)),
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
            deed,
        } => {
            for _ in 0..*times {
                step(stage, deed)?;
                let next = stage.network.now() + SimTime::from_ms(*every_ms);
                stage.network.advance(next);
            }
        }
        Verb::Set {
            end: name,
            logical,
            physical,
            clear,
        } => {
            let request = SetPortInfo {
                end: end(name)?,
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
            stage.reply = Some(stage.network.set(&request));
        }
        verb => {
            let deed = deed(verb)?;
            let done = stage.network.act(&deed);
            done.map_err(|error| format!("{deed:?}: {error}"))?;
        }
    }
    Ok(0)
}

fn deed(verb: &Verb) -> Result<Deed, String> {
    let node = |name: &String| NodeName::from(name.as_str());
    Ok(match verb {
        Verb::Pull(name) => Deed::Pull(end(name)?),
        Verb::Plug(name) => Deed::Plug(end(name)?),
        Verb::ModuleOut(name) => Deed::ModuleOut(end(name)?),
        Verb::ModuleIn(name) => Deed::ModuleIn(end(name)?),
        Verb::Initiate {
            end: name,
            reason: code,
            says,
        } => Deed::Initiate {
            end: end(name)?,
            reason: reason(*code)?,
            says: *says,
        },
        Verb::InitiateBoth {
            end: name,
            reason: code,
            says,
            other,
            other_says,
        } => Deed::InitiateBoth {
            end: end(name)?,
            reason: reason(*code)?,
            says: *says,
            other: reason(*other)?,
            other_says: *other_says,
        },
        Verb::Relent {
            end: name,
            reason: code,
        } => {
            let (end, reason) = of(name, *code)?;
            Deed::Relent { end, reason }
        }
        Verb::Hear {
            end: name,
            message: code,
        } => {
            let (end, message) = of(name, *code)?;
            Deed::Hear { end, message }
        }
        Verb::BreakTraining(name) => Deed::BreakTraining(end(name)?),
        Verb::PacketError {
            end: name,
            reason: code,
        } => {
            let (end, reason) = of(name, *code)?;
            Deed::PacketError { end, reason }
        }
        Verb::Errors {
            end: name,
            fm_config,
            receive,
        } => Deed::Errors {
            end: end(name)?,
            info: ErrorInfo {
                fm_config: *fm_config,
                receive: *receive,
            },
        },
        Verb::BufferOverrun(name) => Deed::BufferOverrun(end(name)?),
        Verb::ErrorAction { end: name, bits } => Deed::ErrorAction {
            end: end(name)?,
            action: PortErrorAction(*bits),
        },
        Verb::Bounce(name) => Deed::Bounce(end(name)?),
        Verb::Disable(name) => Deed::Disable(end(name)?),
        Verb::Overheat(name) => Deed::Overheat(end(name)?),
        Verb::Report { end: name, code } => Deed::Report {
            end: end(name)?,
            report: match code {
                0x0a => FirmwareReport::Unexpected,
                0x0c => FirmwareReport::HostRequested,
                other => FirmwareReport::Other(*other),
            },
        },
        Verb::Enable(name) => Deed::Enable(end(name)?),
        Verb::Unload(name) => Deed::Unload(node(name)),
        Verb::Load(name) => Deed::Load(node(name)),
        Verb::PowerOff(name) => Deed::PowerOff(node(name)),
        Verb::DeviceFatal(name) => Deed::DeviceFatal(node(name)),
        Verb::PowerOn(name) => Deed::PowerOn(node(name)),
        Verb::Quarantine {
            end: name,
            reason: code,
        } => Deed::Quarantine {
            end: end(name)?,
            reason: LinkInitReason::by_code(*code).ok_or("a reason of four bits")?,
        },
        Verb::StopManager => Deed::StopManager,
        Verb::StartManager { keeps_logs } => Deed::StartManager {
            keeps_logs: *keeps_logs,
        },
        Verb::ToMs(_) | Verb::See(_) | Verb::Repeat { .. } | Verb::Set { .. } => {
            return Err(format!("{verb:?} cannot stand here"));
        }
    })
}

fn of(name: &str, code: u8) -> Result<(EndRef, LinkDownReason), String> {
    Ok((end(name)?, reason(code)?))
}

fn reason(code: u8) -> Result<LinkDownReason, String> {
    LinkDownReason::by_code(code).ok_or_else(|| format!("{code} is no reason"))
}

/// Alters every part of every expected value, one at a time, and demands that the row then fails.
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

/// A value with one of its words or numbers changed, each in turn, and with one character more.
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
