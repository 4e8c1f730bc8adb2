//! The adapter of programs that are run again and again, as a health check of a scheduler or a plugin of an agent is:
//! every run states by its exit code what is.
//!
//! Not here: what a program asks Slurm for (`slurm.rs`), and when it runs (`schedule.rs`). Start at
//! [`ExitCodes`].

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use files::Problem;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use terms::Severity;

use crate::{
    Adapter, Delivery, Exit, Facts, Medium, Observation, Part, RunEnd, Subject, VerdictWord,
    observation,
    pattern::{self, Pattern},
    slurm::Actions,
};

pub(super) const FACTS: Facts = Facts {
    medium: Medium::RunEnds,
    part: Some(Part {
        key: "exit_code",
        example: "`exit_code: { codes: nhc }`",
        meanings: "codes",
        silence_hint: "every run ended with a code that `exit_code` takes for unknown, or asked Slurm for nothing: {ends}; see its last output",
    }),
    silence: "in {polls} polls no run of the program said how the node is",
};

/// The groups of `subject`.
const GROUPS: [&str; 4] = ["device", "port", "card", "text"];

/// With `speaks: exit-code`: what its runs mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExitCodes {
    /// What its exit codes say: `npd`, `nagios`, `nhc`, or a map of codes to `healthy`, `nonfatal`, `fatal` and
    /// `unknown`, in which 0 is healthy unless it says otherwise.
    codes: Option<Codes>,
    /// A regular expression that is looked for in the lines of its output, with the groups `device`, `port`, `card`
    /// and `text`. Each line that it matches names a subject; without one a run is about the node.
    subject: Option<Pattern>,
    /// What counts instead of its exit codes: what it asks `slurm` for.
    pub actions: Option<Actions>,
    /// With `actions: slurm`: the node is drained when the drill begins, by somebody else and for this reason.
    pub drained_by: Option<String>,
}

/// What exit codes say.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Codes {
    Known(Convention),
    Own(BTreeMap<u8, VerdictWord>),
}

/// A known meaning of exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Convention {
    /// node-problem-detector, "Custom Plugin Monitor": 0 OK, 1 NonOK, anything else Unknown.
    Npd,
    /// Nagios Plugins, "Development Guidelines": 0 OK, 1 Warning, 2 Critical, 3 Unknown.
    Nagios,
    /// LBNL Node Health Check, `nhc`: 0 healthy. Its watchdog ends it with 142, and 145 says that another instance runs.
    Nhc,
}

/// The last code that Nagios plugins may end with: unknown.
const NAGIOS_LAST: i32 = 3;

impl ExitCodes {
    /// Whether a run ended as a crash does: by a signal, or by a code that means nothing here.
    pub(crate) fn is_crash(&self, end: RunEnd) -> bool {
        let RunEnd::Exit(Exit::Code(code)) = end else {
            return end.is_crash();
        };
        match &self.codes {
            Some(Codes::Own(_)) => self.severity(end).1.is_some(),
            Some(Codes::Known(Convention::Nagios)) => code > NAGIOS_LAST,
            // Each code but 0 and two is an alarm.
            Some(Codes::Known(Convention::Nhc)) => false,
            Some(Codes::Known(Convention::Npd)) | None => end.is_crash(),
        }
    }

    /// The subject in a text, such as the reason of a drain; the node if it names none.
    pub(crate) fn subject_of(&self, text: &str) -> Subject {
        let found = self
            .subject
            .as_ref()
            .and_then(|pattern| pattern.captures(text));
        found.map_or(Subject::Node, |found| pattern::subject(&found))
    }

    /// The subjects that the output names, each with its text of first mention; the node if it names none.
    fn subjects(&self, output: &str) -> BTreeMap<Subject, String> {
        let mut named = BTreeMap::new();
        for line in output.lines() {
            let found = self
                .subject
                .as_ref()
                .and_then(|pattern| pattern.captures(line));
            if let Some(found) = found {
                let text = found.name("text").map_or(line, |group| group.as_str());
                named
                    .entry(pattern::subject(&found))
                    .or_insert_with(|| text.to_owned());
            }
        }
        if named.is_empty() {
            named.insert(Subject::Node, last_line(output).unwrap_or_default());
        }
        named
    }

    /// What the end of a run says, and its code if nothing is said about it.
    fn severity(&self, end: RunEnd) -> (Severity, Option<String>) {
        let RunEnd::Exit(Exit::Code(code)) = end else {
            return (Severity::Unknown, None);
        };
        let known = match (&self.codes, code) {
            (Some(Codes::Own(own)), _) => {
                let stated = u8::try_from(code).ok().and_then(|code| own.get(&code));
                match stated {
                    Some(stated) => (*stated).into(),
                    None if code == 0 => Severity::Healthy,
                    None => return (Severity::Unknown, Some(format!("exit code {code}"))),
                }
            }
            (_, 0) => Severity::Healthy,
            (Some(Codes::Known(Convention::Npd | Convention::Nagios)), 1) => Severity::NonFatal,
            (Some(Codes::Known(Convention::Nagios)), 2) => Severity::Fatal,
            (Some(Codes::Known(Convention::Nhc)), 142 | 145) => Severity::Unknown,
            (Some(Codes::Known(Convention::Nhc)), _) => Severity::Fatal,
            _ => Severity::Unknown,
        };
        (known, None)
    }
}

