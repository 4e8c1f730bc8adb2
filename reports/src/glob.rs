//! Patterns of names: of scenarios, drills and clauses in filters, of findings in `known.toml`.

use std::fmt;

/// A name with wildcards: `*` for any characters, `?` for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<char>);

impl Glob {
    /// Creates a pattern from its text.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(pattern.chars().collect())
    }

    /// Whether the whole of `text` matches.
    #[must_use]
    pub fn fits(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut at, mut in_text) = (0, 0);
        // Index of the last star, and how much of the text it has matched.
        let mut star: Option<(usize, usize)> = None;
        while in_text < text.len() {
            match self.0.get(at) {
                Some('*') => {
                    star = Some((at, in_text));
                    at += 1;
                }
                Some(c) if *c == '?' || *c == text[in_text] => {
                    at += 1;
                    in_text += 1;
                }
                _ => match &mut star {
                    Some((star_at, taken)) => {
                        *taken += 1;
                        at = *star_at + 1;
                        in_text = *taken;
                    }
                    None => return false,
                },
            }
        }
        self.0[at..].iter().all(|c| *c == '*')
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|c| write!(f, "{c}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_star_fits_whatever_stands_between(a in "[a-c]{0,6}", b in "[a-c]{0,6}", c in "[a-c]{0,6}") {
            let glob = Glob::new(&format!("{a}*{c}"));
            let text = format!("{a}{b}{c}");
            prop_assert!(glob.fits(&text));
            let exact = Glob::new(&a);
            prop_assert_eq!(exact.fits(&text), a == text);
        }
    }
}
