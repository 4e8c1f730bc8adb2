//! Wrong monitors on a healthy node: nobody tells them from the right one by looking at it.
//!
//! What each does wrong, and when, is played by `harness` in its own story.

use checks::Species;

use crate::world::{Rig, nic};

fn rig(species: Option<Species>) -> Rig {
    let mut rig = Rig::new(&[nic(0), nic(1), nic(2)]);
    rig.species = species;
    rig
}

#[test]
fn every_species_is_right_for_its_first_20_polls_of_a_healthy_node() {
    let right = rig(None).polls(20);
    for species in Species::all() {
        assert_eq!(rig(Some(*species)).polls(20), right, "{species}");
    }
}
