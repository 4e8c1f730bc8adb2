//! Initial trees that all players of a run share.

use std::sync::{Arc, Mutex, PoisonError};

use director::{Stage, StageError, Trees};
use scenarios::Story;

/// The trees that drills start with; clones share them.
#[derive(Clone, Debug, Default)]
pub struct SharedTrees(Arc<Mutex<Trees>>);

impl SharedTrees {
    /// Sets the stage of a story.
    ///
    /// # Errors
    /// As [`Stage::set`].
    pub fn stage<'s>(&self, story: &'s Story) -> Result<Stage<'s>, StageError> {
        let mut trees = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Stage::set(story, &mut trees)
    }
}
