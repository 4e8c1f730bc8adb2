//! The content of the store at the end of a run.

use observe::Call;
use proto::HealthEvent;
use store::{Opening, StoreError, StoreUrl};
use terms::Arm;

use crate::support::{LIMITS, Rig, accepted, falling, fatal, healthy, recording, reported};

#[test]
fn every_accepted_event_is_a_row_in_the_order_in_which_it_was_accepted() {
    let refused = Call {
        accepted: false,
        answer: "UNAVAILABLE".to_owned(),
        ..accepted(&[fatal("a", "mlx5_9", 0)])
    };
    let one = accepted(&[fatal("a", "mlx5_0", 0), fatal("a", "mlx5_1", 0)]);
    let other = accepted(&[fatal("b", "mlx5_0", 0)]);
    let mended = accepted(&[healthy("a", "mlx5_0", 1)]);
    let story = recording(
        Arm::Memory,
        &[
            &[("a", &[refused, one]), ("b", &[other])],
            &[("a", &[mended]), ("b", &[])],
        ],
    );
    let rig = Rig::new();
    let ending = rig.store(LIMITS, std::slice::from_ref(&story));
    assert_eq!((ending.drills, ending.stored, ending.unstored), (1, 4, 0));
    assert_eq!(ending.store, rig.url().to_string());
    assert_eq!(rig.events(), reported(&story));
    let of = rig.texts(
        "SELECT drill || ' ' || arm || ' ' || poll || ' ' || place || ' ' || node_name \
         FROM nicdrill_events JOIN health_events ON event_id = id ORDER BY place",
    );
    let drill = "port/made-up@h100-oci memory";
    assert_eq!(
        of,
        [
            format!("{drill} 0 0 a"),
            format!("{drill} 0 1 a"),
            format!("{drill} 0 2 b"),
            format!("{drill} 1 3 a"),
        ]
    );
    assert!(!rig.path("unstored.jsonl").exists() && !rig.path("waiting.jsonl").exists());
}

/// "Store" of the platform connector: the event's type is its check, its severity the component class.
#[test]
fn the_columns_are_the_connectors_and_the_instants_the_drills() {
    let story = recording(
        Arm::Process,
        &[
            &[("a", &[accepted(&[fatal("a", "mlx5_0", 0)])])],
            &[("a", &[accepted(&[healthy("a", "mlx5_0", 1)])])],
        ],
    );
    let rig = Rig::new();
    rig.store(LIMITS, &[story]);
    let columns = "node_name || ' ' || event_type || ' ' || severity || ' ' || recommended_action \
                   || ' ' || user_pods_eviction_status || ' ' || created_at || ' ' || updated_at";
    assert_eq!(
        rig.texts(&format!(
            "SELECT {columns} FROM health_events ORDER BY created_at"
        )),
        [
            "a InfiniBandStateCheck NIC REPLACE_VM NotStarted 2025-03-01T00:00:00Z 2025-03-01T00:00:00Z",
            "a InfiniBandStateCheck NIC NONE NotStarted 2025-03-01T00:00:01Z 2025-03-01T00:00:01Z",
        ]
    );
    for unset in [
        "node_quarantined",
        "user_pods_eviction_message",
        "fault_remediated",
        "last_remediation_timestamp",
        "quarantine_finish_timestamp",
        "drain_finish_timestamp",
    ] {
        let rendered = rig.texts(&format!("SELECT DISTINCT {unset} FROM health_events"));
        assert_eq!(rendered, ["NULL"], "{unset}");
    }
    // False values are omitted.
    let keys = "SELECT group_concat(key) FROM health_events, json_each(document, '$.healthevent') \
                WHERE key LIKE 'is%' GROUP BY health_events.id ORDER BY created_at";
    assert_eq!(rig.texts(keys), ["isFatal", "isHealthy"]);
    let arms = rig.texts("SELECT DISTINCT arm FROM nicdrill_events");
    assert_eq!(arms, ["process"]);
}

#[test]
fn an_analyzer_finds_events_by_node_entity_and_window() {
    let rig = Rig::new();
    rig.store(LIMITS, &[falling(6)]);
    let question = "SELECT document ->> '$.healthevent.message' FROM health_events, \
                    json_each(document, '$.healthevent.entitiesImpacted') AS entity \
                    WHERE node_name = 'node-1' AND event_type = 'InfiniBandStateCheck' \
                    AND entity.value ->> 'entityType' = 'NIC' \
                    AND entity.value ->> 'entityValue' IN ('mlx5_1', 'mlx5_2', 'mlx5_5') \
                    AND document ->> '$.healthevent.generatedTimestamp.seconds' \
                    BETWEEN 1740787202 AND 1740787205 ORDER BY created_at";
    // mlx5_1 went down at 00:00:01, a second before the window.
    assert_eq!(
        rig.texts(question),
        ["Port mlx5_2 is down", "Port mlx5_5 is down"]
    );
}

