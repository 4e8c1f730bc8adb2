//! `docs/omni-path.md` is true: its commands print what it shows. And what no page shows of such links.

use crate::scratch::Scratch;

const PAGE: &str = include_str!("../../../docs/omni-path.md");

/// A block's first line is the command; the lines with `$` below it are printed by it, with the spaces that the tools have
/// at the ends of lines.
#[test]
fn the_page_on_omni_path_shows_what_its_commands_print() {
    let scratch = Scratch::new();
    let blocks = PAGE.split("```console\n$ ").skip(1);
    let mut ran_commands = 0;
    for block in blocks {
        let (block, _) = block.split_once("```\n").expect("a block is closed");
        let (command, shown) = block.split_once('\n').expect("a command and its output");
        let ran = scratch.shell(&command.replacen("nicdrill", "\"$NICDRILL\"", 1));
        assert_eq!(ran.out, shown, "{command}: {ran}");
        ran_commands += 1;
    }
    assert_eq!(ran_commands, 10);
}

/// An unloaded driver has the reason 35, of whose four bits the host's end shows `Not installed`: not a module that is missing,
/// as the other end heard of the reboot.
#[test]
fn an_unloaded_driver_took_its_links_down_whatever_its_end_shows() {
    let scratch = Scratch::new();
    scratch.file(
        "own/unloaded.yaml",
        "scenario: unloaded\nwhy: an example\nworld: opa-pod\n\
         timeline:\n  - at: 0s\n    expect: [ baseline ]\n  - at: 5s\n    do: [ { driver: unload, node: host-3 } ]\n\
         until: 20s\nquiet: fold\n",
    );
    let words = [
        "link",
        "show",
        "own/unloaded",
        "--scenarios",
        "own",
        "--summary",
    ];
    let ran = scratch.run(&words);
    let lines: Vec<&str> = ran.out.lines().collect();
    let there = lines
        .iter()
        .position(|line| line.starts_with("leaf-3 port 3 "));
    let there = there.unwrap_or_else(|| panic!("no such link: {ran}"));
    assert!(lines[there].contains("  Reboot  "), "{ran}");
    assert!(lines[there - 1].contains("  Not installed  "), "{ran}");
    assert_eq!(
        lines[there + 1],
        "-> the host's port took it down: Reboot",
        "{ran}"
    );
    let host = "-> host host-3 answers and lists no device: its driver does not run";
    assert!(lines.contains(&host), "{ran}");
}

/// The end that receives over fewer lanes is named, whichever it is; its link is active.
#[test]
fn a_switch_shows_which_of_its_links_lost_lanes() {
    let scratch = Scratch::new();
    scratch.file(
        "own/lanes.yaml",
        "scenario: lanes\nwhy: an example\nworld: opa-pod\nlet: { a: { node: host-1, device: hfi1_2 }, b: { node: host-2, device: hfi1_2 } }\n\
         timeline:\n  - at: 5s\n    do: [ { lose_lanes: a, left: 3 }, { lose_lanes: b, left: 1, end: there } ]\n    expect: [ { nothing: null } ]\n",
    );
    let ran = scratch.run(&[
        "link",
        "show",
        "own/lanes",
        "--scenarios",
        "own",
        "--switch",
        "leaf-3",
    ]);
    let lost: Vec<&str> = ran
        .out
        .lines()
        .filter_map(|line| line.split_once("  Active  "))
        .filter_map(|(_, rest)| rest.split_once(" Active"))
        .map(|(_, lost)| lost.trim())
        .collect();
    let expected = [
        "host-1 hfi1_2/1 receives over 3 of 4",
        "leaf-3 port 2 receives over 1 of 4",
        "",
        "",
    ];
    assert_eq!(lost, expected, "{ran}");
}
