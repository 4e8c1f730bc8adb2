//! A monitor that states what is waits for ports on their way up as its rows say, where it sees them for the first time.

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many promises that judge it"
)]

use std::{collections::BTreeSet, sync::LazyLock};

use reports::FindingKind::{self, Missing, Unexpected};
use rstest::rstest;
use terms::Severity;

use crate::level::{by_state, found, kinds, pages, template};
use crate::promises::Case;

/// A cable is out when the monitor starts, and is plugged in within the documents' patience (docs/decisions.md, 3).
const SHORT: &str = "
scenario: a cable is out when the monitor starts
why: an example
platforms: all
let: { victim: { role: compute, layer: infiniband, nth: 1 } }
given: [ { cut: victim } ]
timeline:
  - at: 0s
    expect: [ { nothing: victim, from: 0s, to: 5s } ]
  - at: 5s
    do: [ { mend: victim } ]
until: 20s
";

/// The same after a reboot, as `fit/reboot.after` asks.
const LOOSE: &str = "
scenario: a cable comes loose while the host is down
why: an example
platforms: all
let: { victim: { role: compute, layer: infiniband, nth: 3 } }
timeline:
  - at: 3990ms
    do: [ { reboot: { takes: 20s } }, { cut: victim } ]
  - at: 60s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 2 polls } ]
until: 66s
";

/// The same of a card that is added without a cable.
const ADDED: &str = "
scenario: a card is added without a cable
why: an example
platforms: all
let: { model: { role: compute, layer: infiniband, nth: 1 } }
timeline:
  - at: 4s
    do: [ { hot_add: device of model, pci: \"0000:f1:00.0\", name: mlx5_40, cabled: false } ]
  - at: 36s
    expect: [ { fatal: { name: mlx5_40, port: 1 }, within: 2 polls } ]
until: 46s
heal: never
because: the new card has no cable that healing could mend
";

static SHORT_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(SHORT));
static LONG_CASE: LazyLock<Case> = LazyLock::new(|| {
    let later = SHORT.replace("at: 5s", "at: 50s");
    Case::played(&later.replace("until: 20s", "until: 60s"))
});
/// The port trains from poll 20 on, and is up after the patience.
static TRAINING_CASE: LazyLock<Case> = LazyLock::new(|| {
    let set = |state: &str, phys_state: &str| {
        format!("{{ set: victim, state: {state}, phys_state: {phys_state} }}")
    };
    let trains = format!(
        "  - at: 20s\n    do: [ {} ]\n  - at: 50s\n    do: [ {} ]",
        set("DOWN", "PortConfigurationTraining"),
        set("ACTIVE", "LinkUp")
    );
    let text = SHORT.replace("{ cut: victim }", &set("DOWN", "Polling"));
    let text = text.replace("  - at: 5s\n    do: [ { mend: victim } ]", &trains);
    Case::played(&text.replace("until: 20s", "until: 60s"))
});
static LOOSE_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(LOOSE));
static ADDED_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(ADDED));

/// A monitor that says from a tick on what it reads of a port, and that it is healthy before.
#[track_caller]
fn check(case: &Case, says_from: u64, rows: &str, findings: &[FindingKind]) {
    let recording = pages(case, |_, port, at| {
        Some(match at < says_from {
            true => Severity::Healthy,
            false => by_state(port),
        })
    });
    let found = found(case, &recording, &template(rows));
    let expected: BTreeSet<FindingKind> = findings.iter().copied().collect();
    assert_eq!(
        kinds(&found),
        expected,
        "{rows}, from poll {says_from}: {found:#?}"
    );
}

#[rstest]
#[case::usual("first_poll: usual", 0, &[Unexpected])]
#[case::by_a_row("first_poll: { after: 30s }", 0, &[Unexpected])]
#[case::in_polls("first_poll: { after: 30 polls }", 0, &[Unexpected])]
#[case::it_waits("first_poll: { after: 30s }", 31, &[])]
#[case::at_once("first_poll: { after: 0 polls }", 0, &[])]
#[case::it_should_not_wait("first_poll: { after: 0 polls }", 31, &[Missing])]
fn a_first_poll_waits_for_ports_on_their_way_up(
    #[case] rows: &str,
    #[case] says_from: u64,
    #[case] findings: &[FindingKind],
) {
    check(&SHORT_CASE, says_from, rows, findings);
}

/// It is over after 30 s, and the fault is owed then.
#[rstest]
#[case::then("first_poll: { after: 30s }", 31, &[])]
#[case::before("first_poll: { after: 30s }", 25, &[Unexpected])]
#[case::never("first_poll: { after: 30s }", 60, &[Missing])]
#[case::less("first_poll: { after: 10 polls }", 11, &[])]
#[case::more_than_less("first_poll: { after: 10 polls }", 31, &[Missing])]
fn a_port_that_stays_dark_is_owed_after_the_patience(
    #[case] rows: &str,
    #[case] says_from: u64,
    #[case] findings: &[FindingKind],
) {
    check(&LONG_CASE, says_from, rows, findings);
}

