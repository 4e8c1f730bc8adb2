//! `--store` with a real PostgreSQL server, which is killed in the middle of a run.

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Child, Stdio},
    time::Duration,
};

use observe::{MonitorTick, Recording, Tick, platform_connector};
use postgres::{Client, fallible_iterator::FallibleIterator as _};
use proto::{HealthEvent, HealthEvents};
use rstest::rstest;
use rusqlite::Connection;
use serde_json::Value;
use store::{Ending, Limits, Opening, Run, Store};
use terms::Arm;

use crate::{
    postgres::{Server, signal},
    scratch::{NICDRILL, Ran, Scratch, command},
};

/// Drills that take some time.
const MANY: [&str; 6] = ["run", "port/*", "--arm", "memory", "--jobs", "1"];

/// A row: its drill, arm and index, and its document.
type Row = (String, i64, Value);

/// The rows in the database.
fn rows(client: &mut Client) -> BTreeSet<String> {
    let asked = "SELECT drill || ' ' || arm, place, document::text FROM nicdrill_events \
                 JOIN health_events ON event_id = id";
    let rows = client.query(asked, &[]).unwrap();
    let count = rows.len();
    let rows = rows.iter().map(|row| {
        let document: String = row.get(2);
        let document = serde_json::from_str(&document).unwrap();
        rendered(&(row.get(0), row.get(1), document))
    });
    let rows: BTreeSet<String> = rows.collect();
    assert_eq!(rows.len(), count, "a row is there twice");
    rows
}

/// The rows of the same drills, through an SQLite file.
fn expected() -> BTreeSet<String> {
    let scratch = Scratch::new();
    let ran = scratch.run(&[&MANY[..], &["--store", "sqlite:events.db"]].concat());
    assert_eq!(ran.code, 0, "{ran}");
    let connection = Connection::open(scratch.path("events.db")).unwrap();
    let mut asked = connection
        .prepare(
            "SELECT drill || ' ' || arm, place, document FROM nicdrill_events \
             JOIN health_events ON event_id = id",
        )
        .unwrap();
    let rows = asked.query_map([], |row| {
        let document: String = row.get(2)?;
        let document = serde_json::from_str(&document).unwrap();
        Ok(rendered(&(row.get(0)?, row.get(1)?, document)))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// The rows in the file of unstored rows.
fn unstored(scratch: &Scratch) -> BTreeSet<String> {
    let text = scratch.text("nicdrill.out/unstored.jsonl");
    let rows = text.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        let of = |name: &str| row[name].as_str().unwrap().to_owned();
        let place = row["place"].as_i64().unwrap();
        rendered(&(
            of("drill") + " " + &of("arm"),
            place,
            row["document"].clone(),
        ))
    });
    rows.collect()
}

fn rendered((drill, place, document): &Row) -> String {
    format!("{drill} {place} {document}")
}

/// A run in progress, with a server that is killed once the first of its events is stored.
fn killed_in_the_middle(server: &mut Server, scratch: &Scratch) -> Child {
    let mut listener = server.client();
    listener.batch_execute("LISTEN nvsentinel_changes").unwrap();
    let running = command(Path::new(NICDRILL), &scratch.path(""))
        .args(MANY)
        .args(["--store", &server.url()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let first = listener.notifications().blocking_iter().next().unwrap();
    assert!(first.is_some(), "the server ended by itself");
    server.kill();
    running
}

#[test]
fn a_server_that_is_killed_and_comes_back_has_every_event_once() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let scratch = Scratch::new();
    let running = killed_in_the_middle(&mut server, &scratch);
    server.start_again();
    let ran = Ran::of(&running.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.err.contains("went away, and its events wait"), "{ran}");
    assert!(ran.err.contains("is there again"), "{ran}");
    let expected = expected();
    assert!(rows(&mut server.client()) == expected, "rows differ");
    let line = format!("store: {} events of ", expected.len());
    assert!(ran.out.contains(&line), "{ran}");
    assert!(!scratch.path("nicdrill.out/unstored.jsonl").exists());
}

#[test]
fn a_server_that_never_comes_back_loses_nothing_and_the_run_ends_with_110() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let scratch = Scratch::new();
    let running = killed_in_the_middle(&mut server, &scratch);
    let ran = Ran::of(&running.wait_with_output().unwrap());
    assert_eq!(ran.code, 110, "{ran}");
    let unstored = unstored(&scratch);
    let rendered = format!("error: {} events were not stored (", unstored.len());
    assert!(ran.err.contains(&rendered), "{ran}");
    assert!(
        ran.err
            .contains("they lie in `nicdrill.out/unstored.jsonl`"),
        "{ran}"
    );
    // The drills were all played.
    assert!(ran.out.contains(" 0 failed"), "{ran}");
    server.start_again();
    let stored = rows(&mut server.client());
    assert!(!stored.is_empty(), "the first batch was there");
    let all: BTreeSet<String> = stored.union(&unstored).cloned().collect();
    assert!(all == expected(), "rows differ");
}

#[test]
fn a_listener_hears_of_every_event_and_finds_it() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut listener = server.client();
    listener.batch_execute("LISTEN nvsentinel_changes").unwrap();
    let ran = Scratch::new().run(&[
        "run",
        "port/cable-pulled@h100-oci",
        "--arm",
        "memory",
        "--store",
        &server.url(),
    ]);
    assert_eq!(ran.code, 0, "{ran}");
    let count: i64 = server
        .client()
        .query_one("SELECT count(*) FROM health_events", &[])
        .unwrap()
        .get(0);
    let mut heard = Vec::new();
    let mut notifications = listener.notifications();
    let mut notifications = notifications.blocking_iter();
    for _ in 0..count {
        heard.push(notifications.next().unwrap().unwrap().payload().to_owned());
    }
    drop(notifications);
    for payload in heard {
        let payload: Value = serde_json::from_str(&payload).unwrap();
        assert_eq!(payload["table"], "health_events");
        assert_eq!(payload["operation"], "INSERT");
        let asked =
            "SELECT new_values ->> 'id' FROM datastore_changelog WHERE id = $1 AND NOT processed";
        let id: String = server
            .client()
            .query_one(asked, &[&payload["id"].as_i64().unwrap()])
            .unwrap()
            .get(0);
        assert_eq!(payload["record_id"], id);
    }
}

