//! `docs/first-monitor.md` is true: its commands print what it shows.
//!
//! `nicdrill init` is compared everywhere. The other commands need grpcio, so the gate's field part runs them.

use crate::{
    init::python_in_the_field,
    page::{check, shown},
    scratch::Scratch,
};

const PAGE: &str = include_str!("../../../docs/first-monitor.md");

#[test]
fn the_page_shows_what_init_prints() {
    let scratch = Scratch::new();
    let (command, lines) = &shown(PAGE)[0];
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    check(command, lines, &ran.out);
    let next: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("  "))
        .collect();
    let of_page: Vec<String> = shown(PAGE)
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
    // Between the two drills the descriptor is edited.
    let drills: Vec<_> = shown(PAGE)
        .into_iter()
        .filter(|(command, _)| command.starts_with("nicdrill run ") || command.starts_with("sed "))
        .collect();
    assert_eq!(drills.len(), 3);
    for (command, lines) in drills {
        let drill = command.replacen("nicdrill", "\"$NICDRILL\"", 1);
        let ran = scratch.shell(&format!("cd m && PATH={path} {drill}"));
        check(command, &lines, &format!("{}{}", ran.out, ran.err));
    }
}
