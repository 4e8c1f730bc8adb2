//! A monitor that states in every poll what is, port by port: the template of `nicdrill init` in the shell.

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many promises that judge it"
)]

use std::{
    cell::RefCell,
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use director::PortView;
use judge::judge;
use observe::{
    Call, Descriptor, Observation, Protocol, Recording, Subject,
    promises::{Kind, Row},
};
use platforms::{Platforms, PortState};
use reports::{CauseKind, Finding, FindingKind};
use rstest::rstest;
use scenarios::{AtRest, World};
use terms::Severity;

use crate::names::{RENAMED, SWAPPED};
use crate::promises::{CUT, CUT_CASE, Case, GONE_CASE, of_suite, promising};

/// A port that comes up, and waits for its subnet manager.
const STUCK: &str = "
scenario: a port stays in INIT
why: an example
platforms: all
let: { victim: { layer: infiniband, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { stick: victim, in: init } ]
    expect: [ { nonfatal: victim } ]
  - at: 50s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 3 polls } ]
until: 60s
";

/// A port that is disabled and enabled again.
const DISABLED: &str = "
scenario: a port is disabled
why: an example
platforms: all
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim } ]
  - at: 20s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 3 polls } ]
until: 30s
";

/// As `port/dark-and-missing-for-a-while`.
const DARK: &str = "
scenario: a port that never had a cable is not listed for a while
why: an example
platforms: all
let: { dark: { cabled: false, nth: last } }
timeline:
  - at: 20s
    do: [ { remove_port: dark } ]
    expect: [ { fatal: dark, within: 2 polls } ]
  - at: 30s
    do: [ { restore_port: dark } ]
    expect: [ { this_poll: [ { healthy: dark } ] } ]
  - at: 60s
    do: [ { mend: dark } ]
    expect: [ { healthy: dark, within: 2 polls } ]
until: 70s
";

/// As `read/dark-and-unreadable-early`.
const UNREADABLE: &str = "
scenario: a port without a cable cannot be read for a while
why: an example
platforms: all
let: { dark: { cabled: false, nth: 1 } }
timeline:
  - at: 10s
    do: [ { read: dark/state, fail: EIO, for: 40s } ]
  - at: 60s
    do: [ { mend: dark } ]
    expect: [ { healthy: dark, within: 2 polls } ]
until: 70s
";

static STUCK_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(STUCK));
static DISABLED_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(DISABLED));
static DARK_CASE: LazyLock<Case> = LazyLock::new(|| Case::played_on("b200-oci", DARK));
static UNREADABLE_CASE: LazyLock<Case> =
    LazyLock::new(|| Case::played_on("l40-onprem", UNREADABLE));
static SWAPPED_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(SWAPPED));
static RENAMED_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(RENAMED));

/// The rows of the template.
const ROWS: &str = "
style: level
rows:
  down: { verdict: fatal }
  polling: { verdict: fatal }
  training: { verdict: fatal }
  init: { verdict: nonfatal, ethernet: { verdict: nonfatal } }
  armed: { verdict: nonfatal, ethernet: { verdict: nonfatal } }
  first_poll: { after: 0 polls }
";

/// The template with further rows, or others instead.
pub(crate) fn template(rows: &str) -> Descriptor {
    let read = |text: &str| {
        files::yaml::read("promises.yaml", text).unwrap_or_else(|error| panic!("{error}"))
    };
    let mut promises: observe::Promises = read(ROWS);
    let own: observe::Promises = read(&format!("rows: {{ {rows} }}"));
    promises.rows.extend(own.rows);
    Descriptor {
        promises,
        ..Descriptor::of_program("m")
    }
}

/// What the template says of a port: it reads the logical state alone.
pub(crate) fn by_state(port: &PortView) -> Severity {
    match port.state {
        PortState::ACTIVE => Severity::Healthy,
        PortState::DOWN => Severity::Fatal,
        _ => Severity::NonFatal,
    }
}

