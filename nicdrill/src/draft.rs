//! Drafts a story's expectations from what the reference monitor emits in memory.
//!
//! Like the roles of a captured platform they are a draft: a person decides whether the monitor was
//! right. Events that no line can express are counted and reported.

use std::collections::BTreeMap;

use capture::{Expected, Handle, Incident, quoted};
use director::Trees;
use fabric::NODE;
use harness::descriptors::shipped;
use judge::judge;
use memory::play_in_memory;
use observe::{Observation, Recording};
use platforms::NodeName;
use scenarios::{ScenarioError, Story, Unfit};
use simfs::SimTime;
use terms::{Check, CheckKind, Severity};

/// A story with its expectations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drafted {
    /// The file.
    pub(crate) yaml: String,
    /// What the reference monitor does with the story that the file does not expect; empty unless the
    /// language cannot express it.
    pub(crate) unexpected: Vec<String>,
}

/// Why a recorded story cannot be played: an error in nicdrill.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DraftError {
    /// The written file cannot be parsed.
    #[error("the story that was made cannot be read: {0}")]
    Story(#[from] Box<ScenarioError>),
    /// The written file does not apply to its platform.
    #[error("the story that was made does not fit its platform: {0}")]
    Unfit(Box<Unfit>),
}

/// The incident as a story with the reference monitor's events as expectations.
pub(crate) fn draft(incident: &Incident) -> Result<Drafted, DraftError> {
    let reference = shipped("reference").expect("it ships");
    let bare = story(incident, &incident.yaml())?;
    let played = play_in_memory(&bare, &reference, None, &mut Trees::default());
    let expected = expected(incident, &played.recording);
    let yaml = incident.yaml_with_expectations(&expected);
    let story = story(incident, &yaml)?;
    let played = play_in_memory(&story, &reference, None, &mut Trees::default());
    let judgement = judge(&story, &played.truth, &played.recording, &reference);
    let rendered = judgement.findings.iter().map(|finding| {
        let came = finding.came.join("; ");
        let line = finding.line.as_ref().map_or("", |line| line.text.as_str());
        [line, &came].join(" ").trim().to_owned()
    });
    Ok(Drafted {
        yaml,
        unexpected: rendered.collect(),
    })
}

fn story(incident: &Incident, yaml: &str) -> Result<Story, DraftError> {
    let scenario = scenarios::read("recorded/incident.yaml", yaml).map_err(Box::new)?;
    let rendered = scenario.in_world(&NodeName::from(NODE), incident.platform());
    rendered.map_err(|unfit| DraftError::Unfit(Box::new(unfit)))
}

/// The monitor's events before healing, as lines of `expect`. The healthy events of the first poll are
/// covered by the file's `baseline`.
fn expected(incident: &Incident, recording: &Recording) -> Expected {
    let mut expected = Expected::default();
    let healing = recording.healing_from.unwrap_or(u64::MAX);
    let ticks = (0..).zip(&recording.ticks);
    for (_, tick) in ticks.take_while(|(nth, _)| *nth < healing) {
        let calls = tick.monitors.values().flat_map(|instance| &instance.calls);
        let reported = calls.filter(|call| call.accepted);
        let reported = reported.flat_map(|call| &call.observations);
        let mut times: BTreeMap<String, u32> = BTreeMap::new();
        let counts =
            |reported: &&Observation| tick.at_ns > 0 || reported.severity != Severity::Healthy;
        for observation in reported.filter(counts) {
            let line = line(incident, observation, &mut expected.handles);
            *times.entry(line).or_default() += 1;
        }
        let lines = times.into_iter().map(|(line, times)| match times {
            1 => format!("{{ {line} }}"),
            _ => format!("{{ {line}, times: {times} }}"),
        });
        let lines: Vec<String> = lines.collect();
        if !lines.is_empty() {
            expected.lines.insert(SimTime::from_ns(tick.at_ns), lines);
        }
    }
    expected
}

fn line(
    incident: &Incident,
    reported: &Observation,
    handles: &mut BTreeMap<String, Handle>,
) -> String {
    let device = reported.subject.nic().unwrap_or_default();
    let number = reported.subject.port().and_then(|port| port.parse().ok());
    let subject = match incident.handle_of(device, number.unwrap_or(1)) {
        Some(handle) => {
            let name = handle.name.clone();
            handles.insert(name.clone(), handle);
            match number {
                Some(_) => name,
                None => format!("device of {name}"),
            }
        }
        None => match number {
            Some(number) => format!("{{ name: {}, port: {number} }}", quoted(device)),
            None => format!("{{ name: {} }}", quoted(device)),
        },
    };
    let codes: Vec<String> = reported.codes.iter().map(|code| quoted(code)).collect();
    let check = reported.check.as_deref().unwrap_or_default();
    let kind = Check::parse(check).map(Check::kind);
    let more = match (kind, codes.as_slice()) {
        (Some(CheckKind::State), _) => String::new(),
        (Some(CheckKind::Degradation), [counter]) => format!(", counter: {counter}"),
        (_, codes) => format!(", check: {}, codes: [{}]", quoted(check), codes.join(", ")),
    };
    format!("{}: {subject}{more}", reported.severity)
}
