//! The drills of the interview, played in memory. Start at [`played`].

use director::Trees;
use fit::{Drill, Fitted, fit};
use memory::{Played, Variant, play_in_memory};
use observe::Descriptor;
use platforms::{NodeName, Platforms};
use scenarios::{AtRest, Story};
use terms::Arm;

/// The platforms that `nicdrill fit` asks on.
const PLATFORMS: [&str; 3] = ["dgx-h100", "h100-oci", "dgx-a100:two-port"];

/// The descriptor of the reference monitor.
pub(crate) fn reference() -> Descriptor {
    let mut shipped = observe::shipped_descriptors();
    let (file, text) = shipped
        .find(|(file, _)| *file == "reference.yaml")
        .expect("the reference monitor ships");
    files::yaml::read(file, text).unwrap_or_else(|error| panic!("{error}"))
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

/// Plays the drills that are meant with the reference monitor, or with a wrong one.
pub(crate) fn played(
    wrong: Option<Variant>,
    is_meant: impl Fn(&Story) -> bool,
) -> Vec<(Story, Played)> {
    let descriptor = reference();
    let mut trees = Trees::default();
    let stories = stories().into_iter();
    let stories = stories.filter(|story| story.arms.contains(&Arm::Memory) && is_meant(story));
    stories
        .map(|story| {
            let played = play_in_memory(&story, &descriptor, wrong, &mut trees);
            (story, played)
        })
        .collect()
}

/// What is found in these drills where the descriptor that the interview begins with states something already.
pub(crate) fn found(descriptor: &Descriptor, played: &[(Story, Played)]) -> Fitted {
    let drills: Vec<Drill<'_>> = played
        .iter()
        .map(|(story, played)| Drill {
            story,
            truth: &played.truth,
            recording: &played.recording,
        })
        .collect();
    fit(descriptor, &drills)
}

/// What was found, for a person who reads why a test failed.
pub(crate) fn shown(fitted: &Fitted) -> String {
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
