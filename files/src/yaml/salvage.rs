//! Every mistake of a text, instead of the first one only: what is wrong is left out, and the rest is read again.
//!
//! serde ends at the first mistake, and only it knows what a type accepts. So a mistake is taken out of the text's tree
//! with the key or item that it is in, and the rest is written as a text of its own, in which every key and every value has
//! a line: the line of the next error leads back to the place in the file. Start at [`read_every`].

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use super::{read, read_despite_twins, tree};
use crate::node::Part;
use crate::{About, FileError, Key, Node, Place, YamlValue, nearest};

/// The largest number of mistakes that are told of one text. Chosen: more are read by nobody.
const MISTAKES_MAX: usize = 50;

/// Reads one YAML document like [`read`].
///
/// # Errors
/// Every mistake in it, in the order of the text, up to 50. What follows only from another mistake is left out: a key that
/// is missing because the one that was meant is misspelt.
pub fn read_every<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Vec<FileError>> {
    match salvage(file, text) {
        Ok(value) => Ok(value),
        Err(salvage) => Err(salvage.mistakes),
    }
}

/// What a text with mistakes still says.
#[derive(Clone, Debug, PartialEq)]
pub struct Salvage<T> {
    /// Every mistake, in the order of the text, up to 50, without those that follow only from another one.
    pub mistakes: Vec<FileError>,
    /// The value without what is wrong; `None` if nothing can be read without it.
    pub value: Option<T>,
    /// The tree that `value` is of. Its places are those of the text.
    pub rest: Node,
    /// The keys of the whole document that were left out.
    keys_left_out: BTreeSet<String>,
    /// The places of lists and maps that lack a part, at whatever depth.
    incomplete: BTreeSet<Part>,
}

impl<T> Salvage<T> {
    /// Whether nothing was left out of what these keys of the document lead to, the outermost first, so that what is
    /// wrong with it is a mistake of its own. An item of a list is its number in `rest`, from 0.
    #[must_use]
    pub fn is_whole(&self, keys: &[String]) -> bool {
        let mut node = &self.rest;
        for (depth, key) in keys.iter().enumerate() {
            let Some((_, below)) = node.below(key) else {
                let mut left_out = self.keys_left_out.iter();
                let is_meant = |left: &String| left == key || nearest(left, [&**key]).is_some();
                return depth > 0 || !left_out.any(is_meant);
            };
            node = below;
        }
        !self.lacks_part(node)
    }

    /// Whether this value of `rest` lacks a part.
    #[must_use]
    pub fn lacks_part(&self, node: &Node) -> bool {
        self.incomplete.contains(&node.part())
    }

    /// Whether keys of the whole document were left out.
    #[must_use]
    pub fn lacks_keys(&self) -> bool {
        !self.keys_left_out.is_empty()
    }
}

/// Reads one YAML document like [`read_every`].
///
/// # Errors
/// Every mistake in it, and what it says without them.
pub fn salvage<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Box<Salvage<T>>> {
    salvage_beside(file, text, "")
}

