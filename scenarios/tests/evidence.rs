//! Evidence: what a story is about, and whether a platform lets it matter.

use platforms::{NodeName, Platforms};
use rstest::rstest;
use scenarios::{AtRest, Evidence, Scenario, Topic, read};

fn evidence(scenario: &Scenario, platform: &str) -> Evidence {
    let platforms = Platforms::shipped();
    let platform = platforms.get(platform).expect("a shipped platform");
    let rest = AtRest::new(&NodeName::from("node-a"), platform);
    let story = scenario
        .at_rest(&rest)
        .unwrap_or_else(|error| panic!("{error}"));
    scenario.evidence(&rest, &story)
}

/// A scenario of the suite.
fn shipped(name: &str) -> Scenario {
    let file = format!("{name}.yaml");
    let mut all = suite::scenarios().into_iter();
    let (file, text) = all
        .find(|(path, _)| *path == file)
        .unwrap_or_else(|| panic!("no scenario `{name}`"));
    read(file, text).unwrap_or_else(|error| panic!("{error}"))
}

/// `true` if the topic can matter, `false` if not; `None` if the story is not about it.
fn holds(evidence: &Evidence, topic: Topic) -> Option<bool> {
    let mut facts = evidence.facts().iter();
    facts
        .find(|fact| fact.topic == topic)
        .map(|fact| fact.holds)
}

#[rstest]
// A NUMA node decides where no GPU is near by PIX or PXB.
#[case(
    "role/numa-unknown-is-management",
    "l40s-onprem",
    Topic::Numa,
    Some(true)
)]
#[case(
    "role/numa-unknown-is-management",
    "dgx-h100",
    Topic::Numa,
    Some(false)
)]
#[case(
    "role/numa-unreadable-is-not-unknown",
    "gb200-nvl4",
    Topic::Numa,
    Some(true)
)]
#[case(
    "role/numa-unreadable-is-not-unknown",
    "a100-oci",
    Topic::Numa,
    Some(false)
)]
#[case(
    "role/management-port-down-is-silent",
    "dgx-a100",
    Topic::Numa,
    Some(true)
)]
// There the NIC carries the default route too.
#[case(
    "role/management-port-down-is-silent",
    "a100-oci",
    Topic::Numa,
    Some(false)
)]
#[case(
    "role/management-port-down-is-silent",
    "gb200-nvl4",
    Topic::Numa,
    Some(false)
)]
#[case("counter/management-nic-is-silent", "gb200-nvl4", Topic::Numa, None)]
// The default route decides where nothing else excludes its NIC.
#[case(
    "role/default-route-port-down-is-silent",
    "h100-oci",
    Topic::Route,
    Some(true)
)]
#[case(
    "role/default-route-port-down-is-silent",
    "a100-oci",
    Topic::Route,
    Some(false)
)]
#[case(
    "role/default-route-port-down-is-silent",
    "gb300",
    Topic::Route,
    Some(false)
)]
#[case(
    "role/route-table-unreadable-at-start",
    "l40s-oci",
    Topic::Route,
    Some(true)
)]
#[case(
    "role/route-table-unreadable-at-start",
    "dgx-h100",
    Topic::Route,
    Some(false)
)]
// The matrix makes no role where the link layer alone does.
#[case(
    "role/nic-missing-from-the-topology",
    "l40s-oci:no-default-route",
    Topic::Matrix,
    Some(true)
)]
#[case("role/numbers-of-the-document", "h100-oci", Topic::Matrix, Some(true))]
#[case(
    "role/numbers-of-the-document",
    "gb200-nvl4",
    Topic::Matrix,
    Some(false)
)]
#[case("vf/unassigned-are-silent", "h100-oci:vfs", Topic::Virtual, Some(true))]
#[case("port/cable-pulled", "h100-oci:vfs", Topic::Virtual, None)]
// What is told of one layer needs that layer.
#[case(
    "counter-eth/interface-statistics",
    "h100-oci",
    Topic::Layer,
    Some(true)
)]
#[case(
    "counter-eth/interface-statistics",
    "dgx-a100",
    Topic::Layer,
    Some(false)
)]
#[case(
    "ops/first-poll-put-off-is-counted",
    "dgx-h100",
    Topic::Layer,
    Some(true)
)]
#[case(
    "ops/first-poll-put-off-is-counted",
    "h100-oci",
    Topic::Layer,
    Some(false)
)]
#[case("start/unknown-check-skipped", "dgx-a100", Topic::Layer, Some(false))]
#[case("link/disabled-by-its-agent", "dgx-a100", Topic::Layer, Some(true))]
#[case("link/disabled-by-its-agent", "h100-oci", Topic::Layer, Some(false))]
#[case("port/cable-pulled", "h100-oci", Topic::Layer, None)]
// A port that is dark when a monitor starts speaks alone where no peers convict its card.
#[case("restart/broken-while-away", "two-rail-vm", Topic::Peers, Some(true))]
#[case("restart/broken-while-away", "h100-oci", Topic::Peers, Some(false))]
#[case("restart/recovered-while-away", "h100-oci", Topic::Peers, None)]
#[case(
    "reboot/still-broken-after-reboot",
    "h100-oci",
    Topic::Peers,
    Some(true)
)]
#[case("card/waits-for-training", "dgx-a100", Topic::Peers, Some(true))]
#[case("port/disabled-by-operator", "h100-oci", Topic::Peers, None)]
// The interface's statistics are read on Ethernet alone.
#[case(
    "counter-eth/interface-statistics",
    "h100-oci",
    Topic::Counter,
    Some(true)
)]
#[case(
    "counter-eth/interface-statistics",
    "dgx-a100",
    Topic::Counter,
    Some(false)
)]
#[case(
    "counter/any-growth-of-a-fatal-counter",
    "dgx-a100",
    Topic::Counter,
    Some(true)
)]
#[case(
    "port/counters-say-nothing-to-a-state-check",
    "dgx-a100",
    Topic::Counter,
    None
)]
// Where nothing is watched, only a refusal to start proves something.
#[case("statefile/newer-version", "aws-p5", Topic::Watched, Some(false))]
#[case("statefile/newer-version", "h100-oci", Topic::Watched, Some(true))]
#[case("start/bad-regex", "aws-p5", Topic::Watched, None)]
#[case(
    "link/omni-path-is-nobodys-to-watch",
    "opa-cn5000",
    Topic::Watched,
    Some(true)
)]
fn a_shipped_story_matters_on_a_platform_or_not(
    #[case] name: &str,
    #[case] platform: &str,
    #[case] topic: Topic,
    #[case] expected: Option<bool>,
) {
    let evidence = evidence(&shipped(name), platform);
    assert_eq!(holds(&evidence, topic), expected, "{evidence}");
}

