//! `config.toml`: which devices are monitored, and the paths of sysfs.
//!
//! An invalid value prevents the start; the error names file, key, value and the allowed values. An
//! unknown key is a warning that names the most similar known key. `[counterDetection]` is read by
//! `counters`.

mod counters;

pub(crate) use counters::CounterDetection;

use regex::Regex;
use toml::{Table, Value};

use crate::hands::ReadError;
use crate::log_record::{Level, LogRecord};
use crate::name::DeviceName;
use crate::refusal::Refusal;

/// The validated configuration file.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Devices whose names match any of these are excluded.
    exclude: Vec<Regex>,
    /// When set, exactly the devices whose names match any are monitored.
    pub(crate) include: Option<Vec<Regex>>,
    /// Folder of the network interfaces, without a slash at the end.
    pub sys_class_net: String,
    /// Folder of the RDMA devices (the anchor of a poll), without a slash at the end.
    pub sys_class_infiniband: String,
    /// The filters as one text, for the state file (NVSentinel's key `scope`).
    pub scope: String,
    /// The counters that are watched.
    pub(crate) counters: CounterDetection,
}

const KEYS: [&str; 5] = [
    "nicExclusionRegex",
    "nicInclusionRegexOverride",
    "sysClassNetPath",
    "sysClassInfinibandPath",
    "counterDetection",
];

/// The result of matching a device's name against the filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameVerdict {
    /// No filter excludes it.
    Open,
    /// The override names it.
    Pinned,
    /// The override names other devices.
    NotPinned,
    /// The exclusion names it.
    Excluded,
}

impl Config {
    /// Reads the file; without a file the defaults are used.
    ///
    /// # Errors
    ///
    /// A refusal that names file, key, value and the allowed values.
    pub(crate) fn read(
        path: &str,
        bytes: Result<&[u8], ReadError>,
        records: &mut Vec<LogRecord>,
    ) -> Result<Config, Refusal> {
        let refuse = |cause: String| {
            Refusal::new(format!(
                "invalid configuration at {path} (fix or remove the file): {cause}"
            ))
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(ReadError::ENOENT) => {
                let record = LogRecord::new(Level::Info, "no configuration file: defaults");
                records.push(record.with("path", path));
                b""
            }
            Err(error) => return Err(refuse(format!("cannot be read: {error}"))),
        };
        let text = std::str::from_utf8(bytes).map_err(|error| refuse(error.to_string()))?;
        let table: Table = text
            .parse()
            .map_err(|error: toml::de::Error| refuse(on_one_line(&error, text)))?;
        Config::judge(&table, path, records).map_err(refuse)
    }

    fn judge(table: &Table, path: &str, records: &mut Vec<LogRecord>) -> Result<Config, String> {
        warn_of_unknown_keys(table, &KEYS, "", path, records);
        let exclude_text = text_of(table, "nicExclusionRegex", "")?;
        let include_text = text_of(table, "nicInclusionRegexOverride", "")?;
        let exclude = patterns("nicExclusionRegex", exclude_text)?;
        let include = if include_text.trim().is_empty() {
            None
        } else {
            let patterns = patterns("nicInclusionRegexOverride", include_text)?;
            if patterns.is_empty() {
                return Err(format!(
                    "`nicInclusionRegexOverride` is `{include_text}`: must contain at least one \
                     non-empty pattern"
                ));
            }
            Some(patterns)
        };
        Ok(Config {
            counters: counters::read(table.get("counterDetection"), path, records)?,
            exclude,
            include,
            sys_class_net: folder(table, "sysClassNetPath", "/nvsentinel/sys/class/net")?,
            sys_class_infiniband: folder(
                table,
                "sysClassInfinibandPath",
                "/nvsentinel/sys/class/infiniband",
            )?,
            scope: format!("incl={};excl={}", include_text.trim(), exclude_text.trim()),
        })
    }

    /// Whether `nicInclusionRegexOverride` is set.
    #[must_use]
    pub(crate) fn is_pinning(&self) -> bool {
        self.include.is_some()
    }

    /// Matches a name against the filters. The override takes precedence over the exclusion (`lsd
    /// 12.1`).
    pub(crate) fn judge_name(&self, name: &DeviceName) -> NameVerdict {
        let matches = |patterns: &[Regex]| patterns.iter().any(|p| p.is_match(name.as_str()));
        match &self.include {
            Some(include) if matches(include) => NameVerdict::Pinned,
            Some(_) => NameVerdict::NotPinned,
            None if matches(&self.exclude) => NameVerdict::Excluded,
            None => NameVerdict::Open,
        }
    }
}

