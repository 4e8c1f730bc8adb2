//! The consequences of a drill's event stream: the calls that connectors accepted, poll by poll,
//! processed by conditions, quarantine and rules, on the drill's simulated clock.
//!
//! They depend only on the stream and the drill's times, so they are the same in both arms. Rules run
//! only if a story's expectations need them. [`crate::judge`] compares the result with the expectations.
//! Start at [`Consequences::of`].

use std::{collections::BTreeMap, fmt, sync::Arc};

use cluster::{
    Breaker, Clearing, Cluster, Consequence, ConsequenceKind, Quarantine, Ruleset, Rulesets, Stamp,
    quarantine::FaultKey,
    rules::{ANALYZER, Analyzer, CabledPort, Cabling, Firing, shipped},
};
use observe::{Protocol, Recording, Tick};
use platforms::WORLD_START_WALL_NS;
use scenarios::{Cable, ClearingProfile, ConditionOf, RulesetsProfile, Story, What};
use simfs::SimTime;

/// The consequences of a drill's event stream.
#[derive(Clone, Debug, Default)]
pub struct Consequences {
    /// One entry per tick, as in the recording.
    pub ticks: Vec<TickMade>,
}

/// The consequences of one tick: of the calls of its poll, and then of the passing of time until the
/// next.
#[derive(Clone, Debug)]
pub struct TickMade {
    /// The simulated time of the tick.
    pub at: SimTime,
    /// The cluster's actions.
    pub consequences: Vec<Consequence>,
    /// The number of events that connectors accepted.
    pub events: u64,
    /// The state at the tick's end; shared by ticks without a change.
    pub standing: Arc<ClusterState>,
}

/// The state of the cluster at an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterState {
    /// The entries of the present conditions, by node and check.
    pub conditions: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// The cordoned nodes, each with the faults that hold it.
    pub cordoned: BTreeMap<String, Vec<Fault>>,
    /// Whether the circuit breaker has halted the quarantine.
    pub is_halted: bool,
}

/// A fault that holds a node, as the quarantine records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The agent of its event.
    pub agent: String,
    /// The check of its event.
    pub check: String,
    /// Its entities and codes as text.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.check, self.text)
    }
}

impl Consequences {
    /// Runs the cluster of a story on the events that its connectors accepted.
    #[must_use]
    pub fn of(story: &Story, recording: &Recording) -> Self {
        let mut cluster = cluster(story);
        let mut standing = Arc::new(ClusterState::default());
        let mut clock = stamp(SimTime::ZERO);
        let ticks = recording.ticks.iter().map(|tick| {
            let (events, consequence) = hear(&mut cluster, recording.protocol, tick, &mut clock);
            if events > 0 || !consequence.is_empty() {
                standing = Arc::new(stands(&cluster));
            }
            TickMade {
                at: SimTime::from_ns(tick.at_ns),
                consequences: consequence,
                events,
                standing: Arc::clone(&standing),
            }
        });
        Self {
            ticks: ticks.collect(),
        }
    }

    /// The state at the end of the drill.
    #[must_use]
    pub fn last(&self) -> Option<&ClusterState> {
        self.ticks.last().map(|tick| &*tick.standing)
    }

    /// The events of rules in these ticks, each with its tick.
    pub fn firings(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, &Firing)> {
        self.between(from, to).flat_map(|(at, tick)| {
            let reported =
                tick.consequences
                    .iter()
                    .filter_map(|consequence| match &consequence.what {
                        ConsequenceKind::Rule(firing) => Some(&**firing),
                        _ => None,
                    });
            reported.map(move |firing| (at, firing))
        })
    }

    /// The entries of these ticks, inclusive.
    pub fn between(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, &TickMade)> {
        let ticks = (0..).zip(&self.ticks);
        ticks.filter(move |(at, _)| (from..=to).contains(at))
    }
}

impl TickMade {
    /// The cluster's actions in this tick, one per line, with the drill's time. Repeated sightings of one
    /// Kubernetes event are left out: they only raise its count.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let at = self.at.to_string();
        self.told().map(move |what| format!("{at:>9}  {what}"))
    }

    /// The cluster's actions in this tick, without repeated sightings.
    pub(crate) fn told(&self) -> impl Iterator<Item = &ConsequenceKind> {
        let is_told = |what: &&ConsequenceKind| !matches!(what, ConsequenceKind::KubeEvent { count, .. } if *count > 1);
        let all = self
            .consequences
            .iter()
            .map(|consequence| &consequence.what);
        all.filter(is_told)
    }
}

