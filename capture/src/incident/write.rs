//! Writes the story as the text of its file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use platforms::{DeviceName, PortNumber};
use simfs::SimTime;

use super::{Incident, change::text};

/// A handle of the file's `let`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle {
    /// Its name.
    pub name: String,
    device: DeviceName,
    port: PortNumber,
    is_vf: bool,
}

impl Handle {
    /// The handle of a port of the device that has this name at rest.
    pub(super) fn of(device: &DeviceName, port: PortNumber, is_vf: bool) -> Self {
        let letters = device.as_str().to_lowercase();
        let letters = letters.replace(
            |c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit(),
            "_",
        );
        let name = match port {
            PortNumber(1) => format!("nic_{letters}"),
            PortNumber(number) => format!("nic_{letters}_port_{number}"),
        };
        Self {
            name: name.replace("nic_mlx5", "mlx5"),
            device: device.clone(),
            port,
            is_vf,
        }
    }

    fn line(&self) -> String {
        let Self {
            name, device, port, ..
        } = self;
        let port = match port {
            PortNumber(1) => String::new(),
            PortNumber(number) => format!(", port: {number}"),
        };
        let vf = if self.is_vf { ", vf: true" } else { "" };
        let device = text(device.as_str());
        format!("{name}: {{ device: {device}{port}{vf}, healthy: any }}")
    }
}

/// Expectations by time of poll, and the handles that they use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Lines of `expect`, by the time of their poll.
    pub lines: BTreeMap<SimTime, Vec<String>>,
    /// The handles, by name.
    pub handles: BTreeMap<String, Handle>,
}

/// The comment at the top of the file.
const ABOVE: &str = "\
# Recorded on a node. What is done is what was seen there and a machine at rest does not do by itself; what is
# expected is what the reference monitor says of it, to be confirmed or corrected by a person.
";

/// The file with these expectations.
pub(super) fn yaml(incident: &Incident, expected: &Expected) -> String {
    let mut lines = ABOVE.to_owned();
    for unsaid in &incident.unsaid {
        add(&mut lines, format_args!("# Not in this story: {unsaid}."));
    }
    add(
        &mut lines,
        format_args!("scenario: what was seen on a node"),
    );
    add(
        &mut lines,
        format_args!(
            "why: recorded on a node that is {}",
            incident.platform.name()
        ),
    );
    let name = text(&incident.platform.name());
    add(&mut lines, format_args!("platforms: [{name}]"));
    add(&mut lines, format_args!("checks: all"));
    add(&mut lines, format_args!("quiet: fold"));
    let mut handles = incident.handles.clone();
    handles.extend(expected.handles.clone());
    if !handles.is_empty() {
        add(&mut lines, format_args!("let:"));
    }
    for handle in handles.values() {
        add(&mut lines, format_args!("  {}", handle.line()));
    }
    if !incident.given.is_empty() {
        add(&mut lines, format_args!("given:"));
    }
    for action in &incident.given {
        add(&mut lines, format_args!("  - {action}"));
    }
    add(&mut lines, format_args!("timeline:"));
    let rendered = incident.actions.keys().chain(expected.lines.keys());
    let times: BTreeSet<&SimTime> = rendered.chain([&SimTime::ZERO]).collect();
    for &at in times {
        add(&mut lines, format_args!("  - at: {}", time(at)));
        if let Some(actions) = incident.actions.get(&at) {
            add(&mut lines, format_args!("    do:"));
            for action in actions {
                add(&mut lines, format_args!("      - {action}"));
            }
        }
        let reported = expected
            .lines
            .get(&at)
            .map(Vec::as_slice)
            .unwrap_or_default();
        if at == SimTime::ZERO || !reported.is_empty() {
            add(&mut lines, format_args!("    expect:"));
        }
        if at == SimTime::ZERO {
            add(
                &mut lines,
                format_args!("      - {{ this_poll: baseline }}"),
            );
        }
        for line in reported {
            add(&mut lines, format_args!("      - {{ this_poll: {line} }}"));
        }
    }
    let until = incident.last.max(SimTime::from_secs(1));
    add(&mut lines, format_args!("until: {}", time(until)));
    lines
}

fn add(lines: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(lines, "{line}").expect("writing to a string cannot fail");
}

/// `1m`, `12s`, `400ms`: whole seconds if possible.
fn time(at: SimTime) -> String {
    let ms = at.as_ms();
    match (ms / 1000, ms % 1000) {
        (seconds, 0) => format!("{seconds}s"),
        _ => format!("{ms}ms"),
    }
}
