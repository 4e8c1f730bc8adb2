//! What a rule or a moment is about must be there: the words for what is missing, and for what is there instead.

use std::fmt;

use files::nearest;
use simfs::{NodeKind, Unmet};

/// The names of a folder that a hint lists. Chosen: a line of text.
const LISTED_MAX: usize = 12;

/// Why an action on a file would have no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingFile {
    /// The path or pattern, as the story's file is called at this time.
    pub path: String,
    /// What the tree has instead; `None` if the device or port is not there, whatever its path.
    pub unmet: Option<Unmet>,
    /// Whether the story says that the file appears later.
    pub appears_later: bool,
}

impl MissingFile {
    /// What is there, and what helps.
    #[must_use]
    pub fn hint(&self) -> String {
        const LATER: &str = "write `appears: later` if it comes later in the story";
        if self.appears_later {
            return "bring it back before the story ends, or leave the rule out".to_owned();
        }
        match &self.unmet {
            None => format!("order the step before what removes it; or {LATER}"),
            Some(Unmet::Missing { name, beside, .. }) => {
                let near = nearest(name, beside.iter().map(String::as_str));
                let is_there = match (near, &beside[..]) {
                    (Some(near), _) => format!("did you mean `{near}`? "),
                    (None, []) => String::new(),
                    (None, some) => {
                        let listed = &some[..some.len().min(LISTED_MAX)];
                        let more = if listed.len() < some.len() {
                            ", …"
                        } else {
                            ""
                        };
                        format!("there is: {}{more}; ", listed.join(", "))
                    }
                };
                format!("{is_there}{LATER}")
            }
            Some(Unmet::Kind { kind, .. }) => match kind {
                NodeKind::Folder => "a folder is listed: write `list`".to_owned(),
                _ => "a file is read: write `read`".to_owned(),
            },
        }
    }
}

impl fmt::Display for MissingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        if self.appears_later {
            return write!(f, "`{path}` never appears");
        }
        match &self.unmet {
            None => write!(
                f,
                "`{path}` is not there at this time: its device or port is gone"
            ),
            Some(Unmet::Missing { folder, name, .. }) if folder.is_empty() => {
                write!(f, "there is no `{name}`")
            }
            Some(Unmet::Missing { folder, name, .. }) => {
                write!(f, "`{path}` is not there: `{folder}` has no `{name}`")
            }
            Some(Unmet::Kind { path: one, kind }) => {
                // Of what a pattern means, one is named.
                let path = if path.contains('*') { one } else { path };
                let (is, op) = match kind {
                    NodeKind::Folder => ("a folder", "read or written"),
                    _ => ("a file", "listed or written"),
                };
                write!(f, "`{path}` is {is}, which is not {op}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(unmet: Option<Unmet>, text: &str, hint: &str) {
        let path = "sys/class/net/bond0/bonding/mod".to_owned();
        let missing = MissingFile {
            path,
            unmet,
            appears_later: false,
        };
        assert_eq!(
            (missing.to_string().as_str(), missing.hint().as_str()),
            (text, hint)
        );
    }

    #[test]
    fn what_is_missing_is_told_with_what_is_there() {
        let missing = |beside: &[&str]| {
            Some(Unmet::Missing {
                folder: "sys/class/net/bond0/bonding".to_owned(),
                name: "mod".to_owned(),
                beside: beside.iter().map(ToString::to_string).collect(),
            })
        };
        let text = "`sys/class/net/bond0/bonding/mod` is not there: `sys/class/net/bond0/bonding` has no `mod`";
        let later = "write `appears: later` if it comes later in the story";
        check(
            missing(&["mode", "slaves"]),
            text,
            &format!("did you mean `mode`? {later}"),
        );
        check(
            missing(&["slaves"]),
            text,
            &format!("there is: slaves; {later}"),
        );
        check(missing(&[]), text, later);
        let folder = Unmet::Kind {
            path: "sys/x".to_owned(),
            kind: NodeKind::Folder,
        };
        check(
            Some(folder),
            "`sys/class/net/bond0/bonding/mod` is a folder, which is not read or written",
            "a folder is listed: write `list`",
        );
    }
}
