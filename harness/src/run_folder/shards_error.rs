//! Why folders cannot be merged. Start at [`ShardsError`].

use std::{fmt, io, path::PathBuf};

use reports::{DrillName, ExitCode};

use super::contents::ContentsError;
use crate::suite::{Shard, ShardError};

/// Why folders are not the shards of one run: each problem, with what helps.
#[derive(Debug)]
pub struct ShardsError(pub(crate) Vec<ShardProblem>);

impl From<ShardProblem> for ShardsError {
    fn from(problem: ShardProblem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for ShardsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&problems.join("\nerror: "))
    }
}

impl std::error::Error for ShardsError {}

/// One reason why folders cannot be merged. `events` is the `events.jsonl` of a folder, `again` the command that plays its
/// shard.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShardProblem {
    #[error(
        "there is no folder of a run\nhint: name the folders that `nicdrill run --shard K/N --out DIR` left"
    )]
    NoFolder,
    #[error("`{}` cannot be read: {cause}\nhint: {hint}", events.display())]
    Unread {
        events: PathBuf,
        cause: io::Error,
        hint: &'static str,
    },
    #[error("`{}` is above 1 GiB", events.display())]
    TooLarge { events: PathBuf },
    #[error("{}:{row}: {cause}\nhint: the line is damaged, or of another version of nicdrill", events.display())]
    BadLine {
        events: PathBuf,
        row: usize,
        cause: serde_json::Error,
    },
    #[error("{}:{row}: {what}\nhint: the file was altered, or cut and added to: play the shard again", events.display())]
    Altered {
        events: PathBuf,
        row: usize,
        what: &'static str,
    },
    #[error("`{}` has no plan: the run ended before it began\nhint: run it again", events.display())]
    NoPlan { events: PathBuf },
    #[error("{}: {cause}", events.display())]
    BadShard { events: PathBuf, cause: ShardError },
    #[error("`{}` is a run with `--repeat`, which cannot be merged\nhint: run the shards without it", folder.display())]
    Repeats { folder: PathBuf },
    #[error("`{}` is a whole run, and no shard of one\nhint: shards are played by `nicdrill run --shard K/N`", folder.display())]
    WholeRun { folder: PathBuf },
    #[error("`{}` tells another run than `events.jsonl` beside it\nhint: the folder of a shard is kept as it is: play the shard again", plan.display())]
    OtherPlan { plan: PathBuf },
    #[error("`{}` was altered: it is not the plan that the run wrote, byte by byte, into it and into `events.jsonl`\nhint: the folder of a shard is kept as it is: play the shard again", plan.display())]
    AlteredPlan { plan: PathBuf },
    #[error("`{}` cannot be read: {cause}\nhint: the folder of a shard is kept as it is: play the shard again", plan.display())]
    UnreadPlan { plan: PathBuf, cause: io::Error },
    #[error("{problem}\nhint: the folder of a shard is kept as it is: play it again: {again}")]
    Contents {
        problem: ContentsError,
        again: String,
    },
    #[error("shard {shard} in `{}` is not whole: {why}\nhint: play it again: {again}", folder.display())]
    NotWhole {
        shard: Shard,
        folder: PathBuf,
        why: Shortfall,
        again: String,
    },
    #[error("`{}` and `{}` are of two runs: `{}` and `{}`", folders.0.display(), folders.1.display(), asked.0, asked.1)]
    TwoRuns {
        folders: (PathBuf, PathBuf),
        /// What each was asked with.
        asked: (String, String),
    },
    #[error("`{}` is shard {}, and `{}` is shard {}: two runs of other numbers of shards", folders.0.display(), shards.0, folders.1.display(), shards.1)]
    OtherNumber {
        folders: (PathBuf, PathBuf),
        shards: (Shard, Shard),
    },
    #[error("shard {shard} is twice: in `{}` and `{}`\nhint: name one of them", folders.0.display(), folders.1.display())]
    Twice {
        shard: Shard,
        folders: (PathBuf, PathBuf),
    },
    #[error("shard {shard} is missing\nhint: play it: {again}")]
    Missing { shard: Shard, again: String },
    #[error(
        "the shards drilled {there}, and here the same words stand for {here}\nhint: merge where `nicdrill.toml` and the monitor's descriptor are as they were"
    )]
    OtherMonitor {
        /// The monitor and its file, in words.
        there: String,
        here: String,
    },
    #[error("`{}` has no `{drill}`, which is the run's drill {number} here\nhint: the shards were run with other files, or another version of nicdrill: merge where these files are, with this version", folder.display())]
    NoSuchDrill {
        folder: PathBuf,
        drill: DrillName,
        /// Counted from 1.
        number: usize,
    },
    #[error(
        "the shards have {found} drills, and the run has {selected} here\nhint: the shards were run with other files, or another version of nicdrill: merge where these files are, with this version"
    )]
    OtherCount { found: usize, selected: usize },
    #[error(
        "the {what} is not here what it was in shard {}\nhint: merge where the file is as it was, or play these shards again",
        listed(shards)
    )]
    OtherText {
        /// The file in words, such as "scenario `port/cut`".
        what: String,
        shards: Vec<Shard>,
    },
    #[error("`{}` does not tell of the {what}, which shard {shard} played: it is another run's, or another shard's\nhint: the folder of a shard is kept as it is: play it again: {again}", contents.display())]
    OtherContents {
        contents: PathBuf,
        /// A file in words, such as "scenario `port/cut`".
        what: String,
        shard: Shard,
        again: String,
    },
    #[error("a drill's files cannot be read: {0}")]
    Artifact(io::Error),
}

fn listed(shards: &[Shard]) -> String {
    let shards: Vec<String> = shards.iter().map(ToString::to_string).collect();
    shards.join(", ")
}

/// What a shard lacks.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Shortfall {
    #[error("its monitor could not be drilled: {reason}")]
    Monitor { reason: String },
    #[error(
        "its `events.jsonl` does not tell the end of the run, and has {done} of {all} drills: it was killed, or the file was cut"
    )]
    NoEnd { done: usize, all: usize },
    #[error("it ended early, after {done} of {all} drills, with exit code {code}")]
    Early {
        done: usize,
        all: usize,
        code: ExitCode,
    },
}
