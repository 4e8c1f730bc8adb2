//! An unavailable store: drills continue, and no event is lost.

use std::{
    cell::RefCell,
    fs, slice,
    time::{Duration, Instant},
};

use proto::HealthEvent;
use store::{Limits, Opening};
use terms::Arm;

use crate::support::{LIMITS, Rig, accepted, drill, falling, fatal, recording, reported};

#[test]
fn a_store_that_comes_back_has_everything_once_and_in_order() {
    let rig = Rig::new();
    let (mut store, reported_of_it) = rig.open(LIMITS);
    let story = falling(5);
    // Another program locks the file.
    let holder = rig.connect();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    store.take(&drill(), slice::from_ref(&story));
    let away = reported_of_it.recv().unwrap();
    assert!(
        away.contains("went away, and its events wait: database is locked"),
        "{away}"
    );
    holder.execute_batch("ROLLBACK").unwrap();
    let back = reported_of_it.recv().unwrap();
    assert!(back.ends_with("is there again"), "{back}");
    let ending = store.finish();
    assert_eq!((ending.stored, ending.unstored), (5, 0));
    assert_eq!(rig.events(), reported(&story));
}

#[test]
fn what_a_lost_store_did_not_take_lies_in_the_run_folder() {
    let rig = Rig::new();
    let (mut store, _reported) = rig.open(LIMITS);
    let holder = rig.connect();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let story = falling(5);
    store.take(&drill(), slice::from_ref(&story));
    let ending = store.finish();
    assert_eq!((ending.stored, ending.unstored), (0, 5));
    assert_eq!(ending.file, rig.path("unstored.jsonl"));
    assert_eq!(ending.broken, None);
    let cause = ending.cause.unwrap();
    assert!(cause.contains("locked"), "{cause}");
    assert_eq!(rig.unstored(), reported(&story));
    let text = fs::read_to_string(rig.path("unstored.jsonl")).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["run"]["id"], rig.run.id.to_string());
    assert_eq!(first["drill"], "port/made-up@h100-oci");
    assert_eq!(first["arm"], "memory");
    assert_eq!((&first["poll"], &first["place"]), (&0.into(), &0.into()));
}

#[test]
fn rows_that_memory_is_not_to_hold_wait_in_a_file_and_keep_their_order() {
    let rig = Rig::new();
    let limits = Limits {
        memory_rows_max: 3,
        ..LIMITS
    };
    let (mut store, reported_of_it) = rig.open(limits);
    let holder = rig.connect();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let story = falling(11);
    store.take(&drill(), slice::from_ref(&story));
    let waiting = fs::read_to_string(rig.path("waiting.jsonl")).unwrap();
    assert_eq!(waiting.lines().count(), 8);
    reported_of_it.recv().unwrap();
    holder.execute_batch("ROLLBACK").unwrap();
    let ending = store.finish();
    assert_eq!((ending.stored, ending.unstored), (11, 0));
    assert_eq!(rig.events(), reported(&story));
    assert!(!rig.path("waiting.jsonl").exists());
}

#[test]
fn rows_that_waited_in_a_file_are_unstored_in_their_order() {
    let rig = Rig::new();
    let limits = Limits {
        memory_rows_max: 3,
        ..LIMITS
    };
    let (mut store, _reported) = rig.open(limits);
    let holder = rig.connect();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let story = falling(11);
    store.take(&drill(), slice::from_ref(&story));
    let ending = store.finish();
    assert_eq!((ending.stored, ending.unstored), (0, 11));
    assert_eq!(rig.unstored(), reported(&story));
    assert!(!rig.path("waiting.jsonl").exists());
}

#[test]
fn an_event_that_the_store_refuses_keeps_no_other_from_it() {
    let rig = Rig::new();
    let (mut store, reported_of_it) = rig.open(LIMITS);
    rig.connect()
        .execute_batch(
            "CREATE TRIGGER choosy BEFORE INSERT ON nicdrill_events WHEN NEW.place = 1 \
             BEGIN SELECT RAISE(ABORT, 'not this one'); END",
        )
        .unwrap();
    let story = falling(4);
    store.take(&drill(), slice::from_ref(&story));
    let ending = store.finish();
    assert_eq!((ending.stored, ending.unstored), (3, 1));
    assert!(ending.cause.unwrap().contains("not this one"));
    let rendered: Vec<String> = reported_of_it.iter().collect();
    assert_eq!(rendered.len(), 1, "{rendered:?}");
    assert!(
        rendered[0].contains("refuses an event of port/made-up@h100-oci"),
        "{rendered:?}"
    );
    let mut kept = reported(&story);
    assert_eq!(rig.unstored(), [kept.remove(1)]);
    assert_eq!(rig.events(), kept);
}

