//! The adapter of monitors that answer with JSON: pointers to a list, and in each of its items to the parts of a statement.
//!
//! Start at [`HttpJson`].

use std::collections::BTreeMap;

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use terms::Severity;

use crate::{
    Adapter, Delivery, Facts, Medium, Observation, PageForm, Part, Subject, VerdictWord,
    observation,
};

pub(super) const FACTS: Facts = Facts {
    medium: Medium::Page,
    part: Some(Part {
        key: "http_json",
        example: "`http_json: { path: /health, verdict: /status, verdicts: { ok: healthy, down: fatal } }`",
        meanings: "verdicts",
        silence_hint: "compare its page at `{metrics_port}` with its descriptor: path, names, labels",
    }),
    silence: "in {polls} polls the page of the monitor said nothing that `http_json` finds",
};

/// With `speaks: http-json`: the page, and where it says what. Pointers are JSON Pointers (RFC 6901), such as
/// `/status/ports`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HttpJson {
    /// The path at `{metrics_port}`.
    pub path: String,
    /// The list whose items are about one subject each; without it, the page as a whole is one item.
    items: Option<String>,
    /// In an item, its device.
    device: Option<String>,
    /// In an item, its port.
    port: Option<String>,
    /// In an item, its card.
    card: Option<String>,
    /// In an item, its text for people.
    text: Option<String>,
    /// In an item, the word, number or truth value that says how it is.
    verdict: String,
    /// What these say; any other says that nothing is known.
    verdicts: BTreeMap<String, VerdictWord>,
}

impl Adapter for HttpJson {
    fn page(&self) -> Option<(&str, PageForm)> {
        Some((&self.path, PageForm::Json))
    }

    fn page_says(&self, text: &str) -> Result<Delivery, String> {
        let page: Value =
            serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let items = match &self.items {
            None => std::slice::from_ref(&page),
            Some(at) => match page.pointer(at) {
                Some(Value::Array(items)) => items.as_slice(),
                _ => return Err(format!("it has no list at `{at}`")),
            },
        };
        let mut observations: Vec<Observation> = items.iter().map(|item| self.item(item)).collect();
        // A node that is well takes back what was said of its ports before, not what is said of them now.
        observations.sort_by_key(|observation| observation.subject != Subject::Node);
        Ok(observations.into())
    }

    fn problems(&self) -> Vec<Problem> {
        let pointers = [
            ("items", self.items.as_ref()),
            ("device", self.device.as_ref()),
            ("port", self.port.as_ref()),
            ("card", self.card.as_ref()),
            ("text", self.text.as_ref()),
            ("verdict", Some(&self.verdict)),
        ];
        let pointers = pointers
            .into_iter()
            .filter_map(|(key, at)| Some((key, at?)));
        let wrong = pointers.filter(|(_, at)| !at.is_empty() && !at.starts_with('/'));
        let wrong = wrong.map(|(key, pointer)| {
            Problem::at(
                [key],
                format!("`{pointer}` is no JSON Pointer"),
                format!("write `/{pointer}`; a step into a list is its number"),
            )
        });
        let mut problems: Vec<Problem> = wrong.collect();
        if self.verdicts.is_empty() {
            problems.push(Problem::at(
                ["verdicts"],
                "the words of `verdict` have no meaning",
                "write `verdicts: { ok: healthy, down: fatal }`",
            ));
        }
        if self.port.is_some() && self.device.is_none() {
            problems.push(Problem::at(
                ["port"],
                "`http_json` has a port and no device",
                "write `device: /…` too",
            ));
        }
        let problems = problems.into_iter();
        problems
            .map(|problem| problem.below(["http_json"]))
            .collect()
    }
}

impl HttpJson {
    fn item(&self, item: &Value) -> Observation {
        let at = |pointer: &Option<String>| word(item.pointer(pointer.as_ref()?)?);
        let verdict = item.pointer(&self.verdict).and_then(word);
        let stated = verdict.as_ref().and_then(|word| self.verdicts.get(word));
        let unnamed = verdict.clone().filter(|_| stated.is_none());
        Observation {
            subject: Subject::named(at(&self.device), at(&self.port), at(&self.card)),
            severity: stated.map_or(Severity::Unknown, |stated| (*stated).into()),
            text: at(&self.text).or(verdict).unwrap_or_default(),
            fields: observation::unnamed(unnamed),
            ..Observation::default()
        }
    }
}

/// A word, number or truth value as text.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORTS: &str = "
        path = '/health'
        items = '/status/ports'
        device = '/nic'
        port = '/port'
        verdict = '/state/word'
        verdicts = { UP = 'healthy', DOWN = 'fatal' }
    ";

    fn check(form: &str, page: &str, stated: Result<&[&str], &str>) {
        let form: HttpJson = toml::from_str(form).unwrap();
        let observed = form.page_says(page);
        let line = |it: &Observation| format!("{} {}", it.severity, it.subject);
        let lines: Result<Vec<String>, String> =
            observed.map(|all| all.observations.iter().map(line).collect());
        let stated = stated.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
        assert_eq!(lines, stated.map_err(str::to_owned), "{page}");
    }

    #[test]
    fn each_item_of_the_list_is_a_statement() {
        check(
            PORTS,
            r#"{"status":{"ports":[
                {"nic":"a","port":1,"state":{"word":"UP"}},
                {"nic":"b","port":"2","state":{"word":"DOWN"}},
                {"nic":"c","port":1,"state":{"word":"ODD"}},
                {"nic":"d","port":1}
            ]}}"#,
            Ok(&[
                "healthy NIC=a NICPort=1",
                "fatal NIC=b NICPort=2",
                "unknown NIC=c NICPort=1",
                "unknown NIC=d NICPort=1",
            ]),
        );
    }

    #[test]
    fn a_page_without_a_list_is_about_one_subject() {
        let node = "path = '/'\nverdict = '/ok'\nverdicts = { true = 'healthy', false = 'fatal' }";
        check(node, r#"{"ok":false}"#, Ok(&["fatal "]));
        check(node, r#"{"ok":true}"#, Ok(&["healthy "]));
    }

    #[test]
    fn a_page_that_is_no_json_or_has_no_list_is_told() {
        check(
            PORTS,
            r#"{"status":{}}"#,
            Err("it has no list at `/status/ports`"),
        );
        let form: HttpJson = toml::from_str(PORTS).unwrap();
        let error = form.page_says("<html>").unwrap_err();
        assert!(error.starts_with("it is not JSON: "), "{error}");
    }

    #[test]
    fn what_cannot_say_anything_is_refused() {
        let problem = |text: &str| {
            let form: HttpJson = toml::from_str(text).unwrap();
            form.problems()
                .into_iter()
                .next()
                .map(|problem| problem.what)
        };
        assert_eq!(problem(PORTS), None);
        assert_eq!(
            problem(&PORTS.replace("'/nic'", "'nic'")).as_deref(),
            Some("`nic` is no JSON Pointer")
        );
        assert_eq!(
            problem("path = '/'\nverdict = '/a'\nverdicts = {}").as_deref(),
            Some("the words of `verdict` have no meaning")
        );
    }
}
