//! A monitor is held to its own rows: what it says otherwise than the reference monitor is right where it promises
//! so, and what the reference monitor says is then wrong.

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many promises that judge it"
)]

use std::sync::LazyLock;

use director::{Trees, Truth};
use judge::judge;
use memory::{Played, play_in_memory};
use observe::{ClockKind, Descriptor, Promises, Recording, promises::Kind};
use platforms::{NodeName, Platforms};
use proto::HealthEvent;
use reports::FindingKind::{self, LeftStanding, Missing, Outstanding, Unexpected};
use rstest::rstest;
use scenarios::{Scenario, Story};

use crate::wire::{calls, monitor, reference};

pub(crate) const CUT: &str = "
scenario: a cable is pulled and plugged in again
why: an example
platforms: all
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { cut: victim } ]
    expect:
      - { fatal: victim }
      - { condition: state, of: victim, from: 14s, to: 18s, throughout: true }
      - { cordoned: true, from: 14s, to: 18s, throughout: true }
  - at: 20s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 3 polls } ]
until: 30s
";

const GONE: &str = "
scenario: a device falls off the bus and returns
why: an example
platforms: all
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { remove: device of victim } ]
    expect: [ { fatal: device of victim } ]
  - at: 20s
    do: [ { restore: device of victim } ]
    expect:
      - { healthy: device of victim, within: 2 polls }
      - { each: ports of device of victim, healthy: it, within: 2 polls }
until: 30s
";

const TWO_PORTS: &str = "
scenario: the cables of both ports of a device are pulled one after the other
why: an example
platforms: all
let: { one: { device_ports: 2, port: 1, nth: 1 }, other: { device_ports: 2, port: 2, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { set: one, state: DOWN, phys_state: Polling } ]
    expect: [ { fatal: one } ]
  - at: 12s
    do: [ { set: other, state: DOWN, phys_state: Polling } ]
    expect: [ { fatal: other } ]
  - at: 16s
    do: [ { set: one, state: ACTIVE, phys_state: LinkUp } ]
    expect: [ { healthy: one } ]
  - at: 20s
    do: [ { set: other, state: ACTIVE, phys_state: LinkUp } ]
    expect: [ { healthy: other } ]
until: 30s
";

/// A drill that the reference monitor played.
pub(crate) struct Case {
    pub(crate) story: Story,
    pub(crate) truth: Truth,
    pub(crate) recording: Recording,
}

impl Case {
    pub(crate) fn played(text: &str) -> Self {
        Self::played_on("dgx-h100", text)
    }

    pub(crate) fn played_on(platform: &str, text: &str) -> Self {
        let platforms = Platforms::shipped();
        let scenario =
            scenarios::read("port/example.yaml", text).unwrap_or_else(|error| panic!("{error}"));
        let platform = platforms.get(platform).expect("the platform ships");
        let story = scenario
            .in_world(&NodeName::from("node-a"), platform)
            .unwrap_or_else(|unfit| panic!("{unfit}"));
        Self::of(story)
    }

    pub(crate) fn of(story: Story) -> Self {
        let Played {
            recording, truth, ..
        } = play_in_memory(&story, &reference(), None, &mut Trees::default());
        Self {
            story,
            truth,
            recording,
        }
    }
}

/// A scenario of the suite.
pub(crate) fn of_suite(name: &str) -> Scenario {
    let file = format!("{name}.yaml");
    let (file, text) = suite::scenarios()
        .into_iter()
        .find(|(of, _)| *of == file)
        .unwrap_or_else(|| panic!("there is no scenario `{name}`"));
    scenarios::read(file, text).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) static CUT_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(CUT));
pub(crate) static GONE_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(GONE));
static TWO_PORTS_CASE: LazyLock<Case> =
    LazyLock::new(|| Case::played_on("dgx-a100:two-port", TWO_PORTS));

/// The reference monitor with other promises over its own.
pub(crate) fn promising(promises: &str) -> Descriptor {
    let reference = reference();
    let own: Promises =
        files::yaml::read("promises.yaml", promises).unwrap_or_else(|error| panic!("{error}"));
    Descriptor {
        promises: own.over(&reference.promises),
        clock: ClockKind::Own,
        ..reference
    }
}

