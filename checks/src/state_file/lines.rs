//! JSON with an entry a line: what is a member of the file, or of a key of it, has a line, and what is within it stands on
//! that line. The file is written after every change, so that a line's end and its indentation are one piece here.
//! Start at [`to_vec`].

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// What is between two lines: a comma, the line's end, and two spaces a level.
const BETWEEN: &[u8; 2 + 2 * LEVELS] = b",\n    ";

/// The levels whose members have lines of their own.
const LEVELS: usize = 2;

/// The bytes of this value, without a last line's end. `size` is how many there will be, about.
pub(super) fn to_vec(value: &impl Serialize, size: usize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size);
    value.serialize(&mut Serializer::with_formatter(
        &mut bytes,
        Lines::default(),
    ))?;
    Ok(bytes)
}

/// The form: nothing is within an empty list or object.
#[derive(Default)]
struct Lines {
    level: usize,
    has_members: bool,
}

impl Lines {
    /// Begins a member, behind a comma unless it is the first one.
    fn member(&self, to: &mut (impl Write + ?Sized), is_first: bool) -> io::Result<()> {
        if self.level <= LEVELS {
            to.write_all(&BETWEEN[usize::from(is_first)..2 + 2 * self.level])
        } else if is_first {
            Ok(())
        } else {
            to.write_all(b", ")
        }
    }

    fn open(&mut self, to: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.level += 1;
        self.has_members = false;
        to.write_all(bracket)
    }

    fn close(&mut self, to: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.level -= 1;
        if self.has_members && self.level < LEVELS {
            to.write_all(&BETWEEN[1..2 + 2 * self.level])?;
        }
        to.write_all(bracket)
    }
}

impl Formatter for Lines {
    fn begin_array<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.open(to, b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.close(to, b"]")
    }

    fn begin_array_value<W: Write + ?Sized>(
        &mut self,
        to: &mut W,
        is_first: bool,
    ) -> io::Result<()> {
        self.member(to, is_first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_members = true;
        Ok(())
    }

    fn begin_object<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.open(to, b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.close(to, b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(
        &mut self,
        to: &mut W,
        is_first: bool,
    ) -> io::Result<()> {
        self.member(to, is_first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_members = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_entry_stands_on_a_line() {
        let value = json!({
            "a": { "b": { "c": [1, "two\n", []] }, "d": {} }, "e": [ { "f": null, "g": [[]] }, 2 ], "h": [], "i": true
        });
        let text = String::from_utf8(to_vec(&value, 0).unwrap()).unwrap();
        let lines = [
            r#"{"#,
            r#"  "a": {"#,
            r#"    "b": {"c": [1, "two\n", []]},"#,
            r#"    "d": {}"#,
            r#"  },"#,
            r#"  "e": ["#,
            r#"    {"f": null, "g": [[]]},"#,
            r#"    2"#,
            r#"  ],"#,
            r#"  "h": [],"#,
            r#"  "i": true"#,
            r#"}"#,
        ];
        assert_eq!(text, lines.join("\n"));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
