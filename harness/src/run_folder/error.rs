//! Why a file or folder of a run cannot be written or read. Start at [`RunFolderError`].

use std::{
    borrow::Cow,
    io,
    path::{Path, PathBuf},
};

/// A file or folder of a run that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// A file could not be written.
    #[error("`{}` cannot be written: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// A report would take the place of something that a run reads or keeps.
    #[error("`{}` is {what}, and a report would take its place; it is left alone\nhint: {hint}", path.display(), hint = self.hint().unwrap_or_default())]
    Taken {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Something that is no folder has the place of the folder, or of one above it.
    #[error("`{}` is no folder; it is left alone\nhint: {hint}", path.display(), hint = self.hint().unwrap_or_default())]
    NoFolder {
        /// What is there.
        path: PathBuf,
    },
    /// The folder exists and is not the folder of an earlier run.
    #[error("`{}` is not empty and is not the folder of an earlier run (it has no marker `.nicdrill-run`); it is left alone\nhint: {hint}", path.display(), hint = self.hint().unwrap_or_default())]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has a marker that is not whole, or that nicdrill did not write.
    #[error("`{}` has a marker `.nicdrill-run` that cannot be read, so that nobody knows whose folder it is; it is left alone\nhint: {hint}", path.display(), hint = self.hint().unwrap_or_default())]
    BadMarker {
        /// The folder.
        path: PathBuf,
    },
    /// Another run writes into the folder.
    #[error("another run writes into `{}`: {process}\nhint: {hint}", path.display(), hint = self.hint().unwrap_or_default())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The process, as `process 4711`; empty if it has not yet written its name.
        process: String,
    },
    /// The list of an earlier run's failures cannot be read.
    #[error("`{}` cannot be read: {cause}\nhint: {hint}", path.display(), hint = self.hint().unwrap_or_default())]
    NoFailures {
        /// The list.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// The folder has no run whose findings can be read.
    #[error("`{}` cannot be read: {cause}\nhint: {hint}", path.display(), hint = self.hint().unwrap_or_default())]
    NoRun {
        /// The list.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// The plan of a run cannot be read, so that its monitor is not known.
    #[error("`{}` does not tell which monitor was drilled: {cause}\nhint: {hint}", path.display(), hint = self.hint().unwrap_or_default())]
    NoPlan {
        /// The plan.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// A line of a list of drills is not a drill name.
    #[error("{}:{line}: {cause}", path.display())]
    BadName {
        /// The list.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The cause.
        cause: reports::DrillNameError,
    },
}

impl RunFolderError {
    /// Makes the error of the system of a file that could not be written.
    pub(super) fn writing(path: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        |cause| Self::Write {
            path: path.to_owned(),
            cause,
        }
    }

    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NotOurs { .. } => {
                "name another folder with `--out`, or move this one away".into()
            }
            Self::Taken { .. } => "give the report a file of its own".into(),
            Self::NoFolder { .. } => {
                "name another folder with `--out`, or move what is there away".into()
            }
            Self::BadMarker { .. } => {
                "`--replace-out` takes it for the folder of an earlier run; or name another folder with `--out`, or move \
                 this one away"
                    .into()
            }
            Self::InUse { .. } => "wait until it ends, or name another folder with `--out`".into(),
            Self::NoFailures { .. } => {
                "`--failed` repeats what failed in the run before, so there must have been one"
                    .into()
            }
            Self::NoRun { .. } => {
                "name the folder that `nicdrill run` left, with its `failed.txt`".into()
            }
            Self::NoPlan { .. } => {
                "keep `run.json` with the lists of a run; `--failed` can do without it if `--monitor FILE` names the monitor"
                    .into()
            }
            _ => return None,
        })
    }
}
