//! The adapter of monitors that write lines: what a program says in its output is what it reports.
//!
//! A [`LineRule`] has a regular expression with named groups for the parts of an observation. The first rule that
//! matches a line decides; a line that none matches is only a line. Start at [`Lines`].

use std::collections::BTreeMap;

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use terms::Severity;

use crate::{
    Adapter, Delivery, Facts, Medium, Observation, Part, VerdictWord, observation,
    pattern::{self, Pattern},
};

pub(super) const FACTS: Facts = Facts {
    medium: Medium::Output,
    part: Some(Part {
        key: "lines",
        example: "`lines: [ { pattern: …, says: fatal } ]`",
        meanings: "verdicts",
        silence_hint: "compare its last output with the patterns of `lines` in its descriptor",
    }),
    silence: "the monitor polled {polls} times and wrote no line that a rule of `lines` matches",
};

/// The groups that a pattern may have.
const GROUPS: [&str; 6] = ["device", "port", "card", "verdict", "code", "text"];

/// How the lines of a monitor are read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Lines(Vec<LineRule>);

/// What lines of one form say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineRule {
    /// A regular expression that is looked for in a line, with the groups `device`, `port`, `card`, `verdict`, `code`
    /// and `text`.
    pattern: Pattern,
    /// What such a line says, if the pattern has no group `verdict`.
    says: Option<VerdictWord>,
    /// What the words of the group `verdict` say; any other word says that nothing is known.
    #[serde(default)]
    verdicts: BTreeMap<String, VerdictWord>,
}

impl Adapter for Lines {
    fn line_says(&self, line: &str) -> Option<Delivery> {
        let (rule, found) = self
            .0
            .iter()
            .find_map(|rule| Some((rule, rule.pattern.captures(line)?)))?;
        let group = |name: &str| found.name(name).map(|group| group.as_str().to_owned());
        let word = group("verdict");
        let severity = match &word {
            Some(word) => rule.verdicts.get(word).copied(),
            None => rule.says,
        };
        let unnamed = word.filter(|_| severity.is_none());
        let observation = Observation {
            subject: pattern::subject(&found),
            severity: severity.map_or(Severity::Unknown, Severity::from),
            codes: group("code").into_iter().collect(),
            text: group("text").unwrap_or_else(|| line.to_owned()),
            fields: observation::unnamed(unnamed),
            ..Observation::default()
        };
        Some(vec![observation].into())
    }

    fn problems(&self) -> Vec<Problem> {
        if self.0.is_empty() {
            return vec![Problem::at(
                ["lines"],
                "`lines` has no rule",
                "write `- { pattern: …, says: fatal }`",
            )];
        }
        let rules = self.0.iter().enumerate().filter_map(|(at, rule)| {
            let problem = rule.problem()?;
            Some(problem.below(["lines".to_owned(), at.to_string()]))
        });
        rules.collect()
    }
}

impl LineRule {
    /// What is wrong with this rule; the keys are those of the rule.
    fn problem(&self) -> Option<Problem> {
        let pattern = self.pattern.as_str();
        let groups = self.pattern.groups();
        if let Some((what, hint)) = self.pattern.problem(&GROUPS) {
            return Some(Problem::at(["pattern"], what, hint));
        }
        let has_verdict = groups.contains(&"verdict");
        match (has_verdict, self.says, self.verdicts.is_empty()) {
            (true, None, false) | (false, Some(_), true) => None,
            (true, Some(_), false) => Some(Problem::at(
                ["says"],
                format!("`{pattern}` has the group `verdict`, and `says` beside `verdicts`"),
                "leave `says` out: the word of the line decides",
            )),
            (true, ..) => Some(Problem::at(
                ["pattern"],
                format!("`{pattern}` has the group `verdict`, whose words have no meaning"),
                "write `verdicts: { DOWN: fatal, UP: healthy }`, and no `says`",
            )),
            (false, ..) => Some(Problem::at(
                ["pattern"],
                format!("`{pattern}` has no group `verdict`, so it is open what such a line says"),
                "write `says: healthy`, `nonfatal`, `fatal` or `unknown`, and no `verdicts`",
            )),
        }
    }
}

#[cfg(test)]
mod tests;