/// Events of one batch are nanoseconds apart, so that their order can be told, although they have one time. A rule that
/// is due so soon after a tick is due at that tick. Chosen: the resolution of a story.
const WITHIN_A_BATCH_NS: u64 = 1_000_000;

/// Processes one tick: what became due since the last one, then its calls in the order of nodes, then what is due
/// at its own time. A rule belongs to the first tick at or after its time (`WITHIN_A_BATCH_NS`).
fn hear(
    cluster: &mut Cluster,
    protocol: Protocol,
    tick: &Tick,
    clock: &mut Stamp,
) -> (u64, Vec<Consequence>) {
    let (mut events, mut consequence) = (0, Vec::new());
    let now = stamp(SimTime::from_ns(tick.at_ns));
    pass(cluster, clock, now, &mut consequence);
    let calls = tick.monitors.values().flat_map(|instance| &instance.calls);
    for call in calls.filter(|call| call.accepted) {
        events += call.observations.len() as u64;
        // A call that the real connector would reject as a whole violates the wire contract, and is
        // reported as such.
        if let Some(events) = protocol.health_events(call) {
            consequence.extend(cluster.receive(&events).unwrap_or_default());
        }
    }
    *clock = now.max(*clock);
    let end = SimTime::from_ns(tick.at_ns.saturating_add(WITHIN_A_BATCH_NS));
    pass(cluster, clock, stamp(end), &mut consequence);
    (events, consequence)
}

/// Lets the cluster's clock pass, up to but not including a time, through everything that is due.
fn pass(cluster: &mut Cluster, clock: &mut Stamp, until: Stamp, made: &mut Vec<Consequence>) {
    while let Some(due) = cluster.analyzer().next_due().filter(|due| *due < until) {
        *clock = due.max(*clock);
        made.extend(cluster.tick(*clock));
    }
}

fn stands(cluster: &Cluster) -> ClusterState {
    let conditions = cluster.conditions().iter().map(|(node, conditions)| {
        let faulty = conditions.iter().filter(|(_, one)| one.is_faulty);
        let entries = faulty.map(|(check, one)| {
            let entries = one.entries().map(str::to_owned).collect();
            (check.to_owned(), entries)
        });
        (node.clone(), entries.collect())
    });
    let quarantine = cluster.quarantine();
    let cordoned = quarantine.cordoned().map(|(node, annotation)| {
        let faults = annotation.iter().filter_map(|keys| {
            let first = keys.first()?;
            Some(Fault {
                agent: first.agent.clone(),
                check: first.check.clone(),
                text: keys.iter().map(key).collect::<Vec<_>>().join(" "),
            })
        });
        (node.to_owned(), faults.collect())
    });
    ClusterState {
        conditions: conditions.collect(),
        cordoned: cordoned.collect(),
        is_halted: quarantine.is_halted(),
    }
}

/// `NIC=mlx5_0`, `NICPort=1[link_downed]`.
fn key(key: &FaultKey) -> String {
    let entity = key.entity.as_ref();
    let entity = entity.map(|entity| format!("{}={}", entity.entity_type, entity.entity_value));
    let code = key.code.as_ref().map(|code| format!("[{code}]"));
    entity.unwrap_or_default() + &code.unwrap_or_default()
}

/// The cluster of a story in its initial state.
fn cluster(story: &Story) -> Cluster {
    let plan = &story.cluster;
    let clearing = match plan.clearing {
        ClearingProfile::All => Clearing::ALL,
        ClearingProfile::AnyWithCode => Clearing::ANY_WITH_CODE,
        ClearingProfile::Any => Clearing::ANY,
    };
    let rulesets = match plan.rulesets {
        RulesetsProfile::Shipped => Rulesets::shipped(),
        RulesetsProfile::WithoutNics => Rulesets::without_nics(),
        RulesetsProfile::WithAnalyzer => {
            Rulesets::shipped().with(Ruleset::new("the analyzer's", ANALYZER, &[]))
        }
    };
    let mut quarantine = Quarantine::new(rulesets);
    if let Some(fleet) = plan.breaker_fleet {
        let fleet = usize::try_from(fleet).unwrap_or(usize::MAX);
        quarantine = quarantine.with_breaker(Breaker::new(fleet));
    }
    let rules = if hears_rules(story) {
        shipped(plan.rules.name()).expect("a test compares the profiles with those that ship")
    } else {
        Vec::new()
    };
    let analyzer = Analyzer::new(rules, Some(cabling(&story.cluster.cables)));
    Cluster::new(clearing, quarantine, analyzer)
}