/// Patterns separated by commas; empty ones are skipped.
fn patterns(key: &str, text: &str) -> Result<Vec<Regex>, String> {
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| {
            Regex::new(part).map_err(|error| {
                let cause = error.to_string();
                let cause = cause.lines().last().unwrap_or_default().trim();
                format!("`{key}` has the pattern `{part}`, which is no regular expression: {cause}")
            })
        })
        .collect()
}

fn text_of<'a>(table: &'a Table, key: &str, default: &'a str) -> Result<&'a str, String> {
    match table.get(key) {
        None => Ok(default),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("`{key}` is `{other}`: must be a string")),
    }
}

fn folder(table: &Table, key: &str, default: &str) -> Result<String, String> {
    let text = text_of(table, key, default)?;
    if !text.starts_with('/') {
        return Err(format!("`{key}` is `{text}`: must be an absolute path"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// A TOML error with its line and column, on one line.
fn on_one_line(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().replace('\n', ", ");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return message;
    };
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("line {line}, column {column}: {message}")
}

fn warn_of_unknown_keys(
    table: &Table,
    known: &[&str],
    prefix: &str,
    path: &str,
    records: &mut Vec<LogRecord>,
) {
    for key in table.keys().filter(|key| !known.contains(&key.as_str())) {
        let record = LogRecord::new(Level::Warn, "unknown configuration key: ignored")
            .with("path", path)
            .with("key", format_args!("{prefix}{key}"));
        records.push(match nearest(key, known) {
            Some(nearest) => record.with("nearest", format_args!("{prefix}{nearest}")),
            None => record,
        });
    }
}

/// The known key that is most similar to an unknown one, if any is similar.
fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let ranked = known.iter().map(|known| {
        let distance = strsim::levenshtein(&key.to_lowercase(), &known.to_lowercase());
        (distance, *known)
    });
    ranked
        .min()
        .filter(|(distance, known)| *distance <= known.len() / 2)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn read(text: &str) -> Result<(Config, Vec<String>), String> {
        let mut records = Vec::new();
        Config::read("/etc/c.toml", Ok(text.as_bytes()), &mut records)
            .map(|config| (config, records.iter().map(LogRecord::to_string).collect()))
            .map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn a_missing_file_means_defaults() {
        let mut records = Vec::new();
        let config = Config::read("/c", Err(ReadError::ENOENT), &mut records).unwrap();
        assert_eq!(
            config.sys_class_infiniband,
            "/nvsentinel/sys/class/infiniband"
        );
        assert_eq!(config.scope, "incl=;excl=");
        assert!(Config::read("/c", Err(ReadError::EIO), &mut records).is_err());
    }

    #[rstest]
    #[case("a = ", "line 1, column 5")]
    #[case("nicExclusionRegex = '['", "`[`")]
    #[case("nicExclusionRegex = 5", "must be a string")]
    #[case("nicInclusionRegexOverride = ','", "at least one non-empty pattern")]
    #[case("sysClassNetPath = 'sys'", "absolute path")]
    #[case("counterDetection = 1", "must be a table")]
    #[case("[counterDetection]\nenabled = 'yes'", "true or false")]
    #[case("[counterDetection]\ncounters = 3", "must be an array of tables")]
    #[case(
        "[[counterDetection.counters]]\nenabled = true",
        "name must not be empty"
    )]
    #[case(
        "[[counterDetection.counters]]\nname = 'collisions'\nthresholdType = 'delta'\nthreshold = 0",
        "allowed counters: carrier_changes, "
    )]
    #[case(
        "[[counterDetection.counters]]\nname = 'link_downed'\nthresholdType = 'velocty'",
        "must be one of: delta, velocity"
    )]
    #[case(
        "[[counterDetection.counters]]\nname = 'link_downed'\nthresholdType = 'delta'\nthreshold = nan",
        "finite value >= 0"
    )]
    #[case(
        "[[counterDetection.counters]]\nname = 'link_downed'\nthresholdType = 'delta'\nthreshold = -1",
        "finite value >= 0"
    )]
    #[case(
        "[[counterDetection.counters]]\nname = 'link_downed'\nthresholdType = 'velocity'\nthreshold = 1",
        "must be one of: second, minute, hour"
    )]
    #[case(
        "[[counterDetection.counters]]\nname = 'link_downed'\nthresholdType = 'delta'\nthreshold = 0\n\
         [[counterDetection.counters]]\nname = 'link_downed'\nthresholdType = 'delta'\nthreshold = 0",
        "duplicate counter name"
    )]
    fn what_cannot_be_refuses_with_what_can(#[case] text: &str, #[case] part: &str) {
        let line = read(text).unwrap_err();
        assert!(line.contains("/etc/c.toml"), "{line}");
        assert!(line.contains(part), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }

    #[test]
    fn an_unknown_key_is_a_warning_with_the_nearest_known_one() {
        let text = "nicExclusionRegexp = ''\n[counterDetection]\nenable = true\nzzzzzzzzzzz = 1";
        let (_, records) = read(text).unwrap();
        assert_eq!(records.len(), 3, "{records:?}");
        assert!(records[0].ends_with("key=nicExclusionRegexp nearest=nicExclusionRegex"));
        assert!(
            records[1].ends_with("key=counterDetection.enable nearest=counterDetection.enabled")
        );
        assert!(records[2].ends_with("key=counterDetection.zzzzzzzzzzz"));
    }

    #[test]
    fn the_four_retired_keys_of_a_counter_are_ignored_with_a_warning() {
        let text = "[[counterDetection.counters]]\nname = 'link_downed'\nenabled = true\n\
                    thresholdType = 'delta'\nthreshold = 0\npath = '/x'\nisFatal = true\n\
                    description = 'd'\nrecommendedAction = 'NONE'";
        let (_, records) = read(text).unwrap();
        let retired = records
            .iter()
            .filter(|record| record.contains("retired"))
            .count();
        assert_eq!(retired, 4, "{records:?}");
    }

    #[test]
    fn a_filter_matches_anywhere_in_a_name_and_pinning_passes_over_exclusion() {
        let (config, _) = read("nicExclusionRegex = '^mlx5_1$, bond'").unwrap();
        assert_eq!(config.judge_name(&"mlx5_1".into()), NameVerdict::Excluded);
        assert_eq!(
            config.judge_name(&"mlx5_bond_0".into()),
            NameVerdict::Excluded
        );
        assert_eq!(config.judge_name(&"mlx5_11".into()), NameVerdict::Open);
        let (config, _) =
            read("nicExclusionRegex = 'mlx5'\nnicInclusionRegexOverride = '^mlx5_1$'").unwrap();
        assert_eq!(config.judge_name(&"mlx5_1".into()), NameVerdict::Pinned);
        assert_eq!(config.judge_name(&"mlx5_2".into()), NameVerdict::NotPinned);
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_no_panic(text in "\\PC*") {
            let _ = read(&text);
        }

        #[test]
        fn near_misses_of_real_keys_are_no_panic(
            text in "(nicExclusionRegex|\\[counterDetection\\]|counters|enabled|name)( = )?(\\[|'.{0,6}'|true|-1)?\n?"
        ) {
            let _ = read(&text);
        }
    }

    #[rstest]
    #[case("nicexclsionregx", Some("nicExclusionRegex"))]
    #[case("zebra", None)]
    fn a_key_is_near_if_half_of_it_is_right(#[case] key: &str, #[case] near: Option<&str>) {
        let known = ["nicExclusionRegex", "counterDetection"];
        assert_eq!(nearest(key, &known), near);
    }

    fn one_counter(detection: &str, more: &str) -> Result<(Config, Vec<String>), String> {
        read(&format!(
            "{detection}[[counterDetection.counters]]\nname = 'link_downed'\nthresholdType = 'delta'\n{more}"
        ))
    }

    #[rstest]
    #[case("1.5", true)]
    #[case("0.0", true)]
    #[case("2", true)]
    #[case("-0.5", false)]
    #[case("inf", false)]
    #[case("-inf", false)]
    fn a_threshold_is_finite_and_not_below_zero(#[case] threshold: &str, #[case] is_one: bool) {
        let config = one_counter("", &format!("threshold = {threshold}"));
        assert_eq!(config.is_ok(), is_one, "{config:?}");
    }

    #[rstest]
    #[case("", "", 0)]
    #[case("", "enabled = false", 1)]
    #[case("[counterDetection]\nenabled = false\n", "enabled = false", 0)]
    #[case("[counterDetection]\nenabled = false\n", "", 0)]
    fn a_list_of_no_enabled_counter_is_told_where_counters_are_on(
        #[case] detection: &str,
        #[case] counter: &str,
        #[case] rendered: usize,
    ) {
        let (_, records) = one_counter(detection, counter).unwrap();
        let none = records
            .iter()
            .filter(|record| record.contains("lists none"));
        assert_eq!(none.count(), rendered, "{records:?}");
    }
}
