//! Rejects misspelt counters: no event is about one, so that a line which allows or forbids it would always hold.

use std::collections::BTreeSet;

use fabric::CARRIER_COUNTERS;
use files::{Place, nearest};
use platforms::Driver;

use super::ExpectationResolver;
use crate::error::ScenarioError;

impl ExpectationResolver<'_> {
    /// Rejects a counter that no driver has and whose name is near to one that a driver has. A configuration can name
    /// others, and one that the scenario quotes is taken for such.
    pub(super) fn known_counter(
        &self,
        counter: Option<&(String, Place)>,
    ) -> Result<(), ScenarioError> {
        let Some((name, place)) = counter else {
            return Ok(());
        };
        let platforms = self.resolved.nodes.iter().map(|node| &node.platform);
        let drivers: Vec<&Driver> = platforms.flat_map(|platform| platform.drivers()).collect();
        let has_it = |driver: &&Driver| driver.counter(name).is_some();
        let is_quoted = || self.source.text.contains(&format!("\"{name}\""));
        if CARRIER_COUNTERS.contains(&name.as_str()) || drivers.iter().any(has_it) || is_quoted() {
            return Ok(());
        }
        let files = drivers.into_iter().flat_map(Driver::counter_files);
        let known: BTreeSet<&str> = files
            .map(|file| file.name.as_str())
            .chain(CARRIER_COUNTERS)
            .collect();
        let Some(near) = nearest(name, known) else {
            return Ok(());
        };
        let what = format!("unknown counter `{name}`");
        let hint = format!("did you mean `{near}`?");
        Err(self.source.wrong(*place, what).hint(hint))
    }
}