#[rstest]
#[case(
    "health_events",
    "id uuid, node_name text, event_type text, severity text, recommended_action text, \
     node_quarantined text, user_pods_eviction_status text, user_pods_eviction_message text, \
     fault_remediated boolean, last_remediation_timestamp timestamp with time zone, \
     quarantine_finish_timestamp timestamp with time zone, \
     drain_finish_timestamp timestamp with time zone, document jsonb, \
     created_at timestamp with time zone, updated_at timestamp with time zone"
)]
#[case(
    "datastore_changelog",
    "id bigint, table_name text, record_id uuid, operation text, old_values jsonb, \
     new_values jsonb, changed_at timestamp with time zone, processed boolean"
)]
#[case(
    "resume_tokens",
    "client_name text, resume_token jsonb, last_updated timestamp with time zone"
)]
fn a_table_has_the_connectors_layout(#[case] table: &str, #[case] columns: &str) {
    let Some(server) = Server::start() else {
        return;
    };
    store(&server, Limits::default(), &[]);
    let rendered: String = server
        .client()
        .query_one(
            "SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) \
             FROM information_schema.columns WHERE table_name = $1",
            &[&table],
        )
        .unwrap()
        .get(0);
    assert_eq!(rendered, columns);
}

/// PostgreSQL cannot represent NUL in texts or JSON ("PostgreSQL documentation, JSON Types").
#[test]
fn an_event_with_a_nul_is_unstored_and_keeps_no_other_from_the_database() {
    let Some(server) = Server::start() else {
        return;
    };
    let events = ["one", "t\0o", "three"].map(event);
    let (ending, folder) = store(&server, Limits::default(), &events);
    assert_eq!((ending.stored, ending.unstored), (2, 1));
    let stored = server
        .client()
        .query(
            "SELECT document #>> '{healthevent,message}' FROM datastore_changelog \
             JOIN health_events ON record_id = health_events.id ORDER BY datastore_changelog.id",
            &[],
        )
        .unwrap();
    let stored: Vec<String> = stored.iter().map(|row| row.get(0)).collect();
    assert_eq!(stored, ["one", "three"]);
    let left = std::fs::read_to_string(folder.path().join("unstored.jsonl")).unwrap();
    let left: Value = serde_json::from_str(&left).unwrap();
    assert_eq!(left["document"]["healthevent"]["message"], "t\0o");
}

