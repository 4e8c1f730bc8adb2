//! The stage of a drill: its director, and the files of every monitored node before the first poll.
//!
//! Both arms begin with one. Where the files are served is left to the arm. Start at [`Stage::set`].

use std::collections::BTreeMap;

use platforms::NodeName;
use scenarios::Story;
use simfs::Fs;

use crate::{Director, StageError, Trees};

/// A drill before its first tick.
#[derive(Debug)]
pub struct Stage<'s> {
    /// The world in motion.
    pub director: Director<'s>,
    /// The files of each node that has a monitor. Others have none that anybody could see.
    pub files: BTreeMap<NodeName, Fs>,
}

impl<'s> Stage<'s> {
    /// The world of a story at its start, with what was given done. `trees` remembers worlds at
    /// rest for further drills.
    ///
    /// # Errors
    /// [`StageError`] if the world cannot do what is given, or a step stands where it has no meaning.
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
