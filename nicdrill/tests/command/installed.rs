//! What an installed command has: its version with a commit, completions and manual pages.

use std::fs;

use rstest::rstest;

use crate::scratch::Scratch;

#[test]
fn the_version_names_the_commit() {
    let ran = Scratch::new().run(&["--version"]);
    let head = concat!("nicdrill ", env!("CARGO_PKG_VERSION"), " (");
    assert!(
        ran.out.starts_with(head) && ran.out.ends_with(")\n"),
        "{ran}"
    );
}

#[rstest]
#[case::bash("bash", "bash -n completions")]
#[case::zsh("zsh", "true")]
#[case::fish("fish", "true")]
fn a_shell_completes_every_command(#[case] shell: &str, #[case] check: &str) {
    let scratch = Scratch::new();
    let ran = scratch.run(&["completions", shell]);
    assert_eq!(ran.code, 0, "{ran}");
    for command in ["run", "compare", "platform", "report"] {
        assert!(ran.out.contains(command), "{command}: {ran}");
    }
    scratch.file("completions", &ran.out);
    assert_eq!(scratch.shell(check).code, 0);
}

#[test]
fn each_command_has_a_manual_page() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run(&["man", "pages/man1"]).code, 0);
    let page = scratch.text("pages/man1/nicdrill.1");
    assert!(page.contains(".TH nicdrill 1"), "{page}");
    for command in ["run", "report-merge", "platform-show"] {
        let name = format!("pages/man1/nicdrill-{command}.1");
        assert!(scratch.text(&name).contains(".SH SYNOPSIS"), "{name}");
    }
}

#[test]
fn pages_that_cannot_be_written_are_110() {
    let scratch = Scratch::new();
    scratch.file("taken", "");
    let ran = scratch.run(&["man", "taken"]);
    assert_eq!(ran.code, 110, "{ran}");
    assert!(ran.err.contains("`taken` cannot be written"), "{ran}");
    assert!(fs::read(scratch.path("taken")).is_ok());
}
