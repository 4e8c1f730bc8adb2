//! The files that a failed drill leaves in the run folder: its story, and from each arm the reads,
//! the trace of events, the calls as JSON, the monitor's log and its last state file.

use std::fmt::Write as _;

use cluster::recorded::{RecordedCall, write_call};

use observe::{Call, MonitorTick, Recording};
use terms::Arm;

use crate::run_folder::Artifact;

/// The artifacts of a drill: the scenario's text and its recordings.
pub(super) fn artifacts(scenario: &str, recordings: &[(Arm, Recording)]) -> Vec<Artifact> {
    let mut all = vec![artifact("story.yaml".to_owned(), scenario)];
    for (arm, recording) in recordings {
        all.push(artifact(format!("{arm}-reads.txt"), &reads(recording)));
        all.push(artifact(format!("{arm}-events.txt"), &events(recording)));
        all.push(artifact(
            format!("{arm}-health-events.jsonl"),
            &health_events(recording),
        ));
        all.push(artifact(format!("{arm}-log.txt"), &log(recording)));
        if !recording.connections.is_empty() {
            let text = recording.connections.join("\n") + "\n";
            all.push(artifact(format!("{arm}-connections.txt"), &text));
        }
        if let Some(bytes) = last_state(recording) {
            all.push(Artifact {
                name: format!("{arm}-state.json"),
                bytes,
            });
        }
    }
    all
}

pub(super) fn artifact(name: String, text: &str) -> Artifact {
    Artifact {
        name,
        bytes: text.as_bytes().to_vec(),
    }
}

/// Every read, as `poll N: op path: outcome`.
pub(super) fn reads(recording: &Recording) -> String {
    lines(recording, |program| program.reads.to_lines())
}

/// Every call and its events.
pub(super) fn events(recording: &Recording) -> String {
    lines(recording, |program| {
        let mut lines = Vec::new();
        for call in &program.calls {
            lines.push(format!(
                "call of {}: {}",
                reports::counted(call.observations.len() as u64, "event"),
                call.answer
            ));
            lines.extend(
                call.observations
                    .iter()
                    .map(|observation| format!("  {observation}")),
            );
        }
        lines.extend(program.exits.iter().map(|exit| format!("exit: {exit}")));
        lines
    })
}

/// Every call as a line of JSON, for `nicdrill replay` and other programs; empty for protocols
/// without health events.
fn health_events(recording: &Recording) -> String {
    let monitors = recording
        .ticks
        .iter()
        .flat_map(|tick| tick.monitors.values());
    let calls = monitors.flat_map(|monitor| &monitor.calls);
    let line = |call: &Call| {
        let events = recording.protocol.health_events(call)?.events;
        let recorded = RecordedCall {
            events: &events,
            accepted: call.accepted,
        };
        Some(write_call(recorded) + "\n")
    };
    calls.filter_map(line).collect()
}

pub(super) fn log(recording: &Recording) -> String {
    lines(recording, |program| program.log.clone())
}

fn lines(recording: &Recording, of: impl Fn(&MonitorTick) -> Vec<String>) -> String {
    let mut text = String::new();
    for (number, tick) in recording.ticks.iter().enumerate() {
        for (node, program) in tick.monitors.iter() {
            // With one node, names are left out.
            let on = if tick.monitors.len() > 1 {
                format!(" on {node}")
            } else {
                String::new()
            };
            for line in of(program) {
                // What a monitor names or says can have a newline, which begins no line here.
                let line = line.replace('\n', "\\n");
                writeln!(text, "poll {number}{on}: {line}")
                    .expect("writing to a string cannot fail");
            }
        }
    }
    text
}

fn last_state(recording: &Recording) -> Option<Vec<u8>> {
    let instances = recording.ticks.last()?.monitors.values();
    instances
        .filter_map(|program| program.state_file.as_ref())
        .map(|file| file.bytes().into_owned())
        .next()
}
