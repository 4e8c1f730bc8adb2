//! Findings grouped by cause: a run with hundreds of failed drills as a few groups.
//!
//! Every finding is in exactly one group, whatever its arm; a drill can be in several. The order of the drills does not matter.
//! Start at [`groups`].

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use terms::{Arm, EventField};

use crate::{
    Cause, CauseKind, DrillName, DrillReport, Excuse, Finding, Outcome, cause::CauseRole, counted,
    root::Roots,
};

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
    /// The cause as a sentence, with the role, layer and action that all its findings have.
    pub headline: String,
    /// Why its findings do not count as failures; `None` if they do.
    pub excuse: Option<Excuse>,
    /// The ids of its findings, sorted.
    pub ids: BTreeSet<String>,
    /// The drills that it occurs in, sorted.
    pub drills: BTreeSet<DrillName>,
    /// Number of platforms of these drills.
    pub platforms: usize,
    /// Further platforms on which its scenarios were played, and had no finding of it.
    pub not_on: BTreeSet<String>,
    /// Whether the run has drills on other platforms than its own.
    #[serde(skip)]
    pub is_elsewhere: bool,
    /// Number of findings, those that a drill has of one cause counted one by one.
    pub findings: u64,
    /// How often it occurred: a breach that is told once counts as often as it was repeated.
    pub times: u64,
    /// The arms that it occurs in; without a finding about both.
    pub arms: BTreeSet<Arm>,
    /// The drill that it is told by: of the drills with its most frequent full cause the plainest one, whose scenario is of the
    /// family that the cause's action is of, which has the fewest findings, then the fewest expectations, then the first name.
    pub first: FirstDrill,
}

/// As many platforms are told by name, at most. Chosen.
const NAMED_MAX: usize = 3;

impl Group {
    /// How far it reaches: `162 drills on 23 of 24 platforms (not on dgx-b200)`. Platforms are named where few tell those that
    /// have it from those that do not.
    #[must_use]
    pub(crate) fn extent(&self) -> String {
        let on: BTreeSet<&str> = self.drills.iter().map(DrillName::platform).collect();
        let on: Vec<&str> = on.into_iter().collect();
        let not_on: Vec<&str> = self.not_on.iter().map(String::as_str).collect();
        let is_least = not_on.is_empty() || on.len() <= not_on.len();
        let named = if self.is_elsewhere && is_least && on.len() <= NAMED_MAX {
            format!(" ({})", on.join(", "))
        } else if (1..=NAMED_MAX).contains(&not_on.len()) {
            format!(" (not on {})", not_on.join(", "))
        } else {
            String::new()
        };
        let drills = counted(self.drills.len() as u64, "drill");
        let platforms = match not_on.len() {
            0 => counted(on.len() as u64, "platform"),
            others => format!("{} of {} platforms", on.len(), on.len() + others),
        };
        format!("{drills} on {platforms}{named}")
    }
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
    // Where each scenario was played.
    let mut played: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for drill in drills {
        if drill.outcome != Outcome::Skipped {
            let on = played.entry(&drill.drill.scenario).or_default();
            on.insert(drill.drill.platform());
        }
    }
    let told = |((excuse, cause), gathered): ((Option<&Excuse>, Cause), Gathered<'_>)| {
        gathered.told(cause, excuse.cloned(), &played)
    };
    let groups: Vec<Group> = groups.into_iter().map(told).collect();
    let explaining: Vec<u8> = groups
        .iter()
        .map(|group| explains(group, &groups))
        .collect();
    let mut ranked: Vec<(u8, Group)> = explaining.into_iter().zip(groups).collect();
    // The sort is stable, so equal ones stay in the order of their causes.
    ranked.sort_by_key(|(rank, group)| {
        let drills = std::cmp::Reverse(group.drills.len());
        (group.excuse.is_some(), *rank, drills)
    });
    ranked.into_iter().map(|(_, group)| group).collect()
}