/// What a monitor does otherwise than the reference monitor.
#[derive(Clone, Copy)]
enum Otherwise {
    /// Nothing.
    Same,
    /// Its fatal events are nonfatal.
    Milder,
    /// It has no fatal events, and none that clear them.
    Silent,
    /// Its fatal events come so many polls later.
    Later(usize),
    /// It takes nothing back.
    ClearsNothing,
    /// Its first poll has no events about devices.
    NoDevicesAtFirst,
    /// It has no fatal events.
    WithoutFatal,
    /// After its first poll it names the devices of ports.
    OfDevices,
    /// The same, and what comes in these ticks is left out.
    OfDevicesBut(&'static [usize]),
}

fn otherwise(case: &Case, how: Otherwise) -> Recording {
    let mut recording = case.recording.clone();
    let is_at = |tick: usize, changed: &mut Recording, keep: &dyn Fn(&HealthEvent) -> bool| {
        let mut single = Recording {
            ticks: vec![changed.ticks[tick].clone()],
            ..Recording::default()
        };
        for mut call in calls(&mut single) {
            call.events.retain(|event| keep(event));
        }
        changed.ticks[tick] = single.ticks.remove(0);
        let calls = &mut monitor(changed, tick, "node-a").calls;
        calls.retain(|call| !call.observations.is_empty());
    };
    let last = recording.ticks.len();
    match how {
        Otherwise::Same => {}
        Otherwise::Milder => {
            for event in calls(&mut recording)
                .iter_mut()
                .flat_map(|call| &mut call.events)
            {
                if event.is_fatal {
                    event.is_fatal = false;
                    event.recommended_action = proto::RecommendedAction::None as i32;
                }
            }
        }
        Otherwise::Silent => {
            for tick in 1..last {
                is_at(tick, &mut recording, &|_| false);
            }
        }
        Otherwise::ClearsNothing => {
            for tick in 1..last {
                is_at(tick, &mut recording, &|event| !event.is_healthy);
            }
        }
        Otherwise::WithoutFatal => {
            for tick in 1..last {
                is_at(tick, &mut recording, &|event| !event.is_fatal);
            }
        }
        Otherwise::NoDevicesAtFirst => {
            is_at(0, &mut recording, &|event| {
                !event.message.starts_with("Device ")
            });
        }
        Otherwise::OfDevices => return otherwise(case, Otherwise::OfDevicesBut(&[])),
        Otherwise::OfDevicesBut(left_out) => {
            for tick in left_out {
                is_at(*tick, &mut recording, &|_| false);
            }
            for tick in 1..last {
                let mut single = Recording {
                    ticks: vec![recording.ticks[tick].clone()],
                    ..Recording::default()
                };
                for call in &mut calls(&mut single) {
                    for event in &mut call.events {
                        event.entities_impacted.truncate(1);
                    }
                }
                recording.ticks[tick] = single.ticks.remove(0);
            }
        }
        Otherwise::Later(by) => {
            for tick in (1..last - by).rev() {
                let is_fatal = |call: &observe::Call| {
                    let mut events = call.observations.iter();
                    events.any(|event| event.severity == terms::Severity::Fatal)
                };
                let calls = std::mem::take(&mut monitor(&mut recording, tick, "node-a").calls);
                let (late, now) = calls.into_iter().partition(is_fatal);
                monitor(&mut recording, tick, "node-a").calls = now;
                let later: Vec<observe::Call> = late;
                monitor(&mut recording, tick + by, "node-a")
                    .calls
                    .extend(later);
            }
        }
    }
    recording
}

#[track_caller]
fn check(case: &Case, descriptor: &Descriptor, how: Otherwise, findings: &[FindingKind]) {
    let judged = judge(&case.story, &case.truth, &otherwise(case, how), descriptor);
    let kinds: Vec<FindingKind> = judged.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, findings, "{:#?}", judged.findings);
}

