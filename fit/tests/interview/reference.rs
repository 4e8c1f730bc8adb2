//! The interview of the reference monitor, and of monitors that are wrong on purpose, played in memory.

use fit::{Fitted, Mark, Wiring, page};
use memory::Variant;
use observe::{
    Descriptor,
    promises::{Clears, Kind, LostPublish, Named, Row, Scope, Style},
};
use terms::Severity;

use crate::played::{found, played, reference, shown};

fn interviewed(wrong: Option<Variant>) -> Fitted {
    interviewed_as(&reference(), wrong)
}

/// What is found where the descriptor that the interview begins with states something already.
fn interviewed_as(descriptor: &Descriptor, wrong: Option<Variant>) -> Fitted {
    found(descriptor, &played(wrong, |_| true))
}

#[test]
fn the_reference_monitor_is_found_to_promise_its_own_rows() {
    let fitted = interviewed(None);
    assert!(fitted.suspects.is_empty(), "{}", shown(&fitted));
    let none: [String; 0] = [];
    assert_eq!(fitted.untold, none);
    for (kind, row) in &reference().promises.rows {
        let found = fitted.rows.get(kind);
        let found = found.unwrap_or_else(|| panic!("{kind} was not asked about"));
        assert_eq!(found.row.as_ref(), Some(row), "{kind}: {}", shown(&fitted));
        assert_eq!(found.mark, Mark::Observed, "{kind}: {}", shown(&fitted));
    }
    let own = reference().promises;
    assert_eq!(fitted.promises.wire, own.wire);
    assert_eq!(fitted.promises.style, own.style);
    assert_eq!(fitted.promises.granularity, own.granularity);
    assert_eq!(fitted.promises.lost_publish, own.lost_publish);
}

/// What is found about a wrong monitor of the zoo.
fn wrong(name: &str) -> Fitted {
    let mutant = zoo::find(name).unwrap_or_else(|| panic!("there is no `{name}`"));
    interviewed(Some(mutant.variant))
}

#[track_caller]
fn check_suspect(name: &str, kind: &str, id: &str) {
    let fitted = wrong(name);
    let found = fitted.rows.get(&Kind::parse(kind).expect("it is a kind"));
    let mark = found.map(|row| row.mark);
    assert_eq!(mark, Some(Mark::Suspect), "{name}: {}", shown(&fitted));
    let is_listed = fitted.suspects.iter().any(|it| it.id.starts_with(id));
    assert!(is_listed, "{name}: {}", shown(&fitted));
}

#[test]
fn an_event_that_is_lost_with_a_refused_call_is_suspect_and_no_promise() {
    check_suspect("loses-on-failed-publish", "connector", "connector/*#");
    let promised = wrong("loses-on-failed-publish").promises.lost_publish;
    assert_eq!(promised, Some(LostPublish::Kept));
}

#[test]
fn a_fault_that_is_never_taken_back_is_suspect_and_no_promise() {
    check_suspect("never-back", "gone_device", "device/*#");
    let promised = wrong("never-back").promises;
    let row = promised.row(&Named::GoneDevice.into(), None);
    assert!(matches!(row, Some(Row::Says(says)) if says.clears == Some(Clears::Healed(None))));
}

#[test]
fn a_fatal_event_for_an_unreadable_file_is_suspect_and_no_promise() {
    check_suspect("fatal-on-unreadable", "unreadable", "read/*#");
    let promised = wrong("fatal-on-unreadable").promises;
    let row = promised.row(&Named::Unreadable.into(), None);
    assert_eq!(row, Some(Row::Silent));
}

#[test]
fn what_the_documents_ask_for_and_does_not_come_is_a_weaker_promise() {
    let fitted = wrong("never-escalates");
    let found = &fitted.rows[&Named::Persists.into()];
    assert_eq!(found.row, Some(Row::Silent), "{}", shown(&fitted));
    assert_eq!(found.mark, Mark::Weaker, "{}", shown(&fitted));
}

#[test]
fn a_row_has_the_verdict_of_each_layer() {
    let fitted = wrong("polling-is-non-fatal");
    let promised = |layer| match fitted.promises.row(&Named::Polling.into(), Some(layer)) {
        Some(Row::Says(says)) => says.verdict,
        _ => None,
    };
    let layers = [terms::LinkLayer::InfiniBand, terms::LinkLayer::Ethernet];
    let verdicts = [Some(Severity::NonFatal), Some(Severity::Fatal)];
    assert_eq!(layers.map(promised), verdicts, "{}", shown(&fitted));
}

#[test]
fn a_style_that_states_what_is_and_vendors_are_kept() {
    let mut descriptor = reference();
    descriptor.promises.style = Some(Style::Level);
    descriptor.promises.scope = Some(Scope {
        vendors: Some([0x15b3].into()),
        ..Scope::default()
    });
    let found = interviewed_as(&descriptor, None).promises;
    assert_eq!(found.style, Some(Style::Level));
    let vendors = found.scope.and_then(|scope| scope.vendors);
    assert_eq!(vendors, Some([0x15b3].into()));
}

#[test]
fn the_same_monitor_gives_the_same_bytes_and_they_are_read_as_what_was_found() {
    let wiring = Wiring {
        descriptor: reference(),
        lines: Vec::new(),
    };
    let head = "descriptor_version: 1\nname: m\ncommand: [m]";
    let written = |fitted: &Fitted| page(head, &wiring, fitted);
    for name in ["polling-is-non-fatal", "fatal-on-unreadable"] {
        let fitted = wrong(name);
        let text = written(&fitted);
        assert_eq!(text, written(&wrong(name)));
        let read: Descriptor =
            files::yaml::read("m.yaml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read.problems(), []);
        assert_eq!(read.promises, fitted.promises, "{text}");
    }
}
