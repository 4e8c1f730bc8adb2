//! A place in a text.

use std::fmt;

/// The place of a value in a text: line and column, from 1; 0 if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Place {
    /// The place of a byte of a text; a byte within a character has the place of the character.
    #[must_use]
    pub fn of_byte(text: &str, at: usize) -> Self {
        let before = &text[..text.floor_char_boundary(at)];
        let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        let number =
            |count: usize| u32::try_from(count).map_or(u32::MAX, |count| count.saturating_add(1));
        Self {
            line: number(before.matches('\n').count()),
            column: number(before[begin..].chars().count()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}