/// What is stated in each tick of every monitored port that is listed; `says` leaves out what cannot be read.
pub(crate) fn pages(
    case: &Case,
    says: impl Fn(&str, &PortView, u64) -> Option<Severity>,
) -> Recording {
    let mut recording = case.recording.clone();
    recording.protocol = Protocol::Lines;
    let node = &case.story.monitors[0];
    for ((at, tick), truth) in (0..).zip(&mut recording.ticks).zip(&case.truth.ticks) {
        let functions = truth.nodes.get(node).into_iter();
        let functions = functions.flat_map(|of| of.views.0.values());
        let mut said = Vec::new();
        for view in functions.filter(|it| it.listed && it.monitored) {
            for (port, of) in view.ports.iter().filter(|(_, of)| of.listed) {
                let Some(severity) = says(view.name.as_str(), of, at) else {
                    continue;
                };
                said.push(Observation {
                    subject: Subject::Port {
                        device: view.name.to_string(),
                        port: port.to_string(),
                    },
                    severity,
                    ..Observation::default()
                });
            }
        }
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            let monitor = Arc::make_mut(monitor);
            monitor.calls.clear();
            if monitor.polls > 0 {
                monitor.calls.push(Call {
                    observations: said.clone(),
                    fields: Vec::new(),
                    accepted: true,
                    answer: "a page".to_owned(),
                });
            }
        }
    }
    recording
}

pub(crate) fn found(case: &Case, recording: &Recording, descriptor: &Descriptor) -> Vec<Finding> {
    let judged = judge(&case.story, &case.truth, recording, descriptor);
    let left = |finding: &Finding| finding.kind != FindingKind::LeftStanding;
    judged.findings.into_iter().filter(left).collect()
}

pub(crate) fn kinds(found: &[Finding]) -> BTreeSet<FindingKind> {
    found.iter().map(|finding| finding.kind).collect()
}

#[track_caller]
fn check(case: &Case, recording: &Recording, rows: &str, expected: &[FindingKind]) {
    let found = found(case, recording, &template(rows));
    let expected: BTreeSet<FindingKind> = expected.iter().copied().collect();
    assert_eq!(kinds(&found), expected, "{rows}: {found:#?}");
}

/// The template is right by its own rows.
#[test]
fn the_template_is_right_about_what_it_promises() {
    let cases: [&Case; 4] = [&STUCK_CASE, &DISABLED_CASE, &CUT_CASE, &GONE_CASE];
    for case in cases {
        let recording = pages(case, |_, port, _| Some(by_state(port)));
        check(case, &recording, "", &[]);
    }
}

/// What a page says of a port, given what is so and whether it was fatal before.
type Says = fn(Severity, bool) -> Severity;

/// A page that lacks an alarm, has it less severe, or keeps it: the finding is at the line that asks for it.
#[rstest]
#[case::missed(|_, _| Severity::Healthy, "missed.fatal.port", "fatal: victim")]
#[case::less_severe(
    |is, _| match is {
        Severity::Fatal => Severity::NonFatal,
        other => other,
    },
    "differs.fatal.port",
    "fatal: victim"
)]
#[case::never_over(
    |is, was| if was { Severity::Fatal } else { is },
    "not-cleared.fatal.port",
    "healthy: victim"
)]
fn a_finding_about_an_alarm_has_the_line_that_asks_for_it(
    #[case] says: Says,
    #[case] cause: &str,
    #[case] line: &str,
) {
    let case = &*CUT_CASE;
    let was = RefCell::new(BTreeSet::new());
    let recording = pages(case, |device, port, _| {
        let is = by_state(port);
        let mut was = was.borrow_mut();
        if is == Severity::Fatal {
            was.insert(device.to_owned());
        }
        Some(says(is, was.contains(device)))
    });
    let found = found(case, &recording, &template(""));
    let of_it = |finding: &&Finding| finding.cause.to_string().starts_with(cause);
    let finding = found.iter().find(of_it);
    let at = finding.and_then(|finding| finding.line.as_ref());
    assert!(at.is_some_and(|at| at.text.contains(line)), "{found:#?}");
    // What a finding is about was judged.
    let judged = judge(&case.story, &case.truth, &recording, &template("")).judged;
    let place = &at.expect("a line").place;
    assert!(
        judged.left_out.iter().all(|it| it.line.place != *place),
        "{judged:?}"
    );
}

