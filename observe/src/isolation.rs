//! How a monitor is isolated from its host, as its descriptor states it.
//!
//! `harness` carries it out. Start at [`RootAt`] and [`Limits`].

use std::{borrow::Cow, fmt};

use files::Problem;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::Span;

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

/// How much a monitor may use. What is left out has a default, except `files`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Processes at once, at least 1; default 512. If there are more, all of them are killed.
    pub processes: Option<u32>,
    /// Open files of each process, at least 8; an attempt to open more fails with EMFILE (`RLIMIT_NOFILE`).
    pub files: Option<u32>,
    /// Private memory that each process can write, code and shared memory apart; an attempt to get more fails
    /// with ENOMEM (`RLIMIT_DATA`). All processes together may have as much, or 1 GiB if that is more; then all of them
    /// are killed.
    pub memory: Option<Size>,
    /// What each of the folders that are its own can hold, at least 1 MiB; default 256 MiB. A write beyond it fails with
    /// ENOSPC.
    pub space: Option<Size>,
    /// A page that it serves, and what it writes to its output in a poll, at least 1 MiB; default 64 MiB. More ends the
    /// drill.
    pub output: Option<Size>,
    /// The real time of a run or an answer of a program that is run or asked; default: 10 s without progress, 60 s in all.
    pub answer: Option<Span>,
}

/// The fewest files of a limit: the three standard ones, and what a program needs to be loaded.
const FEWEST_FILES: u32 = 8;

/// The least `space` and `output` of a limit.
const LEAST: Size = Size(1024);

/// The processes of a monitor whose descriptor states no limit. Chosen: a monitor that starts a program for each file of
/// each port has a tenth of that at once.
const PROCESSES: u32 = 512;

/// The memory of all processes of such a monitor. Chosen: the runtimes of Go, Java and JavaScript with their heaps have less.
const MEMORY: Size = Size(1024 * 1024);

/// The space of such a monitor in each of its folders.
const SPACE: Size = Size(256 * 1024);

/// The page, or the output of a poll, of such a monitor. Chosen: a page of node_exporter has less than a hundredth.
const OUTPUT: Size = Size(64 * 1024);

impl Limits {
    /// The shell's settings of the limits that the kernel keeps, as arguments of `ulimit` (POSIX.1-2024).
    #[must_use]
    pub fn settings(&self) -> Vec<String> {
        let files = self.files.map(|files| format!("-n {files}"));
        let memory = self.memory.map(|Size(kib)| format!("-d {kib}"));
        files.into_iter().chain(memory).collect()
    }

    /// The most processes at once.
    #[must_use]
    pub fn most_processes(&self) -> u32 {
        self.processes.unwrap_or(PROCESSES)
    }

    /// The most private memory of all processes together.
    #[must_use]
    pub fn most_memory(&self) -> Size {
        self.memory.map_or(MEMORY, |each| each.max(MEMORY))
    }

    /// What a folder of its own can hold.
    #[must_use]
    pub fn most_space(&self) -> Size {
        self.space.unwrap_or(SPACE)
    }

    /// The largest page, and the most output in a poll.
    #[must_use]
    pub fn most_output(&self) -> Size {
        self.output.unwrap_or(OUTPUT)
    }
}

/// An amount of memory in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

    /// The amount in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.0.saturating_mul(1024)
    }
}

/// In the largest unit in which it is a whole number: `64 MiB`.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("GiB", 1024 * 1024), ("MiB", 1024)];
        let whole = units
            .into_iter()
            .find(|(_, factor)| self.0 >= *factor && self.0.is_multiple_of(*factor));
        let (unit, factor) = whole.unwrap_or(("KiB", 1));
        write!(f, "{} {unit}", self.0 / factor)
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
    for (key, size) in [("space", limits.space), ("output", limits.output)] {
        if size.is_some_and(|size| size < LEAST) {
            add(
                &["limits", key],
                "a limit is too low for any program",
                "write an amount of `1MiB` or more",
            );
        }
    }
    if limits.answer.is_some_and(|answer| answer.0.is_zero()) {
        add(
            &["limits", "answer"],
            "a limit is too low for any program",
            "write a time such as `60s`",
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
            ..Limits::default()
        };
        assert_eq!(limits.settings(), ["-n 64", "-d 1024"]);
    }

    #[test]
    fn what_is_left_out_is_limited_all_the_same() {
        let limits = Limits::default();
        let sizes = [
            limits.most_memory(),
            limits.most_space(),
            limits.most_output(),
        ];
        assert_eq!(
            sizes.map(|size| size.to_string()),
            ["1 GiB", "256 MiB", "64 MiB"]
        );
        assert_eq!(limits.most_processes(), 512);
        let raised = Limits {
            output: Size::parse("3KiB"),
            ..limits
        };
        assert_eq!(raised.most_output().to_string(), "3 KiB");
        assert_eq!(raised.most_output().bytes(), 3072);
        let memory = |text| Limits {
            memory: Size::parse(text),
            ..limits
        };
        assert_eq!(memory("64MiB").most_memory().to_string(), "1 GiB");
        assert_eq!(memory("1536MiB").most_memory().to_string(), "1536 MiB");
    }

    #[test]
    fn a_limit_that_is_too_low_for_any_program_is_refused() {
        let refused = |limits: Limits| problems(true, &[], &limits).len();
        let (little, enough) = (Size::parse("1023KiB"), Size::parse("1MiB"));
        let (space, output) = (little, little);
        let answer = Some(Span::default());
        let low = Limits {
            space,
            output,
            answer,
            ..Limits::default()
        };
        assert_eq!(refused(low), 3);
        let (space, output) = (enough, enough);
        let answer = Span::parse("1s");
        let least = Limits {
            space,
            output,
            answer,
            ..Limits::default()
        };
        assert_eq!(refused(least), 0);
    }
}
