//! Which events a pattern describes, on a node of three functions: `mlx5_0` of two InfiniBand ports, which
//! is renamed within the second tick and has no port any more in the third; `mlx5_1` of one RoCE port, which
//! is not there in the third tick; `mlx5_2` without a port, on the card of `mlx5_0`.

use std::collections::BTreeMap;
use std::sync::Arc;

use director::{Log, NodeTruth, TickTruth};
use observe::{Messages, Vocabulary};
use platforms::{NicRole, PhysState, Platforms, PortState};
use rstest::rstest;
use terms::Severity;

use super::*;

const IB: &str = "InfiniBandStateCheck";
const ROCE: &str = "EthernetStateCheck";

#[rstest]
#[case("abc", "abc", true)]
#[case("abc", "abcd", false)]
#[case("ab…", "abcd", true)]
#[case("…cd", "abcd", true)]
#[case("a…c…e", "abcde", true)]
#[case("a…c…e", "abde", false)]
#[case("a…bc…c", "abc", false)]
#[case("ab…bc", "abc", false)]
#[case("…", "", true)]
fn an_ellipsis_stands_for_anything(#[case] pattern: &str, #[case] text: &str, #[case] fits: bool) {
    assert_eq!(like(pattern, text), fits);
}

pub(crate) fn pci(text: &str) -> PciAddress {
    text.parse().expect("an address")
}

pub(crate) fn function(
    name: &str,
    role: NicRole,
    ports: &[(LinkLayer, PhysState)],
) -> FunctionView {
    let view = |(layer, phys_state): &(LinkLayer, PhysState)| PortView {
        layer: *layer,
        state: PortState::ACTIVE,
        phys_state: *phys_state,
        listed: true,
    };
    FunctionView {
        name: name.into(),
        listed: true,
        role,
        monitored: true,
        netdev: (role == NicRole::Storage).then(|| "eth1".to_owned()),
        ports: (1..).map(PortNumber).zip(ports.iter().map(view)).collect(),
        unreadable: BTreeSet::new(),
    }
}

/// What is so in a tick, by the name of `mlx5_0` at its start and at its end.
pub(crate) fn tick([start, end]: [&str; 2], has_ports: bool, has_roce: bool) -> TickTruth {
    let ib = [
        (LinkLayer::InfiniBand, PhysState::LINK_UP),
        (LinkLayer::InfiniBand, PhysState::POLLING),
    ];
    let views = |name| {
        let ports = if has_ports { &ib[..] } else { &[] };
        let mut views = BTreeMap::from([
            (pci("0000:10:00.0"), function(name, NicRole::Compute, ports)),
            (
                pci("0000:10:00.1"),
                function("mlx5_2", NicRole::Compute, &[]),
            ),
        ]);
        if has_roce {
            let roce = [(LinkLayer::Ethernet, PhysState::POLLING)];
            views.insert(
                pci("0000:20:00.0"),
                function("mlx5_1", NicRole::Storage, &roce),
            );
        }
        Arc::new(NodeView(views))
    };
    let node = NodeTruth {
        wall_at_start_ns: WORLD_START_WALL_NS,
        views: views(start),
        after: views(end),
    };
    let mut tick = TickTruth::default();
    tick.nodes.insert(node_a(), node);
    tick
}

pub(crate) fn node_a() -> NodeName {
    NodeName::from("node-a")
}

pub(crate) fn node_b() -> NodeName {
    NodeName::from("node-b")
}

/// A story on `node-a`, and the reference monitor.
#[expect(
    clippy::disallowed_types,
    reason = "platforms are read once for the many cases"
)]
static SHIPPED: std::sync::LazyLock<(Story, Descriptor)> = std::sync::LazyLock::new(|| {
    let text = "scenario: an example\nwhy: an example\nplatforms: all\ntimeline:\n  - at: 0s\n    expect: [ { this_poll: baseline } ]\nuntil: 3s\n";
    let scenario = scenarios::read("port/example.yaml", text).expect("it can be read");
    let platforms = Platforms::shipped();
    let platform = platforms.get("h100-oci").expect("it ships");
    let story = scenario.in_world(&node_a(), platform).expect("it fits");
    let (file, text) = observe::shipped_descriptors()
        .find(|(file, _)| *file == "reference.yaml")
        .expect("it ships");
    let descriptor = files::yaml::read(file, text).expect("it can be read");
    (story, descriptor)
});

