//! What became of the known deviations and of the findings of an earlier run. Start at [`ExcusesReport`].

use serde::Serialize;

use crate::ExitCode;

/// How many lines of one list a terminal shows. Chosen.
const LINES_MAX: usize = 20;

/// What became of the known deviations and of the findings of an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExcusesReport {
    /// Entries of `known.toml` that occurred: `file:line: id (reason)`.
    pub known: Vec<String>,
    /// Entries that no longer occur, although their drills were played: they must be removed.
    pub no_longer: Vec<String>,
    /// Entries whose day has passed.
    pub expired: Vec<String>,
    /// With `--baseline`: ids of findings that the earlier run did not have.
    pub new: Vec<String>,
    /// Ids that it had, and which do not occur any more although their drills were played.
    pub gone: Vec<String>,
    /// Ids that both have.
    pub same: Vec<String>,
}

impl ExcusesReport {
    /// 100 if an entry of `known.toml` has expired or no longer occurs.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        if self.no_longer.is_empty() && self.expired.is_empty() {
            ExitCode::Success
        } else {
            ExitCode::JudgedWrongly
        }
    }

    /// The report as text, one line each and at most 20 of a list; empty if there is nothing to tell. All of
    /// them are in `events.jsonl` of `folder`, the run folder.
    #[must_use]
    pub fn page(&self, folder: &str) -> String {
        let mut page = String::new();
        for (words, lines) in [
            ("known", &self.known),
            (
                "no longer occurs, so the entry must be removed",
                &self.no_longer,
            ),
            ("expired", &self.expired),
            ("new", &self.new),
            ("gone", &self.gone),
            ("same", &self.same),
        ] {
            for line in lines.iter().take(LINES_MAX) {
                page += &format!("{words}: {line}\n");
            }
            if let Some(more) = lines.len().checked_sub(LINES_MAX).filter(|more| *more > 0) {
                page += &format!("{words}: {more} more, in `excuses` of {folder}/events.jsonl\n");
            }
        }
        page
    }
}