#[rstest]
#[case::as_documented("{}", Otherwise::Same, &[])]
#[case::milder("rows: { polling: { verdict: nonfatal } }", Otherwise::Milder, &[])]
#[case::milder_by_layer("rows: { polling: { infiniband: { verdict: nonfatal } } }", Otherwise::Milder, &[])]
#[case::milder_of_another_layer("rows: { polling: { ethernet: { verdict: nonfatal } } }", Otherwise::Same, &[])]
#[case::milder_of_another_kind("rows: { disabled: { verdict: nonfatal } }", Otherwise::Same, &[])]
#[case::silent("rows: { polling: silent }", Otherwise::Silent, &[])]
#[case::debounced("rows: { polling: { after: 3 polls } }", Otherwise::Later(3), &[])]
#[case::debounced_in_time("rows: { polling: { after: 3s } }", Otherwise::Later(3), &[])]
#[case::too_early("rows: { polling: { after: 4 polls } }", Otherwise::Later(3), &[Unexpected, Missing])]
#[case::within("rows: { polling: { after: 1 poll, within: 2 polls } }", Otherwise::Later(3), &[])]
#[case::too_short_for_it("rows: { polling: { after: 15 polls } }", Otherwise::Silent, &[])]
#[case::by_a_person("rows: { polling: { clears: by_operator } }", Otherwise::ClearsNothing, &[])]
#[case::never("rows: { polling: { clears: never } }", Otherwise::ClearsNothing, &[])]
fn a_port_is_reported_as_its_row_says(
    #[case] promises: &str,
    #[case] how: Otherwise,
    #[case] findings: &[FindingKind],
) {
    check(&CUT_CASE, &promising(promises), how, findings);
}

/// Each row of the reference monitor decides what it owes.
#[rstest]
#[case::milder("rows: { polling: { verdict: nonfatal } }", Otherwise::Same)]
#[case::silent("rows: { polling: silent }", Otherwise::Same)]
#[case::debounced("rows: { polling: { after: 3 polls } }", Otherwise::Same)]
#[case::never("rows: { polling: { clears: never } }", Otherwise::Same)]
#[case::not_milder("{}", Otherwise::Milder)]
#[case::not_silent("{}", Otherwise::Silent)]
#[case::not_late("{}", Otherwise::Later(3))]
#[case::not_forgetting("{}", Otherwise::ClearsNothing)]
fn another_row_asks_for_other_events(#[case] promises: &str, #[case] how: Otherwise) {
    let descriptor = promising(promises);
    let recording = otherwise(&CUT_CASE, how);
    let (story, truth) = (&CUT_CASE.story, &CUT_CASE.truth);
    let judged = judge(story, truth, &recording, &descriptor);
    assert_ne!(judged.findings, []);
}

#[rstest]
#[case(Otherwise::Same)]
#[case(Otherwise::Milder)]
#[case(Otherwise::Silent)]
#[case(Otherwise::Later(3))]
fn a_kind_without_a_row_is_not_judged(#[case] how: Otherwise) {
    let mut descriptor = promising("{}");
    descriptor
        .promises
        .rows
        .remove(&Kind::parse("polling").expect("a kind"));
    check(&CUT_CASE, &descriptor, how, &[]);
    let judged = judge(
        &CUT_CASE.story,
        &CUT_CASE.truth,
        &CUT_CASE.recording,
        &descriptor,
    )
    .judged;
    // The fault, its clear, the condition and the cordon; the baseline is judged.
    assert_eq!(judged.not_judged["no promise about `polling`"], 4);
    assert_eq!(judged.judged, 1);
}

