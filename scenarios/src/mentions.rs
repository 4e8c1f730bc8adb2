//! What the text of a scenario names although it is no scenario yet, because other parts of it are wrong. Start at
//! [`Mentions::of`].

use std::collections::BTreeSet;

use files::{Place, yaml};

use crate::context::Context;
use crate::error::ScenarioError;
use crate::fitness::{Fitness, PLATFORMS};
use crate::frame::CLAUSES;
use crate::kind::Kind;
use crate::reader::Source;

/// The clauses and platforms that a text names, as far as it can be read.
#[derive(Clone, Debug)]
pub struct Mentions<'t> {
    pub(crate) source: Source<'t>,
    pub(crate) covers: Vec<(String, Place)>,
    fitness: Fitness,
}

impl<'t> Mentions<'t> {
    /// What this text names; nothing if it is no map.
    #[must_use]
    pub fn of(file: &'t str, text: &'t str) -> Self {
        let source = Source { file, text };
        let mut mentions = Self {
            source,
            covers: Vec::new(),
            fitness: Fitness::default(),
        };
        let root = yaml::read(file, text).ok();
        let fields = root
            .as_ref()
            .and_then(|root| source.open_map(root, "a scenario").ok());
        let Some(fields) = fields else {
            return mentions;
        };
        let nobody = BTreeSet::new();
        let context = Context::new(source, &nobody);
        let covers = fields.get("covers");
        if let Some(Ok(covers)) = covers.map(|node| CLAUSES.parse(&context, node)) {
            mentions.covers = covers;
        }
        let platforms = fields.get("platforms");
        if let Some(Ok(fitness)) = platforms.map(|node| PLATFORMS.parse(&context, node)) {
            mentions.fitness = fitness;
        }
        mentions
    }

    /// Checks that each platform that is named is one of these.
    ///
    /// # Errors
    /// Each name that is none of them, with its place and the nearest name.
    pub fn check_platforms(&self, known: &[&str]) -> Result<(), ScenarioError> {
        self.fitness.check_names(&self.source, known)
    }
}