/// Whether a story has an expectation that depends on rules.
fn hears_rules(story: &Story) -> bool {
    let asks = |what: &What| match what {
        What::Rule(_) | What::RulesSilent => true,
        What::Condition(is) => match &is.of {
            ConditionOf::Named(name) => story.cluster.rules.rules().contains(&name.as_str()),
            ConditionOf::State | ConditionOf::Counters => false,
        },
        _ => false,
    };
    let mut expectations = story.expectations.iter();
    story.cluster.rulesets == RulesetsProfile::WithAnalyzer
        || expectations.any(|expectation| asks(&expectation.what))
}

/// Which switch each port is cabled to, for rules.
#[must_use]
pub fn cabling(cables: &[Cable]) -> Cabling {
    let mut cabling = Cabling::default();
    for Cable { switch, port } in cables {
        let cabled = CabledPort {
            node: port.node.to_string(),
            device: port.device.to_string(),
            port: port.port.to_string(),
        };
        cabling.plug(cabled, switch);
    }
    cabling
}

/// The world's clock at this time, which is not affected by steps of a node's clock.
fn stamp(at: SimTime) -> Stamp {
    let ns = WORLD_START_WALL_NS.saturating_add(at.as_ns());
    Stamp::from_ns(i64::try_from(ns).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use scenarios::RuleProfile;

    use super::*;

    #[test]
    fn the_profiles_of_the_language_are_those_that_ship() {
        let consequence = RuleProfile::ALL.map(RuleProfile::name);
        assert_eq!(consequence, cluster::rules::SHIPPED.map(|file| file.name));
        for profile in RuleProfile::ALL {
            let rules = shipped(profile.name()).unwrap_or_default();
            let names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
            assert_eq!(names, profile.rules(), "{}", profile.name());
            let fires =
                |rule: &&cluster::rules::Rule| !matches!(rule.body, cluster::rules::Body::Hold(_));
            let firing = rules.iter().filter(fires);
            let firing: Vec<&str> = firing.map(|rule| rule.name.as_str()).collect();
            let fire: Vec<&str> = profile.firing().collect();
            assert_eq!(firing, fire, "{}", profile.name());
        }
    }

    /// Further sightings of one Kubernetes event only raise its count.
    #[test]
    fn what_a_cluster_did_is_told_line_by_line() {
        let seen = |count| ConsequenceKind::KubeEvent {
            node: "node-a".to_owned(),
            check: "EthernetStateCheck".to_owned(),
            count,
        };
        let released = ConsequenceKind::Uncordoned {
            node: "node-a".to_owned(),
        };
        let rendered = [seen(1), seen(2), released].map(|what| Consequence {
            at: stamp(SimTime::ZERO),
            what,
        });
        let made = TickMade {
            at: SimTime::from_secs(12),
            consequences: rendered.into(),
            events: 0,
            standing: Arc::default(),
        };
        assert_eq!(
            made.lines().collect::<Vec<_>>(),
            [
                "      12s  event      node-a EthernetStateCheckIsNotHealthy x1",
                "      12s  uncordon   node-a"
            ]
        );
    }

    #[test]
    fn the_worlds_clock_begins_with_the_world() {
        let start = i64::try_from(WORLD_START_WALL_NS).expect("it is no far future");
        assert_eq!(
            stamp(SimTime::from_secs(1)),
            Stamp::from_ns(start + 1_000_000_000)
        );
    }

    /// Rules listen where a story asks what they say, or what follows from it.
    #[test]
    fn rules_listen_where_a_story_asks() {
        let mut story = crate::fits::tests::Case::new().story;
        let mut hears = |what: Option<What>| {
            if let Some(what) = what {
                story.expectations[0].what = what;
            }
            hears_rules(&story)
        };
        let condition = |of| {
            What::Condition(scenarios::ConditionIs {
                of,
                about: None,
                counter: None,
                stands: scenarios::Stands {
                    is: true,
                    throughout: false,
                },
            })
        };
        assert!(!hears(None));
        assert!(hears(Some(What::RulesSilent)));
        assert!(!hears(Some(condition(ConditionOf::State))));
        assert!(!hears(Some(condition(ConditionOf::Named("x".to_owned())))));
        let rule = RuleProfile::default().rules()[0].to_owned();
        assert!(hears(Some(condition(ConditionOf::Named(rule)))));
        assert!(!hears(Some(What::Polls(1))));
        story.cluster.rulesets = RulesetsProfile::WithAnalyzer;
        assert!(hears_rules(&story));
    }
}
