//! The placeholders of a descriptor, `{root}` and its like, and the values that replace them.

use std::borrow::Cow;

/// The names of all placeholders.
pub const PLACEHOLDERS: [&str; 10] = [
    "checks",
    "config",
    "files",
    "metrics_port",
    "node",
    "root",
    "self",
    "socket",
    "state_file",
    "textfile_dir",
];

/// The values of one start of a monitor.
#[derive(Clone, Debug, Default)]
pub struct Filling<'a> {
    /// `{self}`: this program.
    pub this: &'a str,
    /// `{root}`: the mount root; empty in memory.
    pub root: &'a str,
    /// `{state_file}`: path of the reference monitor's state file.
    pub state_file: &'a str,
    /// `{socket}`: path of the connector's socket.
    pub socket: &'a str,
    /// `{config}`: path of the configuration file.
    pub config: &'a str,
    /// `{files}`: path of the folder with the descriptor's own files.
    pub files: &'a str,
    /// `{textfile_dir}`: path of the folder in which a textfile collector looks.
    pub textfile_dir: &'a str,
    /// `{node}`: the node's name.
    pub node: &'a str,
    /// `{metrics_port}`.
    pub metrics_port: u16,
    /// `{checks}`: the names of the checks that run.
    pub checks: &'a [&'a str],
}

impl Filling<'_> {
    /// The text with every placeholder replaced. `{{name}}` stands for `{name}`; other braces stay.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        pieces(text)
            .map(|piece| match piece {
                Piece::Plain(text) => Cow::Borrowed(text),
                Piece::Placeholder(name) => self.value(name),
            })
            .collect()
    }

    fn value(&self, name: &str) -> Cow<'_, str> {
        Cow::Borrowed(match name {
            "checks" => return Cow::Owned(self.checks.join(",")),
            "metrics_port" => return Cow::Owned(self.metrics_port.to_string()),
            "config" => self.config,
            "files" => self.files,
            "node" => self.node,
            "root" => self.root,
            "self" => self.this,
            "socket" => self.socket,
            "state_file" => self.state_file,
            "textfile_dir" => self.textfile_dir,
            // A descriptor with another name is refused when it is read.
            _ => "",
        })
    }
}

/// The first placeholder in a text that has no value.
pub(crate) fn unknown(text: &str) -> Option<&str> {
    pieces(text).find_map(|piece| match piece {
        Piece::Placeholder(name) if !PLACEHOLDERS.contains(&name) => Some(name),
        _ => None,
    })
}

enum Piece<'t> {
    Plain(&'t str),
    Placeholder(&'t str),
}

/// The pieces of a text. A placeholder is a name of small letters and `_` in braces.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(inner) = rest.strip_prefix("{{")
            && let Some(name) = name_before(inner, "}}")
        {
            let piece = &rest[1..name.len() + 3];
            rest = &rest[name.len() + 4..];
            return Some(Piece::Plain(piece));
        }
        if let Some(inner) = rest.strip_prefix('{')
            && let Some(name) = name_before(inner, "}")
        {
            rest = &rest[name.len() + 2..];
            return Some(Piece::Placeholder(name));
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find('{').map_or(rest.len(), |at| at + first);
        let (plain, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Plain(plain))
    })
}

/// The name at the start of a text, if `end` follows it.
fn name_before<'t>(text: &'t str, end: &str) -> Option<&'t str> {
    let of_a_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let len = text.find(|c| !of_a_name(c))?;
    let (name, after) = text.split_at(len);
    (!name.is_empty() && after.starts_with(end)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, filled: &str) {
        let filling = Filling {
            root: "/r/{socket}",
            node: "n1",
            checks: &["A", "B"],
            metrics_port: 9,
            ..Filling::default()
        };
        assert_eq!(filling.fill(text), filled, "{text}");
        assert_eq!(unknown(text), None, "{text}");
    }

    #[test]
    fn placeholders_are_replaced_once() {
        check("{root}/sys", "/r/{socket}/sys");
        check("é{node}ü{metrics_port}", "én1ü9");
        check("{checks}{node}", "A,Bn1");
    }

    #[test]
    fn two_braces_stand_for_one_and_other_braces_stay() {
        check("{{root}}", "{root}");
        check("${{home}}", "${home}");
        check(
            "a = { b = 1 } {} { {{ }} {\"a\":1} ${HOME}",
            "a = { b = 1 } {} { {{ }} {\"a\":1} ${HOME}",
        );
        check("{{ .Values.x }}", "{{ .Values.x }}");
        check("{", "{");
    }

    #[test]
    fn a_name_without_a_value_is_found() {
        assert_eq!(unknown("{root}/{rot}"), Some("rot"));
        assert_eq!(unknown("${home}"), Some("home"));
    }
}
