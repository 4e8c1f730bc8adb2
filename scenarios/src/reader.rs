//! Reads values out of a YAML tree: texts, numbers, durations, words and maps. Each error has its
//! place.
//!
//! It knows kinds of values only, not the words of the language.

use files::{About, FileError, Key, Mistakes, Node, Place, YamlValue, did_you_mean};
use platforms::{NAME_HINT, name_mistake};
use simfs::{Errno, SimTime};

use crate::duration;
use crate::error::ScenarioError;

/// Keys and words that had another name, with the name that they have now.
const RENAMED: [(&str, &str); 3] = [
    ("chairs", "monitors"),
    ("let_up", "release"),
    ("fate", "outcome"),
];

type Read<T> = Result<T, ScenarioError>;

/// A scenario's text and file name, which an error needs to show its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// The file name as given to the reader.
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl<'a> Source<'a> {
    /// An error at this place.
    pub(crate) fn wrong(&self, place: Place, what: impl Into<String>) -> ScenarioError {
        FileError::at(self.file, self.text, place, what).into()
    }

    /// An error for a word that is planned but not implemented.
    pub(crate) fn not_built(&self, place: Place, what: impl Into<String>) -> ScenarioError {
        let error = self.wrong(place, what).about(About::NotBuilt);
        error.hint("it is planned, but not implemented")
    }

    /// Converts a place to the form that a story holds.
    pub(crate) fn place(&self, place: Place) -> crate::FilePlace {
        crate::FilePlace {
            file: self.file.to_owned(),
            line: place.line,
            column: place.column,
        }
    }

    /// An error for an unknown word, with the known words and the nearest of them.
    pub(crate) fn unknown<'b>(
        &self,
        place: Place,
        what: &str,
        name: &str,
        allowed: impl IntoIterator<Item = &'b str>,
    ) -> ScenarioError {
        let mut allowed: Vec<&str> = allowed.into_iter().collect();
        allowed.sort_unstable();
        allowed.dedup();
        let renamed = RENAMED.iter().find(|(old, _)| *old == name);
        let near = match renamed.filter(|(_, new)| allowed.contains(new)) {
            Some((_, new)) => format!("it is called `{new}` now; "),
            None => did_you_mean(name, allowed.iter().copied()),
        };
        let list: Vec<String> = allowed.iter().map(|word| format!("`{word}`")).collect();
        let allowed = match list.is_empty() {
            true => format!("there is no {what} here"),
            false => format!("{near}allowed: {}", list.join(", ")),
        };
        self.wrong(place, format!("unknown {what} `{name}`"))
            .hint(allowed)
    }

    fn kind(&self, node: &Node, expected: &str) -> ScenarioError {
        let what = format!("found {}, expected {expected}", node.value.kind());
        self.wrong(node.place, what).about(About::Kind)
    }

    /// Rejects a name that no file may give ([`platforms::name_mistake`]).
    pub(crate) fn refuse_odd_name(&self, place: Place, name: &str) -> Read<()> {
        match name_mistake(name) {
            None => Ok(()),
            Some(what) => Err(self.wrong(place, what).hint(NAME_HINT)),
        }
    }

    /// A text that is not empty; a number stands for its digits.
    pub(crate) fn text(&self, node: &Node, expected: &str) -> Read<String> {
        match &node.value {
            YamlValue::Text(text) if !text.trim().is_empty() => Ok(text.clone()),
            YamlValue::Text(_) => {
                Err(self.wrong(node.place, format!("an empty text, expected {expected}")))
            }
            YamlValue::Whole(number) => Ok(number.to_string()),
            YamlValue::Number(number) => Ok(number.to_string()),
            _ => Err(self.kind(node, expected)),
        }
    }

    /// A text that may be empty.
    pub(crate) fn any_text(&self, node: &Node, expected: &str) -> Read<String> {
        match &node.value {
            YamlValue::Text(text) => Ok(text.clone()),
            _ => self.text(node, expected),
        }
    }

    /// One of these words.
    pub(crate) fn choice<T: Clone>(
        &self,
        node: &Node,
        what: &str,
        allowed: &[(&str, T)],
    ) -> Read<T> {
        let word = match &node.value {
            YamlValue::Text(word) => word,
            YamlValue::Truth(_) => {
                let names: Vec<&str> = allowed.iter().map(|(name, _)| *name).collect();
                return Err(self
                    .kind(node, "a word")
                    .hint(format!("allowed: {}", names.join(", "))));
            }
            _ => return Err(self.kind(node, "a word")),
        };
        match allowed.iter().find(|(name, _)| name == word) {
            Some((_, value)) => Ok(value.clone()),
            None => Err(self.unknown(
                node.place,
                what,
                word,
                allowed.iter().map(|(name, _)| *name),
            )),
        }
    }

    /// `true` or `false`.
    pub(crate) fn truth(&self, node: &Node) -> Read<bool> {
        match node.value {
            YamlValue::Truth(truth) => Ok(truth),
            _ => Err(self.kind(node, "`true` or `false`")),
        }
    }

    /// A whole number in an inclusive range.
    pub(crate) fn number(&self, node: &Node, least: u64, most: u64) -> Read<u64> {
        let is_within = |number: &u64| (least..=most).contains(number);
        let number = match node.value {
            YamlValue::Whole(number) => u64::try_from(number).ok().filter(is_within),
            _ if node.value.is_too_large() => None,
            _ => return Err(self.kind(node, "a whole number")),
        };
        number.ok_or_else(|| {
            self.wrong(node.place, format!("`{node}` is out of range"))
                .hint(format!("allowed: {least} to {most}"))
        })
    }

    /// A whole number of at least `least` that fits 32 bits.
    pub(crate) fn small(&self, node: &Node, least: u32) -> Read<u32> {
        let number = self.number(node, u64::from(least), 1_000_000)?;
        Ok(u32::try_from(number).expect("a number up to a million fits 32 bits"))
    }

    /// A duration with its unit.
    pub(crate) fn time(&self, node: &Node) -> Read<SimTime> {
        const HINT: &str = "write a number and a unit, as in `400ms`, `3s`, `4m29s`, `1h`; `8760h`, a year, at most";
        match &node.value {
            YamlValue::Text(text) => duration::parse(text).ok_or_else(|| {
                self.wrong(node.place, format!("invalid duration `{text}`"))
                    .hint(HINT)
            }),
            YamlValue::Whole(number) => Err(self
                .wrong(node.place, format!("duration `{number}` without a unit"))
                .hint(HINT)),
            _ => Err(self.kind(node, "a time").hint(HINT)),
        }
    }

    /// An errno by its name.
    pub(crate) fn errno(&self, node: &Node) -> Read<Errno> {
        let name = self.text(node, "an errno such as `EIO`")?;
        Errno::by_name(&name).ok_or_else(|| {
            let known = Errno::NAMED.iter().map(|(_, name)| *name);
            self.unknown(node.place, "errno", &name, known)
        })
    }

    /// The items of a list.
    pub(crate) fn list<'n>(&self, node: &'n Node, expected: &str) -> Read<&'n [Node]> {
        match &node.value {
            YamlValue::List(items) => Ok(items),
            YamlValue::Map(_) => Err(self
                .kind(node, expected)
                .hint("write it in brackets, as in `[ { … } ]`")),
            _ => Err(self.kind(node, expected)),
        }
    }

    /// The items of a list that is not empty; a single value stands for a list of one.
    pub(crate) fn one_or_more<'n>(&self, node: &'n Node, expected: &str) -> Read<&'n [Node]> {
        match &node.value {
            YamlValue::List(items) if items.is_empty() => {
                Err(self.wrong(node.place, format!("an empty list, expected {expected}")))
            }
            YamlValue::List(items) => Ok(items),
            YamlValue::Null => Err(self.kind(node, expected)),
            _ => Ok(std::slice::from_ref(node)),
        }
    }

    /// The keys and values of a map whose keys are not checked yet.
    pub(crate) fn open_map<'n>(&self, node: &'n Node, what: &'static str) -> Read<Fields<'n>> {
        match &node.value {
            YamlValue::Map(pairs) => Ok(Fields::new(what, node.place, pairs)),
            _ => Err(self.kind(node, &format!("a map ({what})"))),
        }
    }
}