#[rstest]
#[case::at_once("{}", Otherwise::Same, &[])]
#[case::debounced("rows: { gone_device: { after: 2 polls } }", Otherwise::Later(2), &[])]
#[case::not_debounced("rows: { gone_device: { after: 2 polls } }", Otherwise::Same, &[Unexpected, Missing])]
#[case::too_short_for_it("rows: { gone_device: { after: 12 polls } }", Otherwise::Silent, &[])]
#[case::silent("rows: { gone_device: silent }", Otherwise::Silent, &[])]
#[case::without_devices("wire: { baselines: { devices: false } }", Otherwise::NoDevicesAtFirst, &[])]
#[case::forgotten("{}", Otherwise::ClearsNothing, &[Missing, Missing, Outstanding, LeftStanding, LeftStanding])]
fn a_device_is_reported_as_its_row_says(
    #[case] promises: &str,
    #[case] how: Otherwise,
    #[case] findings: &[FindingKind],
) {
    check(&GONE_CASE, &promising(promises), how, findings);
}

/// Nothing is promised, and no law is broken.
#[rstest]
#[case(&CUT_CASE, Otherwise::Same)]
#[case(&CUT_CASE, Otherwise::Milder)]
#[case(&CUT_CASE, Otherwise::Silent)]
#[case(&CUT_CASE, Otherwise::Later(3))]
#[case(&GONE_CASE, Otherwise::Same)]
#[case(&GONE_CASE, Otherwise::Later(2))]
fn a_program_without_promises_is_judged_by_the_laws_alone(
    #[case] case: &Case,
    #[case] how: Otherwise,
) {
    check(case, &Descriptor::of_program("m"), how, &[]);
}

#[test]
fn a_program_without_promises_takes_back_what_it_reported() {
    let bare = Descriptor::of_program("m");
    let recording = otherwise(&CUT_CASE, Otherwise::ClearsNothing);
    let judged = judge(&CUT_CASE.story, &CUT_CASE.truth, &recording, &bare);
    let kinds: Vec<FindingKind> = judged.findings.iter().map(|finding| finding.kind).collect();
    assert!(kinds.contains(&Outstanding), "{kinds:?}");
}

const SLOW: &str = "
scenario: a port without a fault of the documents, and one with a fault that they leave silent
why: an example
platforms: all
let:
  office: { role: management, nth: 1 }
  victim: { role: compute, nth: 1 }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { set: victim, state: INIT }, { disable: office } ]
    expect: [ { nothing: [ victim, office ], from: 10s, to: 20s } ]
  - at: 15s
    do: [ { mend: victim }, { mend: office } ]
until: 25s
";

static SLOW_CASE: LazyLock<Case> = LazyLock::new(|| Case::played_on("h100-oci", SLOW));

/// What the documents leave silent, or out of scope, is owed where it is promised.
#[rstest]
#[case::as_documented("{}", &[])]
#[case::a_state("rows: { init: { ethernet: { verdict: nonfatal } } }", &[Missing, Missing])]
#[case::too_short("rows: { init: { ethernet: { verdict: nonfatal, after: 6 polls } } }", &[])]
fn what_the_documents_leave_silent_is_owed_by_promise(
    #[case] promises: &str,
    #[case] findings: &[FindingKind],
) {
    check(&SLOW_CASE, &promising(promises), Otherwise::Same, findings);
}

/// A scope decides whose first poll is owed, and who must not be named.
#[rstest]
#[case::documented("scope: { roles: [ compute, storage ] }", &[])]
#[case::without_compute("scope: { roles: [ storage ] }", &[Unexpected])]
#[case::with_management("scope: { roles: [ compute, storage, management ] }", &[Missing])]
#[case::one_device("scope: { devices: [ mlx5_0 ] }", &[Unexpected])]
fn a_scope_of_its_own_decides_whose_ports_are_monitored(
    #[case] promises: &str,
    #[case] kinds: &[FindingKind],
) {
    let judged = judge(
        &SLOW_CASE.story,
        &SLOW_CASE.truth,
        &SLOW_CASE.recording,
        &promising(promises),
    );
    let found: std::collections::BTreeSet<FindingKind> =
        judged.findings.iter().map(|finding| finding.kind).collect();
    let wanted: std::collections::BTreeSet<FindingKind> = kinds.iter().copied().collect();
    assert_eq!(found, wanted, "{:#?}", judged.findings);
}

