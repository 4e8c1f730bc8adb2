//! The rules of a file for `promtool check rules`, and what it refuses of them: expressions, templates and names. Start at
//! [`Syntax`].

use std::borrow::Cow;

use files::Problem;

use crate::rule_file::{Group, Rule, RuleFile, is_scalar};

/// The name of the only group that promtool is given.
const GROUP: &str = "g";

/// How promtool begins what it says of an expression that cannot be parsed.
const UNPARSED: &str = "could not parse expression: ";

/// The rules of a file, one after another in one group, so that the number of a rule in an answer tells which one it is.
#[derive(Debug)]
pub struct Syntax {
    /// What promtool is given.
    given: RuleFile,
    /// The keys that lead to each rule in its own file.
    keys: Vec<Vec<String>>,
}

impl Syntax {
    /// The rules of a file that [`RuleFile::problems`] finds an expression and a name in.
    #[must_use]
    pub fn of(file: &RuleFile) -> Self {
        let is_named = |rule: &Rule| {
            let name = rule.alert.as_ref().xor(rule.record.as_ref());
            name.is_some_and(|name| !name.is_empty()) && !rule.expr.trim().is_empty()
        };
        let rules = file.rules().filter(|(_, rule)| is_named(rule));
        let (keys, rules) = rules
            .map(|(group, rule)| (file.keys_of(group, Some(rule)), plain(rule)))
            .unzip();
        let group = Group {
            name: GROUP.to_owned(),
            rules,
            ..Group::default()
        };
        Self {
            given: RuleFile {
                groups: vec![group],
            },
            keys,
        }
    }

    /// Whether there is no rule to look at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The rules as a file for promtool.
    ///
    /// # Panics
    /// If rules cannot be written as JSON, which they always can.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(&self.given).expect("rules are JSON")
    }

    /// What is wrong with the rules, by what promtool wrote to its error output; empty if it refuses none.
    ///
    /// # Errors
    /// What it wrote, if it refuses the file and names no rule.
    pub fn problems(&self, answer: &str) -> Result<Vec<Problem>, String> {
        let mut problems: Vec<Problem> = Vec::new();
        let mut others = Vec::new();
        for line in answer.lines().map(str::trim) {
            match (self.problem(line), problems.last_mut()) {
                (Some(problem), _) => problems.push(problem),
                // A text with several lines goes on.
                (None, Some(last)) => last.what = Cow::Owned(format!("{} {line}", last.what)),
                (None, None) if line.is_empty() || line == "FAILED:" => {}
                (None, None) => others.push(line),
            }
        }
        match problems.is_empty() && !others.is_empty() {
            true => Err(others.join("\n")),
            false => Ok(problems),
        }
    }

    /// The problem in a line such as `rules.json: 1:58: group "g", rule 2, "A": could not parse expression: 1:6: parse error: …`.
    fn problem(&self, line: &str) -> Option<Problem> {
        let (_, rest) = line.split_once(&format!("group \"{GROUP}\", rule "))?;
        let (number, rest) = rest.split_once(", ")?;
        let what = after_string(rest)?.strip_prefix(": ")?;
        let at = number.parse::<usize>().ok()?.checked_sub(1)?;
        let keys = self.keys.get(at)?.iter().cloned();
        Some(match what.strip_prefix(UNPARSED) {
            Some(what) => Problem::at(
                keys.chain(["expr".to_owned()]),
                format!("Prometheus refuses the expression: {what}"),
                place_hint(what),
            ),
            None => Problem::at(
                keys,
                format!("Prometheus refuses the rule: {what}"),
                "the rules of names, labels and templates are in Prometheus' \"Alerting rules\" and \"Recording rules\"",
            ),
        })
    }
}

/// A rule without what is judged already.
fn plain(rule: &Rule) -> Rule {
    let mut plain = rule.clone();
    plain.lasting = None;
    plain.keep_firing_for = None;
    plain.labels.retain(|_, value| is_scalar(value));
    plain.annotations.retain(|_, value| is_scalar(value));
    if plain.record.is_some() {
        plain.annotations.clear();
    }
    plain
}

/// What follows a string such as `"a\"b"` at the beginning of a text.
fn after_string(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = rest.find(|letter: char| {
        let is_end = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    })?;
    Some(&rest[end + 1..])
}

/// What the place in the words of the parser of PromQL means.
fn place_hint(what: &str) -> Cow<'static, str> {
    let mut parts = what.split(':');
    let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    match (is_number(parts.next()), is_number(parts.next())) {
        (true, true) => "the place is line and column in the expression, from 1".into(),
        _ => "the language is in Prometheus' \"Querying basics\"".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"{"groups":[
        {"name":"a","rules":[{"alert":"","expr":"up"},{"alert":"x\"y","expr":"sum(a","for":"x","labels":{"b":{}}}]},
        {"name":"b","rules":[{"record":"r","expr":"up","annotations":{"s":"t"}}]}
    ]}"#;

    fn syntax() -> Syntax {
        Syntax::of(&serde_json::from_str(RULES).unwrap())
    }

    #[track_caller]
    fn check(answer: &str, told: &[(&str, &str)]) {
        let problems = syntax().problems(answer).unwrap();
        let problems: Vec<(String, &str)> = problems
            .iter()
            .map(|problem| (problem.keys.join(" "), &*problem.what))
            .collect();
        let problems: Vec<(&str, &str)> = problems
            .iter()
            .map(|(keys, what)| (keys.as_str(), *what))
            .collect();
        assert_eq!(problems, told);
    }

    #[test]
    fn promtool_is_given_what_is_sound_of_each_rule() {
        assert_eq!(
            syntax().text(),
            r#"{"groups":[{"name":"g","rules":[{"alert":"x\"y","expr":"sum(a"},{"record":"r","expr":"up"}]}]}"#
        );
    }

    #[test]
    fn what_promtool_refuses_has_the_keys_of_its_rule() {
        check("", &[]);
        check(
            "  FAILED:\nr.json: 1:58: group \"g\", rule 1, \"x\\\"y\": could not parse expression: 1:6: parse error: unclosed left parenthesis\n\
             r.json: group \"g\", rule 2, \"r\": invalid label name: a-b\n x:1: and more\n",
            &[
                (
                    "groups 0 rules 1 expr",
                    "Prometheus refuses the expression: 1:6: parse error: unclosed left parenthesis",
                ),
                (
                    "groups 1 rules 0",
                    "Prometheus refuses the rule: invalid label name: a-b x:1: and more",
                ),
            ],
        );
    }

    #[test]
    fn an_answer_that_names_no_rule_is_an_error() {
        let error = syntax().problems("  FAILED:\nr.json: no such thing\n");
        assert_eq!(error.unwrap_err(), "r.json: no such thing");
    }
}
