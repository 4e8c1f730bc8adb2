//! What a monitor answers when it is asked: its metrics and its health.
//!
//! The text format of Prometheus is parsed here: the published parsers skip a line that is malformed instead of
//! refusing it, and know no escapes in labels. When a monitor is asked is left out. Start at [`Answers`].

use std::collections::BTreeMap;

use serde_json::Value;

/// What a monitor answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// Its metrics; `None` if it was not asked or gave none.
    pub metrics: Option<Vec<Series>>,
    /// The last status of `/healthz`; `None` if it was not asked or gave none.
    pub healthz: Option<u16>,
}

/// One value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The metric's name; of a histogram with `_bucket`, `_sum` or `_count` behind it.
    pub name: String,
    /// Label names and values.
    pub labels: BTreeMap<String, String>,
    /// The value.
    pub value: f64,
}

impl Series {
    /// As a person reads it.
    #[must_use]
    pub fn line(&self) -> String {
        let labels = self.labels.iter();
        let labels: Vec<String> = labels
            .map(|(name, text)| format!("{name}={}", Value::from(text.as_str())))
            .collect();
        format!("{}{{{}}} {}", self.name, labels.join(","), self.value)
    }
}

/// Reads the text format, version 0.0.4 (Prometheus, "Exposition formats"); `None` if any line is none.
#[must_use]
pub fn series(text: &str) -> Option<Vec<Series>> {
    Some(
        stamped(text)?
            .into_iter()
            .map(|(series, _)| series)
            .collect(),
    )
}

/// The same, each with its time in milliseconds since 1970 if it has one.
pub(crate) fn stamped(text: &str) -> Option<Vec<(Series, Option<i64>)>> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(one)
        .collect()
}

/// One line: a name, labels in braces if there are any, the value, and perhaps a time.
fn one(line: &str) -> Option<(Series, Option<i64>)> {
    let end = line.find(|c: char| c == '{' || c.is_whitespace())?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (BTreeMap::new(), rest),
    };
    let mut words = rest.split_whitespace();
    let value = words.next()?.parse().ok()?;
    let stamp = words.next().map(str::parse::<i64>);
    let is_whole = !name.is_empty() && words.next().is_none() && !matches!(stamp, Some(Err(_)));
    let series = Series {
        name: name.to_owned(),
        labels,
        value,
    };
    is_whole.then_some((series, stamp.and_then(Result::ok)))
}

/// The labels after the opening brace, and what follows the closing one.
fn labels(mut rest: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (name, after) = rest.split_once("=\"")?;
        let mut text = String::new();
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next()? {
                (at, '"') => break at,
                (_, '\\') => text.push(match letters.next()?.1 {
                    'n' => '\n',
                    other => other,
                }),
                (_, letter) => text.push(letter),
            }
        };
        labels.insert(name.trim().to_owned(), text);
        rest = &after[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, lines: Option<&[&str]>) {
        let rendered: Option<Vec<String>> =
            series(text).map(|all| all.iter().map(Series::line).collect());
        let rendered: Option<Vec<&str>> = rendered
            .as_ref()
            .map(|lines| lines.iter().map(String::as_str).collect());
        assert_eq!(rendered.as_deref(), lines, "{text}");
    }

    #[test]
    fn the_text_format_is_read() {
        check("", Some(&[]));
        check(
            "# HELP a What.\n# TYPE a counter\na 1\n\nb{} 2.5 1700000000000\n",
            Some(&["a{} 1", "b{} 2.5"]),
        );
        check(
            "a{x=\"1\",y=\"2, {three}\"} +Inf\n",
            Some(&["a{x=\"1\",y=\"2, {three}\"} inf"]),
        );
        check(
            "a{ x=\"a \\\"b\\\" \\\\ c\\n\", } 1e3\n",
            Some(&["a{x=\"a \\\"b\\\" \\\\ c\\n\"} 1000"]),
        );
    }

    #[test]
    fn what_is_no_line_of_it_is_refused() {
        for text in [
            "a",
            "a{",
            "a{x}",
            "a{x=\"1} 1",
            "a{x=\"1\"}",
            "a one",
            "a 1 soon",
            "a 1 2 3",
            " {} 1",
            "<html>",
        ] {
            check(text, None);
        }
    }
}
