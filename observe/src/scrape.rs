//! A page of metrics as Prometheus would get it: when it was asked for, how long that took, and what came.
//!
//! All times are simulated. What the series mean is left out. Start at [`Scrape`].

use std::sync::Arc;

use crate::{Series, series};

/// Why a page of metrics cannot be read.
pub(crate) const NO_TEXT_FORMAT: &str = "the page is not in the text format";

/// One scrape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scrape {
    /// When it began, in nanoseconds since the drill began. Samples bear this time.
    pub at_ns: u64,
    /// How long it took until it ended, in nanoseconds. It is 0 unless the story holds a read.
    pub took_ns: u64,
    /// How it ended.
    pub outcome: ScrapeOutcome,
}

/// How a scrape ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScrapeOutcome {
    /// With an answer.
    Answered {
        /// The status of HTTP.
        status: u16,
        /// The body.
        text: Arc<str>,
    },
    /// No answer came within the timeout.
    TimedOut,
    /// A page came that cannot be read; with the reason.
    Unread(String),
    /// Nobody listened, or the connection broke; with the reason.
    Failed(String),
}

impl Scrape {
    /// The series, if the scrape succeeded: the status is 200 and every line is in the text format. `None` is what
    /// Prometheus notes as `up 0`.
    #[must_use]
    pub fn series(&self) -> Option<Vec<Series>> {
        match &self.outcome {
            ScrapeOutcome::Answered { status: 200, text } => series(text),
            _ => None,
        }
    }

    /// Why nothing is known by it; `None` if a page came that can be read. One whose text is not kept has been read.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        match &self.outcome {
            ScrapeOutcome::Answered { status: 200, text } => {
                let is_read = series(text).is_some();
                (!is_read).then(|| NO_TEXT_FORMAT.to_owned())
            }
            ScrapeOutcome::Answered { status, .. } => {
                Some(format!("the page has the status {status}"))
            }
            ScrapeOutcome::TimedOut => Some("no page came within the timeout".to_owned()),
            ScrapeOutcome::Unread(why) => Some(why.clone()),
            ScrapeOutcome::Failed(error) => Some(format!("no page came: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(outcome: ScrapeOutcome, count: Option<usize>) {
        let (at_ns, took_ns) = (0, 0);
        let scrape = Scrape {
            at_ns,
            took_ns,
            outcome,
        };
        assert_eq!(scrape.series().map(|all| all.len()), count, "{scrape:?}");
        assert_eq!(scrape.failure().is_none(), count.is_some(), "{scrape:?}");
    }

    #[test]
    fn a_page_counts_if_its_status_is_200_and_all_of_it_is_read() {
        let answered = |status, text: &str| ScrapeOutcome::Answered {
            status,
            text: text.into(),
        };
        check(answered(200, "a 1\nb 2\n"), Some(2));
        check(answered(200, ""), Some(0));
        check(answered(503, "a 1\n"), None);
        check(answered(200, "a 1\nb"), None);
        check(ScrapeOutcome::TimedOut, None);
        check(ScrapeOutcome::Unread("torn".to_owned()), None);
        check(ScrapeOutcome::Failed("refused".to_owned()), None);
    }
}
