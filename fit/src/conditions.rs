//! Rows of conditions: from when on, how badly, and until when a state that lasts is reported. Start at [`fit`].

mod says;

use says::{NEXT_POLL, after, clears, in_polls, subject, verdict, within};

use std::collections::BTreeMap;

use judge::told_by;
use observe::{
    Descriptor,
    promises::{Clears, Kind, Lasting, Meanwhile, Named, Row, Says, documents_row},
};
use platforms::LinkLayer;
use terms::Severity;

use crate::{
    answers::{Answer, answers},
    drill::Drill,
    evidence::{Evidence, Mark},
    fitted::{Fitted, FittedRow},
    layers::both,
    words,
};

/// The conditions that are read off the times at which they stood.
const CONDITIONS: [Named; 14] = [
    Named::Down,
    Named::Disabled,
    Named::Polling,
    Named::Training,
    Named::Init,
    Named::Armed,
    Named::LinkErrorRecovery,
    Named::OddState,
    Named::Slow,
    Named::GonePort,
    Named::GoneDevice,
    Named::Unreadable,
    Named::Hang,
    Named::CharDevice,
];

/// How many polls the longest of the short faults of a drill stands. A fatal report after more is an escalation.
const SHORT: u64 = 3;

/// In how many polls in a row a character device must be missing before the documents ask for a report
/// (docs/decisions.md, 13); their row counts from the last of them.
const CHAR_DEVICE_POLLS: u64 = 3;

/// The file of a port without which some kinds cannot be told.
const PHYS_STATE: &str = "phys_state";

