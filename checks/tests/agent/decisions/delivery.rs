//! Delivery before memory: attempts, the state file, restarts.

use checks::{Agent, Outcome, ReadError, Todo};
use rstest::rstest;

use super::nics;
use crate::world::{Connector, DISABLED, Rig, UP, brief};

/// Polls, and continues until the agent returns a batch, which is left unanswered.
fn poll_to_an_attempt(rig: &mut Rig) {
    rig.tick();
    let mut agent = rig.agent.take().unwrap();
    let polled = agent.poll(&rig.world);
    agent.take(polled);
    go_to_an_attempt(&mut agent);
    rig.agent = Some(agent);
}

fn go_to_an_attempt(agent: &mut Agent) {
    loop {
        match agent.next() {
            Todo::Publish { .. } => return,
            Todo::Save(_) => agent.saved(Ok(())),
            Todo::LogRecord(_) | Todo::Wait(_) => {}
            Todo::Done => panic!("nothing is handed out"),
        }
    }
}

#[test]
fn what_nobody_accepted_is_said_again_with_a_fresh_time() {
    let mut rig = Rig::started(&nics(3));
    rig.connector = Connector::Refuses(3);
    rig.world.set("mlx5_1", 1, DISABLED);
    assert!(rig.polls(5).is_empty());
    assert_eq!(
        rig.attempts,
        1 + 5,
        "a code that is not retryable is tried once a poll"
    );
    rig.connector = Connector::Accepts;
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
    let stamp = rig.calls.last().unwrap().1[0].generated_timestamp.unwrap();
    assert_eq!(
        u64::try_from(stamp.seconds).unwrap(),
        rig.world.wall_ns / 1_000_000_000
    );
}

#[rstest]
#[case(14, 5)]
#[case(4, 5)]
#[case(1, 1)]
#[case(3, 1)]
#[case(8, 1)]
#[case(12, 1)]
#[case(13, 1)]
fn only_unavailable_and_deadline_exceeded_are_tried_again(#[case] code: i32, #[case] want: u32) {
    let mut rig = Rig::new(&nics(1));
    rig.connector = Connector::Refuses(code);
    rig.poll();
    assert_eq!(rig.attempts, want);
}

#[test]
fn waits_grow_by_half_with_at_most_a_tenth_more() {
    let mut rig = Rig::new(&nics(1));
    rig.args = vec!["--publish-backoff=2s".to_owned()];
    rig.connector = Connector::Refuses(14);
    rig.poll();
    assert_eq!(rig.waits_ms.len(), 4);
    for (wait, base) in rig.waits_ms.iter().zip([2000, 3000, 4500, 6750]) {
        assert!(
            (base..=base + base / 10).contains(wait),
            "{:?}",
            rig.waits_ms
        );
    }
    let mut rig = Rig::new(&nics(1));
    rig.args = vec!["--publish-backoff=4ms".to_owned()];
    rig.connector = Connector::Refuses(14);
    rig.poll();
    assert_eq!(rig.waits_ms[..3], [4, 6, 9], "no chance below 10 ms");
}

#[test]
fn a_missing_socket_is_skipped_at_once_and_told_once() {
    let mut rig = Rig::new(&nics(3));
    rig.connector = Connector::Missing;
    assert!(rig.polls(5).is_empty());
    assert_eq!(rig.attempts, 5);
    assert!(rig.waits_ms.is_empty());
    assert_eq!(rig.records_with("socket missing"), 1);
    rig.connector = Connector::Accepts;
    assert_eq!(rig.poll().len(), 9);
}

#[test]
fn a_lost_reply_may_repeat_and_loses_nothing() {
    let mut rig = Rig::started(&nics(3));
    rig.args = vec!["--publish-attempts=1".to_owned()];
    rig.stop();
    rig.connector = Connector::LosesReply;
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
    rig.connector = Connector::Accepts;
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
    assert!(rig.polls(3).is_empty());
}

#[test]
fn the_file_changes_when_the_connector_has_spoken() {
    let mut rig = Rig::started(&nics(3));
    let before = rig.disk.clone();
    rig.connector = Connector::Refuses(14);
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.poll();
    assert_eq!(rig.disk, before);
    rig.stop();
    assert_ne!(rig.disk, before, "a good end keeps the reading");
    rig.connector = Connector::Accepts;
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
}

#[test]
fn a_steady_poll_writes_nothing() {
    let mut rig = Rig::started(&nics(3));
    let saves = rig.saves;
    rig.polls(40);
    assert_eq!(rig.saves, saves);
}

