//! Resolution: the ports that a handle selects on a machine, and the result of each line.

use std::collections::BTreeSet;

use platforms::{LinkLayer, NodeName, Platform, Platforms, SlotRef};
use rstest::rstest;
use scenarios::{
    About, Expectation, FileOp, FileRef, Fit, MonitorAction, RuleEffect, StateFileIs, StepAction,
    Story, Times, Unfit, What, Window, read, read_actions,
};
use terms::Severity;

fn platform(name: &str) -> Platform {
    Platforms::shipped()
        .get(name)
        .unwrap_or_else(|| panic!("no platform `{name}`"))
        .clone()
}

fn node() -> NodeName {
    NodeName::from("node-a")
}

/// Resolves a story with these handles and this timeline.
fn resolve(name: &str, handles: &str, timeline: &str) -> Result<Story, Unfit> {
    let text = format!("scenario: a\nwhy: b\nlet: {{ {handles} }}\ntimeline: {timeline}\n");
    let scenario = read("port/try.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    scenario.in_world(&node(), &platform(name))
}

fn resolved(handles: &str, timeline: &str) -> Story {
    resolve("h100-oci", handles, timeline).unwrap_or_else(|error| panic!("{error}"))
}

/// `mlx5_3` or `mlx5_3/2`: the name at rest of a slot, and its port if it is not the first.
fn named(platform: &Platform, slot: &SlotRef) -> String {
    let ports = platform.ports();
    let port = ports
        .iter()
        .find(|port| port.pci == slot.pci && port.port == slot.port);
    let port = port.expect("a slot of the platform");
    match port.port.0 {
        1 => port.device.to_string(),
        number => format!("{}/{number}", port.device),
    }
}

/// The ports that a handle selects on a platform; the reason if it selects none.
fn chosen(name: &str, handles: &str) -> String {
    let timeline = "[ { at: 1s, do: [ { cut: it_is } ], expect: [ nothing ] } ]";
    match resolve(name, handles, timeline) {
        Ok(story) => {
            let slots = story.steps[0].actions.iter().map(|action| match action {
                StepAction::World(fabric::Action::Port(slot, fabric::PortAction::Cut)) => {
                    named(&platform(name), slot)
                }
                other => panic!("{other:?}"),
            });
            slots.collect::<Vec<_>>().join(" ")
        }
        Err(Unfit::NotApplicable { reason }) => format!("not applicable: {reason}"),
        Err(error) => panic!("{error}"),
    }
}

#[rstest]
#[case::the_first_compute_port("h100-oci", "it_is: { role: compute }", "mlx5_0")]
#[case::the_third("h100-oci", "it_is: { role: compute, nth: 3 }", "mlx5_3")]
#[case::the_last("h100-oci", "it_is: { role: compute, nth: last }", "mlx5_17")]
#[case::natural_order(
    "h100-oci",
    "it_is: { role: compute, count: 11 }",
    "mlx5_0 mlx5_1 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_7 mlx5_8 mlx5_9 mlx5_10 mlx5_12"
)]
#[case::a_management_port("h100-oci", "it_is: { role: management }", "mlx5_2")]
#[case::the_default_route("h100-oci", "it_is: { default_route: true }", "mlx5_2")]
#[case::an_uncabled_port("h100-oci", "it_is: { role: storage, cabled: false }", "mlx5_11")]
#[case::no_healthy_storage(
    "h100-oci",
    "it_is: { role: storage }",
    "not applicable: handle `it_is` (role: storage) needs 1 port, `h100-oci` has 0"
)]
// The cause is told where nothing is monitored, or where nothing can come.
#[case::a_machine_on_which_a_monitor_must_not_start(
    "mi300x",
    "it_is: { role: compute }",
    "not applicable: handle `it_is` (role: compute) needs 1 port, `mi300x` has 0: a monitor must refuse to start there, because the metadata has no NIC topology"
)]
#[case::cards_of_another_vendor(
    "aws-p5",
    "it_is: { role: compute }",
    "not applicable: handle `it_is` (role: compute) needs 1 port, `aws-p5` has 0: the monitor does not watch cards of the vendor 0x1d0f (`vendors` of its descriptor)"
)]
#[case::virtual_functions_that_are_there_already(
    "a100-oci:vfs",
    "pf: { role: compute }, it_is: { vf_of: pf, appears: later }",
    "not applicable: handle `it_is` (vf_of: pf, appears: later) needs 1 port, `a100-oci:vfs` has 0: its function has virtual functions at rest, and `create_vfs` adds none to them"
)]
#[case::a_group_of_one("h100-oci", "it_is: { group_cards: 1, healthy: any }", "mlx5_11")]
#[case::two_cards(
    "h100-oci",
    "it_is: { role: compute, cards: 2 }",
    "mlx5_0 mlx5_1 mlx5_3 mlx5_4"
)]
#[case::one_port_each_of_half(
    "h100-oci",
    "it_is: { role: compute, cards: half, ports: 1 }",
    "mlx5_0 mlx5_3 mlx5_5 mlx5_7"
)]
#[case::another_card(
    "h100-oci",
    "v: { role: compute }, it_is: { role: compute, not: v }",
    "mlx5_3"
)]
#[case::the_other_function("h100-oci", "v: { role: compute }, it_is: { sibling_of: v }", "mlx5_1")]
#[case::the_same_card(
    "h100-oci",
    "v: { role: compute }, it_is: { card_of: v, count: all }",
    "mlx5_0 mlx5_1"
)]
#[case::a_peer(
    "h100-oci",
    "v: { role: compute, nth: 4 }, it_is: { peer_of: v }",
    "mlx5_0"
)]
#[case::a_second_function("h100-oci", "it_is: { function: 2 }", "mlx5_1")]
#[case::by_name(
    "h100-oci",
    "it_is: { device: [ mlx5_9, mlx5_3 ], count: all }",
    "mlx5_3 mlx5_9"
)]
#[case::by_several_names(
    "h100-oci",
    "it_is: { device: [ mlx5_9, mlx5_3, mlx5_5 ] }",
    "mlx5_3 mlx5_5 mlx5_9"
)]
#[case::the_first_of_several_names(
    "h100-oci",
    "it_is: { device: [ mlx5_9, mlx5_3 ], nth: 1 }",
    "mlx5_3"
)]
#[case::one_of_several_names_is_not_there(
    "h100-oci",
    "it_is: { device: [ mlx5_9, mlx5_99 ] }",
    "not applicable: handle `it_is` (device: [mlx5_9, mlx5_99]) needs a port of `mlx5_99`, `h100-oci` has 1"
)]
#[case::no_such_name(
    "h100-oci",
    "it_is: { device: mlx5_99 }",
    "not applicable: handle `it_is` (device: mlx5_99) needs 1 port, `h100-oci` has 0"
)]
#[case::no_infiniband(
    "h100-oci",
    "it_is: { layer: infiniband }",
    "not applicable: handle `it_is` (layer: infiniband) needs 1 port, `h100-oci` has 0"
)]
#[case::infiniband(
    "dgx-h100",
    "it_is: { layer: infiniband, count: all, role: compute }",
    "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11"
)]
#[case::a_sibling_of_management(
    "l40s-oci",
    "m: { default_route: true }, it_is: { sibling_of: m, healthy: any }",
    "mlx5_5"
)]
#[case::two_ports_of_a_device(
    "dgx-a100:two-port",
    "it_is: { device_ports: 2, port: 2, healthy: any }",
    "mlx5_0/2"
)]
#[case::a_virtual_function("a100-oci:vfs", "it_is: { vf: true }", "mlx5_18")]
#[case::names_without_a_vendor("gb200-nvl4", "it_is: { role: compute }", "ibP2p3s0")]
#[case::no_switch_beside_a_gpu(
    "dgx-h100",
    "it_is: { near_gpu: false, count: all }",
    "mlx5_1 mlx5_2 mlx5_7 mlx5_8"
)]
#[case::reasons_of_an_hfi1(
    "opa-cn5000",
    "it_is: { link_reasons: hfi1, monitored: false, nth: 3 }",
    "hfi1_2"
)]
#[case::no_reasons_as_specified(
    "opa-cn5000",
    "it_is: { link_reasons: spec, monitored: any }",
    "not applicable: handle `it_is` (link_reasons: spec, monitored: any) needs 1 port, `opa-cn5000` has 0: the monitor does not watch cards of the vendor 0x434e (`vendors` of its descriptor)"
)]
#[case::no_virtual_functions_to_be_had(
    "l40s-onprem:guest",
    "it_is: { sriov_totalvfs: 0 }",
    "mlx5_1"
)]
#[case::sixteen_virtual_functions_to_be_had(
    "l40s-onprem",
    "it_is: { sriov_totalvfs: '>= 16' }",
    "mlx5_1"
)]
#[case::none_that_is_to_be_made_where_one_is(
    "h100-oci:vfs",
    "v: { role: compute }, it_is: { vf_of: v, appears: later }",
    "not applicable: handle `it_is` (vf_of: v, appears: later) needs 1 port, `h100-oci:vfs` has 0: its function has virtual functions at rest, and `create_vfs` adds none to them"
)]
#[case::none_that_is_to_be_made_in_a_guest(
    "azure-ndv5",
    "v: { role: compute }, it_is: { vf_of: v, appears: later }",
    "not applicable: handle `it_is` (vf_of: v, appears: later) needs 1 port, `azure-ndv5` has 0"
)]
#[case::none_at_rest_is_to_be_made(
    "h100-oci",
    "v: { role: compute }, guest: { vf_of: v, appears: later }, it_is: { vf: true }",
    "not applicable: handle `it_is` (vf: true) needs 1 port, `h100-oci` has 0"
)]
fn a_handle_means_these_ports(#[case] name: &str, #[case] handles: &str, #[case] expected: &str) {
    assert_eq!(chosen(name, handles), expected);
}

