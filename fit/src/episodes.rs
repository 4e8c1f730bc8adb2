//! Rows of cards and of episodes. Most of their keys are found by trying; a row under which the judge still finds something
//! wrong is either suspect or none. Start at [`fit`].

use std::collections::BTreeMap;

use observe::{
    Descriptor,
    promises::{Clears, Compared, Kind, Lasting, Named, Row, Says, documents_row},
};
use reports::{CauseKind, Finding};
use scenarios::What;
use terms::Severity;

use crate::{
    drill::Drill,
    evidence::{Evidence, Mark},
    fitted::{Fitted, FittedRow},
    heard::{Entity, heard},
    suspects,
    tried::{self, Told, Tried},
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

/// Finds the rows of cards and of episodes, and every key that is found by trying.
pub(crate) fn fit(descriptor: &Descriptor, drills: &[Drill<'_>], fitted: &mut Fitted) -> Tried {
    card(drills, fitted);
    for kind in EPISODES.map(Kind::from) {
        let row = documents_row(&kind);
        fitted.promises.rows.insert(kind, row);
    }
    let tried = tried::fit(descriptor, drills, &mut fitted.promises);
    let metadata = Kind::from(Named::Metadata);
    if let Some(drill) = starts_without_metadata(drills) {
        fitted.promises.rows.remove(&metadata);
        let text = format!(
            "{metadata}: it starts without them ({drill}), so that it needs none and no row is about them"
        );
        fitted.unfound.push(text);
    }
    let promised = fitted.promises.clone();
    for kind in EPISODES.map(Kind::from) {
        let word = kind.to_string();
        let asked: Vec<&Drill<'_>> = drills.iter().filter(|drill| drill.asks(&word)).collect();
        if let (Some(row), false) = (promised.rows.get(&kind), asked.is_empty()) {
            let findings = tried::findings(descriptor, &asked, &promised);
            let found = episode(&kind, row.clone(), &asked, &findings);
            fitted.add(kind, found);
        } else {
            fitted.promises.rows.remove(&kind);
        }
    }
    for told in &tried.told {
        tell(told, fitted);
    }
    for (kind, found) in &mut fitted.rows {
        if found.row.is_some() {
            found.row = fitted.promises.rows.get(kind).cloned();
        }
    }
    for key in &tried.untold {
        let kind = key.rsplit_once('.').and_then(|(row, _)| Kind::parse(row));
        if kind.is_none_or(|kind| fitted.promises.rows.contains_key(&kind)) {
            let text = format!("`{key}`: no drill that asks about it was played to its end");
            fitted.untold.push(text);
        }
    }
    tried
}

/// The drill in which a monitor goes on that is to refuse to start without the metadata; `None` if it refuses, or was not
/// asked. Who goes on needs none, whatever it says then.
fn starts_without_metadata(drills: &[Drill<'_>]) -> Option<String> {
    let is_to_refuse = |drill: &&Drill<'_>| {
        let mut expected = drill.story.expectations.iter();
        let refuses = |what: &What| matches!(what, What::Exit { code } if *code != 0);
        drill.asks("metadata") && expected.any(|it| refuses(&it.what))
    };
    let goes_on = |drill: &&Drill<'_>| {
        let ticks = drill.recording.ticks.iter();
        let monitors = || ticks.clone().flat_map(|tick| tick.monitors.values());
        let polls = monitors().any(|monitor| monitor.polls > 0);
        polls && monitors().all(|monitor| monitor.exits.is_empty())
    };
    let mut asked = drills.iter().filter(is_to_refuse);
    asked.find(goes_on).map(Drill::name)
}

/// Puts what tells the value of a key in front of the evidence of its row, or of the key itself if it is in none.
fn tell(told: &Told, fitted: &mut Fitted) {
    let mut is_of_a_row = false;
    for (kind, found) in &mut fitted.rows {
        if told.set.is_of(kind) {
            is_of_a_row = true;
            found.evidence.insert(0, told.evidence.clone());
            found.mark = found.mark.max(Mark::Weaker);
        }
    }
    if !is_of_a_row {
        let of_key = fitted.keys.entry(told.key).or_default();
        of_key.push(told.evidence.clone());
    }
}

/// The row of an episode. If something is wrong under it, it stands only where something happened that no monitor can want.
fn episode(
    kind: &Kind,
    row: Row,
    asked: &[&Drill<'_>],
    findings: &[(String, Finding)],
) -> FittedRow {
    if findings.is_empty() {
        return FittedRow {
            mark: match row == documents_row(kind) {
                true => Mark::Observed,
                false => Mark::Weaker,
            },
            row: Some(row),
            evidence: asked.iter().map(|drill| spoken(drill)).collect(),
        };
    }
    let is_suspect = findings.iter().any(|(name, finding)| {
        let drill = asked.iter().find(|drill| drill.name() == *name);
        suspects::is_unwanted(finding) || drill.is_some_and(|it| is_loss(kind, finding, it))
    });
    let mut told: BTreeMap<&str, Evidence> = BTreeMap::new();
    for (drill, finding) in findings {
        told.entry(drill).or_insert_with(|| Evidence {
            drill: drill.clone(),
            poll: finding.tick,
            came: suspects::came(finding),
        });
    }
    FittedRow {
        row: is_suspect.then_some(row),
        mark: match is_suspect {
            true => Mark::Suspect,
            false => Mark::Weaker,
        },
        evidence: told.into_values().collect(),
    }
}

/// Whether a report is missing that no other event makes up for: of a fault that began or stands while the monitor was
/// away or something got another name, one whose call was refused, or the clear of what was reported.
fn is_loss(kind: &Kind, finding: &Finding, drill: &Drill<'_>) -> bool {
    let Kind::Named(named) = kind else {
        return false;
    };
    let is_missed = finding.cause.kind == CauseKind::Missed;
    let is_clear = finding.cause.severity == Some(Severity::Healthy);
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
            (it.verdict().unwrap_or(Severity::NonFatal), evidence)
        })
    };
    let at_start: Vec<(Severity, Evidence)> = asked
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
    let is_mild = *verdict == Severity::NonFatal || at_start.is_empty();
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
