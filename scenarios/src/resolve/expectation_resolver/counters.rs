//! Rejects misspelt counters: no event is about one, so that a line which allows or forbids it would always hold.

use std::collections::BTreeSet;

use fabric::CARRIER_COUNTERS;
use platforms::yaml::{Place, nearest};

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
        let drivers = platforms.flat_map(|platform| platform.drivers());
        let files = drivers
            .flat_map(|driver| [&driver.counters, &driver.hw_counters, &driver.statistics])
            .flatten();
        let known: BTreeSet<&str> = files
            .map(|file| file.name.as_str())
            .chain(CARRIER_COUNTERS)
            .collect();
        let is_quoted = self.source.text.contains(&format!("\"{name}\""));
        match nearest(name, known.iter().copied()) {
            Some(near) if near != name && !known.contains(name.as_str()) && !is_quoted => {
                let hint = format!("did you mean `{near}`?");
                let what = format!("unknown counter `{name}`");
                Err(self.source.wrong(*place, what).hint(hint))
            }
            _ => Ok(()),
        }
    }
}
