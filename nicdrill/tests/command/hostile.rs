//! One hostile story, one hostile monitor and a hostile path, through every output: each is read strictly, and has no byte that a
//! terminal obeys and no line that a CI runner takes for a command.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::{env, fs, path::Path, process::Command};

use rusqlite::Connection;
use serde_json::Value;

use crate::scratch::{Ran, Scratch, can_play_processes};

/// A folder above the suite: a scenario's own name may have no such characters.
const ABOVE: &str = "up\u{1b}[31m\n::error file=x::forged\u{202e}";

const STORY: &str = r#"scenario: "::error file=x::forged ##[error]forged \u202E"
why: "a reason \uFFFE\e[2J\n##[error]forged\n::error::forged"
platforms: all
let: { victim: { nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 2s
    do: [ { disable: victim } ]
    expect:
      - { fatal: victim, message: "a\uFFFE\e[31m\n::error file=x::forged\u202E##[error]" }
until: 5s
"#;

const KNOWN: &str =
    "[[known]]\nid = \"port/hostile#*\"\nreason = \"r \\u001B[31m\\n::error::forged\\uFFFE\"\n";

/// Whether nothing in a text can be obeyed, by a rule of this test's own.
fn check_told(what: &str, text: &str) {
    check_seen(what, text);
    for line in text.lines() {
        assert!(!line.trim_start().starts_with("::"), "{what}: {line}");
    }
}

fn check_seen(what: &str, text: &str) {
    for char in text.chars() {
        let is_hidden = char.is_control() && char != '\n'
            || ('\u{202a}'..='\u{202e}').contains(&char)
            || u32::from(char) & 0xfffe == 0xfffe;
        assert!(!is_hidden, "{what} has {char:?}:\n{text:?}");
    }
    assert!(!text.contains("##["), "{what}:\n{text}");
}

fn check_ran(what: &str, ran: &Ran) {
    check_told(&format!("stdout of {what}"), &ran.out);
    check_told(&format!("stderr of {what}"), &ran.err);
}

/// Every file of a run folder but what has a form of its own: the story, and the state file of a monitor.
fn check_folder(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.display().to_string();
        if path.is_dir() {
            check_folder(&path);
        } else if !name.ends_with("/story.yaml") && !name.ends_with("-state.json") {
            let text = fs::read_to_string(&path).expect("a text");
            check_told(&name, &text);
            if name.ends_with(".jsonl") || name.ends_with("/run.json") {
                for line in text.lines() {
                    serde_json::from_str::<Value>(line).expect("JSON");
                }
            }
        }
    }
}

/// Without xmllint this is skipped with a message; under `CI` it is required.
fn check_xml(file: &Path) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/junit.xsd");
    let judged = Command::new("xmllint")
        .args(["--noout", "--schema"])
        .arg(&schema)
        .arg(file)
        .output();
    match judged {
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{told}");
        }
        Err(error) => {
            assert!(env::var_os("CI").is_none(), "xmllint is needed: {error}");
            println!("skipped: xmllint cannot be started ({error})");
        }
    }
}

const REPORTS: &str =
    "--report=html=run.html,junit=run.xml,json=results.json,gitlab=gl.json,github=gh.txt";

/// The reports of the run in this folder, each read as whoever it is for reads it.
fn check_reports(scratch: &Scratch) {
    for file in [
        "run.html",
        "run.xml",
        "results.json",
        "gl.json",
        "summary.md",
    ] {
        check_told(file, &scratch.text(file));
    }
    check_xml(&scratch.path("run.xml"));
    for file in ["results.json", "gl.json"] {
        serde_json::from_str::<Value>(&scratch.text(file)).expect(file);
    }
    let commands = scratch.text("gh.txt");
    check_seen("gh.txt", &commands);
    assert!(!commands.is_empty());
    for line in commands.lines() {
        let is_ours = ["::error ", "::notice "]
            .iter()
            .any(|own| line.starts_with(own));
        assert!(is_ours, "{line}");
        for shown in line[2..].split("%0A") {
            assert!(!shown.trim_start().starts_with("::"), "{line}");
        }
    }
    let page = scratch.text("run.html");
    assert_eq!(page.matches("<script>").count(), 1);
}

/// Runs a command in a folder with a step summary.
fn run(scratch: &Scratch, words: &[&str]) -> Ran {
    let summary = scratch.path("summary.md").display().to_string();
    scratch.run_with(words, &[("GITHUB_STEP_SUMMARY", &summary)])
}