const PINNED: &str = "
scenario: a device and a virtual function of another one are pinned, and both lose their link
why: an example
platforms: all
config: 'nicInclusionRegexOverride = \"^mlx5_1$,^mlx5_18$\"'
let: { one: { device: mlx5_1 }, guest: { vf: true, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: [ { healthy: one }, { healthy: device of one } ] } ]
  - at: 10s
    do: [ { assign_vf: device of guest } ]
  - at: 20s
    do: [ { disable: one }, { release_vf: device of guest } ]
    expect: [ { this_poll: [ { fatal: one } ] } ]
  - at: 25s
    do: [ { mend: one } ]
    expect: [ { healthy: one, within: 2 polls } ]
until: 30s
";

/// To a monitor that pins whatever has the name, the virtual function is as good as the device.
#[rstest]
#[case::pinned("scope: { pinned: all }", true, &[])]
#[case::and_not_told("scope: { pinned: all }", false, &[Missing])]
#[case::as_documented("{}", true, &[Unexpected, Outstanding])]
fn a_virtual_function_that_is_pinned_is_judged_by_promise(
    #[case] promises: &str,
    #[case] is_told: bool,
    #[case] kinds: &[FindingKind],
) {
    static CASE: LazyLock<Case> = LazyLock::new(|| Case::played_on("h100-oci:vfs", PINNED));
    let mut recording = CASE.recording.clone();
    for mut call in calls(&mut recording).into_iter().filter(|_| is_told) {
        let told = call.events.iter().filter(|event| event.is_fatal);
        let told: Vec<HealthEvent> = told.map(of_guest).collect();
        call.events.extend(told);
    }
    let judged = judge(&CASE.story, &CASE.truth, &recording, &promising(promises));
    let found = judged.findings.iter().map(|finding| finding.kind);
    // What a cluster makes of it is tested elsewhere.
    let found: Vec<FindingKind> = found.filter(|kind| *kind != LeftStanding).collect();
    assert_eq!(found, kinds, "{:#?}", judged.findings);
}

/// The same of the virtual function, a moment later.
fn of_guest(event: &HealthEvent) -> HealthEvent {
    let mut event = event.clone();
    for entity in &mut event.entities_impacted {
        entity.entity_value = entity.entity_value.replace("mlx5_1", "mlx5_18");
    }
    if let Some(stamp) = &mut event.generated_timestamp {
        stamp.nanos += 1;
    }
    event.message = event.message.replace("mlx5_1", "mlx5_18");
    event
}

/// A card that falls behind at run time is owed where cards are compared in every poll.
#[test]
fn a_card_is_owed_in_every_poll_by_promise() {
    let every = promising("rows: { card: { when: every_poll } }");
    check(&CUT_CASE, &every, Otherwise::Same, &[Missing, Missing]);
}

/// A monitor that names the device of a port is held to the device.
#[test]
fn a_port_is_reported_by_its_device_by_promise() {
    let device = promising("rows: { polling: { subject: device } }");
    check(&CUT_CASE, &device, Otherwise::OfDevices, &[]);
    check(
        &CUT_CASE,
        &promising("{}"),
        Otherwise::OfDevices,
        &[Missing, Unexpected, Missing, Missing, Unexpected],
    );
}

/// A device with faults of two ports is reported once, and is healthy with the last of them.
#[rstest]
#[case::one_alarm(&[12, 16], &[])]
#[case::told_again(&[16], &[])]
#[case::healthy_too_early(&[12], &[Unexpected])]
#[case::never_healthy(&[12, 16, 20], &[Missing, Outstanding, LeftStanding, LeftStanding])]
fn a_device_stands_for_all_of_its_ports_by_promise(
    #[case] left_out: &'static [usize],
    #[case] findings: &[FindingKind],
) {
    let device = promising("rows: { polling: { subject: device } }");
    check(
        &TWO_PORTS_CASE,
        &device,
        Otherwise::OfDevicesBut(left_out),
        findings,
    );
}

