//! Hand-written drills, a store for them, and queries of its content.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use cluster::recorded::read_line;
use observe::{Call, MonitorTick, Recording, Tick, platform_connector};
use proto::{Entity, HealthEvent, HealthEvents, ProcessingStrategy, RecommendedAction};
use reports::DrillName;
use rusqlite::Connection;
use store::{Ending, Limits, Opening, Run, Store, StoreError, StoreUrl};
use terms::Arm;

/// When the drill began, by the world's clock: 2025-03-01T00:00:00Z.
const START_WALL_NS: u64 = 1_740_787_200 * 1_000_000_000;

/// Delays are short here, because a store that the test locks stays locked.
pub(crate) const LIMITS: Limits = Limits {
    batch_rows_max: 2,
    memory_rows_max: 100,
    wait_first: Duration::from_millis(1),
    wait_max: Duration::from_millis(4),
    tries_after_end: 2,
    silence_max: Duration::from_secs(60),
};

/// A drill's name.
pub(crate) fn drill() -> DrillName {
    "port/made-up@h100-oci".parse().unwrap()
}

/// A fatal event of this port, emitted at this second of the drill.
pub(crate) fn fatal(node: &str, port: &str, at_s: u64) -> HealthEvent {
    let entity = |kind: &str, value: &str| Entity {
        entity_type: kind.to_owned(),
        entity_value: value.to_owned(),
    };
    HealthEvent {
        version: 1,
        agent: "nic-health-monitor".to_owned(),
        component_class: "NIC".to_owned(),
        check_name: "InfiniBandStateCheck".to_owned(),
        is_fatal: true,
        message: format!("Port {port} is down"),
        recommended_action: RecommendedAction::ReplaceVm.into(),
        entities_impacted: vec![entity("NIC", port), entity("NICPort", "1")],
        generated_timestamp: Some(proto::timestamp_from_ns(
            START_WALL_NS + at_s * 1_000_000_000,
        )),
        node_name: node.to_owned(),
        processing_strategy: ProcessingStrategy::ExecuteRemediation.into(),
        ..HealthEvent::default()
    }
}

/// A healthy event of the same port.
pub(crate) fn healthy(node: &str, port: &str, at_s: u64) -> HealthEvent {
    HealthEvent {
        is_fatal: false,
        is_healthy: true,
        message: format!("Port {port} is up"),
        recommended_action: RecommendedAction::None.into(),
        ..fatal(node, port, at_s)
    }
}

/// A call that was accepted.
pub(crate) fn accepted(events: &[HealthEvent]) -> Call {
    let batch = HealthEvents {
        version: 1,
        events: events.to_vec(),
    };
    platform_connector::received(&batch).answered(true, "accepted".to_owned())
}

/// A recording: the calls of each node in each poll, a second apart.
pub(crate) fn recording(arm: Arm, polls: &[&[(&str, &[Call])]]) -> (Arm, Recording) {
    let ticks = (0..).zip(polls).map(|(second, instances)| {
        let instances = instances.iter().map(|(node, calls)| {
            let instance = MonitorTick {
                polls: 1,
                calls: calls.to_vec(),
                ..MonitorTick::default()
            };
            ((*node).into(), instance.into())
        });
        Tick {
            at_ns: second * 1_000_000_000,
            monitors: Arc::new(instances.collect()),
        }
    });
    let recording = Recording {
        start_wall_ns: START_WALL_NS,
        ticks: ticks.collect(),
        ..Recording::default()
    };
    (arm, recording)
}

/// A drill of one node in which this many ports go down, one per poll.
pub(crate) fn falling(ports: u64) -> (Arm, Recording) {
    let polls: Vec<(String, Vec<Call>)> = (0..ports)
        .map(|port| {
            let event = fatal("node-1", &format!("mlx5_{port}"), port);
            ("node-1".to_owned(), vec![accepted(&[event])])
        })
        .collect();
    let polls: Vec<[(&str, &[Call]); 1]> = polls
        .iter()
        .map(|(node, calls)| [(node.as_str(), calls.as_slice())])
        .collect();
    let polls: Vec<&[(&str, &[Call])]> = polls.iter().map(|poll| poll.as_slice()).collect();
    recording(Arm::Memory, &polls)
}

/// A file for a store and a folder for a run.
pub(crate) struct Rig {
    folder: tempfile::TempDir,
    pub(crate) run: Run,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            run: Run::now(7, vec!["run".to_owned()]),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn url(&self) -> StoreUrl {
        let path = self.path("events.db");
        format!("sqlite:{}", path.display()).parse().unwrap()
    }

    /// Opens the store; its messages can be received.
    pub(crate) fn open(&self, limits: Limits) -> (Store, Receiver<String>) {
        let (says, reported) = channel();
        let reached = self.url().reach(self.run.clone(), Opening::default());
        let reached = reached.unwrap();
        let store = reached.keep(self.folder.path(), limits, move |text| {
            // The test may have stopped receiving.
            let _ = says.send(text.to_owned());
        });
        (store, reported)
    }

    pub(crate) fn refusal(&self) -> StoreError {
        let reached = self.url().reach(self.run.clone(), Opening::default());
        reached.err().unwrap()
    }

    /// Stores this one drill.
    pub(crate) fn store(&self, limits: Limits, recordings: &[(Arm, Recording)]) -> Ending {
        let (mut store, _reported) = self.open(limits);
        store.take(&drill(), recordings);
        store.finish()
    }

    /// Opens the file like another program.
    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.path("events.db")).unwrap()
    }

    /// One column of a query, as text.
    pub(crate) fn texts(&self, question: &str) -> Vec<String> {
        let connection = self.connect();
        let mut asked = connection.prepare(question).unwrap();
        let rows = asked
            .query_map([], |row| {
                let value: rusqlite::types::Value = row.get(0)?;
                Ok(match value {
                    rusqlite::types::Value::Text(text) => text,
                    rusqlite::types::Value::Integer(number) => number.to_string(),
                    rusqlite::types::Value::Null => "NULL".to_owned(),
                    other => panic!("{other:?}"),
                })
            })
            .unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// The stored events, in the order of the change feed.
    pub(crate) fn events(&self) -> Vec<HealthEvent> {
        let documents = self.texts(
            "SELECT document FROM datastore_changelog JOIN health_events \
             ON record_id = health_events.id ORDER BY datastore_changelog.id",
        );
        let line = |document: &String| format!(r#"{{"document":{document}}}"#);
        documents
            .iter()
            .map(|document| read(&line(document)))
            .collect()
    }

    /// The events in the file of unstored rows.
    pub(crate) fn unstored(&self) -> Vec<HealthEvent> {
        let text = fs::read_to_string(self.path("unstored.jsonl")).unwrap();
        text.lines().map(read).collect()
    }
}

/// The one event of a line.
fn read(line: &str) -> HealthEvent {
    let mut call = read_line(line).unwrap().unwrap();
    assert_eq!(call.events.len(), 1);
    call.events.remove(0)
}

/// The events of a recording that were accepted.
pub(crate) fn reported((_, recording): &(Arm, Recording)) -> Vec<HealthEvent> {
    let instances = recording
        .ticks
        .iter()
        .flat_map(|tick| tick.monitors.values());
    let calls = instances.flat_map(|instance| &instance.calls);
    let accepted = calls.filter(|call| call.accepted);
    accepted
        .flat_map(|call| platform_connector::batch(call).events)
        .collect()
}
