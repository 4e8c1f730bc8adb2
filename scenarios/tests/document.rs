//! The documentation: its stories are parsed, and its list of words equals the vocabulary.

use std::path::PathBuf;

use files::About;
use platforms::{NodeName, Platforms};
use scenarios::{AtRest, Unfit, WordKind, World, read, vocabulary};

const OPEN: &str = "<!-- words -->\n";
const CLOSE: &str = "<!-- /words -->";

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/scenario.md")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test reads the documentation"
)]
fn document() -> String {
    std::fs::read_to_string(path()).expect("docs/scenario.md is there")
}

/// The stories in `yaml` code blocks.
fn stories() -> Vec<String> {
    let document = document();
    let fences = document.split("```yaml\n").skip(1);
    fences
        .map(|rest| rest.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

/// The list of words as it must be in the documentation.
fn words() -> String {
    let mut text = String::new();
    for kind in WordKind::ALL {
        let heading = kind.heading();
        let (first, rest) = heading.split_at(1);
        text += &format!("\n### {}{rest}\n\n", first.to_uppercase());
        for word in vocabulary().iter().filter(|word| word.kind == kind) {
            let takes = word.takes.as_ref();
            let takes = takes.map_or_else(String::new, |takes| format!(" ({takes})"));
            let planned = if word.built { "" } else { " *Not built yet.*" };
            text += &format!("- **`{}`**{takes}: {}{planned}", word.word, word.text);
            if let Some(example) = word.example {
                text += &format!(" `{example}`");
            }
            text += "\n";
            for (choice, meaning) in &word.choices {
                text += &format!("  - `{choice}`: {meaning}\n");
            }
            for key in &word.keys {
                text += &format!("  - with `{}` ({}): {}\n", key.word, key.takes, key.text);
            }
        }
    }
    text
}

#[test]
fn the_list_of_words_is_the_vocabulary() {
    let document = document();
    let (_, rest) = document
        .split_once(OPEN)
        .expect("the list's beginning is marked");
    let (list, _) = rest.split_once(CLOSE).expect("the list's end is marked");
    let words = words();
    let first = words
        .lines()
        .zip(list.lines())
        .find(|(ours, theirs)| ours != theirs);
    assert!(
        list == words,
        "the list in docs/scenario.md is another:\n{first:#?}\nit should be:\n{words}"
    );
}

#[test]
fn every_word_of_the_vocabulary_is_in_the_documentation() {
    let document = document();
    for word in vocabulary() {
        assert!(
            document.contains(&format!("**`{}`**", word.word)),
            "`{}` is missing",
            word.word
        );
    }
}

#[test]
fn the_eight_stories_are_told() {
    let node = NodeName::from("node-a");
    let platforms = Platforms::shipped();
    let worlds: Vec<AtRest> = suite::worlds()
        .iter()
        .map(|(file, text)| {
            let world = World::read(file, text).expect("a shipped world");
            AtRest::of_world(&world, &platforms).expect("a shipped world")
        })
        .collect();
    let mut titles = Vec::new();
    let mut refused = Vec::new();
    for story in stories() {
        let scenario = match read("docs/story.yaml", &story) {
            Ok(scenario) => scenario,
            Err(error) if error.first().about.as_deref() == Some(&About::NotBuilt) => {
                refused.push(error.first().what.clone());
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let mut somewhere = false;
        let rests = platforms
            .iter()
            .map(|(_, platform)| AtRest::new(&node, platform));
        for rest in rests.chain(worlds.iter().cloned()) {
            match scenario.at_rest(&rest) {
                Ok(_) => somewhere = true,
                Err(Unfit::NotApplicable { .. }) => {}
                Err(error) => panic!("{}: {error}", scenario.title()),
            }
        }
        assert!(somewhere, "{} is told nowhere", scenario.title());
        titles.push(scenario.title().to_owned());
    }
    assert_eq!(
        titles.len(),
        10,
        "the first example, the example of a workload and eight stories are told: {titles:?}"
    );
    assert_eq!(refused, [""; 0]);
}
