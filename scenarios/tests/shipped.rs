//! The suite as it ships: every file is in the list, can be read, and is told somewhere.

use std::collections::BTreeSet;
use std::path::Path;

use platforms::{NodeName, Platforms};
use scenarios::{Unfit, read, shipped};

#[test]
fn every_file_of_the_suite_is_in_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite");
    let mut files = BTreeSet::new();
    for family in std::fs::read_dir(&root).expect("the suite's folder is there") {
        let family = family.expect("a readable folder");
        for file in std::fs::read_dir(family.path()).expect("families are folders") {
            let name = file.expect("a readable folder").file_name();
            files.insert(format!(
                "{}/{}",
                family.file_name().display(),
                name.display()
            ));
        }
    }
    let listed: BTreeSet<String> = shipped()
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    assert_eq!(listed, files);
    assert!(
        shipped().is_sorted_by_key(|(name, _)| *name),
        "the list is in order of name"
    );
}

#[test]
fn every_shipped_scenario_is_told_on_some_platform_and_wrong_on_none() {
    let platforms = Platforms::shipped();
    let node = NodeName::from("node-a");
    for (name, text) in shipped() {
        let scenario = read(name, text).unwrap_or_else(|error| panic!("{error}"));
        let mut told = 0;
        let mut reasons = Vec::new();
        for (platform, machine) in platforms.iter() {
            match scenario.in_world(&node, machine) {
                Ok(_) => told += 1,
                Err(Unfit::NotApplicable { reason }) => reasons.push(reason),
                Err(Unfit::Wrong(error)) => panic!("{name} on {platform}: {error}"),
            }
        }
        assert!(told > 0, "{name} is told nowhere:\n{}", reasons.join("\n"));
    }
}

#[test]
fn every_shipped_scenario_names_the_clauses_it_covers() {
    for (name, text) in shipped() {
        let scenario = read(name, text).unwrap_or_else(|error| panic!("{error}"));
        assert!(!scenario.covers().is_empty(), "{name} covers no clause");
        assert_eq!(format!("{}.yaml", scenario.name()), *name);
    }
}
