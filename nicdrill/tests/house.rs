//! The house keeps its own rules: who may name whom, which crates a pure room may use, and that
//! purity is held by clippy and not by good will.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use cargo_metadata::{DependencyKind, MetadataCommand, Package};
use serde::Deserialize;

/// A row of `clippy/rooms.toml`.
#[derive(Deserialize)]
struct Member {
    pure: bool,
    names: BTreeSet<String>,
    outside: Option<BTreeSet<String>>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn table() -> BTreeMap<String, Member> {
    toml::from_str(&fs::read_to_string(root().join("clippy/rooms.toml")).unwrap()).unwrap()
}

fn packages() -> BTreeMap<String, Package> {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap();
    metadata
        .packages
        .into_iter()
        .map(|package| (package.name.to_string(), package))
        .collect()
}

#[test]
fn every_room_stands_in_the_table_and_the_table_names_only_rooms() {
    let members: BTreeSet<String> = table().into_keys().collect();
    let found: BTreeSet<String> = packages().into_keys().collect();
    assert_eq!(found, members);
}

#[test]
fn a_room_names_exactly_the_rooms_and_crates_that_the_table_allows() {
    let table = table();
    for (name, package) in packages() {
        let member = &table[&name];
        let (ours, outside): (BTreeSet<String>, BTreeSet<String>) = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind != DependencyKind::Development)
            .map(|dependency| dependency.name.clone())
            .partition(|dependency| table.contains_key(dependency));
        assert_eq!(
            ours, member.names,
            "`{name}` names other rooms than clippy/rooms.toml allows"
        );
        if member.pure {
            let allowed = member.outside.clone().unwrap_or_default();
            assert_eq!(
                outside, allowed,
                "pure room `{name}` uses other crates than allowed"
            );
        }
    }
}

#[test]
fn a_pure_room_is_linked_to_the_list_of_what_it_may_not_name() {
    let list = fs::canonicalize(root().join("clippy/pure.toml")).unwrap();
    for (name, member) in table() {
        let link = root().join(&name).join("clippy.toml");
        if member.pure {
            assert_eq!(
                fs::canonicalize(&link).unwrap(),
                list,
                "`{name}/clippy.toml`"
            );
        } else {
            assert!(
                !link.exists(),
                "`{name}` is not pure, yet has a clippy.toml"
            );
        }
    }
}

#[test]
fn every_room_takes_the_lints_of_the_workspace() {
    for name in table().keys() {
        let manifest = fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "`{name}/Cargo.toml`"
        );
    }
}

#[test]
fn every_source_file_opens_by_saying_what_it_is() {
    for name in table().keys() {
        let mut folders = vec![root().join(name).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    assert!(
                        text.starts_with("//! "),
                        "{} opens without `//!`",
                        path.display()
                    );
                }
            }
        }
    }
}

/// It reads files and talks to a socket; the topology is the collector's to ask for.
#[test]
fn the_monitor_starts_no_program() {
    for member in ["checks", "monitor", "proto"] {
        let mut folders = vec![root().join(member).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = fs::read_to_string(&path).unwrap();
                for line in text.lines() {
                    let is_start = line.contains("process::") && line.contains("Command");
                    assert!(!is_start, "{}: {line}", path.display());
                }
                for word in ["execve", "posix_spawn", "fork("] {
                    assert!(!text.contains(word), "`{word}` in {}", path.display());
                }
            }
        }
    }
}

#[test]
fn clippy_refuses_each_item_that_a_pure_room_may_not_name() {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct List {
        disallowed_macros: Vec<Item>,
        disallowed_methods: Vec<Item>,
        disallowed_types: Vec<Item>,
    }
    #[derive(Deserialize)]
    struct Item {
        path: String,
    }
    let list: List =
        toml::from_str(&fs::read_to_string(root().join("clippy/pure.toml")).unwrap()).unwrap();
    let target = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO"))
        .args([
            "clippy",
            "--offline",
            "--quiet",
            "--message-format",
            "short",
            "--manifest-path",
        ])
        .arg(root().join("clippy/fixture/Cargo.toml"))
        .env("CARGO_TARGET_DIR", target.path())
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let reported = String::from_utf8_lossy(&output.stderr);
    let missing: Vec<String> = [
        ("macro", &list.disallowed_macros),
        ("method", &list.disallowed_methods),
        ("type", &list.disallowed_types),
    ]
    .into_iter()
    .flat_map(|(kind, items)| {
        items
            .iter()
            .map(move |item| format!("disallowed {kind} `{}`", item.path))
    })
    .filter(|refusal| !reported.contains(refusal.as_str()))
    .collect();
    assert!(missing.is_empty(), "not refused: {missing:#?}\n{reported}");
}
