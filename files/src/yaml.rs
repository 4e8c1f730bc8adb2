//! Reads YAML within limits.
//!
//! [`read`] parses a text to a value. Its errors have file, line, column, the source line, what is
//! allowed there, and the nearest known key. The types reject unknown keys (`deny_unknown_fields`);
//! duplicate keys, alias bombs, deep nesting and texts above [`MAX_BYTES`] are rejected here. [`read_every`] tells every mistake,
//! not only the first. To report errors about single values, a text is read as a [`Node`].

mod refused;
mod salvage;

use serde::de::DeserializeOwned;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{
    DuplicateKeyPolicy, Error, Location, MergeKeyPolicy, NonFiniteFloatPolicy, Options,
    RequireIndent,
};

pub use self::refused::Refused;
pub use self::salvage::{Salvage, read_every, salvage, salvage_beside};
use crate::{About, FileError, Node, Place, did_you_mean};

/// The longest accepted text, in bytes (1 MiB). Chosen: hundreds of times the longest shipped file.
pub const MAX_BYTES: usize = 1024 * 1024;

/// The deepest accepted nesting of lists and maps. Chosen: the deepest shipped file has nine levels.
pub const MAX_DEPTH: usize = 32;

/// The largest accepted number of lists, maps and scalars in one text. Chosen: a platform with 34
/// devices has about 3,000.
pub const MAX_NODES: usize = 100_000;

/// The largest accepted number of uses of anchors in one text. Chosen.
pub const MAX_ALIASES: usize = 256;

impl From<Location> for Place {
    fn from(location: Location) -> Self {
        let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            line: narrow(location.line()),
            column: narrow(location.column()),
        }
    }
}

/// Reads one YAML document; `file` is the name that errors carry.
///
/// # Errors
/// A [`FileError`] if the text is not YAML, is not a `T`, has a duplicate key, or exceeds a limit.
pub fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, FileError> {
    read_by(file, text, options())
}

/// Reads one YAML document as a tree, in which a number may also be infinite or none (`.inf`, `.nan`): where such a number
/// may stand, types say.
///
/// # Errors
/// As those of [`read`].
pub fn tree(file: &str, text: &str) -> Result<Node, FileError> {
    let mut options = options();
    options.non_finite_float_policy = NonFiniteFloatPolicy::PassThrough;
    read_by(file, text, options)
}

fn read_by<T: DeserializeOwned>(file: &str, text: &str, options: Options) -> Result<T, FileError> {
    within_size(file, text)?;
    serde_saphyr::from_str_with_options(text, options).map_err(|error| rendered(file, text, &error))
}

/// Reads one YAML document although keys in it stand twice, with the mistakes that they are, in the order of the text;
/// `None` if none does, or something else is wrong. It is for further errors only: of two values neither is the right
/// one.
#[must_use]
pub fn read_despite_twins(file: &str, text: &str) -> Option<(Node, Vec<FileError>)> {
    within_size(file, text).ok()?;
    let mut options = options();
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    options.non_finite_float_policy = NonFiniteFloatPolicy::PassThrough;
    let root: Node = serde_saphyr::from_str_with_options(text, options).ok()?;
    let twins = root.twins().into_iter();
    let twins: Vec<FileError> = twins
        .map(|key| duplicate(file, text, key.place, &key.name))
        .collect();
    (!twins.is_empty()).then_some((root, twins))
}

fn within_size(file: &str, text: &str) -> Result<(), FileError> {
    if text.len() <= MAX_BYTES {
        return Ok(());
    }
    let what = format!(
        "the text has {} bytes, at most {MAX_BYTES} are read",
        text.len()
    );
    Err(FileError::new(file, Place::default(), what))
}

fn options() -> Options {
    let budget = serde_saphyr::budget! {
        max_depth: MAX_DEPTH,
        flow_nesting_limit: MAX_DEPTH,
        max_nodes: MAX_NODES,
        max_events: 3 * MAX_NODES,
        max_aliases: MAX_ALIASES,
        max_anchors: MAX_ALIASES,
        max_recorded_anchor_events: MAX_NODES,
        max_inclusion_depth: 0,
        max_total_scalar_bytes: MAX_BYTES,
    };
    serde_saphyr::options! {
        budget: budget,
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        require_indent: RequireIndent::Unchecked,
        with_snippet: false,
    }
}

fn duplicate(file: &str, text: &str, place: Place, key: &str) -> FileError {
    FileError::at(file, text, place, format!("duplicate key `{key}`")).hint("keep one of the two")
}

