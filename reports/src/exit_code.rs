//! The command's exit codes, and their ranking if several apply.

use std::fmt;

use serde::{Deserialize, Serialize, de::Error as _};

/// Why the command ended, as a number for scripts.
///
/// If several apply, the highest-ranking one is used: 70, 110, 130, 143, 129, 102, 101, 100, 4, 2, 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitCode {
    /// 0: every expectation held, and the monitor under test was drilled at least once.
    Success,
    /// 2: the command line, or a file or store that it names, is invalid.
    Usage,
    /// 4: nothing was selected; or the monitor promises nothing, or nothing about what was drilled, and broke no law; or
    /// no drill has a fault that a site's needs are about.
    NothingJudged,
    /// 100: the monitor did not do what a drill expects.
    JudgedWrongly,
    /// 101: a monitor crashed or hung.
    CrashedOrHung,
    /// 102: the stage could not be set, or every selected drill was skipped.
    StageNotSet,
    /// 129: the terminal was closed (SIGHUP): what was judged until then is reported.
    HungUp,
    /// 143: SIGTERM asked for an early end: what was judged until then is reported.
    Terminated,
    /// 130: Ctrl-C (SIGINT) asked for an early end: what was judged until then is reported.
    Interrupted,
    /// 110: a report, the run folder, the store or stdout could not be written.
    ReportNotWritten,
    /// 70: an internal error of nicdrill.
    InternalFault,
}

impl ExitCode {
    /// Every code, by ascending rank.
    pub const BY_RANK: [Self; 11] = [
        Self::Success,
        Self::Usage,
        Self::NothingJudged,
        Self::JudgedWrongly,
        Self::CrashedOrHung,
        Self::StageNotSet,
        Self::HungUp,
        Self::Terminated,
        Self::Interrupted,
        Self::ReportNotWritten,
        Self::InternalFault,
    ];

    /// The number returned to the shell.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Usage => 2,
            Self::NothingJudged => 4,
            Self::InternalFault => 70,
            Self::JudgedWrongly => 100,
            Self::CrashedOrHung => 101,
            Self::StageNotSet => 102,
            Self::ReportNotWritten => 110,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// Whether a signal asked for an early end.
    pub(crate) const fn is_early_end(self) -> bool {
        matches!(self, Self::HungUp | Self::Terminated | Self::Interrupted)
    }

    /// The meaning, in one line.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Success => {
                "every expectation held, and the monitor under test was drilled at least once"
            }
            Self::Usage => "the command line, or a file or store that it names, cannot be used",
            Self::NothingJudged => {
                "nothing was judged: nothing was selected, or the monitor promises nothing about what was drilled and \
                 broke no law, or no drill has a fault that `--needs` is about"
            }
            Self::InternalFault => "a fault of nicdrill's own",
            Self::JudgedWrongly => "the monitor did not do what a drill expects",
            Self::CrashedOrHung => "a monitor crashed or hung",
            Self::StageNotSet => {
                "the stage could not be set, or every drill of what was asked for was skipped \
                 (`--allow-skips` is the only way round)"
            }
            Self::HungUp => {
                "the terminal was closed (SIGHUP); what was judged until then is reported"
            }
            Self::Terminated => {
                "SIGTERM asked for an early end; what was judged until then is reported"
            }
            Self::Interrupted => {
                "Ctrl-C (SIGINT) asked for an early end; what was judged until then is reported"
            }
            Self::ReportNotWritten => {
                "a report, the run folder, the store or stdout could not be written"
            }
        }
    }

    /// The higher-ranking of the two.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if other.rank() > self.rank() {
            other
        } else {
            self
        }
    }

    fn rank(self) -> usize {
        Self::BY_RANK
            .iter()
            .position(|code| *code == self)
            .expect("every exit code stands in the list of ranks")
    }
}

impl fmt::Display for ExitCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code().fmt(f)
    }
}

impl Serialize for ExitCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.code())
    }
}

impl<'de> Deserialize<'de> for ExitCode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        let found = Self::BY_RANK.into_iter().find(|code| code.code() == number);
        found.ok_or_else(|| D::Error::custom(format!("{number} is no exit code of nicdrill")))
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_ranking_code_decides_whatever_the_order() {
        let ranks: Vec<u8> = ExitCode::BY_RANK.iter().map(|code| code.code()).collect();
        assert_eq!(ranks, [0, 2, 4, 100, 101, 102, 129, 143, 130, 110, 70]);
        for (low, lower) in ExitCode::BY_RANK.iter().enumerate() {
            for higher in &ExitCode::BY_RANK[low..] {
                assert_eq!(lower.or(*higher), *higher);
                assert_eq!(higher.or(*lower), *higher);
            }
        }
    }
}
