//! How a monitor is isolated from its host, as its descriptor states it.
//!
//! `harness` carries it out. Start at [`RootAt`] and [`Limits`].

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::Problem;

/// Where a monitor finds its node's tree. It is always at `{root}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum RootAt {
    /// At `{root}` only.
    #[default]
    #[serde(rename = "{root}")]
    Mount,
    /// Over the host's own files too: over `/sys`, and over what the tree has of `/proc`, `/dev` and `/var`.
    #[serde(rename = "/")]
    Host,
}

/// How much a monitor may use. What is left out is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Processes at once, at least 1. If there are more, all of them are killed.
    pub processes: Option<u32>,
    /// Open files of each process, at least 8; an attempt to open more fails with EMFILE (`RLIMIT_NOFILE`).
    pub files: Option<u32>,
    /// Private memory that each process can write, code and shared memory apart; an attempt to get more fails
    /// with ENOMEM (`RLIMIT_DATA`).
    pub memory: Option<Size>,
}

/// The fewest files of a limit: the three standard ones, and what a program needs to be loaded.
const FEWEST_FILES: u32 = 8;

impl Limits {
    /// The shell's settings of the limits that the kernel keeps, as arguments of `ulimit` (POSIX.1-2024).
    #[must_use]
    pub fn settings(&self) -> Vec<String> {
        let files = self.files.map(|files| format!("-n {files}"));
        let memory = self.memory.map(|Size(kib)| format!("-d {kib}"));
        files.into_iter().chain(memory).collect()
    }
}

/// An amount of memory in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl Size {
    /// The amount that a text such as `512MiB` stands for; `None` if it stands for none, or for nothing.
    fn parse(text: &str) -> Option<Self> {
        let units = [("KiB", 1), ("MiB", 1024), ("GiB", 1024 * 1024)];
        units.into_iter().find_map(|(unit, factor)| {
            let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
            let amount = number.checked_mul(factor)?;
            (amount > 0).then_some(Self(amount))
        })
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "invalid amount of memory `{text}`: write a number with a unit, such as `512MiB` (KiB, MiB, GiB)"
            ))
        })
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9]+ *(KiB|MiB|GiB)$",
            "description": "An amount of memory such as `512MiB` or `2GiB`.",
        })
    }
}

/// The invalid values of `writable` and `limits`.
pub(crate) fn problems(confine: bool, writable: &[String], limits: &Limits) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut add = |keys: &[&str], what: &'static str, hint: &'static str| {
        problems.push(Problem::at(keys.iter().copied(), what, hint));
    };
    if !confine && !writable.is_empty() {
        add(
            &["writable"],
            "`writable` has no meaning with `confine: false`, where everything is writable",
            "remove one of them",
        );
    }
    let is_path = |path: &String| !path.is_empty() && path != "/" && !path.contains("..");
    if !writable.iter().all(is_path) {
        add(
            &["writable"],
            "`writable` has a path that cannot be opened alone",
            "write folders other than `/`, without `..`; `confine: false` opens everything",
        );
    }
    if limits.processes == Some(0) {
        add(
            &["limits", "processes"],
            "a limit is too low for any program",
            "write `processes` of 1 or more",
        );
    }
    if limits.files.is_some_and(|files| files < FEWEST_FILES) {
        add(
            &["limits", "files"],
            "a limit is too low for any program",
            "write `files` of 8 or more",
        );
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_of_memory_has_a_binary_unit() {
        let kib = |text: &str| Size::parse(text).map(|size| size.0);
        assert_eq!(kib("64KiB"), Some(64));
        assert_eq!(kib("512 MiB"), Some(512 * 1024));
        assert_eq!(kib("2GiB"), Some(2 * 1024 * 1024));
        for refused in [
            "",
            "MiB",
            "5",
            "5MB",
            "-1MiB",
            "0MiB",
            "1.5GiB",
            "99999999999999999GiB",
        ] {
            assert_eq!(kib(refused), None, "{refused}");
        }
    }

    #[test]
    fn only_the_limits_that_are_written_are_set() {
        assert!(Limits::default().settings().is_empty());
        let limits = Limits {
            processes: Some(4),
            files: Some(64),
            memory: Size::parse("1MiB"),
        };
        assert_eq!(limits.settings(), ["-n 64", "-d 1024"]);
    }
}
