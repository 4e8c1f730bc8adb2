//! Which findings do not count as failures: known deviations, and what an earlier run had too. Start at
//! [`Excuses`].

use std::collections::{BTreeMap, BTreeSet};

use terms::Arm;

use crate::{
    ArmStatus, Day, DrillName, DrillReport, Excuse, ExcusesReport, Finding, FindingKind,
    KnownDeviations, KnownEntry, finding_id,
};

/// The findings of an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The ids of its findings, each with the drills that it occurred in.
    pub ids: BTreeMap<String, BTreeSet<DrillName>>,
}

/// What does not count as a failure in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excuses {
    /// The known deviations, with today's date; `None` without a file.
    pub known: Option<(KnownDeviations, Day)>,
    /// The run to compare with.
    pub baseline: Option<Baseline>,
    /// Every drill that the monitor can play, selected or not, with every arm in which it can. A finding is
    /// gone only if its drills were played in all of these.
    pub playable: BTreeMap<DrillName, BTreeSet<Arm>>,
}

impl Excuses {
    /// Whether there are none, so that nothing is reported about them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_none() && self.baseline.is_none()
    }

    /// The file of known deviations, as it was named; `None` without one.
    #[must_use]
    pub fn known_file(&self) -> Option<&str> {
        self.known.as_ref().map(|(known, _)| known.file.as_str())
    }

    /// Marks the findings of a drill that are excused, and sets the outcome that follows.
    pub fn mark(&self, drill: &mut DrillReport) {
        // A drill of a shard has what its run excused.
        let is_marked = drill
            .findings
            .iter()
            .any(|finding| finding.excuse.is_some());
        if self.is_empty() && !is_marked {
            return;
        }
        let scenario = drill.drill.scenario.clone();
        for finding in &mut drill.findings {
            finding.excuse = self.excuse(&scenario, finding);
        }
        drill.outcome = DrillReport::outcome_of(&drill.arms, &drill.findings);
    }

    fn excuse(&self, scenario: &str, finding: &Finding) -> Option<Excuse> {
        if !is_about_the_monitor(finding) {
            return None;
        }
        let id = finding_id(scenario, &finding.cause.to_string());
        if let Some((known, today)) = &self.known {
            let mut valid = known.entries.iter().filter(|one| !one.is_expired(*today));
            if let Some(entry) = valid.find(|entry| entry.matches(&id)) {
                let reason = entry.reason.clone();
                return Some(Excuse::Known { reason });
            }
        }
        let earlier = self.baseline.as_ref()?;
        earlier.ids.contains_key(&id).then_some(Excuse::InBaseline)
    }

    /// What became of everything excused, after these drills.
    #[must_use]
    pub fn report(&self, drills: &[DrillReport]) -> ExcusesReport {
        let mut report = ExcusesReport::default();
        let played = Played::of(drills);
        if let Some((known, today)) = &self.known {
            for entry in &known.entries {
                let text = entry.line_in(&known.file);
                if let Some(last) = entry.expires.filter(|last| last < today) {
                    if played.any_about(entry) {
                        report.expired.push(format!("{text}, expired on {last}"));
                    }
                } else if played.ids.iter().any(|id| entry.matches(id)) {
                    report.known.push(text);
                } else if self.is_judged(entry, &played) {
                    report.no_longer.push(text);
                }
            }
        }
        if let Some(Baseline { ids: before }) = &self.baseline {
            let (same, new) = played
                .ids
                .iter()
                .cloned()
                .partition(|id| before.contains_key(id));
            (report.same, report.new) = (same, new);
            let is_gone = |id: &String, of: &BTreeSet<DrillName>| {
                !played.ids.contains(id) && of.iter().all(|drill| self.was_played(drill, &played))
            };
            let gone = before.iter().filter(|(id, of)| is_gone(id, of));
            report.gone = gone.map(|(id, _)| id.clone()).collect();
        }
        report
    }

    /// Whether every drill in which an entry can occur was played: the drill that it names, else all of its
    /// scenarios.
    fn is_judged(&self, entry: &KnownEntry, played: &Played<'_>) -> bool {
        let mut of_entry = self.playable.keys().filter(|drill| match &entry.drill {
            Some(named) => named == *drill,
            None => entry.is_about(&drill.scenario),
        });
        let first = of_entry.next();
        first.is_some_and(|first| {
            self.was_played(first, played) && of_entry.all(|drill| self.was_played(drill, played))
        })
    }

    /// Whether a drill was played in every arm in which it can be.
    fn was_played(&self, drill: &DrillName, played: &Played<'_>) -> bool {
        let arms = self.playable.get(drill).zip(played.arms.get(drill));
        arms.is_some_and(|(all, arms)| all.is_subset(arms))
    }
}

/// What a run played, and what it found about the monitor.
struct Played<'r> {
    /// The arms of each drill that were played to their end. A drill is left out if its stage could not
    /// be set.
    arms: BTreeMap<&'r DrillName, BTreeSet<Arm>>,
    /// The ids of the findings.
    ids: BTreeSet<String>,
}

impl<'r> Played<'r> {
    fn of(drills: &'r [DrillReport]) -> Self {
        let mut of = Self {
            arms: BTreeMap::new(),
            ids: BTreeSet::new(),
        };
        for drill in drills {
            let arms = drill.arms.iter();
            let played = arms.filter(|arm| !matches!(arm.status, ArmStatus::Skipped { .. }));
            let played: BTreeSet<Arm> = played.map(|arm| arm.arm).collect();
            if !played.is_empty() && drill.findings.iter().all(is_about_the_monitor) {
                of.arms.insert(&drill.drill, played);
            }
            let findings = drill.findings.iter();
            let causes = findings.filter(|finding| is_about_the_monitor(finding));
            of.ids.extend(
                causes.map(|finding| finding_id(&drill.drill.scenario, &finding.cause.to_string())),
            );
        }
        of
    }

    fn any_about(&self, entry: &KnownEntry) -> bool {
        let mut drills = self.arms.keys();
        drills.any(|drill| entry.is_about(&drill.scenario))
    }
}

/// A stage that could not be set and an internal error are not about the monitor, so they are never
/// excused.
fn is_about_the_monitor(finding: &Finding) -> bool {
    !matches!(finding.kind, FindingKind::Stage | FindingKind::Fault)
}
