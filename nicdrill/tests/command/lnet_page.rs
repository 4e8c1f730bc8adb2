//! `docs/lnet.md` is true: its commands print what it shows, and its story passes.

use crate::{
    page::{check, shown},
    scratch::Scratch,
};

const PAGE: &str = include_str!("../../../docs/lnet.md");

#[test]
fn the_page_on_lnet_shows_what_its_commands_print() {
    let (_, story) = PAGE.split_once("```yaml\n").expect("it has a story");
    let (story, _) = story.split_once("```").expect("the block is closed");
    let scratch = Scratch::new();
    scratch.file("hang.yaml", story);
    let commands = shown(PAGE);
    assert_eq!(commands.len(), 6);
    for (command, lines) in commands {
        let ran = scratch.shell(&command.replacen("nicdrill", "\"$NICDRILL\"", 1));
        check(command, &lines, &ran.out);
    }
    let ran = scratch.run(&["run", "hang.yaml", "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}");
}