#[test]
fn a_hostile_story_does_nothing_to_anybody() {
    let scratch = Scratch::new();
    scratch.file(&format!("{ABOVE}/port/hostile.yaml"), STORY);
    let suite = format!("./{ABOVE}");
    let words = [
        "run",
        &suite,
        "--platform=h100-oci",
        "--arm=memory",
        "--store=sqlite:events.db",
        REPORTS,
    ];
    let ran = run(&scratch, &words);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(ran.out.contains("forged"), "{ran}");
    check_ran("run", &ran);
    check_reports(&scratch);
    check_folder(&scratch.path("nicdrill.out"));
    let told: Value = serde_json::from_str(&scratch.text("results.json")).expect("JSON");
    let findings = told["drills"][0]["findings"].to_string();
    assert!(findings.contains("forged"), "{findings}");
    for more in [
        &["-v", "--slowest=3", "--not-judged"][..],
        &["-q"],
        &["--known=known.toml"],
    ] {
        scratch.file("known.toml", KNOWN);
        let ran = run(&scratch, &[&words[..], more].concat());
        check_ran("run with more", &ran);
        check_reports(&scratch);
        check_folder(&scratch.path("nicdrill.out"));
    }
    let drill = "port/hostile@h100-oci";
    for more in [&[][..], &["--lanes"]] {
        let show = ["show", drill, "--scenarios", &suite];
        let ran = run(&scratch, &[&show[..], more].concat());
        assert!(ran.out.contains("forged"), "{ran}");
        check_ran("show", &ran);
    }
    for words in [
        &["list", &suite][..],
        &["list", &suite, "--json"],
        &["check", &suite],
    ] {
        check_ran(words[0], &run(&scratch, words));
    }
    let database = Connection::open(scratch.path("events.db")).expect("a database");
    let mut asked = database
        .prepare("SELECT document FROM health_events")
        .expect("a table");
    let documents = asked.query_map([], |row| row.get::<_, String>(0));
    let mut count = 0;
    for document in documents.expect("rows") {
        let document = document.expect("a row");
        serde_json::from_str::<Value>(&document).expect("JSON");
        check_told("a stored document", &document);
        count += 1;
    }
    assert!(count > 0);
}

/// A monitor whose lines are events, and that says what nobody asked for. Its descriptor reads `DOWN` wrongly, so that there are
/// findings.
const MONITOR: &str = "#!/bin/sh\n\
    class=$1/sys/class/infiniband\n\
    while :; do\n\
      for device in $(ls \"$class\"); do\n\
        read -r number state <\"$class/$device/ports/1/state\" || continue\n\
        printf '%s/1 %s \\033[31m\\342\\200\\256##[error]forged\\n' \"$device\" \"$state\"\n\
      done\n\
      printf '\\033[2J\\r  ::error file=x::forged\\n::error::forged\\n##[error]forged\\n'\n\
    done\n";

fn descriptor(name: &str) -> String {
    format!(
        "descriptor_version: 1\n\
         name: {name}\n\
         command: [ ./monitor.sh, '{{root}}' ]\n\
         speaks: lines\n\
         lines:\n\
         \x20 - pattern: '^(?P<device>[^/ ]+)/(?P<port>[0-9]+) (?P<verdict>[A-Z]+)'\n\
         \x20   verdicts: {{ ACTIVE: healthy, INIT: nonfatal, ARMED: nonfatal, DOWN: nonfatal }}\n\
         promises: {{ style: level, rows: {{ disabled: {{ verdict: fatal }}, polling: {{ verdict: fatal }} }} }}\n"
    )
}

#[test]
fn a_hostile_monitor_does_nothing_to_anybody() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    scratch.program("monitor.sh", MONITOR);
    scratch.file("monitor.yaml", &descriptor("hostile"));
    let words = [
        "run",
        "port/cable-pulled@h100-oci",
        "port/disabled-by-operator@h100-oci",
        "--monitor=monitor.yaml",
        "--keep",
        REPORTS,
    ];
    let ran = run(&scratch, &words);
    assert_ne!(ran.code, 0, "{ran}");
    check_ran("run", &ran);
    check_reports(&scratch);
    check_folder(&scratch.path("nicdrill.out"));
    let events = "nicdrill.out/drills/port/cable-pulled@h100-oci/process-events.txt";
    let events = scratch.text(events);
    assert!(
        events.contains("forged") && events.contains("\\u001b[31m"),
        "{events}"
    );
    let show = [
        "show",
        "port/cable-pulled@h100-oci",
        "--monitor=monitor.yaml",
    ];
    check_ran("show", &run(&scratch, &show));
}

