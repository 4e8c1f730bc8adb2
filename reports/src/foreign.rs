//! Foreign text in an output: what a monitor, a file or a machine says, shown so that it can do nothing.
//!
//! Every character can be seen, as itself or as an escape of JSON (`\u001b`): control characters, marks that turn the direction of
//! a line (Unicode Standard Annex 9), separators of lines, and noncharacters, which XML 1.0 does not allow. Nothing begins a line
//! that a CI runner takes for a command. What is quoted has a bound. A text that went through stays as it is when it goes
//! through again, so a run that is merged from shards is told as one. Start at [`one_line`] and [`quoted`]; an output as a whole
//! goes through [`as_output`].

use std::{borrow::Cow, fmt::Write as _};

/// The most bytes of a line that is quoted. Chosen: a message of an event has a few hundred.
pub(crate) const QUOTED_MAX: usize = 2048;

/// The most bytes of a text of several lines that is quoted. Chosen: ten screens.
const LINES_MAX: usize = 16 * 1024;

/// What the note of what was left out needs, in bytes.
const NOTE_MAX: usize = 64;

/// What CI runners take for a command wherever a line has it: GitHub (`ActionCommand.cs` of actions/runner), Azure Pipelines
/// and TeamCity, by their documents.
const COMMANDS: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// The text with each character that cannot be seen as an escape, but for newlines.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    // Most of what is told is plain, and some of it is long.
    let is_plain = |byte| matches!(byte, b'\n' | b' '..=b'~');
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    escaped(text, |char| char != '\n' && is_hidden(char))
}

/// The text with each line that a CI runner takes for a command broken by an escape. Blanks before `::` do not count: GitHub's
/// runner trims them.
#[must_use]
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let is_command = |line: &str| line.trim_start().starts_with("::");
    let has_command = COMMANDS.iter().any(|command| text.contains(command));
    if !has_command && !text.split('\n').any(is_command) {
        return Cow::Borrowed(text);
    }
    let mut broken = String::with_capacity(text.len() + 16);
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            broken.push('\n');
        }
        let mut line = Cow::Borrowed(line);
        for command in COMMANDS {
            if line.contains(command) {
                let escaped = format!("#\\u0023{}", &command[2..]);
                line = Cow::Owned(line.replace(command, &escaped));
            }
        }
        match line.trim_start().strip_prefix("::") {
            Some(rest) => {
                broken.push_str(&line[..line.len() - rest.len() - 2]);
                broken.push_str("\\u003a:");
                broken.push_str(rest);
            }
            None => broken.push_str(&line),
        }
    }
    Cow::Owned(broken)
}

/// An output as a whole, in which texts were quoted: [`visible`] and harmless.
#[must_use]
pub fn as_output(text: &str) -> String {
    harmless(&visible(text)).into_owned()
}

/// The text in one line of at most 2,048 bytes, with how much was left out.
#[must_use]
pub fn one_line(text: &str) -> String {
    let line = escaped(text, is_hidden);
    cut(harmless(&line).into_owned(), QUOTED_MAX)
}

/// The text in lines, each as [`one_line`] gives it, and of 16 KiB in all, with how much was left out.
#[must_use]
pub fn quoted(text: &str) -> String {
    let whole: Vec<String> = text.split('\n').map(one_line).collect();
    let bytes: usize = whole.iter().map(|line| line.len() + 1).sum();
    if bytes <= LINES_MAX {
        return whole.join("\n");
    }
    let mut kept = String::new();
    for (at, line) in whole.iter().enumerate() {
        if kept.len() + line.len() + 1 + NOTE_MAX > LINES_MAX {
            let left_out = whole.len() - at;
            write!(kept, "… ({left_out} of {} lines left out)", whole.len()).expect(WRITES);
            break;
        }
        kept += line;
        kept.push('\n');
    }
    kept
}

