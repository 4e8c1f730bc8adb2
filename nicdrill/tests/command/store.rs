//! `--store` with SQLite: the events of a run in a file, and the messages if they could not be stored.

use std::fs;

use rstest::rstest;
use rusqlite::Connection;
use serde_json::Value;

use crate::scratch::{Scratch, can_play_processes};

const STORY: &str = "port/cable-pulled@h100-oci";
const QUIET: &str = "start/baseline@h100-oci";

fn open(scratch: &Scratch) -> Connection {
    Connection::open(scratch.path("events.db")).unwrap()
}

/// The texts of one column.
fn texts(scratch: &Scratch, question: &str) -> Vec<String> {
    let connection = open(scratch);
    let mut asked = connection.prepare(question).unwrap();
    let rows = asked.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn number(scratch: &Scratch, question: &str) -> i64 {
    open(scratch)
        .query_row(question, [], |row| row.get(0))
        .unwrap()
}

/// The accepted events of a drill in the run folder, as JSON.
fn kept(scratch: &Scratch, drill: &str, arm: &str) -> Vec<Value> {
    let text = scratch.text(&format!(
        "nicdrill.out/drills/{drill}/{arm}-health-events.jsonl"
    ));
    let calls = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let accepted = calls.filter(|call| call["accepted"] == true);
    accepted
        .flat_map(|call| call["events"].as_array().unwrap().clone())
        .collect()
}

#[test]
fn every_event_of_every_drill_in_every_arm_is_in_the_file() {
    let scratch = Scratch::new();
    let arms: &[&str] = if can_play_processes() {
        &["memory", "process"]
    } else {
        &["memory"]
    };
    let arm = if arms.len() == 2 { "both" } else { "memory" };
    let words = [
        "run",
        STORY,
        QUIET,
        "--arm",
        arm,
        "--keep",
        "--store",
        "sqlite:events.db",
    ];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    let mut total = 0;
    for drill in [STORY, QUIET] {
        for arm in arms {
            let kept = kept(&scratch, drill, arm);
            assert!(!kept.is_empty(), "{drill} says something in the {arm} arm");
            total += kept.len();
            let stored = texts(
                &scratch,
                &format!(
                    "SELECT json_object('check', event_type, 'class', severity, \
                     'action', recommended_action, 'node', node_name, \
                     'fatal', document ->> '$.healthevent.isFatal', \
                     'message', document ->> '$.healthevent.message') \
                     FROM nicdrill_events JOIN health_events ON event_id = id \
                     WHERE drill = '{drill}' AND arm = '{arm}' ORDER BY place"
                ),
            );
            let stored: Vec<Value> = stored
                .iter()
                .map(|row| serde_json::from_str(row).unwrap())
                .collect();
            let expected: Vec<Value> = kept
                .iter()
                .map(|event| {
                    serde_json::json!({
                        "check": event["checkName"],
                        "class": event["componentClass"],
                        "action": event["recommendedAction"],
                        "node": event["nodeName"],
                        // Omitted if it is false.
                        "fatal": if event["isFatal"] == true { Value::from(1) } else { Value::Null },
                        "message": event["message"],
                    })
                })
                .collect();
            assert_eq!(stored, expected, "{drill} in the {arm} arm");
        }
    }
    let line = format!("store: {total} events of 2 drills in sqlite:events.db\n");
    assert!(ran.out.contains(&line), "{ran}");
    assert!(!scratch.path("nicdrill.out/unstored.jsonl").exists());
    let asked = texts(&scratch, "SELECT asked FROM nicdrill_runs");
    let rendered: Vec<String> = serde_json::from_str(&asked[0]).unwrap();
    assert_eq!(rendered, words);
}

/// Replaying the stored rows gives the same result as the stream, except that calls are not distinguished.
#[test]
fn exported_rows_are_replayed_as_the_stream_that_they_were() {
    let scratch = Scratch::new();
    let ran = scratch.run(&[
        "run",
        STORY,
        "--arm",
        "memory",
        "--keep",
        "--store",
        "sqlite:events.db",
    ]);
    assert_eq!(ran.code, 0, "{ran}");
    let rows = texts(
        &scratch,
        "SELECT json_object('id', id, 'document', json(document)) FROM health_events \
         JOIN nicdrill_events ON event_id = id ORDER BY place",
    );
    scratch.file("rows.jsonl", &(rows.join("\n") + "\n"));
    let stream = format!("nicdrill.out/drills/{STORY}/memory-health-events.jsonl");
    let [rows, stream] = ["rows.jsonl", &stream].map(|file| {
        let replayed = scratch.run(&["replay", "--rules", "lsd", file]);
        assert_eq!(replayed.code, 0, "{replayed}");
        let lines = replayed
            .out
            .lines()
            .filter(|line| !line.starts_with("events: "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    });
    assert!(
        stream.iter().any(|line| line.contains("  cordon ")),
        "{stream:?}"
    );
    assert_eq!(rows, stream);
}

#[test]
fn each_repeat_is_a_run_of_its_own_with_the_same_rows() {
    let scratch = Scratch::new();
    let ran = scratch.run(&[
        "run",
        STORY,
        "--arm",
        "memory",
        "--repeat",
        "2",
        "--store",
        "sqlite:events.db",
    ]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(number(&scratch, "SELECT count(*) FROM nicdrill_runs"), 2);
    let rows = texts(
        &scratch,
        "SELECT group_concat(created_at || document, x'0a') FROM (SELECT * FROM nicdrill_events \
         JOIN health_events ON event_id = health_events.id ORDER BY run, place) GROUP BY run",
    );
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0], rows[1]);
    let events = number(&scratch, "SELECT count(*) FROM health_events");
    let line = format!("store: {events} events of 2 drills in sqlite:events.db\n");
    assert!(ran.out.contains(&line), "{ran}");
}

#[test]
fn without_the_flag_nothing_of_a_store_is_told() {
    let scratch = Scratch::new();
    let ran = scratch.run(&["run", QUIET, "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.out.contains("store"), "{ran}");
}

/// A build without PostgreSQL refuses the address of every server.
const fn with_server(reported: &'static str) -> &'static str {
    if cfg!(feature = "postgres") {
        reported
    } else {
        "this nicdrill was built without PostgreSQL"
    }
}

#[rstest]
#[case("events.db", "does not say which kind of store")]
#[case("mysql://ann:secret@h/d", "no store of the kind `mysql:`")]
#[case("sqlite:", "names no file")]
#[case(
    "sqlite:no/such/folder/events.db",
    "`sqlite:no/such/folder/events.db` cannot be used"
)]
#[case("postgres:///x", with_server("the store's address names no host"))]
#[case(
    "postgres://ann@127.0.0.1:1/d",
    with_server("`postgres://ann@127.0.0.1:1/d` cannot be used")
)]
fn a_store_that_is_not_there_ends_the_run_before_it_begins(
    #[case] url: &str,
    #[case] reported: &str,
) {
    let scratch = Scratch::new();
    let ran = scratch.run(&["run", QUIET, "--arm", "memory", "--store", url]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err.contains(reported) && ran.err.contains("\nhint: "),
        "{ran}"
    );
    assert!(!ran.err.contains("secret"), "{ran}");
    assert!(
        !scratch.path("nicdrill.out").exists(),
        "a run that never began left a folder"
    );
}

#[test]
fn a_store_that_is_a_pipe_is_told_as_such() {
    let scratch = Scratch::new();
    let line = format!("mkfifo pipe && \"$NICDRILL\" run {QUIET} --arm memory --store sqlite:pipe");
    let ran = scratch.shell(&line);
    assert_eq!(ran.code, 2, "{ran}");
    let told = "error: the store `sqlite:pipe` cannot be used: it is not a regular file\nhint: ";
    assert!(ran.err.contains(told), "{ran}");
}

/// A run that stores its events.
const TO_SQLITE: [&str; 6] = [
    "run",
    STORY,
    "--arm",
    "memory",
    "--store",
    "sqlite:events.db",
];

/// Stores the events of a whole run; returns how many there are.
fn stored(scratch: &Scratch) -> i64 {
    let whole = scratch.run(&TO_SQLITE);
    assert_eq!(whole.code, 0, "{whole}");
    number(scratch, "SELECT count(*) FROM health_events")
}

/// The store starts to reject rows during the run.
#[test]
fn events_that_are_not_stored_lie_in_the_run_folder_and_the_run_ends_with_110() {
    let scratch = Scratch::new();
    let events = stored(&scratch);
    open(&scratch)
        .execute_batch(
            "DELETE FROM health_events; DELETE FROM nicdrill_events; \
             CREATE TRIGGER choosy BEFORE INSERT ON nicdrill_events WHEN NEW.place >= 1 \
             BEGIN SELECT RAISE(ABORT, 'no more'); END",
        )
        .unwrap();
    let ran = scratch.run(&TO_SQLITE);
    assert_eq!(ran.code, 110, "{ran}");
    let left = events - 1;
    let rendered = format!(
        "error: {left} events were not stored (no more); they lie in `nicdrill.out/unstored.jsonl`"
    );
    assert!(ran.err.contains(&rendered), "{ran}");
    assert!(
        ran.out
            .contains("store: 1 event of 1 drill in sqlite:events.db\n"),
        "{ran}"
    );
    let unstored = fs::read_to_string(scratch.path("nicdrill.out/unstored.jsonl")).unwrap();
    let places: Vec<i64> = unstored
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["place"]
                .as_i64()
                .unwrap()
        })
        .collect();
    assert_eq!(places, (1..events).collect::<Vec<_>>());
    let replayed = scratch.run(&["replay", "--rules", "lsd", "nicdrill.out/unstored.jsonl"]);
    assert_eq!(replayed.code, 0, "{replayed}");
    assert!(
        replayed.out.contains(&format!("events: {left} in ")),
        "{replayed}"
    );
}