/// Whether the monitor's reads are known, and none is of this file of a port.
fn reads_none(drills: &[Drill<'_>], file: &str) -> bool {
    let ending = format!("/{file}: ");
    let reads = drills.iter().flat_map(|drill| drill.recording.reads());
    let mut reads = reads.peekable();
    reads.peek().is_some() && !reads.any(|line| line.contains(&ending))
}

/// Finds the rows of conditions.
pub(crate) fn fit(descriptor: &Descriptor, drills: &[Drill<'_>], fitted: &mut Fitted) {
    let mut escalations = Vec::new();
    let reads_no_phys_state = reads_none(drills, PHYS_STATE);
    for kind in CONDITIONS.map(Kind::from) {
        let word = kind.to_string();
        let asked = drills.iter().filter(|drill| drill.asks(&word));
        let mut all: Vec<Answer> = asked
            .flat_map(|drill| answers(descriptor, drill, &kind))
            .collect();
        if may_escalate(&kind) {
            for answer in &mut all {
                escalations.extend(escalation(answer).map(|it| (answer.clone(), it)));
            }
        }
        let Some(mut found) = row_of(&kind, &all) else {
            continue;
        };
        let is_told_by_it = told_by(PHYS_STATE)
            .iter()
            .any(|named| kind == (*named).into());
        if reads_no_phys_state && is_told_by_it {
            if all.iter().any(|it| it.report.is_some()) {
                fitted.unfound.push(format!(
                    "{word}: reported without a read of `{PHYS_STATE}`, which alone tells it; without a row it is not judged"
                ));
                continue;
            }
            found.row = Some(Row::Silent);
        }
        fitted.add(kind, found);
    }
    persists(drills, &escalations, fitted);
}

/// Takes out the row of ports that are disabled if the monitor reads no physical state: it was asked about those that are
/// `DOWN` too, and cannot know of others. Until then the row explains what came in the drills that disable ports.
pub(crate) fn leave_out_what_is_unknown(drills: &[Drill<'_>], fitted: &mut Fitted) {
    let kind = Kind::from(Named::Disabled);
    let row = fitted.promises.rows.get(&kind);
    let is_promised = row.is_some_and(|row| *row != Row::Silent);
    if is_promised && reads_none(drills, PHYS_STATE) {
        fitted.promises.rows.remove(&kind);
        fitted.rows.remove(&kind);
        fitted.unfound.push(format!(
            "{kind}: reported of ports that are DOWN, without a read of `{PHYS_STATE}`, which alone tells it of others; without a row it is not judged"
        ));
    }
}

/// The row of a kind by what was said about its faults; `None` if there was none.
fn row_of(kind: &Kind, answers: &[Answer]) -> Option<FittedRow> {
    let mut of_layer: BTreeMap<u8, Vec<&Answer>> = BTreeMap::new();
    for answer in answers {
        let layer = answer.stood.layer?;
        of_layer.entry(layer as u8).or_default().push(answer);
    }
    let found: Vec<(LinkLayer, Learned)> = of_layer
        .into_values()
        .filter_map(|answers| {
            let layer = answers.first()?.stood.layer?;
            Some((layer, learned(kind, layer, &answers)))
        })
        .collect();
    joined(kind, found)
}

/// The rows of both layers as one. What was seen on one layer alone is promised on that one, where the documents ask for
/// another thing on the other.
fn joined(kind: &Kind, found: Vec<(LinkLayer, Learned)>) -> Option<FittedRow> {
    let mark = found.iter().map(|(_, it)| it.mark).max()?;
    let evidence = found.iter().flat_map(|(_, it)| it.evidence.clone());
    let evidence = evidence.collect();
    let described = found.iter().all(|(_, it)| it.row.is_some());
    let row_on = |wanted: LinkLayer| {
        let mut found = found.iter().filter(|(layer, _)| *layer == wanted);
        found.next().and_then(|(_, it)| it.row.clone())
    };
    let row = match (row_on(LinkLayer::InfiniBand), row_on(LinkLayer::Ethernet)) {
        (Some(infiniband), Some(ethernet)) => Some(stated(kind, both(infiniband, ethernet))),
        (one, other) if documents_tell_layers_apart(kind) => one.or(other.clone()).map(|row| {
            let (infiniband, ethernet) = match other {
                None => (Some(row), None),
                Some(_) => (None, Some(row)),
            };
            Row::Says(Box::new(Says {
                infiniband,
                ethernet,
                ..Says::default()
            }))
        }),
        (one, other) => one.or(other),
    };
    Some(FittedRow {
        row: row.filter(|_| described),
        mark,
        evidence,
    })
}

/// A row that is the same on both layers. Where the documents have another one on Ethernet, it must state what it says
/// there: what it leaves out would be theirs.
fn stated(kind: &Kind, row: Row) -> Row {
    match row {
        Row::Says(says)
            if documents_tell_layers_apart(kind)
                && says.infiniband.is_none()
                && says.ethernet.is_none() =>
        {
            let own = Says {
                verdict: says.verdict,
                ..Says::default()
            };
            Row::Says(Box::new(Says {
                ethernet: Some(Row::Says(Box::new(own))),
                ..*says
            }))
        }
        row => row,
    }
}

/// Whether the documents ask for another thing on Ethernet than on InfiniBand.
fn documents_tell_layers_apart(kind: &Kind) -> bool {
    let documents = documents_row(kind);
    documents.on(LinkLayer::InfiniBand) != documents.on(LinkLayer::Ethernet)
}

/// What was learned about a kind on one layer.
struct Learned {
    /// `None` if no row describes it.
    row: Option<Row>,
    mark: Mark,
    evidence: Vec<Evidence>,
}

fn learned(kind: &Kind, layer: LinkLayer, answers: &[&Answer]) -> Learned {
    let documents = documents_row(kind).on(layer);
    let reported: Vec<&&Answer> = answers.iter().filter(|it| it.report.is_some()).collect();
    let evidence = by_drill(answers);
    if reported.is_empty() {
        return silent(kind, &documents, answers, evidence);
    }
    let is_read_error = matches!(kind, Kind::Named(Named::Unreadable | Named::Hang));
    let is_fatal =
        |it: &&&Answer| it.report.as_ref().map(|report| report.verdict) == Some(Severity::Fatal);
    if is_read_error && reported.iter().any(is_fatal) {
        // A read error is no proof of a dead link (docs/decisions.md, 6): no promise.
        return Learned {
            row: Some(Row::Silent),
            mark: Mark::Suspect,
            evidence,
        };
    }
    if documents_distinguish(&documents) && has_silent_case(answers) {
        return Learned {
            row: None,
            mark: Mark::Weaker,
            evidence,
        };
    }
    let asked = match &documents {
        Row::Says(says) => (**says).clone(),
        Row::Silent | Row::Usual => Says::default(),
    };
    let says = Says {
        verdict: verdict(&asked, answers),
        subject: subject(kind, &reported),
        after: Some(after(kind, &asked, &reported)),
        within: within(&reported),
        clears: Some(clears(kind, &reported)),
        ports: (*kind == Named::GoneDevice.into()).then_some(Meanwhile::Silent),
        ..Says::default()
    };
    let never = reported.iter().any(|it| it.is_over && it.clear.is_none());
    let mark = match never {
        true => Mark::Suspect,
        false => compared(&asked, &says),
    };
    Learned {
        row: Some(Row::Says(Box::new(says))),
        mark,
        evidence,
    }
}

/// The row of a kind about which nothing was said.
fn silent(kind: &Kind, documents: &Row, answers: &[&Answer], evidence: Vec<Evidence>) -> Learned {
    let asks_verdict = matches!(documents, Row::Says(says) if says.verdict.is_some());
    let by_case = documents_distinguish(documents);
    let is_asked = asks_verdict || by_case && answers.iter().any(|it| it.stood.tone.is_some());
    let as_documents = by_case && !is_asked;
    Learned {
        row: Some(match as_documents {
            true => documents_row(kind),
            false => Row::Silent,
        }),
        mark: match is_asked {
            true => Mark::Weaker,
            false => Mark::Observed,
        },
        evidence,
    }
}

/// Whether the documents distinguish cases within a kind.
fn documents_distinguish(documents: &Row) -> bool {
    matches!(documents, Row::Says(says) if says.verdict.is_none())
}

/// Whether nothing was said in a case in which the documents ask for an event, although something was in another.
fn has_silent_case(answers: &[&Answer]) -> bool {
    let longest = answers.iter().map(|it| it.lasted()).max();
    let mut long = answers.iter().filter(|it| Some(it.lasted()) == longest);
    long.any(|it| it.stood.tone.is_some() && it.report.is_none())
}

/// Whether it is less than the documents ask.
fn compared(asked: &Says, says: &Says) -> Mark {
    let ticks = |lasting: Option<Lasting>| {
        let second = std::time::Duration::from_secs(1);
        lasting.map_or(0, |lasting| lasting.ticks(second))
    };
    let is_late = ticks(says.after) > ticks(asked.after) || says.within.is_some();
    let is_mild =
        asked.verdict == Some(Severity::Fatal) && says.verdict == Some(Severity::NonFatal);
    let is_slow = !matches!(says.clears, None | Some(Clears::Healed(None)));
    match is_late || is_mild || is_slow || says.subject.is_some() {
        true => Mark::Weaker,
        false => Mark::Observed,
    }
}

/// Whether a fault of this kind can be escalated because it goes on.
fn may_escalate(kind: &Kind) -> bool {
    let may = [
        Named::Init,
        Named::Armed,
        Named::LinkErrorRecovery,
        Named::OddState,
    ];
    matches!(kind, Kind::Named(named) if may.contains(named))
}

/// Takes the fatal report of a fault that stood longer than the short ones out of its answer.
fn escalation(answer: &mut Answer) -> Option<crate::answers::Report> {
    let first = answer.report.as_ref()?;
    if first.verdict == Severity::Fatal && first.after > SHORT {
        answer.clear = None;
        return answer.report.take();
    }
    answer.worse.take()
}

/// The row of a fault that goes on.
fn persists(drills: &[Drill<'_>], found: &[(Answer, crate::answers::Report)], fitted: &mut Fitted) {
    let kind = Kind::from(Named::Persists);
    let asked = |drill: &&Drill<'_>| drill.asks("persists");
    let Some(drill) = drills.iter().find(asked) else {
        return;
    };
    let documents = documents_row(&kind);
    let Row::Says(asked) = &documents else {
        return;
    };
    let first = found.iter().map(|(_, report)| report.after).min();
    let Some(first) = first else {
        let evidence = Evidence {
            drill: drill.name(),
            poll: None,
            came: "a port that stayed in INIT was never said to be worse".to_owned(),
        };
        let found = FittedRow {
            row: Some(Row::Silent),
            mark: Mark::Weaker,
            evidence: vec![evidence],
        };
        fitted.add(kind, found);
        return;
    };
    let longer = first.saturating_sub(1);
    let after = match asked.after {
        Some(Lasting::Time(span)) if span.0.as_secs() == longer => asked.after,
        _ => Some(in_polls(longer)),
    };
    let says = Says {
        verdict: Some(Severity::Fatal),
        after,
        clears: Some(Clears::Healed(None)),
        ..Says::default()
    };
    let evidence = found.iter().map(|(answer, report)| Evidence {
        drill: answer.drill.clone(),
        poll: Some(report.poll),
        came: format!("{}, after {}", report.line, words::polls(report.after)),
    });
    let evidence = evidence.collect();
    let mark = compared(asked, &says);
    fitted.add(
        kind,
        FittedRow {
            row: Some(Row::Says(Box::new(says))),
            mark,
            evidence,
        },
    );
}

/// What came of the faults of each drill, in a line each.
fn by_drill(answers: &[&Answer]) -> Vec<Evidence> {
    let mut drills: BTreeMap<&str, Vec<&Answer>> = BTreeMap::new();
    for answer in answers {
        drills.entry(&answer.drill).or_default().push(answer);
    }
    let line = |(drill, mut answers): (&str, Vec<&Answer>)| {
        answers.sort_by_key(|it| it.lasted());
        let poll = answers
            .iter()
            .filter_map(|it| Some(it.report.as_ref()?.poll));
        let parts: Vec<String> = answers.iter().map(|it| came(it)).collect();
        Evidence {
            drill: drill.to_owned(),
            poll: poll.min(),
            came: parts.join("; "),
        }
    };
    drills.into_iter().map(line).collect()
}

/// What came of a fault.
fn came(answer: &Answer) -> String {
    let lasted = match answer.stood.to {
        Some(_) => words::polls(answer.lasted()),
        None => "to the end".to_owned(),
    };
    let Some(report) = &answer.report else {
        return format!("{lasted}: nothing");
    };
    let clear = match answer.clear {
        Some(clear) if clear.by_check => " and taken back by its check".to_owned(),
        Some(clear) if clear.after > NEXT_POLL => {
            format!(
                " and taken back {} after its end",
                words::polls(clear.after)
            )
        }
        Some(_) => " and taken back".to_owned(),
        None if answer.is_over => " and never taken back".to_owned(),
        None => String::new(),
    };
    let after = match report.after {
        0 => String::new(),
        polls => format!(" after {}", words::polls(polls)),
    };
    format!("{lasted}: {}{after}{clear}", report.verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: Named, layer: LinkLayer, row: &str) {
        let says = Says {
            verdict: Some(Severity::NonFatal),
            ..Says::default()
        };
        let learned = Learned {
            row: Some(Row::Says(Box::new(says))),
            mark: Mark::Observed,
            evidence: Vec::new(),
        };
        let found = joined(&kind.into(), vec![(layer, learned)]).unwrap();
        assert_eq!(words::row(&found.row.unwrap()), row);
    }

    /// docs/decisions.md, 1: INIT is nonfatal on InfiniBand and silent on Ethernet; a port that is gone is fatal on both.
    #[test]
    fn what_one_layer_showed_is_promised_on_that_one_where_the_documents_tell_them_apart() {
        let (infiniband, ethernet) = (LinkLayer::InfiniBand, LinkLayer::Ethernet);
        check(Named::Init, ethernet, "{ ethernet: { verdict: nonfatal } }");
        check(
            Named::Init,
            infiniband,
            "{ infiniband: { verdict: nonfatal } }",
        );
        check(Named::GonePort, ethernet, "{ verdict: nonfatal }");
    }

    /// The same: what a row leaves out on Ethernet is silent there.
    #[test]
    fn what_both_layers_showed_is_stated_for_ethernet_where_the_documents_are_silent_there() {
        let says = Says {
            verdict: Some(Severity::NonFatal),
            ..Says::default()
        };
        for (kind, words) in [
            (
                Named::Init,
                "{ verdict: nonfatal, ethernet: { verdict: nonfatal } }",
            ),
            (Named::GonePort, "{ verdict: nonfatal }"),
        ] {
            let learned = || Learned {
                row: Some(Row::Says(Box::new(says.clone()))),
                mark: Mark::Observed,
                evidence: Vec::new(),
            };
            let both = vec![
                (LinkLayer::InfiniBand, learned()),
                (LinkLayer::Ethernet, learned()),
            ];
            let row = joined(&kind.into(), both).unwrap().row.unwrap();
            assert_eq!(words::row(&row), words);
            let promised = row.over(&documents_row(&kind.into()));
            let on_ethernet = promised.on(LinkLayer::Ethernet);
            assert!(
                matches!(on_ethernet, Row::Says(says) if says.verdict == Some(Severity::NonFatal))
            );
        }
    }
}
