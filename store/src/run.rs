//! A run in the store.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A run in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: Uuid,
    /// The real time of its start: RFC 3339, UTC.
    pub started: String,
    /// The seed for the order of its drills (`--seed`).
    pub seed: u64,
    /// The words of the command line.
    pub asked: Vec<String>,
}

impl Run {
    /// A run that starts now.
    #[must_use]
    pub fn now(seed: u64, asked: Vec<String>) -> Self {
        let id = Uuid::now_v7();
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let ns = since.map_or(0, |since| {
            u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
        });
        Self {
            id,
            started: proto::timestamp_from_ns(ns).to_string(),
            seed,
            asked,
        }
    }
}
