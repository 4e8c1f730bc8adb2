//! Every wrong monitor in its own story: right for 20 polls, then wrong, and the judge finds it.

use harness::{
    Descriptor, DrillResult, MemoryPlayer, play,
    read_files::Library,
    zoo::{Animal, RIGHT_POLLS, animals},
};
use platforms::NodeName;
use scenarios::Story;

/// The animal's story on the first platform that it fits.
fn story(library: &Library, animal: &Animal) -> Story {
    let scenario = animal
        .scenario()
        .unwrap_or_else(|error| panic!("{}: {error}", animal.name));
    let node = NodeName::from("node-a");
    library
        .platforms
        .iter()
        .find_map(|(_, platform)| scenario.in_world(&node, platform).ok())
        .unwrap_or_else(|| panic!("{}: its story fits no platform", animal.name))
}

fn played(story: &Story, species: Option<&str>) -> DrillResult {
    let descriptor = Descriptor::shipped("reference").expect("it is shipped");
    let mut player = MemoryPlayer {
        species: species.map(str::to_owned),
        ..MemoryPlayer::default()
    };
    play(story, &descriptor, &mut [&mut player])
}

#[test]
fn every_wrong_monitor_is_right_for_twenty_polls_of_its_story_and_then_wrong() {
    let library = Library::read(&[], &[]).unwrap();
    let mut complaints = Vec::new();
    for animal in animals() {
        let story = story(&library, &animal);
        for failure in played(&story, None).failures {
            complaints.push(format!("{}: the right one too: {failure:?}", animal.name));
        }
        let wrong = played(&story, Some(animal.name)).failures;
        if wrong.is_empty() {
            complaints.push(format!("{}: nobody finds it", animal.name));
        }
        for failure in wrong {
            if failure.tick.is_some_and(|tick| tick < RIGHT_POLLS) {
                complaints.push(format!("{}: wrong too early: {failure:?}", animal.name));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