/// Whatever is stated, an alarm about nobody has no cause: a name or number that no device has, what is not monitored, and
/// the node as a whole before anything happens.
#[rstest]
#[case::no_such_device(port("nosuch", "1"), 0, "unexpected.fatal.port.absent")]
#[case::no_such_port(port("mlx5_0", "7"), 0, "unexpected.fatal.port.absent")]
#[case::later(port("nosuch", "1"), 12, "unexpected.fatal.port.absent")]
#[case::no_such_device_as_a_whole(Subject::Device("nosuch".to_owned()), 0, "unexpected.fatal.device.absent")]
#[case::no_such_card(Subject::Card("0000:ff:00".to_owned()), 0, "unexpected.fatal.card")]
#[case::not_monitored(port("mlx5_10", "1"), 0, "unexpected.fatal.port.unmonitored")]
#[case::the_node(Subject::Node, 0, "unexpected.fatal.check")]
fn an_alarm_about_nobody_has_no_cause(
    #[case] subject: Subject,
    #[case] from: u64,
    #[case] cause: &str,
) {
    // Its `mlx5_10` is a management device.
    let case = &*A100_CASE;
    let mut recording = pages(case, |_, port, _| Some(by_state(port)));
    for tick in recording
        .ticks
        .iter_mut()
        .skip(usize::try_from(from).unwrap())
    {
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            for call in &mut Arc::make_mut(monitor).calls {
                call.observations.push(Observation {
                    subject: subject.clone(),
                    severity: Severity::Fatal,
                    ..Observation::default()
                });
            }
        }
    }
    let found = found(case, &recording, &template(""));
    let [finding] = &found[..] else {
        panic!("{found:#?}");
    };
    let of = finding.cause.to_string();
    assert!(of.starts_with(cause), "{of}");
}

/// Neither is one about a card that was not added where another one was, nor about the one that was and is healthy.
#[rstest]
#[case::another_card(Subject::Card("0000:f2:00".to_owned()))]
#[case::another_device(port("mlx5_41", "1"))]
#[case::another_port(port("mlx5_40", "2"))]
#[case::the_card(Subject::Card("0000:f1:00".to_owned()))]
#[case::its_port(port("mlx5_40", "1"))]
fn an_alarm_about_a_card_that_was_added_or_never_was_has_no_cause(#[case] subject: Subject) {
    let case = &*crate::keys::ADDED;
    let rows = "hot_added: { after: 0 polls }, card: usual";
    let right = pages(case, |_, port, _| Some(by_state(port)));
    check(case, &right, rows, &[]);
    let mut recording = right.clone();
    for tick in recording.ticks.iter_mut().skip(15) {
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            for call in &mut Arc::make_mut(monitor).calls {
                call.observations.retain(|it| it.subject != subject);
                call.observations.push(Observation {
                    subject: subject.clone(),
                    severity: Severity::Fatal,
                    ..Observation::default()
                });
            }
        }
    }
    let told = kinds(&found(case, &recording, &template(rows)));
    assert!(told.contains(&FindingKind::Unexpected), "{told:?}");
}

static A100_CASE: LazyLock<Case> = LazyLock::new(|| Case::played_on("dgx-a100", CUT));

fn port(device: &str, port: &str) -> Subject {
    Subject::Port {
        device: device.to_owned(),
        port: port.to_owned(),
    }
}

/// What is promised nonfatal is fatal in the page from poll 10, or from poll 41 on: unhealthy since poll 10, so poll 41 is
/// the first in which that is longer than the 30 s of decision 2.
#[rstest]
#[case::as_promised(u64::MAX, "", &[])]
#[case::at_once(10, "", &[FindingKind::Unexpected])]
#[case::later(20, "", &[FindingKind::Unexpected])]
#[case::for_long(41, "", &[])]
#[case::for_long_by_a_row(41, "persists: usual", &[])]
#[case::for_long_although_silent(41, "persists: silent", &[FindingKind::Unexpected])]
#[case::promised_fatal(10, "init: { verdict: fatal }", &[])]
fn a_page_is_no_more_severe_than_its_row(
    #[case] fatal_from: u64,
    #[case] rows: &str,
    #[case] findings: &[FindingKind],
) {
    let case = &*STUCK_CASE;
    let recording = pages(case, |_, port, at| {
        let is_fatal = at >= fatal_from && port.state == PortState::INIT;
        Some(match is_fatal {
            true => Severity::Fatal,
            false => by_state(port),
        })
    });
    check(case, &recording, rows, findings);
    let found = found(case, &recording, &template(rows));
    for finding in &found {
        let cause = finding.cause.to_string();
        assert!(cause.starts_with("unexpected.fatal.port"), "{cause}");
        let wanted = &finding.expected[0];
        assert!(wanted.ends_with("is nonfatal at most"), "{wanted}");
    }
}

