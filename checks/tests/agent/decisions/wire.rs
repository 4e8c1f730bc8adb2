//! An event as it is sent to the connector, with every field.

use std::time::Duration;

use proto::{Entity, HealthEvent};

use super::nics;
use crate::world::{ANCHOR, DISABLED, Rig, UP, brief, nic};

fn entity(kind: &str, value: &str) -> Entity {
    Entity {
        entity_type: kind.to_owned(),
        entity_value: value.to_owned(),
    }
}

#[test]
fn every_field_of_an_event_is_set_as_the_contract_has_it() {
    let mut rig = Rig::new(&nics(3));
    rig.args = vec!["--processing-strategy=STORE_ONLY".to_owned()];
    rig.poll();
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.world.drop_device("mlx5_2");
    rig.poll();
    let (check, events) = rig.calls.last().unwrap();
    assert_eq!(check, "InfiniBandStateCheck");
    let stamp = |number: u64| Some(proto::timestamp_from_ns(rig.world.wall_ns + number));
    let port = HealthEvent {
        version: 1,
        agent: "nic-health-monitor".to_owned(),
        component_class: "NIC".to_owned(),
        check_name: "InfiniBandStateCheck".to_owned(),
        is_fatal: true,
        is_healthy: false,
        message: "Port mlx5_1 port 1: state DOWN, phys_state Disabled".to_owned(),
        recommended_action: 25,
        error_code: Vec::new(),
        entities_impacted: vec![entity("NIC", "mlx5_1"), entity("NICPort", "1")],
        generated_timestamp: stamp(0),
        node_name: "n1".to_owned(),
        processing_strategy: 2,
        ..HealthEvent::default()
    };
    let device = HealthEvent {
        message: "NIC mlx5_2 disappeared from /sys/class/infiniband/ - hardware failure".to_owned(),
        entities_impacted: vec![entity("NIC", "mlx5_2")],
        generated_timestamp: stamp(1),
        ..port.clone()
    };
    assert_eq!(events, &[port.clone(), device]);
    rig.world.set("mlx5_1", 1, UP);
    rig.poll();
    let healthy = HealthEvent {
        is_fatal: false,
        is_healthy: true,
        message: "Port mlx5_1 port 1: healthy (ACTIVE, LinkUp)".to_owned(),
        recommended_action: 0,
        generated_timestamp: Some(proto::timestamp_from_ns(rig.world.wall_ns)),
        ..port
    };
    assert_eq!(rig.calls.last().unwrap().1, [healthy]);
}

#[test]
fn a_cards_fault_ends_when_it_is_exempt() {
    let mut rig = Rig::new(&nics(3));
    rig.world.set("mlx5_2", 1, DISABLED);
    assert!(brief(&rig.poll()).contains(&"F 0000:12:00"));
    rig.world.put_device(&nic(3).at("0000:12:00.1").numa(5));
    assert_eq!(
        rig.poll(),
        [
            "h 0000:12:00: Card 0000:12:00 exempt from peer comparison (management NIC sibling); \
          clearing anomaly"
        ]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn the_agent_tells_its_hands_how_often_and_where_to_look() {
    let mut rig = Rig::new(&nics(1));
    rig.args = vec![
        "--state-polling-interval=5s".to_owned(),
        "--counter-polling-interval=2s".to_owned(),
    ];
    rig.poll();
    let agent = rig.agent.as_ref().unwrap();
    assert_eq!(agent.interval(), Duration::from_secs(2));
    assert_eq!(agent.anchor(), ANCHOR);
    assert_eq!(agent.settings().node_name, "n1");
}
