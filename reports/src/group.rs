//! Findings grouped by cause: a run with hundreds of failed drills as a few groups.
//!
//! Every finding is in exactly one group, whatever its arm; a drill can be in several. The order of the drills does not matter.
//! Start at [`groups`].

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{ArmName, Cause, DrillName, DrillReport, Excuse, Finding, root::Roots};

/// The stable name of a finding: the scenario and the cause, which has the kind of the subject. Platform,
/// poll, arm and text are not part of it.
///
/// ```text
/// port/cable-pulled#missed.fatal.port.monitored.infiniband.after-port
/// ```
#[must_use]
pub fn finding_id(scenario: &str, cause: &str) -> String {
    format!("{scenario}#{cause}")
}

/// The findings of one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The cause.
    pub cause: Cause,
    /// The cause as a sentence.
    pub headline: String,
    /// Why its findings do not count as failures; `None` if they do.
    pub excuse: Option<Excuse>,
    /// The ids of its findings, sorted.
    pub ids: BTreeSet<String>,
    /// The drills that it occurs in, sorted.
    pub drills: BTreeSet<DrillName>,
    /// Number of platforms of these drills.
    pub platforms: usize,
    /// Number of findings, those that a drill has of one cause counted one by one.
    pub findings: u64,
    /// How often it occurred: a breach that is told once counts as often as it was repeated.
    pub times: u64,
    /// The arms that it occurs in; without a finding about both.
    pub arms: BTreeSet<ArmName>,
    /// The drill that it is told by: of the drills with its most frequent full cause the plainest one, which has the fewest
    /// findings, then the fewest expectations, then the first name.
    pub first: FirstDrill,
}

/// The drill that a group is told by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FirstDrill {
    /// Its name.
    pub drill: DrillName,
    /// The id of its finding.
    pub id: String,
    /// The place in its scenario that the finding is about, or the scenario's first line.
    pub place: String,
    /// The command that repeats it.
    pub repeat: String,
    /// The command that shows it in full.
    pub show: String,
    /// Its first finding of the cause.
    #[serde(skip)]
    pub finding: Finding,
}

/// The findings of these drills by cause: those that count first, then by number of drills, the most
/// first.
#[must_use]
pub fn groups(drills: &[DrillReport]) -> Vec<Group> {
    grouped(drills, |_, finding| finding.cause)
}

/// The findings of these drills by what one mistake leads to, with causes of which `by` of the finest facts are dropped
/// ([`Cause::coarser`]).
pub(crate) fn told(drills: &[DrillReport], by: u8) -> Vec<Group> {
    let roots = Roots::of(drills);
    grouped(drills, |drill, finding| {
        roots.root(drill, finding).coarser(by)
    })
}

fn grouped<'d>(
    drills: &'d [DrillReport],
    cause_of: impl Fn(&'d DrillReport, &'d Finding) -> Cause,
) -> Vec<Group> {
    let mut groups: BTreeMap<(Option<&Excuse>, Cause), Gathered<'d>> = BTreeMap::new();
    let mut sorted: Vec<&DrillReport> = drills.iter().collect();
    sorted.sort_by_key(|drill| plainness(drill));
    for drill in sorted {
        for finding in &drill.findings {
            let key = (finding.excuse.as_ref(), cause_of(drill, finding));
            groups.entry(key).or_default().add(drill, finding);
        }
    }
    let told = |((excuse, cause), gathered): ((Option<&Excuse>, Cause), Gathered<'_>)| {
        gathered.told(cause, excuse.cloned())
    };
    let mut groups: Vec<Group> = groups.into_iter().map(told).collect();
    // The sort is stable, so equal ones stay in the order of their causes.
    groups.sort_by_key(|group| {
        let drills = std::cmp::Reverse(group.drills.len());
        (group.excuse.is_some(), drills)
    });
    groups
}