/// The severity of each state is judged in both directions.
#[test]
fn a_dark_port_that_is_promised_nonfatal_is_not_fatal() {
    let nonfatal = "polling: { verdict: nonfatal }, training: { verdict: nonfatal }, down: { verdict: nonfatal }";
    let case = &*CUT_CASE;
    let fatal = pages(case, |_, port, _| Some(by_state(port)));
    check(case, &fatal, nonfatal, &[FindingKind::Unexpected]);
    let mild = pages(case, |_, port, _| {
        Some(by_state(port).max(Severity::NonFatal))
    });
    check(case, &mild, nonfatal, &[]);
    check(case, &mild, "", &[FindingKind::Missing]);
}

/// A port on its way up from a fault that nothing is promised about is no fault of its own.
#[test]
fn what_goes_on_from_a_fault_without_a_row_is_not_judged() {
    let case = &*DISABLED_CASE;
    let mild = pages(case, |_, port, _| {
        Some(by_state(port).max(Severity::NonFatal))
    });
    check(case, &mild, "", &[]);
    check(
        case,
        &mild,
        "disabled: { verdict: fatal }",
        &[FindingKind::Missing],
    );
    // From INIT it comes up through ARMED.
    let case = &*STUCK_CASE;
    let silent = pages(case, |_, port, _| {
        Some(match by_state(port) {
            Severity::NonFatal => Severity::Healthy,
            other => other,
        })
    });
    let mut descriptor = template("");
    descriptor
        .promises
        .rows
        .remove(&Kind::parse("init").expect("a kind"));
    assert_eq!(found(case, &silent, &descriptor), []);
}

/// A port that fails twice: by a fault with a row, and by one without.
const TWICE: &str = "
scenario: the cable of a port is pulled, and later the port is disabled
why: an example
platforms: all
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 10s
    do: [ { cut: victim } ]
    expect: [ { fatal: victim } ]
  - at: 20s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 3 polls } ]
  - at: 30s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim } ]
  - at: 40s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 3 polls } ]
until: 50s
";