#[test]
fn a_restart_neither_repeats_nor_forgets() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.poll();
    for end in [Rig::stop, Rig::kill] {
        end(&mut rig);
        assert!(rig.polls(3).is_empty());
    }
    rig.stop();
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1"]);
    rig.stop();
    rig.world.drop_device("mlx5_2");
    assert_eq!(brief(&rig.poll()), ["F mlx5_2"]);
}

#[test]
fn a_save_that_fails_never_stops_the_monitor_and_is_tried_again() {
    let mut rig = Rig::started(&nics(3));
    rig.disk_error = Some(ReadError::Errno(28));
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
    assert!(rig.polls(3).is_empty());
    assert_eq!(rig.records_with("failed to persist"), 1);
    assert_eq!(rig.records_with("persisted again"), 0);
    rig.disk_error = None;
    rig.polls(3);
    assert_eq!(rig.records_with("failed to persist"), 1);
    assert_eq!(rig.records_with("persisted again"), 1);
    rig.kill();
    assert!(
        rig.polls(3).is_empty(),
        "what was said is on the disk after all"
    );
}

#[rstest]
#[case("", "corrupt")]
#[case("{", "corrupt")]
#[case("[]", "corrupt")]
#[case(r#"{"version":"2"}"#, "unknown")]
#[case(r#"{"version":0}"#, "unknown")]
#[case(r#"{"version":3}"#, "newer")]
#[case(r#"{"version":2,"slots":7}"#, "corrupt")]
fn a_file_that_cannot_be_understood_is_a_fresh_start_that_says_why(
    #[case] text: &str,
    #[case] why: &str,
) {
    let mut rig = Rig::new(&nics(3));
    rig.disk = Some(text.as_bytes().to_vec());
    assert_eq!(rig.poll().len(), 9);
    assert_eq!(rig.records_with("fresh start"), 1);
    assert_eq!(rig.records_with(why), 1);
}

#[rstest]
#[case(r#""version":2,"#)]
#[case(r#""version":1,"#)]
#[case("")]
fn the_other_monitors_file_is_read(#[case] version: &str) {
    let mut rig = Rig::new(&nics(3));
    rig.disk = Some(
        format!(
            r#"{{{version}"boot_id":"boot-1","port_states":{{
                "mlx5_0_1":{{"device":"mlx5_0","port":1,"state":"ACTIVE","physical_state":"LinkUp","link_layer":"InfiniBand"}},
                "mlx5_1_1":{{"device":"mlx5_1","port":1,"state":"DOWN","physical_state":"Disabled","link_layer":"InfiniBand"}}}},
                "known_devices":["mlx5_0","mlx5_1"],
                "disappeared_devices":{{"InfiniBand/mlx5_2":{{"device":"mlx5_2","link_layer":"InfiniBand","observed_this_boot":true}}}}}}"#
        )
        .into_bytes(),
    );
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.world.drop_device("mlx5_2");
    assert!(rig.polls(3).is_empty());
    rig.world.set("mlx5_0", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1"]);
}

#[test]
fn the_file_has_the_other_monitors_keys() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.world.drop_device("mlx5_2");
    rig.poll();
    let file: serde_json::Value = serde_json::from_slice(rig.disk.as_ref().unwrap()).unwrap();
    assert_eq!(file["version"], 2);
    assert_eq!(file["boot_id"], "boot-1");
    assert_eq!(file["port_states"]["mlx5_0_1"]["state"], "DOWN");
    assert_eq!(
        file["port_states"]["mlx5_0_1"]["physical_state"],
        "Disabled"
    );
    assert_eq!(
        file["known_devices"],
        serde_json::json!(["mlx5_0", "mlx5_1"])
    );
    assert_eq!(
        file["disappeared_devices"]["InfiniBand/mlx5_2"]["device"],
        "mlx5_2"
    );
}

/// The connector may have accepted the batch although its answer was lost, so the port's recovery
/// is an event after all.
#[rstest]
#[case::cut_short(&[])]
#[case::in_the_wait_before_the_next_attempt(&[Outcome::TimedOut])]
#[case::doubt_outlives_a_later_refusal(&[Outcome::TimedOut, Outcome::SocketMissing])]
fn a_batch_that_ended_in_doubt_is_cleared(#[case] answers: &[Outcome]) {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, DISABLED);
    poll_to_an_attempt(&mut rig);
    let mut agent = rig.agent.take().unwrap();
    for (number, answer) in (1..).zip(answers) {
        agent.published(answer);
        if number < answers.len() {
            go_to_an_attempt(&mut agent);
        }
    }
    rig.agent = Some(agent);
    rig.stop();
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1"]);
}

