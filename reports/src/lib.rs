//! how a run is told: events, outcomes, exit codes; terminal, JSON, JUnit.