pub(crate) struct Case {
    pub(crate) story: Story,
    pub(crate) truth: Truth,
    pub(crate) descriptor: Descriptor,
}

impl Case {
    pub(crate) fn new() -> Self {
        let ticks = vec![
            tick(["mlx5_0", "mlx5_0"], true, true),
            tick(["mlx5_0", "mlx5_9"], true, true),
            tick(["mlx5_9", "mlx5_9"], false, false),
        ];
        let (story, descriptor) = SHIPPED.clone();
        Self {
            story,
            truth: Truth {
                ticks,
                ..Truth::default()
            },
            descriptor,
        }
    }

    /// A story, as if its steps had been carried out.
    pub(crate) fn of(story: Story) -> Self {
        let mut case = Self::new();
        case.truth.log = Log::foreseen(&story);
        case.story = story;
        case
    }

    pub(crate) fn context(&self) -> JudgeContext<'_> {
        JudgeContext {
            story: &self.story,
            truth: &self.truth,
            descriptor: &self.descriptor,
        }
    }
}

pub(crate) fn slot(node: NodeName, address: &str, port: u8) -> SlotRef {
    SlotRef {
        node,
        pci: pci(address),
        port: PortNumber(port),
    }
}

pub(crate) fn ib_port(port: u8) -> About {
    About::Port(slot(node_a(), "0000:10:00.0", port))
}

pub(crate) fn roce_port() -> About {
    About::Port(slot(node_a(), "0000:20:00.0", 1))
}

pub(crate) fn ib_device() -> About {
    About::Device(node_a(), pci("0000:10:00.0"))
}

pub(crate) fn ib_card() -> About {
    About::Card(node_a(), pci("0000:10:00.1"))
}

pub(crate) fn port(device: &str, port: &str) -> Subject {
    Subject::Port {
        device: device.to_owned(),
        port: port.to_owned(),
    }
}

pub(crate) fn device(name: &str) -> Subject {
    Subject::Device(name.to_owned())
}

pub(crate) fn card(name: &str) -> Subject {
    Subject::Card(name.to_owned())
}

pub(crate) fn event(check: &str, subject: Subject) -> Observation {
    Observation {
        check: Some(check.to_owned()),
        subject,
        severity: Severity::Fatal,
        stamped_ns: Some(WORLD_START_WALL_NS + 1_000_000_000),
        ..Observation::default()
    }
}

pub(crate) fn pattern(about: About) -> EventPattern {
    EventPattern {
        tone: Severity::Fatal,
        about,
        check: None,
        message: BTreeMap::new(),
        stamped_from: None,
        stamped_to: None,
        error_codes: None,
        counter: None,
    }
}

#[rstest]
#[case::a_port_by_its_name(ib_port(1), 0, port("mlx5_0", "1"), true)]
#[case::another_port(ib_port(1), 0, port("mlx5_0", "2"), false)]
#[case::another_device(ib_port(1), 0, port("mlx5_1", "1"), false)]
#[case::by_its_name_at_the_start(ib_port(1), 1, port("mlx5_0", "1"), true)]
#[case::by_its_name_at_the_end(ib_port(1), 1, port("mlx5_9", "1"), true)]
#[case::not_by_a_name_to_come(ib_port(1), 0, port("mlx5_9", "1"), false)]
#[case::not_by_a_name_of_before(ib_port(1), 2, port("mlx5_0", "1"), false)]
#[case::a_port_is_no_device(ib_port(1), 0, device("mlx5_0"), false)]
#[case::of_another_node(
    About::Port(slot(node_b(), "0000:10:00.0", 1)),
    0,
    port("mlx5_0", "1"),
    false
)]
#[case::a_device(ib_device(), 0, device("mlx5_0"), true)]
#[case::another_device_by_name(ib_device(), 0, device("mlx5_1"), false)]
#[case::a_device_of_another_node(
    About::Device(node_b(), pci("0000:10:00.0")),
    0,
    device("mlx5_0"),
    false
)]
#[case::a_device_is_no_port(ib_device(), 0, port("mlx5_0", "1"), false)]
#[case::a_card(ib_card(), 0, card("0000:10:00"), true)]
#[case::another_card(ib_card(), 0, card("0000:20:00"), false)]
#[case::a_card_of_another_node(
    About::Card(node_b(), pci("0000:10:00.0")),
    0,
    card("0000:10:00"),
    false
)]
#[case::a_named_port(About::NamedPort("x".into(), PortNumber(2)), 0, port("x", "2"), true)]
#[case::a_named_port_of_another_number(About::NamedPort("x".into(), PortNumber(2)), 0, port("x", "1"), false)]
#[case::a_port_of_another_name(About::NamedPort("x".into(), PortNumber(2)), 0, port("y", "2"), false)]
#[case::a_named_device(About::NamedDevice("x".into()), 0, device("x"), true)]
#[case::a_device_of_another_name(About::NamedDevice("x".into()), 0, device("y"), false)]
#[case::a_whole_check(About::Check, 0, Subject::Node, true)]
#[case::a_check_is_no_device(About::Check, 0, device("mlx5_0"), false)]
fn a_subject_is_told_by_the_names_it_bears(
    #[case] about: About,
    #[case] tick: u64,
    #[case] subject: Subject,
    #[case] is_named: bool,
) {
    let case = Case::new();
    let named = case
        .context()
        .names_subject(&about, &node_a(), tick, &event(IB, subject));
    assert_eq!(named, is_named);
}

