//! Why a file of a user's cannot be used. Start at [`ReadError`].

use std::{borrow::Cow, io, path::Path};

use files::{FileError, yaml::MAX_BYTES};
use scenarios::ScenarioError;

use crate::near;

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be opened, listed or read.
    #[error("`{path}` cannot be read: {cause}{}", hinted(hint.as_ref()))]
    Io {
        /// The file.
        path: String,
        /// The cause.
        cause: io::Error,
        /// Files that may be meant, if it does not exist.
        hint: Option<String>,
    },
    /// It is a folder, a device, a pipe or a socket.
    #[error("`{path}` is not a regular file\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NotAFile {
        /// The path.
        path: String,
    },
    /// It is larger than the limit.
    #[error("`{path}` has {bytes} bytes, at most {MAX_BYTES} are read\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    TooLarge {
        /// The file.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// It is not UTF-8 text.
    #[error("{path}:{line}: the file is not text in UTF-8")]
    NotText {
        /// The file.
        path: String,
        /// The line of the first invalid byte, from 1.
        line: usize,
    },
    /// A folder contains no file of the wanted kind.
    #[error("`{path}` holds no {wanted}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Empty {
        /// The folder.
        path: String,
        /// The wanted kind.
        wanted: &'static str,
    },
    /// A file is none of the wanted kind.
    #[error("`{path}` is a {is} and no {wanted}\nhint: {hint}")]
    OtherKind {
        /// The file.
        path: String,
        /// Its kind.
        is: String,
        /// The wanted kind.
        wanted: &'static str,
        /// How such a file is given.
        hint: &'static str,
    },
    /// Files that are given as those of platforms have none.
    #[error("`{path}` has drivers only, and no platform\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoPlatform {
        /// The file or folder.
        path: String,
    },
    /// Two files have scenarios of the same name.
    #[error("`{name}` is the name of two scenarios: in `{first}` and in `{second}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Twice {
        /// The name.
        name: String,
        /// The file that was read first.
        first: String,
        /// The file that was read second.
        second: String,
    },
    /// Two worlds, or a world and a platform, have the same name.
    #[error("two worlds are called `{name}`, one of them in `{file}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    WorldTwice {
        /// The name.
        name: String,
        /// One of the files.
        file: String,
    },
    /// A scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A platform, driver or descriptor is invalid.
    #[error(transparent)]
    File(#[from] FileError),
    /// Several files are wrong, in their order.
    #[error("{}", told(.0))]
    Several(Vec<ReadError>),
    /// There is no monitor of this name.
    #[error("there is no monitor `{asked}`\nhint: {hint}")]
    NoSuchMonitor {
        /// The name.
        asked: String,
        /// The hint.
        hint: String,
    },
}

/// Errors, each after the other.
fn told(errors: &[ReadError]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    errors.join("\n")
}

impl ReadError {
    /// Nothing, if there is none; else all of them as one.
    pub(super) fn none_of(mut errors: Vec<Self>) -> Result<(), Self> {
        match errors.len() {
            0 => Ok(()),
            1 => Err(errors.remove(0)),
            _ => Err(Self::Several(errors)),
        }
    }

    /// A file or folder that the kernel refuses. If it does not exist, the hint has the names of others beside it.
    pub(super) fn io(path: &Path, cause: io::Error) -> Self {
        let is_missing = cause.kind() == io::ErrorKind::NotFound;
        Self::Io {
            path: path.display().to_string(),
            hint: is_missing.then(|| near::files(path)).flatten(),
            cause,
        }
    }

    /// The same error with this hint, if a file does not exist and nothing beside it has a name that is near.
    pub(super) fn or_hint(self, or: impl FnOnce() -> String) -> Self {
        match self {
            Self::Io {
                path,
                hint: None,
                cause,
            } if cause.kind() == io::ErrorKind::NotFound => Self::Io {
                path,
                hint: Some(or()),
                cause,
            },
            other => other,
        }
    }

    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Io { hint, .. } => hint.clone()?.into(),
            Self::NoSuchMonitor { hint, .. } => hint.clone().into(),
            Self::NotAFile { .. } => "only regular files are read, up to 1 MiB".into(),
            Self::TooLarge { .. } => "split it, or give a smaller file".into(),
            Self::Empty { wanted, .. } => {
                format!("{wanted}s are files that end in `.yaml` or `.yml`").into()
            }
            Self::OtherKind { hint, .. } => (*hint).into(),
            Self::NoPlatform { .. } => {
                "give the file of a platform too, whose `devices` name the driver".into()
            }
            Self::Twice { .. } => "give one of them another name".into(),
            Self::WorldTwice { .. } => "give it a name that no world and no platform has".into(),
            _ => return None,
        })
    }
}

fn hinted(hint: Option<&String>) -> String {
    hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"))
}