#[rstest]
#[case::the_socket_is_missing(Outcome::SocketMissing)]
#[case::refused_at_once(Outcome::Status { code: 3, message: String::new() })]
fn a_batch_that_nobody_can_have_is_not_cleared(#[case] answer: Outcome) {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, DISABLED);
    poll_to_an_attempt(&mut rig);
    rig.agent.as_mut().unwrap().published(&answer);
    rig.stop();
    rig.world.set("mlx5_1", 1, UP);
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_lost_reply_about_a_device_or_a_card_is_said_again_or_cleared() {
    let lost = |heals: bool| {
        let mut rig = Rig::new(&nics(3));
        rig.args = vec!["--publish-attempts=1".to_owned()];
        rig.connector = Connector::LosesReply;
        rig.world.set("mlx5_2", 1, DISABLED);
        assert!(brief(&rig.poll()).contains(&"F 0000:12:00"));
        if heals {
            rig.world.set("mlx5_2", 1, UP);
        }
        rig.connector = Connector::Accepts;
        rig.poll()
    };
    let again = lost(false);
    assert!(brief(&again).contains(&"F 0000:12:00"), "{again:?}");
    let cleared = lost(true);
    assert!(brief(&cleared).contains(&"h 0000:12:00"), "{cleared:?}");
    for heals in [true, false] {
        let mut rig = Rig::started(&nics(3));
        rig.args = vec!["--publish-attempts=1".to_owned()];
        rig.stop();
        rig.connector = Connector::LosesReply;
        rig.world.drop_device("mlx5_1");
        assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
        rig.connector = Connector::Accepts;
        if heals {
            rig.world.put_device(&crate::world::nic(1));
            assert_eq!(brief(&rig.poll()), ["h mlx5_1", "h mlx5_1/1"]);
        } else {
            assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
        }
        assert!(rig.polls(3).is_empty());
    }
}

#[test]
fn a_refusal_after_a_missing_socket_is_told() {
    let mut rig = Rig::new(&nics(1));
    rig.connector = Connector::Missing;
    rig.poll();
    rig.connector = Connector::Refuses(3);
    rig.poll();
    assert_eq!(rig.records_with("were not delivered"), 1);
    assert_eq!(rig.records_with("grpc code 3: no"), 1);
    rig.connector = Connector::Missing;
    rig.polls(2);
    assert_eq!(
        rig.records_with("socket missing"),
        2,
        "once for each stretch"
    );
}

#[test]
fn a_port_seen_healthy_while_nobody_listened_was_healthy() {
    let mut rig = Rig::new(&nics(1));
    rig.connector = Connector::Refuses(3);
    rig.poll();
    rig.kill();
    rig.connector = Connector::Accepts;
    rig.world.set("mlx5_0", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
}

#[test]
fn what_is_not_so_takes_no_room_in_the_file() {
    let rig = Rig::started(&nics(3));
    let text = String::from_utf8(rig.disk.unwrap()).unwrap();
    assert!(!text.contains("false"), "{text}");
    for key in [
        "misses",
        "empty_listings",
        "pending_clears",
        "reboot",
        "counters",
    ] {
        assert!(!text.contains(key), "{key} in {text}");
    }
}

#[test]
fn what_was_accepted_is_saved_before_the_next_call() {
    let mut rig = Rig::started(&[crate::world::nic(0), crate::world::nic(1).ethernet()]);
    rig.world.set("mlx5_0", 1, DISABLED);
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.tick();
    let mut agent = rig.agent.take().unwrap();
    let polled = agent.poll(&rig.world);
    agent.take(polled);
    let mut done = Vec::new();
    loop {
        match agent.next() {
            Todo::Publish { check, .. } => {
                done.push(check.name());
                agent.published(&Outcome::Accepted);
            }
            Todo::Save(_) => {
                done.push("save");
                agent.saved(Ok(()));
            }
            Todo::LogRecord(_) | Todo::Wait(_) => {}
            Todo::Done => break,
        }
    }
    assert_eq!(
        done,
        ["InfiniBandStateCheck", "save", "EthernetStateCheck", "save"]
    );
}
