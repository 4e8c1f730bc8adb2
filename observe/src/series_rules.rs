//! What metrics say: rules that map the labels of a series to a subject and its value to a verdict.
//!
//! Where the series come from is left out. Start at [`SeriesRules::observed`].

use std::collections::BTreeMap;

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use terms::Severity;

use crate::{
    Delivery, Observation, Series, Subject, VerdictWord, observation, value_range::ValueRange,
};

/// The shortest rules of a part of a descriptor.
pub(crate) const EXAMPLE: &str = "`metrics: [ { name: nic_port_up, device: device, port: port, values: { 1: healthy, 0: fatal } } ]` into it";

/// The rules of a monitor, in any order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SeriesRules(Vec<SeriesRule>);

/// What the series of one name say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeriesRule {
    /// The name of the metric.
    name: String,
    /// Labels that a series must have with these values; others are not meant.
    #[serde(default, rename = "where")]
    labels: BTreeMap<String, String>,
    /// The label with the device.
    device: Option<String>,
    /// The label with the port.
    port: Option<String>,
    /// The label with the card.
    card: Option<String>,
    /// What its values say: a number, `above N` or `below N`, and `healthy`, `nonfatal`, `fatal` or `unknown`.
    values: BTreeMap<ValueRange, VerdictWord>,
}

impl SeriesRules {
    /// What the series of a page say, a statement for each that a rule names. A series that is not there says nothing.
    #[must_use]
    pub fn observed(&self, series: &[Series]) -> Delivery {
        let pairs = series.iter().flat_map(|series| {
            let meant = self.0.iter().filter(|rule| rule.is_meant(series));
            meant.map(move |rule| rule.observed(series))
        });
        let mut observations: Vec<Observation> = pairs.collect();
        // A node that is well takes back what was said of its ports before, not what is said of them now.
        observations.sort_by_key(|observation| observation.subject != Subject::Node);
        observations.into()
    }

    /// What is wrong with the rules, which are the `metrics` of the part with this key.
    pub(crate) fn problems(&self, part: &str) -> Vec<Problem> {
        if self.0.is_empty() {
            let none = Problem::at(
                ["metrics"],
                "`metrics` has no rule",
                "write `- { name: nic_port_up, device: device, port: port, values: { 1: healthy, 0: fatal } }`",
            );
            return vec![none.below([part])];
        }
        let rules = self.0.iter().enumerate();
        let problems = rules.filter_map(|(at, rule)| {
            let (key, what, hint) = rule.problem()?;
            let at = at.to_string();
            Some(Problem::at([key], what, hint).below([part, "metrics", &at]))
        });
        problems.collect()
    }
}

impl SeriesRule {
    fn is_meant(&self, series: &Series) -> bool {
        let has = |(label, value): (&String, &String)| series.labels.get(label) == Some(value);
        self.name == series.name && self.labels.iter().all(has)
    }

    fn observed(&self, series: &Series) -> Observation {
        let label = |name: &Option<String>| series.labels.get(name.as_ref()?).cloned();
        let subject = Subject::named(label(&self.device), label(&self.port), label(&self.card));
        let stated = self
            .values
            .iter()
            .find(|(range, _)| range.has(series.value));
        let unnamed = stated.is_none();
        let word = unnamed.then(|| format!("{} {}", series.name, series.value));
        let severity = stated.map_or(Severity::Unknown, |(_, stated)| (*stated).into());
        // Two metrics of one subject are two statements, so that neither takes back the other.
        let codes = match subject {
            Subject::Node => Vec::new(),
            _ => vec![series.name.clone()],
        };
        Observation {
            subject,
            severity,
            codes,
            text: text_of(series),
            fields: observation::unnamed(word),
            ..Observation::default()
        }
    }

    /// What is wrong with this rule: key, problem and hint.
    fn problem(&self) -> Option<(&'static str, String, &'static str)> {
        let name = &self.name;
        if self.values.is_empty() {
            return Some((
                "values",
                format!("the values of `{name}` mean nothing"),
                "write `values: { 1: healthy, 0: fatal }`",
            ));
        }
        if self.port.is_some() && self.device.is_none() {
            return Some((
                "port",
                format!("`{name}` has a label with the port and none with the device"),
                "write `device: LABEL` too",
            ));
        }
        let ranges: Vec<&ValueRange> = self.values.keys().collect();
        let overlap = |at: usize| ranges[..at].iter().find(|one| one.meets(ranges[at]));
        let pair = (1..ranges.len()).find_map(|at| Some((overlap(at)?, ranges[at])));
        pair.map(|(one, other)| {
            (
                "values",
                format!("`{name}`: a value can be `{one}` and `{other}`"),
                "write ranges that do not overlap; a number beside them goes first",
            )
        })
    }
}

