//! Keys of promises that change what is owed in one kind of story: under each a monitor that does so is right, and one that
//! does not is wrong.

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many promises that judge it"
)]

use std::sync::{Arc, LazyLock};

use judge::judge;
use observe::{Descriptor, Protocol, Recording, Subject};
use proto::HealthEvent;
use reports::FindingKind::{self, Missing, Unexpected};
use rstest::rstest;

use crate::promises::{Case, promising};
use crate::wire::{calls, monitor};

/// A drill of the reference monitor: the platform, and a scenario without its head.
pub(crate) fn told(platform: &str, text: &str) -> Case {
    let head = "scenario: an example\nwhy: an example\nplatforms: all\n";
    Case::played_on(platform, &format!("{head}{text}"))
}

/// A device returns while its second port is dark.
pub(crate) static RETURNS: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { one: { device_ports: 2, port: 1, nth: 1 }, two: { sibling_of: one, port: 2 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { cut: two } ]
    expect: [ { this_poll: [ { fatal: two } ] } ]
  - at: 10s
    do: [ { remove: device of one } ]
    expect: [ { this_poll: [ { fatal: device of one } ] } ]
  - at: 15s
    do: [ { restore: device of one } ]
    expect: [ { nothing: device of one, from: 15s, to: 25s } ]
  - at: 25s
    do: [ { mend: two } ]
    expect:
      - { healthy: device of one, within: 2 polls }
      - { healthy: one, within: 2 polls }
      - { healthy: two, within: 2 polls }
until: 35s
";
    told("dgx-a100:two-port", text)
});

/// A monitor starts in the same boot, whose id cannot be read in its first polls.
pub(crate) static SAME_BOOT: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { read: proc/sys/kernel/random/boot_id, fail: EIO }, { monitor: restart, signal: TERM } ]
  - at: 11s
    do: [ { disable: victim } ]
    expect: [ { this_poll: nothing } ]
  - at: 12500ms
    do: [ { no_rule: everywhere } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 20s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim } ]
until: 30s
";
    told("dgx-h100", text)
});

/// The route table cannot be read in the first ten polls.
static NO_ROUTES: LazyLock<Case> = LazyLock::new(|| {
    let text = "
given: [ { read: proc/net/route, fail: EIO } ]
timeline:
  - at: 0s
    expect: [ { say: nothing, from: 0s, to: 10s } ]
  - at: 10s
    do: [ { no_rule: everywhere } ]
    expect: [ { this_poll: baseline } ]
until: 20s
";
    told("dgx-h100", text)
});

/// A card trains in the first poll, and is up within the patience.
static LATE_CARD: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { victim: { role: compute, layer: infiniband, card_ports: 1, nth: 1 } }
given: [ { cut: victim } ]
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { mend: victim } ]
    expect: [ { healthy: card of victim, within: 2 polls }, { healthy: victim, within: 2 polls }, { healthy: device of victim, within: 2 polls } ]
until: 20s
";
    told("dgx-h100", text)
});

/// A device that is not monitored cannot be read in the first twelve polls.
static UNREAD: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { office: { role: management, nth: 1 } }
given: [ { read: office/state, fail: EIO } ]
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 12s
    do: [ { no_rule: everywhere } ]
until: 20s
";
    told("h100-oci", text)
});

/// A RoCE port waits in INIT, of which the documents say nothing.
pub(crate) static UNSAID: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { set: victim, state: INIT } ]
    expect: [ { nothing: victim, from: 5s, to: 9s } ]
  - at: 10s
    do: [ { mend: victim } ]
until: 20s
";
    told("h100-oci", text)
});

/// A configuration pins a physical function and virtual ones.
static PINNED: LazyLock<Case> = LazyLock::new(|| {
    let text = "
config: \"nicInclusionRegexOverride = \\\"^mlx5_1$,^mlx5_(1[89]|2[0-9]|3[0-9])$\\\"\"
let: { one: { device: mlx5_1 }, guest: { vf: true, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: [ { healthy: one }, { healthy: device of one } ] } ]
  - at: 10s
    do: [ { disable: one }, { set: guest, state: DOWN, phys_state: Disabled } ]
    expect: [ { this_poll: [ { fatal: one } ] } ]
  - at: 15s
    do: [ { mend: one }, { mend: guest } ]
    expect: [ { healthy: one } ]
until: 20s
";
    told("h100-oci:vfs", text)
});