/// From dark to training is no new fault: the patience counts from the first poll.
#[rstest]
#[case::with_the_patience(31, &[])]
#[case::with_the_training(21, &[Unexpected])]
fn the_patience_goes_on_over_the_states_of_a_way_up(
    #[case] says_from: u64,
    #[case] findings: &[FindingKind],
) {
    let rows = "first_poll: { after: 30s }";
    check(&TRAINING_CASE, says_from, rows, findings);
}

/// The first poll after the boot is poll 24.
#[rstest]
#[case::usual("reboot: usual", 0, &[Unexpected])]
#[case::it_waits("reboot: usual", 55, &[])]
#[case::at_once("reboot: { after: 0 polls }", 0, &[])]
#[case::it_should_not_wait("reboot: { after: 0 polls }", 55, &[Missing])]
#[case::nothing_is_promised("", 0, &[])]
#[case::nothing_is_promised_of_one_that_waits("", 55, &[])]
fn a_first_poll_after_a_reboot_waits_as_its_row_says(
    #[case] rows: &str,
    #[case] says_from: u64,
    #[case] findings: &[FindingKind],
) {
    check(&LOOSE_CASE, says_from, rows, findings);
}

#[rstest]
#[case::usual("hot_added: usual", 0, &[Unexpected])]
#[case::it_waits("hot_added: usual", 36, &[])]
#[case::at_once("hot_added: { after: 0 polls }", 0, &[])]
#[case::it_should_not_wait("hot_added: { after: 0 polls }", 36, &[Missing])]
fn a_device_that_is_added_is_waited_for_as_its_row_says(
    #[case] rows: &str,
    #[case] says_from: u64,
    #[case] findings: &[FindingKind],
) {
    check(&ADDED_CASE, says_from, rows, findings);
}

/// The host reboots within the patience of the first poll: the first poll after the boot is poll 20.
#[rstest]
#[case::from_the_boot_on(51, &[])]
#[case::from_the_first_poll_on(31, &[Unexpected])]
fn a_patience_that_a_reboot_breaks_off_begins_anew(
    #[case] says_from: u64,
    #[case] findings: &[FindingKind],
) {
    let reboots = "  - at: 9990ms\n    do: [ { reboot: { takes: 10s } } ]\n  - at: 60s";
    let text = SHORT.replace("  - at: 5s", reboots);
    let case = Case::played(&text.replace("until: 20s", "until: 70s"));
    check(
        &case,
        says_from,
        "first_poll: usual, reboot: usual",
        findings,
    );
}

/// What does not pass by itself is reported at once.
#[test]
fn a_first_poll_does_not_wait_for_a_port_that_is_disabled() {
    let case = Case::played(&SHORT.replace("cut: victim", "disable: victim"));
    let rows = "first_poll: usual, disabled: { verdict: fatal }";
    check(&case, 0, rows, &[]);
    check(&case, 31, rows, &[Missing]);
}

/// A port is stuck in INIT, and the documents' row of what persists is fatal.
const STUCK: &str = "
scenario: a port is stuck in INIT
why: an example
platforms: all
let: { victim: { role: compute, layer: infiniband, nth: 1 } }
timeline:
  - at: 10s
    do: [ { set: victim, state: INIT, phys_state: LinkUp } ]
    expect: [ { nonfatal: victim }, { fatal: victim, from: 40s, to: 44s } ]
  - at: 60s
    do: [ { set: victim, state: ACTIVE, phys_state: LinkUp } ]
    expect: [ { healthy: victim, within: 2 polls } ]
until: 70s
";

/// It is nonfatal at once, and fatal from a poll on.
#[rstest]
#[case::in_time("persists: { after: 10 polls }", 20, &[])]
#[case::late_within_its_time("persists: { after: 10 polls, within: 9 polls }", 28, &[])]
#[case::too_late("persists: { after: 10 polls }", 40, &[Missing])]
#[case::never("persists: { after: 10 polls }", 99, &[Missing])]
#[case::too_early("persists: { after: 10 polls }", 15, &[Unexpected])]
#[case::as_the_documents_ask("persists: usual", 40, &[])]
#[case::never_as_they_ask("persists: usual", 99, &[Missing])]
#[case::silent("persists: silent", 99, &[])]
fn an_alarm_becomes_as_severe_as_the_row_of_what_persists(
    #[case] row: &str,
    #[case] fatal_from: u64,
    #[case] findings: &[FindingKind],
) {
    static STUCK_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(STUCK));
    let recording = pages(&STUCK_CASE, |_, port, at| {
        Some(match by_state(port) {
            Severity::NonFatal if at >= fatal_from => Severity::Fatal,
            severity => severity,
        })
    });
    let rows = format!("init: {{ verdict: nonfatal }}, {row}");
    let found = found(&STUCK_CASE, &recording, &template(&rows));
    let expected: BTreeSet<FindingKind> = findings.iter().copied().collect();
    assert_eq!(kinds(&found), expected, "{row}: {found:#?}");
}
