//! Why an expectation, or a part of one, is not judged: the words that a summary counts it under.

/// The drill ended before its end, so that what was said is not all that would have been said.
pub(crate) const BROKE_OFF: &str = "the drill broke off";

/// Its log lines are not those of the documents.
pub(crate) const LOG_LINES: &str = "log lines of its own";

/// Which files it reads, and how often, is its own decision.
pub(crate) const READS: &str = "reads of its own";

/// Its state file has a form of its own.
pub(crate) const STATE_FILE: &str = "state file of its own";

/// It has no `/metrics`, or none of this name.
pub(crate) const METRICS: &str = "metrics of its own";

/// It answers no question about its health.
pub(crate) const HEALTHZ: &str = "no `/healthz`";

/// Messages are not those of the documents. Rules count by message.
pub(crate) const MESSAGES: &str = "messages of its own";

/// Timestamps are not of the simulated clock. Rules count by time.
pub(crate) const TIMESTAMPS: &str = "timestamps of a clock of its own";
