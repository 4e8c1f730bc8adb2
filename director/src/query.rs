//! The queries to a monitor beside its events, by tick, as the story's expectations require.
//!
//! Both arms send them at the tick's end, after the poll. Start at [`metrics_query`].

use platforms::NodeName;
use scenarios::{Story, What};

/// The queries at the end of one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetricsQuery {
    /// Whether metrics are queried.
    pub metrics: bool,
    /// The expected health status; health is queried until it has this value.
    pub healthz: Option<u16>,
}

/// The queries to a monitor on this node at the end of this tick.
#[must_use]
pub fn metrics_query(story: &Story, node: &NodeName, tick: u64) -> MetricsQuery {
    let mut query = MetricsQuery::default();
    for expectation in &story.expectations {
        let is_meant = expectation.node.as_ref().is_none_or(|named| named == node);
        if expectation.window.to != tick || !is_meant {
            continue;
        }
        match &expectation.what {
            What::Metric { .. } => query.metrics = true,
            What::Healthz { status } => query.healthz = Some(*status),
            _ => {}
        }
    }
    query
}
