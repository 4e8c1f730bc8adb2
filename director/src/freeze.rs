//! A story's world stopped at an instant, with nobody polling.
//!
//! What a story does at a moment of a poll is left out, and told. Start at [`freeze_at`].

use scenarios::{Story, parse_time};
use simfs::SimTime;
use std::borrow::Cow;

use crate::{Director, StageError, Trees};

/// Why there is no such world.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// The world cannot do what the story says.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// What was said is no time.
    #[error("invalid duration `{0}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoTime(String),
}

impl FreezeError {
    /// What helps; `None` where the text says it all.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NoTime(..) => "write a number and a unit, as in `400ms`, `3s`, `4m29s`".into(),
            _ => return None,
        })
    }
}

/// The world at an instant, and the lines of the story that were left out.
///
/// `at` is cut down to a whole tick and to the story's end; the end unless given.
///
/// # Errors
/// [`FreezeError`], by cause.
pub fn freeze_at<'s>(
    story: &'s Story,
    at: Option<&str>,
) -> Result<(Director<'s>, Vec<String>), FreezeError> {
    let time = |text: &str| parse_time(text).ok_or_else(|| FreezeError::NoTime(text.to_owned()));
    let at: SimTime = at.map_or(Ok(story.until), time)?.min(story.until);
    let last = at.as_ns() / story.tick.as_ns();
    let mut director = Director::new(story, &mut Trees::default())?;
    for _ in 0..=last {
        director.tick()?;
        director.end_tick(|_| true);
    }
    let left_out = director.missed().iter();
    let left_out = left_out.map(|(place, text)| format!("{place}: {text}"));
    let left_out = left_out.collect();
    Ok((director, left_out))
}