#[test]
fn what_a_monitor_says_before_it_ends_does_nothing_to_anybody() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let says = "#!/bin/sh\nprintf '\\033[31mx\\n::error file=x::forged\\n \\t##[error]forged\\n' >&2\nexit 3\n";
    scratch.program("monitor.sh", says);
    scratch.file("monitor.yaml", &descriptor("hostile"));
    let words = [
        "run",
        "port/cable-pulled@h100-oci",
        "--monitor=monitor.yaml",
        REPORTS,
    ];
    let ran = run(&scratch, &words);
    assert_ne!(ran.code, 0, "{ran}");
    assert!(
        ran.out.contains("STOP") && ran.out.contains("forged"),
        "{ran}"
    );
    check_ran("run", &ran);
    check_reports(&scratch);
    check_folder(&scratch.path("nicdrill.out"));
}

#[test]
fn a_name_that_cannot_be_seen_is_refused_and_told_as_it_is() {
    let scratch = Scratch::new();
    scratch.program("monitor.sh", MONITOR);
    scratch.file(
        "monitor.yaml",
        &descriptor("\"m\\e[31m\\n::error::forged\""),
    );
    let ran = run(&scratch, &["check", "monitor.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.out
            .contains("`name` has a character that cannot be seen"),
        "{ran}"
    );
    check_ran("check", &ran);
    for odd in [
        "a\u{1b}[31m",
        "a\n::error::x",
        "a\u{202e}b",
        "a#b",
        "100%",
        "a*b",
        "what?",
    ] {
        let scratch = Scratch::new();
        scratch.file(&format!("port/{odd}.yaml"), STORY);
        for words in [&["check", "port"][..], &["run", "./port", "--arm=memory"]] {
            let ran = run(&scratch, words);
            assert_eq!(ran.code, 2, "{odd:?}: {ran}");
            assert!(
                ran.out.contains("the name \"") || ran.err.contains("the name \""),
                "{ran}"
            );
            check_ran(words[0], &ran);
        }
    }
}

/// What is accepted works: the lists, the hints, and what repeats a drill.
#[test]
fn a_name_with_blanks_works_everywhere() {
    let scratch = Scratch::new();
    scratch.file("my port/it's @ night.yaml", STORY);
    let words = [
        "run",
        "./my port",
        "--platform=h100-oci:vfs",
        "--arm=memory",
        REPORTS,
    ];
    let ran = run(&scratch, &words);
    assert_eq!(ran.code, 100, "{ran}");
    check_reports(&scratch);
    let drill = "my port/it's @ night@h100-oci:vfs";
    let failed = scratch.text("nicdrill.out/failed.txt");
    assert!(
        failed
            .lines()
            .all(|line| line.starts_with(&format!("{drill} "))),
        "{failed}"
    );
    for words in [
        &["list", "--failed", "--drills"][..],
        &["run", "--failed", "--arm=memory"],
    ] {
        let again = run(&scratch, words);
        assert!(again.out.contains(drill), "{again}");
    }
    let repeat = ran
        .out
        .lines()
        .find_map(|line| line.trim().strip_prefix("repeat it: nicdrill "));
    let repeat = repeat.unwrap_or_else(|| panic!("no command repeats it\n{ran}"));
    let again = scratch.shell(&format!("\"$NICDRILL\" {repeat}"));
    assert_eq!(again.code, 100, "{again}");
    let accepted = run(&scratch, &["accept", "--reason", "seen", "--yes"]);
    assert_eq!(accepted.code, 0, "{accepted}");
    let known = run(&scratch, &words);
    assert_eq!(known.code, 0, "{known}");
}

/// However long a line is that somebody else wrote, what is told of it has a bound.
#[test]
fn a_junk_line_comes_back_as_a_short_error() {
    let scratch = Scratch::new();
    let junk = "{\"event\": \"".to_owned() + &"x".repeat(20 << 20);
    for file in ["events.jsonl", "shard/events.jsonl", "f/failed.txt"] {
        scratch.file(file, &junk);
    }
    for words in [
        &["replay", "--rules=lsd", "events.jsonl"][..],
        &["report", "merge", "shard"],
        &["list", "--failed", "--out=f"],
    ] {
        let ran = run(&scratch, words);
        assert_ne!(ran.code, 0, "{words:?}");
        let told = ran.out.len() + ran.err.len();
        assert!((1..64 << 10).contains(&told), "{words:?}: {told} bytes");
    }
}
