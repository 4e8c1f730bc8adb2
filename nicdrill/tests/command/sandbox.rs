//! `nicdrill shell` and `nicdrill do`: the fake tree as the host's `/sys`, and faults from inside and from outside.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
};

use crate::{
    confine::{User, run_as},
    scratch::{NICDRILL, Ran, Scratch, can_play_processes},
};

fn shell(scratch: &Scratch, script: &str) -> Ran {
    let words = ["shell", "h100-oci", "--", "/bin/sh", "-c", script];
    scratch.run_with(&words, &[("NICDRILL", NICDRILL)])
}

#[test]
fn a_program_in_a_shell_sees_the_tree_and_what_is_done() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let ran = shell(
        &scratch,
        "cat /sys/class/infiniband/mlx5_0/ports/1/state
         $NICDRILL do cut mlx5_0/1
         cat /sys/class/infiniband/mlx5_0/ports/1/state
         $NICDRILL do remove mlx5_1
         ls /sys/class/infiniband | grep -c -x mlx5_1
         $NICDRILL do undo
         until [ -e /sys/class/infiniband/mlx5_1 ]; do :; done
         $NICDRILL do status
         exit 7",
    );
    assert_eq!(ran.code, 7, "{ran}");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(
        lines[..3],
        ["4: ACTIVE", "done: cut mlx5_0/1", "1: DOWN"],
        "{ran}"
    );
    assert_eq!(lines[3..5], ["done: remove mlx5_1", "0"], "{ran}");
    assert!(lines[5].starts_with("undone: { remove: "), "{ran}");
    assert!(
        ran.out.contains("ago: { cut: { name: mlx5_0, port: 1 } }"),
        "{ran}"
    );
}

#[test]
fn what_was_done_is_saved_as_a_scenario_that_can_be_shown() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let ran = shell(
        &scratch,
        "mkdir -p mine && $NICDRILL do cut mlx5_0/1 && $NICDRILL do flap mlx5_1 times 2 && $NICDRILL do remove mlx5_2 && $NICDRILL do --save mine/story.yaml",
    );
    assert_eq!(ran.code, 0, "{ran}");
    let ran = scratch.run(&[
        "show",
        "--scenarios",
        "mine/story.yaml",
        "mine/story@h100-oci",
    ]);
    // The reference monitor reports what was done, which the story does not expect yet.
    assert_eq!(ran.code, 100, "{ran}\n{}", scratch.text("mine/story.yaml"));
    assert!(ran.out.contains("NIC=mlx5_0 NICPort=1"), "{ran}");
}

/// The place of an error in a line of the scenario language means nothing to somebody who typed other words.
#[test]
fn a_word_that_is_wrong_is_named() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let typed = [
        (
            "cutt mlx5_0/1",
            "unknown verb `cutt`\nhint: did you mean `cut`?",
        ),
        (
            "flap mlx5_0/1 times x",
            "`x`: found a text, expected a whole number",
        ),
        (
            "flap mlx5_0/1 down 5",
            "duration `5` without a unit\nhint: write a number and a unit",
        ),
        (
            "cut mlx5_99",
            "unknown handle `mlx5_99`\nhint: did you mean `mlx5_9`?",
        ),
        (
            "cut mlx5_0/9",
            "unknown port `mlx5_0/9`\nhint: `mlx5_0` has `mlx5_0/1`",
        ),
        ("set mlx5_0/1 state UPP", "unknown state `UPP`"),
        ("driver unlod", "`unlod`\nhint: did you mean `unload`?"),
        ("cut", "`cut` needs what it acts on"),
        ("cut: mlx5_77", "unknown handle `mlx5_77`"),
    ];
    let script: String = typed
        .map(|(line, _)| format!("$NICDRILL do '{line}' 2>&1; echo ---\n"))
        .concat();
    let ran = shell(&scratch, &script);
    let told: Vec<&str> = ran.out.split("---\n").collect();
    for ((line, wanted), told) in typed.iter().zip(told) {
        assert!(
            told.starts_with("error: ") && told.contains(wanted),
            "{line}: {told}"
        );
        assert!(!told.contains("action:"), "{line}: {told}");
    }
}

#[test]
fn what_was_undone_is_not_saved() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let ran = shell(
        &scratch,
        "mkdir -p mine && $NICDRILL do cut mlx5_0/1 && $NICDRILL do remove mlx5_2 && $NICDRILL do undo && $NICDRILL do --save mine/one.yaml \
         && $NICDRILL do undo && $NICDRILL do --save mine/none.yaml",
    );
    assert_eq!(ran.code, 0, "{ran}");
    let (one, none) = (
        scratch.text("mine/one.yaml"),
        scratch.text("mine/none.yaml"),
    );
    assert!(
        one.contains("{ cut: { name: mlx5_0, port: 1 } }") && !one.contains("remove"),
        "{one}"
    );
    assert!(!none.contains("do:"), "{none}");
    for (story, code) in [("one", 100), ("none", 0)] {
        let file = format!("mine/{story}.yaml");
        let drill = format!("mine/{story}@h100-oci");
        let ran = scratch.run(&["show", "--scenarios", &file, &drill]);
        assert_eq!(ran.code, code, "{ran}");
    }
}