/// A breached counter is reset, and grows again while the monitor is away.
pub(crate) static AWAY: LazyLock<Case> = LazyLock::new(|| {
    let text = "
checks: counters
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 5s
    do: [ { counter: victim, name: link_downed, add: 10 } ]
    expect: [ { this_poll: [ { fatal: victim, counter: link_downed } ] } ]
  - at: 12s
    do: [ { monitor: restart, signal: TERM, away: 8s } ]
  - at: 14s
    do: [ { reset_counter: victim, name: link_downed } ]
  - at: 15s
    do: [ { counter: victim, name: link_downed, add: 5 } ]
  - at: 20s
    expect: [ { this_poll: [ { healthy: victim, counter: link_downed } ] } ]
until: 30s
";
    told("dgx-h100", text)
});

/// A cable is pulled while the host reboots, and plugged in again so many seconds after.
fn rebooted(told_at: &str, mended_at: &str, healthy: &str) -> Case {
    let text = format!(
        "
let: {{ victim: {{ role: compute, layer: infiniband, card_ports: 1, nth: 1 }} }}
timeline:
  - at: 0s
    expect: [ {{ this_poll: baseline }} ]
  - at: 9990ms
    do: [ {{ reboot: {{ takes: 10s }} }}, {{ cut: victim }} ]
  - at: 20s
    expect: [ {{ this_poll: [ {{ reboot_baseline: null, except: victim }} ] }} ]
{told_at}  - at: {mended_at}
    do: [ {{ mend: victim }} ]
    expect: [ {healthy} ]
until: 70s
"
    );
    told("dgx-h100", &text)
}

pub(crate) static REBOOTED: LazyLock<Case> = LazyLock::new(|| {
    let faults = "  - at: 51s\n    expect: [ { this_poll: [ { fatal: victim }, { fatal: card of victim } ] } ]\n";
    let healthy =
        "{ healthy: victim, within: 2 polls }, { healthy: card of victim, within: 2 polls }";
    rebooted(faults, "60s", healthy)
});

/// It is plugged in within the patience.
static REBOOTED_BRIEFLY: LazyLock<Case> =
    LazyLock::new(|| rebooted("", "30s", "{ healthy: victim, within: 2 polls }"));

/// A card is dark in the first poll, and a device of another one cannot be read before 10 s.
static VEILED: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let:
  veiled: { role: compute, layer: infiniband, card_ports: 1, nth: 1 }
  dark: { role: compute, layer: infiniband, card_ports: 1, nth: 2 }
given: [ { disable: dark }, { read: veiled/state, fail: EIO } ]
timeline:
  - at: 0s
    expect: [ { say: nothing, from: 0s, to: 3s } ]
  - at: 3s
    expect: [ { this_poll: [ { baseline: null, except: veiled }, { fatal: dark }, { fatal: card of dark } ] } ]
  - at: 10s
    do: [ { no_rule: everywhere } ]
    expect:
      - { healthy: veiled, within: 1 poll }
      - { healthy: device of veiled, within: 1 poll }
      - { healthy: card of veiled, within: 1 poll }
  - at: 20s
    do: [ { mend: dark } ]
    expect:
      - { healthy: dark, within: 2 polls }
      - { healthy: device of dark, within: 2 polls }
      - { healthy: card of dark, within: 2 polls }
until: 30s
";
    told("dgx-h100", text)
});

/// A card of another vendor bears a name that the documents call NVIDIA's.
static NAMED: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { named: { device: bnxt_re3 } }
given: [ { rename: device of named, to: mlx5_40 } ]
timeline:
  - at: 0s
    expect: [ { this_poll: [ { healthy: named }, { healthy: device of named } ] } ]
  - at: 10s
    do: [ { disable: named } ]
    expect: [ { this_poll: [ { fatal: named } ] } ]
  - at: 20s
    do: [ { mend: named } ]
    expect: [ { healthy: named } ]
