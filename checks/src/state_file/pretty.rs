//! JSON with a member a line, as `serde_json::to_vec_pretty` writes it. A line's end and its indentation are one piece here:
//! the file is written after every change, and most of its pieces are these. Start at [`to_vec`].

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// What is between two members: a comma, the line's end, and spaces for as many levels as the state file has, and more.
const BETWEEN: &[u8; 2 + 2 * LEVELS] =
    b",\n                                                                ";

/// The levels whose indentation is in [`BETWEEN`].
const LEVELS: usize = 32;

/// The bytes of this value, without a last line's end. `size` is how many there will be, about.
pub(super) fn to_vec(value: &impl Serialize, size: usize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size);
    value.serialize(&mut Serializer::with_formatter(
        &mut bytes,
        Pretty::default(),
    ))?;
    Ok(bytes)
}

/// The form: two spaces a level, and nothing within an empty list or object.
#[derive(Default)]
struct Pretty {
    level: usize,
    has_members: bool,
}

impl Pretty {
    /// Begins a line, behind a comma unless it is the first one.
    fn line(&self, to: &mut (impl Write + ?Sized), is_first: bool) -> io::Result<()> {
        let known = self.level.min(LEVELS);
        to.write_all(&BETWEEN[usize::from(is_first)..2 + 2 * known])?;
        (known..self.level).try_for_each(|_| to.write_all(b"  "))
    }

    fn open(&mut self, to: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.level += 1;
        self.has_members = false;
        to.write_all(bracket)
    }

    fn close(&mut self, to: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.level -= 1;
        if self.has_members {
            self.line(to, true)?;
        }
        to.write_all(bracket)
    }
}

impl Formatter for Pretty {
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
        self.line(to, is_first)
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
        self.line(to, is_first)
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
    fn a_value_is_written_as_by_serde_json() {
        let mut deep = json!({ "a": [1, "two\n", {}, [], [[]], { "b": null }], "c": { "d": {} } });
        for _ in 0..LEVELS + 3 {
            deep = Value::Array(vec![json!([]), deep, json!({ "e": true })]);
        }
        let expected = serde_json::to_vec_pretty(&deep).unwrap();
        assert_eq!(to_vec(&deep, 0).unwrap(), expected);
    }
}