#[test]
fn a_run_is_known_by_when_it_began_its_seed_and_its_words() {
    let rig = Rig::new();
    rig.store(LIMITS, &[falling(1)]);
    let rendered =
        rig.texts("SELECT id || ' ' || started || ' ' || seed || ' ' || asked FROM nicdrill_runs");
    let run = &rig.run;
    assert_eq!(
        rendered,
        [format!("{} {} 7 [\"run\"]", run.id, run.started)]
    );
}

#[test]
fn the_same_rows_written_twice_are_there_once() {
    let rig = Rig::new();
    for _ in 0..2 {
        let ending = rig.store(LIMITS, &[falling(3)]);
        assert_eq!((ending.stored, ending.unstored), (3, 0));
    }
    for table in ["health_events", "nicdrill_events", "datastore_changelog"] {
        assert_eq!(
            rig.texts(&format!("SELECT count(*) FROM {table}")),
            ["3"],
            "{table}"
        );
    }
    assert_eq!(rig.texts("SELECT count(*) FROM nicdrill_runs"), ["1"]);
}

#[test]
fn every_change_of_an_event_is_noted() {
    let rig = Rig::new();
    rig.store(LIMITS, &[falling(1)]);
    let analyzer = rig.connect();
    analyzer
        .execute(
            "UPDATE health_events SET node_quarantined = 'Quarantined'",
            [],
        )
        .unwrap();
    analyzer.execute("DELETE FROM health_events", []).unwrap();
    let status = |values: &str| format!("coalesce({values} ->> '$.node_quarantined', '-')");
    let noted = rig.texts(&format!(
        "SELECT table_name || ' ' || operation || ' ' || {} || ' ' || {} || ' ' || processed \
         FROM datastore_changelog ORDER BY id",
        status("old_values"),
        status("new_values"),
    ));
    assert_eq!(
        noted,
        [
            "health_events INSERT - - 0",
            "health_events UPDATE - Quarantined 0",
            "health_events DELETE Quarantined - 0",
        ]
    );
    let inserted = "SELECT new_values ->> '$.document.healthevent.message' \
                    FROM datastore_changelog WHERE operation = 'INSERT'";
    assert_eq!(rig.texts(inserted), ["Port mlx5_0 is down"]);
}

/// Another program's table may have a change feed of its own.
#[test]
fn a_table_that_is_there_already_is_used_as_it_is() {
    let rig = Rig::new();
    rig.connect()
        .execute_batch(
            "CREATE TABLE health_events (id TEXT PRIMARY KEY, node_name TEXT, event_type TEXT, \
             severity TEXT, recommended_action TEXT, document TEXT, created_at TEXT, \
             updated_at TEXT, mine TEXT DEFAULT 'kept')",
        )
        .unwrap();
    rig.store(LIMITS, &[falling(2)]);
    assert_eq!(
        rig.texts("SELECT mine FROM health_events"),
        ["kept", "kept"]
    );
    assert_eq!(rig.texts("SELECT count(*) FROM datastore_changelog"), ["0"]);
}

#[test]
fn a_table_that_lacks_a_column_is_refused_by_name() {
    let rig = Rig::new();
    rig.connect()
        .execute_batch("CREATE TABLE health_events (id TEXT PRIMARY KEY, node_name TEXT)")
        .unwrap();
    let error = rig.refusal();
    let is_named = matches!(
        error,
        StoreError::AnotherTable {
            table: "health_events",
            column: "event_type",
            ..
        }
    );
    assert!(is_named, "{error}");
    // No other table was created.
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table'";
    assert_eq!(rig.texts(tables), ["health_events"]);
}

/// SQLite puts a text into a column of numbers, and makes a number of it if it looks like one.
#[test]
fn a_column_that_changes_what_is_written_is_refused_at_the_start() {
    let events = "CREATE TABLE health_events (id TEXT PRIMARY KEY, node_name INTEGER, event_type TEXT, \
                  severity TEXT, recommended_action TEXT, document TEXT, created_at TEXT, updated_at TEXT)";
    let origins = "CREATE TABLE nicdrill_events (event_id TEXT PRIMARY KEY, run TEXT, drill TEXT, \
                   arm TEXT, poll TEXT, place INTEGER)";
    for (made, told) in [
        (
            events,
            "the column `node_name` of the table `health_events`",
        ),
        (origins, "the column `poll` of the table `nicdrill_events`"),
    ] {
        let rig = Rig::new();
        rig.connect().execute_batch(made).unwrap();
        let error = rig.refusal();
        assert!(matches!(error, StoreError::AnotherType { .. }), "{error}");
        assert!(error.to_string().starts_with(told), "{error}");
    }
}