until: 30s
";
    told("bnxt-h100", text)
});

/// As `device/hot-added-healthy`.
pub(crate) static ADDED: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { model: { role: compute, layer: infiniband, card_ports: 1, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { hot_add: device of model, pci: \"0000:f1:00.0\", name: mlx5_40, cabled: true } ]
    expect:
      - { healthy: { name: mlx5_40, port: 1 }, within: 2 polls }
      - { healthy: { name: mlx5_40 }, within: 2 polls }
      - { healthy: { name: \"0000:f1:00\" }, within: 2 polls }
until: 20s
";
    told("dgx-h100", text)
});

/// What a monitor does otherwise than the reference monitor.
#[derive(Clone, Copy)]
pub(crate) enum Otherwise {
    /// Nothing.
    Same,
    /// It is silent in these ticks.
    SilentIn(usize, usize),
    /// What it would say before a tick it says in it.
    HeldUntil(usize),
    /// It says nothing of cards after its first poll.
    WithoutLateCards,
    /// What it says of the port of one device after its first poll it says of that of another one too.
    AlsoOf(&'static str, &'static str),
    /// What it would say in one tick it says in another one.
    Moved(usize, usize),
    /// What it would say of cards and of faults in one tick it says in another one.
    CardsMoved(usize, usize),
    /// In a tick it says of the port of the scenario's action what it said at first.
    AnewIn(usize),
}

pub(crate) fn recorded(case: &Case, how: Otherwise) -> Recording {
    let mut recording = case.recording.clone();
    let take = |recording: &mut Recording, tick: usize| {
        std::mem::take(&mut monitor(recording, tick, "node-a").calls)
    };
    match how {
        Otherwise::Same => {}
        Otherwise::SilentIn(from, to) => {
            for tick in from..=to {
                take(&mut recording, tick);
            }
        }
        Otherwise::HeldUntil(until) => {
            let held: Vec<_> = (0..=until)
                .flat_map(|tick| take(&mut recording, tick))
                .collect();
            monitor(&mut recording, until, "node-a").calls = held;
        }
        Otherwise::WithoutLateCards => {
            for tick in 1..recording.ticks.len() {
                for call in &mut monitor(&mut recording, tick, "node-a").calls {
                    let is_of_card = |said: &observe::Observation| said.text.starts_with("Card ");
                    if call.observations.iter().any(is_of_card) {
                        let mut batch = observe::platform_connector::batch(call);
                        batch
                            .events
                            .retain(|event| !event.message.starts_with("Card "));
                        *call = observe::platform_connector::received(&batch)
                            .answered(true, "accepted".to_owned());
                    }
                }
            }
        }
        Otherwise::AlsoOf(device, other) => {
            for tick in 1..recording.ticks.len() {
                let mut also = Vec::new();
                for call in &monitor(&mut recording, tick, "node-a").calls {
                    let mut batch = observe::platform_connector::batch(call);
                    batch
                        .events
                        .retain(|event| event.entities_impacted.len() == 2);
                    for event in &mut batch.events {
                        for entity in &mut event.entities_impacted {
                            if entity.entity_value == device {
                                entity.entity_value = other.to_owned();
                            }
                        }
                    }
                    also.push(
                        observe::platform_connector::received(&batch)
                            .answered(true, "accepted".to_owned()),
                    );
                }
                also.retain(|call| !call.observations.is_empty());
                monitor(&mut recording, tick, "node-a").calls.extend(also);
            }
        }
        Otherwise::Moved(from, to) => {
            let early = take(&mut recording, from);
            monitor(&mut recording, to, "node-a").calls.extend(early);
        }
        Otherwise::CardsMoved(from, to) => {
            for call in take(&mut recording, from) {
                let batch = observe::platform_connector::batch(&call);
                let of_cards =
                    |event: &HealthEvent| !event.is_healthy || event.message.starts_with("Card ");
                let (later, now): (Vec<_>, Vec<_>) = batch.events.into_iter().partition(of_cards);
                for (tick, events) in [(from, now), (to, later)] {
                    let version = batch.version;
                    let said = proto::HealthEvents { version, events };
                    let call = observe::platform_connector::received(&said)
                        .answered(true, "accepted".to_owned());
                    if !call.observations.is_empty() {
                        monitor(&mut recording, tick, "node-a").calls.push(call);
                    }
                }
            }
        }
        Otherwise::AnewIn(tick) => {
            let is_of_port =
                |event: &HealthEvent| event.is_healthy && event.entities_impacted.len() == 2;
            let calls = calls(&mut recording.clone())
                .iter()
                .flat_map(|call| call.events.clone())
                .collect::<Vec<HealthEvent>>();
            let said = calls.into_iter().filter(is_of_port).take(1).collect();
            let batch = proto::HealthEvents {
                version: 1,
                events: said,
            };
            let call = observe::platform_connector::received(&batch);
            monitor(&mut recording, tick, "node-a")
                .calls
                .push(call.answered(true, "accepted".to_owned()));
        }
    }
    recording
}

#[rstest]
#[case::back_when_whole(&RETURNS, "rows: { gone_device: { back: whole } }", Otherwise::Same, None)]
#[case::back_with_any_port(&RETURNS, "rows: { gone_device: { back: any_port } }", Otherwise::Same, Some(Missing))]
#[case::waits_for_the_boot_id(&SAME_BOOT, "rows: { reboot: { unreadable: waits } }", Otherwise::Same, None)]
#[case::another_boot(&SAME_BOOT, "rows: { reboot: { unreadable: missing } }", Otherwise::Same, Some(Missing))]
#[case::tells_it_at_once(&SAME_BOOT, "rows: { reboot: { unreadable: waits } }", Otherwise::Moved(13, 11), Some(Missing))]
#[case::asks_for_no_boot_id(&SAME_BOOT, "rows: { reboot: silent }", Otherwise::Moved(13, 11), None)]
#[case::is_not_judged_by_it(&SAME_BOOT, "rows: { reboot: silent }", Otherwise::Same, None)]
#[case::may_wait_after_a_reboot_that_it_does_not_see(&REBOOTED, "rows: { reboot: silent }", Otherwise::Same, None)]
#[case::may_not_wait_after_it(&REBOOTED, "rows: { reboot: silent }", Otherwise::Moved(51, 20), None)]
#[case::is_patient_after_a_reboot(&REBOOTED, "rows: { reboot: { after: 30s } }", Otherwise::Same, None)]
#[case::is_too_soon_after_a_reboot(&REBOOTED, "rows: { reboot: { after: 30s } }", Otherwise::Moved(51, 20), Some(Unexpected))]
#[case::has_no_patience_after_a_reboot(&REBOOTED, "rows: { reboot: { after: 0 polls } }", Otherwise::Moved(51, 20), None)]
#[case::is_late_after_a_reboot(&REBOOTED, "rows: { reboot: { after: 0 polls } }", Otherwise::Same, Some(Missing))]
#[case::outwaits_a_short_one(&REBOOTED_BRIEFLY, "rows: { reboot: { after: 30s } }", Otherwise::Same, None)]
#[case::misses_a_short_one(&REBOOTED_BRIEFLY, "rows: { reboot: { after: 0 polls } }", Otherwise::Same, Some(Missing))]
#[case::compares_those_that_it_reads(&VEILED, "rows: { card: { unreadable: missing } }", Otherwise::Same, None)]
#[case::compares_none_of_them(&VEILED, "rows: { card: { unreadable: waits } }", Otherwise::CardsMoved(3, 10), None)]
#[case::compares_too_soon(&VEILED, "rows: { card: { unreadable: waits } }", Otherwise::Same, Some(Unexpected))]
#[case::compares_too_late(&VEILED, "rows: { card: { unreadable: missing } }", Otherwise::CardsMoved(3, 10), Some(Missing))]
#[case::goes_by_the_name(&NAMED, "{}", Otherwise::Same, None)]
#[case::misses_the_name(&NAMED, "{}", Otherwise::SilentIn(0, 30), Some(Missing))]
#[case::goes_by_the_vendor(&NAMED, "scope: { vendors: [0x15b3] }", Otherwise::SilentIn(0, 30), None)]
#[case::goes_by_the_name_in_spite_of_it(&NAMED, "scope: { vendors: [0x15b3] }", Otherwise::Same, Some(Unexpected))]
#[case::waits_for_routes(&NO_ROUTES, "rows: { metadata: { unreadable: waits } }", Otherwise::Same, None)]
#[case::without_routes(&NO_ROUTES, "rows: { metadata: { unreadable: missing } }", Otherwise::Moved(10, 0), None)]
#[case::waits_in_spite_of_it(&NO_ROUTES, "rows: { metadata: { unreadable: missing } }", Otherwise::Same, Some(Missing))]
#[case::does_not_wait(&NO_ROUTES, "rows: { metadata: { unreadable: waits } }", Otherwise::Moved(10, 0), Some(Missing))]
#[case::tells_late_cards(&LATE_CARD, "wire: { baselines: { late_cards: true } }", Otherwise::Same, None)]
#[case::tells_no_late_cards(&LATE_CARD, "wire: { baselines: { late_cards: false } }", Otherwise::WithoutLateCards, None)]
#[case::forgets_late_cards(&LATE_CARD, "wire: { baselines: { late_cards: true } }", Otherwise::WithoutLateCards, Some(Missing))]
#[case::begins_with_some(&UNREAD, "wire: { baselines: { complete: false } }", Otherwise::Same, None)]
#[case::begins_with_all(&UNREAD, "wire: { baselines: { complete: true } }", Otherwise::HeldUntil(12), None)]
#[case::begins_too_soon(&UNREAD, "wire: { baselines: { complete: true } }", Otherwise::Same, Some(Missing))]
#[case::begins_too_late(&UNREAD, "wire: { baselines: { complete: false } }", Otherwise::HeldUntil(12), Some(Missing))]
#[case::tells_each_recovery(&UNSAID, "wire: { recoveries: all }", Otherwise::AnewIn(10), None)]
#[case::tells_an_unsaid_recovery(&UNSAID, "wire: { recoveries: reported }", Otherwise::AnewIn(10), Some(Unexpected))]
#[case::pins_functions(&PINNED, "scope: { pinned: functions }", Otherwise::Same, None)]
#[case::pins_what_is_left_out(&PINNED, "scope: { pinned: functions }", Otherwise::AlsoOf("mlx5_1", "mlx5_18"), Some(Unexpected))]
#[case::compares_with_the_last_read(&AWAY, "rows: { counter.link_downed: { over_restart: last_read } }", Otherwise::Same, None)]
#[case::misses_the_reset(&AWAY, "rows: { counter.link_downed: { over_restart: last_read } }", Otherwise::Moved(20, 25), Some(Missing))]
#[case::compares_with_the_last_written(&AWAY, "rows: { counter.link_downed: { over_restart: last_written } }", Otherwise::Moved(20, 25), None)]
#[case::misses_the_growth(&AWAY, "rows: { counter.link_downed: { over_restart: last_written } }", Otherwise::SilentIn(5, 6), Some(Missing))]
#[case::tells_what_was_added(&ADDED, "rows: { hot_added: { healthy: reported } }", Otherwise::Same, None)]
#[case::forgets_what_was_added(&ADDED, "rows: { hot_added: { healthy: reported } }", Otherwise::SilentIn(10, 13), Some(Missing))]
#[case::is_silent_about_what_was_added(&ADDED, "rows: { hot_added: { healthy: silent } }", Otherwise::SilentIn(10, 13), None)]
#[case::tells_what_it_must_not(&ADDED, "rows: { hot_added: { healthy: silent } }", Otherwise::Same, Some(Unexpected))]
#[case::is_silent_about_all_that_is_added(&ADDED, "rows: { hot_added: silent }", Otherwise::SilentIn(10, 13), None)]
#[case::tells_some_of_it(&ADDED, "rows: { hot_added: silent }", Otherwise::Same, Some(Unexpected))]
#[case::tells_new_faults_after_a_reboot(&REBOOTED, "rows: { reboot: { restates: nothing } }", Otherwise::Same, None)]
#[case::forgets_new_faults_after_a_reboot(&REBOOTED, "rows: { reboot: { restates: nothing } }", Otherwise::SilentIn(51, 51), Some(Missing))]
#[case::waits_after_a_reboot_but_not_at_first(&REBOOTED_BRIEFLY, "rows: { first_poll: { after: 0 polls }, reboot: { after: 30s } }", Otherwise::Same, None)]
#[case::waits_at_first_but_not_after_a_reboot(&REBOOTED_BRIEFLY, "rows: { first_poll: { after: 30s }, reboot: { after: 0 polls } }", Otherwise::Same, Some(Missing))]
#[case::is_silent_at_first_but_not_after_a_reboot(&REBOOTED_BRIEFLY, "rows: { first_poll: silent, reboot: { after: 0 polls } }", Otherwise::Same, Some(Missing))]
#[case::tells_what_was_added_but_no_first_poll(&ADDED, "rows: { hot_added: { healthy: reported } }\nwire: { first_poll: none }", Otherwise::SilentIn(0, 0), None)]
#[case::tells_it_by_the_documents_but_no_first_poll(&ADDED, "rows: { hot_added: usual }\nwire: { first_poll: none }", Otherwise::SilentIn(0, 0), None)]
#[case::tells_neither_what_was_added_nor_a_first_poll(&ADDED, "rows: { hot_added: { healthy: reported } }\nwire: { first_poll: none }", Otherwise::SilentIn(0, 13), Some(Missing))]
#[case::tells_what_it_must_not_and_no_first_poll(&ADDED, "rows: { hot_added: { healthy: silent } }\nwire: { first_poll: none }", Otherwise::SilentIn(0, 0), Some(Unexpected))]
#[case::tells_a_first_poll_that_it_must_not(&ADDED, "rows: { hot_added: { healthy: reported } }\nwire: { first_poll: none }", Otherwise::Same, Some(Unexpected))]
fn a_key_is_kept_or_broken(
    #[case] case: &Case,
    #[case] promises: &str,
    #[case] how: Otherwise,
    #[case] finding: Option<FindingKind>,
) {
    let recording = recorded(case, how);
    let judged = judge(&case.story, &case.truth, &recording, &promising(promises));
    let kinds: Vec<FindingKind> = judged.findings.iter().map(|found| found.kind).collect();
    match finding {
        None => assert_eq!(kinds, [], "{:#?}", judged.findings),
        Some(kind) => assert!(kinds.contains(&kind), "{kinds:?} {:#?}", judged.findings),
    }
}

/// The recording of a monitor that writes a line for each event that one about ports makes.
pub(crate) fn lines_about_ports(case: &Case, how: Otherwise) -> Recording {
    let mut recording = recorded(case, how);
    recording.protocol = Protocol::Lines;
    for tick in &mut recording.ticks {
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            for call in &mut Arc::make_mut(monitor).calls {
                let said = &mut call.observations;
                said.retain(|it| matches!(it.subject, Subject::Port { .. }));
                for it in said {
                    (it.check, it.codes) = (None, Vec::new());
                    it.fields.clear();
                }
                call.fields.clear();
            }
        }
    }
    recording
}

/// A monitor that writes lines, whose descriptor says nothing of a wire.
pub(crate) fn of_lines(promises: &str) -> Descriptor {
    let promises =
        files::yaml::read("promises.yaml", promises).unwrap_or_else(|error| panic!("{error}"));
    Descriptor {
        promises,
        speaks: Protocol::Lines,
        ..Descriptor::of_program("m")
    }
}

/// Whether it says so of a first poll or not, which no key of its `wire` is about.
#[rstest]
#[case::usual("hot_added: usual", 10, false)]
#[case::reported("hot_added: { healthy: reported }", 10, false)]
#[case::forgotten("hot_added: { healthy: reported }", 99, true)]
#[case::silent("hot_added: { healthy: silent }", 99, false)]
#[case::silent_and_told("hot_added: { healthy: silent }", 10, true)]
#[case::without_a_row("disabled: usual", 10, false)]
#[case::without_a_row_and_silent("disabled: usual", 99, false)]
fn a_line_about_a_port_that_was_added_is_judged_by_its_row_alone(
    #[case] row: &str,
    #[case] silent_until: usize,
    #[case] is_wrong: bool,
) {
    let last = silent_until.min(ADDED.recording.ticks.len()) - 1;
    let recording = lines_about_ports(&ADDED, Otherwise::SilentIn(0, last));
    let (story, truth) = (&ADDED.story, &ADDED.truth);
    let judged = judge(
        story,
        truth,
        &recording,
        &of_lines(&format!("rows: {{ {row} }}")),
    );
    assert_eq!(judged.findings.len(), usize::from(is_wrong), "{judged:#?}");
    // Nothing says whether it tells of devices and cards.
    let key = match row.starts_with("hot_added") {
        true => "no promise about `wire.baselines`",
        false => "no promise about `hot_added`",
    };
    let is_judged = row.contains("silent");
    assert_eq!(
        judged.judged.not_judged.contains_key(key),
        !is_judged,
        "{judged:#?}"
    );
}

/// Its port, the device and the card, and each finding names the row.
#[test]
fn what_was_added_and_must_not_be_told_is_told_with_its_row() {
    let silent = promising("rows: { hot_added: { healthy: silent } }");
    let (story, truth) = (&ADDED.story, &ADDED.truth);
    let found = judge(story, truth, &ADDED.recording, &silent).findings;
    assert_eq!(found.len(), 3, "{found:#?}");
    for finding in &found {
        assert_eq!(finding.kind, Unexpected);
        let wanted = &finding.expected[0];
        assert!(wanted.ends_with("by the row of `hot_added`"), "{wanted}");
    }
    let mut without = promising("{}");
    let kind = observe::promises::Named::HotAdded.into();
    without.promises.rows.remove(&kind);
    for how in [Otherwise::Same, Otherwise::SilentIn(10, 13)] {
        let judged = judge(story, truth, &recorded(&ADDED, how), &without);
        assert_eq!(judged.findings, []);
        assert_eq!(judged.judged.not_judged["no promise about `hot_added`"], 3);
    }
}

/// The role of what was added is read when it is told: in the poll from which on it may be, it need not be there yet.
#[rstest]
#[case::in_a_poll("10s")]
#[case::between_two_polls("10500ms")]
fn what_was_added_and_is_not_told_is_monitored(#[case] added_at: &str) {
    let text = format!(
        "
let: {{ model: {{ role: compute, layer: infiniband, card_ports: 1, nth: 1 }} }}
timeline:
  - at: 0s
    expect: [ {{ this_poll: baseline }}, {{ healthy: {{ name: mlx5_40, port: 1 }}, from: 10s, to: 13s }} ]
  - at: {added_at}
    do: [ {{ hot_add: device of model, pci: \"0000:f1:00.0\", name: mlx5_40, cabled: true }} ]
until: 20s
"
    );
    let case = told("dgx-h100", &text);
    let recording = recorded(&case, Otherwise::SilentIn(10, 14));
    let found = judge(&case.story, &case.truth, &recording, &promising("{}")).findings;
    let of_port = |it: &&reports::Finding| {
        it.kind == Missing && it.cause.subject == Some(reports::CauseSubject::Port)
    };
    let missed: Vec<_> = found.iter().filter(of_port).collect();
    assert!(!missed.is_empty(), "{found:#?}");
    for finding in missed {
        assert_eq!(
            finding.cause.role,
            Some(reports::CauseRole::Monitored),
            "{finding:#?}"
        );
    }
}
