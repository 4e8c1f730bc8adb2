//! `docs/output.md` is true: its commands print what it shows.

use crate::{
    groups::UNFAIR,
    page::{check, shown},
    scratch::Scratch,
};

const PAGE: &str = include_str!("../../../docs/output.md");

/// The commands of the page run in order, in a folder with the scenario that it names. Before the
/// comparison with an earlier run, the known deviations are removed and a scenario is added.
#[test]
fn the_page_shows_what_its_commands_print() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    let commands = shown(PAGE);
    assert_eq!(commands.len(), 5);
    for (command, lines) in commands {
        if command.contains("--baseline") {
            std::fs::remove_file(scratch.path("known.toml")).expect("it was accepted");
            scratch.file("port/unfair-too.yaml", UNFAIR);
        }
        let ran = scratch.shell(&command.replacen("nicdrill", "\"$NICDRILL\"", 1));
        check(command, &lines, &format!("{}{}", ran.out, ran.err));
    }
}