/// Reads one YAML document like [`salvage`]. Where a key of the whole document is missing, or was left out, its value is
/// that of `stand_ins`, a document of its own, so that the other keys can be judged. What stands in lacks a part.
///
/// # Errors
/// As those of [`salvage`].
pub fn salvage_beside<T: DeserializeOwned>(
    file: &str,
    text: &str,
    stand_ins: &str,
) -> Result<T, Box<Salvage<T>>> {
    let first = match read(file, text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let (root, twins) = match tree(file, text) {
        Ok(root) => (root, Vec::new()),
        Err(_) => match read_despite_twins(file, text) {
            Some((root, twins)) => (root, twins),
            None => {
                return Err(Box::new(Salvage {
                    mistakes: vec![first],
                    value: None,
                    rest: Node::default(),
                    keys_left_out: BTreeSet::new(),
                    incomplete: BTreeSet::new(),
                }));
            }
        },
    };
    let mut rest = Rest {
        root,
        text,
        left_out: BTreeSet::new(),
        incomplete: BTreeSet::new(),
    };
    rest.root.forget_twins(&mut rest.incomplete);
    rest.incomplete.remove(&rest.root.part());
    let mut stand_ins = rest.stand_ins(stand_ins);
    let mut mistakes = vec![first];
    mistakes.extend(twins);
    let mut value = None;
    while mistakes.len() < MISTAKES_MAX {
        let (written, lines) = rest.written();
        let error = match read::<T>(file, &written) {
            Ok(read) => {
                value = Some(read);
                break;
            }
            Err(error) => error,
        };
        let line = error.place.map_or(0, |place| place.line);
        let at = usize::try_from(line).unwrap_or(0).checked_sub(1);
        let Some((at, line)) = at.and_then(|at| Some((at, lines.get(at)?))) else {
            break;
        };
        // A reader that misses a key names the map by one of the keys that it has: by the last one, as a rule.
        let missing = match error.about.as_deref() {
            Some(About::MissingKey(key)) => Some(key.as_str()),
            _ => None,
        };
        let wrong = missing.map_or(at, |_| line.map);
        if !missing.is_some_and(|key| rest.is_consequence(lines[wrong].place, key)) {
            let told = FileError::at(file, text, line.place, error.what.clone());
            mistakes.push(FileError {
                hint: error.hint.clone(),
                about: error.about.clone(),
                ..told
            });
        }
        let stand_in = missing.filter(|_| wrong == 0);
        if let Some(pair) = stand_in.and_then(|key| stand_ins.remove(key)) {
            rest.add(pair);
        } else if !rest.leave_out(wrong) {
            break;
        }
    }
    mistakes.sort_by(|one, other| (one.place, &one.what).cmp(&(other.place, &other.what)));
    mistakes.dedup_by(|one, other| one.place == other.place && one.what == other.what);
    let whole = rest.root.place;
    let of_whole = rest.left_out.into_iter().filter(|(map, _)| *map == whole);
    Err(Box::new(Salvage {
        mistakes,
        value,
        rest: rest.root,
        keys_left_out: of_whole.map(|(_, key)| key).collect(),
        incomplete: rest.incomplete,
    }))
}

/// What is left of a document.
struct Rest<'t> {
    root: Node,
    text: &'t str,
    /// The keys that were left out, each with the place of its map.
    left_out: BTreeSet<(Place, String)>,
    /// The places of the lists and maps that something was left out of, but for the whole document.
    incomplete: BTreeSet<Part>,
}

impl Rest<'_> {
    /// The rest as a text, and what each of its lines has.
    fn written(&self) -> (String, Vec<Line>) {
        let mut written = Written {
            source: self.text,
            text: String::new(),
            lines: Vec::new(),
        };
        written.value(&self.root);
        (written.text, written.lines)
    }

    /// The keys of this document, with what they lead to; nothing of it has a place.
    fn stand_ins(&self, text: &str) -> BTreeMap<String, (Key, Node)> {
        let YamlValue::Map(pairs) = tree("", text).unwrap_or_default().value else {
            return BTreeMap::new();
        };
        let pairs = pairs.into_iter().map(|(key, mut node)| {
            node.forget_places();
            let place = self.root.place;
            let name = key.name;
            (name.clone(), (Key { place, name }, node))
        });
        pairs.collect()
    }

    /// Adds a key to the whole document, with something that stands in for its value.
    fn add(&mut self, pair: (Key, Node)) {
        if let YamlValue::Map(pairs) = &mut self.root.value {
            self.incomplete.insert(pair.1.part());
            pairs.push(pair);
        }
    }

    /// Whether a key is missing in the map at this place because of what was left out of it.
    fn is_consequence(&self, map: Place, missing: &str) -> bool {
        let mut of_map = self.left_out.iter().filter(|(place, _)| *place == map);
        of_map.any(|(_, key)| key == missing || nearest(key, [missing]).is_some())
    }

    /// Leaves out the key or item that has this line of the written text, from 0; false for the whole document.
    fn leave_out(&mut self, line: usize) -> bool {
        let mut above = line;
        let is_part = above > 0
            && leave_out_of(
                &mut self.root,
                &mut above,
                &mut self.left_out,
                &mut self.incomplete,
            );
        self.incomplete.remove(&self.root.part());
        is_part
    }
}

