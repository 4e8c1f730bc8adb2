//! Plays a drill again if the machine stalled meanwhile, so that no finding is built on a stall.

use memory::Played;
use observe::{Broken, Descriptor, Recording};
use scenarios::Story;

use crate::Player;

/// How often a drill is played again at most.
pub(crate) const REPLAYS: u32 = 3;

/// A drill that was played.
pub(crate) struct Still {
    pub(crate) played: Played,
    /// How often it was played again because the machine stalled.
    pub(crate) replays: u32,
}

/// Whether nothing is to be played any more.
fn is_over(played: &Played) -> bool {
    played.recording.broken == Some(Broken::Interrupted)
}

/// Plays a story, and plays it again while the machine stalls. A play in which it stalled counts nevertheless if
/// `is_right` holds for it: time that is lost makes no wrong monitor right.
///
/// If it stalls in every play, the drill ends as one whose stage could not be set.
pub(crate) fn play_still(
    player: &mut dyn Player,
    story: &Story,
    descriptor: &Descriptor,
    is_right: impl Fn(&Played) -> bool,
) -> Still {
    let mut replays = 0;
    loop {
        let played = player.play(story, descriptor);
        let Some(stall) = player
            .stall()
            .filter(|_| !is_over(&played) && !is_right(&played))
        else {
            return Still { played, replays };
        };
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
            };
        }
        replays += 1;
    }
}
