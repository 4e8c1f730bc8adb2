//! A stored event: its columns, its document, and its drill.
//!
//! This file is pure: the same run, drill and recording give the same rows. `created_at` is the connector's
//! clock, which in a drill is the simulated time of the poll that published the event. Start at
//! [`Row::all`].

use std::sync::Arc;

use observe::Recording;
use proto::{HealthEvent, RecommendedAction};
use reports::DrillName;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, value::RawValue};
use terms::Arm;
use uuid::Uuid;

use crate::{document::document, run::Run};

/// An event that a connector accepted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The run.
    #[serde(serialize_with = "write_run", deserialize_with = "read_run")]
    pub run: Arc<Run>,
    /// The drill, as `family/scenario@world`.
    pub drill: String,
    /// `memory` or `process`.
    pub arm: String,
    /// The tick whose poll published it, from 0.
    pub poll: u64,
    /// Its index among the accepted events of this drill and arm, from 0.
    pub place: u64,
    /// Derived from run, drill, arm and index, so that writing it twice stores it once.
    pub id: Uuid,
    /// The node of the event.
    pub node_name: String,
    /// The check of the event.
    pub event_type: String,
    /// The component class of the event, as NVSentinel's connector fills the column.
    pub severity: String,
    /// The action's name, such as `REPLACE_VM`.
    pub recommended_action: String,
    /// The drill's time of storing: RFC 3339, UTC.
    pub created_at: String,
    /// The event in JSON.
    pub document: Box<RawValue>,
}

impl Row {
    /// The rows of a drill: for each arm the events that connectors accepted, by poll and node.
    #[must_use]
    pub fn all(run: &Arc<Run>, drill: &DrillName, recordings: &[(Arm, Recording)]) -> Vec<Self> {
        let drill = drill.to_string();
        let mut rows = Vec::new();
        for (arm, recording) in recordings {
            let arm = arm.to_string();
            let mut place = 0;
            for (poll, tick) in (0..).zip(&recording.ticks) {
                let calls = tick.monitors.values().flat_map(|monitor| &monitor.calls);
                let accepted = calls.filter(|call| call.accepted);
                let created_at = stamp(recording.start_wall_ns + tick.at_ns);
                for event in accepted
                    .filter_map(|call| recording.protocol.health_events(call))
                    .flat_map(|batch| batch.events)
                {
                    rows.push(Self {
                        run: Arc::clone(run),
                        drill: drill.clone(),
                        arm: arm.clone(),
                        poll,
                        place,
                        id: name(run.id, &drill, &arm, place),
                        node_name: event.node_name.clone(),
                        event_type: event.check_name.clone(),
                        severity: event.component_class.clone(),
                        recommended_action: action(&event),
                        document: document(&event, &created_at),
                        created_at: created_at.clone(),
                    });
                    place += 1;
                }
            }
        }
        rows
    }
}

/// How many columns of a row count when it is read back.
pub(crate) const READ_BACK: usize = 9;

/// A digest of what counts when a row is read back: node, type, severity and action of the event; its drill, arm, poll and
/// place; its document. The processing state of the document does not count, because an analyzer may have written it.
///
/// # Panics
/// Never: texts are JSON.
pub(crate) fn digest(columns: [Option<&str>; READ_BACK]) -> Uuid {
    let [others @ .., document] = columns;
    let document = document.and_then(|text| serde_json::from_str(text).ok());
    let mut document: Value = document.unwrap_or_default();
    if let Some(document) = document.as_object_mut() {
        document.remove("healtheventstatus");
    }
    // The keys of an object are sorted: PostgreSQL returns them in an order of its own.
    let text = serde_json::to_string(&(others, document)).expect("texts are JSON");
    Uuid::new_v5(&Uuid::nil(), text.as_bytes())
}

impl Row {
    /// What is to be read back of it.
    pub(crate) fn digest(&self) -> Uuid {
        digest([
            Some(&self.node_name),
            Some(&self.event_type),
            Some(&self.severity),
            Some(&self.recommended_action),
            Some(&self.drill),
            Some(&self.arm),
            Some(&self.poll.to_string()),
            Some(&self.place.to_string()),
            Some(self.document.get()),
        ])
    }

    /// A row like those that are written, to try whether the tables take it and have it afterwards. It is never kept.
    ///
    /// # Panics
    /// Never: its document is JSON.
    #[must_use]
    pub(crate) fn trial(run: &Run) -> Arc<Self> {
        let event = HealthEvent {
            version: 1,
            ..HealthEvent::default()
        };
        let created_at = stamp(TRIAL_WALL_NS);
        Arc::new(Self {
            run: Arc::new(run.clone()),
            drill: "start/trial@trial".to_owned(),
            arm: "memory".to_owned(),
            poll: 0,
            place: 0,
            id: name(run.id, "start/trial@trial", "memory", 0),
            node_name: "node-1".to_owned(),
            event_type: "InfiniBandStateCheck".to_owned(),
            severity: "NIC".to_owned(),
            recommended_action: action(&event),
            document: document(&event, &created_at),
            created_at,
        })
    }
}

/// When the trial row was stored: 2025-03-01T00:00:00Z, when drills begin.
const TRIAL_WALL_NS: u64 = 1_740_787_200 * 1_000_000_000;

/// Names of drills and arms contain no line break.
fn name(run: Uuid, drill: &str, arm: &str, place: u64) -> Uuid {
    Uuid::new_v5(&run, format!("{drill}\n{arm}\n{place}").as_bytes())
}

/// An action that the protocol does not know is written as its number.
fn action(event: &HealthEvent) -> String {
    let action = event.recommended_action;
    RecommendedAction::try_from(action).map_or_else(
        |_| action.to_string(),
        |action| action.as_str_name().to_owned(),
    )
}

/// RFC 3339, UTC.
fn stamp(wall_ns: u64) -> String {
    proto::timestamp_from_ns(wall_ns).to_string()
}

fn write_run<S: Serializer>(run: &Arc<Run>, serializer: S) -> Result<S::Ok, S::Error> {
    run.as_ref().serialize(serializer)
}

fn read_run<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Run>, D::Error> {
    Run::deserialize(deserializer).map(Arc::new)
}
