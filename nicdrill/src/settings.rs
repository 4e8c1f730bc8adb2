//! `nicdrill.toml`: the defaults of a repository, so that `nicdrill run` needs no arguments there.
//!
//! ```toml
//! monitor = "monitor.yaml"        # a descriptor's name or file, or a program
//! platforms = ["platforms"]       # further platform files or folders
//! scenarios = ["scenarios"]       # scenario files or folders, instead of the built-in suite
//! out = "nicdrill.out"            # the run folder
//! store = "postgres://…"          # where events are kept
//!
//! [profile.ci]                    # flags of `nicdrill run --profile ci`
//! report = ["junit=nicdrill.xml"]
//! ```
//! It is read from the current folder; the command line takes precedence.

mod profile;

use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
};

use files::{FileError, Place};
use harness::{
    check::{self, Mistake},
    near,
    read_files::text_if_any,
};
use serde::{Deserialize, de::DeserializeOwned};
use store::{StoreUrl, StoreUrlError};
use toml::{Spanned, Value};

use crate::{arguments::RunArguments, command::Stop};

pub(crate) use profile::with_profile;
use profile::{Profiles, ProfilesSpec};

/// The file's name.
pub(crate) const FILE: &str = check::SETTINGS;

const KEYS: [&str; 6] = [
    "monitor",
    "platforms",
    "scenarios",
    "out",
    "store",
    "profile",
];

/// What the file says.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// The monitor under test.
    pub(crate) monitor: MonitorSetting,
    /// Further platform files or folders.
    pub(crate) platforms: Vec<PathBuf>,
    /// Scenario files or folders; empty: the built-in suite.
    pub(crate) scenarios: Vec<PathBuf>,
    /// All of these files and folders, with the places of their keys' values.
    pub(crate) files: Vec<(Place, PathBuf)>,
    /// The run folder.
    pub(crate) out: Option<PathBuf>,
    /// Where events are kept; its address may have a password.
    pub(crate) store: Option<StoreUrl>,
    /// Flags of `nicdrill run` by profile.
    profiles: Profiles,
}

/// What the file says about the monitor under test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum MonitorSetting {
    #[default]
    NoFile,
    /// Nothing.
    Missing,
    /// A descriptor's name or file, or a program.
    Named {
        name: String,
        /// Its place, as `nicdrill.toml:1:11`.
        place: String,
    },
}

/// The content of the file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct FileSpec {
    monitor: Option<Spanned<Value>>,
    platforms: Option<Spanned<Value>>,
    scenarios: Option<Spanned<Value>>,
    out: Option<Spanned<Value>>,
    store: Option<Spanned<Value>>,
    profile: ProfilesSpec,
}

impl Settings {
    /// Reads the file in the current folder; without one, all settings are empty.
    pub(crate) fn read() -> Result<Self, Stop> {
        let text = text_if_any(Path::new(FILE)).map_err(Stop::input)?;
        text.map_or_else(|| Ok(Self::default()), |text| Self::of(&text))
    }

    fn of(text: &str) -> Result<Self, Stop> {
        let (settings, mut mistakes) = Self::read_every(FILE, text);
        if mistakes.is_empty() {
            return Ok(settings);
        }
        let first = mistakes.swap_remove(0);
        let place = first.place.unwrap_or_default();
        Err(Stop {
            hint: first.hint,
            ..Stop::usage(format!("{FILE}:{place}: {}", first.what))
        })
    }

