//! What is wrong with a platform although it could be read: `nicdrill platform check`.
//!
//! Each finding has its place in the file, its reason and a hint. Whether a monitor finds what is
//! declared is not asked here; that needs a monitor. Start at [`Platform::check`]; what is looked
//! at stands in `check/`, what is said of it in `problem.rs`.

mod devices;
mod drivers;
mod names;
mod spelling;
mod whole;

use std::fmt;
use std::sync::Arc;

use crate::source::Source;
use crate::yaml::YamlError;
use crate::{Platform, Problem};

/// Something wrong with a platform, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub problem: Problem,
    /// The same with its place, its line and its hint.
    pub error: YamlError,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Platform {
    /// What is wrong with it and with the drivers it uses; empty if nothing is.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
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

/// A check in the making.
struct Check<'a> {
    platform: &'a Platform,
    found: Vec<Finding>,
}

impl Check<'_> {
    /// Something about the value at `path` of the platform's file.
    fn flag(&mut self, path: &str, problem: Problem) {
        let source = Arc::clone(&self.platform.source);
        let path = self.platform.path_of(path);
        self.flag_in(&source, &path, problem);
    }

    /// Something about a device's key.
    fn flag_device(&mut self, number: usize, key: &str, problem: Problem) {
        let source = Arc::clone(&self.platform.source);
        let path = self.platform.path_of_device(number, key);
        self.flag_in(&source, &path, problem);
    }

    fn flag_in(&mut self, source: &Source, path: &str, problem: Problem) {
        let error = match &problem {
            Problem::Unclear(error) => error.clone(),
            other => {
                let mut error = source.wrong(path, other.to_string());
                error.hint = other.hint().map(Into::into);
                error
            }
        };
        self.found.push(Finding { problem, error });
    }
}