fn rendered(file: &str, text: &str, error: &Error) -> FileError {
    let error = error.without_snippet();
    let place = error.location().map(Place::from).unwrap_or_default();
    // A mistake in what an anchor stands for.
    let cause = match error {
        Error::AliasError { error, .. } => error,
        error => error,
    };
    let at = |what: String| FileError::at(file, text, place, what);
    let choice = |word: &str, expected: &[&'static str]| {
        did_you_mean(word, expected.iter().copied()) + &allowed(expected)
    };
    match cause {
        Error::SerdeUnknownField {
            field, expected, ..
        } => at(format!("unknown key `{field}`")).hint(choice(field, expected)),
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => at(format!("unknown word `{variant}`")).hint(choice(variant, expected)),
        Error::SerdeMissingField { field, .. } => {
            at(format!("key `{field}` is missing")).about(About::MissingKey(field.to_string()))
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => duplicate(file, text, place, key),
        Error::MultipleDocuments { .. } => at("a second YAML document begins here".to_owned())
            .hint("a file has one document: leave the line `---` out, or write two files"),
        Error::SerdeInvalidType {
            unexpected,
            expected,
            ..
        } => at(found(&unexpected.to_string(), &expected.to_string())),
        Error::SerdeInvalidValue {
            unexpected,
            expected,
            ..
        } => at(format!(
            "value {unexpected} cannot stand here, expected {expected}"
        )),
        Error::Budget { breach, .. } => {
            at(format!("the text is too large: {}", breach_text(breach)))
        }
        Error::InvalidScalar { ty, .. } => at(format!("this cannot be read as {}", kind(ty))),
        Error::Message { msg, .. } => match Refused::parts(msg) {
            (what, Some(hint)) => at(what.to_owned()).hint(hint),
            (what, None) => {
                let types = what.strip_prefix("invalid type: ");
                let types = types.and_then(|types| types.split_once(", expected "));
                at(types.map_or_else(|| what.to_owned(), |(is, wanted)| found(is, wanted)))
            }
        },
        Error::Unexpected { expected, .. } => {
            match SHAPES.iter().find(|shape| shape.0 == *expected) {
                Some((_, what, hint)) => at((*what).to_owned()).hint(*hint),
                None => at(format!("expected {expected}")),
            }
        }
        Error::NullIntoString { .. } => {
            at("nothing stands here".to_owned()).hint("write a text here")
        }
        Error::MergeKeyNotAllowed { .. } => at("a merge key (`<<`) stands here".to_owned())
            .hint("write the keys out: merge keys are no part of YAML 1.2, and are not read"),
        Error::InvalidBooleanStrict { .. } => {
            at("invalid boolean (strict mode expects true/false)".to_owned())
                .hint("write `true` or `false`")
        }
        _ => at(first_line(&error.to_string(), place)),
    }
}

/// The parser's words about the shape that a value must have, those of a file's writer, and what to write.
const SHAPES: [(&str, &str, &str); 3] = [
    (
        "string scalar",
        "a text belongs here",
        "write a text here; what begins with `{` or `[` needs quotes, such as `\"{root}\"`",
    ),
    (
        "sequence start",
        "a list belongs here",
        "write a list here: each entry on a line that begins with `- `, or all of them in brackets, `[ …, … ]`; a text with `{` or `[` needs quotes",
    ),
    (
        "mapping start",
        "keys with values belong here",
        "write keys with values here, such as `{ a: 1, b: 2 }`",
    ),
];

/// That a value is of another type than the one that belongs here, in words of a file's writer.
fn found(is: &str, wanted: &str) -> String {
    format!("found {}, expected {}", in_words(is), in_words(wanted))
}

/// The words of the library for a type, or for a value of one, for people.
fn in_words(words: &str) -> String {
    let value = |kind: &str| words.strip_prefix(kind);
    match words {
        "map" | "a map" => "keys with values".to_owned(),
        "sequence" | "a sequence" => "a list".to_owned(),
        "string" | "a string" => "a text".to_owned(),
        "unit" | "unit value" | "null" => "nothing".to_owned(),
        _ if value("struct ").is_some() => "keys with values".to_owned(),
        _ => {
            let told = [
                ("string ", "the text "),
                ("integer ", "the number "),
                ("floating point ", "the number "),
                ("boolean ", ""),
            ];
            let mut told = told
                .into_iter()
                .filter_map(|(kind, word)| Some(format!("{word}{}", value(kind)?)));
            told.next().unwrap_or_else(|| kind(words).to_owned())
        }
    }
}

fn breach_text(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Depth { .. } => format!("deeper than {MAX_DEPTH} levels"),
        BudgetBreach::Nodes { .. } => format!("more than {MAX_NODES} values"),
        BudgetBreach::Aliases { .. } => format!("more than {MAX_ALIASES} aliases"),
        other => format!("{other:?}"),
    }
}

