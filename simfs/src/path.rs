//! Paths in a tree.

use std::{fmt, ops};

/// A path below the tree's root: components joined by `/`, with no slash at either end, no empty
/// component, no `.` and no `..`. The root itself is the empty path.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(String);

impl TreePath {
    /// The normal form of `text`: slashes folded and trimmed, `.` removed, `..` resolved (stopping
    /// at the root).
    #[must_use]
    pub fn new(text: &str) -> Self {
        if is_normal(text) {
            return Self(text.to_owned());
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                name => parts.push(name),
            }
        }
        Self(parts.join("/"))
    }

    /// The path of `below` under this folder.
    #[must_use]
    pub fn join(&self, below: &str) -> Self {
        Self::from(format!("{}/{below}", self.0))
    }

    /// The parent folder; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.0.is_empty() {
            return None;
        }
        Some(Self(
            self.0
                .rfind('/')
                .map_or_else(String::new, |at| self.0[..at].to_owned()),
        ))
    }

    /// The last component; empty for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        self.in_two().1
    }

    /// The parent folder (empty for a name below the root) and the last component.
    pub(crate) fn in_two(&self) -> (&str, &str) {
        self.0.rsplit_once('/').unwrap_or(("", &self.0))
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for TreePath {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for TreePath {
    fn from(text: String) -> Self {
        if is_normal(&text) {
            return Self(text);
        }
        Self::new(&text)
    }
}

/// Whether a text is a normalised path already, as most are.
fn is_normal(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_name = |name: &[u8]| !matches!(name, b"" | b"." | b"..");
    bytes.is_empty() || bytes.split(|byte| *byte == b'/').all(is_name)
}

impl ops::Deref for TreePath {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
