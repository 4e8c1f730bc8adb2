//! The lines of a dump.

use super::place::is_bus_name;

/// A path and what the dump says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) path: String,
    pub(super) content: Content,
}

/// What a dump says of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A file's text.
    Text(String),
    /// A link's target.
    Link(String),
    /// A file that could not be read, and why.
    Unread(String),
}

/// The lines of a dump; empty ones, comments, and what `ls` and `grep` say beside paths, left out.
pub(super) fn lines(text: &str) -> Result<Vec<Line>, String> {
    let mut lines: Vec<Line> = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        let is_beside = text.trim().is_empty()
            || text.starts_with('#')
            || text.starts_with("total ")
            || text.starts_with("Binary file ")
            || text.starts_with("grep: ") && text.ends_with("Is a directory");
        if is_beside {
            continue;
        }
        let line = line(text).ok_or_else(|| {
            format!(
                "line {number} is none of `path = text`, `path:text` and `path -> target`: `{text}`"
            )
        })?;
        match lines.last_mut() {
            // `grep -r` prints each line of a file after its path.
            Some(last) if last.path == line.path => last.append(line.content),
            _ => lines.push(line),
        }
    }
    Ok(lines)
}

impl Line {
    /// Adds the next line of the same file.
    fn append(&mut self, next: Content) {
        match (&mut self.content, next) {
            (Content::Text(text), Content::Text(next)) => *text += &format!("\n{next}"),
            (content, next) => *content = next,
        }
    }
}

fn line(text: &str) -> Option<Line> {
    let of = |path: &str, content| {
        let path = path.trim().to_owned();
        Some(Line { path, content })
    };
    if let Some(error) = text.strip_prefix("grep: ") {
        let at = separator(error)?;
        return of(
            &error[..at],
            Content::Unread(error[at + 1..].trim().to_owned()),
        );
    }
    let (path, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    if let Some(at) = separator(path) {
        let text_of = text[at + 1..].trim_start();
        return of(&text[..at], Content::Text(text_of.to_owned()));
    }
    if let Some((path, target)) = text.split_once(" -> ") {
        // `ls -l` prints mode, owner, size and date before the name.
        let name = path.split_whitespace().next_back()?;
        let target = target.trim();
        let path = of_class(name, target).unwrap_or_else(|| name.to_owned());
        return of(&path, Content::Link(target.to_owned()));
    }
    let text = rest.trim_start().strip_prefix('=')?;
    of(path, Content::Text(text.trim_start().to_owned()))
}

/// The path of a class's entry that `ls -l` prints by its name alone: the target ends with the class and the name
/// (`drivers/base/core.c`, `device_add_class_symlinks`).
fn of_class(name: &str, target: &str) -> Option<String> {
    let mut names = target.trim_end_matches('/').rsplit('/');
    let (last, class) = (names.next()?, names.next()?);
    let is_entry = last == name && matches!(class, "infiniband" | "net");
    is_entry.then(|| format!("{class}/{name}"))
}

/// The place of the colon that ends a path with folders: not one of a PCI address or a bus.
fn separator(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut has_folder = false;
    loop {
        let rest = &text[at..];
        let address = [12, 10, 7].into_iter().find(|length| {
            let end = rest.get(*length..).and_then(|rest| rest.chars().next());
            rest.get(..*length).is_some_and(is_bus_name) && matches!(end, None | Some('/' | ':'))
        });
        let from = at + address.unwrap_or(0);
        let end = from + text[from..].find([':', '/', ' ', '\t'])?;
        match text.as_bytes()[end] {
            b'/' => (at, has_folder) = (end + 1, true),
            b':' if has_folder => return Some(end),
            _ => return None,
        }
    }
}