#[test]
fn a_store_that_drops_the_run_ends_it_before_its_first_drill() {
    let scratch = Scratch::new();
    stored(&scratch);
    open(&scratch)
        .execute_batch(
            "CREATE TRIGGER ignores BEFORE INSERT ON nicdrill_runs BEGIN SELECT RAISE(IGNORE); END",
        )
        .unwrap();
    let ran = scratch.run(&TO_SQLITE);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err.contains("it takes a run, and when it is read back"),
        "{ran}"
    );
}

/// A trigger of another program drops the events of these nodes, and tells nobody.
#[test]
fn events_that_a_trigger_ignores_are_not_told_as_stored() {
    let scratch = Scratch::new();
    let events = stored(&scratch);
    open(&scratch)
        .execute_batch(
            "CREATE TRIGGER ignores BEFORE INSERT ON health_events WHEN NEW.node_name <> 'node-1' \
             BEGIN SELECT RAISE(IGNORE); END",
        )
        .unwrap();
    let ran = scratch.run(&TO_SQLITE);
    assert_eq!(ran.code, 110, "{ran}");
    let told = "store: 0 events of 0 drills in sqlite:events.db\n";
    assert!(ran.out.contains(told), "{ran}");
    let told =
        format!("error: {events} events were not stored (it took them, and has them no more)");
    assert!(ran.err.contains(&told), "{ran}");
    let unstored = scratch.text("nicdrill.out/unstored.jsonl");
    assert_eq!(i64::try_from(unstored.lines().count()), Ok(events), "{ran}");
}
