//! Clauses: the single statements of the source documents that drills cover, each with an id and a
//! paraphrase.
//!
//! A scenario lists the ids that it covers. An id whose prefix belongs to a clause file must exist there;
//! other prefixes are the user's own. This module does not track which clauses are covered:
//! [`Clauses::check`] only reports ids that do not exist. Start at [`Clauses::read`].

use std::collections::BTreeSet;

use files::{FileError, Mistakes, Place, nearest, yaml};
use serde::Deserialize;

use crate::error::ScenarioError;
use crate::mentions::Mentions;
use crate::reader::Source;
use crate::scenario::Scenario;

/// One statement of a source document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// Its id, `prefix/section/what-it-says`, such as `lsd/3.4/healthy-to-unhealthy-is-fatal`.
    pub id: String,
    /// Paraphrase of the statement, one line.
    pub says: String,
    /// Ids of the `decision/` clauses that override or refine it.
    #[serde(default)]
    pub decided: Vec<String>,
    /// The feature it belongs to, if nicdrill does not drill that feature; such a clause is not counted as
    /// uncovered.
    #[serde(default)]
    pub deferred: Option<String>,
    /// The tests that cover it, as `crate::name`.
    #[serde(default)]
    pub tests: Vec<String>,
    /// Wrong monitors of which exactly this statement is false; a scenario that covers it catches each of them.
    #[serde(default)]
    pub mutants: Vec<Breaker>,
    /// Patches of the reference monitor's sources of which exactly this statement is false, as
    /// `zoo/patches/<name>.patch`. Each names the scenario that catches it.
    #[serde(default)]
    pub patches: Vec<String>,
    /// Why nothing that a monitor does can make it false.
    #[serde(default)]
    pub unbreakable: Option<String>,
}

impl Clause {
    /// What breaks it and is caught, in the words of a report: names of wrong monitors, and `patch <name>`.
    #[must_use]
    pub fn broken_by(&self) -> Vec<String> {
        let mutants = self.mutants.iter().map(|breaker| breaker.wrong.clone());
        let patches = self.patches.iter().map(|patch| format!("patch {patch}"));
        mutants.chain(patches).collect()
    }
}

/// A wrong monitor that breaks a clause, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "WrittenBreaker")]
pub struct Breaker {
    /// The wrong monitor's name.
    pub wrong: String,
    /// The scenario that catches it, as `family/name`; `None` if any scenario that covers the clause does.
    pub by: Option<String>,
    /// The cause of the finding, or its first words, as a report spells it, such as `contract.recommended-action`.
    /// `None` if an expectation is not met or an event is unexpected: a clause about a law, or about the cluster, is
    /// shown by other findings.
    pub finds: Option<String>,
}

/// A [`Breaker`] as it is written: its name, or all of it.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum WrittenBreaker {
    Name(String),
    InFull {
        wrong: String,
        #[serde(default)]
        by: Option<String>,
        #[serde(default)]
        finds: Option<String>,
    },
}

impl From<WrittenBreaker> for Breaker {
    fn from(written: WrittenBreaker) -> Self {
        match written {
            WrittenBreaker::Name(wrong) => Self {
                wrong,
                by: None,
                finds: None,
            },
            WrittenBreaker::InFull { wrong, by, finds } => Self { wrong, by, finds },
        }
    }
}

/// A section of a source document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Section number as in the source, such as `3.4` or `A`; `None` if the source has none.
    #[serde(default)]
    pub section: Option<String>,
    /// As the document has it.
    pub title: String,
    /// Its clauses, in the order of the source.
    pub clauses: Vec<Clause>,
}

/// A source document with its clauses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClauseFile {
    /// The prefix of its ids, such as `lsd`.
    pub prefix: String,
    /// The source's title.
    pub source: String,
    /// Its sections, in the order of the source.
    pub sections: Vec<Section>,
}

/// All known clauses, by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clauses {
    files: Vec<ClauseFile>,
}

impl Clauses {
    /// Reads clause files, given as pairs of file name (for errors) and text.
    ///
    /// # Errors
    /// The first file that is not a clause file, that repeats an id, or that has an id outside its
    /// section.
    pub fn read(texts: &[(&str, &str)]) -> Result<Self, FileError> {
        let mut files: Vec<ClauseFile> = Vec::new();
        let mut seen = BTreeSet::new();
        for (file, text) in texts {
            let read: ClauseFile = yaml::read(file, text)?;
            let wrong = |what: String| FileError::at(file, text, Place::default(), what);
            if files.iter().any(|other| other.prefix == read.prefix) {
                return Err(wrong(format!("another file owns prefix `{}`", read.prefix)));
            }
            for section in &read.sections {
                let begins = match &section.section {
                    None => format!("{}/", read.prefix),
                    Some(number) => format!("{}/{number}/", read.prefix),
                };
                for clause in &section.clauses {
                    let rest = clause.id.strip_prefix(&begins).unwrap_or_default();
                    if !is_slug(rest) {
                        let what = format!("`{}` does not begin with `{begins}`", clause.id);
                        return Err(wrong(what)
                            .hint("write lower-case letters, digits and `-` after the section"));
                    }
                    if !seen.insert(clause.id.clone()) {
                        return Err(wrong(format!("duplicate id `{}`", clause.id)));
                    }
                }
            }
            files.push(read);
        }
        Ok(Self { files })
    }

    /// The source documents, in order.
    #[must_use]
    pub fn files(&self) -> &[ClauseFile] {
        &self.files
    }

