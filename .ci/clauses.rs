//! Compares the tests that clauses name with the tests that there are: see `.ci/clauses`.
//!
//! Standard input has cargo's messages about the test programs, the arguments are the files of clauses.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs, io,
    process::{Command, ExitCode},
};

fn main() -> ExitCode {
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for message in io::stdin().lines() {
        let message = message.expect("cargo writes UTF-8");
        if let Some((package, program)) = test_program(&message) {
            tests.entry(package).or_default().extend(listed(&program));
        }
    }
    if tests.is_empty() {
        eprintln!("cargo named no test program");
        return ExitCode::FAILURE;
    }
    let mut named = 0;
    let mut missing = 0;
    for file in env::args().skip(1) {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        for name in named_tests(&text) {
            named += 1;
            let found = name
                .split_once("::")
                .and_then(|(package, test)| Some(tests.get(package)?.contains(test)));
            if found != Some(true) {
                eprintln!("{file}: there is no test `{name}`");
                missing += 1;
            }
        }
    }
    println!("{named} tests named by clauses, {missing} missing");
    ExitCode::from(u8::from(missing > 0 || named == 0))
}

/// The package and the program of a message about a test program.
fn test_program(message: &str) -> Option<(String, String)> {
    // `target` has a member `test` too, which a program itself has: whether it may be tested.
    let (_, profile) = message.split_once("\"profile\":{")?;
    profile.split_once('}')?.0.contains("\"test\":true").then_some(())?;
    let program = value(message, "\"executable\":\"")?;
    let id = value(message, "\"package_id\":\"")?;
    let (path, version) = id.rsplit_once('#')?;
    let package = match version.split_once('@') {
        Some((name, _)) => name,
        None => path.rsplit_once('/')?.1,
    };
    Some((package.to_owned(), program.to_owned()))
}

fn value<'m>(message: &'m str, key: &str) -> Option<&'m str> {
    let (_, rest) = message.split_once(key)?;
    Some(rest.split_once('"')?.0)
}

/// Every segment of the paths of a program's tests, so that `tests::name::case_1` has `name`.
fn listed(program: &str) -> BTreeSet<String> {
    let output = Command::new(program)
        .args(["--list", "--format", "terse"])
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} lists no tests");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .flat_map(|path| path.split("::"))
        .map(str::to_owned)
        .collect()
}

/// The names in the lists `tests: [ … ]`.
fn named_tests(text: &str) -> Vec<String> {
    text.split("tests: [")
        .skip(1)
        .filter_map(|rest| rest.split_once(']'))
        .flat_map(|(names, _)| names.split(','))
        .map(|name| name.trim().to_owned())
        .collect()
}
