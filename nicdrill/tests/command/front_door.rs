//! The README and docs/ci.md: what they say to type can be typed, and what they link to is there.

use std::{fs, path::Path};

use rstest::rstest;

use crate::scratch::{Scratch, can_play_processes};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const README: &str = include_str!("../../../README.md");

/// The commands of a page's blocks of shell, in order.
fn commands(page: &str) -> Vec<&str> {
    let blocks = page.split("```sh\n").skip(1);
    let blocks = blocks.map(|block| block.split_once("```").expect("a block is closed").0);
    blocks.flat_map(str::lines).collect()
}

/// `cargo` is what runs this test. The monitor that `init` writes promises nothing of its own, and judges one thing
/// wrongly on purpose; what is captured is this machine.
#[test]
fn the_commands_of_the_readme_run_in_order_as_they_are_written() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let mut ran_commands = 0;
    for command in commands(README) {
        let Some(words) = command.strip_prefix("nicdrill ") else {
            assert!(command.starts_with("cargo "), "{command}");
            continue;
        };
        let ran = scratch.shell(&format!("\"$NICDRILL\" {words}"));
        let is_judged = command.contains("--monitor my-monitor");
        let codes: &[i32] = if is_judged { &[0, 4, 100] } else { &[0] };
        assert!(codes.contains(&ran.code), "{command}: {ran}");
        ran_commands += 1;
    }
    assert_eq!(ran_commands, 9);
}

#[test]
fn the_readme_fits_a_few_screens() {
    assert!(README.lines().count() < 120);
}

#[rstest]
#[case("README.md")]
#[case("CONTRIBUTING.md")]
#[case("docs/ci.md")]
#[case("docs/output.md")]
#[case("docs/omni-path.md")]
#[case("docs/compare.md")]
#[case("docs/performance.md")]
#[case("contrib/kubernetes/README.md")]
#[case("contrib/slurm/README.md")]
fn what_a_page_links_to_is_there(#[case] page: &str) {
    let path = Path::new(ROOT).join(page);
    let text = fs::read_to_string(&path).expect("the page");
    let links = text.split("](").skip(1);
    let links = links.map(|rest| rest.split(')').next().expect("a split has a part"));
    let mut found = 0;
    for link in links.filter(|link| !link.starts_with("http")) {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let file = match file {
            "" => path.clone(),
            file => path.parent().expect("a file is in a folder").join(file),
        };
        assert!(file.exists(), "{page}: {link}");
        if !anchor.is_empty() {
            let text = fs::read_to_string(&file).expect("a page");
            let anchors = text
                .lines()
                .filter(|line| line.starts_with('#'))
                .map(anchor_of);
            assert!(anchors.into_iter().any(|of| of == anchor), "{page}: {link}");
        }
        found += 1;
    }
    assert!(found > 0, "{page}");
}

/// The anchor of a heading, as GitHub makes it.
fn anchor_of(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
