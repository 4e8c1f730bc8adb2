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
    /// The plainest of its drills, which has the fewest findings, then the fewest expectations, then the first name.
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
    let mut groups: BTreeMap<(Option<&Excuse>, Cause), Group> = BTreeMap::new();
    let mut sorted: Vec<&DrillReport> = drills.iter().collect();
    // The plainest drill is the first: the one with the fewest findings and expectations.
    sorted.sort_by_key(|drill| {
        let expectations = drill.judged.judged;
        (drill.findings.len(), expectations, &drill.drill)
    });
    for drill in sorted {
        for finding in &drill.findings {
            let cause = cause_of(drill, finding);
            let full = finding.cause.to_string();
            let id = finding_id(&drill.drill.scenario, &full);
            let group = groups
                .entry((finding.excuse.as_ref(), cause))
                .or_insert_with(|| Group {
                    cause,
                    headline: cause.headline(),
                    excuse: finding.excuse.clone(),
                    ids: BTreeSet::new(),
                    drills: BTreeSet::new(),
                    platforms: 0,
                    findings: 0,
                    times: 0,
                    arms: BTreeSet::new(),
                    first: FirstDrill {
                        drill: drill.drill.clone(),
                        id: id.clone(),
                        place: match &finding.line {
                            Some(line) => line.place.clone(),
                            None => format!("{}:1", drill.file),
                        },
                        repeat: drill.repeat.clone(),
                        show: drill.show.clone(),
                        finding: finding.clone(),
                    },
                });
            group.ids.insert(id);
            group.drills.insert(drill.drill.clone());
            group.findings += 1;
            group.times += finding.times;
            group.arms.extend(finding.arm);
        }
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    for group in &mut groups {
        let platforms = group.drills.iter().map(DrillName::platform);
        group.platforms = platforms.collect::<BTreeSet<_>>().len();
    }
    // The sort is stable, so equal ones stay in the order of their causes.
    groups.sort_by_key(|group| {
        let drills = std::cmp::Reverse(group.drills.len());
        (group.excuse.is_some(), drills)
    });
    groups
}