/// The law that what was raised is taken back holds beside alarms that are owed.
#[test]
fn an_alarm_about_a_fault_without_a_row_is_over_in_the_end() {
    let case = Case::played(TWICE);
    let right = pages(&case, |_, port, _| Some(by_state(port)));
    check(&case, &right, "", &[]);
    let node = &case.story.monitors[0];
    let views = &case.truth.ticks[35].nodes[node].views;
    let mut functions = views.0.values();
    let is_dark = |port: &PortView| port.state == PortState::DOWN;
    let victim = functions.find(|it| it.monitored && it.ports.values().any(is_dark));
    let victim = victim.expect("a port is disabled").name.clone();
    let stays = pages(&case, |name, port, at| {
        Some(match name == victim.as_str() && at >= 30 {
            true => Severity::Fatal,
            false => by_state(port),
        })
    });
    let found = found(&case, &stays, &template(""));
    let outstanding = BTreeSet::from([FindingKind::Outstanding]);
    assert_eq!(kinds(&found), outstanding, "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

const NAMES: [&str; 4] = [
    "",
    "rename: usual",
    "rename: silent",
    "rename: { known_by: name }",
];

/// docs/decisions.md, 9: at poll 110 the name belongs to another device, which is healthy.
#[test]
fn an_alarm_by_name_is_about_the_device_that_has_the_name_then() {
    let case = &*SWAPPED_CASE;
    let right = pages(case, |_, port, _| Some(by_state(port)));
    for rename in NAMES {
        check(case, &right, rename, &[]);
        let rows = "disabled: { verdict: fatal }, reboot: usual";
        let rows = match rename {
            "" => rows.to_owned(),
            rename => format!("{rows}, {rename}"),
        };
        check(case, &right, &rows, &[]);
    }
    // The old alarm is about the healthy bearer of the name then.
    let stale = pages(case, |name, port, at| {
        Some(match name {
            "mlx5_3" if at >= 5 => Severity::Fatal,
            _ => by_state(port),
        })
    });
    let rows = "disabled: { verdict: fatal }, reboot: usual, rename: usual";
    let told = found(case, &stale, &template(rows));
    assert!(kinds(&told).contains(&FindingKind::Unexpected), "{told:#?}");
    // One that the old bearer never had is told where it begins.
    let invented = pages(case, |name, port, at| {
        Some(match name {
            "mlx5_5" if (5..110).contains(&at) => Severity::Fatal,
            _ => by_state(port),
        })
    });
    check(case, &invented, "", &[FindingKind::Unexpected]);
}

/// A page that says nothing of a port that is missing, or cannot be read, leaves what it said.
#[rstest]
#[case::a_missing_port(&DARK_CASE, "gone_port", 0..0)]
#[case::an_unreadable_port(&UNREADABLE_CASE, "unreadable", 10..50)]
fn an_alarm_may_stay_over_a_fault_that_is_silent(
    #[case] case: &Case,
    #[case] kind: &str,
    #[case] unread: std::ops::Range<u64>,
) {
    let recording = pages(case, |_, port, at| {
        let is_unread = unread.contains(&at) && port.state != PortState::ACTIVE;
        (!is_unread).then(|| by_state(port))
    });
    let rows = "disabled: { verdict: fatal }";
    check(case, &recording, rows, &[]);
    check(case, &recording, &format!("{rows}, {kind}: silent"), &[]);
}

/// A silent row owes no more than none: what is right without a row can be wrong with it only by saying something.
#[test]
fn a_silent_row_owes_nothing() {
    let cases: [&Case; 7] = [
        &STUCK_CASE,
        &DISABLED_CASE,
        &DARK_CASE,
        &CUT_CASE,
        &GONE_CASE,
        &SWAPPED_CASE,
        &RENAMED_CASE,
    ];
    let mut judged = 0;
    for case in cases {
        let recording = pages(case, |_, port, _| Some(by_state(port)));
        let mild = pages(case, |_, port, _| {
            Some(by_state(port).max(Severity::NonFatal))
        });
        for (word, ..) in Kind::words() {
            let kind = Kind::parse(word).expect("it is of the table");
            for recording in [&recording, &mild] {
                let mut descriptor = template("");
                descriptor.promises.rows.remove(&kind);
                if !found(case, recording, &descriptor).is_empty() {
                    continue;
                }
                descriptor.promises.rows.insert(kind.clone(), Row::Silent);
                let found = found(case, recording, &descriptor);
                let owes = found
                    .iter()
                    .find(|finding| finding.kind != FindingKind::Unexpected);
                assert_eq!(owes, None, "{word}: {found:#?}");
                judged += 1;
            }
        }
    }
    assert!(judged > 100, "{judged}");
}

/// `joint/power-policy-on-all-cards`, as the reference monitor plays it.
fn without_power() -> Case {
    let scenario = of_suite("joint/power-policy-on-all-cards");
    let mut worlds = suite::worlds().into_iter().map(|(file, text)| {
        World::read(file, text).unwrap_or_else(|error| panic!("{file}: {error}"))
    });
    let world = worlds.find(|world| Some(world.name()) == scenario.world());
    let rest = AtRest::of_world(&world.expect("it is in the suite"), &Platforms::shipped());
    let rest = rest.unwrap_or_else(|error| panic!("{error}"));
    let story = scenario
        .at_rest(&rest)
        .unwrap_or_else(|unfit| panic!("{unfit}"));
    Case::of(story)
}

/// By the documents no card is below its peers, and nothing is said; the workload fails. A monitor that reports a port
/// without comparing cards agrees with the workload, which is better.
#[test]
fn a_monitor_may_agree_with_a_workload_that_the_documents_monitor_misses() {
    let case = without_power();
    let recording = pages(&case, |_, port, _| Some(by_state(port)));
    let judges_it = |descriptor: &Descriptor| {
        let found = found(&case, &recording, descriptor);
        let mut of_verdict = found.into_iter();
        of_verdict.any(|finding| finding.cause.kind == CauseKind::Verdict)
    };
    assert!(judges_it(&promising("{}")));
    assert!(!judges_it(&template("disabled: { verdict: fatal }")));
    assert!(!judges_it(&promising(
        "rows: { first_poll: { after: 0 polls } }"
    )));
}
