//! Plays the drills of an interview, several at once, and delivers their recordings in order. Nothing is judged.
//! Start at [`interview`].

use std::{num::NonZeroUsize, ops::ControlFlow, thread};

use memory::Played;
use observe::Descriptor;
use scenarios::Story;

use super::{NoProcessArm, PlayError, Starting, jobs};
use crate::{Interruption, process::Stage, still::play_any};

/// How an interview is played.
#[derive(Clone, Copy)]
pub struct Interviewing<'r> {
    /// Number of drills at once; the number of allowed CPUs if `None`.
    pub jobs: Option<usize>,
    /// How monitors are started.
    pub starting: &'r Starting,
    /// Where they run.
    pub stage: &'r Stage,
    /// Whether it is to end early.
    pub interruption: &'r Interruption,
}

/// Plays each story with a monitor; `heard` is told the place of each when it and all before it have been played.
///
/// # Errors
/// If a player cannot be made, a drill fell, or it was interrupted.
pub fn interview(
    stories: &[&Story],
    descriptor: &Descriptor,
    how: &Interviewing<'_>,
    heard: impl FnMut(usize),
) -> Result<Vec<Played>, PlayError> {
    let name = |place: usize| stories[place].name.clone();
    let play = |player: &mut dyn crate::Player, place: usize| {
        Ok(play_any(player, stories[place], descriptor))
    };
    each_played((stories.len(), &name), how, play, heard)
}

/// Plays so many drills, each by its place, and delivers what is made of each in order; `heard` is told the place of each
/// when it and all before it have been played. Errors have the name that a drill has by its place.
///
/// # Errors
/// If a player cannot be made, a drill fell or ended with an error, or it was interrupted.
pub(super) fn each_played<T: Send>(
    (number, name): (usize, &dyn Fn(usize) -> String),
    how: &Interviewing<'_>,
    play: impl Fn(&mut dyn crate::Player, usize) -> Result<T, PlayError> + Sync,
    mut heard: impl FnMut(usize),
) -> Result<Vec<T>, PlayError> {
    let allowed = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = how.jobs.unwrap_or_else(allowed);
    let mut all = Vec::new();
    let mut failed = None;
    jobs::in_order(
        jobs,
        number,
        |job, turn| {
            let mut player = how.starting.player(how.stage, job)?;
            player.takes(turn);
            Ok(player)
        },
        |player: &mut Result<Box<dyn crate::Player>, NoProcessArm>, place| {
            let player = player.as_mut().map_err(|reason| reason.clone())?;
            play(player.as_mut(), place)
        },
        |place, done| {
            match done {
                Ok(Ok(played)) => all.push(played),
                Ok(Err(reason)) => failed = Some(reason),
                Err(panic) => {
                    failed = Some(PlayError::Panicked {
                        drill: Some(name(place)),
                        panic: panic.0,
                    });
                }
            }
            if how.interruption.is_asked_for() {
                failed = Some(PlayError::Interrupted);
            }
            heard(place);
            match failed {
                None => ControlFlow::Continue(()),
                Some(_) => ControlFlow::Break(()),
            }
        },
    );
    failed.map_or(Ok(all), Err)
}