#[test]
fn a_virtual_function_is_a_handle_before_it_is_made() {
    let platform = platform("h100-oci");
    let mut machine = platform.machine(&node());
    let mut ports = platform.ports().into_iter();
    let owner = ports.find(|port| port.device.as_str() == "mlx5_0");
    let owner = owner.expect("its first compute port").pci;
    let made = |number| platform.add_vf(&mut machine, owner, number);
    let made: Vec<_> = [0, 1].map(made).into_iter().flatten().collect();
    let story = resolved(
        "pf: { role: compute }, guest: { vf_of: pf, appears: later, nth: 2 }, rest: { card_of: pf, count: all }",
        "[ { at: 1s, do: [ { create_vfs: device of pf, count: 2 }, { assign_vf: device of guest } ], \
         expect: [ { nothing: guest } ] }, { at: 2s, do: [ { cut: ports of card of rest } ] } ]",
    );
    match &story.steps[0].actions[1] {
        StepAction::World(fabric::Action::Device(of, fabric::DeviceAction::AssignVf)) => {
            assert_eq!(Some(&of.pci), made.get(1));
        }
        other => panic!("{other:?}"),
    }
    let silent = story.expectations.iter().any(|expected| {
        matches!(&expected.what, What::Nothing { about, .. }
            if matches!(&about[..], [About::Port(slot)] if Some(&slot.pci) == made.get(1)))
    });
    assert!(silent, "{:?}", story.expectations);
    assert_eq!(story.steps[1].actions.len(), 2, "{:?}", story.steps[1]);
}

