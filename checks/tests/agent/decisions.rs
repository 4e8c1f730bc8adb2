//! Each decision about what is said, by name.

use crate::world::{DISABLED, INIT, POLLING, Rig, UP, brief, nic};

fn three() -> Vec<crate::world::Nic> {
    (0..3).map(nic).collect()
}

#[test]
fn a_blind_first_poll_says_every_healthy_port_device_and_card() {
    let mut rig = Rig::new(&three());
    let said = rig.poll();
    assert_eq!(
        brief(&said),
        [
            "h mlx5_0",
            "h mlx5_0/1",
            "h mlx5_1",
            "h mlx5_1/1",
            "h mlx5_2",
            "h mlx5_2/1",
            "h 0000:10:00",
            "h 0000:11:00",
            "h 0000:12:00",
        ]
    );
    assert_eq!(said[0], "h mlx5_0: Device mlx5_0 re-enumerated in sysfs");
    assert_eq!(
        said[1],
        "h mlx5_0/1: Port mlx5_0 port 1: healthy (ACTIVE, LinkUp)"
    );
    assert_eq!(
        said[6],
        "h 0000:10:00: Card 0000:10:00 (compute) healthy: 1 active ports meet peer mode 1"
    );
    assert!(rig.polls(5).is_empty());
}

#[test]
fn a_port_that_goes_down_is_said_once_and_its_return_once() {
    let mut rig = Rig::started(&three());
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(
        rig.poll(),
        ["F mlx5_1/1: Port mlx5_1 port 1: state DOWN, phys_state Disabled"]
    );
    rig.world.set("mlx5_1", 1, POLLING);
    assert!(rig.polls(40).is_empty());
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(
        rig.poll(),
        ["h mlx5_1/1: Port mlx5_1 port 1: healthy (ACTIVE, LinkUp)"]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_port_stuck_in_init_becomes_fatal_after_the_patience() {
    let mut rig = Rig::started(&three());
    rig.world.set("mlx5_1", 1, INIT);
    assert_eq!(
        rig.poll(),
        ["n mlx5_1/1: Port mlx5_1 port 1: state INIT, phys_state LinkUp"]
    );
    assert!(rig.polls(30).is_empty());
    assert_eq!(
        rig.poll(),
        ["F mlx5_1/1: Port mlx5_1 port 1: state INIT, phys_state LinkUp"]
    );
}