#[rstest]
#[case::a_port(ib_port(1), "NIC:mlx5_0 NICPort:1 RoCE", true)]
#[case::another_port(ib_port(1), "NIC:mlx5_0 NICPort:2 RoCE", false)]
#[case::another_device(ib_port(1), "NIC:mlx5_1 NICPort:1 RoCE", false)]
#[case::the_device_alone(ib_port(1), "NIC:mlx5_0 Device", false)]
#[case::of_another_node(
    About::Port(slot(node_b(), "0000:10:00.0", 1)),
    "NIC:mlx5_0 NICPort:1 RoCE",
    false
)]
#[case::a_device(ib_device(), "NIC:mlx5_0 Device", true)]
#[case::a_device_and_a_port(ib_device(), "NIC:mlx5_0 NICPort:1 RoCE", false)]
#[case::another_devices(ib_device(), "NIC:mlx5_1 Device", false)]
#[case::a_device_of_another_node(
    About::Device(node_b(), pci("0000:10:00.0")),
    "NIC:mlx5_0 Device",
    false
)]
#[case::a_card(ib_card(), "NIC:0000:10:00 Card", true)]
#[case::another_card(ib_card(), "NIC:0000:20:00 Card", false)]
#[case::a_card_of_another_node(
    About::Card(node_b(), pci("0000:10:00.0")),
    "NIC:0000:10:00 Card",
    false
)]
#[case::a_named_port(About::NamedPort("x".into(), PortNumber(2)), "NIC:x NICPort:2 Port", true)]
#[case::a_named_port_of_another_number(About::NamedPort("x".into(), PortNumber(2)), "NIC:x NICPort:1 Port", false)]
#[case::a_port_of_another_name(About::NamedPort("x".into(), PortNumber(2)), "NIC:y NICPort:2 Port", false)]
#[case::a_named_device(About::NamedDevice("x".into()), "NIC:x Device", true)]
#[case::a_named_devices_port(About::NamedDevice("x".into()), "NIC:x NICPort:1 Port", false)]
#[case::a_device_of_another_name(About::NamedDevice("x".into()), "NIC:y Device", false)]
#[case::a_whole_check(About::Check, "No device is left", true)]
#[case::a_check_names_no_device(About::Check, "NIC:x Device", false)]
fn an_entry_of_a_condition_names_its_subject_alone(
    #[case] about: About,
    #[case] entry: &str,
    #[case] is_named: bool,
) {
    let case = Case::new();
    assert_eq!(
        case.context().names_entry(&about, &node_a(), 0, entry),
        is_named
    );
}

#[rstest]
#[case(ib_port(2), 0, "NIC=mlx5_0 NICPort=2")]
#[case(ib_port(2), 2, "NIC=mlx5_9 NICPort=2")]
#[case(roce_port(), 2, "NIC=0000:20:00.0 NICPort=1")]
#[case(ib_device(), 1, "NIC=mlx5_0")]
#[case(ib_card(), 0, "NIC=0000:10:00")]
#[case(About::NamedPort("x".into(), PortNumber(2)), 0, "NIC=x NICPort=2")]
#[case(About::NamedDevice("x".into()), 0, "NIC=x")]
#[case(About::Check, 0, "(whole check)")]
fn a_subject_is_told_by_the_name_that_it_bears_first(
    #[case] about: About,
    #[case] tick: u64,
    #[case] rendered: &str,
) {
    assert_eq!(
        Case::new().context().describe(&about, &node_a(), tick),
        rendered
    );
}

