//! A monitor that names every device otherwise, on two nodes: each of its events is about what is missing on its node.

use director::Trees;
use judge::judge;
use memory::play_in_memory;
use platforms::Platforms;
use reports::{CauseKind, FindingKind};
use scenarios::{AtRest, World};
use terms::EventField;

use crate::wire::{calls, reference};

const PAIR: &str = "
world: pair
why: an example
nodes:
  - { name: one, platform: two-rail-vm }
  - { name: two, platform: two-rail-vm }
switches: [ leaf ]
cables:
  - { device: [ mlx5_0, mlx5_1, mlx5_2, mlx5_3 ], to: leaf }
";

const AT_REST: &str = "
scenario: two nodes at rest
why: an example
world: pair
monitors: [ one, two ]
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
until: 3s
";

#[test]
fn an_event_stands_for_what_is_missing_on_its_own_node() {
    let world = World::read("pair.yaml", PAIR).unwrap_or_else(|error| panic!("{error}"));
    let rest = AtRest::of_world(&world, &Platforms::shipped());
    let rest = rest.unwrap_or_else(|error| panic!("{error}"));
    let scenario = scenarios::read("port/example.yaml", AT_REST);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let story = scenario.at_rest(&rest);
    let story = story.unwrap_or_else(|unfit| panic!("{unfit}"));
    let played = play_in_memory(&story, &reference(), None, &mut Trees::default());
    let mut recording = played.recording;
    for call in &mut calls(&mut recording) {
        let events = call.events.iter_mut();
        for entity in events.flat_map(|event| &mut event.entities_impacted) {
            if let Some(bare) = entity.entity_value.strip_prefix("mlx5_") {
                entity.entity_value = bare.to_owned();
            }
        }
    }
    let judgement = judge(&story, &played.truth, &recording, &reference());
    let missing = judgement.findings.iter();
    let missing: Vec<_> = missing
        .filter(|finding| finding.kind == FindingKind::Missing)
        .collect();
    for node in ["one", "two"] {
        let mut on_it = missing.iter();
        assert!(
            on_it.any(|finding| finding.node.as_deref() == Some(node)),
            "{node}: {missing:#?}"
        );
    }
    for finding in missing {
        let cause = finding.cause;
        let found = (cause.kind, cause.field);
        assert_eq!(
            found,
            (CauseKind::Differs, Some(EventField::Entities)),
            "{finding:#?}"
        );
        assert!(!finding.came.is_empty(), "{finding:#?}");
    }
}