/// What a connector accepts and nobody promised is no violation.
#[rstest]
#[case::own_agent("wire: { agent: other }", 1)]
#[case::documented("{}", 0)]
fn the_wire_is_judged_as_promised(#[case] promises: &str, #[case] contracts: usize) {
    let judged = judge(
        &CUT_CASE.story,
        &CUT_CASE.truth,
        &CUT_CASE.recording,
        &promising(promises),
    );
    let of = |kind| {
        judged
            .findings
            .iter()
            .filter(|finding| finding.kind == kind)
            .count()
    };
    assert_eq!(of(FindingKind::Contract), contracts);
}

const RISES: &str = "
scenario: a port waits for the subnet manager, and then its cable is pulled
why: an example
platforms: all
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { set: victim, state: INIT } ]
    expect: [ { nonfatal: victim } ]
  - at: 13s
    do: [ { set: victim, state: DOWN, phys_state: Polling } ]
    expect: [ { fatal: victim } ]
  - at: 20s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 3 polls } ]
until: 30s
";

static RISES_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(RISES));

/// Where a row lowers the higher of two severities, nothing rises.
#[rstest]
#[case::it_rises("{}", Otherwise::Same, &[])]
#[case::it_does_not("rows: { polling: { verdict: nonfatal } }", Otherwise::WithoutFatal, &[])]
#[case::it_must_not("rows: { polling: { verdict: nonfatal } }", Otherwise::Same, &[Unexpected])]
#[case::it_should("{}", Otherwise::WithoutFatal, &[Missing])]
fn only_a_higher_severity_is_reported(
    #[case] promises: &str,
    #[case] how: Otherwise,
    #[case] findings: &[FindingKind],
) {
    check(&RISES_CASE, &promising(promises), how, findings);
}

/// A story of which the reference monitor does what the documents ask.
fn told(steps: &str) -> Case {
    let text = format!(
        "scenario: an example\nwhy: an example\nplatforms: all\n\
         let: {{ victim: {{ role: compute, nth: 1 }} }}\ntimeline:\n  - at: 0s\n    \
         expect: [ {{ this_poll: baseline }} ]\n{steps}"
    );
    Case::played(&text)
}

const RENAMED: &str = "  - at: 5s
    do: [ { rename: device of victim, to: mlx5_77 } ]
until: 10s
heal: never
because: the name stays
";

const UNLOADED: &str = "  - at: 5s
    do: [ { driver: unload } ]
  - at: 36s
    expect: [ { this_poll: [ { fatal: device of victim } ] } ]
until: 36s
heal: never
because: the end of the drill is of no interest here
";

