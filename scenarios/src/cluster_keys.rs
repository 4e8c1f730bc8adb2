//! The keys of the cluster that hears a scenario's monitors.

use crate::cluster::{ClearingProfile, ClusterPlan, RuleProfile, RulesetsProfile};
use crate::keys::{Keys, Literal, maybe, need, or, together};
use crate::kind::{Choices, Words, count};
use crate::map::MapOf;

/// The cluster: the rules that listen, and what is not as deployed at present.
pub(crate) fn cluster() -> impl Keys<Value = ClusterPlan> {
    together(
        (
            or(
                "rules",
                Literal::Text("lsd"),
                Choices("profile of rules", RULES),
                "The correlation rules that listen to what connectors accept.",
            ),
            maybe(
                "cluster",
                MapOf("a cluster", cluster_keys()),
                "The cluster that hears the monitors, where it is not as deployed at present.",
            ),
        ),
        |_, _, (rules, cluster)| {
            Ok(ClusterPlan {
                rules,
                ..cluster.unwrap_or_default()
            })
        },
    )
}

const RULES: &[(&str, RuleProfile, &str)] = &[
    (
        RuleProfile::Lsd.name(),
        RuleProfile::Lsd,
        "those of \"NIC Health Monitor: Link State Detection\": `RepeatedNICLinkFlap`, `NICPortDrop`, `NICStabilizationWindow`, and `FabricWideFault` across nodes",
    ),
    (
        RuleProfile::LsdText.name(),
        RuleProfile::LsdText,
        "the query for `RepeatedNICLinkFlap` that it prints, to the letter",
    ),
    (
        RuleProfile::Nvsentinel.name(),
        RuleProfile::Nvsentinel,
        "the two that NVSentinel deploys: `RepeatedNICDegradation`, `RepeatedNICDriverError`",
    ),
    (
        RuleProfile::Gpud.name(),
        RuleProfile::Gpud,
        "`ib_port_flap` and `ib_port_drop`",
    ),
];

/// The keys of `cluster`.
pub(crate) fn cluster_keys() -> impl Keys<Value = ClusterPlan> {
    together(
        (
            or(
                "clearing",
                Literal::Text("all"),
                Words(
                    "way to clear",
                    &[
                        ("all", ClearingProfile::All),
                        ("any_with_code", ClearingProfile::AnyWithCode),
                        ("any", ClearingProfile::Any),
                    ],
                ),
                "Which entries of a node condition a healthy event clears: those with all its entities and one of its codes, with any and one of its codes (from 2026-05-12 to 2026-07-08), with any whatever the codes (before).",
            ),
            or(
                "rulesets",
                Literal::Text("shipped"),
                Words(
                    "set of rule sets",
                    &[
                        ("shipped", RulesetsProfile::Shipped),
                        ("without_nics", RulesetsProfile::WithoutNics),
                        ("with_analyzer", RulesetsProfile::WithAnalyzer),
                    ],
                ),
                "For whose fatal events a node is cordoned: the NIC monitor's among others, no NIC monitor's (before 2026-05-18), the analyzer's too.",
            ),
            maybe(
                "breaker",
                MapOf(
                    "a circuit breaker",
                    need("fleet", count(1), "How many nodes the cluster has."),
                ),
                "A circuit breaker of a cluster of so many nodes: when half of them are cordoned within five minutes, nothing is cordoned or released any more. There is none unless said.",
            ),
        ),
        |_, _, (clearing, rulesets, breaker_fleet)| {
            Ok(ClusterPlan {
                clearing,
                rulesets,
                breaker_fleet,
                ..ClusterPlan::default()
            })
        },
    )
}
