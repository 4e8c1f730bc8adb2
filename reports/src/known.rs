//! Known deviations (`known.toml`) and an earlier run to compare with: which findings do not count.
//!
//! ```toml
//! [[known]]
//! id = "port/cable-pulled#missed.fatal.port.monitored.infiniband.after-port"   # `*` and `?` match anything
//! reason = "the port state is polled every 60 s; to be changed in 2.4"
//! link = "https://tracker.example/123"    # optional
//! expires = 2027-01-31                    # optional: the last day on which it is accepted
//! drill = "port/cable-pulled@h100-oci"    # optional: it is judged gone only if this drill was played
//! ```
//! The day is passed in. Start at [`KnownDeviations::read`] and [`Excuses`].

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    ArmStatus, DrillName, DrillReport, Excuse, ExitCode, Finding, FindingKind, finding_id,
};

/// A day of the calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    /// The year.
    pub year: u16,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { year, month, day } = self;
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

/// An entry of `known.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownEntry {
    /// The id of findings, or a pattern of ids.
    pub id: String,
    /// The reason.
    pub reason: String,
    /// A link for people.
    pub link: Option<String>,
    /// The last day on which it is accepted.
    pub expires: Option<Day>,
    /// A drill in which it occurs.
    pub drill: Option<DrillName>,
    /// Its line in the file, from 1.
    pub line: usize,
}

/// The entries of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownDeviations {
    /// The file's name, for messages.
    pub file: String,
    /// The entries.
    pub entries: Vec<KnownEntry>,
}

/// An invalid `known.toml`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {found}\nhint: {hint}")]
pub struct KnownError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub hint: &'static str,
}

const KEYS: &str =
    "an entry is `[[known]]` with `id` and `reason`, and may have `link`, `expires` and `drill`";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSpec {
    #[serde(default)]
    known: Vec<toml::Spanned<EntrySpec>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntrySpec {
    id: toml::Spanned<String>,
    reason: toml::Spanned<String>,
    link: Option<String>,
    expires: Option<toml::Spanned<toml::value::Datetime>>,
    drill: Option<toml::Spanned<String>>,
}

impl KnownDeviations {
    /// Reads the text of a file; `file` is its name for messages.
    ///
    /// # Errors
    /// If it is not TOML of this form, a reason is empty, or an id, date or drill is invalid.
    pub fn read(file: &str, text: &str) -> Result<Self, KnownError> {
        let wrong = |at: usize, found: String, hint| KnownError {
            file: file.to_owned(),
            line: text[..at.min(text.len())].matches('\n').count() + 1,
            found,
            hint,
        };
        let spec: FileSpec = toml::from_str(text).map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(at, error.message().to_owned(), KEYS)
        })?;
        let mut entries = Vec::new();
        for entry in spec.known {
            let start = entry.span().start;
            let line = wrong(start, String::new(), KEYS).line;
            let EntrySpec {
                id,
                reason,
                link,
                expires,
                drill,
            } = entry.into_inner();
            let is_id = id.get_ref().split_once('#');
            if is_id.is_none_or(|(scenario, cause)| scenario.is_empty() || cause.is_empty()) {
                return Err(wrong(
                    id.span().start,
                    format!("invalid id `{}`", id.get_ref()),
                    "an id is `scenario#cause`, as a run prints it with each group; `*` and `?` match anything",
                ));
            }
            if reason.get_ref().trim().is_empty() {
                return Err(wrong(
                    reason.span().start,
                    "an empty `reason`".to_owned(),
                    "write why the finding is accepted",
                ));
            }
            let expires = expires
                .map(|date| {
                    let at = date.span().start;
                    let date = date.into_inner();
                    match (date.date, date.time) {
                        (Some(date), None) => Ok(Day {
                            year: date.year,
                            month: date.month,
                            day: date.day,
                        }),
                        _ => Err(wrong(
                            at,
                            format!("`expires` is {date}, not a day"),
                            "write a date without a time, such as `expires = 2027-01-31`",
                        )),
                    }
                })
                .transpose()?;
            let drill = drill
                .map(|drill| {
                    let at = drill.span().start;
                    drill.get_ref().parse::<DrillName>().map_err(|error| {
                        wrong(
                            at,
                            format!("invalid drill name `{}`", error.text),
                            error.hint,
                        )
                    })
                })
                .transpose()?;
            entries.push(KnownEntry {
                id: id.into_inner(),
                reason: reason.into_inner(),
                link,
                expires,
                drill,
                line,
            });
        }
        Ok(Self {
            file: file.to_owned(),
            entries,
        })
    }
}

impl KnownEntry {
    /// Whether it is about findings with this id.
    #[must_use]
    pub fn matches(&self, id: &str) -> bool {
        is_like(self.id.as_bytes(), id.as_bytes())
    }

    /// Whether it is about this scenario.
    fn is_about(&self, scenario: &str) -> bool {
        let (of, _) = self.id.split_once('#').unwrap_or((&self.id, ""));
        is_like(of.as_bytes(), scenario.as_bytes())
    }

    fn is_expired(&self, today: Day) -> bool {
        self.expires.is_some_and(|last| last < today)
    }
}

/// Whether a text matches a pattern in which `*` matches any text and `?` any character.
fn is_like(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            is_like(rest, text)
                || text
                    .split_first()
                    .is_some_and(|(_, text)| is_like(pattern, text))
        }
        (Some((of, pattern)), Some((at, text))) => {
            (*of == b'?' || of == at) && is_like(pattern, text)
        }
        _ => false,
    }
}

/// The findings of an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The ids of its findings, each with a drill that it occurred in.
    pub ids: BTreeSet<(String, DrillName)>,
}