/// The keys and values of a map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'n> {
    /// What the map is, for error texts.
    what: &'static str,
    /// The verb of the line, if it is one.
    verb: Option<&'static str>,
    /// Where it begins.
    pub(crate) place: Place,
    /// Its keys and values.
    pub(crate) pairs: &'n [(Key, Node)],
}

impl<'n> Fields<'n> {
    /// A map with these keys and values.
    pub(crate) fn new(what: &'static str, place: Place, pairs: &'n [(Key, Node)]) -> Self {
        Self {
            what,
            verb: None,
            place,
            pairs,
        }
    }

    /// The same map, marked as the line of a verb.
    pub(crate) fn of(self, verb: &'static str) -> Self {
        Self {
            verb: Some(verb),
            ..self
        }
    }

    /// Rejects every key that is not in `allowed`.
    pub(crate) fn known<'b>(
        &self,
        source: &Source<'_>,
        allowed: impl IntoIterator<Item = &'b str>,
    ) -> Read<()> {
        let allowed: Vec<&str> = allowed.into_iter().collect();
        let what = format!("key in {}", self.what);
        Mistakes::in_all(self.pairs.iter().map(|(key, _)| {
            if allowed.contains(&key.name.as_str()) {
                return Ok(());
            }
            Err(source.unknown(key.place, &what, &key.name, allowed.iter().copied()))
        }))
        .map(|_| ())
    }

    /// What `parse` reads of this map, if no other keys than the allowed ones are in it. What it lacks is not told
    /// beside an unknown key, which most likely is the lacking one misspelt.
    pub(crate) fn only<'b, T>(
        &self,
        source: &Source<'_>,
        allowed: impl IntoIterator<Item = &'b str>,
        parse: impl FnOnce() -> Read<T>,
    ) -> Read<T> {
        let Err(mut mistakes) = self.known(source, allowed) else {
            return parse();
        };
        let beside = parse().err().into_iter().flatten();
        mistakes.extend(beside.filter(|error| error.place != Some(self.place)));
        Err(mistakes.sorted())
    }

    /// The value of a key.
    pub(crate) fn get(&self, name: &str) -> Option<&'n Node> {
        self.pairs
            .iter()
            .find(|(key, _)| key.name == name)
            .map(|(_, node)| node)
    }

    /// The value of a required key.
    pub(crate) fn need(&self, source: &Source<'_>, name: &str) -> Read<&'n Node> {
        self.get(name).ok_or_else(|| self.missing(source, name))
    }

    /// The error for a missing key.
    pub(crate) fn missing(&self, source: &Source<'_>, name: &str) -> ScenarioError {
        let what = match self.verb {
            Some(verb) => format!("`{verb}` needs the key `{name}`"),
            None => format!("key `{name}` is missing in {}", self.what),
        };
        let about = About::MissingKey(name.to_owned());
        source.wrong(self.place, what).about(about)
    }

    /// The value of an optional key, parsed by `read`.
    pub(crate) fn maybe<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'n Node) -> Read<T>,
    ) -> Read<Option<T>> {
        self.get(name).map(read).transpose()
    }

    /// The one key of these that is present; an error for none or several.
    pub(crate) fn exactly_one(
        &self,
        source: &Source<'_>,
        names: &[&'static str],
    ) -> Read<(&'static str, &'n Node)> {
        let mut found = names
            .iter()
            .filter_map(|name| self.get(name).map(|node| (*name, node)));
        let list = || {
            names
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one),
            (None, _) => {
                Err(source.wrong(self.place, format!("{} needs one of {}", self.what, list())))
            }
            (Some((first, _)), Some((second, node))) => Err(source
                .wrong(
                    node.place,
                    format!("`{first}` and `{second}` together in {}", self.what),
                )
                .hint(format!("exactly one of {}", list()))),
        }
    }

    /// The place of a key, for an error about it.
    pub(crate) fn place_of(&self, name: &str) -> Place {
        self.pairs
            .iter()
            .find(|(key, _)| key.name == name)
            .map_or(self.place, |(key, _)| key.place)
    }
}
