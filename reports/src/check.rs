//! What the unit tests of this crate share: a drill in which something was found.

use crate::{DrillName, DrillReport, Finding, Judged, Wall};

/// A drill that was played with these findings, and of which nothing else is known.
pub(crate) fn found(scenario: &str, world: &str, findings: Vec<Finding>) -> DrillReport {
    DrillReport {
        drill: DrillName {
            scenario: scenario.to_owned(),
            world: world.to_owned(),
        },
        outcome: DrillReport::outcome_of(&[], &findings),
        arms: Vec::new(),
        findings,
        verdicts: Vec::new(),
        judged: Judged::default(),
        file: String::new(),
        repeat: String::new(),
        show: String::new(),
        wall: Wall::default(),
    }
}
