//! What a monitor is asked beside its events, and in which ticks: a story's expectations say so.
//!
//! Both arms ask at the tick's end, when its poll is over. Start at [`metrics_query`].

use platforms::NodeName;
use scenarios::{Story, What};

/// What is asked at the end of one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetricsQuery {
    /// Its metrics.
    pub metrics: bool,
    /// Its health, which is asked for until it has this status.
    pub healthz: Option<u16>,
}

/// What a monitor on this node is asked at the end of this tick.
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
