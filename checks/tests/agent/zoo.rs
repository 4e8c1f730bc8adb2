//! Wrong monitors: each is right for its first 20 polls on a healthy node, and wrong in its own way.

use checks::{ReadError, Species};

use crate::world::{ANCHOR, Connector, DISABLED, Rig, UP, brief, nic};

fn rig(species: Option<Species>) -> Rig {
    let mut rig = Rig::new(&[nic(0), nic(1), nic(2)]);
    rig.species = species;
    rig
}

#[test]
fn every_species_is_right_for_its_first_20_polls() {
    let right = rig(None).polls(20);
    for species in Species::ALL {
        assert_eq!(rig(Some(species)).polls(20), right, "{species}");
    }
}

/// What a story makes of a species, beside what it makes of the right monitor.
fn check(species: Species, story: fn(&mut Rig) -> Vec<String>, right: &[&str], wrong: &[&str]) {
    assert_eq!(brief(&story(&mut rig(None))), right, "the right monitor");
    assert_eq!(brief(&story(&mut rig(Some(species)))), wrong, "{species}");
    assert_eq!(Species::parse(species.name()), Some(species));
    assert!(!species.models().is_empty() && !species.why_right().is_empty());
}

#[test]
fn deaf_says_no_fault() {
    fn story(rig: &mut Rig) -> Vec<String> {
        rig.polls(20);
        rig.world.set("mlx5_1", 1, DISABLED);
        rig.poll()
    }
    check(Species::Deaf, story, &["F mlx5_1/1"], &[]);
}

#[test]
fn crying_wolf_says_a_fault_of_a_healthy_port() {
    fn story(rig: &mut Rig) -> Vec<String> {
        rig.polls(20);
        rig.poll()
    }
    check(Species::CryingWolf, story, &[], &["F mlx5_0/1"]);
}

#[test]
fn forgetful_says_again_after_a_restart() {
    fn story(rig: &mut Rig) -> Vec<String> {
        rig.poll();
        rig.world.set("mlx5_1", 1, DISABLED);
        rig.poll();
        rig.stop();
        rig.poll()
    }
    check(Species::Forgetful, story, &[], &["F mlx5_1/1"]);
}

#[test]
fn double_reporter_says_a_standing_fault_at_every_poll() {
    fn story(rig: &mut Rig) -> Vec<String> {
        rig.poll();
        rig.world.set("mlx5_1", 1, DISABLED);
        rig.polls(2)
    }
    check(
        Species::DoubleReporter,
        story,
        &["F mlx5_1/1"],
        &["F mlx5_1/1", "F mlx5_1/1"],
    );
}

#[test]
fn loses_on_failed_publish_never_says_it() {
    fn story(rig: &mut Rig) -> Vec<String> {
        rig.poll();
        rig.connector = Connector::Refuses(3);
        rig.world.set("mlx5_1", 1, DISABLED);
        rig.poll();
        rig.connector = Connector::Accepts;
        rig.poll()
    }
    check(Species::LosesOnFailedPublish, story, &["F mlx5_1/1"], &[]);
}

#[test]
fn fatal_on_unreadable_takes_an_error_for_a_fault() {
    fn story(rig: &mut Rig) -> Vec<String> {
        rig.poll();
        let path = format!("{ANCHOR}/mlx5_1/ports/1/state");
        rig.world.errors.insert(path, ReadError::EIO);
        rig.poll()
    }
    check(Species::FatalOnUnreadable, story, &[], &["F mlx5_1/1"]);
}

#[test]
fn blind_after_rename_sees_no_fault_of_a_renamed_device() {
    fn story(rig: &mut Rig) -> Vec<String> {
        rig.poll();
        rig.world.drop_device("mlx5_1");
        rig.world.put_device(&nic(1).named("mlx5_7"));
        rig.poll();
        rig.world.set("mlx5_7", 1, DISABLED);
        rig.poll()
    }
    check(Species::BlindAfterRename, story, &["F mlx5_7/1"], &[]);
}

#[test]
fn healthy_on_reboot_declares_a_dead_port_healthy() {
    fn story(rig: &mut Rig) -> Vec<String> {
        rig.poll();
        rig.world.set("mlx5_1", 1, DISABLED);
        rig.poll();
        rig.reboot();
        let said = rig.poll();
        rig.world.set("mlx5_1", 1, UP);
        said
    }
    check(
        Species::HealthyOnReboot,
        story,
        &["h mlx5_0/1", "F mlx5_1/1", "h mlx5_2/1"],
        &["h mlx5_0/1", "h mlx5_1/1", "h mlx5_2/1"],
    );
}
