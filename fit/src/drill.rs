//! A drill of the interview, as it was played. Start at [`Drill`].

use director::Truth;
use observe::Recording;
use scenarios::Story;

/// A drill of the interview, as it was played.
#[derive(Clone, Copy, Debug)]
pub struct Drill<'a> {
    /// The drill.
    pub story: &'a Story,
    /// The true state of its world.
    pub truth: &'a Truth,
    /// What its monitor did.
    pub recording: &'a Recording,
}

impl Drill<'_> {
    /// Its name, as `scenario@platform`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}@{}", self.story.name, self.story.world)
    }

    /// Whether it asks about this subject: a kind's word, `wire`, `scope`.
    pub(crate) fn asks(&self, subject: &str) -> bool {
        self.subjects().any(|asked| asked == subject)
    }

    /// What it asks about.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = &str> {
        let covers = self.story.covers.iter();
        covers.filter_map(|clause| clause.strip_prefix("fit/"))
    }
}