/// The overrun counter of the DGX H100's ports is at its maximum, 15, at rest.
#[rstest]
#[case::elsewhere("h100-oci", "add: 1", None)]
#[case::grows("dgx-h100", "add: 1", Some(MAXIMUM))]
#[case::grows_by_the_second("dgx-h100", "per_second: 1", Some(MAXIMUM))]
#[case::shows("dgx-h100", "shows: 3", None)]
fn a_counter_at_its_maximum_cannot_grow(
    #[case] name: &str,
    #[case] change: &str,
    #[case] reason: Option<&str>,
) {
    let line = format!("counter: it_is, name: excessive_buffer_overrun_errors, {change}");
    let timeline = format!("[ {{ at: 1s, do: [ {{ {line} }} ], expect: [ nothing ] }} ]");
    let found = match resolve(name, "it_is: {}", &timeline) {
        Ok(_) => None,
        Err(Unfit::NotApplicable { reason }) => Some(reason),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(found.as_deref(), reason);
}

const MAXIMUM: &str =
    "`excessive_buffer_overrun_errors` of `mlx5_0` is at its field's maximum at rest";

/// Drivers differ in what they have: a story about what another driver's ports have does not apply. What none has is for
/// the stage to refuse, with what is there.
#[rstest]
#[case::no_counters(
    "read: \"class/infiniband/*/ports/*/counters/*\", fail: EIO",
    Some("no device of `aws-p5` has `sys/class/infiniband/*/ports/*/counters/*`")
)]
#[case::no_such_counter(
    "read: it_is/counters/symbol_error, fail: EIO",
    Some("`rdmap79s0` has no `counters/symbol_error`")
)]
#[case::one_gid_only("read: it_is/gids/2, fail: EIO", Some("`rdmap79s0` has no `gids/2`"))]
#[case::no_file_of_the_device(
    "read: device of it_is/hca_type, fail: EIO",
    Some("`rdmap79s0` has no `hca_type`")
)]
#[case::no_interface_that_counts(
    "counter: it_is, name: carrier_changes, add: 1",
    Some("`rdmap79s0` has no interface")
)]
#[case::its_own_counter("read: it_is/hw_counters/rx_drops, fail: EIO", None)]
#[case::its_one_gid("read: it_is/gids/0, fail: EIO", None)]
#[case::a_name_that_no_driver_has("read: it_is/counters/symbol_eror, fail: EIO", None)]
#[case::what_appears_later("read: it_is/counters/symbol_error, fail: EIO, appears: later", None)]
fn a_file_of_another_driver_does_not_apply(#[case] action: &str, #[case] reason: Option<&str>) {
    let platforms = Platforms::shipped().for_monitor(&BTreeSet::from([0x1d0f]), true);
    let platform = platforms.get("aws-p5").expect("the platform ships");
    let text = format!(
        "scenario: a\nwhy: b\nlet: {{ it_is: {{ nth: 1 }} }}\ntimeline: [ {{ at: 1s, do: [ {{ {action} }} ], expect: [ nothing ] }} ]\n"
    );
    let scenario = read("port/try.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let found = match scenario.in_world(&node(), platform) {
        Ok(_) => None,
        Err(Unfit::NotApplicable { reason }) => Some(reason),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(found.as_deref(), reason);
}

#[rstest]
#[case::a_machine_on_which_a_monitor_must_not_start(
    "compute_cards: '>= 4'",
    "mi300x",
    "`compute_cards: >= 4` is asked for, `mi300x` has 0: a monitor must refuse to start there, because the metadata has no NIC topology"
)]
#[case::cards_of_another_vendor(
    "layer: ethernet",
    "aws-p5",
    "`aws-p5` has no Ethernet port that is monitored and healthy at rest: the monitor does not watch cards of the vendor 0x1d0f (`vendors` of its descriptor)"
)]
#[case::few_of_those_that_are_monitored(
    "storage_cards: '>= 1'",
    "h100-oci",
    "`storage_cards: >= 1` is asked for, `h100-oci` has 0"
)]
#[case::ports_of_the_other_layer(
    "only_layer: infiniband",
    "h100-oci",
    "`h100-oci` has ports other than InfiniBand ones that are monitored and healthy at rest"
)]
fn a_platform_that_does_not_fit_is_told_with_the_cause(
    #[case] with: &str,
    #[case] name: &str,
    #[case] expected: &str,
) {
    let text = format!(
        "scenario: a\nwhy: b\nplatforms: {{ with: {{ {with} }} }}\ntimeline: [ {{ at: 1s, expect: [ nothing ] }} ]\n"
    );
    let scenario = read("port/try.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let Fit::No { reason } = scenario.fits(&platform(name)) else {
        panic!("it fits");
    };
    assert_eq!(reason, expected);
}

