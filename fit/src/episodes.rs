//! Rows of episodes: the first of a few under which the judge finds nothing wrong in the drills that ask about it. Start at
//! [`fit`].

use std::collections::BTreeMap;

use judge::judge;
use observe::{
    Descriptor, Promises,
    promises::{
        ClearedBy, Clears, Compared, Kind, Lasting, Meanwhile, Named, Restates, Row, Says, Verdict,
        documents_row,
    },
};
use reports::{CauseKind, CauseSeverity, Finding};

use crate::{
    drill::Drill,
    evidence::{Evidence, Mark},
    fitted::{Fitted, FittedRow, promising},
    heard::{Entity, heard},
    suspects,
};

/// The episodes, and what is asked like one.
const EPISODES: [Named; 15] = [
    Named::FirstPoll,
    Named::Flap,
    Named::SmGone,
    Named::DriverReload,
    Named::FirmwareReset,
    Named::Rename,
    Named::Replaced,
    Named::HotAdded,
    Named::MovedLayer,
    Named::Reboot,
    Named::MonitorRestart,
    Named::ScopeChange,
    Named::Metadata,
    Named::StateFile,
    Named::Connector,
];

/// A row, and how it clears after a reboot, to be tried.
#[derive(Clone)]
struct Candidate {
    row: Row,
    clears: ClearedBy,
}