/// What does not count as a failure in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excuses {
    /// The known deviations, with today's date; `None` without a file.
    pub known: Option<(KnownDeviations, Day)>,
    /// The run to compare with.
    pub baseline: Option<Baseline>,
    /// Whether every drill and arm of the played scenarios was selected: then an entry without a `drill`
    /// can be judged gone.
    pub is_whole: bool,
}

/// What became of the known deviations and of the findings of an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExcusesReport {
    /// Entries of `known.toml` that occurred: `file:line: id (reason)`.
    pub known: Vec<String>,
    /// Entries that no longer occur, although they were played: they must be removed.
    pub no_longer: Vec<String>,
    /// Entries whose day has passed.
    pub expired: Vec<String>,
    /// With `--baseline`: ids of findings that the earlier run did not have.
    pub new: Vec<String>,
    /// Ids that it had, and which do not occur any more although their drill was played.
    pub gone: Vec<String>,
    /// Ids that both have.
    pub same: Vec<String>,
}

impl Excuses {
    /// Whether there are none, so that nothing is reported about them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_none() && self.baseline.is_none()
    }

    /// Marks the findings of a drill that are excused, and sets the outcome that follows.
    ///
    /// A stage that could not be set and an internal error are never excused: they are not about the
    /// monitor.
    pub fn mark(&self, drill: &mut DrillReport) {
        if self.is_empty() {
            return;
        }
        let scenario = drill.drill.scenario.clone();
        for finding in &mut drill.findings {
            finding.excuse = self.excuse(&scenario, finding);
        }
        drill.outcome = DrillReport::outcome_of(&drill.arms, &drill.findings);
    }

    fn excuse(&self, scenario: &str, finding: &Finding) -> Option<Excuse> {
        if matches!(finding.kind, FindingKind::Stage | FindingKind::Fault) {
            return None;
        }
        let id = finding_id(scenario, &finding.cause.to_string());
        if let Some((known, today)) = &self.known {
            let mut valid = known.entries.iter().filter(|one| !one.is_expired(*today));
            if let Some(entry) = valid.find(|entry| entry.matches(&id)) {
                let reason = entry.reason.clone();
                return Some(Excuse::Known { reason });
            }
        }
        let mut before = self.baseline.iter().flat_map(|earlier| &earlier.ids);
        let had = before.any(|(earlier, _)| *earlier == id);
        had.then_some(Excuse::InBaseline)
    }

    /// What became of everything excused, after these drills.
    #[must_use]
    pub fn report(&self, drills: &[DrillReport]) -> ExcusesReport {
        let mut report = ExcusesReport::default();
        let played: Vec<&DrillReport> = drills.iter().filter(|drill| was_played(drill)).collect();
        let ids: BTreeSet<String> = drills
            .iter()
            .flat_map(|drill| {
                let causes = drill.findings.iter().map(|finding| finding.cause);
                causes.map(|cause| finding_id(&drill.drill.scenario, &cause.to_string()))
            })
            .collect();
        if let Some((known, today)) = &self.known {
            for entry in &known.entries {
                let (file, line) = (&known.file, entry.line);
                let text = format!("{file}:{line}: {} ({})", entry.id, entry.reason);
                let is_judged = match &entry.drill {
                    Some(of) => played.iter().any(|drill| drill.drill == *of),
                    None => {
                        let mut played = played.iter();
                        self.is_whole && played.any(|drill| entry.is_about(&drill.drill.scenario))
                    }
                };
                let occurs = ids.iter().any(|id| entry.matches(id));
                let mut of_scenario = played.iter();
                let is_met = of_scenario.any(|drill| entry.is_about(&drill.drill.scenario));
                if let Some(last) = entry.expires.filter(|last| *last < *today) {
                    if is_met {
                        report.expired.push(format!("{text}, expired on {last}"));
                    }
                } else if occurs {
                    report.known.push(text);
                } else if is_judged {
                    report.no_longer.push(text);
                }
            }
        }
        if let Some(earlier) = &self.baseline {
            let before: BTreeSet<&String> = earlier.ids.iter().map(|(id, _)| id).collect();
            report.new = ids
                .iter()
                .filter(|id| !before.contains(id))
                .cloned()
                .collect();
            report.same = ids
                .iter()
                .filter(|id| before.contains(id))
                .cloned()
                .collect();
            let again = |drill: &DrillName| played.iter().any(|one| one.drill == *drill);
            let gone = earlier.ids.iter();
            let gone = gone.filter(|(id, drill)| !ids.contains(id) && again(drill));
            let gone: BTreeSet<String> = gone.map(|(id, _)| id.clone()).collect();
            report.gone = gone.into_iter().collect();
        }
        report
    }
}

impl ExcusesReport {
    /// 100 if an entry of `known.toml` has expired or no longer occurs.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        if self.no_longer.is_empty() && self.expired.is_empty() {
            ExitCode::Success
        } else {
            ExitCode::JudgedWrongly
        }
    }

    /// The report as text, one line each; empty if there is nothing to tell.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = String::new();
        for (words, lines) in [
            ("known", &self.known),
            (
                "no longer occurs, so the entry must be removed",
                &self.no_longer,
            ),
            ("expired", &self.expired),
            ("new", &self.new),
            ("gone", &self.gone),
            ("same", &self.same),
        ] {
            for line in lines {
                page += &format!("{words}: {line}\n");
            }
        }
        page
    }
}

/// Whether a drill was played in all its arms.
fn was_played(drill: &DrillReport) -> bool {
    let mut arms = drill.arms.iter();
    !drill.arms.is_empty() && arms.all(|arm| !matches!(arm.status, ArmStatus::Skipped { .. }))
}