/// A story of one port, `victim`, with this timeline.
fn made_up(timeline: &str) -> Scenario {
    let text = format!(
        "scenario: a\nwhy: b\nplatforms: all\nlet: {{ victim: {{ nth: 1 }} }}\ntimeline: {timeline}\n"
    );
    read("port/made-up.yaml", &text).unwrap_or_else(|error| panic!("{error}"))
}

const OPERSTATES: &str = r#"[ { at: 9s, do: [ { read: "class/net/*/operstate", fail: EIO }, { disable: victim } ],
    expect: [ { this_poll: [ { fatal: victim } ] } ] } ]"#;
const REBOOTED_DARK: &str = "[ { at: 5s, do: [ { disable: victim } ], expect: [ { this_poll: [ { fatal: victim } ] } ] },
    { at: 9s, do: [ { reboot: { takes: 60s } } ] }, { at: 69s, expect: [ { this_poll: [ { fatal: victim } ] } ] } ]";
const REPAIRED: &str = "[ { at: 5s, do: [ { disable: victim } ], expect: [ { this_poll: [ { fatal: victim } ] } ] },
    { at: 9s, do: [ { reboot: { takes: 60s, mend: victim } } ] }, { at: 69s, expect: [ { this_poll: reboot_baseline } ] } ]";
const CARD_TOO: &str =
    "[ { at: 5s, do: [ { disable: victim } ], expect: [ { this_poll: [ { fatal: victim } ] } ] },
    { at: 9s, do: [ { monitor: restart } ], expect: [ { fatal: card of victim } ] } ]";
const NUMA: &str = r#"[ { at: 9s, do: [ { read: device of victim/device/numa_node, content: "-1\n" } ],
    expect: [ { nothing: victim } ] } ]"#;

#[rstest]
#[case(OPERSTATES, "h100-oci", Topic::Layer, Some(true))]
#[case(OPERSTATES, "dgx-a100", Topic::Layer, Some(false))]
#[case(REBOOTED_DARK, "two-rail-vm", Topic::Peers, Some(true))]
#[case(REBOOTED_DARK, "h100-oci", Topic::Peers, Some(false))]
#[case(REPAIRED, "h100-oci", Topic::Peers, None)]
#[case(CARD_TOO, "h100-oci", Topic::Peers, Some(true))]
#[case(CARD_TOO, "two-rail-vm", Topic::Peers, Some(false))]
#[case(NUMA, "azure-ndv5", Topic::Numa, Some(true))]
#[case(NUMA, "h100-oci", Topic::Numa, Some(false))]
#[case(NUMA, "h100-oci", Topic::Watched, Some(true))]
fn a_made_up_story_matters_on_a_platform_or_not(
    #[case] timeline: &str,
    #[case] platform: &str,
    #[case] topic: Topic,
    #[case] expected: Option<bool>,
) {
    let evidence = evidence(&made_up(timeline), platform);
    assert_eq!(holds(&evidence, topic), expected, "{evidence}");
}

#[test]
fn evidence_says_what_speaks_for_a_pair_and_then_what_speaks_against_it() {
    let numa = made_up(NUMA);
    let text = |platform| evidence(&numa, platform).to_string();
    assert_eq!(
        text("azure-ndv5"),
        "storage port on Ethernet; no GPU is near mlx5_an0, so its NUMA node decides"
    );
    assert_eq!(
        text("h100-oci"),
        "compute port on Ethernet; nowhere better: PXB to a GPU decides what mlx5_0 is"
    );
    assert_eq!(
        evidence(&shipped("start/bad-regex"), "aws-p5").to_string(),
        "any machine serves"
    );
}
