//! Every key of a row decides in some drill: of two values of it one is right about the same recording, and the other is not.
//! The keys are those that docs/monitor.md lists. Start at [`decisions`].

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many promises that judge it"
)]

use std::{collections::BTreeSet, sync::LazyLock};

use judge::judge;
use platforms::{NodeName, Platforms};

use crate::keys::{ADDED, AWAY, Otherwise, RETURNS, SAME_BOOT, UNSAID, recorded, told};
use crate::promises::{CUT_CASE, Case, of_suite, promising};
use crate::rebooted::BROKEN_CASE;

/// A file is garbled for a while.
static GARBLED: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { read: victim/state, content: \"garbage\\n\", for: 5s } ]
    expect: [ { nothing: victim, from: 5s, to: 15s } ]
until: 15s
";
    told("dgx-h100", text)
});

/// A healthy device gets another name.
static RENAMED: LazyLock<Case> = LazyLock::new(|| {
    let text = "
let: { victim: { role: compute, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { rename: device of victim, to: mlx5_77 } ]
until: 10s
heal: never
because: the name stays
";
    told("dgx-h100", text)
});

/// The class folder is away while the driver is loaded again.
static RELOADED: LazyLock<Case> = LazyLock::new(|| {
    let scenario = of_suite("device/driver-reload-with-names-swapped");
    let platforms = Platforms::shipped();
    let mut platforms = platforms.iter().map(|(_, platform)| platform);
    let node = NodeName::from("node-a");
    let story = platforms.find_map(|platform| scenario.in_world(&node, platform).ok());
    Case::of(story.expect("it applies to a platform"))
});

/// A recording that a value of a key describes, and another value does not.
struct Decision {
    key: &'static str,
    case: &'static LazyLock<Case>,
    how: Otherwise,
    right: &'static str,
    wrong: &'static str,
}

fn decisions() -> Vec<Decision> {
    use Otherwise::{Moved, Same, SilentIn};
    let of = |key, case, how, right, wrong| Decision {
        key,
        case,
        how,
        right,
        wrong,
    };
    let cut = &CUT_CASE;
    vec![
        of(
            "verdict",
            cut,
            Same,
            "polling: { verdict: fatal }",
            "polling: { verdict: nonfatal }",
        ),
        of(
            "subject",
            cut,
            Same,
            "polling: { subject: port }",
            "polling: { subject: device }",
        ),
        of(
            "after",
            cut,
            Same,
            "polling: { after: 0 polls }",
            "polling: { after: 3 polls }",
        ),
        of(
            "within",
            cut,
            Moved(10, 13),
            "polling: { after: 1 poll, within: 2 polls }",
            "polling: { after: 1 poll, within: 0 polls }",
        ),
        of(
            "clears",
            cut,
            SilentIn(20, 25),
            "polling: { clears: by_operator }",
            "polling: { clears: healed }",
        ),
        of(
            "when",
            cut,
            Same,
            "card: { when: first_poll }",
            "card: { when: every_poll }",
        ),
        of(
            "restates",
            &BROKEN_CASE,
            Same,
            "reboot: { restates: all }",
            "reboot: { restates: nothing }",
        ),
        of(
            "ports",
            &RETURNS,
            Same,
            "gone_device: { ports: silent }",
            "gone_device: { ports: reported }",
        ),
        of(
            "back",
            &RETURNS,
            Same,
            "gone_device: { back: whole }",
            "gone_device: { back: any_port }",
        ),
        of(
            "class_folder",
            &RELOADED,
            Same,
            "gone_device: { class_folder: reported }",
            "gone_device: { class_folder: silent }",
        ),
        of(
            "garbled",
            &GARBLED,
            Same,
            "odd_state: { garbled: unreadable }",
            "odd_state: { garbled: state }",
        ),
        of(
            "unreadable",
            &SAME_BOOT,
            Same,
            "reboot: { unreadable: waits }",
            "reboot: { unreadable: missing }",
        ),
        of(
            "known_by",
            &RENAMED,
            Same,
            "rename: { known_by: place }",
            "rename: { known_by: name }",
        ),
        of(
            "healthy",
            &ADDED,
            Same,
            "hot_added: { healthy: reported }",
            "hot_added: { healthy: silent }",
        ),
        of(
            "over_restart",
            &AWAY,
            Moved(20, 25),
            "counter.link_downed: { over_restart: last_written }",
            "counter.link_downed: { over_restart: last_read }",
        ),
        of(
            "infiniband",
            cut,
            Same,
            "polling: { infiniband: { verdict: fatal } }",
            "polling: { infiniband: { verdict: nonfatal } }",
        ),
        of(
            "ethernet",
            &UNSAID,
            Same,
            "init: { ethernet: silent }",
            "init: { ethernet: { verdict: nonfatal } }",
        ),
    ]
}

/// What decides which stories apply, and nothing about what came in them (`harness`, `descriptors`).
const OF_STORIES: [&str; 1] = ["levels"];

#[test]
fn each_key_of_a_row_decides_about_a_recording() {
    for Decision {
        key,
        case,
        how,
        right,
        wrong,
    } in decisions()
    {
        let case: &Case = case;
        let recording = recorded(case, how);
        let found = |row: &str| {
            let descriptor = promising(&format!("rows: {{ {row} }}"));
            judge(&case.story, &case.truth, &recording, &descriptor).findings
        };
        assert_eq!(found(right), [], "{key}: {right}");
        assert_ne!(found(wrong), [], "{key}: {wrong}");
    }
}

#[test]
fn each_key_of_a_row_that_is_documented_has_a_decision() {
    let page = include_str!("../../../docs/monitor.md");
    let table = page.split("<!-- row -->").nth(1).expect("it has the table");
    let table = table.split("<!-- /row -->").next().unwrap_or_default();
    let first = |line: &'static str| line.strip_prefix("| `")?.split(" | ").next();
    let words = table.lines().filter_map(first);
    let documented: BTreeSet<&str> = words
        .flat_map(|words| words.split('`').step_by(2))
        .filter(|word| !word.is_empty())
        .collect();
    assert!(documented.contains("verdict") && documented.contains("ethernet"));
    let decided = decisions().into_iter().map(|of| of.key);
    let decided: BTreeSet<&str> = decided.chain(OF_STORIES).collect();
    assert_eq!(documented, decided);
}
