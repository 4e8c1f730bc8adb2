//! Nothing is owed about what is out of scope, whatever is done to it, for a monitor that reports ports, devices or its
//! node.

use std::sync::Arc;

use director::{Log, NodeView};
use fabric::{CharDeviceKind, CounterChange, PortAction, PortsAction, Side, StickAt};
use observe::{MonitorTick, Promises, Tick};
use platforms::{LinkLayer, Rate, SlotRef};
use scenarios::{Step, StepAction};
use simfs::SimTime;

use super::*;
use crate::fits::tests::{Case, node_a, pci, slot};

/// Every kind of a port's fault is fatal.
const ROWS: &str = "
granularity: GRANULARITY
rows:
  down: { verdict: fatal }
  disabled: { verdict: fatal }
  polling: { verdict: fatal }
  training: { verdict: fatal }
  init: { verdict: fatal }
  armed: { verdict: fatal }
  slow: { verdict: fatal }
  gone_device: { verdict: fatal }
  gone_port: { verdict: fatal }
  char_device: { verdict: fatal }
  moved_layer: usual
  first_poll: usual
  flap: usual
";

fn all() -> Vec<PortAction> {
    let counter = |change| PortAction::Counter {
        name: "link_downed".to_owned(),
        change,
    };
    vec![
        PortAction::Cut,
        PortAction::Disable,
        PortAction::Set {
            state: Some(platforms::PortState::INIT),
            phys_state: None,
        },
        PortAction::TrainSlowly {
            takes: SimTime::from_secs(9),
        },
        PortAction::Stick { at: StickAt::Init },
        PortAction::Speed {
            rate: Rate::WITHOUT_SPEED,
        },
        PortAction::LoseLanes {
            side: Side::Here,
            left: 1,
        },
        PortAction::Interface { up: false },
        PortAction::RemovePort,
        PortAction::ChangeLayer {
            layer: LinkLayer::InfiniBand,
        },
        counter(CounterChange::Add(7)),
        PortAction::Traffic {
            bytes_per_second: 1,
            packet_bytes: 1,
        },
        PortAction::CharDevice {
            kind: CharDeviceKind::Umad,
            there: false,
        },
    ]
}

/// How many alarms and further faults there are when this is done, by whether the port is in scope.
fn owed(action: StepAction, granularity: Granularity, monitored: bool) -> usize {
    let mut case = Case::new();
    for tick in &mut case.truth.ticks {
        let mut node = tick.nodes[&node_a()].clone();
        for views in [&mut node.views, &mut node.after] {
            let mut changed: NodeView = (**views).clone();
            for view in changed.0.values_mut() {
                view.monitored = monitored;
                // What can be read of it is healthy.
                for port in view.ports.values_mut() {
                    port.phys_state = platforms::PhysState::LINK_UP;
                }
            }
            *views = Arc::new(changed);
        }
        tick.nodes.insert(node_a(), node);
    }
    let step = Step {
        at: SimTime::from_secs(1),
        place: scenarios::FilePlace::default(),
        text: String::new(),
        moment: None,
        actions: vec![action],
    };
    case.story.steps = vec![step];
    case.truth.log = Log::foreseen(&case.story);
    let word = format!("{granularity:?}").to_lowercase();
    let promises: Promises =
        files::yaml::read("promises.yaml", &ROWS.replace("GRANULARITY", &word))
            .unwrap_or_else(|error| panic!("{error}"));
    case.descriptor.promises = promises;
    let recording = Recording {
        ticks: (0..3)
            .map(|_| {
                let mut tick = Tick::default();
                let polled = MonitorTick {
                    polls: 1,
                    ..MonitorTick::default()
                };
                tick.insert((&node_a()).into(), polled.into());
                tick
            })
            .collect(),
        ..Recording::default()
    };
    let context = case.context();
    let readings = Readings::of(context, recording.healing_from);
    let bearers = Bearers::of(&readings, &recording, &node_a());
    let names = (&readings, &bearers);
    let groups = groups(&context, &recording, &node_a(), names, granularity);
    let sizes = groups.iter().map(|group| {
        let pieces = group.alarms.iter().map(|alarm| alarm.pieces.len());
        pieces.sum::<usize>() + group.unpromised.len()
    });
    sizes.sum()
}

const GRANULARITIES: [Granularity; 3] = [Granularity::Node, Granularity::Device, Granularity::Port];

fn port() -> SlotRef {
    slot(node_a(), "0000:20:00.0", 1)
}

#[test]
fn nothing_is_owed_about_a_port_out_of_scope() {
    for granularity in GRANULARITIES {
        for action in all() {
            let told = format!("{action:?} for {granularity:?}");
            let action = StepAction::World(action.on(port()));
            // The third tick is without `mlx5_1`, which nobody watches either.
            assert_eq!(owed(action, granularity, false), 0, "{told}");
        }
        let flap = PortsAction::Flap {
            times: 3,
            down: SimTime::from_ms(100),
            up: SimTime::from_ms(100),
            stagger: SimTime::ZERO,
        };
        let flap = StepAction::World(flap.on(vec![port()]));
        assert_eq!(owed(flap, granularity, false), 0);
    }
}

#[test]
fn a_slow_port_in_scope_is_owed_an_alarm() {
    for granularity in GRANULARITIES {
        let nothing = owed(
            StepAction::World(PortAction::Mend.on(port())),
            granularity,
            true,
        );
        let slow = PortAction::Speed {
            rate: Rate::WITHOUT_SPEED,
        };
        let slow = owed(StepAction::World(slow.on(port())), granularity, true);
        assert!(slow > nothing, "{granularity:?}");
    }
    assert_eq!(pci("0000:20:00.0"), port().pci);
}
