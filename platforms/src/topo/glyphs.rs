//! The characters of a text with their places, without colour codes.
//!
//! Lines that a terminal wrapped are joined later, so every character keeps its place. Codes that
//! move the cursor are rejected, because the text after them is not in reading order.

use super::error::{TopoError, TopoFault};

/// A place in the text, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// A character with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph {
    pub(super) char: char,
    pub(super) place: Place,
}

/// The lines of a text.
pub(super) fn lines(text: &str) -> Result<Vec<Vec<Glyph>>, TopoError> {
    let numbered = text.split('\n').enumerate();
    numbered
        .map(|(index, line)| read_line(index + 1, line.strip_suffix('\r').unwrap_or(line)))
        .collect()
}

fn read_line(line: usize, text: &str) -> Result<Vec<Glyph>, TopoError> {
    let mut glyphs = Vec::new();
    let mut chars = (1..).zip(text.chars());
    while let Some((column, char)) = chars.next() {
        let place = Place { line, column };
        if char == '\u{1b}' {
            let mut code = String::from("ESC");
            // A colour code: ESC, `[`, numbers, `m` (ECMA-48, SGR); `K` clears to the line's end.
            loop {
                let next = chars.next().map(|(_, char)| char);
                code.extend(next);
                match next {
                    Some('[') if code.len() == 4 => {}
                    Some('0'..='9' | ';') if code.len() > 4 => {}
                    Some('m' | 'K') if code.len() > 4 => break,
                    _ => return Err(TopoError::at(place, TopoFault::Control(code))),
                }
            }
        } else if char.is_control() && char != '\t' {
            let code = char.escape_unicode().to_string();
            return Err(TopoError::at(place, TopoFault::Control(code)));
        } else {
            glyphs.push(Glyph { char, place });
        }
    }
    Ok(glyphs)
}

/// The characters as text.
pub(super) fn text(glyphs: &[Glyph]) -> String {
    glyphs.iter().map(|glyph| glyph.char).collect()
}

/// The characters as text, without blanks.
pub(super) fn compact(glyphs: &[Glyph]) -> String {
    let chars = glyphs.iter().map(|glyph| glyph.char);
    chars.filter(|char| !char.is_whitespace()).collect()
}

/// Reads characters from left to right.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [Glyph],
    /// The place of the end of the text.
    end: Place,
}

impl<'a> Reader<'a> {
    /// A reader of these characters; `start` is the place to report if there are none.
    pub(super) fn new(glyphs: &'a [Glyph], start: Place) -> Self {
        let after = |last: &Glyph| Place {
            column: last.place.column + 1,
            ..last.place
        };
        Self {
            rest: glyphs,
            end: glyphs.last().map_or(start, after),
        }
    }

    /// The characters that were not read yet.
    pub(super) fn rest(&self) -> &'a [Glyph] {
        self.rest
    }

    /// The place of the next character, or of the end.
    pub(super) fn place(&self) -> Place {
        self.rest.first().map_or(self.end, |glyph| glyph.place)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.first().map(|glyph| glyph.char)
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.rest = &self.rest[1..];
        }
    }

    /// Takes characters up to the first that does not satisfy `is`.
    pub(super) fn take_while(&mut self, is: impl Fn(char) -> bool) -> String {
        let end = self.rest.iter().position(|glyph| !is(glyph.char));
        let (taken, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        text(taken)
    }

    /// Takes `word` if it comes next.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let mut rest = self.rest;
        for char in word.chars() {
            match rest.split_first() {
                Some((glyph, others)) if glyph.char == char => rest = others,
                _ => return false,
            }
        }
        self.rest = rest;
        true
    }

    /// Takes `word` if it comes next, ignoring blanks.
    pub(super) fn take_through_blanks(&mut self, word: &str) -> bool {
        let mut ahead = self.clone();
        for char in word.chars() {
            ahead.skip_blanks();
            if !ahead.take(char.encode_utf8(&mut [0; 4])) {
                return false;
            }
        }
        *self = ahead;
        true
    }

    /// The next word, for an error text; `end of line` if there is none.
    pub(super) fn found(&self) -> String {
        let mut ahead = self.clone();
        ahead.skip_blanks();
        let word = ahead.take_while(|char| !char.is_whitespace());
        match word.chars().count() {
            0 => "end of line".to_owned(),
            1..=40 => word,
            _ => word.chars().take(40).chain("...".chars()).collect(),
        }
    }
}
