//! Each claim of SECURITY.md names a test that exists, and what it says of sockets that listen holds of the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test reads the repository's own files"
)]
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The items of the lists, each a sentence and its test. A test stands in backticks, with its file.
fn claims() -> Vec<(String, String)> {
    let page = text(&root().join("SECURITY.md"));
    let items = page.lines().filter_map(|line| line.strip_prefix("- "));
    let claims = items.map(|item| {
        let claim = item
            .strip_suffix('`')
            .and_then(|item| item.rsplit_once(" `"));
        let (sentence, test) = claim.unwrap_or_else(|| panic!("no test is named: {item}"));
        (sentence.to_owned(), test.to_owned())
    });
    claims.collect()
}

#[test]
fn every_sentence_names_a_test_that_exists() {
    let claims = claims();
    assert!(claims.len() > 30, "{} claims", claims.len());
    for (sentence, test) in claims {
        assert_eq!(
            sentence.matches(". ").count(),
            0,
            "two sentences: {sentence}"
        );
        assert!(sentence.ends_with('.'), "{sentence}");
        let (file, name) = test
            .split_once("::")
            .unwrap_or_else(|| panic!("no file: {test}"));
        let source = text(&root().join(file));
        let (before, _) = source
            .split_once(&format!("fn {name}("))
            .unwrap_or_else(|| panic!("there is no test `{test}`"));
        let attributes = before.rsplit("\n\n").next().unwrap_or_default();
        // Tests of one process are functions that a list of `main.rs` names.
        let is_listed = file.starts_with("harness/tests/process/");
        assert!(
            is_listed || attributes.contains("#[test]") || attributes.contains("#[rstest]"),
            "`{test}` is no test"
        );
    }
}

/// Adds the Rust sources below a folder, tests apart.
#[expect(
    clippy::disallowed_methods,
    reason = "the test reads the repository's own files"
)]
fn add_sources(folder: &Path, sources: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str());
        match name.expect("a name in UTF-8") {
            "tests" | "tests.rs" => {}
            _ if path.is_dir() => add_sources(&path, sources),
            name if name.ends_with(".rs") => sources.push(path),
            _ => {}
        }
    }
}

#[test]
fn only_these_files_listen() {
    let mut listening = BTreeSet::new();
    for name in [
        "capture",
        "fit",
        "harness",
        "monitor",
        "nicdrill",
        "simfs-fuse",
        "store",
    ] {
        let mut sources = Vec::new();
        add_sources(&root().join(name).join("src"), &mut sources);
        for source in sources {
            let listens = |line: &str| {
                let line = line.trim_start();
                let binds = ["Listener::bind(", "UdpSocket::bind(", "UnixDatagram::bind("];
                !line.starts_with("//") && binds.iter().any(|bind| line.contains(bind))
            };
            if text(&source).lines().any(listens) {
                let path = source.strip_prefix(root()).expect("a path below the root");
                listening.insert(path.display().to_string());
            }
        }
    }
    let expected = [
        // The platform connector: a socket with a path in a private mount.
        "harness/src/process/connector.rs",
        // A free port, asked at the loopback interface of a namespace of the run's own.
        "harness/src/process/network.rs",
        // A sandbox: a socket in a folder that only its user can enter.
        "harness/src/sandbox/control.rs",
        // The reference monitor's metrics and health: in a drill, in a network namespace of its own.
        "monitor/src/server.rs",
    ];
    assert_eq!(listening, expected.map(str::to_owned).into());
}
