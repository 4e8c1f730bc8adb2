//! Plays a story's world up to an instant, without a monitor.
//!
//! Steps at a moment of a poll are left out and returned. Start at [`freeze_at`].

use scenarios::{Story, parse_time};
use simfs::SimTime;
use std::borrow::Cow;

use crate::{Director, Stage, StageError, Trees};

/// Why a world cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// The world cannot perform a step of the story.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The time is not a duration.
    #[error("invalid duration `{0}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoTime(String),
    /// The story has ended by then.
    #[error("the story ends at {until}, before `{asked}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    PastTheEnd {
        /// The time or the span, as the user wrote it.
        asked: String,
        /// The story's end.
        until: SimTime,
    },
}

impl FreezeError {
    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NoTime(..) => "write a number and a unit, as in `400ms`, `3s`, `4m29s`".into(),
            Self::PastTheEnd { until, .. } => {
                format!("write a time up to {until}, or a longer `until:` in the story").into()
            }
            Self::Stage(_) => return None,
        })
    }
}

/// The world at an instant, and the lines of the story that were left out. Nothing is done to state files: no monitor saves
/// one.
///
/// `at` may lie between two ticks; it is the story's end by default.
///
/// # Errors
/// [`FreezeError`], by cause.
pub fn freeze_at<'s>(
    story: &'s Story,
    at: Option<&str>,
) -> Result<(Director<'s>, Vec<String>), FreezeError> {
    let time = |text: &str| parse_time(text).ok_or_else(|| FreezeError::NoTime(text.to_owned()));
    let asked = at.unwrap_or_default();
    let at: SimTime = at.map_or(Ok(story.until), time)?;
    if at > story.until {
        return Err(FreezeError::PastTheEnd {
            asked: asked.to_owned(),
            until: story.until,
        });
    }
    let last = story.ticks.last_until(at);
    let Stage {
        mut director,
        mut files,
    } = Stage::set(story, &mut Trees::default())?;
    for _ in 0..=last {
        director.tick()?;
        for (node, fs) in &mut files {
            director.forget_state_file(node)?;
            director.show(node, fs)?;
        }
        director.end_tick(|_| true);
    }
    director.play_until(at)?;
    let left_out = director.missed().iter();
    let left_out = left_out.map(|(place, text)| format!("{place}: {text}"));
    let left_out = left_out.collect();
    Ok((director, left_out))
}

/// Plays a story's world to its end, and hands it to `look` at each tick, as a poll of this tick finds it.
///
/// # Errors
/// [`FreezeError`], by cause.
pub fn watch<'s>(
    story: &'s Story,
    mut look: impl FnMut(&Director<'s>),
) -> Result<Director<'s>, FreezeError> {
    let mut director = Director::new(story, &mut Trees::default())?;
    for _ in 0..=story.ticks.last_until(story.until) {
        director.tick()?;
        look(&director);
        director.end_tick(|_| true);
    }
    Ok(director)
}