/// A check is of the layer that its subject has, or had when it was last seen.
#[rstest]
#[case::an_infiniband_port(ib_port(1), 0, &[LinkLayer::InfiniBand])]
#[case::a_port_that_is_gone(ib_port(1), 2, &[LinkLayer::InfiniBand])]
#[case::a_function_that_is_gone(roce_port(), 2, &[LinkLayer::Ethernet])]
#[case::a_device(ib_device(), 0, &[LinkLayer::InfiniBand])]
#[case::a_device_whose_ports_are_gone(ib_device(), 2, &[LinkLayer::InfiniBand])]
#[case::a_device_that_never_had_any(About::Device(node_a(), pci("0000:10:00.1")), 0, &[])]
#[case::a_card(ib_card(), 1, &[LinkLayer::InfiniBand])]
#[case::a_card_as_it_is_now(ib_card(), 2, &[])]
#[case::another_card(About::Card(node_a(), pci("0000:20:00.0")), 0, &[LinkLayer::Ethernet])]
#[case::a_name(About::NamedDevice("mlx5_1".into()), 2, &[LinkLayer::Ethernet])]
#[case::a_name_that_is_borne_no_more(About::NamedPort("mlx5_0".into(), PortNumber(1)), 2, &[LinkLayer::InfiniBand])]
#[case::a_name_that_was_never_borne(About::NamedDevice("mlx5_7".into()), 2, &[])]
#[case::a_check(About::Check, 0, &[])]
fn a_subject_has_the_layers_of_its_ports(
    #[case] about: About,
    #[case] tick: u64,
    #[case] layers: &[LinkLayer],
) {
    let found = Case::new().context().layers(&about, &node_a(), tick);
    assert_eq!(found, layers.iter().copied().collect());
}

#[rstest]
#[case::by_its_layer(pattern(ib_port(1)), event(IB, port("mlx5_0", "1")), true)]
#[case::by_the_other_layer(pattern(ib_port(1)), event(ROCE, port("mlx5_0", "1")), false)]
#[case::by_a_named_check(EventPattern { check: Some(ROCE.to_owned()), ..pattern(ib_port(1)) }, event(ROCE, port("mlx5_0", "1")), true)]
#[case::by_another_than_named(EventPattern { check: Some(ROCE.to_owned()), ..pattern(ib_port(1)) }, event(IB, port("mlx5_0", "1")), false)]
#[case::by_no_check(pattern(ib_port(1)), Observation { check: None, ..event(IB, port("mlx5_0", "1")) }, true)]
#[case::of_a_name_that_nobody_bears(pattern(About::NamedDevice("x".into())), event(ROCE, device("x")), true)]
#[case::of_a_name_of_the_other_layer(pattern(About::NamedDevice("mlx5_1".into())), event(IB, device("mlx5_1")), false)]
#[case::of_a_device_of_no_layer(
    pattern(About::Device(node_a(), pci("0000:10:00.1"))),
    event(IB, device("mlx5_2")),
    false
)]
#[case::of_another_subject(pattern(ib_port(1)), event(IB, port("mlx5_0", "2")), false)]
#[case::of_another_tone(EventPattern { tone: Severity::Healthy, ..pattern(ib_port(1)) }, event(IB, port("mlx5_0", "1")), false)]
#[case::of_its_counter(EventPattern { counter: Some("c".to_owned()), ..pattern(ib_port(1)) }, Observation { codes: vec!["c".to_owned()], ..event("InfiniBandDegradationCheck", port("mlx5_0", "1")) }, true)]
#[case::of_its_counter_by_the_state_check(EventPattern { counter: Some("c".to_owned()), ..pattern(ib_port(1)) }, Observation { codes: vec!["c".to_owned()], ..event(IB, port("mlx5_0", "1")) }, false)]
#[case::of_another_counter(EventPattern { counter: Some("c".to_owned()), ..pattern(ib_port(1)) }, Observation { codes: vec!["d".to_owned()], ..event("InfiniBandDegradationCheck", port("mlx5_0", "1")) }, false)]
#[case::with_its_codes(EventPattern { error_codes: Some(vec!["e".to_owned()]), ..pattern(ib_port(1)) }, Observation { codes: vec!["e".to_owned()], ..event(IB, port("mlx5_0", "1")) }, true)]
#[case::with_other_codes(EventPattern { error_codes: Some(vec!["e".to_owned()]), ..pattern(ib_port(1)) }, event(IB, port("mlx5_0", "1")), false)]
fn an_event_fits_by_check_subject_tone_and_codes(
    #[case] pattern: EventPattern,
    #[case] event: Observation,
    #[case] fits: bool,
) {
    assert_eq!(
        Case::new().context().fits(&pattern, &node_a(), 0, &event),
        fits
    );
}

