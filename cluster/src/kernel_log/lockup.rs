//! Soft lockups in the driver's poll loop: a headline, and evidence some lines below it.
//!
//! The window after the headline is a number of lines, because a kernel prints a whole trace at
//! once. After an event further ones are suppressed for half an hour, because a stuck processor is
//! logged every 22 s.

use std::{collections::BTreeMap, time::Duration};

use crate::stamp::Stamp;

/// The number of lines after the headline within which the evidence must be.
pub const LOCKUP_LINES: u32 = 150;
/// How long further events are suppressed.
pub(crate) const LOCKUP_QUIET: Duration = Duration::from_secs(30 * 60);

const PROOFS: [&str; 2] = ["mlx5e_poll_ico_cq+0x", "mlx5e_napi_poll+0x"];

/// A detected lockup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    cpu: String,
    stuck_s: String,
    evidence: String,
}

impl Seen {
    pub(super) fn message(&self) -> String {
        let Self {
            cpu,
            stuck_s,
            evidence,
        } = self;
        format!(
            "kernel soft lockup: CPU#{cpu} stuck for {stuck_s}s in mlx5 NAPI poll loop (evidence: {evidence})"
        )
    }

    pub(super) fn metadata(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            ("cpu".to_owned(), self.cpu.clone()),
            ("durationSeconds".to_owned(), self.stuck_s.clone()),
        ])
    }
}

/// The lines read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Lockup {
    armed: Option<Armed>,
    reported: Option<Stamp>,
}

#[derive(Clone, Debug)]
struct Armed {
    cpu: String,
    stuck_s: String,
    lines_left: u32,
}

impl Lockup {
    pub(super) fn line(&mut self, at: Stamp, line: &str) -> Option<Seen> {
        if let Some((cpu, stuck_s)) = headline(line) {
            self.armed = Some(Armed {
                cpu: cpu.to_owned(),
                stuck_s: stuck_s.to_owned(),
                lines_left: LOCKUP_LINES,
            });
            return None;
        }
        let armed = self.armed.as_mut()?;
        if armed.lines_left == 0 {
            self.armed = None;
            return None;
        }
        armed.lines_left -= 1;
        if !is_proof(line) {
            return None;
        }
        let armed = self.armed.take()?;
        if self
            .reported
            .is_some_and(|reported| at < reported.after(LOCKUP_QUIET))
        {
            return None;
        }
        self.reported = Some(at);
        Some(Seen {
            cpu: armed.cpu,
            stuck_s: armed.stuck_s,
            evidence: line.to_owned(),
        })
    }
}

/// Parses `BUG: soft lockup - CPU#94 stuck for 23s!` to the processor and the seconds.
fn headline(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once("BUG: soft lockup - CPU#")?;
    let (cpu, rest) = rest.split_once(" stuck for ")?;
    let (stuck_s, _) = rest.split_once('s')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(cpu) && is_number(stuck_s)).then_some((cpu, stuck_s))
}

/// Whether a line is a frame of the poll loop; a frame marked `? ` is unreliable and does not
/// count.
fn is_proof(line: &str) -> bool {
    PROOFS.iter().any(|proof| {
        let mut found = line.match_indices(proof);
        found.any(|(at, _)| !line[..at].ends_with("? "))
    })
}
