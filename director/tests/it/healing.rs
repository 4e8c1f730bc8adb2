//! The end of a drill: when the story is over, how long healing takes, and when the drill ends.

use director::{Stage, StageError, Trees};
use rstest::rstest;
use scenarios::{Heal, Story, Ticks};
use simfs::SimTime;

use crate::stage::rendered;

/// Ten seconds in which a cable is cut, with one expectation of the first poll.
const CUT: &str = "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 2s
    do: [ { cut: victim } ]
until: 10s
";

/// Ten seconds in which nothing happens.
const AT_REST: &str = "
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
until: 10s
";

/// More ticks than any drill here has.
const MANY: usize = 25_000;

struct Ended {
    ticks: usize,
    healing_from: Option<u64>,
    settled_at: Option<u64>,
}

/// Plays a story to its end, without a monitor.
fn ended(story: &Story) -> Result<Ended, StageError> {
    let mut director = Stage::set(story, &mut Trees::default())?.director;
    while !director.is_over() {
        director.tick()?;
        director.end_tick(|_| true);
        assert!(director.truth().ticks.len() < MANY, "it never ends");
    }
    Ok(Ended {
        ticks: director.truth().ticks.len(),
        healing_from: director.healing_from(),
        settled_at: director.settled_at(),
    })
}

fn never() -> Heal {
    Heal::Never {
        because: "nothing is judged".to_owned(),
    }
}

#[test]
fn a_world_at_rest_settles_as_soon_as_it_is_healed() {
    let mut story = rendered(AT_REST);
    story.heal = Heal::Within { polls: 3, every: 1 };
    let ended = ended(&story).expect("the story can be played");
    assert_eq!((ended.healing_from, ended.settled_at), (Some(11), Some(11)));
    // Ticks 0 to 11, and three more.
    assert_eq!(ended.ticks, 15);
}

#[test]
fn a_cut_cable_is_mended_and_the_drill_ends_when_its_link_is_up() {
    let mut story = rendered(CUT);
    story.heal = Heal::Within { polls: 3, every: 1 };
    let ended = ended(&story).expect("the story can be played");
    assert_eq!(ended.healing_from, Some(11));
    let settled = ended.settled_at.expect("it settles");
    assert!(settled > 11, "a link needs time to train");
    assert_eq!(ended.ticks as u64, settled + 3 + 1);
}

/// Where the monitor polls every five ticks, three polls are fifteen.
#[test]
fn polls_of_healing_are_those_of_the_monitor() {
    let mut story = rendered(AT_REST);
    story.heal = Heal::Within { polls: 3, every: 5 };
    assert_eq!(ended(&story).expect("the story can be played").ticks, 27);
}

/// The first window of the story, in ticks, and the ticks of a drill that is not healed.
#[rstest]
#[case::within_the_story((0, 5), 11)]
#[case::longer_than_the_story((10, 14), 15)]
#[case::after_the_story((11, 14), 11)]
#[case::as_long_as_healing_may_take((0, 3_610), 3_611)]
#[case::longer_than_healing_may_take((0, 3_611), 11)]
#[case::much_longer((0, 20_000), 11)]
fn a_story_ends_with_the_last_window_that_begins_before_its_end(
    #[case] (from, to): (u64, u64),
    #[case] ticks: usize,
) {
    let mut story = rendered(AT_REST);
    story.heal = never();
    let window = &mut story.expectations[0].window;
    (window.from, window.to) = (from, to);
    let ended = ended(&story).expect("the story can be played");
    assert_eq!(ended.ticks, ticks);
    assert_eq!((ended.healing_from, ended.settled_at), (None, None));
}

/// With ticks of ten microseconds the link trains for more ticks than healing may take.
#[test]
fn a_world_that_does_not_settle_in_3600_ticks_is_an_error() {
    let mut story = rendered(CUT);
    story.ticks = Ticks::every(SimTime::from_ns(10_000));
    story.steps[0].at = SimTime::from_ns(20_000);
    story.until = SimTime::from_ns(100_000);
    story.heal = Heal::Within { polls: 3, every: 1 };
    let error = ended(&story).err().expect("it does not settle");
    assert!(matches!(error, StageError::NeverSettles(3_601)), "{error}");
}
