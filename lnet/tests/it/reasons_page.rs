//! docs/lnet.md lists every reason that a page of `lnet show` can print.

use std::collections::BTreeSet;

use lnet::{
    Answer, Criterion, LnetProfile, Loss, MsgStatus, NoPath, NoResend, PassedOver, Request, Verb,
};

use crate::stage;

const PAGE: &str = include_str!("../../../docs/lnet.md");

/// What stands in the page for a number or a status.
const VARIES: &str = "…";

/// Each reason for which something is passed over. A new one does not compile until it is here.
fn passed_over() -> Vec<String> {
    let others = [
        PassedOver::NoPath,
        PassedOver::SourceGiven,
        PassedOver::OneSource,
        PassedOver::BothGiven,
        PassedOver::Fixed,
        PassedOver::OtherNet,
        PassedOver::Fatal,
        PassedOver::AllFatal,
        PassedOver::Used,
        PassedOver::RouteDown,
        PassedOver::NotNear,
    ];
    let criteria = Criterion::OF_INTERFACES
        .into_iter()
        .chain(Criterion::OF_ROUTES);
    let all: Vec<PassedOver> = others
        .into_iter()
        .chain(criteria.map(PassedOver::Loses))
        .collect();
    for why in &all {
        match why {
            PassedOver::NoPath
            | PassedOver::SourceGiven
            | PassedOver::OneSource
            | PassedOver::BothGiven
            | PassedOver::Fixed
            | PassedOver::OtherNet
            | PassedOver::Fatal
            | PassedOver::AllFatal
            | PassedOver::Used
            | PassedOver::RouteDown
            | PassedOver::NotNear
            | PassedOver::Loses(
                Criterion::Health
                | Criterion::Priority
                | Criterion::DevicePriority
                | Criterion::NumaDistance
                | Criterion::Credits
                | Criterion::Sequence
                | Criterion::Order
                | Criterion::Hops
                | Criterion::QueuedBytes,
            ) => {}
        }
    }
    all.iter().map(ToString::to_string).collect()
}

/// Each reason for which there is no path, likewise.
fn no_path() -> Vec<String> {
    let all = [
        NoPath::UnknownPeer,
        NoPath::NoRoute,
        NoPath::RoutesDown,
        NoPath::NoRouteFromSource,
        NoPath::NoPeerNi,
        NoPath::NotOwn,
        NoPath::SourceFatal,
        NoPath::AllFatal,
        NoPath::PreferredUnusable,
        NoPath::PeerAtZero,
    ];
    for why in &all {
        match why {
            NoPath::UnknownPeer
            | NoPath::NoRoute
            | NoPath::RoutesDown
            | NoPath::NoRouteFromSource
            | NoPath::NoPeerNi
            | NoPath::NotOwn
            | NoPath::SourceFatal
            | NoPath::AllFatal
            | NoPath::PreferredUnusable
            | NoPath::PeerAtZero => {}
        }
    }
    all.iter().map(ToString::to_string).collect()
}

/// Each reason for which a message is not resent, or is lost, likewise.
fn of_messages() -> Vec<String> {
    let not_resent = [
        NoResend::Deadline,
        NoResend::Status(MsgStatus::NetworkTimeout),
        NoResend::OneLocalNi,
        NoResend::OnePeerNi,
        NoResend::RecoveryPing,
        NoResend::RetriesUsed(5),
        NoResend::Unanswered,
    ];
    let lost = [
        Loss::Rule,
        Loss::Late,
        Loss::Asymmetric,
        Loss::NoRequest,
        Loss::NotForwarded,
        Loss::DeadHop,
    ];
    for why in &not_resent {
        match why {
            NoResend::Deadline
            | NoResend::Status(_)
            | NoResend::OneLocalNi
            | NoResend::OnePeerNi
            | NoResend::RecoveryPing
            | NoResend::RetriesUsed(_)
            | NoResend::Unanswered => {}
        }
    }
    for why in &lost {
        match why {
            Loss::Rule
            | Loss::Late
            | Loss::Asymmetric
            | Loss::NoRequest
            | Loss::NotForwarded
            | Loss::DeadHop => {}
        }
    }
    let status = MsgStatus::NetworkTimeout.to_string();
    let varied = |text: String| text.replace(&status, VARIES).replace('5', VARIES);
    let not_resent = not_resent.iter().map(ToString::to_string).map(varied);
    not_resent
        .chain(lost.iter().map(ToString::to_string))
        .collect()
}

/// Why no interface is blamed, as the head of a page says it.
fn of_blame() -> Vec<String> {
    let mut lnet = stage::lnet(stage::specs("sr", LnetProfile::V2_15));
    let ni = stage::nid("b1", "o2ib");
    let request = Request {
        node: stage::name("A"),
        verb: Verb::Put,
        source: None,
        destination: ni.clone(),
        length: 4096,
        portal: 8,
    };
    let message = lnet.send(request).expect("it has a path");
    let answer = Answer {
        first_timer: None,
        unsent: BTreeSet::from([message]),
        at_zero: BTreeSet::from([ni.clone()]),
        lines: Vec::new(),
    };
    let head = answer.to_string();
    let (_, blamed) = head.split_once("blamed: no interface, ").expect("a reason");
    let reasons = blamed
        .trim_end()
        .split(", ")
        .zip([ni.to_string(), format!("message {message}")]);
    let reasons = reasons.map(|(reason, of)| {
        reason
            .strip_prefix(&format!("{of} "))
            .expect("of it")
            .to_owned()
    });
    reasons.collect()
}

#[test]
fn the_page_lists_every_reason_that_is_recorded_and_no_other() {
    let (_, table) = PAGE.split_once("<!-- reasons -->\n").expect("a table");
    let (table, _) = table.split_once("<!-- /reasons -->").expect("its end");
    let rows = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let listed: Vec<&str> = rows.map(|(reason, _)| reason).collect();
    let all = [passed_over(), no_path(), of_messages(), of_blame()].concat();
    let all: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    let known: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(known, all);
    assert_eq!(listed.len(), known.len(), "a reason is listed twice");
}
