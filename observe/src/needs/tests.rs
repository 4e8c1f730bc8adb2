//! Needs: what is refused, and which kind has which need.

use super::*;
use crate::Span;

fn span(text: &str) -> Span {
    Span::parse(text).unwrap()
}

fn needs() -> Needs {
    Needs {
        needs_version: 1,
        title: None,
        granularity: Granularity::Port,
        kinds: [(
            Named::Polling.into(),
            Need {
                noticed: Some(Within(span("60s"))),
                ..Need::default()
            },
        )]
        .into(),
        never_alarms: BTreeMap::new(),
    }
}

#[test]
fn counters_share_what_is_needed_of_all_of_them() {
    let mut needs = needs();
    let counter = |name: &str| Kind::Counter(name.to_owned());
    assert_eq!(needs.need(&counter("link_downed")), None);
    let device = Need {
        granularity: Some(Granularity::Device),
        ..Need::default()
    };
    needs.kinds.insert(counter("*"), device.clone());
    assert_eq!(needs.need(&counter("link_downed")), Some(&device));
    assert_eq!(
        needs.granularity(&counter("link_downed")),
        Granularity::Device
    );
    assert_eq!(needs.granularity(&Named::Polling.into()), Granularity::Port);
    needs.never_alarms.insert(counter("*"), Quiet::Always);
    assert_eq!(needs.quiet(&counter("symbol_error")), Some(Quiet::Always));
    assert_eq!(needs.quiet(&Named::Reboot.into()), None);
}

#[track_caller]
fn check(change: impl FnOnce(&mut Needs), keys: &[&str], what: &str) {
    let mut needs = needs();
    assert_eq!(needs.problems(), []);
    change(&mut needs);
    let problem = needs.problems().into_iter().next();
    let problem = problem.expect("it is refused");
    assert_eq!(problem.keys, keys);
    assert!(problem.what.contains(what), "{problem:?}");
}

#[test]
fn needs_that_cannot_be_are_refused_with_their_keys() {
    let need = |needs: &Needs| needs.kinds[&Named::Polling.into()].clone();
    check(
        |needs| needs.needs_version = 2,
        &["needs_version"],
        "another version",
    );
    check(
        |needs| needs.kinds.clear(),
        &["needs_version"],
        "nothing is needed",
    );
    check(
        |needs| {
            let need = need(needs);
            needs.kinds.insert(Named::Reboot.into(), need);
        },
        &["kinds", "reboot"],
        "`reboot` is an episode",
    );
    check(
        |needs| {
            let need = need(needs);
            needs.kinds.insert(Named::Persists.into(), need);
        },
        &["kinds", "persists"],
        "how a fault is reported",
    );
    check(
        |needs| {
            needs.kinds.insert(Named::Down.into(), Need::default());
        },
        &["kinds", "down"],
        "nothing about `down` is needed",
    );
    check(
        |needs| {
            needs
                .never_alarms
                .insert(Named::Polling.into(), Quiet::Always);
        },
        &["kinds", "polling"],
        "never alarms, and is to be noticed",
    );
}
