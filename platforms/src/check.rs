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

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use files::FileError;

use crate::source::Source;
use crate::{Driver, Machine, NodeName, Platform, ProblemKind};

/// A problem of a platform, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The problem.
    pub problem: ProblemKind,
    /// The problem as an error with place, line and hint.
    pub error: FileError,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// A problem, and the path of the value in the file that has it.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) problem: Problem,
}

impl Finding {
    fn of(source: &Source, path: &str, problem: ProblemKind) -> Self {
        let error = match &problem {
            ProblemKind::Unclear(error) => error.clone(),
            other => {
                let mut error = source.wrong(path, other.to_string());
                error.hint = other.hint().map(Into::into);
                error
            }
        };
        Self {
            path: path.to_owned(),
            problem: Problem { problem, error },
        }
    }
}

impl Platform {
    /// The problems of the platform and of the drivers it uses; empty if there are none.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let devices = self.profile.devices.iter();
        let used: BTreeSet<&str> = devices.map(|device| device.driver.as_str()).collect();
        let drivers = used.into_iter().filter_map(|name| self.driver(name));
        let own = self.findings().into_iter();
        let all = own.chain(drivers.flat_map(Driver::findings));
        all.map(|finding| finding.problem).collect()
    }

    /// The problems of the platform. Of one that cannot be built they are those that its file alone has.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let node = NodeName::from("any");
        let machine = self.can_be_built().then(|| self.machine(&node));
        let mut check = Check {
            platform: self,
            machine: machine.as_ref(),
            found: Vec::new(),
        };
        check.whole();
        check.devices();
        check.names();
        check.spelling();
        check.provenance();
        check.found
    }
}

/// A check in progress.
struct Check<'a> {
    platform: &'a Platform,
    /// The machine at rest, if it can be built.
    machine: Option<&'a Machine>,
    found: Vec<Finding>,
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
        self.found.push(Finding::of(source, path, problem));
    }
}
