//! Keys that are found by trying. Each is asked of a monitor that has the trait: a wrong one of the zoo, or the reference
//! monitor whose recordings are altered. Under what is written the same drills have no finding. Start at [`check`].

use std::sync::Arc;

use fit::{Fitted, Wiring, page};
use memory::{Played, Variant};
use observe::{
    Call, ClockKind, Descriptor, MonitorTick, Observation, Recording, Subject, platform_connector,
    promises::{Kind, Named, Row},
};
use proto::RecommendedAction;
use scenarios::Story;
use terms::Severity;

use crate::played::{found, played, reference, shown};

/// The drills that were played.
type Drills = [(Story, Played)];

/// Interviews a monitor by the drills that ask about these subjects. The page has the line and says which drill told the
/// key, and what was found leaves nothing wrong in these drills.
#[track_caller]
fn check(
    key: &str,
    line: &str,
    subjects: &[&str],
    wrong: Option<Variant>,
    alter: impl Fn(&mut Drills),
) {
    let asks = |story: &Story| {
        let mut asked = story.covers.iter().filter_map(|it| it.strip_prefix("fit/"));
        asked.any(|asked| asked == "wire" || subjects.contains(&asked))
    };
    let mut drills = played(wrong, asks);
    alter(drills.as_mut_slice());
    // Events that are altered have the time stamps of others.
    let descriptor = Descriptor {
        clock: ClockKind::Own,
        ..reference()
    };
    let fitted = found(&descriptor, &drills);
    let wiring = Wiring {
        descriptor,
        lines: Vec::new(),
    };
    let text = page(
        "descriptor_version: 1\nname: m\ncommand: [m]",
        &wiring,
        &fitted,
    );
    let has_line = text.lines().any(|it| it.trim() == line);
    assert!(has_line, "no `{line}`:\n{text}\n{}", shown(&fitted));
    let told = format!("with `{key}: ");
    let is_told = text
        .lines()
        .any(|it| it.contains('#') && it.contains(&told));
    assert!(is_told, "no comment tells `{key}`:\n{text}");
    assert!(fitted.suspects.is_empty(), "{text}\n{}", shown(&fitted));
    let read: Descriptor =
        files::yaml::read("m.yaml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read.problems(), [], "{text}");
    assert_eq!(read.promises, fitted.promises, "{text}");
}

fn wrong(name: &str) -> Option<Variant> {
    let mutant = zoo::find(name).unwrap_or_else(|| panic!("there is no `{name}`"));
    Some(mutant.variant)
}

fn unaltered(_: &mut Drills) {}

/// The recordings of a drill, on each platform.
fn of<'d>(drills: &'d mut Drills, name: &'d str) -> impl Iterator<Item = &'d mut Recording> {
    let drills = drills
        .iter_mut()
        .filter(move |(story, _)| story.name == name);
    drills.map(|(_, played)| &mut played.recording)
}

/// What the monitor did in a tick, which it does not where it is away.
fn monitor(recording: &mut Recording, tick: usize) -> Option<&mut MonitorTick> {
    let monitors = Arc::make_mut(&mut recording.ticks[tick].monitors);
    monitors.values_mut().next().map(Arc::make_mut)
}

/// Takes the events that are meant out of a tick.
fn taken(
    recording: &mut Recording,
    tick: usize,
    is_meant: impl Fn(&Observation) -> bool,
) -> Vec<Observation> {
    let mut taken = Vec::new();
    let Some(MonitorTick { calls, .. }) = monitor(recording, tick) else {
        return taken;
    };
    for call in calls.iter_mut() {
        let events = std::mem::take(&mut call.observations).into_iter();
        let (meant, others) = events.partition::<Vec<_>, _>(|event| is_meant(event));
        call.observations = others;
        taken.extend(meant);
    }
    calls.retain(|call| !call.observations.is_empty());
    taken
}

/// Adds events to a tick, each to the end of the call of its check.
fn added(recording: &mut Recording, tick: usize, events: Vec<Observation>) {
    let monitor = monitor(recording, tick).expect("it runs");
    let calls = &mut monitor.calls;
    for event in events {
        let of_check = |call: &&mut Call| {
            let first = call.observations.first();
            first.is_some_and(|first| first.check == event.check)
        };
        match calls.iter_mut().find(of_check) {
            Some(call) => call.observations.push(event),
            None => calls.push(Call {
                observations: vec![event],
                fields: vec![("version".to_owned(), "1".to_owned())],
                accepted: true,
                answer: "accepted".to_owned(),
            }),
        }
    }
}

fn is_healthy(event: &Observation) -> bool {
    event.severity == Severity::Healthy
}

fn is_fault(event: &Observation) -> bool {
    !is_healthy(event)
}

fn is_about(event: &Observation, name: &str) -> bool {
    match &event.subject {
        Subject::Port { device, .. } | Subject::Device(device) => device == name,
        _ => false,
    }
}

#[test]
fn a_monitor_that_tells_every_recovery_promises_so() {
    check(
        "wire.recoveries",
        "recoveries: all",
        &["init"],
        wrong("greets-every-recovery"),
        unaltered,
    );
}

#[test]
fn a_monitor_that_clears_whole_checks_clears_by_check() {
    // As a first event of each call after the reboot or the change of scope: the check as a whole.
    let alter = |drills: &mut Drills| {
        let anew = [
            ("reboot/still-broken", 28),
            ("reboot/renamed", 28),
            ("restart/scope", 8),
        ];
        for (name, from) in anew {
            for recording in of(drills, name) {
                let mut later = from..recording.ticks.len();
                let speaks = |tick: &usize| {
                    let monitor = monitor(recording, *tick);
                    monitor.is_some_and(|monitor| !monitor.calls.is_empty())
                };
                let spoken = later.find(speaks).expect("it says something");
                let monitor = monitor(recording, spoken).expect("it runs");
                for call in &mut monitor.calls {
                    let mut event = platform_connector::event(&call.observations[0]);
                    event.is_fatal = false;
                    event.is_healthy = true;
                    event.message = "all of the check".to_owned();
                    event.recommended_action = RecommendedAction::None.into();
                    event.entities_impacted.clear();
                    let whole = platform_connector::observation(&event);
                    call.observations.insert(0, whole);
                }
            }
        }
    };
    let subjects = ["disabled", "card", "reboot", "scope_change"];
    check("wire.clears", "clears: check", &subjects, None, alter);
}

#[test]
fn a_monitor_that_is_silent_about_a_healthy_device_that_was_added_promises_so() {
    let alter = |drills: &mut Drills| {
        for recording in of(drills, "device/hot-added") {
            for tick in 1..recording.ticks.len() {
                taken(recording, tick, |it| {
                    let is_card =
                        matches!(&it.subject, Subject::Card(card) if card == "0000:f1:00");
                    is_healthy(it) && (is_card || is_about(it, "mlx5_40"))
                });
            }
        }
    };
    check(
        "hot_added.healthy",
        "hot_added: { after: 30s, healthy: silent }",
        &["disabled", "card", "hot_added"],
        None,
        alter,
    );
}

#[test]
fn a_monitor_that_knows_devices_by_their_names_promises_so() {
    // The old name is a device that is gone, and nothing is cleared under it.
    let alter = |drills: &mut Drills| {
        for recording in of(drills, "device/rename") {
            let is_old = |it: &Observation| is_healthy(it) && is_about(it, "mlx5_3");
            let cleared = taken(recording, 10, is_old);
            let gone = cleared.iter().map(|cleared| {
                let mut event = platform_connector::event(cleared);
                event.is_fatal = true;
                event.is_healthy = false;
                event.message = "mlx5_3 is gone".to_owned();
                event.recommended_action = RecommendedAction::ReplaceVm.into();
                event.entities_impacted.truncate(1);
                platform_connector::observation(&event)
            });
            let gone = gone.collect();
            added(recording, 10, gone);
        }
    };
    check(
        "rename.known_by",
        "rename: { known_by: name }",
        &["disabled", "gone_device", "rename"],
        None,
        alter,
    );
}

#[test]
fn cards_that_meet_their_peers_late_may_be_left_out() {
    let alter = |drills: &mut Drills| {
        for recording in of(drills, "card/half-at-start") {
            for tick in 1..recording.ticks.len() {
                taken(recording, tick, |it| matches!(it.subject, Subject::Card(_)));
            }
        }
    };
    check(
        "wire.baselines.late_cards",
        "baselines: { ports: true, devices: true, cards: true, counters: true, check: false, late_cards: false }",
        &["disabled", "card", "wire.baselines.late_cards"],
        None,
        alter,
    );
}

#[test]
fn cards_that_are_compared_only_where_all_can_be_read_wait() {
    let alter = |drills: &mut Drills| {
        for recording in of(drills, "start/unreadable") {
            let compared =
                |it: &Observation| is_fault(it) || matches!(it.subject, Subject::Card(_));
            let events = taken(recording, 3, compared);
            added(recording, 10, events);
        }
    };
    check(
        "card.unreadable",
        "card: { verdict: fatal, when: first_poll, after: 0 polls, clears: healed, unreadable: waits }",
        &["disabled", "card", "card.unreadable"],
        None,
        alter,
    );
}

#[test]
fn a_first_poll_that_waits_for_every_device_is_complete() {
    let alter = |drills: &mut Drills| {
        for recording in of(drills, "start/unreadable") {
            let all = taken(recording, 3, |_| true);
            added(recording, 10, all);
        }
    };
    check(
        "wire.baselines.complete",
        "baselines: { ports: true, devices: true, cards: true, counters: true, check: false, complete: true }",
        &["disabled", "card", "card.unreadable"],
        None,
        alter,
    );
}

#[test]
fn a_first_poll_after_a_reboot_that_waits_for_nobody_promises_so() {
    let alter = |drills: &mut Drills| {
        for recording in of(drills, "reboot/loose") {
            let faults = taken(recording, 55, is_fault);
            added(recording, 24, faults);
        }
    };
    check(
        "reboot.after",
        "reboot: { after: 0 polls, restates: all }",
        &["polling", "disabled", "card", "reboot", "reboot.after"],
        None,
        alter,
    );
}

#[test]
fn faults_without_the_evidence_of_peers_may_not_be_told_again_after_a_reboot() {
    let alter = |drills: &mut Drills| {
        for recording in of(drills, "reboot/without-peers") {
            taken(recording, 28, is_fault);
        }
    };
    check(
        "reboot.restates",
        "reboot: { after: 30s, restates: evidence }",
        &["disabled", "card", "reboot", "reboot.restates"],
        None,
        alter,
    );
}

#[test]
fn an_unreadable_boot_id_may_be_taken_for_another_boot() {
    let alter = |drills: &mut Drills| {
        for recording in of(drills, "reboot/boot-id") {
            let faults = taken(recording, 8, is_fault);
            added(recording, 7, faults);
        }
    };
    check(
        "reboot.unreadable",
        "reboot: { after: 30s, restates: all, unreadable: missing }",
        &["disabled", "card", "reboot", "reboot.unreadable"],
        None,
        alter,
    );
}

/// It says anew after a restart what is healthy, and what fails as soon as it does, as one that remembers nothing and never
/// asks for the boot id.
#[test]
fn a_monitor_that_does_not_ask_for_the_boot_id_is_silent_about_reboots() {
    let is_of_port = |it: &Observation| {
        is_healthy(it) && it.codes.is_empty() && matches!(it.subject, Subject::Port { .. })
    };
    let alter = |drills: &mut Drills| {
        for recording in of(drills, "reboot/boot-id") {
            let faults = taken(recording, 8, is_fault);
            added(recording, 7, faults);
            let anew = taken(&mut recording.clone(), 0, is_of_port);
            assert!(!anew.is_empty(), "the first poll tells every port");
            added(recording, 6, anew);
        }
    };
    check(
        "reboot.unreadable",
        "reboot: silent",
        &["disabled", "card", "reboot", "reboot.unreadable"],
        None,
        alter,
    );
}

#[test]
fn faults_of_what_became_management_may_stay() {
    let alter = |drills: &mut Drills| {
        for recording in of(drills, "role/becomes-management") {
            for tick in 8..recording.ticks.len() {
                taken(recording, tick, is_healthy);
            }
        }
    };
    check(
        "metadata.clears",
        "metadata: { clears: never }",
        &["disabled", "metadata", "metadata.clears"],
        None,
        alter,
    );
}

#[test]
fn an_unreadable_route_table_may_be_taken_for_none() {
    check(
        "metadata.unreadable",
        "metadata: { unreadable: missing }",
        &["disabled", "metadata", "metadata.unreadable"],
        wrong("unreadable-route-is-no-route"),
        unaltered,
    );
}

#[test]
fn a_monitor_that_goes_on_with_an_unknown_level_takes_any() {
    // It says in its first poll what it says on a machine at rest, and does not end.
    let alter = |drills: &mut Drills| {
        let rest = drills
            .iter()
            .find(|(story, _)| story.name == "start/rest" && story.world == "dgx-h100");
        let (_, rest) = rest.expect("it was played");
        let mut rest = rest.recording.clone();
        let said = taken(&mut rest, 0, |_| true);
        for recording in of(drills, "start/unknown-level") {
            let monitor = monitor(recording, 0).expect("it runs");
            monitor.exits.clear();
            added(recording, 0, said.clone());
        }
    };
    check(
        "metadata.levels",
        "metadata: { levels: any }",
        &["disabled", "metadata", "metadata.levels"],
        None,
        alter,
    );
}

#[test]
fn a_monitor_without_the_numa_gate_watches_what_is_near_a_gpu() {
    check(
        "scope.near_gpu",
        "scope: { roles: [compute, storage], near_gpu: true }",
        &["polling", "scope", "scope.near_gpu"],
        wrong("numa-unknown-passes"),
        unaltered,
    );
}

#[test]
fn a_device_may_be_back_with_one_of_its_ports() {
    check(
        "gone_device.back",
        "gone_device: { verdict: fatal, after: 0 polls, clears: healed, ports: silent, back: any_port }",
        &["polling", "gone_device", "gone_device.back"],
        wrong("clears-over-a-dead-sibling"),
        unaltered,
    );
}

#[test]
fn a_monitor_may_be_silent_while_the_class_folder_is_missing() {
    let alter = |drills: &mut Drills| {
        for recording in of(drills, "device/driver-away") {
            for tick in 35..recording.ticks.len() {
                taken(recording, tick, |_| true);
            }
        }
    };
    check(
        "gone_device.class_folder",
        "gone_device: { verdict: fatal, after: 0 polls, clears: healed, ports: silent, class_folder: silent }",
        &["gone_device", "gone_device.class_folder"],
        None,
        alter,
    );
}

#[test]
fn a_text_that_is_no_state_may_be_one_that_is_not_healthy() {
    // What is said of the same port in an odd state, from the same poll to the same poll.
    let alter = |drills: &mut Drills| {
        let odd = drills
            .iter()
            .find(|(story, _)| story.name == "port/odd-state" && story.world == "dgx-h100");
        let (_, odd) = odd.expect("it was played");
        let mut odd = odd.recording.clone();
        for tick in [4, 6] {
            let said = taken(&mut odd, tick, |it| is_about(it, "mlx5_4"));
            for recording in of(drills, "read/garbled") {
                added(recording, tick, said.clone());
            }
        }
    };
    check(
        "odd_state.garbled",
        "odd_state: { after: 0 polls, clears: healed, garbled: state }",
        &["odd_state", "unreadable", "odd_state.garbled"],
        None,
        alter,
    );
}

/// A moment between the reads of `state` and `phys_state` never comes for a monitor that reads the one alone.
#[test]
fn who_never_reads_phys_state_promises_nothing_that_it_alone_tells() {
    let asks = |story: &Story| story.covers.iter().any(|it| it == "fit/odd_state");
    let fitted = |says: bool| {
        let mut drills = played(None, asks);
        for (_, drill) in &mut drills {
            for tick in 0..drill.recording.ticks.len() {
                let Some(monitor) = monitor(&mut drill.recording, tick) else {
                    continue;
                };
                let read = |line: &&Arc<str>| !line.contains("/phys_state: ");
                let lines: Vec<Arc<str>> = monitor.reads.iter().filter(read).cloned().collect();
                monitor.reads = lines.into();
                if !says {
                    monitor.calls.clear();
                }
            }
        }
        found(&reference(), &drills)
    };
    let odd_state = Kind::from(Named::OddState);
    let fitted_silent = fitted(false);
    let row = fitted_silent.promises.rows.get(&odd_state);
    assert_eq!(row, Some(&Row::Silent), "{}", shown(&fitted_silent));
    let fitted_telling = fitted(true);
    let row = fitted_telling.promises.rows.get(&odd_state);
    assert_eq!(row, None, "{}", shown(&fitted_telling));
    let unfound = &fitted_telling.unfound;
    let told = "odd_state: reported without a read of `phys_state`, which alone tells it";
    assert!(unfound.iter().any(|it| it.starts_with(told)), "{unfound:?}");
}

#[test]
fn counters_may_be_compared_with_what_was_written_down() {
    check(
        "counter.*.over_restart",
        "counter.*: { after: 0 polls, clears: healed, over_restart: last_written }",
        &["counter.*", "counters.over_restart"],
        wrong("growth-while-away-is-lost"),
        unaltered,
    );
}

#[test]
fn a_monitor_that_starts_without_the_metadata_is_found_to_need_none() {
    let asks = |story: &Story| story.covers.iter().any(|it| it == "fit/metadata");
    let drills = played(wrong("starts-without-metadata"), asks);
    let fitted = found(&reference(), &drills);
    assert!(!fitted.promises.needs_topology(), "{}", shown(&fitted));
    assert!(!has_row_of_metadata(&fitted), "{}", shown(&fitted));
    // What it says when it starts is asked too, so that its baseline is no finding.
    let asks_more = |story: &Story| asks(story) || story.covers.iter().any(|it| it == "fit/wire");
    let fitted = found(&reference(), &played(None, asks_more));
    assert!(has_row_of_metadata(&fitted), "{}", shown(&fitted));
}

fn has_row_of_metadata(fitted: &Fitted) -> bool {
    let kind = Kind::from(Named::Metadata);
    let is_promised = fitted.promises.rows.contains_key(&kind);
    assert_eq!(
        fitted.rows.contains_key(&kind),
        is_promised,
        "{}",
        shown(fitted)
    );
    is_promised
}

/// It starts, and says nothing in the drill in which it is to refuse: silence is no refusal.
#[test]
fn a_monitor_that_starts_silently_without_the_metadata_has_no_row_of_them() {
    let asks = |story: &Story| story.covers.iter().any(|it| it == "fit/metadata");
    let mut drills = played(wrong("starts-without-metadata"), asks);
    for recording in of(&mut drills, "start/metadata-missing") {
        for tick in 0..recording.ticks.len() {
            taken(recording, tick, |_| true);
        }
    }
    let fitted = found(&reference(), &drills);
    assert!(!has_row_of_metadata(&fitted), "{}", shown(&fitted));
    let mut told = fitted.unfound.iter();
    assert!(
        told.any(|it| it.starts_with("metadata: it starts without them")),
        "{:?}",
        fitted.unfound
    );
}

#[test]
fn a_key_that_no_drill_tells_stands_as_the_documents_have_it_and_is_named() {
    let asks = |story: &Story| {
        let mut asked = story.covers.iter();
        asked.any(|it| ["fit/gone_device", "fit/reboot", "fit/wire"].contains(&it.as_str()))
    };
    let fitted = found(&reference(), &played(None, asks));
    let untold = |key: &str| fitted.untold.iter().any(|it| it.contains(key));
    assert!(untold("`gone_device.back`"), "{:?}", fitted.untold);
    assert!(untold("`reboot.after`"), "{:?}", fitted.untold);
    // These were told, or their kind was not asked about at all.
    assert!(!untold("`gone_device.ports`"), "{:?}", fitted.untold);
    assert!(!untold("`rename.known_by`"), "{:?}", fitted.untold);
}
