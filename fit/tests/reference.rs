//! The interview of the reference monitor, and of monitors that are wrong on purpose, played in memory.

use director::Trees;
use fit::{Drill, Fitted, Mark, fit};
use memory::{Played, Variant, play_in_memory};
use observe::Descriptor;
use platforms::{NodeName, Platforms};
use scenarios::{Arm, AtRest, Story};

/// The platforms that `nicdrill fit` asks on.
const PLATFORMS: [&str; 3] = ["dgx-h100", "h100-oci", "dgx-a100:two-port"];

fn reference() -> Descriptor {
    let mut shipped = observe::shipped_descriptors();
    let (file, text) = shipped
        .find(|(file, _)| *file == "reference.yaml")
        .expect("the reference monitor ships");
    platforms::yaml::read(file, text).unwrap_or_else(|error| panic!("{error}"))
}

/// Every drill of the interview on its platforms.
fn stories() -> Vec<Story> {
    let platforms = Platforms::shipped();
    let rests = PLATFORMS.map(|name| {
        let platform = platforms.get(name).expect("it ships");
        AtRest::new(&NodeName::from("node-a"), platform)
    });
    let mut stories = Vec::new();
    for (file, text) in suite::interview() {
        let scenario = scenarios::read(file, text).unwrap_or_else(|error| panic!("{error}"));
        let before = stories.len();
        for rest in &rests {
            match scenario.at_rest(rest) {
                Ok(story) => stories.push(story),
                Err(scenarios::Unfit::NotApplicable { .. }) => {}
                Err(error) => panic!("{file}: {error}"),
            }
        }
        assert!(stories.len() > before, "{file} is asked nowhere");
    }
    stories
}

fn interviewed(wrong: Option<Variant>) -> Fitted {
    let descriptor = reference();
    let mut trees = Trees::default();
    let stories = stories();
    let stories = stories
        .iter()
        .filter(|story| story.arms.contains(&Arm::Memory));
    let played: Vec<(&Story, Played)> = stories
        .map(|story| (story, play_in_memory(story, &descriptor, wrong, &mut trees)))
        .collect();
    let drills: Vec<Drill<'_>> = played
        .iter()
        .map(|(story, played)| Drill {
            story,
            truth: &played.truth,
            recording: &played.recording,
        })
        .collect();
    fit(&descriptor, &drills)
}

fn shown(fitted: &Fitted) -> String {
    let rows = fitted.rows.iter().map(|(kind, found)| {
        let evidence: Vec<String> = found.evidence.iter().map(ToString::to_string).collect();
        format!(
            "{kind}: {:?} {:?}\n    {}",
            found.row,
            found.mark,
            evidence.join("\n    ")
        )
    });
    let suspects = fitted
        .suspects
        .iter()
        .map(|it| format!("suspect {} {}", it.id, it.evidence));
    let all: Vec<String> = rows.chain(suspects).collect();
    all.join("\n")
}

#[test]
fn the_reference_monitor_is_found_to_promise_its_own_rows() {
    let fitted = interviewed(None);
    assert!(fitted.suspects.is_empty(), "{}", shown(&fitted));
    for (kind, row) in &reference().promises.rows {
        let found = fitted.rows.get(kind);
        let found = found.unwrap_or_else(|| panic!("{kind} was not asked about"));
        assert_eq!(found.row.as_ref(), Some(row), "{kind}: {}", shown(&fitted));
        assert_eq!(found.mark, Mark::Observed, "{kind}: {}", shown(&fitted));
    }
    let own = reference().promises;
    assert_eq!(fitted.promises.wire, own.wire);
    assert_eq!(fitted.promises.style, own.style);
    assert_eq!(fitted.promises.granularity, own.granularity);
    assert_eq!(fitted.promises.lost_publish, own.lost_publish);
}