    /// The settings in this text, and every mistake in it: what is wrong is left out.
    fn read_every(file: &str, text: &str) -> (Self, Vec<FileError>) {
        let source = Source { file, text };
        let wrong =
            |error: toml::de::Error| source.wrong(error.span().unwrap_or(0..0), error.message());
        let keys: BTreeMap<Spanned<String>, Value> = match toml::from_str(text) {
            Ok(keys) => keys,
            Err(error) => return (Self::default(), vec![wrong(error)]),
        };
        let strange = keys.keys();
        let strange = strange.filter(|key| !KEYS.contains(&key.as_ref().as_str()));
        let strange = strange.map(|key| source.unknown(key, &KEYS));
        let mut mistakes: Vec<FileError> = strange.collect();
        let spec: FileSpec = match toml::from_str(text) {
            Ok(spec) => spec,
            Err(error) => {
                mistakes.push(wrong(error));
                return (Self::default(), mistakes);
            }
        };
        let mut of_file = OfFile { source, mistakes };
        let monitor = match of_file.read(spec.monitor) {
            None => MonitorSetting::Missing,
            Some((place, name)) => MonitorSetting::Named {
                place: format!("{FILE}:{place}"),
                name,
            },
        };
        let mut files = Vec::new();
        let mut paths = |value| {
            let read = of_file.read::<Vec<PathBuf>>(value);
            let (place, paths) = read.unwrap_or_default();
            files.extend(paths.iter().map(|path| (place, path.clone())));
            paths
        };
        let (platforms, scenarios) = (paths(spec.platforms), paths(spec.scenarios));
        let out = of_file.read(spec.out).map(|(_, out)| out);
        let store = of_file.read::<String>(spec.store);
        let mut mistakes = of_file.mistakes;
        let store = store.and_then(|(place, address)| {
            let told = |error: StoreUrlError| FileError::new(file, place, error.to_string());
            let read = address.parse();
            read.map_err(|error| mistakes.push(told(error))).ok()
        });
        let (profiles, of_profiles) = Profiles::of(source, spec.profile);
        mistakes.extend(of_profiles);
        let settings = Self {
            monitor,
            platforms,
            scenarios,
            files,
            out,
            store,
            profiles,
        };
        (settings, mistakes)
    }

    /// The same platforms and scenarios, for the reference monitor.
    pub(crate) fn with_reference(&self) -> Self {
        Self {
            platforms: self.platforms.clone(),
            scenarios: self.scenarios.clone(),
            ..Self::default()
        }
    }

    /// Leaves out a file or folder.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.platforms.retain(|known| known != path);
        self.scenarios.retain(|known| known != path);
    }

    /// What `nicdrill run` is asked for by each flag of a profile alone, with the place of its value.
    pub(crate) fn each_flag(&self) -> impl Iterator<Item = (Place, RunArguments)> {
        self.profiles.each_word()
    }

    /// What `nicdrill run` is asked for by each profile, with the place of its name.
    pub(crate) fn each_profile(&self) -> impl Iterator<Item = (Place, RunArguments)> {
        self.profiles.each()
    }
}

/// What is right in the text of such a file, and every mistake in it, in its order; `file` is the name that they carry.
pub(crate) fn read_every(file: &str, text: &str) -> (Settings, Vec<Mistake>) {
    let (settings, mut mistakes) = Settings::read_every(file, text);
    mistakes.sort_by_key(|mistake| mistake.place);
    (settings, mistakes.iter().map(Mistake::from).collect())
}

/// The values of a file, each of which is read by itself.
struct OfFile<'t> {
    source: Source<'t>,
    mistakes: Vec<FileError>,
}

impl OfFile<'_> {
    /// A value and its place, if it is there and what it is to be.
    fn read<T: DeserializeOwned>(&mut self, value: Option<Spanned<Value>>) -> Option<(Place, T)> {
        let value = value?;
        let span = value.span();
        match value.into_inner().try_into() {
            Ok(read) => Some((self.source.place(span), read)),
            Err(error) => {
                self.mistakes.push(self.source.wrong(span, error.message()));
                None
            }
        }
    }
}

/// The text of the file, and the name by which mistakes tell it.
#[derive(Clone, Copy)]
struct Source<'t> {
    file: &'t str,
    text: &'t str,
}

