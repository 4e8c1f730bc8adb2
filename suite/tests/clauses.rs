//! Every clause is covered: by a scenario that ships, or by a test that the clause names as `crate::test`.
//! That those tests exist is checked by `.ci/clauses`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use scenarios::{Clauses, read};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test reads the repository's own files"
)]
fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn clauses() -> Clauses {
    Clauses::read(&suite::clauses()).unwrap_or_else(|error| panic!("{error}"))
}

/// The clauses that the shipped scenarios list.
fn named_in_scenarios() -> BTreeSet<String> {
    let clauses = clauses();
    let mut named = BTreeSet::new();
    for (file, story) in suite::scenarios() {
        let scenario = read(file, story).unwrap_or_else(|error| panic!("{error}"));
        clauses
            .check(&scenario)
            .unwrap_or_else(|error| panic!("{error}"));
        named.extend(scenario.covers().iter().cloned());
    }
    named
}

#[test]
fn no_clause_is_uncovered() {
    let named = named_in_scenarios();
    let clauses = clauses();
    let uncovered: Vec<&str> = clauses
        .iter()
        .filter(|clause| clause.deferred.is_none())
        .filter(|clause| clause.tests.is_empty() && !named.contains(&clause.id))
        .map(|clause| clause.id.as_str())
        .collect();
    assert!(
        uncovered.is_empty(),
        "neither a scenario nor a test covers\n{}\n",
        uncovered.join("\n")
    );
}

/// The patches of the reference monitor, with their texts, by name.
#[expect(
    clippy::disallowed_methods,
    reason = "the test reads the repository's own files"
)]
fn patches() -> BTreeMap<String, String> {
    let folder = root().join("zoo/patches");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{error}"));
    let paths = entries.map(|entry| entry.unwrap_or_else(|error| panic!("{error}")).path());
    let patches = paths.filter(|path| path.extension().is_some_and(|of| of == "patch"));
    let name = |path: &Path| {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into()
    };
    patches.map(|path| (name(&path), text(&path))).collect()
}

/// `zoo/patches/run` plays them; what it needs is checked here, so that a patch does not rot unseen.
#[test]
fn a_patch_breaks_the_clauses_that_name_it_and_names_scenarios_that_cover_them() {
    let mut covers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, story) in suite::scenarios() {
        let scenario = read(file, story).unwrap_or_else(|error| panic!("{error}"));
        covers.insert(file.replace(".yaml", ""), scenario.covers().to_vec());
    }
    let mut breaks = BTreeSet::new();
    for (name, patch) in patches() {
        for line in patch
            .lines()
            .filter_map(|line| line.strip_prefix("Breaks: "))
        {
            let mut words = line.split(' ');
            let (clause, scenario) = (words.next(), words.next());
            let both = clause.zip(scenario);
            let (clause, scenario) = both.unwrap_or_else(|| panic!("{name}: {line}"));
            let covered = covers
                .get(scenario)
                .is_some_and(|ids| ids.iter().any(|id| id == clause));
            assert!(covered, "{name}: `{scenario}` does not cover `{clause}`");
            breaks.insert((clause.to_owned(), name.clone()));
        }
    }
    let named = |clause: &scenarios::Clause| {
        let of = |patch: &String| (clause.id.clone(), patch.clone());
        clause.patches.iter().map(of).collect::<Vec<_>>()
    };
    let named: BTreeSet<_> = clauses().iter().flat_map(named).collect();
    assert_eq!(breaks, named);
}

#[test]
fn a_patch_applies_to_the_sources_of_today() {
    for (name, patch) in patches() {
        let mut parts = patch.split("\n@@ ");
        let head = parts.next().unwrap_or_default();
        let path = head.lines().find_map(|line| line.strip_prefix("+++ b/"));
        let source = text(&root().join(path.unwrap_or_else(|| panic!("{name} names no file"))));
        for hunk in parts {
            let lines = hunk.lines().skip(1);
            let before = lines.filter_map(|line| line.strip_prefix([' ', '-']));
            let before = before.collect::<Vec<_>>().join("\n");
            assert!(source.contains(&before), "{name}: not there:\n{before}");
        }
    }
}

#[test]
fn what_is_deferred_is_not_covered() {
    let named = named_in_scenarios();
    for clause in clauses().iter() {
        let is_covered = named.contains(&clause.id) || !clause.tests.is_empty();
        assert!(
            clause.deferred.is_none() || !is_covered,
            "`{}` is covered, so it is not deferred",
            clause.id
        );
    }
}

#[test]
fn the_document_has_at_least_150_clauses_that_are_drilled() {
    let clauses = clauses();
    let drilled = clauses
        .iter()
        .filter(|clause| clause.id.starts_with("lsd/") && clause.deferred.is_none());
    assert!(drilled.count() >= 150);
}

#[test]
fn an_unknown_clause_is_refused_with_its_place_and_the_nearest() {
    let story = |id: &str| {
        format!(
            "scenario: a\nwhy: b\ncovers: [ mine/of-my-own, {id} ]\n\
             timeline: [ {{ at: 1s, expect: [ nothing ] }} ]\n"
        )
    };
    let clauses = clauses();
    let check = |id: &str| {
        let scenario = read("port/try.yaml", &story(id)).unwrap_or_else(|error| panic!("{error}"));
        clauses.check(&scenario)
    };
    assert_eq!(check("lsd/3.2/down-is-fatal"), Ok(()));
    let error = check("lsd/3.2/down-is-deadly").expect_err("no such clause");
    let error = error.to_string();
    for part in [
        "port/try.yaml:3:27: there is no clause `lsd/3.2/down-is-deadly`",
        "did you mean `lsd/3.2/down-is-fatal`?",
    ] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn the_page_of_decisions_tells_every_decision() {
    let mut page = String::new();
    let clauses = clauses();
    let decisions = clauses
        .files()
        .iter()
        .find(|file| file.prefix == "decision");
    for section in &decisions.expect("the decisions ship").sections {
        let title = &section.title;
        let head = match &section.section {
            Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{number}. {title}")
            }
            _ => title.clone(),
        };
        page += &format!("\n## {head}\n\n");
        for clause in &section.clauses {
            page += &format!("- {} `{}`\n", clause.says, clause.id);
        }
    }
    let document = text(&root().join("docs/decisions.md"));
    let (_, rest) = document
        .split_once("<!-- decisions -->\n")
        .expect("the list's beginning is marked");
    let (list, _) = rest
        .split_once("<!-- /decisions -->")
        .expect("the list's end is marked");
    assert!(
        list == page,
        "the list in docs/decisions.md is another; it should be:\n{page}"
    );
}

#[test]
fn the_nearest_is_a_misspelling_or_shares_words() {
    let clauses = clauses();
    let near = |id| clauses.nearest(id);
    assert_eq!(near("lsd/3.2/down-is-fatl"), Some("lsd/3.2/down-is-fatal"));
    assert_eq!(
        near("lsd/3.4/when-healthy-turns-fatal"),
        Some("lsd/3.4/healthy-to-unhealthy-is-fatal")
    );
    assert_eq!(near("lsd/99/xyzzy"), None);
}

#[test]
fn every_decision_that_a_clause_names_is_a_clause() {
    let clauses = clauses();
    for clause in clauses.iter() {
        for decision in &clause.decided {
            assert!(
                clauses.get(decision).is_some(),
                "{}: `{decision}`",
                clause.id
            );
        }
    }
}
