//! What kind of file a text is, found from its keys. Start at [`FileKind::of`].

use std::fmt;

use files::nearest;

/// A kind of file that a user writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A scenario.
    Scenario,
    /// A world of several nodes.
    World,
    /// A platform with its variants.
    Platform,
    /// A driver of platforms.
    Driver,
    /// The descriptor of a monitor.
    Descriptor,
    /// What a site needs of a monitor.
    Needs,
    /// How often things happen at a site.
    Mix,
    /// Prometheus' recording and alert rules.
    AlertRules,
    /// Correlation rules of a cluster.
    ClusterRules,
    /// The cabling of a cluster.
    Cabling,
    /// Known deviations, `known.toml`.
    Known,
    /// The settings of a repository, `nicdrill.toml`.
    Settings,
}

/// The keys by which a YAML file says what it is; the first one that it has decides.
const YAML_KEYS: [(&str, FileKind); 11] = [
    ("scenario", FileKind::Scenario),
    ("timeline", FileKind::Scenario),
    ("world", FileKind::World),
    ("platform_version", FileKind::Platform),
    ("driver_version", FileKind::Driver),
    ("descriptor_version", FileKind::Descriptor),
    ("needs_version", FileKind::Needs),
    ("mix_version", FileKind::Mix),
    ("groups", FileKind::AlertRules),
    ("speaks", FileKind::Descriptor),
    ("promises", FileKind::Descriptor),
];

/// The keys and tables by which a TOML file says what it is.
const TOML_KEYS: [(&str, FileKind); 5] = [
    ("rules_version", FileKind::ClusterRules),
    ("rule", FileKind::ClusterRules),
    ("world_version", FileKind::Cabling),
    ("switches", FileKind::Cabling),
    ("known", FileKind::Known),
];

/// What some editors write at the beginning of a text (Unicode, section 23.8).
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The name of the file of settings.
pub const SETTINGS: &str = "nicdrill.toml";

/// The usual name of a file of known deviations.
const KNOWN: &str = "known.toml";

impl FileKind {
    /// The kind of a file with this text; `None` if no key of the outermost level says it, not even misspelt. Settings have
    /// no key of their own: they are known by the name of their file, as known deviations are of which there are none.
    #[must_use]
    pub fn of(file: &str, text: &str) -> Option<Self> {
        let name = file.rsplit('/').next();
        if name == Some(SETTINGS) {
            return Some(Self::Settings);
        }
        let (keys, kinds) = match is_toml(text) {
            true => (toml_keys(text), &TOML_KEYS[..]),
            false => (yaml_keys(text), &YAML_KEYS[..]),
        };
        let by = |is: &dyn Fn(&str, &str) -> bool| {
            let mut kinds = kinds.iter();
            let found = kinds.find(|(key, _)| keys.iter().any(|found| is(found, key)));
            found.map(|(_, kind)| *kind)
        };
        by(&|found, key| found == key)
            .or_else(|| by(&|found, key| nearest(found, [key]).is_some()))
            .or_else(|| (name == Some(KNOWN) && keys.is_empty()).then_some(Self::Known))
    }
}

/// The keys by which files say what they are, as a hint.
pub(super) fn hint() -> String {
    let keys = YAML_KEYS.iter().chain(&TOML_KEYS);
    let keys: Vec<String> = keys.map(|(key, _)| format!("`{key}`")).collect();
    format!(
        "a file says what it is by one of the keys {}",
        keys.join(", ")
    )
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scenario => "scenario",
            Self::World => "world",
            Self::Platform => "platform",
            Self::Driver => "driver",
            Self::Descriptor => "descriptor",
            Self::Needs => "file of needs",
            Self::Mix => "mix",
            Self::AlertRules => "file of alert rules",
            Self::ClusterRules => "file of cluster rules",
            Self::Cabling => "cabling",
            Self::Known => "file of known deviations",
            Self::Settings => "file of settings",
        })
    }
}

/// Whether a text is TOML, by its first line that is no comment.
fn is_toml(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| {
        let (key, rest) = word(line);
        let is_pair = !key.is_empty() && rest.trim_start().starts_with('=');
        is_pair || (line.starts_with('[') && line.ends_with(']'))
    })
}

