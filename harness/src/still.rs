//! Plays a drill again if the machine stalled meanwhile, so that no finding is built on a stall.
//!
//! What does not depend on the real time is taken as it is, whatever the load. Start at [`play_still`].

use director::{Log, Target};
use memory::Played;
use observe::{Broken, ClockKind, Descriptor, Drains, Pace, Recording};
use scenarios::{Story, What};

use crate::{Player, repeat::Fingerprint};

/// How often a drill is played again at most.
pub(crate) const REPLAYS: u32 = 3;

/// A drill that was played.
pub(crate) struct Still {
    pub(crate) played: Played,
    /// How often it was played again because the machine stalled.
    pub(crate) replays: u32,
    /// Whether it was given up because the machine stalled in every play.
    pub(crate) is_given_up: bool,
}

/// Whether nothing is to be played any more.
fn is_over(played: &Played) -> bool {
    played.recording.broken == Some(Broken::Interrupted)
}

/// Plays a story, and plays it again while the machine stalls. `wrong` says what is wrong with a play, and a play in which
/// the machine stalled counts nevertheless
/// - if nothing is: time that is lost makes no wrong monitor right;
/// - if nothing in it depends on the real time;
/// - if the same was wrong in an earlier play, and no real time was waited for: two stalls do not do the same.
///
/// If it stalls in every play, the drill ends as one whose stage could not be set.
pub(crate) fn play_still<W: PartialEq>(
    player: &mut dyn Player,
    story: &Story,
    descriptor: &Descriptor,
    wrong: impl Fn(&Played) -> Option<W>,
) -> Still {
    let mut replays = 0;
    let mut before = Vec::new();
    loop {
        let played = player.play(story, descriptor);
        let counts = |played, replays| Still {
            played,
            replays,
            is_given_up: false,
        };
        let Some(stall) = player.stall().filter(|_| !is_over(&played)) else {
            return counts(played, replays);
        };
        let time = RealTime::of(story, descriptor, &played.recording);
        let wrong = wrong(&played).filter(|_| time != RealTime::Unused);
        let Some(wrong) = wrong else {
            return counts(played, replays);
        };
        if time == RealTime::Unasked && before.contains(&wrong) {
            return counts(played, replays);
        }
        before.push(wrong);
        if replays == REPLAYS {
            let cause = format!(
                "the machine stalls: {stall}, and so it was in each of {} plays",
                REPLAYS + 1
            );
            let recording = Recording {
                broken: Some(Broken::Stage { cause }),
                ..Recording::default()
            };
            return Still {
                played: Played {
                    recording,
                    ..played
                },
                replays,
                is_given_up: true,
            };
        }
        player.tells(&format!(
            "{} on {} is played again: the machine stalls: {stall}",
            story.name, story.world
        ));
        replays += 1;
    }
}

/// Plays a story of which nothing is judged: no play in which the machine stalled counts if it can depend on the real time,
/// unless another one was equal to it.
pub(crate) fn play_any(player: &mut dyn Player, story: &Story, descriptor: &Descriptor) -> Played {
    let same = |played: &Played| {
        let of = Fingerprint::of(played.arm, descriptor.clock, &played.recording);
        Some(of)
    };
    play_still(player, story, descriptor, same).played
}

/// How the real time can have a part in what a play shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RealTime {
    /// In no way.
    Unused,
    /// A timeout of the monitor that the story does not ask for may have come.
    Unasked,
    /// It was waited for, or ended the play.
    Waited,
}

impl RealTime {
    fn of(story: &Story, descriptor: &Descriptor, recording: &Recording) -> Self {
        let is_broken = match recording.broken {
            Some(Broken::Hung { .. } | Broken::Excess { .. } | Broken::Stage { .. }) => true,
            Some(
                Broken::Crashed { .. }
                | Broken::StuckInKernel { .. }
                | Broken::SocketTampered { .. }
                | Broken::Interrupted,
            )
            | None => false,
        };
        let asks_for_health = || {
            let mut expected = story.expectations.iter();
            expected.any(|expectation| matches!(expectation.what, What::Healthz { .. }))
        };
        if is_broken || story.holds_for_good() || descriptor.clock_tolerance.is_some() {
            return Self::Waited;
        }
        if descriptor.pace() != Pace::Gate {
            // Nobody but nicdrill waits for it, until it has ended or answered.
            return Self::Unused;
        }
        // One that is told to end may poll once more if it takes its time.
        let is_ended = || {
            let log = Log::foreseen(story);
            let mut acts = log.acts.iter();
            acts.any(|act| matches!(act.on, Target::Monitor(_)) || act.reboots())
        };
        let is_paced = descriptor
            .loops
            .iter()
            .any(|spec| spec.real_interval.is_some());
        if descriptor.drains == Drains::Quiet || is_paced || asks_for_health() {
            return Self::Waited;
        }
        let calls = descriptor.speaks.has_connector() && descriptor.patient.is_empty();
        match calls || descriptor.clock == ClockKind::Own || is_ended() {
            true => Self::Unasked,
            false => Self::Unused,
        }
    }
}