fn check_fit(with: &str, name: &str, expected: bool) {
    let text = format!(
        "scenario: a\nwhy: b\nplatforms: {with}\ntimeline: [ {{ at: 1s, expect: [ nothing ] }} ]\n"
    );
    let scenario = read("port/try.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let fit = scenario.fits(&platform(name));
    assert_eq!(fit == Fit::Yes, expected, "{with} on {name}: {fit:?}");
}

#[rstest]
#[case("all", true)]
#[case("[ h100-oci, dgx-h100 ]", true)]
#[case("[ dgx-h100 ]", false)]
#[case("[ \"h100-oci:no-default-route\" ]", false)]
#[case("{ not: [ h100-oci ] }", false)]
#[case("{ with: { compute_cards: \">= 5\" } }", true)]
#[case("{ with: { compute_cards: 8 } }", true)]
#[case("{ with: { compute_cards: \"> 8\" } }", false)]
#[case(
    "{ with: { compute_ports: 16, storage_ports: 0, uncabled_ports: 1 } }",
    true
)]
#[case(
    "{ with: { monitored_ports: 17, management_cards: 1, gpus: 8, vfs: 0 } }",
    true
)]
#[case("{ with: { layer: infiniband } }", false)]
#[case("{ with: { only_layer: ethernet } }", true)]
#[case("{ with: { layer: both } }", false)]
#[case("{ with: { devices: [ mlx5_3, mlx5_5 ] } }", true)]
#[case("{ with: { devices: [ ibp3s0 ] } }", false)]
#[case("{ with: { default_route: rdma } }", true)]
#[case("{ with: { default_route: none } }", false)]
#[case(
    "{ with: { cards_with_two_functions: \">= 8\", cards_with_two_ports: 8, devices_with_two_ports: 0 } }",
    true
)]
fn a_scenario_fits_a_platform_with_what_it_asks_for(#[case] with: &str, #[case] fits: bool) {
    check_fit(with, "h100-oci", fits);
}