/// The plainest drill is the least: it has the fewest findings, then the fewest expectations, then the first name.
fn plainness(drill: &DrillReport) -> (usize, u64, &DrillName) {
    (drill.findings.len(), drill.judged.judged, &drill.drill)
}

/// The findings of one group, with their drills, in the order of the plainest drill first.
#[derive(Default)]
struct Gathered<'d> {
    /// The drills of each full cause: the plainest one with its finding, and all of them.
    by_cause: BTreeMap<Cause, ((&'d DrillReport, &'d Finding), BTreeSet<&'d DrillName>)>,
    ids: BTreeSet<String>,
    findings: u64,
    times: u64,
    arms: BTreeSet<ArmName>,
}

impl<'d> Gathered<'d> {
    fn add(&mut self, drill: &'d DrillReport, finding: &'d Finding) {
        let (_, drills) = self
            .by_cause
            .entry(finding.cause)
            .or_insert_with(|| ((drill, finding), BTreeSet::new()));
        drills.insert(&drill.drill);
        self.ids.insert(finding_id(
            &drill.drill.scenario,
            &finding.cause.to_string(),
        ));
        self.findings += 1;
        self.times += finding.times;
        self.arms.extend(finding.arm);
    }

    fn told(self, cause: Cause, excuse: Option<Excuse>) -> Group {
        let drills: BTreeSet<DrillName> = (self.by_cause.values())
            .flat_map(|(_, drills)| drills.iter().copied().cloned())
            .collect();
        // What most drills have is typical of the group, if it is no more than what follows. Of equals the plainest drill is taken.
        let of_most = self
            .by_cause
            .iter()
            .min_by_key(|(full, ((drill, _), drills))| {
                let follows = !full.is_kind_of(cause);
                let many = std::cmp::Reverse(drills.len());
                (follows, many, plainness(drill))
            });
        let (drill, finding) = of_most.expect("a group has a finding").1.0;
        let platforms = drills.iter().map(DrillName::platform);
        Group {
            cause,
            headline: cause.headline(),
            excuse,
            ids: self.ids,
            platforms: platforms.collect::<BTreeSet<_>>().len(),
            findings: self.findings,
            times: self.times,
            arms: self.arms,
            first: FirstDrill {
                drill: drill.drill.clone(),
                id: finding_id(&drill.drill.scenario, &finding.cause.to_string()),
                place: match &finding.line {
                    Some(line) => line.place.clone(),
                    None => format!("{}:1", drill.file),
                },
                repeat: drill.repeat.clone(),
                show: drill.show.clone(),
                finding: finding.clone(),
            },
            drills,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        CauseKind, FindingKind,
        cause::{CauseAction, CauseSeverity, CauseSubject},
        check::found,
    };

    use super::*;

    fn drill(scenario: &str, causes: &[Cause]) -> DrillReport {
        let finding = |cause: &Cause| Finding {
            cause: *cause,
            ..Finding::plain(FindingKind::Missing, None, "poll 3")
        };
        found(scenario, "p", causes.iter().map(finding).collect())
    }

    #[test]
    fn a_group_is_told_by_a_drill_of_what_most_of_its_drills_have() {
        let missed = |action| Cause {
            severity: Some(CauseSeverity::Healthy),
            subject: Some(CauseSubject::Port),
            action: Some(action),
            ..Cause::of(CauseKind::Missed)
        };
        let left = Cause::of(CauseKind::CordonLeft);
        let drills = [
            drill("device/rare", &[missed(CauseAction::Device)]),
            drill("port/one", &[missed(CauseAction::Port), left]),
            drill("port/other", &[missed(CauseAction::Port), left]),
            drill("device/also-rare", &[missed(CauseAction::Node), left]),
        ];
        let told = told(&drills, 3);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].first.drill.scenario, "port/one");
        assert_eq!(told[0].first.finding.cause, missed(CauseAction::Port));
        assert_eq!(told[0].drills.len(), 4);
    }
}