/// Finds the rows of cards and of episodes.
pub(crate) fn fit(descriptor: &Descriptor, drills: &[Drill<'_>], fitted: &mut Fitted) {
    card(drills, fitted);
    gone_device(descriptor, drills, fitted);
    for named in EPISODES {
        let kind = Kind::from(named);
        let word = kind.to_string();
        let asked: Vec<&Drill<'_>> = drills.iter().filter(|drill| drill.asks(&word)).collect();
        if asked.is_empty() {
            continue;
        }
        let tried = candidates(named)
            .into_iter()
            .map(|candidate| {
                let findings = findings(descriptor, &asked, fitted, &kind, &candidate);
                (candidate, findings)
            })
            .collect();
        choose(&kind, &asked, tried, fitted);
    }
}

/// The rows to try, the documents' first.
fn candidates(named: Named) -> Vec<Candidate> {
    let kind = Kind::from(named);
    let by_subject = |row: Row| Candidate {
        row,
        clears: ClearedBy::Subject,
    };
    let says = |says: Says| Row::Says(Box::new(says));
    match named {
        Named::Reboot => {
            let restates = [Restates::All, Restates::Evidence, Restates::Nothing];
            let row = |restates: Restates| {
                says(Says {
                    restates: Some(restates),
                    ..Says::default()
                })
            };
            let of = |clears: ClearedBy| {
                restates.map(|it| Candidate {
                    row: row(it),
                    clears,
                })
            };
            [of(ClearedBy::Subject), of(ClearedBy::Check)].concat()
        }
        Named::FirstPoll | Named::HotAdded => {
            let at_once = says(Says {
                after: Some(Lasting::NOTHING),
                ..Says::default()
            });
            [documents_row(&kind), at_once, Row::Silent]
                .map(by_subject)
                .into()
        }
        Named::MonitorRestart => {
            let anew = [Restates::Nothing, Restates::All].map(|restates| {
                says(Says {
                    restates: Some(restates),
                    ..Says::default()
                })
            });
            let rows = [documents_row(&kind)].into_iter().chain(anew);
            rows.map(by_subject).collect()
        }
        // A call that was not accepted may be repeated in the next poll only.
        Named::Connector => {
            let next_poll = says(Says {
                within: Some(Lasting::Polls(1)),
                clears: Some(Clears::Healed(Some(Lasting::Polls(1)))),
                ..Says::default()
            });
            [documents_row(&kind), next_poll].map(by_subject).into()
        }
        // What is silent then is a weaker promise; in the other episodes it would be a loss.
        Named::Flap
        | Named::SmGone
        | Named::DriverReload
        | Named::FirmwareReset
        | Named::Replaced
        | Named::MovedLayer => vec![by_subject(documents_row(&kind)), by_subject(Row::Silent)],
        _ => vec![by_subject(documents_row(&kind))],
    }
}

/// What is wrong in the drills under a candidate, by drill.
fn findings(
    descriptor: &Descriptor,
    asked: &[&Drill<'_>],
    fitted: &Fitted,
    kind: &Kind,
    candidate: &Candidate,
) -> Vec<(String, Finding)> {
    let mut promises = fitted.promises.clone();
    for named in EPISODES {
        let kind = Kind::from(named);
        let row = documents_row(&kind);
        promises.rows.entry(kind).or_insert(row);
    }
    promises.rows.insert(kind.clone(), candidate.row.clone());
    with_clears(&mut promises, candidate.clears);
    let tried = promising(descriptor, promises);
    let found = asked.iter().flat_map(|drill| {
        let judged = judge(drill.story, drill.truth, drill.recording, &tried);
        let name = drill.name();
        let findings = judged
            .findings
            .into_iter()
            .filter(|it| !suspects::is_of_the_wire(it));
        findings.map(move |finding| (name.clone(), finding))
    });
    found.collect()
}

fn with_clears(promises: &mut Promises, clears: ClearedBy) {
    if let Some(wire) = &mut promises.wire {
        wire.clears = Some(clears);
    }
}

/// Takes the row under which the least is wrong, the first of these. If something is, it stands only where something
/// happened that no monitor can want.
fn choose(
    kind: &Kind,
    asked: &[&Drill<'_>],
    tried: Vec<(Candidate, Vec<(String, Finding)>)>,
    fitted: &mut Fitted,
) {
    let documents = documents_row(kind);
    let right = tried.iter().find(|(_, findings)| findings.is_empty());
    if let Some((candidate, _)) = right {
        let is_documents = candidate.row.over(&documents) == documents;
        with_clears(&mut fitted.promises, candidate.clears);
        let evidence = asked.iter().map(|drill| spoken(drill)).collect();
        let found = FittedRow {
            // What no drill asks about stands as the documents have it.
            row: Some(match is_documents {
                true => documents,
                false => candidate.row.clone(),
            }),
            mark: match is_documents {
                true => Mark::Observed,
                false => Mark::Weaker,
            },
            evidence,
        };
        return fitted.add(kind.clone(), found);
    }
    let Some((best, findings)) = tried.into_iter().min_by_key(|(_, findings)| findings.len())
    else {
        return;
    };
    let is_suspect = findings.iter().any(|(name, finding)| {
        let drill = asked.iter().find(|drill| drill.name() == *name);
        suspects::is_unwanted(finding) || drill.is_some_and(|it| is_loss(kind, finding, it))
    });
    let mut told: BTreeMap<&str, Evidence> = BTreeMap::new();
    for (drill, finding) in &findings {
        told.entry(drill).or_insert_with(|| Evidence {
            drill: drill.clone(),
            poll: finding.tick,
            came: suspects::came(finding),
        });
    }
    let found = FittedRow {
        row: is_suspect.then_some(best.row),
        mark: match is_suspect {
            true => Mark::Suspect,
            false => Mark::Weaker,
        },
        evidence: told.into_values().collect(),
    };
    fitted.add(kind.clone(), found);
}

/// Whether a report is missing that no other event makes up for: of a fault that began or stands while the monitor was
/// away or something got another name, one whose call was refused, or the clear of what was reported.
fn is_loss(kind: &Kind, finding: &Finding, drill: &Drill<'_>) -> bool {
    let Kind::Named(named) = kind else {
        return false;
    };
    let is_missed = finding.cause.kind == CauseKind::Missed;
    let is_clear = finding.cause.severity == Some(CauseSeverity::Healthy);
    match named {
        Named::MonitorRestart | Named::ScopeChange | Named::StateFile | Named::Rename => is_missed,
        Named::MovedLayer => is_missed && is_clear,
        Named::Connector => is_missed && has_refused(drill),
        _ => false,
    }
}

/// Whether any call of a drill was not accepted.
fn has_refused(drill: &Drill<'_>) -> bool {
    let ticks = drill.recording.ticks.iter();
    let mut calls = ticks
        .flat_map(|tick| tick.monitors.values())
        .flat_map(|monitor| &monitor.calls);
    calls.any(|call| !call.accepted)
}

/// How much came in a drill.
fn spoken(drill: &Drill<'_>) -> Evidence {
    let said: Vec<_> = heard(drill).into_iter().filter(|it| it.tick > 0).collect();
    let faults = said.iter().filter(|it| it.verdict().is_some()).count();
    let first = said.iter().find(|it| it.verdict().is_some());
    let came = match first {
        Some(first) => format!(
            "{faults} faults and {} healthy events after the first poll, first {}",
            said.len() - faults,
            first.line()
        ),
        None => format!(
            "{} healthy events after the first poll, and no fault",
            said.len()
        ),
    };
    Evidence {
        drill: drill.name(),
        poll: first.map(|it| it.tick),
        came,
    }
}

/// Whether cards are compared with their peers, and when.
fn card(drills: &[Drill<'_>], fitted: &mut Fitted) {
    let kind = Kind::from(Named::Card);
    let asked: Vec<&Drill<'_>> = drills.iter().filter(|drill| drill.asks("card")).collect();
    if asked.is_empty() {
        return;
    }
    let fault_of_card = |drill: &Drill<'_>| {
        let said = heard(drill);
        let found = said
            .iter()
            .find(|it| it.verdict().is_some() && matches!(it.said(), Entity::Card(_)));
        found.map(|it| {
            let evidence = Evidence {
                drill: drill.name(),
                poll: Some(it.tick),
                came: it.line(),
            };
            (it.verdict().unwrap_or(Verdict::NonFatal), evidence)
        })
    };
    let at_start: Vec<(Verdict, Evidence)> = asked
        .iter()
        .filter_map(|drill| fault_of_card(drill))
        .collect();
    let later = drills
        .iter()
        .filter(|drill| drill.asks("disabled") || drill.asks("down"))
        .find_map(fault_of_card);
    let Some((verdict, _)) = at_start.first().or(later.as_ref()) else {
        let evidence = asked.iter().map(|drill| Evidence {
            drill: drill.name(),
            poll: None,
            came: "no card was named".to_owned(),
        });
        let found = FittedRow {
            row: Some(Row::Silent),
            mark: Mark::Weaker,
            evidence: evidence.collect(),
        };
        return fitted.add(kind, found);
    };
    let says = Says {
        verdict: Some(*verdict),
        when: Some(match later {
            Some(_) => Compared::EveryPoll,
            None => Compared::FirstPoll,
        }),
        after: Some(Lasting::NOTHING),
        clears: Some(Clears::Healed(None)),
        ..Says::default()
    };
    let is_mild = *verdict == Verdict::NonFatal || at_start.is_empty();
    let evidence = at_start.into_iter().chain(later);
    let found = FittedRow {
        row: Some(Row::Says(Box::new(says))),
        mark: match is_mild {
            true => Mark::Weaker,
            false => Mark::Observed,
        },
        evidence: evidence.map(|(_, evidence)| evidence).collect(),
    };
    fitted.add(kind, found);
}

/// What becomes of the faults of ports while their device comes back: the choice under which less is wrong.
fn gone_device(descriptor: &Descriptor, drills: &[Drill<'_>], fitted: &mut Fitted) {
    let kind = Kind::from(Named::GoneDevice);
    let asked: Vec<&Drill<'_>> = drills
        .iter()
        .filter(|drill| drill.asks("gone_device"))
        .collect();
    let Some(Row::Says(says)) = fitted.rows.get(&kind).and_then(|it| it.row.clone()) else {
        return;
    };
    let with = |ports: Meanwhile| {
        Row::Says(Box::new(Says {
            ports: Some(ports),
            ..(*says).clone()
        }))
    };
    let count = |ports: Meanwhile| {
        let candidate = Candidate {
            row: with(ports),
            clears: ClearedBy::Subject,
        };
        findings(descriptor, &asked, fitted, &kind, &candidate).len()
    };
    if count(Meanwhile::Reported) < count(Meanwhile::Silent) {
        let row = with(Meanwhile::Reported);
        if let Some(found) = fitted.rows.get(&kind).cloned() {
            let row = Some(row);
            fitted.add(kind, FittedRow { row, ..found });
        }
    }
}
