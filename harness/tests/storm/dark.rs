//! The law of ports that are dark by design, on every platform that has some, under every verb: what is said of a
//! subject is taken back once it stands again as it was when nothing was said of it.

use harness::{MemoryPlayer, Player as _, descriptors::shipped};
use observe::Descriptor;
use platforms::{NodeName, Platform, Platforms};
use scenarios::{Story, WordKind, read, vocabulary};
use test_support::laws;

/// Three ports that are not cabled, or fewer, as every handle that the examples of verbs use.
fn around(platform: &Platform, action: &str, at: &str) -> Option<Story> {
    let text = format!(
        "scenario: a verb about a port without a cable\nwhy: to try it\nplatforms: all\nchecks: all\nlet:\n  \
         victim: {{ cabled: false, nth: 1 }}\n  first: {{ cabled: false, nth: 1 }}\n  \
         second: {{ cabled: false, nth: last }}\n  model: {{ cabled: false, nth: last }}\n  \
         storm: {{ cabled: false, count: all }}\n  vf: {{ healthy: any }}\n\
         timeline:\n  - at: {at}\n    do: [ {action} ]\n    expect: [ {{ polls: 1 }} ]\nuntil: 80s\n"
    );
    let scenario = read("port/dark.yaml", &text).ok()?;
    scenario.in_world(&NodeName::from("node-a"), platform).ok()
}

/// Plays a story, and returns what still stands once the world is healed.
fn left(story: &Story, reference: &Descriptor) -> Vec<String> {
    let played = MemoryPlayer::default().play(story, reference);
    let broken = laws::broken(&played).into_iter();
    broken.filter(|law| law.starts_with("healed")).collect()
}

#[test]
fn what_was_said_of_a_dark_port_is_taken_back_under_every_verb() {
    let reference = shipped("reference").expect("the reference monitor ships");
    let platforms = Platforms::shipped();
    // A device that is added without a cable is a fault of its own, which healing cannot mend.
    let words = vocabulary().into_iter();
    let words = words.filter(|word| word.kind == WordKind::StepAction && word.word != "hot_add");
    let examples: Vec<&str> = words.filter_map(|word| word.example).collect();
    let (mut played, mut found) = (0, Vec::new());
    for (at, (name, platform)) in platforms.iter().enumerate() {
        if around(platform, "{ cut: victim }", "5s").is_none() {
            continue;
        }
        for (verb, example) in examples.iter().enumerate() {
            // Within the patience of the first poll, and after it, in turn.
            let time = ["5s", "40s"][(at + verb) % 2];
            let Some(story) = around(platform, example, time) else {
                continue;
            };
            played += 1;
            let left = left(&story, &reference);
            let told = |left: &String| format!("{name}, {example} at {time}: {left}");
            found.extend(left.iter().map(told));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(played > 100, "{played} verbs were played");
}
