//! The sum of a run's `events.jsonl`: its last line has the SHA-256 of all lines, so that whoever reads it later notices a line that
//! was altered, doubled, left out or added. It does not withstand somebody who computes it anew. Start at [`Sum`].

use reports::RunEvent;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::contents::digits;

/// The member of `wall` of `run-ended` that has the sum: the times of a run differ, so its sum does.
const MEMBER: &str = "sha256";

/// What stands in place of the sum in the line that is summed.
const NONE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The sum of the lines so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum(Sha256);

impl Sum {
    /// Adds a line, without its newline.
    pub(super) fn add(&mut self, line: &str) {
        self.0.update(line.as_bytes());
        self.0.update(b"\n");
    }

    /// The event with room for the sum, if it is the one that ends the stream.
    pub(super) fn with_room(event: &RunEvent) -> Option<RunEvent> {
        let RunEvent::RunEnded {
            summary,
            exit_code,
            wall,
        } = event
        else {
            return None;
        };
        Some(RunEvent::RunEnded {
            summary: summary.clone(),
            exit_code: *exit_code,
            wall: wall.clone().with(MEMBER, NONE),
        })
    }

    /// The last line, with the sum of all lines in its room.
    pub(super) fn seal(&self, last: &str) -> String {
        last.replacen(NONE, &self.with(last), 1)
    }

    /// Whether the last line has the sum of the lines before it and of itself.
    pub(super) fn is_of(&self, last: &str) -> bool {
        let read: Option<Value> = serde_json::from_str(last).ok();
        let sum = read
            .as_ref()
            .and_then(|event| event["wall"][MEMBER].as_str());
        sum.is_some_and(|sum| {
            sum.len() == NONE.len() && self.with(&last.replacen(sum, NONE, 1)) == sum
        })
    }

    /// The sum with one more line.
    fn with(&self, line: &str) -> String {
        let mut with = self.clone();
        with.add(line);
        digits(&with.0.finalize())
    }
}

#[cfg(test)]
mod tests {
    use reports::{ExitCode, Summary, Wall};

    use super::*;

    #[test]
    fn a_stream_is_known_by_its_last_line() {
        let ended = RunEvent::RunEnded {
            summary: Summary::default(),
            exit_code: ExitCode::Success,
            wall: Wall::default().with("ms", 3),
        };
        let mut sum = Sum::default();
        sum.add("{\"event\":\"run-started\"}");
        let ended = Sum::with_room(&ended).unwrap();
        let last = sum.seal(&serde_json::to_string(&ended).unwrap());
        assert!(!last.contains(NONE) && sum.is_of(&last), "{last}");
        for altered in [
            last.replace("\"ms\":3", "\"ms\":4"),
            last.replace("\"exit_code\":0", "\"exit_code\":100"),
            last.replace("sha256", "sha255"),
            "{}".to_owned(),
        ] {
            assert_ne!(altered, last);
            assert!(!sum.is_of(&altered), "{altered}");
        }
        let other = Sum::default();
        assert!(!other.is_of(&last));
    }
}
