//! Checks a platform that was read: `nicdrill platform check`.
//!
//! Each finding has its place in the file, its reason and a hint. Whether a monitor finds what is
//! declared is checked elsewhere, because it needs a monitor. Start at [`Platform::check`]; the
//! checks are in `check/`, their texts in `problem.rs`.

mod devices;
mod drivers;
mod names;
mod spelling;
mod whole;

pub use spelling::platform_name;

use std::fmt;
use std::sync::Arc;

use crate::source::Source;
use crate::yaml::YamlError;
use crate::{Platform, ProblemKind};

/// A problem of a platform, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The problem.
    pub problem: ProblemKind,
    /// The problem as an error with place, line and hint.
    pub error: YamlError,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Platform {
    /// The problems of the platform and of the drivers it uses; empty if there are none.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut check = Check {
            platform: self,
            found: Vec::new(),
        };
        check.whole();
        check.devices();
        check.names();
        check.spelling();
        check.provenance();
        check.drivers();
        check.found
    }
}

/// A check in progress.
struct Check<'a> {
    platform: &'a Platform,
    found: Vec<Problem>,
}

impl Check<'_> {
    /// Adds a problem of the value at `path` of the platform's file.
    fn flag(&mut self, path: &str, problem: ProblemKind) {
        let source = Arc::clone(&self.platform.source);
        let path = self.platform.path_of(path);
        self.flag_in(&source, &path, problem);
    }

    /// Adds a problem of a device's key.
    fn flag_device(&mut self, number: usize, key: &str, problem: ProblemKind) {
        let source = Arc::clone(&self.platform.source);
        let path = self.platform.path_of_device(number, key);
        self.flag_in(&source, &path, problem);
    }

    fn flag_in(&mut self, source: &Source, path: &str, problem: ProblemKind) {
        let error = match &problem {
            ProblemKind::Unclear(error) => error.clone(),
            other => {
                let mut error = source.wrong(path, other.to_string());
                error.hint = other.hint().map(Into::into);
                error
            }
        };
        self.found.push(Problem { problem, error });
    }
}
