//! Known deviations (`known.toml`): findings that are accepted.
//!
//! ```toml
//! [[known]]
//! id = "port/cable-pulled#missed.fatal.port.monitored.infiniband.after-port"   # `*` and `?` match anything
//! reason = "the port state is polled every 60 s; to be changed in 2.4"
//! link = "https://tracker.example/123"    # optional
//! expires = 2027-01-31                    # optional: the last day on which it is accepted
//! drill = "port/cable-pulled@h100-oci"    # optional: it is judged gone only if this drill was played
//! ```
//! What they do to a run is in [`crate::Excuses`]. Start at [`KnownDeviations::read`].

use std::fmt;

use files::FileError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{DrillName, Glob, one_line};

mod source;

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

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
    pub line: u32,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownError(pub FileError);

impl std::error::Error for KnownError {}

impl fmt::Display for KnownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileError { file, what, .. } = &self.0;
        let line = self.0.place.unwrap_or_default().line;
        let hint = self.0.hint.as_deref().unwrap_or_default();
        write!(f, "{file}:{line}: {what}\nhint: {hint}")
    }
}

const KEYS: &str =
    "an entry is `[[known]]` with `id` and `reason`, and may have `link`, `expires` and `drill`";

/// Known deviations: findings of a monitor that are accepted.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema describes the file")]
#[serde(deny_unknown_fields)]
#[schemars(title = "known.toml")]
struct FileSpec {
    /// The entries.
    #[serde(default)]
    known: Vec<EntrySpec>,
}

/// An accepted finding.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EntrySpec {
    /// The id of the findings, as a run prints it with each group: `scenario#cause`. `*` matches any characters
    /// and `?` one.
    #[schemars(with = "String")]
    id: toml::Spanned<String>,
    /// Why they are accepted.
    #[schemars(with = "String")]
    reason: toml::Spanned<String>,
    /// A link for people.
    #[schemars(with = "Option<String>")]
    link: Option<String>,
    /// The last day (UTC) on which they are accepted: a TOML date such as 2027-01-31.
    #[schemars(with = "Option<String>", extend("format" = "date"))]
    expires: Option<toml::Spanned<toml::value::Datetime>>,
    /// A drill in which they occur. The entry must be removed when this drill was played without them; without
    /// this key, when all drills of its scenarios were.
    #[schemars(with = "Option<String>")]
    drill: Option<toml::Spanned<String>>,
}

/// The JSON Schema of `known.toml`.
#[must_use]
pub fn known_schema() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let schema = settings.into_generator().into_root_schema_for::<FileSpec>();
    schema.to_value()
}

impl KnownDeviations {
    /// Reads the text of a file; `file` is its name for messages.
    ///
    /// # Errors
    /// If it is not TOML of this form, a reason is empty, or an id, date or drill is invalid: the first mistake.
    pub fn read(file: &str, text: &str) -> Result<Self, KnownError> {
        Self::read_every(file, text).map_err(|mut mistakes| mistakes.swap_remove(0))
    }

    /// Reads the text of a file like [`Self::read`].
    ///
    /// # Errors
    /// The mistakes, at least one, in the order of the text.
    pub fn read_every(file: &str, text: &str) -> Result<Self, Vec<KnownError>> {
        let read = source::entries(file, text).map(|entries| Self {
            file: file.to_owned(),
            entries,
        });
        read.map_err(|found| found.into_iter().map(KnownError).collect())
    }
}

impl KnownEntry {
    /// Whether it is about findings with this id.
    #[must_use]
    pub fn matches(&self, id: &str) -> bool {
        Glob::new(&self.id).fits(id)
    }

    /// Whether it is about this scenario.
    #[must_use]
    pub fn is_about(&self, scenario: &str) -> bool {
        Glob::new(self.scenario()).fits(scenario)
    }

    /// The scenario of its id, or a pattern of scenarios.
    #[must_use]
    pub fn scenario(&self) -> &str {
        self.id
            .rsplit_once('#')
            .map_or(&self.id, |(scenario, _)| scenario)
    }

    /// The entry on one line: `known.toml:7: port/cable-pulled#missed (by design)`.
    pub(crate) fn line_in(&self, file: &str) -> String {
        let Self {
            line, id, reason, ..
        } = self;
        let link = self.link.iter().map(|link| format!("; {link}"));
        let link: String = link.collect();
        one_line(&format!("{file}:{line}: {id} ({reason}{link})"))
    }

    pub(crate) fn is_expired(&self, today: Day) -> bool {
        self.expires.is_some_and(|last| last < today)
    }
}
