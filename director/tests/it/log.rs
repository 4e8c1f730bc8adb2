//! What the log tells of a drill: faults that no state shows, rules on reads, outages, episodes, moments.

use director::{
    Episode, Fault, Log, MonitorId, Occurrence, Socket, Stage, Target, Trees, freeze_at,
};
use platforms::{NodeName, Platforms};
use rstest::rstest;
use scenarios::{AtRest, Story};
use simfs::MomentId;

use crate::stage::rendered;

/// A story of these steps, ten seconds long.
fn story(steps: &str) -> Story {
    rendered(&format!(
        "timeline:\n  - at: 0s\n    expect: [ {{ this_poll: baseline }} ]\n{steps}until: 10s\n"
    ))
}

/// The log of a drill with these steps.
fn written(steps: &str) -> Log {
    let story = story(steps);
    let (director, _) = freeze_at(&story, None).expect("the story can be played");
    director.truth().log.clone()
}

/// The episodes of a log, in order.
fn episodes(log: &Log) -> Vec<Episode> {
    let what = log.acts.iter().flat_map(|act| &act.what);
    let episodes = what.filter_map(|what| match what {
        Occurrence::Episode { kind, .. } => Some(*kind),
        _ => None,
    });
    episodes.collect()
}

/// The director writes while it acts; what is foreseen is read from the story alone.
#[test]
fn what_is_foreseen_of_a_scenario_of_the_suite_is_what_is_written_when_it_is_played() {
    let node = NodeName::from("node-a");
    let platforms = Platforms::shipped();
    let platform = platforms.get("h100-oci").expect("the platform ships");
    let rest = AtRest::new(&node, platform);
    let mut played = 0;
    for (file, text) in suite::scenarios() {
        let scenario = scenarios::read(file, text).unwrap_or_else(|error| panic!("{error}"));
        let Ok(story) = scenario.at_rest(&rest) else {
            continue;
        };
        // Without a monitor no moment comes.
        if story.steps.iter().any(|step| step.moment.is_some()) {
            continue;
        }
        let (director, _) = freeze_at(&story, None).expect("the story can be played");
        assert_eq!(director.truth().log, Log::foreseen(&story), "{file}");
        played += 1;
    }
    assert!(played > 100, "{played}");
}

#[rstest]
#[case::a_counter(
    "{ counter: victim, name: link_downed, add: 1 }",
    "{ reset_counter: victim, name: link_downed }"
)]
#[case::a_counter_that_is_mended(
    "{ counter: victim, name: link_downed, add: 1 }",
    "{ mend: victim }"
)]
#[case::a_speed("{ speed: victim, rate: 2X EDR }", "{ mend: victim }")]
fn a_fault_that_no_state_shows_lasts_until_a_step_ends_it(
    #[case] begins: &str,
    #[case] ends: &str,
) {
    let log = written(&format!(
        "  - at: 2s\n    do: [ {begins} ]\n  - at: 5s\n    do: [ {ends} ]\n"
    ));
    let [fault] = &log.faults[..] else {
        panic!("{:?}", log.faults);
    };
    assert_eq!((fault.from, fault.to), (2, Some(5)));
    let lines = [
        Some(fault.step.line),
        fault.ended_by.as_ref().map(|by| by.line),
    ];
    assert_eq!(lines, [Some(8), Some(10)]);
}

#[test]
fn a_port_that_is_down_is_no_fault_that_no_state_shows() {
    let log = written("  - at: 2s\n    do: [ { cut: victim } ]\n");
    assert_eq!(log.faults, []);
    let [act] = &log.acts[..] else {
        panic!("{:?}", log.acts);
    };
    assert!(matches!(&act.on, Target::Port(_)));
    let shown = |what: &Occurrence| matches!(what, Occurrence::Fault(Fault::States(..)));
    assert!(act.what.iter().any(shown));
}

#[rstest]
#[case::by_its_time("{ read: victim/state, fail: EIO, for: 3s }", None, Some(5))]
#[case::by_a_step(
    "{ read: victim/state, fail: EIO }",
    Some("{ no_rule: everywhere }"),
    Some(7)
)]
#[case::by_its_time_before_a_step(
    "{ read: victim/state, fail: EIO, for: 3s }",
    Some("{ no_rule: everywhere }"),
    Some(5)
)]
#[case::never("{ read: victim/state, fail: EIO }", None, None)]
fn a_rule_on_reads_ends(#[case] rule: &str, #[case] step: Option<&str>, #[case] to: Option<u64>) {
    let step = step.map_or_else(String::new, |step| {
        format!("  - at: 7s\n    do: [ {step} ]\n")
    });
    let log = written(&format!("  - at: 2s\n    do: [ {rule} ]\n{step}"));
    let [ruled] = &log.reads[..] else {
        panic!("{:?}", log.reads);
    };
    assert_eq!((ruled.from, ruled.to), (2, to));
    assert_eq!(ruled.ended_by.is_some(), to == Some(7));
    assert_eq!(ruled.reads, None);
}

