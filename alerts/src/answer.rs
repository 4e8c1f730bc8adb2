//! What promtool answers: the results of expressions for which nothing was expected, line by line.
//!
//! promtool has no output for machines. Every line must be of a known form; anything else is an error of the run, such
//! as an expression that its engine refuses. Start at [`results`].

use std::{collections::BTreeSet, iter::Peekable, str::Chars};

use crate::{duration::milliseconds, firing::Labels};

/// The result of an expression at a time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// The expression.
    pub expression: String,
    /// The time, in milliseconds.
    pub at_ms: u64,
    /// Its samples: labels, `__name__` among them, and the value.
    pub samples: Vec<(Labels, f64)>,
}

/// The answers in what promtool wrote to its error output, in order.
///
/// # Errors
/// The lines that are of no known form, as they are, each once: a rule that is refused is refused in every case.
pub(crate) fn results(text: &str) -> Result<Vec<Answer>, String> {
    let mut answers = Vec::new();
    let mut asked = None;
    for line in text.lines() {
        let words = line.trim();
        let known = ["FAILED:", "exp: nil", "exp:nil", "name:", "SUCCESS"];
        if words.is_empty() || known.iter().any(|known| words.starts_with(known)) {
            continue;
        }
        if let Some(rest) = words.strip_prefix("expr: ") {
            asked = question(rest);
            if asked.is_some() {
                continue;
            }
        } else if let Some(rest) = words.strip_prefix("got: ") {
            let samples = samples(rest);
            if let (Some((expression, at_ms)), Some(samples)) = (asked.take(), samples) {
                answers.push(Answer {
                    expression,
                    at_ms,
                    samples,
                });
                continue;
            }
        }
        let rest = text[line.as_ptr() as usize - text.as_ptr() as usize..].trim();
        let mut seen = BTreeSet::new();
        let once = rest.lines().filter(|line| seen.insert(line.trim()));
        return Err(once.collect::<Vec<_>>().join("\n"));
    }
    match asked {
        None => Ok(answers),
        Some((expression, _)) => Err(format!("no answer to `{expression}`")),
    }
}

/// `"ALERTS", time: 1m10s,`
fn question(text: &str) -> Option<(String, u64)> {
    let mut letters = text.chars().peekable();
    let expression = string(&mut letters)?;
    let rest: String = letters.collect();
    let time = rest.trim_start_matches(',').trim().strip_prefix("time:")?;
    Some((expression, milliseconds(time.trim().trim_end_matches(','))?))
}

/// `{a="b"} 1E+00, {a="c"} 2E+00`, or `nil`.
fn samples(text: &str) -> Option<Vec<(Labels, f64)>> {
    if text == "nil" {
        return Some(Vec::new());
    }
    let mut letters = text.chars().peekable();
    let mut found = Vec::new();
    loop {
        let labels = labels(&mut letters)?;
        let mut value = String::new();
        while let Some(letter) = letters.next_if(|letter| *letter != ',') {
            value.push(letter);
        }
        found.push((labels, value.trim().parse().ok()?));
        if letters.next().is_none() {
            return Some(found);
        }
        letters.next_if_eq(&' ');
    }
}

/// `{a="b", c="d"}`
fn labels(letters: &mut Peekable<Chars<'_>>) -> Option<Labels> {
    letters.next_if_eq(&'{')?;
    let mut labels = Labels::new();
    loop {
        while letters
            .next_if(|letter| [',', ' '].contains(letter))
            .is_some()
        {}
        if letters.next_if_eq(&'}').is_some() {
            return Some(labels);
        }
        let mut name = String::new();
        while let Some(letter) = letters.next_if(|letter| *letter != '=') {
            name.push(letter);
        }
        letters.next()?;
        labels.insert(name, string(letters)?);
    }
}

/// A string as Go quotes it (`strconv.Quote`).
fn string(letters: &mut Peekable<Chars<'_>>) -> Option<String> {
    letters.next_if_eq(&'"')?;
    let mut text = String::new();
    loop {
        let letter = match letters.next()? {
            '"' => return Some(text),
            '\\' => match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'v' => '\u{b}',
                'x' => code(letters, 2)?,
                'u' => code(letters, 4)?,
                'U' => code(letters, 8)?,
                letter @ ('"' | '\\') => letter,
                _ => return None,
            },
            letter => letter,
        };
        text.push(letter);
    }
}

/// The character with the code of so many hexadecimal digits.
fn code(letters: &mut Peekable<Chars<'_>>, digits: usize) -> Option<char> {
    let digits: String = letters.by_ref().take(digits).collect();
    char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Labels and value.
    type Sample<'s> = (&'s [(&'s str, &'s str)], f64);

    #[track_caller]
    fn check(got: &str, samples: Option<&[Sample<'_>]>) {
        let text = format!(
            "  FAILED:\n    expr: \"ALERTS\", time: 1m10s,\n        exp: nil\n        got: {got}\n"
        );
        let expected = samples.map(|samples| {
            let samples = samples.iter().map(|(labels, value)| {
                let labels = labels
                    .iter()
                    .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
                (labels.collect(), *value)
            });
            vec![Answer {
                expression: "ALERTS".to_owned(),
                at_ms: 70_000,
                samples: samples.collect(),
            }]
        });
        assert_eq!(results(&text).ok(), expected, "{got}");
    }

    /// What promtool 2.42 writes of a file with two cases and a rule that cannot be parsed.
    #[test]
    fn a_refused_expression_is_told_once_however_many_cases_there_are() {
        let line = "rules.json: 1:57: group \"g\", rule 1, \"A\": could not parse expression: 1:7: parse error: unexpected <op:==>";
        let text = format!("  FAILED:\n{line}\n  FAILED:\n{line}\n");
        let told = results(&text).unwrap_err();
        assert_eq!(told, format!("{line}\n  FAILED:"));
    }

    #[test]
    fn samples_are_read_quote_aware() {
        check("{} 3E+00", Some(&[(&[], 3.0)]));
        check(
            "{__name__=\"ALERTS\", q=\"a\\\"b\\\\n} 1, {\\n\"} 1E+00, {x=\"\\u00e9\\x41\"} +Inf",
            Some(&[
                (&[("__name__", "ALERTS"), ("q", "a\"b\\n} 1, {\n")], 1.0),
                (&[("x", "éA")], f64::INFINITY),
            ]),
        );
        check("nil", Some(&[]));
    }

    #[test]
    fn what_is_not_read_to_its_end_is_an_error() {
        for broken in [
            "",
            "{",
            "{} ",
            "{a=\"b} 1",
            "{a=\"\\q\"} 1",
            "{} 1,",
            "{a} 1",
            "1",
        ] {
            check(broken, None);
        }
        let refused =
            "  FAILED:\nrules.yml: 5:11: group \"g\", rule 1: could not parse expression\n";
        let error = results(refused).unwrap_err();
        assert!(error.starts_with("rules.yml: 5:11"), "{error}");
        assert!(results("  expr: \"a\", time: 1s,\n").is_err());
        assert!(results("  expr: \"a\", time: soon,\n").is_err());
        assert!(results("  got: {} 1\n").is_err());
    }

    proptest! {
        #[test]
        fn a_label_reads_back_whatever_it_says(value in "\\PC*") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let read = samples(&format!("{{a=\"{quoted}\"}} 1E+00")).unwrap();
            prop_assert_eq!(&read[0].0["a"], &value);
        }
    }
}