/// Leaves out what is so many lines below the first one of a node, and notes every node that it was in; false, with the
/// lines that are left, if the node ends before.
fn leave_out_of(
    node: &mut Node,
    above: &mut usize,
    left_out: &mut BTreeSet<(Place, String)>,
    incomplete: &mut BTreeSet<Part>,
) -> bool {
    let (place, part) = (node.place, node.part());
    // The part, if it is one of this node's own; none, if it is below one of them.
    let mut found = None;
    match &mut node.value {
        YamlValue::Map(pairs) => {
            for (at, (key, below)) in pairs.iter_mut().enumerate() {
                *above -= 1;
                // The line of the key, or the first one of its value.
                if *above == 0 || *above == 1 {
                    left_out.insert((place, key.name.clone()));
                    found = Some(Some(at));
                    break;
                }
                *above -= 1;
                if leave_out_of(below, above, left_out, incomplete) {
                    found = Some(None);
                    break;
                }
            }
            if let Some(at) = found.flatten() {
                pairs.remove(at);
            }
        }
        YamlValue::List(items) => {
            for (at, below) in items.iter_mut().enumerate() {
                *above -= 1;
                if *above == 0 {
                    found = Some(Some(at));
                    break;
                }
                if leave_out_of(below, above, left_out, incomplete) {
                    found = Some(None);
                    break;
                }
            }
            if let Some(at) = found.flatten() {
                items.remove(at);
            }
        }
        _ => {}
    }
    if found.is_some() {
        incomplete.insert(part);
    }
    found.is_some()
}

/// A tree as a text with a line for each key and each value.
struct Written<'t> {
    /// The text that the tree was read from.
    source: &'t str,
    text: String,
    lines: Vec<Line>,
}

/// What a line of such a text has: a key, or the beginning of a value.
struct Line {
    place: Place,
    /// The line of the map that has this key; of a value, its own one. From 0.
    map: usize,
}

impl Written<'_> {
    /// Notes what the line that begins here has; the result is its number.
    fn line(&mut self, place: Place, map: usize) -> usize {
        self.lines.push(Line { place, map });
        self.lines.len() - 1
    }

    fn value(&mut self, node: &Node) {
        let own = self.line(node.place, self.lines.len());
        match &node.value {
            YamlValue::List(items) => {
                self.text.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.text.push_str(if at == 0 { "\n" } else { "\n, " });
                    self.value(item);
                }
                self.text.push(']');
            }
            YamlValue::Map(pairs) => {
                self.text.push('{');
                for (at, (key, below)) in pairs.iter().enumerate() {
                    self.text.push_str(if at == 0 { "\n" } else { "\n, " });
                    self.line(key.place, own);
                    self.text.push_str(&in_flow(&key.name));
                    self.text.push_str(":\n ");
                    self.value(below);
                }
                self.text.push('}');
            }
            YamlValue::Text(text) => self.text.push_str(&in_flow(text)),
            YamlValue::Null => self.text.push_str("null"),
            YamlValue::Truth(truth) => self.text.push_str(if *truth { "true" } else { "false" }),
            // As the file has it: `0x15b3` is a number, and `1.10` may be a version.
            YamlValue::Whole(_) | YamlValue::Number(_) => {
                let token = self.token(node.place).unwrap_or_else(|| node.to_string());
                self.text.push_str(&token);
            }
        }
    }

    /// The plain scalar at a place of the source; `None` for an alias.
    fn token(&self, place: Place) -> Option<String> {
        let above = usize::try_from(place.line).ok()?.checked_sub(1)?;
        let before = usize::try_from(place.column).ok()?.checked_sub(1)?;
        let chars = self.source.lines().nth(above)?.chars().skip(before);
        let token: String = chars.take_while(|c| is_plain(*c) || *c == '+').collect();
        (!token.is_empty()).then_some(token)
    }
}