impl Source<'_> {
    /// The place of the beginning of this span.
    fn place(self, span: Range<usize>) -> Place {
        Place::of_byte(self.text, span.start)
    }

    /// A mistake at the beginning of this span.
    fn wrong(self, span: Range<usize>, what: impl Into<String>) -> FileError {
        FileError::new(self.file, self.place(span), what)
    }

    /// What a command says of the value that has this span.
    fn refused(self, span: Range<usize>, stop: Stop) -> FileError {
        FileError {
            hint: stop.hint,
            ..self.wrong(span, stop.text)
        }
    }

    /// A key that the file may not have.
    fn unknown(self, key: &Spanned<String>, allowed: &[&str]) -> FileError {
        let name = key.as_ref();
        let near = near::did_you_mean(&near::names(name, allowed));
        let near = near.map_or_else(String::new, |near| format!("{near} "));
        self.wrong(key.span(), format!("unknown key `{name}`"))
            .hint(format!("{near}allowed: {}", allowed.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn every_key_is_optional() {
        let empty = Settings::of("").unwrap();
        assert_eq!(empty.monitor, MonitorSetting::Missing);
        assert_eq!(empty.out, None);
        let settings = Settings::of("monitor = \"m.yaml\"\nscenarios = [\"s\"]\n").unwrap();
        let (name, place) = ("m.yaml".to_owned(), "nicdrill.toml:1:11".to_owned());
        assert_eq!(settings.monitor, MonitorSetting::Named { name, place });
        assert_eq!(settings.scenarios, [PathBuf::from("s")]);
    }

    #[rstest]
    #[case::a_slip("platform", "did you mean `platforms`? ")]
    #[case::another_word("weather", "")]
    fn an_unknown_key_is_refused_with_its_place_and_the_nearest_key(
        #[case] key: &str,
        #[case] near: &str,
    ) {
        let stop = Settings::of(&format!("out = \"o\"\n{key} = \"p\"\n")).unwrap_err();
        assert_eq!(stop.text, format!("nicdrill.toml:2:1: unknown key `{key}`"));
        let hint = format!("{near}allowed: monitor, platforms, scenarios, out, store, profile");
        assert_eq!(stop.hint, Some(hint));
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn the_address_of_a_store_is_refused_with_its_place_and_without_its_password() {
        let text = "out = \"o\"\nstore = \"postgres://ann:mellon@h/d?sslmode=on\"\n";
        let stop = Settings::of(text).unwrap_err();
        assert!(
            stop.text.starts_with("nicdrill.toml:2:9: "),
            "{}",
            stop.text
        );
        assert!(!stop.text.contains("mellon"), "{}", stop.text);
        let settings = Settings::of("store = \"postgres://ann:mellon@h/d\"\n").unwrap();
        assert!(!format!("{settings:?}").contains("mellon"));
    }

    #[test]
    fn settings_survive() {
        let text = "# ours\nmonitor = \"m.yaml\"\nplatforms = [\"p\", 'q']\nscenarios = []\nout = \"o\"\n\
                    store = \"postgres://ann:a%20b@h:5432/d?sslmode=verify-full&sslrootcert=c.pem\"\n";
        let address = "store = \"postgres://ann@[::1]:5432,h/d?hostaddr=127.0.0.1,::1&host=/run&password=a\"\n";
        test_support::mutation::check_texts(vec![text, address], |text| drop(Settings::of(text)));
    }

    #[rstest]
    #[case("reprot = \"github\"", "1: unknown key `reprot`")]
    #[case("jobs = true", "8: `jobs` takes a text or a number")]
    #[case("full = 1", "8: `full` takes true or false")]
    #[case("jobs = \"many\"", "8: invalid value 'many' for '--jobs <N>'")]
    #[case("report = [true]", "10: `report` takes a list of texts")]
    #[case("store = \"sqlite:x\"", "1: unknown key `store`")]
    fn a_profile_is_refused_with_its_place(#[case] line: &str, #[case] found: &str) {
        let stop = Settings::of(&format!("[profile.ci]\n{line}\n")).unwrap_err();
        let place = "nicdrill.toml:2:";
        assert!(
            stop.text.starts_with(&format!("{place}{found}")),
            "{}",
            stop.text
        );
    }

    #[test]
    fn every_mistake_is_told_with_its_place() {
        let text =
            "platform = []\nstore = \"x:y\"\n[profile.ci]\nreprot = \"github\"\njobs = true\n";
        let (_, told) = read_every("a/nicdrill.toml", text);
        let places: Vec<Option<u32>> = told.iter().map(|it| it.place.map(|at| at.line)).collect();
        assert_eq!(places, [1, 2, 4, 5].map(Some), "{told:?}");
        assert!(
            told.iter()
                .all(|it| it.text.starts_with("a/nicdrill.toml:")),
            "{told:?}"
        );
    }

    #[test]
    fn a_slip_in_a_profile_has_the_nearest_flag() {
        let stop = Settings::of("[profile.ci]\nreprot = \"github\"\n").unwrap_err();
        let hint = stop.hint.unwrap();
        assert!(hint.starts_with("did you mean `report`? "), "{hint}");
    }

    #[test]
    fn a_value_of_another_kind_is_refused_with_its_place() {
        let stop = Settings::of("out = \"o\"\nmonitor = 3\n").unwrap_err();
        assert!(
            stop.text.starts_with("nicdrill.toml:2:11: "),
            "{}",
            stop.text
        );
    }
}
