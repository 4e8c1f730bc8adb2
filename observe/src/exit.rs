//! How a process ended, and a run of a program that is run again and again. What an exit code means is left out.

use std::fmt;

/// The exit codes from here on are no program's: a shell, or `env`, says by them that a program cannot be executed (126), is
/// missing (127), or was ended by a signal (128 and its number), after POSIX, Shell Command Language, section 2.8.2.
const OF_A_SHELL: i32 = 126;

/// A monitor's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// By itself, or by a signal of somebody else.
    Exit(Exit),
    /// It was killed after `kill_after`.
    Overran,
}

impl RunEnd {
    /// Whether it is a crash whatever the program's codes mean: a signal of nobody who runs it, or a shell's code.
    pub(crate) fn is_crash(self) -> bool {
        match self {
            Self::Exit(Exit::Signal(_)) => true,
            Self::Exit(Exit::Code(code)) => code >= OF_A_SHELL,
            Self::Overran => false,
        }
    }
}

impl fmt::Display for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(Exit::Code(code)) => write!(f, "exit code {code}"),
            Self::Exit(Exit::Signal(signal)) => write!(f, "ended by signal {signal}"),
            Self::Overran => f.write_str("killed, because it ran too long"),
        }
    }
}