    /// Every clause, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Clause> {
        let sections = self.files.iter().flat_map(|file| &file.sections);
        sections.flat_map(|section| &section.clauses)
    }

    /// The clause of this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Clause> {
        self.iter().find(|clause| clause.id == id)
    }

    /// Whether a known clause file has the prefix of this id.
    #[must_use]
    pub(crate) fn owns(&self, id: &str) -> bool {
        let prefix = id.split_once('/').map_or(id, |(prefix, _)| prefix);
        self.files.iter().any(|file| file.prefix == prefix)
    }

    /// The known id most similar to this one, from the same section if that has any.
    #[must_use]
    pub fn nearest(&self, id: &str) -> Option<&str> {
        let ids = || self.iter().map(|clause| clause.id.as_str());
        let section = id.rsplit_once('/').map_or("", |(section, _)| section);
        let beside =
            ids().filter(|known| known.rsplit_once('/').is_some_and(|(s, _)| s == section));
        let document = id.split_once('/').map_or("", |(prefix, _)| prefix);
        let same = ids().filter(|known| known.split_once('/').is_some_and(|(p, _)| p == document));
        nearest(id, same)
            .or_else(|| nearest(id, ids()))
            .or_else(|| shares_most_words(id, beside))
            .or_else(|| shares_most_words(id, ids()))
    }

    /// Ids whose prefix no clause file has, but which is near to one that a file has: perhaps misspelt, and then
    /// counted by nobody. Each as a warning with its place.
    #[must_use]
    pub fn perhaps_misspelt(&self, scenario: &Scenario) -> Vec<ScenarioError> {
        let near =
            |prefix: &str| nearest(prefix, self.files.iter().map(|file| file.prefix.as_str()));
        let places = scenario.covers.iter().zip(&scenario.cover_places);
        let foreign = places.filter(|(id, _)| !self.owns(id));
        foreign
            .filter_map(|(id, place)| {
                let (prefix, rest) = id.split_once('/').unwrap_or((id, ""));
                let known = near(prefix)?;
                let what = format!("the prefix of `{id}` is nobody's, and counts for no coverage");
                let hint = format!("did you mean `{known}/{rest}`? other prefixes are your own");
                Some(scenario.source().wrong(*place, what).hint(hint))
            })
            .collect()
    }

    /// Checks that every clause id in the scenario's `covers` exists, for prefixes of known clause files.
    ///
    /// # Errors
    /// Each unknown id, with its place and the nearest known id.
    pub fn check(&self, scenario: &Scenario) -> Result<(), ScenarioError> {
        let places = scenario.covers.iter().zip(&scenario.cover_places);
        self.check_ids(&scenario.source(), places)
    }

    /// As [`Clauses::check`], of a text that is no scenario yet.
    ///
    /// # Errors
    /// Each unknown id, with its place and the nearest known id.
    pub fn check_mentions(&self, mentions: &Mentions<'_>) -> Result<(), ScenarioError> {
        let places = mentions.covers.iter().map(|(id, place)| (id, place));
        self.check_ids(&mentions.source, places)
    }

    fn check_ids<'i>(
        &self,
        source: &Source<'_>,
        ids: impl Iterator<Item = (&'i String, &'i Place)>,
    ) -> Result<(), ScenarioError> {
        let unknown = ids.filter(|(id, _)| self.owns(id) && self.get(id).is_none());
        Mistakes::in_all(unknown.map(|(id, place)| {
            let near = self.nearest(id).map_or_else(
                || "the clauses are in `suite/clauses/`".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let what = format!("there is no clause `{id}`");
            Err::<(), _>(source.wrong(*place, what).hint(near))
        }))
        .map(|_| ())
    }
}

fn is_slug(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(plain)
}

/// The candidate whose last part has the largest share of words in common with `id`'s last part; the first
/// one on a tie, `None` if no word matches.
fn shares_most_words<'a>(id: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    fn words(id: &str) -> Vec<&str> {
        id.rsplit('/').next().unwrap_or(id).split('-').collect()
    }
    let ours = words(id);
    let mut best: Option<(usize, &str)> = None;
    for known in candidates {
        let theirs = words(known);
        let shared = theirs.iter().filter(|word| ours.contains(word)).count();
        let share = 1000 * shared / (ours.len() + theirs.len());
        if share > best.map_or(0, |(most, _)| most) {
            best = Some((share, known));
        }
    }
    best.map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "prefix: a\nsource: A\nsections:\n- section: '1'\n  title: One\n  clauses:\n  - id: a/1/down-is-fatal\n    says: x\n";

    /// Asserts that reading this clause file fails with this text.
    fn check(text: &str, expected: &str) {
        let error = Clauses::read(&[("a.yaml", text)]).expect_err(text);
        assert!(error.to_string().contains(expected), "{error}");
    }

    #[test]
    fn a_clause_stands_once_and_in_its_own_section() {
        assert_eq!(
            Clauses::read(&[("a.yaml", FILE)])
                .expect("a file")
                .iter()
                .count(),
            1
        );
        check(
            &format!("{FILE}  - id: a/1/down-is-fatal\n    says: y\n"),
            "duplicate id `a/1/down-is-fatal`",
        );
        check(
            &FILE.replace("a/1/d", "a/2/d"),
            "does not begin with `a/1/`",
        );
        check(
            &FILE.replace("is-fatal", "is fatal"),
            "does not begin with `a/1/`",
        );
        let error = Clauses::read(&[("a.yaml", FILE), ("b.yaml", FILE)]).expect_err("one prefix");
        assert!(
            error.to_string().contains("another file owns prefix `a`"),
            "{error}"
        );
    }
}