fn allowed(expected: &[&'static str]) -> String {
    let mut words: Vec<String> = expected.iter().map(|word| format!("`{word}`")).collect();
    words.sort_unstable();
    if words.is_empty() {
        "nothing is allowed here".to_owned()
    } else {
        format!("allowed: {}", words.join(", "))
    }
}

/// The name of a Rust type for people.
fn kind(ty: &str) -> &str {
    match ty {
        "bool" => "`true` or `false`",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, not negative and not too large",
        "i8" | "i16" | "i32" | "i64" => "a whole number that is not too large",
        "f32" | "f64" => "a number",
        other => other,
    }
}

/// The first line of the library's message, without the place, which is added here.
fn first_line(text: &str, place: Place) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let behind = format!(" at line {}, column {}", place.line, place.column);
    line.strip_suffix(&behind).unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_saphyr::Spanned;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        role: String,
        #[serde(default)]
        ports: Vec<Spanned<u8>>,
    }

    fn check(text: &str, expected: &str) {
        let error = read::<Sample>("sample.yaml", text).expect_err(text);
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn an_unknown_key_names_its_place_and_the_nearest_key() {
        check(
            "role: x\nprots: [1]\n",
            "sample.yaml:2:1: unknown key `prots`\n   |\n 2 | prots: [1]\n   | ^\nhint: did you mean `ports`? allowed: `ports`, `role`",
        );
    }

    #[test]
    fn a_duplicate_key_is_refused() {
        check(
            "role: x\nrole: y\n",
            "sample.yaml:2:1: duplicate key `role`\n   |\n 2 | role: y\n   | ^\nhint: keep one of the two",
        );
    }

    #[test]
    fn values_keep_their_places() {
        let sample: Sample = read("s", "role: x\nports:\n  - 1\n  - 2\n").unwrap();
        let places: Vec<Place> = sample
            .ports
            .iter()
            .map(|port| port.referenced.into())
            .collect();
        assert_eq!(
            places,
            [Place { line: 3, column: 5 }, Place { line: 4, column: 5 }]
        );
    }

    #[test]
    fn a_text_over_the_limit_is_refused_before_it_is_parsed() {
        let text = format!("role: {}\n", "x".repeat(MAX_BYTES));
        let error = read::<Sample>("big.yaml", &text).expect_err("over the limit");
        assert!(
            error.to_string().contains("at most 1048576 are read"),
            "{error}"
        );
    }

    #[test]
    fn an_alias_bomb_ends_in_an_error() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x]\n");
        for level in 1..20 {
            let below = format!("*a{}", level - 1);
            text += &format!("a{level}: &a{level} [{}]\n", vec![below; 8].join(", "));
        }
        read::<std::collections::BTreeMap<String, Vec<String>>>("bomb.yaml", &text)
            .expect_err("a bomb");
    }

    #[test]
    fn a_deep_nest_is_refused() {
        let text = format!("{}{}", "[".repeat(500), "]".repeat(500));
        read::<Sample>("deep.yaml", &text).expect_err("too deep");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in ".{0,200}") {
            if let Err(error) = read::<Sample>("any.yaml", &text) {
                proptest::prop_assert!(!error.to_string().is_empty());
            }
        }
    }

    #[derive(Debug, serde::Deserialize)]
    struct Started {
        #[expect(dead_code, reason = "only whether it can be read is looked at")]
        command: Vec<String>,
    }

    #[test]
    fn a_value_of_another_shape_gets_a_hint_in_words_of_the_file() {
        let hint = |text| read::<Started>("m.yaml", text).unwrap_err().hint.unwrap();
        assert!(hint("command: [a, {root}]\n").contains("needs quotes"));
        assert!(hint("command: ./mon.py --root={root}\n").contains("write a list"));
    }

    #[test]
    fn a_value_of_another_shape_is_told_in_words_of_the_file() {
        let what = |text| read::<Started>("m.yaml", text).unwrap_err().what;
        assert_eq!(what("command: ./mon.py\n"), "a list belongs here");
        assert_eq!(what("command: { a: 1 }\n"), "a list belongs here");
        assert_eq!(what("[ a ]\n"), "keys with values belong here");
    }

    #[test]
    fn types_are_told_in_words_of_the_file() {
        let told = |is, wanted| found(is, wanted);
        assert_eq!(
            told("map", "a string"),
            "found keys with values, expected a text"
        );
        assert_eq!(
            told("sequence", "struct Says"),
            "found a list, expected keys with values"
        );
        assert_eq!(
            told("string \"x\"", "bool"),
            "found the text \"x\", expected `true` or `false`"
        );
        assert_eq!(
            told("integer `3`", "`silent`, or a map"),
            "found the number `3`, expected `silent`, or a map"
        );
    }
}