/// Otherwise the run would be split, and its second part would look complete.
#[test]
fn a_file_that_was_taken_away_is_not_made_anew() {
    let rig = Rig::new();
    let (mut store, _reported) = rig.open(LIMITS);
    fs::remove_file(rig.path("events.db")).unwrap();
    let story = falling(3);
    store.take(&drill(), slice::from_ref(&story));
    let ending = store.finish();
    assert_eq!((ending.stored, ending.unstored), (0, 3));
    assert_eq!(rig.unstored(), reported(&story));
    assert!(!rig.path("events.db").exists());
}

#[test]
fn another_store_in_its_place_is_not_written_to() {
    let rig = Rig::new();
    let (mut store, _reported) = rig.open(LIMITS);
    fs::remove_file(rig.path("events.db")).unwrap();
    let another = Rig::new();
    another.store(LIMITS, &[falling(1)]);
    fs::copy(another.path("events.db"), rig.path("events.db")).unwrap();
    store.take(&drill(), &[falling(3)]);
    let ending = store.finish();
    assert_eq!((ending.stored, ending.unstored), (0, 3));
    assert_eq!(ending.cause.as_deref(), Some("it no longer knows the run"));
    assert_eq!(rig.texts("SELECT count(*) FROM health_events"), ["1"]);
}

/// Waits until another program sees so many events.
fn until_written(rig: &Rig, events: u64) {
    let all = [events.to_string()];
    while rig.texts("SELECT count(*) FROM nicdrill_events") != all {}
}

/// The connection that wrote has the file still, without a name; nobody else has it.
#[test]
fn a_file_that_was_removed_after_the_last_event_has_none() {
    let rig = Rig::new();
    let (mut store, _reported) = rig.open(LIMITS);
    let story = falling(3);
    store.take(&drill(), slice::from_ref(&story));
    until_written(&rig, 3);
    fs::remove_file(rig.path("events.db")).unwrap();
    let ending = store.finish();
    let counts = (ending.drills, ending.stored, ending.unstored);
    assert_eq!(counts, (0, 0, 3));
    let cause = ending.cause.unwrap();
    let uncounted = ending.uncounted.expect("it cannot be opened");
    assert_eq!(cause, format!("what it has cannot be counted: {uncounted}"));
    assert_eq!(ending.broken, None);
    assert_eq!(rig.unstored(), reported(&story));
    assert!(!rig.path("events.db").exists());
}

#[test]
fn an_event_that_the_store_takes_and_drops_is_unstored() {
    for (trigger, left) in [
        (
            "BEFORE INSERT ON health_events BEGIN SELECT RAISE(IGNORE); END",
            vec![0, 1, 2, 3],
        ),
        (
            "AFTER INSERT ON nicdrill_events WHEN NEW.place = 1 \
             BEGIN DELETE FROM health_events WHERE id = NEW.event_id; END",
            vec![1],
        ),
    ] {
        let rig = Rig::new();
        let (mut store, _reported) = rig.open(LIMITS);
        let made = format!("CREATE TRIGGER drops {trigger}");
        rig.connect().execute_batch(&made).unwrap();
        let story = falling(4);
        store.take(&drill(), slice::from_ref(&story));
        let ending = store.finish();
        let unstored = left.len() as u64;
        assert_eq!((ending.stored, ending.unstored), (4 - unstored, unstored));
        let cause = ending.cause.unwrap();
        assert_eq!(cause, "it took them, and has them no more");
        let all = reported(&story);
        let left: Vec<_> = left.iter().map(|place| all[*place].clone()).collect();
        assert_eq!(rig.unstored(), left);
    }
}

#[test]
fn an_event_that_the_store_changes_is_unstored() {
    for changed in [
        "health_events SET document = '{}'",
        "health_events SET document = json_set(document, '$.healthevent.message', 'all is well')",
        "health_events SET document = json_remove(document, '$.createdAt')",
        "health_events SET node_name = 'node-2'",
        "health_events SET severity = NULL",
        "nicdrill_events SET drill = 'port/another@h100-oci'",
        "nicdrill_events SET arm = 'process'",
        "nicdrill_events SET poll = poll + 1",
        "nicdrill_events SET place = 7",
    ] {
        let rig = Rig::new();
        let (mut store, _reported) = rig.open(LIMITS);
        let (table, _) = changed.split_once(' ').unwrap();
        let key = match table {
            "health_events" => "id",
            _ => "event_id",
        };
        let made = format!(
            "CREATE TRIGGER changes AFTER INSERT ON nicdrill_events WHEN NEW.place = 1 \
             BEGIN UPDATE {changed} WHERE {key} = NEW.event_id; END"
        );
        rig.connect().execute_batch(&made).unwrap();
        let story = falling(4);
        store.take(&drill(), slice::from_ref(&story));
        let ending = store.finish();
        assert_eq!((ending.stored, ending.unstored), (3, 1), "{changed}");
        let cause = ending.cause.unwrap();
        let told = "it took them, and what is read back is not what was written";
        assert_eq!(cause, told, "{changed}");
        assert_eq!(rig.unstored(), [reported(&story).remove(1)]);
    }
}