/// A stamp counts the events of its poll in nanoseconds: it may be later than the poll by a spread.
#[rstest]
#[case(None, None, 5_000_000_000, true)]
#[case(Some(5), None, 5_000_000_000, true)]
#[case(Some(5), None, 4_999_999_999, false)]
#[case(None, Some(5), 5_000_000_000, true)]
#[case(None, Some(5), 5_000_100_000, true)]
#[case(None, Some(5), 5_000_100_001, false)]
#[case(Some(4), Some(5), 6_000_000_000, false)]
#[case(Some(4), Some(5), 3_000_000_000, false)]
fn a_stamp_lies_in_its_window(
    #[case] from: Option<u64>,
    #[case] to: Option<u64>,
    #[case] stamp_ns: u64,
    #[case] fits: bool,
) {
    let mut case = Case::new();
    let pattern = EventPattern {
        stamped_from: from.map(SimTime::from_secs),
        stamped_to: to.map(SimTime::from_secs),
        ..pattern(ib_port(1))
    };
    let mut event = Observation {
        stamped_ns: Some(WORLD_START_WALL_NS + stamp_ns),
        ..event(IB, port("mlx5_0", "1"))
    };
    assert_eq!(case.context().fits(&pattern, &node_a(), 0, &event), fits);
    event.stamped_ns = None;
    let is_open = from.is_none() && to.is_none();
    assert_eq!(case.context().fits(&pattern, &node_a(), 0, &event), is_open);
    case.descriptor.clock = ClockKind::Own;
    assert!(case.context().fits(&pattern, &node_a(), 0, &event));
}

/// The subject's words stand where a message names them; a layer without a message says anything.
#[test]
fn a_message_is_made_of_its_subjects_words() {
    let mut case = Case::new();
    let text = "{device}/{port} {role} {netdev} {pci} … end";
    let reported = |text: &str, check: &str, subject: Subject| Observation {
        text: text.to_owned(),
        ..event(check, subject)
    };
    let with = |about| EventPattern {
        message: BTreeMap::from([(LinkLayer::Ethernet, text.to_owned())]),
        ..pattern(about)
    };
    let roce = with(roce_port());
    let role = NicRole::Storage;
    let right = reported(
        &format!("mlx5_1/1 {role} eth1 0000:20:00.0 or so end"),
        ROCE,
        port("mlx5_1", "1"),
    );
    let wrong = reported("mlx5_1/1", ROCE, port("mlx5_1", "1"));
    assert!(case.context().fits(&roce, &node_a(), 0, &right));
    assert!(!case.context().fits(&roce, &node_a(), 0, &wrong));
    let anything = reported("anything", IB, port("mlx5_0", "1"));
    assert!(
        case.context()
            .fits(&with(ib_port(1)), &node_a(), 0, &anything)
    );
    let named = with(About::NamedDevice("mlx5_1".into()));
    let of_a_name = reported(
        &format!("mlx5_1/ {role} eth1 0000:20:00.0 x end"),
        ROCE,
        device("mlx5_1"),
    );
    assert!(case.context().fits(&named, &node_a(), 0, &of_a_name));
    let device_of = with(About::Device(node_a(), pci("0000:20:00.0")));
    assert!(case.context().fits(&device_of, &node_a(), 0, &of_a_name));
    let except = |text: &str| Messages::Except([text.to_owned()].into());
    case.descriptor.texts.events = except("another text");
    assert!(!case.context().fits(&roce, &node_a(), 0, &wrong));
    case.descriptor.texts.events = except("{netdev}");
    assert!(case.context().fits(&roce, &node_a(), 0, &wrong));
    case.descriptor.texts = Vocabulary::Own.into();
    assert!(case.context().fits(&roce, &node_a(), 0, &wrong));
}