fn is_of_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// The word at the beginning of a line, in quotes or without, and what follows it.
fn word(line: &str) -> (&str, &str) {
    let line = line.trim_start_matches(BYTE_ORDER_MARK);
    let inner = line.trim_start_matches(['"', '\'']);
    let (word, rest) = inner.split_at(inner.find(|c: char| !is_of_key(c)).unwrap_or(inner.len()));
    match inner.len() < line.len() {
        true => (word, rest.trim_start_matches(['"', '\''])),
        false => (word, rest),
    }
}

/// The keys of the outermost map, also of a text that cannot be parsed.
fn yaml_keys(text: &str) -> Vec<&str> {
    let flow = text.trim_start().strip_prefix('{');
    let lines = text.lines().map(word);
    let keys = lines.filter(|(key, rest)| !key.is_empty() && rest.trim_start().starts_with(':'));
    let keys = keys.map(|(key, _)| key);
    keys.chain(flow.map(|line| word(line.trim_start()).0))
        .collect()
}

/// The keys and tables of the outermost level, also of a text that cannot be parsed.
fn toml_keys(text: &str) -> Vec<&str> {
    let mut keys = Vec::new();
    let mut is_outermost = true;
    for line in text.lines() {
        if line.starts_with('[') {
            is_outermost = false;
            keys.push(word(line.trim_start_matches('[')).0);
        } else if is_outermost {
            keys.push(word(line).0);
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("# ours\nscenario: a\nworld: pod\n", Some(FileKind::Scenario))]
    #[case::without_its_title("why: a\ntimeline: []\nworld: pod\n", Some(FileKind::Scenario))]
    #[case("world: pod\nnodes: []\n", Some(FileKind::World))]
    #[case("{ needs_version: 1 }", Some(FileKind::Needs))]
    #[case::misspelt("descriptor_verson: 1\nname: a\n", Some(FileKind::Descriptor))]
    #[case::that_cannot_be_parsed("platform_version: [1\nname: a\n", Some(FileKind::Platform))]
    #[case("groups:\n- name: a\n", Some(FileKind::AlertRules))]
    #[case::without_its_version("name: a\nspeaks: lines\n", Some(FileKind::Descriptor))]
    #[case("rules_version = 1\n[[rule]]\n", Some(FileKind::ClusterRules))]
    #[case("world_version = 1\n[switches]\n", Some(FileKind::Cabling))]
    #[case("[[known]]\nid = \"a#b\"\n", Some(FileKind::Known))]
    #[case::in_quotes("\"groups\":\n- name: a\n", Some(FileKind::AlertRules))]
    #[case::after_a_mark("\u{feff}groups:\n- name: a\n", Some(FileKind::AlertRules))]
    #[case::of_another_program("[profile.dev]\ndebug = 0\n", None)]
    #[case("services:\n  scenario: a\n", None)]
    #[case("[package]\nrule = 1\n", None)]
    #[case("", None)]
    fn a_file_is_known_by_its_keys(#[case] text: &str, #[case] kind: Option<FileKind>) {
        assert_eq!(FileKind::of("a", text), kind);
    }

    #[test]
    fn every_shipped_file_is_of_its_kind() {
        for (file, text) in suite::scenarios() {
            assert_eq!(FileKind::of(file, text), Some(FileKind::Scenario), "{file}");
        }
        for (file, text) in suite::worlds() {
            assert_eq!(FileKind::of(file, text), Some(FileKind::World), "{file}");
        }
        for (file, text) in observe::shipped_descriptors() {
            assert_eq!(
                FileKind::of(file, text),
                Some(FileKind::Descriptor),
                "{file}"
            );
        }
        for (file, text) in platforms::Platforms::shipped_texts() {
            let kind = match file.starts_with("drivers/") {
                true => FileKind::Driver,
                false => FileKind::Platform,
            };
            assert_eq!(FileKind::of(&file, text), Some(kind), "{file}");
        }
        assert_eq!(
            FileKind::of("a/nicdrill.toml", ""),
            Some(FileKind::Settings)
        );
    }
}