/// The longest text of a statement, in bytes. Chosen: a few times the longest series of node_exporter.
const TEXT_MAX: usize = 1024;

/// A series as a person reads it, of bounded length.
fn text_of(series: &Series) -> String {
    let mut text = series.line();
    if text.len() > TEXT_MAX {
        text.truncate(text.floor_char_boundary(TEXT_MAX));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series;

    /// Rules as a value of TOML.
    fn rules(text: &str) -> Result<SeriesRules, String> {
        #[derive(Debug, Deserialize)]
        struct Rules {
            metrics: SeriesRules,
        }
        let rules: Result<Rules, _> = toml::from_str(&format!("metrics = {text}"));
        rules
            .map(|rules| rules.metrics)
            .map_err(|error| error.to_string())
    }

    const RULES: &str = r"[
        { name = 'up', device = 'dev', port = 'port', values = { '1' = 'healthy', '0' = 'fatal' } },
        { name = 'errors', where = { kind = 'rx' }, device = 'dev', values = { '0' = 'healthy', 'above 0' = 'nonfatal' } },
        { name = 'node_ok', values = { '1' = 'healthy', 'below 1' = 'fatal' } },
    ]";

    fn check(page: &str, stated: &[&str]) {
        let observed = rules(RULES).unwrap().observed(&series(page).unwrap());
        let lines: Vec<String> = observed
            .observations
            .iter()
            .map(|it| format!("{} {}", it.severity, it.subject))
            .collect();
        assert_eq!(lines, stated, "{page}");
    }

    #[test]
    fn labels_name_the_subject_and_the_value_decides() {
        check("up{dev=\"a\",port=\"1\"} 1\n", &["healthy NIC=a NICPort=1"]);
        check("up{dev=\"a\",port=\"2\"} 0\n", &["fatal NIC=a NICPort=2"]);
        check("errors{dev=\"a\",kind=\"rx\"} 7.5\n", &["nonfatal NIC=a"]);
        check("node_ok -3\n", &["fatal "]);
    }

    #[test]
    fn what_no_rule_names_says_nothing_and_what_no_range_has_is_unknown() {
        check("errors{dev=\"a\",kind=\"tx\"} 7\nother 1\n", &[]);
        check("up{dev=\"a\",port=\"1\"} 2\n", &["unknown NIC=a NICPort=1"]);
        check(
            "up{dev=\"a\",port=\"1\"} NaN\n",
            &["unknown NIC=a NICPort=1"],
        );
    }

    #[test]
    fn the_text_of_a_statement_has_a_bound() {
        let page = format!(
            "up{{dev=\"a\",port=\"1\",more=\"{}\"}} 1\n",
            "é".repeat(1000)
        );
        let observed = rules(RULES).unwrap().observed(&series(&page).unwrap());
        let text = &observed.observations[0].text;
        assert!(text.starts_with("up{dev=\"a\",more=\"éé"), "{text}");
        assert!(
            text.ends_with("é…") && text.len() <= TEXT_MAX + "…".len(),
            "{text}"
        );
        check("up{dev=\"a\",port=\"1\"} 1\n", &["healthy NIC=a NICPort=1"]);
    }

    #[test]
    fn the_node_goes_first() {
        check(
            "up{dev=\"a\",port=\"1\"} 0\nnode_ok 1\n",
            &["healthy ", "fatal NIC=a NICPort=1"],
        );
    }

    #[test]
    fn rules_that_contradict_themselves_are_refused() {
        let problem = |values: &str| {
            let text = format!("[{{ name = 'a', device = 'd', values = {values} }}]");
            rules(&text)
                .unwrap()
                .problems("scrape")
                .into_iter()
                .next()
                .map(|problem| problem.what)
        };
        assert_eq!(
            problem("{ '0' = 'healthy', 'above 0' = 'fatal', 'below 0' = 'fatal' }"),
            None
        );
        assert_eq!(problem("{ '5' = 'healthy', 'above 0' = 'fatal' }"), None);
        assert_eq!(
            problem("{ 'above 1' = 'healthy', 'above 0' = 'fatal' }").as_deref(),
            Some("`a`: a value can be `above 0` and `above 1`")
        );
        assert_eq!(
            problem("{ 'above 1' = 'healthy', 'below 2' = 'fatal' }").as_deref(),
            Some("`a`: a value can be `above 1` and `below 2`")
        );
        assert!(problem("{}").is_some());
        let error = rules("[{ name = 'a', values = { 'over 1' = 'fatal' } }]").unwrap_err();
        assert!(error.contains("`over 1`"), "{error}");
    }
}
