//! What a textfile collector shows of the files that a monitor writes.
//!
//! It follows Prometheus' node_exporter, "Textfile Collector": of all files whose names end in `.prom` the series are
//! shown; a file that cannot be parsed, or has a time stamp, is left out as a whole, and
//! `node_textfile_scrape_error` is 1. Start at [`Textfiles::of`].

use std::collections::BTreeMap;

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Adapter, Delivery, Facts, Medium, Part, Series, SeriesRules, answers, series_rules};

pub(super) const FACTS: Facts = Facts {
    medium: Medium::Files,
    part: Some(Part {
        key: "textfile",
        example: series_rules::EXAMPLE,
        meanings: "values",
        silence_hint: "does it write `*.prom` files into `{textfile_dir}`, and are their names those of `metrics`?",
    }),
    silence: "in {polls} polls the files of the monitor had no series that a rule of `metrics` names",
};

/// With `speaks: textfile`: how the program runs, and what its metrics mean.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Textfile {
    /// How the program runs.
    #[serde(default)]
    pub program: TextfileProgram,
    /// What the series say.
    pub metrics: SeriesRules,
}

impl Adapter for Textfile {
    fn problems(&self) -> Vec<Problem> {
        self.metrics.problems("textfile")
    }

    fn is_run(&self) -> bool {
        self.program == TextfileProgram::OneShot
    }

    fn files_say(&self, series: &[Series]) -> Delivery {
        self.metrics.observed(series)
    }
}

/// How a program runs that writes files for the collector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TextfileProgram {
    /// All the time: it lists `class/infiniband` in every round, as other monitors do.
    #[default]
    Daemon,
    /// Once at each interval.
    OneShot,
}

/// What the collector shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Textfiles {
    /// The series of all files that were read, with `node_textfile_scrape_error`.
    pub series: Vec<Series>,
    /// Why files were left out, each with its name.
    pub refused: Vec<String>,
}

impl Textfiles {
    /// Whether the collector reads a file of this name (node_exporter, "Textfile Collector").
    #[must_use]
    pub fn is_read(name: &str) -> bool {
        name.ends_with(".prom")
    }

    /// What the collector shows of files, by their names and in the order of these.
    #[must_use]
    pub fn of(files: &BTreeMap<String, String>) -> Self {
        Self::beside(files, Vec::new())
    }

    /// The same beside files that cannot be read, or are none: why, each with its name.
    #[must_use]
    pub fn beside(files: &BTreeMap<String, String>, refused: Vec<String>) -> Self {
        let mut shown = Self {
            refused,
            ..Self::default()
        };
        for (name, text) in files.iter().filter(|(name, _)| Self::is_read(name)) {
            match parsed(text) {
                Ok(series) => shown.series.extend(series),
                Err(why) => shown.refused.push(format!("{name}: {why}")),
            }
        }
        let error = if shown.refused.is_empty() { 0.0 } else { 1.0 };
        shown.series.push(Series {
            name: "node_textfile_scrape_error".to_owned(),
            labels: BTreeMap::new(),
            value: error,
        });
        shown
    }
}

/// The series of one file, or why it is left out.
fn parsed(text: &str) -> Result<Vec<Series>, &'static str> {
    // The parser of node_exporter wants every line to end (prometheus/common, `expfmt.TextParser`).
    if !text.is_empty() && !text.ends_with('\n') {
        return Err("its last line does not end");
    }
    let all = answers::stamped(text).ok_or("it is not in the text format")?;
    if all.iter().any(|(_, stamp)| stamp.is_some()) {
        return Err("it has a time stamp");
    }
    Ok(all.into_iter().map(|(series, _)| series).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], series: &[&str], refused: &[&str]) {
        let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        let shown = Textfiles::of(&files.iter().map(own).collect());
        let lines: Vec<String> = shown.series.iter().map(Series::line).collect();
        assert_eq!(lines, series, "{files:?}");
        assert_eq!(shown.refused, refused);
    }

    #[test]
    fn the_series_of_all_files_are_shown() {
        check(
            &[
                ("b.prom", "b 2\n"),
                ("a.prom", "a 1\n"),
                ("c.prom.tmp", "half"),
            ],
            &["a{} 1", "b{} 2", "node_textfile_scrape_error{} 0"],
            &[],
        );
        check(&[], &["node_textfile_scrape_error{} 0"], &[]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_beside_the_others() {
        let files = BTreeMap::from([("b.prom".to_owned(), "b 2\n".to_owned())]);
        let refused = vec!["a.prom: it is not a regular file".to_owned()];
        let shown = Textfiles::beside(&files, refused.clone());
        let lines: Vec<String> = shown.series.iter().map(Series::line).collect();
        assert_eq!(lines, ["b{} 2", "node_textfile_scrape_error{} 1"]);
        assert_eq!(shown.refused, refused);
    }

    #[test]
    fn a_file_that_is_torn_or_has_time_stamps_is_left_out_as_a_whole() {
        let error = "node_textfile_scrape_error{} 1";
        let other = ("b.prom", "b 2\n");
        check(
            &[("a.prom", "a 1\na{x=\"1"), other],
            &["b{} 2", error],
            &["a.prom: its last line does not end"],
        );
        check(
            &[("a.prom", "a 1\na{x 1\n"), other],
            &["b{} 2", error],
            &["a.prom: it is not in the text format"],
        );
        check(
            &[("a.prom", "a 1\na{x=\"1\"} 1 1700000000000\n"), other],
            &["b{} 2", error],
            &["a.prom: it has a time stamp"],
        );
    }
}