#[rstest]
#[case("default_route: [ other, none ]", "h100-oci", false)]
#[case("default_route: [ other, none ]", "h100-oci:no-default-route", true)]
#[case("default_route: [ other, none ]", "dgx-h100", true)]
#[case("refusal: none", "dgx-h100", true)]
#[case("refusal: none", "mi300x", false)]
#[case("refusal: no_topology", "mi300x", true)]
#[case("refusal: no_topology", "h100-vm", false)]
#[case("refusal: [ no_topology, no_gpu_numa ]", "h100-vm", true)]
fn one_of_several_words_is_enough(#[case] asked: &str, #[case] name: &str, #[case] fits: bool) {
    check_fit(&format!("{{ with: {{ {asked} }} }}"), name, fits);
}

#[rstest]
#[case("all", false, None)]
#[case("{ with: { gpus: 8 } }", false, None)]
#[case("[ h100-oci ]", true, None)]
#[case("{ not: [ h100-oci ] }", true, None)]
#[case("{ names: [ h100-oci ], because: a table }", true, Some("a table"))]
fn names_of_platforms_can_have_their_reason(
    #[case] platforms: &str,
    #[case] names: bool,
    #[case] because: Option<&str>,
) {
    let text = format!(
        "scenario: a\nwhy: b\nplatforms: {platforms}\ntimeline: [ {{ at: 1s, expect: [ nothing ] }} ]\n"
    );
    let scenario = read("port/try.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.names_platforms(), names);
    assert_eq!(scenario.platforms_because(), because);
}

/// The expectations of a story without the usual baseline.
fn expected(handles: &str, timeline: &str) -> Vec<Expectation> {
    let mut expectations = resolved(handles, timeline).expectations;
    expectations.retain(|expected| !matches!(expected.what, What::Baseline { .. }));
    expectations
}

fn window_of(qualifier: &str) -> (u64, u64) {
    let timeline = format!("[ {{ at: 10s, expect: [ {{ fatal: v{qualifier} }} ] }} ]");
    let Window { from, to } = expected("v: {}", &timeline)[0].window;
    (from, to)
}

#[rstest]
#[case("", (10, 11))]
#[case(", within: 0 polls", (10, 10))]
#[case(", within: 3 polls", (10, 13))]
#[case(", within: 2500ms", (10, 12))]
#[case(", from: 20s, to: 25s", (20, 24))]
#[case(", between: [ 20s, 25s ]", (20, 25))]
#[case(", exactly_at: 4m30s", (270, 270))]
fn a_window_is_ticks(#[case] qualifier: &str, #[case] window: (u64, u64)) {
    assert_eq!(window_of(qualifier), window);
}

#[rstest]
#[case("monitor: restart", (10, 11))]
#[case("monitor: restart, away: 5s", (10, 16))]
#[case("monitor: pause, for: 3s", (10, 14))]
#[case("reboot: { takes: 90s }", (10, 101))]
fn a_window_counts_polls_that_happen(#[case] action: &str, #[case] (from, to): (u64, u64)) {
    let timeline =
        format!("[ {{ at: 10s, do: [ {{ {action} }} ], expect: [ {{ healthy: v }} ] }} ]");
    assert_eq!(expected("v: {}", &timeline)[0].window, Window { from, to });
}

#[test]
fn a_moment_leaves_its_own_poll_to_the_old_monitor() {
    let timeline = "[ { at: 10s, in_poll: { accepted: 1 }, do: [ { monitor: restart, signal: KILL, away: 2s } ], expect: [ { next_poll: nothing } ] } ]";
    assert_eq!(
        expected("v: {}", timeline)[0].window,
        Window { from: 13, to: 13 }
    );
}

#[test]
fn a_story_that_says_nothing_of_its_first_poll_expects_the_baseline_there() {
    let baseline = |text: &str| {
        let scenario = read("port/try.yaml", text).unwrap_or_else(|error| panic!("{error}"));
        let story = scenario
            .in_world(&node(), &platform("h100-oci"))
            .expect("a story");
        story
            .expectations
            .iter()
            .filter(|it| matches!(it.what, What::Baseline { .. }))
            .count()
    };
    let head = "scenario: a\nwhy: b\n";
    assert_eq!(
        baseline(&format!(
            "{head}timeline: [ {{ at: 5s, expect: [ nothing ] }} ]"
        )),
        1
    );
    assert_eq!(
        baseline(&format!(
            "{head}timeline: [ {{ at: 0s, expect: [ nothing ] }} ]"
        )),
        0
    );
    let given = "given: [ { metadata: missing } ]\n";
    assert_eq!(
        baseline(&format!(
            "{head}{given}timeline: [ {{ at: 5s, expect: [ nothing ] }} ]"
        )),
        0
    );
}

#[test]
fn a_set_is_each_of_its_ports_and_an_event_is_expected_once() {
    let events = expected(
        "s: { role: compute, cards: 2 }",
        "[ { at: 10s, expect: [ { fatal: s } ] } ]",
    );
    assert_eq!(events.len(), 4);
    for event in &events {
        let What::Say {
            event,
            times,
            reported: false,
            in_order: None,
        } = &event.what
        else {
            panic!("{event:?}");
        };
        assert_eq!((event.tone, *times), (Severity::Fatal, Times::ONCE));
    }
}

#[test]
fn each_it_is_the_same_as_the_set() {
    let one = expected(
        "s: { cards: 2 }",
        "[ { at: 10s, expect: [ { fatal: s, within: 2 polls } ] } ]",
    );
    let other = expected(
        "s: { cards: 2 }",
        "[ { at: 10s, expect: [ { each: s, count: 4, distinct: device, fatal: it, within: 2 polls } ] } ]",
    );
    let whats = |all: &[Expectation]| {
        all.iter()
            .map(|it| format!("{:?} {:?}", it.what, it.window))
            .collect::<Vec<_>>()
    };
    assert_eq!(whats(&one), whats(&other));
}

#[test]
fn an_attempt_is_enough_where_it_is_said_and_may_be_repeated() {
    let events = expected(
        "v: {}",
        "[ { at: 10s, expect: [ { said: { fatal: v } } ] } ]",
    );
    let What::Say {
        times, reported, ..
    } = &events[0].what
    else {
        panic!("{events:?}")
    };
    assert_eq!(
        (*reported, *times),
        (
            true,
            Times {
                at_least: 1,
                at_most: u32::MAX
            }
        )
    );
}

#[test]
fn edges_are_followed_port_by_port() {
    let timeline = "[ { at: 10s, expect: [ { each: s, say: [ { fatal: it }, { healthy: it } ], times: 4, each_within: 2 polls } ] } ]";
    let edges = expected("s: { cards: 2, ports: 1 }", timeline);
    assert_eq!(edges.len(), 2);
    let What::FollowEdges {
        slot,
        times: 4,
        within_polls: 2,
        down: Some(down),
        up: Some(up),
    } = &edges[0].what
    else {
        panic!("{edges:?}");
    };
    assert_eq!((down.tone, up.tone), (Severity::Fatal, Severity::Healthy));
    assert_eq!(down.about, About::Port(slot.clone()));
}

#[test]
fn order_counts_within_its_group() {
    let timeline = "[ { at: 10s, expect: [ { in_order: [ { cleared: v }, { fatal: w } ] }, { in_order: [ { healthy: v }, reboot_baseline ] } ] } ]";
    let story = resolved("v: {}, w: { nth: 2 }", timeline);
    let orders: Vec<_> = story
        .expectations
        .iter()
        .filter_map(|expected| match &expected.what {
            What::Say { in_order, .. } | What::Baseline { in_order, .. } => *in_order,
            _ => None,
        })
        .collect();
    assert_eq!(orders, [(1, 0), (1, 1), (2, 0), (2, 1)]);
}

#[test]
fn what_is_cleared_bears_its_name_at_rest() {
    let events = expected(
        "v: { device: mlx5_3 }",
        "[ { at: 10s, expect: [ { cleared: v }, { cleared: device of v } ] } ]",
    );
    let abouts: Vec<&About> = events
        .iter()
        .map(|it| match &it.what {
            What::Say { event, .. } => &event.about,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(
        matches!(abouts[0], About::NamedPort(name, port) if name.as_str() == "mlx5_3" && port.0 == 1)
    );
    assert!(matches!(abouts[1], About::NamedDevice(name) if name.as_str() == "mlx5_3"));
}

#[test]
fn a_message_has_handles_filled_in_and_subjects_left() {
    let timeline = "[ { at: 10s, expect: [ { fatal: v, message: { ethernet: \"{v.device} {device} port {v.port} …\" } } ] } ]";
    let events = expected("v: { device: mlx5_3 }", timeline);
    let What::Say { event, .. } = &events[0].what else {
        panic!("{events:?}")
    };
    assert_eq!(
        event.message[&LinkLayer::Ethernet],
        "mlx5_3 {device} port 1 …"
    );
    assert!(!event.message.contains_key(&LinkLayer::InfiniBand));
}

#[rstest]
#[case::no_device(
    "cut: { name: mlx5_99, port: 1 }",
    "no device is called `mlx5_99` at rest"
)]
#[case::no_port("cut: { name: mlx5_3, port: 7 }", "`mlx5_3` has no port 7 at rest")]
#[case::of_a_device("remove: { name: mlx5_33 }", "no device is called `mlx5_33` at rest")]
#[case::behind_another(
    "disable: [ v, { name: mlx5_99 } ]",
    "no device is called `mlx5_99` at rest"
)]
fn an_action_about_a_name_that_nothing_has_is_refused(#[case] action: &str, #[case] what: &str) {
    let timeline = format!("[ {{ at: 1s, do: [ {{ {action} }} ], expect: [ nothing ] }} ]");
    let Err(Unfit::Wrong(error)) = resolve("h100-oci", "v: {}", &timeline) else {
        panic!("`{action}` is accepted");
    };
    let error = error.to_string();
    assert!(error.contains(what) && error.contains("hint: "), "{error}");
}