/// How far in front a group belongs, because it explains others; the least is the first. A broken contract, a name that no
/// device has, a port that nobody must watch, or an error code explains what else is found in its drills, if it is in at
/// least half of the drills of another cause.
fn explains(group: &Group, all: &[Group]) -> u8 {
    use CauseKind as Kind;
    let Cause {
        kind, role, field, ..
    } = group.cause;
    let rank = match (kind, role, field) {
        (Kind::Contract | Kind::Undecided, ..) => 0,
        (_, Some(CauseRole::Absent), _) | (Kind::Differs, _, Some(EventField::Entities)) => 1,
        (Kind::Unexpected | Kind::Silence, Some(CauseRole::Unmonitored), _) => 2,
        (Kind::Differs, _, Some(EventField::CheckName | EventField::ErrorCode)) => 3,
        _ => return LAST,
    };
    let is_explained = |other: &&Group| {
        let shared = other.drills.intersection(&group.drills).count();
        other.cause != group.cause && shared * 2 >= other.drills.len()
    };
    if all.iter().any(|other| is_explained(&other)) {
        rank
    } else {
        LAST
    }
}

/// The rank of a group that explains no other.
const LAST: u8 = u8::MAX;

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
    arms: BTreeSet<Arm>,
}

impl<'d> Gathered<'d> {
    fn add(&mut self, drill: &'d DrillReport, finding: &'d Finding) {
        let (first, drills) = self
            .by_cause
            .entry(finding.cause)
            .or_insert_with(|| ((drill, finding), BTreeSet::new()));
        // A scenario about what the cause is about shows it with the least beside it.
        let is_about = |drill: &DrillReport| finding.cause.is_of_family(drill.drill.family());
        if is_about(drill) && !is_about(first.0) {
            *first = (drill, finding);
        }
        drills.insert(&drill.drill);
        self.ids.insert(finding_id(
            &drill.drill.scenario,
            &finding.cause.to_string(),
        ));
        self.findings += 1;
        self.times += finding.times;
        self.arms.extend(finding.arm);
    }

