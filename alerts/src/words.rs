//! The words of an expression in PromQL, which are enough to know the series that it can read.
//!
//! An expression is not parsed: what a parser of another version refuses or reads otherwise than the engine would be
//! left out of what the engine is given. The words are a superset of the names that an expression uses. Start at
//! [`Words::of`].

use std::collections::BTreeSet;

use crate::duration::milliseconds;

/// The words of an expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    /// Every word outside of strings and comments: names of metrics, labels and functions, keywords.
    pub words: BTreeSet<String>,
    /// Whether it may select series without naming them: `{job="node"}`, or by the label `__name__`.
    pub is_nameless: bool,
    /// How far back it reads at most, in milliseconds: its longest range and longest offset, and all its subqueries.
    pub back_ms: u64,
}

impl Words {
    /// The words of an expression. Strings are `"…"` and `'…'` with escapes, and `` `…` `` without; a comment begins
    /// with `#` and ends with its line (Prometheus, "Querying basics").
    #[must_use]
    pub(crate) fn of(expression: &str) -> Self {
        let mut found = Self::default();
        let mut letters = expression.chars().peekable();
        let mut before = None;
        let (mut range_ms, mut offset_ms, mut subqueries_ms) = (0, 0, 0_u64);
        let mut is_offset = false;
        while let Some(letter) = letters.next() {
            let token = match letter {
                '"' | '\'' | '`' => {
                    while let Some(inner) = letters.next() {
                        if inner == letter {
                            break;
                        }
                        if inner == '\\' && letter != '`' {
                            letters.next();
                        }
                    }
                    Token::Other
                }
                '#' => {
                    letters.by_ref().find(|letter| *letter == '\n');
                    continue;
                }
                '{' => {
                    found.is_nameless |= before != Some(Token::Word);
                    Token::Other
                }
                letter if letter.is_whitespace() => continue,
                '[' => {
                    let inner: String = letters.by_ref().take_while(|next| *next != ']').collect();
                    // A range, or a subquery's range and resolution.
                    let back = |range: &str| milliseconds(range.trim()).unwrap_or_default();
                    match inner.split_once(':') {
                        Some((range, _)) => {
                            subqueries_ms = subqueries_ms.saturating_add(back(range));
                        }
                        None => range_ms = range_ms.max(back(&inner)),
                    }
                    Token::Other
                }
                letter if is_word(letter) => {
                    let mut word = String::from(letter);
                    while let Some(next) = letters.next_if(|next| is_word(*next)) {
                        word.push(next);
                    }
                    found.is_nameless |= word == "__name__";
                    if std::mem::replace(&mut is_offset, word == "offset") {
                        offset_ms = offset_ms.max(milliseconds(&word).unwrap_or_default());
                    }
                    found.words.insert(word);
                    Token::Word
                }
                _ => Token::Other,
            };
            before = Some(token);
        }
        found.back_ms = subqueries_ms
            .saturating_add(range_ms)
            .saturating_add(offset_ms);
        found
    }

    /// Whether the expression may read series of this name.
    #[must_use]
    pub(crate) fn may_read(&self, name: &str) -> bool {
        self.is_nameless || self.words.contains(name)
    }
}

/// What stands before a brace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Word,
    Other,
}

/// A character of a name (Prometheus, "Data model"); the colon is one of recording rules.
fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == ':'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, words: &[&str], is_nameless: bool) {
        let found = Words::of(expression);
        let listed: Vec<&str> = found.words.iter().map(String::as_str).collect();
        assert_eq!(
            (listed.as_slice(), found.is_nameless),
            (words, is_nameless),
            "{expression}"
        );
    }

    #[test]
    fn words_are_read_outside_of_strings_and_comments() {
        check("up == 0", &["0", "up"], false);
        check(
            "rate(a:b{x=\"c {d}\", y='e\\'f', z=`g\\`}[5m]) # h i\n > j",
            &["a:b", "j", "rate", "x", "y", "z"],
            false,
        );
    }

    #[test]
    fn an_expression_reads_back_as_far_as_its_ranges_subqueries_and_offsets() {
        let back = |expression| Words::of(expression).back_ms / 1000;
        assert_eq!(back("up == 0"), 0);
        assert_eq!(back("increase(a[5m]) > rate(b{x=\"[1h]\"}[2m])"), 300);
        assert_eq!(back("max_over_time(rate(a[5m])[1h:1m])"), 3900);
        assert_eq!(back("a - a offset 10m"), 600);
    }

    #[test]
    fn a_selector_without_a_name_may_read_everything() {
        check("{job=\"node\"}", &["job"], true);
        check("sum({job=\"node\"})", &["job", "sum"], true);
        check("up{__name__=~\"a.*\"}", &["__name__", "up"], true);
        assert!(Words::of("{a=\"b\"}").may_read("anything"));
        assert!(!Words::of("up").may_read("anything"));
    }
}
