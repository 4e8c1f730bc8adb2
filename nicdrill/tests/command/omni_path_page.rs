//! `docs/omni-path.md` is true: its commands print what it shows.

use crate::scratch::Scratch;

const PAGE: &str = include_str!("../../../docs/omni-path.md");

/// A block's first line is the command; the lines with `$` below it are printed by it. The page has no
/// spaces at the ends of lines, which the tools have.
#[test]
fn the_page_on_omni_path_shows_what_its_commands_print() {
    let scratch = Scratch::new();
    let blocks = PAGE.split("```console\n$ ").skip(1);
    let mut ran_commands = 0;
    for block in blocks {
        let (block, _) = block.split_once("\n```").expect("a block is closed");
        let (command, shown) = block.split_once('\n').expect("a command and its output");
        let ran = scratch.shell(&command.replacen("nicdrill", "\"$NICDRILL\"", 1));
        let printed: Vec<&str> = ran.out.lines().map(str::trim_end).collect();
        assert_eq!(printed.join("\n"), shown, "{command}: {ran}");
        ran_commands += 1;
    }
    assert_eq!(ran_commands, 9);
}