#[test]
fn a_store_that_drops_what_it_takes_is_refused_at_the_start() {
    let rig = Rig::new();
    rig.store(LIMITS, &[falling(1)]);
    let ignoring =
        "CREATE TRIGGER ignores BEFORE INSERT ON health_events BEGIN SELECT RAISE(IGNORE); END";
    rig.connect().execute_batch(ignoring).unwrap();
    let error = rig.refusal().to_string();
    assert!(
        error.contains("when it is read back it is not there"),
        "{error}"
    );
    for table in ["health_events", "nicdrill_events", "datastore_changelog"] {
        let count = rig.texts(&format!("SELECT count(*) FROM {table}"));
        assert_eq!(count, ["1"], "nothing of the trial stays in {table}");
    }
}

#[test]
fn a_store_that_changes_what_it_takes_is_refused_at_the_start() {
    for (changes, told) in [
        (
            "AFTER INSERT ON health_events BEGIN UPDATE health_events SET document = '{}' WHERE id = NEW.id; END",
            "it takes an event, and when it is read back it is another one",
        ),
        (
            "AFTER INSERT ON nicdrill_events BEGIN UPDATE nicdrill_events SET place = 9 WHERE event_id = NEW.event_id; END",
            "it takes an event, and when it is read back it is another one",
        ),
        (
            "BEFORE INSERT ON nicdrill_runs BEGIN SELECT RAISE(IGNORE); END",
            "it takes a run, and when it is read back it is not there as it was written",
        ),
        (
            "AFTER INSERT ON nicdrill_runs BEGIN UPDATE nicdrill_runs SET seed = '0' WHERE id = NEW.id; END",
            "it takes a run, and when it is read back it is not there as it was written",
        ),
    ] {
        // A store that another run has made.
        let rig = Rig::new();
        rig.store(LIMITS, &[]);
        let made = format!("DELETE FROM nicdrill_runs; CREATE TRIGGER changes {changes}");
        rig.connect().execute_batch(&made).unwrap();
        let error = rig.refusal().to_string();
        assert!(error.contains(told), "{changes}: {error}");
    }
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let rig = Rig::new();
    let text = "dear diary, ".repeat(100);
    std::fs::write(rig.path("events.db"), &text).unwrap();
    let error = rig.refusal().to_string();
    assert!(error.contains("events.db` cannot be used: "), "{error}");
    assert_eq!(
        std::fs::read_to_string(rig.path("events.db")).unwrap(),
        text
    );
}

/// SQLite says of most of them that it is unable to open the file, of a device that it is a disk with errors.
#[test]
fn a_file_that_cannot_be_opened_is_refused_with_the_cause() {
    let rig = Rig::new();
    std::fs::create_dir(rig.path("folder")).unwrap();
    std::fs::write(rig.path("file"), "").unwrap();
    std::os::unix::fs::symlink("there/a.db", rig.path("link")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(rig.path("socket")).unwrap();
    std::os::unix::fs::symlink("/dev/null", rig.path("device")).unwrap();
    for (name, told) in [
        ("folder", "Is a directory"),
        ("absent/a.db", "absent`: No such file or directory"),
        ("file/a.db", "file`: Not a directory"),
        ("link", "No such file or directory"),
        ("socket", "cannot be used: it is not a regular file\nhint: "),
        ("device", "cannot be used: it is not a regular file\nhint: "),
    ] {
        let path = rig.path(name);
        let url: StoreUrl = format!("sqlite:{}", path.display()).parse().unwrap();
        let reached = url.reach(rig.run.clone(), Opening::default());
        let error = reached.err().expect("it cannot be opened").to_string();
        assert!(error.contains(told), "{name}: {error}");
    }
}

#[test]
fn an_event_without_a_strategy_is_stored_as_one_to_act_on() {
    let rig = Rig::new();
    let event = HealthEvent {
        processing_strategy: 0,
        ..fatal("a", "mlx5_0", 0)
    };
    rig.store(
        LIMITS,
        &[recording(Arm::Memory, &[&[("a", &[accepted(&[event])])]])],
    );
    let strategy = "SELECT document ->> '$.healthevent.processingStrategy' FROM health_events";
    assert_eq!(rig.texts(strategy), ["1"]);
}
