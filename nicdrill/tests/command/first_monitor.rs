//! `docs/first-monitor.md` is true: its commands print what it shows.
//!
//! `nicdrill init` is compared everywhere. The other commands need grpcio, so the gate's field part runs them.

use crate::{init::python_in_the_field, scratch::Scratch};

const PAGE: &str = include_str!("../../../docs/first-monitor.md");

/// The commands of the page in order, each with the lines that it shows.
fn shown() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for block in PAGE.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").expect("a block is closed");
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => commands.push((command, Vec::new())),
                None => commands.last_mut().expect("a command").1.push(line),
            }
        }
    }
    commands
}

/// A line without the time that a run took.
fn timeless(line: &str) -> &str {
    match line.rsplit_once("; ") {
        Some((line, time)) if time.ends_with(" s") => line,
        _ => line,
    }
}

/// Checks that a command printed these lines; `…` stands for lines that are left out.
fn check(command: &str, lines: &[&str], printed: &str) {
    let mut rest: Vec<&str> = printed.lines().map(timeless).collect();
    let lines: Vec<&str> = lines.iter().copied().map(timeless).collect();
    let mut parts = lines.split(|line| *line == "…").peekable();
    let first = parts.next().expect("a split has a part");
    assert!(rest.starts_with(first), "{command}:\n{printed}");
    rest.drain(..first.len());
    match parts.next() {
        None => assert!(rest.is_empty(), "{command}:\n{printed}"),
        Some(last) => assert!(rest.ends_with(last), "{command}:\n{printed}"),
    }
    assert!(parts.next().is_none(), "one `…` in an output");
}

#[test]
fn the_page_shows_what_init_prints() {
    let scratch = Scratch::new();
    let (command, lines) = &shown()[0];
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    check(command, lines, &ran.out);
    let next: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("  "))
        .collect();
    let of_page: Vec<String> = shown()
        .iter()
        .map(|(it, _)| it.replace(" --quiet", ""))
        .collect();
    assert!(
        next[..5].iter().all(|it| of_page.iter().any(|of| of == it)),
        "{next:?}"
    );
}

#[test]
fn the_page_shows_what_its_drills_print() {
    let Some((scratch, path)) = python_in_the_field() else {
        return;
    };
    let drills: Vec<_> = shown()
        .into_iter()
        .filter(|(command, _)| command.starts_with("nicdrill run "))
        .collect();
    assert_eq!(drills.len(), 2);
    for (command, lines) in drills {
        let drill = command.replacen("nicdrill", "\"$NICDRILL\"", 1);
        let ran = scratch.shell(&format!("cd m && PATH={path} {drill}"));
        check(command, &lines, &format!("{}{}", ran.out, ran.err));
    }
}