impl Adapter for ExitCodes {
    fn may_be_silent(&self) -> bool {
        // Of a node that somebody else has drained there is nothing to say.
        self.drained_by.is_some()
    }

    fn run_says(
        &self,
        end: RunEnd,
        output: &str,
        open: &mut BTreeSet<Subject>,
    ) -> Option<Delivery> {
        if self.actions.is_some() {
            return None;
        }
        let (severity, unnamed) = self.severity(end);
        let mut observations = Vec::new();
        match severity {
            Severity::Unknown => observations.push(Observation {
                text: last_line(output).unwrap_or_else(|| end.to_string()),
                fields: observation::unnamed(unnamed),
                ..Observation::default()
            }),
            Severity::Healthy => {
                open.clear();
                observations.push(Observation {
                    severity,
                    text: last_line(output).unwrap_or_else(|| end.to_string()),
                    ..Observation::default()
                });
            }
            Severity::NonFatal | Severity::Fatal => {
                let named = self.subjects(output);
                let fault = |(subject, text)| Observation {
                    subject,
                    severity,
                    text,
                    ..Observation::default()
                };
                let over = open.iter().filter(|was| !named.contains_key(was));
                let healthy = |subject: &Subject| Observation {
                    subject: subject.clone(),
                    severity: Severity::Healthy,
                    text: "it is not named any more".to_owned(),
                    ..Observation::default()
                };
                // A node that is well takes back all that was said before, so it goes first.
                observations.extend(over.map(healthy));
                *open = named.keys().cloned().collect();
                observations.extend(named.into_iter().map(fault));
            }
        }
        Some(observations.into())
    }

    fn problems(&self) -> Vec<Problem> {
        let of_subject = self.subject.as_ref().and_then(|of| of.problem(&GROUPS));
        let of_subject = of_subject.map(|(what, hint)| Problem::at(["subject"], what, hint));
        let of_codes = match (&self.codes, self.actions) {
            (None, None) => Some(Problem::at(
                ["codes"],
                "`exit_code` does not say what the codes mean",
                "write `codes: nhc`, `npd`, `nagios`, or a map such as `codes: { 1: fatal }`",
            )),
            (Some(_), Some(_)) => Some(Problem::at(
                ["codes"],
                "`exit_code` has `codes` beside `actions`",
                "leave `codes` out: with `actions` what the program asks for counts",
            )),
            _ => None,
        };
        let is_unused = self.drained_by.is_some() && self.actions.is_none();
        let of_drained = is_unused.then(|| {
            Problem::at(
                ["drained_by"],
                "`drained_by` is for a program that asks Slurm",
                "write `actions: slurm`, or leave it out",
            )
        });
        let problems = [of_subject, of_codes, of_drained].into_iter().flatten();
        problems
            .map(|problem| problem.below(["exit_code"]))
            .collect()
    }
}

fn last_line(output: &str) -> Option<String> {
    let mut lines = output.lines().rev().map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}

impl<'de> Deserialize<'de> for Codes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = Codes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`npd`, `nagios`, `nhc`, or a map such as `{ 1: fatal }`")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Codes, E> {
                Ok(Codes::Known(match word {
                    "npd" => Convention::Npd,
                    "nagios" => Convention::Nagios,
                    "nhc" => Convention::Nhc,
                    _ => {
                        return Err(E::custom(format!(
                            "`{word}` is no meaning of exit codes: write `npd`, `nagios`, `nhc`, or a map such as `{{ 1: fatal }}`"
                        )));
                    }
                }))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Codes, A::Error> {
                let own =
                    BTreeMap::<String, VerdictWord>::deserialize(MapAccessDeserializer::new(map))?;
                let code = |(code, stated): (String, VerdictWord)| match code.parse() {
                    Ok(code) => Ok((code, stated)),
                    Err(_) => Err(de::Error::custom(format!(
                        "`{code}` is no exit code: write a number from 0 to 255"
                    ))),
                };
                own.into_iter()
                    .map(code)
                    .collect::<Result<_, _>>()
                    .map(Codes::Own)
            }
        }
        from.deserialize_any(Form)
    }
}

impl JsonSchema for Codes {
    fn schema_name() -> Cow<'static, str> {
        "Codes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let stated = generator.subschema_for::<VerdictWord>();
        json_schema!({
            "anyOf": [
                { "enum": ["npd", "nagios", "nhc"] },
                {
                    "type": "object",
                    "patternProperties": { "^[0-9]{1,3}$": stated },
                    "additionalProperties": false,
                },
            ],
        })
    }
}

#[cfg(test)]
mod tests;