/// The nth read is one of reads, whatever the time from one poll to the next.
#[rstest]
#[case("nth: 3", 3..=3)]
#[case("first: 3", 1..=3)]
fn a_rule_on_some_reads_counts_reads(
    #[case] lasting: &str,
    #[case] reads: std::ops::RangeInclusive<u64>,
) {
    let log = written(&format!(
        "  - at: 2s\n    do: [ {{ read: victim/state, fail: EIO, {lasting} }} ]\n"
    ));
    let [ruled] = &log.reads[..] else {
        panic!("{:?}", log.reads);
    };
    assert_eq!((&ruled.reads, ruled.to), (&Some(reads), None));
}

#[rstest]
#[case::by_its_time("{ connector: absent, for: 3s }", None, Socket::Absent, &[2, 3, 4])]
#[case::by_its_calls("{ connector: refuse, calls: 2 }", None, Socket::Listening, &[2, 3])]
#[case::by_the_next("{ connector: down }", Some("{ connector: accept }"), Socket::Refusing, &[2, 3, 4, 5, 6])]
#[case::in_the_middle_of_a_tick("{ connector: absent, for: 400ms }", None, Socket::Absent, &[2])]
fn a_connector_accepts_nothing_until(
    #[case] outage: &str,
    #[case] step: Option<&str>,
    #[case] socket: Socket,
    #[case] ticks: &[u64],
) {
    let step = step.map_or_else(String::new, |step| {
        format!("  - at: 7s\n    do: [ {step} ]\n")
    });
    let log = written(&format!("  - at: 2s\n    do: [ {outage} ]\n{step}"));
    let [outage] = &log.outages[..] else {
        panic!("{:?}", log.outages);
    };
    let lasting = (0..10).filter(|tick| outage.lasts_in(*tick));
    assert_eq!(lasting.collect::<Vec<_>>(), ticks);
    assert_eq!(outage.socket, socket);
}

#[test]
fn a_driver_that_is_loaded_again_ends_an_episode_and_one_that_was_not_unloaded_does_not() {
    let log = Log::foreseen(&story(
        "  - at: 2s\n    do: [ { driver: unload } ]\n  - at: 4s\n    do: [ { driver: load } ]\n  - at: 6s\n    do: [ { driver: load } ]\n",
    ));
    let load = |is_end| Episode::DriverLoad { is_end };
    assert_eq!(
        episodes(&log),
        [Episode::DriverUnload, load(true), load(false)]
    );
}

#[test]
fn a_restart_tells_whether_the_boot_id_is_under_a_rule() {
    let restart = "do: [ { monitor: restart, signal: KILL } ]";
    let log = written(&format!(
        "  - at: 1s\n    {restart}\n  - at: 2s\n    do: [ {{ read: proc/sys/kernel/random/boot_id, fail: EIO }} ]\n  - at: 3s\n    {restart}\n  - at: 4s\n    do: [ {{ no_rule: everywhere }} ]\n  - at: 5s\n    {restart}\n"
    ));
    let restart = |is_boot_id_ruled| Episode::MonitorRestart { is_boot_id_ruled };
    assert_eq!(
        episodes(&log),
        [
            restart(false),
            Episode::BootId,
            restart(true),
            restart(false)
        ]
    );
}

#[rstest]
#[case::restarted("{ monitor: restart, signal: TERM, away: 2s }", &[4])]
#[case::restarted_at_once("{ monitor: restart, signal: KILL }", &[2])]
#[case::started("{ monitor: start }", &[2])]
#[case::stopped("{ monitor: stop }", &[])]
#[case::rebooted("{ reboot: { takes: 3500ms } }", &[6])]
fn a_monitor_starts_when_the_step_says(#[case] step: &str, #[case] ticks: &[u64]) {
    let log = written(&format!("  - at: 2s\n    do: [ {step} ]\n"));
    let starts: Vec<u64> = log.starts.iter().map(|start| start.tick).collect();
    assert_eq!(starts, ticks);
}

/// What a step does at a moment is written when it begins to wait, and the moment may never come.
#[rstest]
#[case(true)]
#[case(false)]
fn the_log_tells_whether_a_moment_came(#[case] comes: bool) {
    let story = story(
        "  - at: 2s\n    in_poll: { before: read victim/state }\n    do: [ { disable: victim } ]\n",
    );
    let node = NodeName::from("node-a");
    let mut stage = Stage::set(&story, &mut Trees::default()).expect("the story can be played");
    let mut files = stage.files.remove(&node).expect("it has a monitor");
    let director = &mut stage.director;
    for _ in 0..=2 {
        director.tick().expect("the story can be played");
        director.show(&node, &mut files).expect("it can be shown");
        director.end_tick(|_| false);
    }
    let come = |director: &director::Director<'_>| {
        let acts = director.truth().log.acts.iter();
        acts.map(|act| (act.tick, act.came)).collect::<Vec<_>>()
    };
    assert_eq!(come(director), [(2, false)]);
    if comes {
        let done = director.moment(&node, MomentId(1), MonitorId(0), &mut files);
        done.expect("the story can be played");
    }
    director.end_tick(|_| true);
    assert_eq!(come(director), [(2, comes)]);
}