/// What analyzers write of an event is no change of it.
#[test]
fn an_event_that_an_analyzer_has_processed_is_stored() {
    let rig = Rig::new();
    let (mut store, _reported) = rig.open(LIMITS);
    let made = "CREATE TRIGGER processes AFTER INSERT ON health_events \
                BEGIN UPDATE health_events SET node_quarantined = 'Quarantined', \
                document = json_set(document, '$.healtheventstatus.nodequarantined', 'Quarantined') \
                WHERE id = NEW.id; END";
    rig.connect().execute_batch(made).unwrap();
    store.take(&drill(), &[falling(4)]);
    let ending = store.finish();
    assert_eq!((ending.stored, ending.unstored), (4, 0));
}

#[test]
fn events_without_their_run_are_unstored() {
    let rig = Rig::new();
    let (mut store, _reported) = rig.open(LIMITS);
    let story = falling(2);
    store.take(&drill(), slice::from_ref(&story));
    until_written(&rig, 2);
    rig.connect()
        .execute_batch("DELETE FROM nicdrill_runs")
        .unwrap();
    let ending = store.finish();
    assert_eq!((ending.stored, ending.unstored), (0, 2));
    assert_eq!(rig.unstored(), reported(&story));
}

/// It was counted, or nothing was there to be counted.
#[test]
fn a_store_that_has_none_is_one_that_could_be_counted() {
    let rig = Rig::new();
    let (store, _reported) = rig.open(LIMITS);
    assert_eq!(store.finish().uncounted, None);
    let dropping =
        "CREATE TRIGGER drops BEFORE INSERT ON health_events BEGIN SELECT RAISE(IGNORE); END";
    let (mut store, _reported) = rig.open(LIMITS);
    rig.connect().execute_batch(dropping).unwrap();
    store.take(&drill(), &[falling(2)]);
    let ending = store.finish();
    assert_eq!((ending.stored, ending.uncounted), (0, None));
}

/// What is lost for good is told.
#[test]
fn of_more_events_than_memory_holds_the_last_are_kept_until_they_are_counted() {
    let rig = Rig::new();
    let limits = Limits {
        memory_rows_max: 2,
        ..LIMITS
    };
    let (mut store, _reported) = rig.open(limits);
    let story = falling(5);
    store.take(&drill(), slice::from_ref(&story));
    until_written(&rig, 5);
    fs::remove_file(rig.path("events.db")).unwrap();
    let ending = store.finish();
    assert_eq!((ending.stored, ending.unstored), (0, 5));
    assert_eq!(rig.unstored(), reported(&story)[3..]);
    let broken = ending.broken.unwrap();
    assert_eq!(
        broken,
        "3 that were written are not in the store as they were"
    );
}

/// A message of any characters is stored as it is, and lies in the run folder so that nothing obeys it.
#[test]
fn a_hostile_message_is_kept_and_does_nothing() {
    const HOSTILE: &str = "a\u{fffe}\u{1b}[31m\r\n::error file=x::forged\u{202e}\u{7f}";
    let event = HealthEvent {
        message: HOSTILE.to_owned(),
        ..fatal("node-1", "mlx5_0", 0)
    };
    let call = [accepted(slice::from_ref(&event))];
    let story = recording(Arm::Memory, &[&[("node-1", &call)]]);
    let rig = Rig::new();
    rig.store(LIMITS, slice::from_ref(&story));
    let stored = rig.texts("SELECT document ->> '$.healthevent.message' FROM health_events");
    assert_eq!(stored, [HOSTILE]);
    let rig = Rig::new();
    let (mut store, _reported) = rig.open(LIMITS);
    let holder = rig.connect();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    store.take(&drill(), slice::from_ref(&story));
    assert_eq!(store.finish().unstored, 1);
    assert_eq!(rig.unstored(), [event]);
    let line = fs::read_to_string(rig.path("unstored.jsonl")).unwrap();
    let is_seen =
        |char: char| char == '\n' || !char.is_control() && !"\u{202e}\u{fffe}".contains(char);
    assert!(line.chars().all(is_seen), "{line:?}");
    assert_eq!(line.lines().count(), 1);
}

/// The lock is held for longer than a write waits for one.
#[test]
fn a_locked_file_is_waited_for_until_the_time_of_the_opening_is_over() {
    let rig = Rig::new();
    let lock = rig.connect();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let opening = Opening {
        at_most: Duration::from_millis(1500),
        ..Opening::default()
    };
    let reached = rig.url().reach(rig.run.clone(), opening);
    let told = reached.err().expect("it is locked").to_string();
    assert!(told.contains("did not answer within 1.5 s\n"), "{told}");
    // A lock that ends in time does no harm.
    let (began, lock) = (Instant::now(), RefCell::new(Some(lock)));
    let opening = Opening {
        is_ended: &|| {
            let is_due = began.elapsed() > Duration::from_millis(1500);
            drop(lock.borrow_mut().take_if(|_| is_due));
            false
        },
        ..Opening::default()
    };
    let reached = rig.url().reach(rig.run.clone(), opening);
    assert_eq!(reached.err(), None);
}