#[test]
fn what_a_trigger_of_the_server_changes_is_unstored_and_what_an_analyzer_writes_is_stored() {
    for (change, stored) in [
        ("document = '{}'", 2),
        ("node_name = 'another'", 2),
        (
            "node_quarantined = 'Quarantined', \
             document = jsonb_set(document, '{healtheventstatus}', '{\"nodequarantined\": \"Quarantined\"}')",
            3,
        ),
    ] {
        let Some(server) = Server::start() else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(&server, Limits::default(), folder.path());
        let made = format!(
            "CREATE FUNCTION changes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             UPDATE health_events SET {change} WHERE id = NEW.event_id; RETURN NEW; END $$; \
             CREATE TRIGGER changes AFTER INSERT ON nicdrill_events \
             FOR EACH ROW WHEN (NEW.place = 1) EXECUTE FUNCTION changes()"
        );
        server.client().batch_execute(&made).unwrap();
        take(&mut store, &["one", "two", "three"].map(event));
        let ending = store.finish();
        let counts = (ending.stored, ending.unstored);
        assert_eq!(counts, (stored, 3 - stored), "{change}");
    }
}

#[test]
fn a_server_that_drops_the_run_is_refused_at_the_start() {
    let Some(server) = Server::start() else {
        return;
    };
    store(&server, Limits::default(), &[]);
    let made = "CREATE FUNCTION ignores() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; \
                CREATE TRIGGER ignores BEFORE INSERT ON nicdrill_runs FOR EACH ROW EXECUTE FUNCTION ignores()";
    server.client().batch_execute(made).unwrap();
    let url: store::StoreUrl = server.url().parse().unwrap();
    let refused = url.reach(Run::now(0, Vec::new()), Opening::default());
    let refused = refused.err().unwrap();
    let told = "it takes a run, and when it is read back it is not there as it was written";
    assert!(refused.to_string().contains(told), "{refused}");
}

/// Its process is stopped, without a notification on the connection.
#[test]
fn a_silent_server_holds_up_no_end() {
    let Some(server) = Server::start() else {
        return;
    };
    let limits = Limits {
        silence_max: Duration::from_millis(300),
        ..Limits::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&server, limits, folder.path());
    let asked = "SELECT pid FROM pg_stat_activity WHERE application_name = 'nicdrill'";
    let pid: i32 = server.client().query_one(asked, &[]).unwrap().get(0);
    let pid = u32::try_from(pid).unwrap();
    signal("STOP", pid);
    take(&mut store, &["one", "two"].map(event));
    let ending = store.finish();
    signal("CONT", pid);
    assert_eq!((ending.stored, ending.unstored), (0, 2));
    assert_eq!(ending.cause.as_deref(), Some("it was silent for 300ms"));
    let left = std::fs::read_to_string(ending.file).unwrap();
    assert_eq!(left.lines().count(), 2);
}

fn event(message: &str) -> HealthEvent {
    HealthEvent {
        message: message.to_owned(),
        node_name: "node-1".to_owned(),
        check_name: "InfiniBandStateCheck".to_owned(),
        ..HealthEvent::default()
    }
}

fn open(server: &Server, limits: Limits, folder: &Path) -> Store {
    let url: store::StoreUrl = server.url().parse().unwrap();
    let reached = url.reach(Run::now(0, Vec::new()), Opening::default());
    let reached = reached.unwrap();
    reached.keep(folder, limits, |_| ())
}

fn take(store: &mut Store, events: &[HealthEvent]) {
    let batch = HealthEvents {
        version: 1,
        events: events.to_vec(),
    };
    let call = platform_connector::received(&batch).answered(true, "accepted".to_owned());
    let monitor = MonitorTick {
        calls: vec![call],
        ..MonitorTick::default()
    };
    let mut tick = Tick::default();
    tick.insert("node-1".into(), monitor.into());
    let recording = Recording {
        ticks: vec![tick],
        ..Recording::default()
    };
    let drill = "port/made-up@h100-oci".parse().unwrap();
    store.take(&drill, &[(Arm::Memory, recording)]);
}

/// One drill in which these events were accepted.
fn store(server: &Server, limits: Limits, events: &[HealthEvent]) -> (Ending, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(server, limits, folder.path());
    take(&mut store, events);
    (store.finish(), folder)
}