    fn told(
        self,
        cause: Cause,
        excuse: Option<Excuse>,
        played: &BTreeMap<&str, BTreeSet<&str>>,
    ) -> Group {
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
        let platforms: BTreeSet<&str> = drills.iter().map(DrillName::platform).collect();
        let mut of_run = played.values().flatten();
        let is_elsewhere = of_run.any(|platform| !platforms.contains(platform));
        let its = drills.iter().map(|drill| drill.scenario.as_str());
        let played = its.filter_map(|scenario| played.get(scenario)).flatten();
        let elsewhere = played.filter(|platform| !platforms.contains(*platform));
        let its_own = self.by_cause.keys().copied();
        let its_own = its_own.filter(|full| full.is_kind_of(cause));
        Group {
            cause,
            headline: cause.shared_by(its_own).headline(),
            excuse,
            ids: self.ids,
            platforms: platforms.len(),
            is_elsewhere,
            not_on: elsewhere.map(|platform| (*platform).to_owned()).collect(),
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
        FindingKind,
        cause::{CauseAction, CauseSubject},
        check::found,
    };
    use terms::LinkLayer;
    use terms::Severity;

    use super::*;

    fn drill(scenario: &str, causes: &[Cause]) -> DrillReport {
        let finding = |cause: &Cause| Finding {
            cause: *cause,
            ..Finding::plain(FindingKind::Missing, None, "poll 3")
        };
        found(scenario, "p", causes.iter().map(finding).collect())
    }

    /// How the group of one cause is told whose scenario fails on the first platforms and passes on the others.
    fn check_extent(failed: &[&str], passed: &[&str], extent: &str) {
        let finding = || Finding::plain(FindingKind::Missing, None, "poll 3");
        let of = |platform: &&str, findings| {
            let outcome = Outcome::Passed;
            let drill = found("port/one", platform, findings);
            DrillReport { outcome, ..drill }
        };
        let failed = failed.iter().map(|platform| of(platform, vec![finding()]));
        let passed = passed.iter().map(|platform| of(platform, Vec::new()));
        let elsewhere = of(&"z", Vec::new());
        let elsewhere = DrillReport {
            drill: "port/other@z".parse().expect("a name"),
            ..elsewhere
        };
        let drills: Vec<_> = failed.chain(passed).chain([elsewhere]).collect();
        assert_eq!(told(&drills, 3)[0].extent(), extent);
    }

    #[test]
    fn a_group_says_on_which_platforms_it_is_where_few_names_say_so() {
        check_extent(&["a", "b"], &[], "2 drills on 2 platforms (a, b)");
        check_extent(&["a", "b", "c", "d"], &[], "4 drills on 4 platforms");
        check_extent(&["a"], &["b"], "1 drill on 1 of 2 platforms (a)");
        let (three, four) = (["a", "b", "c"], ["d", "e", "f", "g"]);
        check_extent(&three, &four, "3 drills on 3 of 7 platforms (a, b, c)");
        check_extent(
            &four,
            &three,
            "4 drills on 4 of 7 platforms (not on a, b, c)",
        );
        let more = ["h", "i", "k", "l"];
        check_extent(&four, &more, "4 drills on 4 of 8 platforms");
    }

    /// The causes in the order in which they are told, of drills that have these.
    fn order(drills: &[&[Cause]]) -> Vec<Cause> {
        let drills = drills.iter().zip('a'..);
        let drills: Vec<DrillReport> = drills
            .map(|(causes, name)| drill(&format!("port/{name}"), causes))
            .collect();
        told(&drills, 0).iter().map(|group| group.cause).collect()
    }

    #[test]
    fn what_explains_others_is_told_first() {
        let contract = Cause::of(CauseKind::Contract);
        let (missed, late) = (Cause::of(CauseKind::Missed), Cause::of(CauseKind::Late));
        let wrong_code = Cause {
            field: Some(EventField::ErrorCode),
            ..Cause::of(CauseKind::Differs)
        };
        let few: [&[Cause]; 3] = [&[missed, contract], &[missed, contract], &[missed]];
        assert_eq!(order(&few), [contract, missed]);
        let all: [&[Cause]; 2] = [&[late, wrong_code, contract], &[late]];
        assert_eq!(order(&all), [contract, wrong_code, late]);
        // What is in one of many drills explains nothing.
        let one: [&[Cause]; 3] = [&[missed, contract], &[missed], &[missed]];
        assert_eq!(order(&one), [missed, contract]);
    }

    #[test]
    fn of_one_platform_alone_no_name_is_told() {
        let finding = Finding::plain(FindingKind::Missing, None, "poll 3");
        let drills = [found("port/one", "a", vec![finding])];
        assert_eq!(told(&drills, 3)[0].extent(), "1 drill on 1 platform");
    }

    #[test]
    fn a_scenario_of_the_family_that_the_action_is_of_is_the_example() {
        let missed = Cause {
            action: Some(CauseAction::Port),
            ..Cause::of(CauseKind::Missed)
        };
        let drills = [
            drill("device/early-in-the-alphabet", &[missed]),
            drill("port/plain", &[missed]),
            drill("port/plainer-by-name-only", &[missed]),
        ];
        assert_eq!(told(&drills, 0)[0].first.drill.scenario, "port/plain");
    }

    #[test]
    fn a_headline_says_what_all_findings_of_its_group_share() {
        let missed = |layer, action| Cause {
            subject: Some(CauseSubject::Port),
            layer: Some(layer),
            action: Some(action),
            ..Cause::of(CauseKind::Missed)
        };
        let headline = |causes: [Cause; 2]| {
            let drills = [
                drill("port/one", &causes[..1]),
                drill("port/other", &causes[1..]),
            ];
            told(&drills, 2).remove(0).headline
        };
        let (port, node) = (CauseAction::Port, CauseAction::Node);
        let (ethernet, infiniband) = (LinkLayer::Ethernet, LinkLayer::InfiniBand);
        let on_one = [missed(ethernet, port), missed(ethernet, node)];
        assert_eq!(
            headline(on_one),
            "does not send events about ports, on Ethernet"
        );
        let on_both = [missed(ethernet, port), missed(infiniband, node)];
        assert_eq!(headline(on_both), "does not send events about ports");
    }

    #[test]
    fn a_group_is_told_by_a_drill_of_what_most_of_its_drills_have() {
        let missed = |action| Cause {
            severity: Some(Severity::Healthy),
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
