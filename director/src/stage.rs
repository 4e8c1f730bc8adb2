//! The stage of a drill: its director, and the files of every monitored node before the first poll.
//!
//! Both arms start with one; each serves the files in its own way. Start at [`Stage::set`].

use std::collections::BTreeMap;

use platforms::NodeName;
use scenarios::Story;
use simfs::Fs;

use crate::{Director, StageError, Trees};

/// A drill before its first tick.
#[derive(Debug)]
pub struct Stage<'s> {
    /// The director.
    pub director: Director<'s>,
    /// The files of each node that runs a monitor; other nodes need none.
    pub files: BTreeMap<NodeName, Fs>,
}

impl<'s> Stage<'s> {
    /// The world of a story at its start, after the `given` steps. `trees` caches worlds at rest for
    /// further drills.
    ///
    /// # Errors
    /// [`StageError`] if the world cannot perform a `given` step, or a step is not possible where it
    /// is written.
    pub fn set(story: &'s Story, trees: &mut Trees) -> Result<Self, StageError> {
        let mut director = Director::new(story, trees)?;
        let mut files = BTreeMap::new();
        for node in &story.monitors {
            files.insert(node.clone(), director.build_tree(node, trees)?);
        }
        trees.drop_large();
        Ok(Self { director, files })
    }
}
