//! The laws of a storm: what must hold of any stream of events in any world, without a script.
//!
//! It compares the true state with the events, and returns every violation. Start at [`broken`].

use std::collections::{BTreeMap, BTreeSet};

use director::TickTruth;
use memory::Played;
use observe::{Exit, Observation};
use platforms::NodeName;
use terms::Severity;

use crate::weather::CLEAR_POLLS;

/// The subject of an event, its check and its codes.
type Subject = (String, String, Vec<String>);

/// A reported fault.
#[derive(Clone, Copy, Debug)]
struct Standing {
    fatal: bool,
    /// The monitor cannot know whether it was accepted.
    doubtful: bool,
}

/// Every violated law, with its poll.
pub fn broken(played: &Played) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(broken) = &played.recording.broken {
        found.push(format!("the drill broke off: {broken:?}"));
    }
    let node = NodeName::from("node-a");
    let mut standing: BTreeMap<Subject, Standing> = BTreeMap::new();
    let mut still = 0;
    let mut lit = BTreeSet::new();
    let ticks = played.recording.ticks.iter().zip(&played.truth.ticks);
    let mut before: Option<&TickTruth> = None;
    for (poll, (tick, truth)) in ticks.enumerate() {
        let Some(instance) = tick.monitors.get(node.as_str()) else {
            continue;
        };
        let was_killed = instance.exits.contains(&Exit::Signal(9));
        let calls = instance.calls.len();
        for (at, call) in instance
            .calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.accepted)
        {
            let is_last = at + 1 == calls;
            let doubtful = call.answer != "accepted" || (was_killed && is_last);
            for reported in &call.observations {
                let law = heard(reported, doubtful, truth, &node, &mut standing);
                if let Some(law) = law {
                    found.push(format!("poll {poll}: {law}: {reported}"));
                }
            }
        }
        still = match before {
            Some(before) if before.nodes[&node].after == truth.nodes[&node].after => still + 1,
            _ => 0,
        };
        before = Some(truth);
        light(truth, &node, &mut lit);
        let is_over = played
            .recording
            .healing_from
            .is_some_and(|from| poll as u64 >= from);
        if still + 5 == CLEAR_POLLS && !is_over {
            found.extend(lost(poll, truth, &node, &standing, &lit));
        }
    }
    found.extend(
        standing
            .keys()
            .map(|subject| format!("healed, and still outstanding: {subject:?}")),
    );
    found
}

/// Applies an accepted event to the reported faults; returns the violated law, if any.
fn heard(
    reported: &Observation,
    doubtful: bool,
    truth: &TickTruth,
    node: &NodeName,
    standing: &mut BTreeMap<Subject, Standing>,
) -> Option<&'static str> {
    let (nic, port) = (
        reported.subject.nic().unwrap_or_default(),
        reported.subject.port(),
    );
    let subject: Subject = (
        format!("{nic}/{}", port.unwrap_or_default()),
        reported.check.clone().unwrap_or_default(),
        reported.codes.clone(),
    );
    let port = port.filter(|_| reported.codes.is_empty());
    if reported.severity == Severity::Healthy {
        standing.remove(&subject);
        let is_clear = reported.text.contains("clearing");
        let is_so = is_clear || port.is_none_or(|port| is_healthy(truth, node, nic, port));
        return (!is_so).then_some("healthy, and it is not");
    }
    let fatal = reported.severity == Severity::Fatal;
    let known = standing.insert(subject, Standing { fatal, doubtful });
    let repeated = known.is_some_and(|known| known.fatal >= fatal && !known.doubtful);
    if repeated {
        return Some("said twice");
    }
    let is_caused = match port {
        _ if !fatal => true,
        Some(port) => !is_healthy(truth, node, nic, port),
        // Cards, and what has a code of its own: counters and character devices.
        None if nic.contains(':') || !reported.codes.is_empty() => true,
        None => !is_listed(truth, node, nic),
    };
    (!is_caused).then_some("a fault without a cause")
}

/// Ports that were down at a quiet time without a reported fault.
fn lost(
    poll: usize,
    truth: &TickTruth,
    node: &NodeName,
    standing: &BTreeMap<Subject, Standing>,
    lit: &BTreeSet<(String, u8)>,
) -> Vec<String> {
    let stands = |name: &str, port: &str| {
        let of = |subject: &Subject| {
            subject.0 == format!("{name}/{port}") || subject.0 == format!("{name}/")
        };
        let mut standing = standing.iter();
        standing.any(|(subject, of_it)| of(subject) && subject.2.is_empty() && of_it.fatal)
    };
    let mut lost = Vec::new();
    for view in truth.nodes[node]
        .after
        .0
        .values()
        .filter(|view| view.monitored)
    {
        let name = view.name.as_str();
        for (number, port) in &view.ports {
            let is_dark = !view.listed || !port.healthy();
            // A port that is down by design was never healthy, and needs no report.
            let was_lit = lit.contains(&(name.to_owned(), number.0));
            if is_dark && was_lit && !stands(name, &number.to_string()) {
                lost.push(format!(
                    "poll {poll}: {name} port {number} is dark, and nobody was told"
                ));
            }
            if !is_dark && stands(name, &number.to_string()) {
                lost.push(format!(
                    "poll {poll}: {name} port {number} is up, and a fault of it stands"
                ));
            }
        }
    }
    lost
}

/// Records which ports have been healthy.
fn light(truth: &TickTruth, node: &NodeName, lit: &mut BTreeSet<(String, u8)>) {
    for view in truth.nodes[node]
        .views
        .0
        .values()
        .filter(|view| view.listed)
    {
        let healthy = view.ports.iter().filter(|(_, port)| port.healthy());
        lit.extend(healthy.map(|(number, _)| (view.name.to_string(), number.0)));
    }
}

fn is_healthy(truth: &TickTruth, node: &NodeName, nic: &str, port: &str) -> bool {
    let node = &truth.nodes[node];
    [&node.views, &node.after].into_iter().any(|views| {
        views.0.values().any(|view| {
            view.listed
                && view.name.as_str() == nic
                && view
                    .ports
                    .iter()
                    .any(|(number, view)| number.to_string() == port && view.healthy())
        })
    })
}

fn is_listed(truth: &TickTruth, node: &NodeName, nic: &str) -> bool {
    let node = &truth.nodes[node];
    let listed = |name: &str| {
        let mut views = node.after.0.values();
        views.any(|view| view.listed && view.name.as_str() == name)
    };
    listed(nic)
}
