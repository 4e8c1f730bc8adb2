//! The keys of the cluster that receives the monitors' events.

use crate::cluster::{ClearingProfile, ClusterPlan, RuleProfile, RulesetsProfile};
use crate::keys::{Keys, Literal, maybe, need, or, together};
use crate::kind::{Choices, Words, count};
use crate::map::MapOf;

/// The keys `rules` and `cluster` of a scenario's file.
pub(crate) fn cluster() -> impl Keys<Value = ClusterPlan> {
    together(
        (
            or(
                "rules",
                Literal::Text("lsd"),
                Choices("profile of rules", RULES),
                "The correlation rules that process the events that connectors accept.",
            ),
            maybe(
                "cluster",
                MapOf("a cluster", cluster_keys()),
                "The cluster that receives the monitors' events, where it differs from today's deployment.",
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
        "the query for `RepeatedNICLinkFlap` printed there, by device and port",
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
                "Which entries of a node condition a healthy event clears: those with all its entities and one of its codes; those with any of its entities and one of its codes (NVSentinel from 2026-05-12 to 2026-07-08); those with any of its entities, whatever the codes (before that).",
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
                "Which monitors' fatal events cordon a node: the shipped set, which includes the NIC monitor; the set without the NIC monitor (before 2026-05-18); the shipped set and the analyzer.",
            ),
            maybe(
                "breaker",
                MapOf(
                    "a circuit breaker",
                    need("fleet", count(1), "Number of nodes of the cluster."),
                ),
                "The circuit breaker of a cluster of `fleet` nodes: once half of them are cordoned within five minutes, no node is cordoned or released any more. Without this key there is no breaker.",
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