/// The text with the characters of a kind as escapes, in the form of JSON: within a text of JSON it means the same.
fn escaped(text: &str, is_meant: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_meant) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        if !is_meant(char) {
            shown.push(char);
            continue;
        }
        match char {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    write!(shown, "\\u{unit:04x}").expect(WRITES);
                }
            }
        }
    }
    Cow::Owned(shown)
}

/// Whether a character cannot be seen, or changes how others are: control characters, marks of direction, separators of lines,
/// the byte order mark, and noncharacters (Unicode Standard, 23.7).
fn is_hidden(char: char) -> bool {
    let is_listed = matches!(
        char,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{fdd0}'..='\u{fdef}'
            | '\u{feff}'
    );
    is_listed || u32::from(char) & 0xfffe == 0xfffe
}

/// A line of at most so many bytes.
fn cut(line: String, most: usize) -> String {
    if line.len() <= most {
        return line;
    }
    let mut keep = most - NOTE_MAX;
    while !line.is_char_boundary(keep) {
        keep -= 1;
    }
    let left_out = line.len() - keep;
    format!(
        "{}… ({left_out} of {} bytes left out)",
        &line[..keep],
        line.len()
    )
}

const WRITES: &str = "writing to a string cannot fail";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown_and_all_else_is_as_it_was() {
        let text = "a\u{fffe}\u{1b}[31m\r\t\u{202e}b\u{7f}\u{85}\u{1ffff}";
        let shown = r"a\ufffe\u001b[31m\r\t\u202eb\u007f\u0085\ud83f\udfff";
        assert_eq!(one_line(text), shown);
        assert_eq!(visible(text), shown);
        assert_eq!(one_line("a\nb"), r"a\nb");
        assert_eq!(visible("a\nb"), "a\nb");
        for plain in ["", "NIC=mlx5_0 \"down\"", "Größe ✓ \u{1f600}", r"\u001b"] {
            assert!(matches!(visible(plain), Cow::Borrowed(_)), "{plain}");
            assert_eq!(one_line(plain), plain);
        }
    }

    /// The escapes are those of JSON, so a text of JSON means what it meant.
    #[test]
    fn a_text_of_json_means_the_same() {
        let text = "\u{202e}\u{ffff}\u{1ffff}\u{7f} ##[x";
        let json = serde_json::to_string(text).unwrap();
        let shown = as_output(&json);
        assert_ne!(json, shown);
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }

    #[test]
    fn no_line_is_a_command_of_a_runner() {
        assert_eq!(harmless("::error::x"), r"\u003a:error::x");
        assert_eq!(harmless("a\n \t::x\n::"), "a\n \t\\u003a:x\n\\u003a:");
        assert_eq!(
            harmless("say ##[x and ##vso[y]"),
            r"say #\u0023[x and #\u0023vso[y]"
        );
        assert_eq!(one_line("\u{1b}\n::error::x"), r"\u001b\n::error::x");
        assert_eq!(quoted("a\n::b"), "a\n\\u003a:b");
        for plain in ["a::b", "a ::b", "# ## [", ":"] {
            assert!(matches!(harmless(plain), Cow::Borrowed(_)), "{plain}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut_and_says_by_how_much() {
        let line = one_line(&"ä".repeat(20_000));
        assert!(line.len() <= QUOTED_MAX, "{}", line.len());
        assert!(line.ends_with(" of 40000 bytes left out)"), "{line}");
        let text = quoted(&"x\n".repeat(1 << 20));
        assert!(text.len() <= LINES_MAX, "{}", text.len());
        let last = text.lines().last().unwrap_or_default();
        assert!(last.ends_with(" of 1048577 lines left out)"), "{last}");
    }

    proptest! {
        #[test]
        fn a_text_that_went_through_goes_through_as_it_is(text in ".{0,40}|(.{0,900}\n){0,40}") {
            for through in [one_line, quoted] {
                let once = through(&text);
                prop_assert_eq!(&through(&once), &once);
                prop_assert!(once.chars().all(|char| char == '\n' || !is_hidden(char)));
            }
            prop_assert!(!one_line(&text).contains('\n'));
        }
    }
}