#[test]
fn another_terminal_reaches_a_sandbox_by_its_name() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    // The shell prints the name of its sandbox, and waits for a line.
    let mut shell = Command::new(NICDRILL)
        .args(["shell", "h100-oci", "--", "/bin/sh", "-c"])
        .arg("basename $NICDRILL_SANDBOX .sock; read line; cat /sys/class/infiniband/mlx5_0/ports/1/state")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut out = BufReader::new(shell.stdout.take().expect("a pipe")).lines();
    let name = out.next().expect("a line").expect("a line");
    let listed = scratch.run(&["do", "list"]);
    assert!(listed.out.lines().any(|line| line == name), "{listed}");
    let ran = scratch.run(&["do", "--sandbox", &name, "cut", "mlx5_0/1"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "done: cut mlx5_0/1\n"),
        "{ran}"
    );
    let ran = scratch.run(&["do", "--sandbox", &name, "--complete", "cut"]);
    assert!(ran.out.lines().any(|line| line == "mlx5_0/1"), "{ran}");
    let ran = scratch.run(&["do", "--sandbox", &name, "cut", "mlx5_99/1"]);
    assert_eq!(ran.code, 2, "{ran}");
    let mut stdin = shell.stdin.take().expect("a pipe");
    writeln!(stdin, "go on").expect("it reads");
    assert_eq!(out.next().expect("a line").expect("a line"), "1: DOWN");
    assert!(shell.wait().expect("it ends").success());
    let listed = scratch.run(&["do", "list"]);
    assert!(!listed.out.lines().any(|line| line == name), "{listed}");
    let ran = scratch.run(&["do", "--sandbox", &name, "status"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("no such sandbox"), "{ran}");
}

/// `script` (util-linux) gives it a terminal.
#[test]
fn a_mount_has_a_prompt_on_a_terminal_and_none_without() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let lines = "printf 'cut mlx5_0/1\\ncutt mlx5_0/1\\n'";
    let mount = format!("{NICDRILL} mount h100-oci tree");
    let ran = scratch.shell(&format!("{lines} | script -qec '{mount}' /dev/null"));
    assert_eq!(ran.code, 0, "{ran}");
    let text = ran.out.replace('\r', "");
    for told in [
        "> ",
        "Ctrl-D ends",
        "done: cut mlx5_0/1\n> ",
        "unknown verb `cutt`",
    ] {
        assert!(text.contains(told), "{told}: {ran}");
    }
    let ran = scratch.shell(&format!("{lines} | {mount}"));
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.out.contains("done: cut mlx5_0/1") && !ran.out.contains("> "),
        "{ran}"
    );
}

/// docs/sandbox.md, "Faults": the same words as `nicdrill do`.
#[test]
fn a_mount_knows_the_words_of_do() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let typed = "help\\ncut mlx5_0/1\\nwait 1200ms\\nstatus\\nlist\\n--save story.yaml\\nwait x\\n";
    let ran = scratch.shell(&format!(
        "printf '{typed}' | {NICDRILL} mount h100-oci tree"
    ));
    assert_eq!(ran.code, 0, "{ran}");
    // What was typed before the end of the input is done, a wait among it.
    let cut = "{ cut: { name: mlx5_0, port: 1 } }";
    assert!(ran.out.contains(&format!(" s ago: {cut}\n")), "{ran}");
    assert!(!ran.out.contains("\n0 s ago: "), "{ran}");
    assert!(ran.out.contains("\n  flap: "), "{ran}");
    assert!(scratch.text("story.yaml").contains(cut), "{ran}");
    let errors: Vec<&str> = ran
        .err
        .lines()
        .filter(|line| line.starts_with("error"))
        .collect();
    assert_eq!(errors, ["error: invalid duration `x`"], "{ran}");
}

/// A wait is no reason to miss a signal.
#[test]
fn a_signal_ends_a_mount_that_waits() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let ran = scratch.shell(&format!(
        "mkfifo typed; {NICDRILL} mount h100-oci tree <typed >log 2>&1 & pid=$!; exec 9>typed
         printf 'cut mlx5_0/1\\nwait 1h\\n' >&9
         until grep -qs done: log; do :; done
         kill -TERM $pid; wait $pid; echo ended with $?"
    ));
    assert_eq!(
        ran.out,
        "ended with 143\n",
        "{ran}\n{}",
        scratch.text("log")
    );
}

#[test]
fn a_mount_goes_on_without_a_stdin_until_a_signal() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    for stdin in ["<&-", "</dev/null"] {
        let ran = scratch.shell(&format!(
            "rm -f log; {NICDRILL} mount h100-oci tree {stdin} >log 2>&1 & pid=$!
             until grep -qs 'nothing comes from stdin' log; do :; done
             cat tree/sys/class/infiniband/mlx5_0/ports/1/state
             kill -TERM $pid; wait $pid; echo ended with $?"
        ));
        assert_eq!(
            ran.out,
            "4: ACTIVE\nended with 143\n",
            "{stdin}: {ran}\n{}",
            scratch.text("log")
        );
    }
}

#[test]
fn words_are_completed_without_a_sandbox_too() {
    let ran = Scratch::new().run(&["do", "--complete"]);
    for word in ["cut", "flap", "remove", "status", "undo"] {
        assert!(ran.out.lines().any(|line| line == word), "{ran}");
    }
}

#[test]
fn a_user_without_privileges_gets_a_shell() {
    let scratch = Scratch::new();
    let state = "/sys/class/infiniband/mlx5_0/ports/1/state";
    let words = ["shell", "h100-oci", "--", "cat", state];
    let Some(ran) = run_as(User::Nobody { fuse: "666" }, &scratch, &words) else {
        return;
    };
    assert_eq!((ran.code, ran.out.as_str()), (0, "4: ACTIVE\n"), "{ran}");
}
