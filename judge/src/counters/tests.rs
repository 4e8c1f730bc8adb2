//! Which counters a first poll may call healthy.

use std::collections::BTreeSet;

use platforms::{NicRole, PhysState, PortNumber};
use rstest::rstest;

use super::*;
use crate::fits::tests::{Case, function, node_a, pci};

/// The twelve of the chart, and those of the interface among them.
const OF_CHART: [&str; 10] = [
    "excessive_buffer_overrun_errors",
    "link_downed",
    "link_error_recovery",
    "local_ack_timeout_err",
    "local_link_integrity_errors",
    "port_rcv_errors",
    "port_xmit_discards",
    "rnr_nak_retry_err",
    "roce_slow_restart",
    "symbol_error",
];

fn case(checks: ChecksRun, config: &str) -> Case {
    let mut case = Case::new();
    case.story.checks = checks;
    config.clone_into(&mut case.story.config);
    case
}

fn adapter(layer: LinkLayer, ports: usize, netdev: Option<&str>) -> FunctionView {
    let mut view = function(
        "mlx5_0",
        NicRole::Compute,
        &vec![(layer, PhysState::LINK_UP); ports],
    );
    view.netdev = netdev.map(str::to_owned);
    view
}

fn rendered(case: &Case, view: &FunctionView) -> Vec<(u32, &'static str)> {
    let rendered = baseline(&case.context(), &node_a(), pci("0000:10:00.0"), view);
    rendered
        .into_iter()
        .map(|(slot, counter)| {
            assert_eq!((slot.node, slot.pci), (node_a(), pci("0000:10:00.0")));
            (slot.port.0.into(), counter)
        })
        .collect()
}

fn names(rendered: &[(u32, &'static str)], port: u32) -> BTreeSet<&'static str> {
    let of_port = rendered.iter().filter(|(of, _)| *of == port);
    of_port.map(|(_, counter)| *counter).collect()
}

#[rstest]
#[case(ChecksRun::State, false)]
#[case(ChecksRun::CharDevices, false)]
#[case(ChecksRun::Counters, true)]
#[case(ChecksRun::All, true)]
fn counters_are_told_of_where_their_check_runs(#[case] checks: ChecksRun, #[case] is_told: bool) {
    let rendered = rendered(&case(checks, ""), &adapter(LinkLayer::InfiniBand, 1, None));
    assert_eq!(!rendered.is_empty(), is_told);
}

#[test]
fn every_port_has_the_counters_of_the_chart_and_the_first_of_ethernet_its_interfaces() {
    let case = case(ChecksRun::Counters, "");
    let chart: BTreeSet<&str> = OF_CHART.into_iter().chain(["symbol_error_fatal"]).collect();
    let mut with_net = chart.clone();
    with_net.insert("carrier_changes");
    let roce = rendered(&case, &adapter(LinkLayer::Ethernet, 2, Some("eth0")));
    assert_eq!(
        (names(&roce, 1), names(&roce, 2)),
        (with_net, chart.clone())
    );
    let bare = rendered(&case, &adapter(LinkLayer::Ethernet, 1, None));
    assert_eq!(names(&bare, 1), chart);
    let ib = rendered(&case, &adapter(LinkLayer::InfiniBand, 1, Some("ib0")));
    assert_eq!(names(&ib, 1), chart);
}

#[test]
fn a_counter_that_cannot_be_read_is_not_told_of_nor_its_alias() {
    let case = case(ChecksRun::Counters, "");
    let mut view = adapter(LinkLayer::InfiniBand, 2, None);
    view.unreadable
        .insert((PortNumber(1), "symbol_error".to_owned()));
    view.unreadable
        .insert((PortNumber(2), "link_downed".to_owned()));
    let found = rendered(&case, &view);
    let missing = |port| {
        let (all, found) = (BTreeSet::from(OF_CHART), names(&found, port));
        all.difference(&found).copied().collect::<Vec<_>>()
    };
    assert_eq!(
        (missing(1), missing(2)),
        (vec!["symbol_error"], vec!["link_downed"])
    );
    assert!(!names(&found, 1).contains("symbol_error_fatal"));
    assert!(names(&found, 2).contains("symbol_error_fatal"));
    view.ports.values_mut().for_each(|port| port.listed = false);
    assert_eq!(rendered(&case, &view), []);
}

#[test]
fn an_operators_configuration_chooses_the_counters() {
    let config = "[counterDetection]\nname = \"tx_errors\"\nname = \"port_xmit_wait\"\n";
    let chosen = case(ChecksRun::Counters, config);
    assert!(are_chosen(&chosen.context()));
    let view = adapter(LinkLayer::Ethernet, 1, Some("eth0"));
    assert_eq!(
        names(&rendered(&chosen, &view), 1),
        ["port_xmit_wait", "tx_errors"].into()
    );
    let other = case(ChecksRun::Counters, "[links]\nname = \"tx_errors\"\n");
    assert!(!are_chosen(&other.context()));
    assert!(!names(&rendered(&other, &view), 1).contains("tx_errors"));
}

/// A configuration with which the monitor is restarted later chooses too.
#[test]
fn a_later_configuration_chooses_too() {
    let text = "
scenario: an example
why: an example
platforms: all
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 2s
    do: [ { monitor: restart, config: 'counterDetection = [ \"tx_errors\" ]' } ]
until: 5s
";
    let scenario =
        scenarios::read("port/example.yaml", text).unwrap_or_else(|error| panic!("{error}"));
    let platforms = platforms::Platforms::shipped();
    let platform = platforms.get("h100-oci").expect("it ships");
    let mut story = scenario.in_world(&node_a(), platform).expect("it fits");
    story.checks = ChecksRun::Counters;
    let case = Case::of(story);
    assert!(are_chosen(&case.context()));
    let view = adapter(LinkLayer::Ethernet, 1, Some("eth0"));
    assert_eq!(names(&rendered(&case, &view), 1), ["tx_errors"].into());
}
