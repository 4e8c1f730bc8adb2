//! Words of our own that were replaced by terms of the field stay out of identifiers and file names.
//!
//! Comments, texts and data are not searched.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};

/// Segments of identifiers, singular, each of one or more words.
const RETIRED: [&str; 22] = [
    "animal",
    "chair",
    "court",
    "debt",
    "deed",
    "desk",
    "ears",
    "eyes",
    "fared",
    "furnish",
    "glance",
    "happening",
    "howmanieth",
    "inquiry",
    "let_up",
    "relent",
    "saying",
    "seat",
    "species",
    "station",
    "teller",
    "underway",
];

#[test]
fn no_identifier_has_a_retired_segment() {
    let mut found = BTreeSet::new();
    for file in sources() {
        let text = fs::read_to_string(&file).expect("a source is readable");
        let tokens: TokenStream = text.parse().expect("a source is Rust");
        let mut identifiers = BTreeSet::new();
        collect(tokens, &mut identifiers);
        found.extend(
            identifiers
                .into_iter()
                .filter(|identifier| is_retired(identifier))
                .map(|identifier| (file.clone(), identifier)),
        );
    }
    assert!(
        found.is_empty(),
        "docs/glossary.md has the terms: {found:#?}"
    );
}

#[test]
fn no_file_name_has_a_retired_segment() {
    let found: Vec<PathBuf> = sources()
        .into_iter()
        .filter(|file| {
            file.file_stem()
                .is_some_and(|stem| is_retired(&stem.to_string_lossy()))
        })
        .collect();
    assert!(
        found.is_empty(),
        "docs/glossary.md has the terms: {found:#?}"
    );
}

#[test]
fn a_retired_word_counts_as_a_whole_segment_alone() {
    for retired in [
        "deed",
        "two_deeds",
        "MonitorDeed",
        "a_port_is_let_up_again",
        "EventSaid",
    ] {
        assert!(is_retired(retired), "{retired}");
    }
    for lawful in [
        "indeed",
        "seated",
        "outlet_upper",
        "said",
        "stationary",
        "appears",
    ] {
        assert!(!is_retired(lawful), "{lawful}");
    }
}

/// Every Rust file of the workspace.
fn sources() -> BTreeSet<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> = fs::read_dir(&root)
        .expect("the workspace is readable")
        .map(|entry| entry.expect("an entry is readable").path())
        .filter(|path| path.join("Cargo.toml").is_file())
        .collect();
    let mut files = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder is readable") {
            let path = entry.expect("an entry is readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.insert(path);
            }
        }
    }
    assert!(!files.is_empty(), "the workspace has sources");
    files
}

fn collect(tokens: TokenStream, identifiers: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(identifier) => {
                identifiers.insert(identifier.to_string());
            }
            TokenTree::Group(group) => collect(group.stream(), identifiers),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Whether an identifier contains a retired segment, as `snake_case` or `CamelCase`, singular or plural, or is
/// the name of a type that ends in `Said`.
fn is_retired(identifier: &str) -> bool {
    let mut segments = String::from("_");
    let mut before = '_';
    for letter in identifier.chars() {
        if letter.is_uppercase() && before.is_lowercase() {
            segments.push('_');
        }
        segments.extend(letter.to_lowercase());
        before = letter;
    }
    segments.push('_');
    let is_type = identifier.starts_with(char::is_uppercase);
    is_type && segments.ends_with("_said_")
        || RETIRED.iter().any(|word| {
            segments.contains(&format!("_{word}_")) || segments.contains(&format!("_{word}s_"))
        })
}
