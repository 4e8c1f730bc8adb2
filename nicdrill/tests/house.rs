//! Rules of the workspace that a test can hold: which crate may name which, what a pure crate may use, that
//! clippy enforces purity, and what comes from outside: licences, sources, versions, the table of dependencies.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use cargo_metadata::{CargoOpt, Dependency, DependencyKind, Metadata, MetadataCommand, Package};
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

/// Every crate of the dependency graph on this platform, with every feature.
fn graph() -> Metadata {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .features(CargoOpt::AllFeatures)
        .other_options(["--locked", "--filter-platform", &platform].map(str::to_owned))
        .exec()
        .unwrap()
}

/// The crates of the workspace, by name.
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

/// The folder of a crate.
fn folder(package: &Package) -> PathBuf {
    let manifest = package.manifest_path.as_std_path();
    manifest.parent().unwrap().to_owned()
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

/// What a monitor reads and reports on one side, the state of the simulated world on the other.
#[test]
fn the_two_sides_share_the_terms_and_the_reader_of_files_alone() {
    let table = table();
    let side = |crates: &[&str]| {
        let mut side = BTreeSet::new();
        let mut pending: Vec<String> = crates.iter().map(|&name| name.to_owned()).collect();
        while let Some(name) = pending.pop() {
            pending.extend(table[&name].names.iter().cloned());
            side.insert(name);
        }
        side
    };
    let monitors = side(&["monitor", "zoo", "cluster", "alerts"]);
    let simulators = side(&["director", "simfs-fuse"]);
    let shared: Vec<&String> = monitors.intersection(&simulators).collect();
    assert_eq!(shared, ["files", "terms"]);
}

#[test]
fn a_pure_room_is_linked_to_the_list_of_what_it_may_not_name() {
    let list = fs::canonicalize(root().join("clippy/pure.toml")).unwrap();
    let table = table();
    for (name, package) in packages() {
        let link = folder(&package).join("clippy.toml");
        if table[&name].pure {
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
    for (name, package) in packages() {
        let manifest = fs::read_to_string(package.manifest_path).unwrap();
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "`{name}/Cargo.toml`"
        );
    }
}

#[test]
fn every_source_file_opens_with_a_module_comment() {
    for package in packages().values() {
        for path in rust_files(folder(package).join("src")) {
            let text = fs::read_to_string(&path).unwrap();
            assert!(
                text.starts_with("//! ") || text.starts_with("// @generated "),
                "{} opens without `//!`",
                path.display()
            );
        }
    }
}

/// Cargo compiles a library again for its own tests, and asks rustdoc for its examples: rooms without any switch that off.
#[test]
fn a_room_that_switches_a_kind_of_tests_off_has_none_of_that_kind() {
    for package in packages().values() {
        let Some(library) = package.targets.iter().find(|target| target.is_lib()) else {
            continue;
        };
        for path in rust_files(folder(package).join("src")) {
            let text = fs::read_to_string(&path).unwrap();
            let has_tests = text.contains("#[cfg(test)]") || text.contains("#[test]");
            // A block without a language is Rust.
            let fences = text
                .lines()
                .filter_map(|line| line.trim_start().split_once("```"));
            let opening = fences
                .filter(|(slashes, _)| slashes.starts_with("//"))
                .step_by(2);
            let has_examples = opening
                .map(|(_, language)| language)
                .any(|language| language.is_empty() || language.starts_with("rust"));
            let path = path.display();
            assert!(library.test || !has_tests, "{path} has tests");
            assert!(library.doctest || !has_examples, "{path} has examples");
        }
    }
}

/// It reads files and talks to a socket; the topology is the collector's to ask for.
#[test]
fn the_monitor_starts_no_program() {
    let packages = packages();
    for member in ["checks", "monitor", "proto", "terms"] {
        for path in rust_files(folder(&packages[member]).join("src")) {
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

/// The files behind the director that name the actions of a script, and why.
const NAME_ACTIONS: [(&str, &str); 2] = [
    ("harness/src/process/probe.rs", "makes a story of its own"),
    (
        "harness/src/sandbox.rs",
        "carries actions out, without a drill",
    ),
];

/// What an action does is decided by the director, which writes it into its log, or foresees it.
#[test]
fn the_director_alone_interprets_the_actions_of_a_script() {
    let names_an_action = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        code.replace("WordKind::StepAction", "")
            .contains("StepAction")
    };
    let known: BTreeSet<String> = NAME_ACTIONS.map(|(file, _)| file.to_owned()).into();
    let found = files_outside(&["scenarios", "director"], names_an_action);
    assert_eq!(found, known);
}

/// The others ask for a protocol's facts, or for what its part of a descriptor makes of what is said.
#[test]
fn no_room_but_observe_tells_protocols_apart() {
    let names_one = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let mut named = code.match_indices("Protocol::");
        named.any(|(at, path)| {
            let is_whole = !code[..at].ends_with(char::is_alphanumeric);
            let rest = &code[at + path.len()..];
            let is_function = rest.starts_with(char::is_lowercase) || rest.starts_with("ALL");
            is_whole && !is_function
        })
    };
    assert_eq!(files_outside(&["observe"], names_one), BTreeSet::new());
}

/// The source files of all rooms but these, without tests, of which something holds; by their paths in the workspace.
fn files_outside(rooms: &[&str], holds: impl Fn(&Path) -> bool) -> BTreeSet<String> {
    let packages = packages();
    let others = packages
        .iter()
        .filter(|(name, _)| !rooms.contains(&&***name));
    let files = others.flat_map(|(_, package)| rust_files(folder(package).join("src")));
    let is_test = |path: &Path| {
        let mut parts = path.components();
        parts.any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")))
    };
    files
        .filter(|path| !is_test(path) && holds(path))
        .map(|path| {
            let root = fs::canonicalize(root()).unwrap();
            let path = fs::canonicalize(path).unwrap();
            path.strip_prefix(root).unwrap().display().to_string()
        })
        .collect()
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

/// What the licence of a dependency may say.
const LICENCES: [&str; 22] = [
    "(Apache-2.0 OR MIT) AND BSD-3-Clause",
    "(MIT OR Apache-2.0) AND Unicode-3.0",
    "Apache-2.0",
    "Apache-2.0 / MIT",
    "Apache-2.0 AND ISC",
    "Apache-2.0 OR ISC OR MIT",
    "Apache-2.0 OR BSL-1.0 OR MIT",
    "Apache-2.0 OR MIT",
    "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
    "Apache-2.0/MIT",
    "BSD-2-Clause OR Apache-2.0 OR MIT",
    "BSD-3-Clause",
    "BSD-3-Clause OR MIT OR Apache-2.0",
    "ISC",
    "MIT",
    "MIT AND BSD-3-Clause",
    "MIT OR Apache-2.0",
    "MIT/Apache-2.0",
    "Unlicense OR MIT",
    "Unlicense/MIT",
    "Zlib",
    "Zlib OR Apache-2.0 OR MIT",
];

/// Crates that are built in several versions, and who asks for another than the newest.
const DUPLICATES: [(&str, &str); 11] = [
    ("base64", "tonic and postgres-protocol ask for 0.22"),
    ("bit-vec", "yasna, of rcgen, asks for 0.9"),
    (
        "const-oid",
        "x509-cert, of tokio-postgres-rustls, asks for 0.9",
    ),
    ("fallible-iterator", "postgres asks for 0.2"),
    ("getrandom", "ring asks for 0.2"),
    ("hashbrown", "petgraph, of prost-build, asks for 0.15"),
    ("itertools", "criterion asks for 0.13"),
    ("syn", "prost's and tonic's generators and rstest ask for 2"),
    ("thiserror", "loona-hpack asks for 1"),
    ("thiserror-impl", "loona-hpack asks for 1"),
    ("unicode-width", "miette, of protox, asks for 0.1"),
];

#[test]
fn every_dependency_has_an_allowed_licence_and_comes_from_the_registry() {
    for package in graph().packages {
        let name = &package.name;
        let licence = package.license.unwrap_or_default();
        assert!(LICENCES.contains(&&*licence), "{name}: `{licence}`");
        if let Some(source) = package.source {
            assert!(source.is_crates_io(), "{name}: {source}");
        }
    }
}

#[test]
fn a_crate_is_built_in_one_version_unless_the_list_says_why_not() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in graph().packages {
        let known = versions.entry(package.name.to_string()).or_default();
        known.insert(package.version.to_string());
    }
    versions.retain(|_, versions| versions.len() > 1);
    let duplicates: Vec<&str> = versions.keys().map(String::as_str).collect();
    assert_eq!(duplicates, DUPLICATES.map(|(name, _)| name));
}

/// Every dependency of a crate of the workspace that comes from outside.
fn from_outside() -> impl Iterator<Item = (Package, Dependency)> {
    let packages = packages().into_values();
    let dependencies = packages.flat_map(|package| {
        let dependencies = package.dependencies.clone();
        dependencies
            .into_iter()
            .map(move |dependency| (package.clone(), dependency))
    });
    dependencies.filter(|(_, dependency)| dependency.path.is_none())
}

#[test]
fn the_table_of_dependencies_names_each_with_its_version() {
    let asked: BTreeSet<String> = from_outside()
        .map(|(_, dependency)| {
            let version = dependency.req.to_string();
            format!("{} {}", dependency.name, version.trim_start_matches('^'))
        })
        .collect();
    let page = fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ")).skip(1);
    let rendered: Vec<String> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert!(
                cells.len() == 6 && !cells[3].is_empty() && !cells[4].is_empty(),
                "{row}"
            );
            format!("{} {}", cells[1], cells[2])
        })
        .collect();
    assert_eq!(rendered, asked.into_iter().collect::<Vec<_>>());
}

#[test]
fn every_dependency_is_named_by_a_source_file() {
    let mut unused = Vec::new();
    for (package, dependency) in from_outside() {
        let folders: &[&str] = match dependency.kind {
            DependencyKind::Development => &["src", "tests", "benches"],
            DependencyKind::Build => &["build.rs"],
            _ => &["src"],
        };
        let ident = dependency.name.replace('-', "_");
        let folder = folder(&package);
        let is_named = folders
            .iter()
            .flat_map(|part| rust_files(folder.join(part)))
            .any(|file| fs::read_to_string(file).unwrap().contains(&ident));
        if !is_named {
            unused.push(format!("{}: {}", package.name, dependency.name));
        }
    }
    assert!(unused.is_empty(), "{unused:#?}");
}

/// The Rust files in a folder and below it, or the file itself.
fn rust_files(path: PathBuf) -> Vec<PathBuf> {
    let (mut files, mut pending) = (Vec::new(), vec![path]);
    while let Some(path) = pending.pop() {
        if let Ok(entries) = fs::read_dir(&path) {
            pending.extend(entries.map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ending == "rs") && path.exists() {
            files.push(path);
        }
    }
    files
}
