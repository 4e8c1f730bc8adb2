//! What a story expects to begin with: what the reference monitor says of it, in memory.
//!
//! It is a draft as the roles of a captured platform are: a person decides whether the monitor was
//! right. What it said and no line can say is counted and told.

use std::collections::BTreeMap;

use platforms::NodeName;
use proto::{Check, CheckKind, HealthEvent};
use scenarios::Story;
use simfs::SimTime;

use super::{
    Incident, IncidentError,
    change::text,
    write::{self, Expected, HandleSaid},
};
use crate::{Descriptor, Recording, Trees, judge, play_in_memory, suite::NODE};

/// A story with its expectations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drafted {
    /// The file.
    pub yaml: String,
    /// What the reference monitor does with the story that the file does not expect: nothing, unless
    /// the language has no words for it.
    pub unexpected: Vec<String>,
}

pub(super) fn draft(incident: &Incident) -> Result<Drafted, IncidentError> {
    let reference = Descriptor::shipped("reference").expect("it ships");
    let bare = story(incident, &write::yaml(incident, &Expected::default()))?;
    let played = play_in_memory(&bare, &reference, None, &Trees::default());
    let expected = expected(incident, &played.recording);
    let yaml = write::yaml(incident, &expected);
    let story = story(incident, &yaml)?;
    let played = play_in_memory(&story, &reference, None, &Trees::default());
    let judgement = judge(&story, &played.truth, &played.recording, &reference);
    let told = judgement.failures.iter().map(|failure| {
        let came = failure.came.join("; ");
        [failure.line.as_str(), &came].join(" ").trim().to_owned()
    });
    Ok(Drafted {
        yaml,
        unexpected: told.collect(),
    })
}

fn story(incident: &Incident, yaml: &str) -> Result<Story, IncidentError> {
    let scenario = scenarios::read("recorded/incident.yaml", yaml)?;
    let told = scenario.in_world(&NodeName::from(NODE), &incident.platform);
    told.map_err(IncidentError::Unfit)
}

/// What the monitor said before healing began, as lines of `expect`. What it says of a first poll that
/// is well is `baseline`, which the file has.
fn expected(incident: &Incident, recording: &Recording) -> Expected {
    let mut expected = Expected::default();
    let healing = recording.healing_from.unwrap_or(u64::MAX);
    let ticks = (0..).zip(&recording.ticks);
    for (_, tick) in ticks.take_while(|(nth, _)| *nth < healing) {
        let calls = tick.chairs.values().flat_map(|chair| &chair.calls);
        let events = calls
            .filter(|call| call.accepted)
            .flat_map(|call| &call.events);
        let mut times: BTreeMap<String, u32> = BTreeMap::new();
        for event in events.filter(|event| tick.at > SimTime::ZERO || !event.is_healthy) {
            let line = line(incident, event, &mut expected.handles);
            *times.entry(line).or_default() += 1;
        }
        let lines = times.into_iter().map(|(line, times)| match times {
            1 => format!("{{ {line} }}"),
            _ => format!("{{ {line}, times: {times} }}"),
        });
        let lines: Vec<String> = lines.collect();
        if !lines.is_empty() {
            expected.lines.insert(tick.at, lines);
        }
    }
    expected
}

fn line(
    incident: &Incident,
    event: &HealthEvent,
    handles: &mut BTreeMap<String, HandleSaid>,
) -> String {
    let tone = match (event.is_fatal, event.is_healthy) {
        (_, true) => "healthy",
        (true, false) => "fatal",
        (false, false) => "nonfatal",
    };
    let entity = |kind: &str| {
        let mut entities = event.entities_impacted.iter();
        let found = entities.find(|entity| entity.entity_type == kind);
        found.map(|entity| entity.entity_value.as_str())
    };
    let (device, port) = (entity("NIC").unwrap_or_default(), entity("NICPort"));
    let number = port.and_then(|port| port.parse().ok());
    let whom = match incident.handle_of(device, number.unwrap_or(1)) {
        Some(handle) => {
            let name = handle.name.clone();
            handles.insert(name.clone(), handle);
            match number {
                Some(_) => name,
                None => format!("device of {name}"),
            }
        }
        None => match number {
            Some(number) => format!("{{ name: {}, port: {number} }}", text(device)),
            None => format!("{{ name: {} }}", text(device)),
        },
    };
    let codes: Vec<String> = event.error_code.iter().map(|code| text(code)).collect();
    let kind = Check::parse(&event.check_name).map(Check::kind);
    let more = match (kind, codes.as_slice()) {
        (Some(CheckKind::State), _) => String::new(),
        (Some(CheckKind::Degradation), [counter]) => format!(", counter: {counter}"),
        (_, codes) => format!(
            ", check: {}, codes: [{}]",
            text(&event.check_name),
            codes.join(", ")
        ),
    };
    format!("{tone}: {whom}{more}")
}