/// Whether a character needs no quotes wherever it stands behind a letter or a digit.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c)
}

/// A text as a scalar of a flow collection; a word stays plain, so that a key can be a number.
fn in_flow(text: &str) -> String {
    if text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rstest::rstest;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read is looked at")]
    struct Machine {
        name: String,
        #[serde(default)]
        ports: Vec<Port>,
        #[serde(default)]
        cpus: BTreeMap<u8, String>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only whether it can be read is looked at")]
    struct Port {
        number: u16,
        kind: Kind,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Ib,
        Eth,
    }

    #[test]
    fn the_first_item_of_a_list_is_whole_although_the_list_lacks_another() {
        let text = "name: a\nports:\n  - number: 1\n    kind: ib\n  - { number: x, kind: ib }\n";
        let salvage = salvage::<Machine>("m.yaml", text).unwrap_err();
        let is_whole = |keys: &str| {
            let keys: Vec<String> = keys.split(' ').map(str::to_owned).collect();
            salvage.is_whole(&keys)
        };
        assert!(is_whole("ports 0") && is_whole("ports 0 kind"));
        assert!(!is_whole("ports"));
    }

    #[test]
    fn a_number_that_is_infinite_hides_nothing_beside_a_key_that_stands_twice() {
        let text = "a: .inf\nb: 1\nb: 2\nc: many\n";
        let mistakes = read_every::<BTreeMap<String, f64>>("m.yaml", text).unwrap_err();
        let lines: BTreeSet<u32> = mistakes
            .iter()
            .filter_map(|it| Some(it.place?.line))
            .collect();
        // That it is infinite is for the reader of the value to judge.
        assert_eq!(lines, BTreeSet::from([3, 4]));
    }

    #[rstest]
    #[case::two_keys("name: a\nprots: []\ncups: {}\n", &["2:1: unknown key `prots`", "3:1: unknown key `cups`"])]
    #[case::of_two_items(
        "name: a\nports:\n  - { number: x, kind: ib }\n  - { number: 0x15b3, kind: eth }\n  - { number: 2, kind: eht }\n",
        &["3:15: this cannot be read as a whole number", "5:24: unknown word `eht`"]
    )]
    #[case::a_misspelt_key_is_not_missing_too(
        "nmae: a\nports:\n  - { nubmer: 1, kind: ib }\n  - { number: 1 }\n",
        &["1:1: unknown key `nmae`", "3:7: unknown key `nubmer`", "4:7: key `kind` is missing"]
    )]
    #[case::a_key_is_missing_because_its_value_is_wrong(
        "cpus: {}\nname: [1]\nports:\n  - { kind: ib, number: x }\n  - { kind: ib }\n",
        &["2:7: ", "4:25: ", "5:7: key `number` is missing"]
    )]
    #[case::a_key_that_is_a_number("name: a\ncpus: { 0: x, y: z }\nprots: 1\n", &["2:15: this cannot be read", "3:1: unknown key"])]
    #[case::twins("name: a\nname: b\nprots: 1\n", &["2:1: duplicate key `name`", "3:1: unknown key `prots`"])]
    #[case::no_yaml("name: [a\nprots: 1\n", &["1:7: "])]
    #[case::texts_with_marks("name: \"a: \\\"b\\\"\\t#\"\nprots: 1\ncups: 1\n", &["2:1: unknown", "3:1: unknown"])]
    #[case::one("name: a\nports: 3\n", &["2:8: "])]
    fn every_mistake_is_told_with_its_place(#[case] text: &str, #[case] expected: &[&str]) {
        let told = read_every::<Machine>("m.yaml", text).unwrap_err();
        let told: Vec<String> = told.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            let expected = format!("m.yaml:{expected}");
            assert!(told.starts_with(&expected), "{told} is not {expected}");
        }
    }

    #[test]
    fn each_has_its_own_line_and_hint() {
        let text = "nmae: a\nports:\n  - { number: 1, kind: eht }\n";
        let told = read_every::<Machine>("m.yaml", text).unwrap_err();
        assert_eq!(
            told[1].line.as_deref(),
            Some("  - { number: 1, kind: eht }")
        );
        assert_eq!(
            told[1].hint.as_deref(),
            Some("did you mean `eth`? allowed: `eth`, `ib`")
        );
    }

    #[rstest]
    #[case::of_another_key("name: a\nprots: 1\ncpus: { 1: x }\n", "cpus", true)]
    #[case::the_key_that_is_meant("name: a\nprots: []\n", "ports", false)]
    #[case::the_key_itself("name: a\nports: 3\n", "ports", false)]
    #[case::a_part_of_it(
        "name: a\nports: [ { number: 1, kind: eht }, { number: 1, kind: ib } ]\n",
        "ports",
        false
    )]
    #[case::an_item_without_mistake(
        "name: a\nports: [ { number: 1, kind: ib, x: 1 }, { number: 1, kind: ib } ]\n",
        "ports 1",
        true
    )]
    #[case::an_item_with_one(
        "name: a\nports: [ { number: 1, kind: ib, x: 1 }, { number: 1, kind: ib } ]\n",
        "ports 0",
        false
    )]
    #[case::an_item_behind_one_that_is_left_out(
        "name: a\ncpus: { 1: [], 2: x }\nports: [ 1, { number: 1, kind: ib } ]\n",
        "ports 0 kind",
        true
    )]
    fn what_lacks_a_part_is_known(#[case] text: &str, #[case] keys: &str, #[case] is_whole: bool) {
        let salvage = salvage::<Machine>("m.yaml", text).unwrap_err();
        let keys: Vec<String> = keys.split(' ').map(str::to_owned).collect();
        assert!(salvage.value.is_some());
        assert_eq!(salvage.is_whole(&keys), is_whole, "{salvage:?}");
    }

    #[rstest]
    #[case::a_key_that_is_missing("nmae: a\nports: [ { number: 1, kind: ib } ]\n", "name", false)]
    #[case::another_key("nmae: a\nports: [ { number: 1, kind: ib } ]\n", "ports 0", true)]
    #[case::a_value_that_is_wrong("name: []\nports: [ { number: 1, kind: ib } ]\n", "name", false)]
    #[case::twins("name: a\nname: b\ncpus: {}\n", "name", false)]
    #[case::below_twins(
        "name: a\nports: [ { number: 1, number: 2, kind: ib } ]\n",
        "ports",
        false
    )]
    fn what_stands_in_for_a_key_is_not_whole(
        #[case] text: &str,
        #[case] keys: &str,
        #[case] is_whole: bool,
    ) {
        let salvage = salvage_beside::<Machine>("m.yaml", text, "name: x\n").unwrap_err();
        let keys: Vec<String> = keys.split(' ').map(str::to_owned).collect();
        assert!(salvage.value.is_some(), "{salvage:?}");
        assert_eq!(salvage.mistakes.len(), 1, "{salvage:?}");
        assert_eq!(salvage.is_whole(&keys), is_whole, "{salvage:?}");
    }

    #[test]
    fn a_text_without_mistakes_is_read() {
        let read = read_every::<Machine>("m.yaml", "name: a\ncpus: { 0: x }\n").unwrap();
        assert_eq!(read.name, "a");
    }

    proptest::proptest! {
        #[test]
        fn the_first_mistake_is_always_among_them(text in "[a-z:\\n \\[\\]{},\"-]{0,80}") {
            if let Err(first) = read::<Machine>("any.yaml", &text) {
                let every = read_every::<Machine>("any.yaml", &text).unwrap_err();
                proptest::prop_assert!(every.contains(&first), "{first:?} is not among {every:?}");
            }
        }
    }
}