const GARBLED: &str = "  - at: 5s
    do: [ { read: victim/state, content: \"garbage\\n\", for: 5s } ]
    expect: [ { nothing: victim, from: 5s, to: 15s } ]
until: 15s
";

/// The reference monitor says what the documents ask, which another promise then calls too much or too little.
#[rstest]
#[case::known_by_its_place(RENAMED, "{}", None)]
#[case::known_by_its_name(RENAMED, "rows: { rename: { known_by: name } }", Some(Missing))]
#[case::garbled_is_unreadable(GARBLED, "{}", None)]
#[case::garbled_is_a_state(GARBLED, "rows: { odd_state: { garbled: state } }", Some(Missing))]
fn a_key_of_a_row_asks_for_other_events(
    #[case] steps: &str,
    #[case] promises: &str,
    #[case] finding: Option<FindingKind>,
) {
    let case = told(steps);
    let judged = judge(
        &case.story,
        &case.truth,
        &case.recording,
        &promising(promises),
    );
    let mut kinds = judged.findings.iter().map(|finding| finding.kind);
    let first = kinds.next();
    assert_eq!(first, finding, "{:#?}", judged.findings);
    assert!(
        kinds.all(|kind| Some(kind) == finding),
        "{:#?}",
        judged.findings
    );
}

const HALF_SPEED: &str = "
scenario: a link comes up at half its speed and is repaired
why: an example
platforms: all
let: { victim: { device: mlx5_3 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { speed: victim, rate: 2X EDR } ]
  - at: 20s
    do: [ { mend: victim } ]
until: 30s
";

/// The documents ask for nothing about speeds; who promises to report them does, when the row says so.
#[test]
fn a_slow_port_is_reported_as_its_row_says() {
    let case = Case::played(HALF_SPEED);
    check(&case, &promising("{}"), Otherwise::Same, &[]);
    let mut first = case.recording.clone();
    let of_port = |event: &HealthEvent| {
        let mut values = event
            .entities_impacted
            .iter()
            .map(|it| it.entity_value.as_str());
        values.next() == Some("mlx5_3") && values.next() == Some("1")
    };
    let calls = calls(&mut first);
    let healthy = calls
        .iter()
        .flat_map(|call| &call.events)
        .find(|event| of_port(event));
    let healthy = healthy.expect("the port is in the baseline").clone();
    drop(calls);
    let mut slow = healthy.clone();
    slow.is_healthy = false;
    slow.message = "Port mlx5_3 port 1: slow".to_owned();
    let mut recording = case.recording.clone();
    for (tick, event) in [(10, slow), (20, healthy)] {
        let batch = proto::HealthEvents {
            version: 1,
            events: vec![event],
        };
        let call = observe::platform_connector::received(&batch);
        let call = call.answered(true, "accepted".to_owned());
        monitor(&mut recording, tick, "node-a").calls.push(call);
    }
    let found = |promises: &str, recording: &Recording| -> Vec<FindingKind> {
        let judged = judge(&case.story, &case.truth, recording, &promising(promises));
        judged.findings.iter().map(|finding| finding.kind).collect()
    };
    let at_once = "rows: { slow: { verdict: nonfatal } }";
    assert_eq!(found(at_once, &recording), []);
    assert_eq!(found(at_once, &case.recording), [Missing, Missing]);
    let later = found(
        "rows: { slow: { verdict: nonfatal, after: 3 polls } }",
        &recording,
    );
    assert!(
        later.contains(&Missing) && later.contains(&Unexpected),
        "{later:?}"
    );
    let silent = found("{}", &recording);
    assert!(silent.contains(&Unexpected), "{silent:?}");
}

/// As `read/listing-fails-from-the-start`.
const LISTED_LATE: &str = "
scenario: the class folder cannot be listed from the start, and a port goes dark meanwhile
why: an example
platforms: all
let: { victim: { nth: 1, group_cards: \">= 3\" } }
given:
  - { list: class/infiniband, fail: EIO }
timeline:
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { nothing: null, from: 0s, to: 10s } ]
  - at: 10s
    do: [ { no_rule: everywhere } ]
    expect: [ { this_poll: [ { baseline: null, except: victim }, { fatal: victim }, { fatal: card of victim } ] } ]
  - at: 20s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim }, { healthy: card of victim } ]
until: 30s
";

/// docs/decisions.md, 6: a poll that cannot list the class folder has failed. The first one that can is the first poll.
#[test]
fn what_the_first_poll_that_lists_finds_is_promised_by_the_row_of_first_polls() {
    let case = Case::played(LISTED_LATE);
    check(&case, &promising("{}"), Otherwise::Same, &[]);
    let silent = promising("rows: { first_poll: silent }");
    check(&case, &silent, Otherwise::WithoutFatal, &[]);
    let judged = judge(&case.story, &case.truth, &case.recording, &silent);
    let mut kinds = judged.findings.iter().map(|finding| finding.kind);
    assert!(kinds.next().is_some(), "it says what it must not");
    assert!(
        kinds.all(|kind| kind == Unexpected),
        "{:#?}",
        judged.findings
    );
    let at_once = promising("rows: { first_poll: { after: 0 polls } }");
    check(&case, &at_once, Otherwise::Same, &[]);
}

#[test]
fn without_the_class_folder_nothing_is_said_of_its_devices_by_promise() {
    let case = told(UNLOADED);
    let silent = promising("rows: { gone_device: { class_folder: silent } }");
    let judged = judge(&case.story, &case.truth, &case.recording, &silent);
    let says = |finding: &reports::Finding| {
        finding.kind == Unexpected && finding.came.iter().any(|line| line.contains("disappeared"))
    };
    assert!(judged.findings.iter().any(says), "{:#?}", judged.findings);
}