/// The ticks between two polls of the story's checks, by its flags.
#[rstest]
#[case("state", "--verbose", 1)]
#[case("state", "--state-polling-interval=5s", 5)]
#[case("state", "--state-polling-interval=2500ms", 3)]
#[case("state", "--state-polling-interval=30ms", 1)]
#[case("state", "--counter-polling-interval=5s", 1)]
#[case("all", "--state-polling-interval=2s, --counter-polling-interval=5s", 5)]
fn polls_of_healing_are_as_long_as_the_flags_say(
    #[case] checks: &str,
    #[case] flags: &str,
    #[case] every: u64,
) {
    let text = format!(
        "scenario: a\nwhy: b\nchecks: {checks}\nflags: [ {flags} ]\ntimeline: [ {{ at: 1s, expect: [ nothing ] }} ]\n"
    );
    let scenario = read("port/try.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let story = scenario.in_world(&node(), &platform("h100-oci"));
    let story = story.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(story.heal, scenarios::Heal::Within { polls: 3, every });
}

#[test]
fn only_a_layer_leaves_the_other_out_of_the_line() {
    let timeline = "[ { at: 10s, do: [ { cut: v, only: infiniband }, { disable: v, only: ethernet } ], expect: [ { fatal: v, only: ethernet }, { nothing: v, only: infiniband } ] } ]";
    let story = resolved("v: {}", timeline);
    assert!(matches!(
        story.steps[0].actions[..],
        [StepAction::World(fabric::Action::Port(
            _,
            fabric::PortAction::Disable
        ))]
    ));
    assert_eq!(expected("v: {}", timeline).len(), 1);
}

#[test]
fn a_full_disk_is_a_rule_on_every_write_of_the_state_file() {
    let story = resolved(
        "v: {}",
        "[ { at: 10s, do: [ { state_file: disk_full } ], expect: [ { state_file: { member: a.b, equals: true } } ] } ]",
    );
    let [StepAction::Rule(rule)] = &story.steps[0].actions[..] else {
        panic!("{:?}", story.steps)
    };
    assert_eq!(rule.file, FileRef::StateFile);
    assert_eq!(rule.effect, RuleEffect::Fail(simfs::Errno::ENOSPC));
    assert!(
        [FileOp::Create, FileOp::Write, FileOp::Rename]
            .iter()
            .all(|op| rule.ops.contains(op))
    );
    let holds = StateFileIs::Holds {
        member: "a.b".to_owned(),
        equals: "true".to_owned(),
    };
    let last = story.expectations.last().expect("an expectation");
    assert!(matches!(&last.what, What::StateFile(is) if *is == holds));
}

#[test]
fn times_become_ticks_of_the_story() {
    let text = "scenario: a\nwhy: b\ntick: 500ms\ntimeline: [ { at: 10s, do: [ { monitor: pause, for: 1200ms } ], expect: [ nothing ] } ]\n";
    let story = read("port/try.yaml", text)
        .expect("a scenario")
        .in_world(&node(), &platform("h100-oci"))
        .expect("a story");
    assert!(matches!(
        story.steps[0].actions[..],
        [StepAction::Monitor(_, MonitorAction::Pause { ticks: 3 })]
    ));
    let window = story.expectations.last().expect("an expectation").window;
    assert_eq!(window, Window { from: 20, to: 24 });
}

#[test]
fn a_line_knows_its_place_and_its_text() {
    let text = "scenario: a\nwhy: b\nlet: { v: {} }\ntimeline:\n  - at: 10s\n    do: [ { cut: v } ]\n    expect:\n      - { fatal: v, within: 2 polls }\n";
    let scenario = read("suite/port/try.yaml", text).expect("a scenario");
    let story = scenario
        .in_world(&node(), &platform("h100-oci"))
        .expect("a story");
    let last = story.expectations.last().expect("an expectation");
    assert_eq!(last.place.to_string(), "suite/port/try.yaml:8:9");
    assert_eq!(last.text, "fatal: v, within: 2 polls");
    assert_eq!(story.steps[0].text, "cut: v");
    assert_eq!(
        (story.name.as_str(), story.world.as_str()),
        ("port/try", "h100-oci")
    );
}

#[test]
fn a_single_action_applies_to_a_machine() {
    let actions = read_actions("cut: mlx5_3", &node(), &platform("h100-oci")).expect("an action");
    let [StepAction::World(fabric::Action::Port(slot, fabric::PortAction::Cut))] = &actions[..]
    else {
        panic!("{actions:?}")
    };
    assert_eq!(named(&platform("h100-oci"), slot), "mlx5_3");
    let error =
        read_actions("cut: mlx5_99", &node(), &platform("h100-oci")).expect_err("no such device");
    assert!(
        error
            .to_string()
            .starts_with("action:1:6: unknown handle `mlx5_99`"),
        "{error}"
    );
    let actions = read_actions("monitor: kill", &node(), &platform("h100-oci")).expect("an action");
    assert!(
        matches!(actions[..], [StepAction::Monitor(..)]),
        "who has no monitor refuses it"
    );
}

#[rstest]
#[case::a_time("tick: 1ms", "nothing: victim, within: 1000h")]
#[case::an_end("tick: 1ms", "nothing: victim, from: 0s, to: 1000h")]
#[case::after_a_reboot("given: []", "nothing: victim, within: 1 poll")]
fn a_window_far_behind_the_story_is_refused_at_its_line(#[case] key: &str, #[case] line: &str) {
    let text = format!(
        "scenario: a\nwhy: b\nlet: {{ victim: {{ nth: 1 }} }}\n{key}\ntimeline:\n  - at: 0s\n    \
         do: [ {{ reboot: {{ takes: 8000h }} }} ]\n    expect:\n      - {{ {line} }}\n"
    );
    let scenario = read("port/try.yaml", &text).unwrap();
    let told = scenario.in_world(&node(), &platform("h100-oci"));
    let told = told.unwrap_err().to_string();
    assert!(
        told.contains("port/try.yaml:9:9: the window ends at tick "),
        "{told}"
    );
    assert!(told.contains("at most 100000 are played"), "{told}");
}
