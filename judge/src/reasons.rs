//! Why an expectation, or a part of one, is not judged: the words that a summary counts it under.

use observe::promises::Kind;

pub(crate) use reports::BROKE_OFF;

/// Its log lines are not those of the documents.
pub(crate) const LOG_LINES: &str = "log lines of its own";

/// Which files it reads, and how often, is its own decision.
pub(crate) const READS: &str = "reads of its own";

/// The story goes on at a read that the monitor makes in no poll.
pub(crate) fn unmade_read(op: &str, file: &str) -> String {
    format!("the story goes on at a {op} of `{file}`, which it never makes")
}

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

/// Its protocol has no connector, so the cluster hears nothing of it, and there are no calls to count.
pub(crate) const NO_CONNECTOR: &str = "no calls to a connector";

/// Needs: a fault that a monitor with less patience would have noticed.
pub(crate) const TOO_SHORT: &str = "the fault ends before it must be noticed";

/// Needs: what comes after the drill is not known.
pub(crate) const NO_TIME_TO_NOTICE: &str = "the drill ends before the fault must be noticed";

/// Needs: what comes after the drill is not known.
pub(crate) const NO_TIME_TO_CLEAR: &str = "the drill ends before the fault must be taken back";

/// Needs: a site that has such a port knows of it.
pub(crate) const AT_REST: &str = "the machine is so from the start";

/// Needs: which growth of a counter counts is what its configuration says.
pub(crate) const CONFIGURED: &str = "the story configures which counters are watched";

/// Needs: nothing is over that could be taken back.
pub(crate) const NEVER_OVER: &str = "the fault lasts to the end of the drill";

/// Needs: another fault of the same subject follows.
pub(crate) const ANOTHER_FAULT: &str = "taken back with a later fault of the subject";

/// Needs: the site does not need to know of this kind.
pub(crate) fn no_need(kind: &Kind) -> String {
    format!("no need about `{kind}`")
}

/// Rates are measured by a clock of its own, in a drill whose time does not pass like it.
pub(crate) const RATES: &str = "rates by a clock of its own";

/// It compares a counter with a value from before a restart, by promise.
pub(crate) const OVER_RESTART: &str = "a counter that changed unread over a restart";

/// It is run again and again, and does not exist between its runs.
pub(crate) const BETWEEN_RUNS: &str = "no process between its runs";

/// A monitor that is asked gave no page in the time of the expectation, and nothing was owed in it.
pub(crate) const NO_PAGE: &str = "no page came then, and no alarm opens or closes";
