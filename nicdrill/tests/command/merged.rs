//! `nicdrill report merge`: the shards of a run give the run of one machine, and nothing else is merged.

use std::{collections::BTreeMap, fs, path::Path};

use rstest::rstest;
use serde_json::Value;

use crate::{
    groups::UNFAIR,
    scratch::{Ran, Scratch, can_play_processes, reference_descriptor},
};

/// A monitor that is wrong in some of the drills below, so that there are findings and artifacts.
const WRONG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/loses-events.yaml");

/// The value without members named `wall`.
fn without_wall(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(name, _)| name != "wall");
            let members = members.map(|(name, value)| (name, without_wall(value)));
            Value::Object(members.collect())
        }
        Value::Array(values) => values.into_iter().map(without_wall).collect(),
        other => other,
    }
}

/// The files of a run folder, JSON without `wall`; what the monitor logs is its own, with times of day.
fn files(folder: &Path) -> BTreeMap<String, String> {
    fn add(folder: &Path, of: &Path, files: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(of).expect("it is inside").display();
            let name = name.to_string();
            if path.is_dir() {
                add(&path, of, files);
            } else if name.ends_with("-log.txt") {
                files.insert(name, String::new());
            } else {
                let text = fs::read_to_string(&path).expect("a text");
                let is_run = matches!(name.as_str(), "run.json" | "events.jsonl");
                let json = |line| serde_json::from_str(line).map(without_wall).expect("JSON");
                let lines = text.lines().map(|line| match is_run {
                    true => json(line).to_string(),
                    false => line.to_owned(),
                });
                files.insert(name, lines.collect::<Vec<_>>().join("\n"));
            }
        }
    }
    let mut files = BTreeMap::new();
    add(folder, folder, &mut files);
    files
}

/// Runs these words in as many shards, each into `shards/K`.
fn shards(scratch: &Scratch, words: &[&str], of: usize) {
    for number in 1..=of {
        let (shard, out) = (format!("{number}/{of}"), format!("shards/{number}"));
        let place = ["--shard", &shard, "--out", &out];
        let ran = scratch.run(&[&["run"], words, &place].concat());
        assert!([0, 4, 100].contains(&ran.code), "{ran}");
    }
}

/// A report without its times: those of its attributes, and those that end its summary lines.
fn without_times(xml: &str) -> String {
    let mut parts = xml.split(" time=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('"').map_or(part, |(_, rest)| rest));
    let of_attributes = first + &rest.collect::<String>();
    let lines = of_attributes
        .lines()
        .map(|line| match line.rsplit_once("; ") {
            Some((line, time)) if is_time(time) => line,
            _ => line,
        });
    lines.map(|line| format!("{line}\n")).collect()
}

/// Whether the text is a time of a summary line, such as `0.4 s`.
fn is_time(text: &str) -> bool {
    let seconds = text.strip_suffix(" s").map(str::parse::<f64>);
    seconds.is_some_and(|seconds| seconds.is_ok())
}

/// nicdrill's own monitor, with a row that it does not keep and without one that a baseline needs.
fn promises_less() -> String {
    let text = reference_descriptor();
    let nonfatal = text.replace(
        "polling: { verdict: fatal,",
        "polling: { verdict: nonfatal,",
    );
    let less = nonfatal.replace("    first_poll: events\n", "");
    assert!(less.len() < nonfatal.len() && nonfatal != text);
    less
}

#[rstest]
#[case::of_a_right_monitor_in_memory(&["port", "--arm", "memory", "--platform", "dgx-h100,h100-oci"], 0)]
#[case::with_what_is_known_and_a_shuffled_order(&["port", "--arm", "memory", "--platform", "gb300,l40s-oci", "--seed", "7", "--known", "known.toml"], 0)]
#[case::of_which_lines_were_not_judged(&["port", "--arm", "memory", "--platform", "dgx-a100", "--monitor", "less.yaml"], 100)]
#[case::of_a_wrong_monitor_as_processes(&["connector", "--platform", "h100-oci", "--monitor", WRONG], 100)]
fn the_merged_run_is_that_of_one_machine(#[case] words: &[&str], #[case] code: i32) {
    if !words.contains(&"memory") && !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file("less.yaml", &promises_less());
    let known = "[[known]]\nid = \"port/cable-pulled#missed.fatal.*\"\nreason = \"seen\"\n";
    scratch.file("known.toml", known);
    let whole = scratch.run(&[&["run"], words, &["--out", "whole"]].concat());
    shards(&scratch, words, 3);
    let merged = scratch.run(&["report", "merge", "shards", "--out", "merged"]);
    assert_eq!((whole.code, merged.code), (code, code), "{whole}\n{merged}");
    let (one, other) = (
        files(&scratch.path("whole")),
        files(&scratch.path("merged")),
    );
    assert!(one.len() > 5, "{:?}", one.keys());
    for (name, text) in &one {
        assert_eq!(other.get(name), Some(text), "{name}");
    }
    assert_eq!(one.len(), other.len());
}

/// A failed drill tells in its test case which of its lines were not judged, and why.
#[test]
fn a_run_that_is_merged_from_one_shard_has_the_report_of_the_run() {
    let scratch = Scratch::new();
    scratch.file("less.yaml", &promises_less());
    let words = [
        "port/cable-pulled",
        "--arm",
        "memory",
        "--platform",
        "dgx-a100",
        "--monitor",
        "less.yaml",
    ];
    let place = ["--out", "whole", "--report", "junit=whole.xml"];
    let whole = scratch.run(&[&["run"], &words[..], &place].concat());
    shards(&scratch, &words, 1);
    let merged = [
        "report",
        "merge",
        "shards",
        "--out",
        "merged",
        "--report",
        "junit=merged.xml",
    ];
    let merged = scratch.run(&merged);
    assert_eq!((whole.code, merged.code), (100, 100), "{whole}\n{merged}");
    let [whole, merged] =
        ["whole.xml", "merged.xml"].map(|file| without_times(&scratch.text(file)));
    assert!(
        whole.contains("  not judged: port/cable-pulled.yaml:"),
        "{whole}"
    );
    assert_eq!(whole, merged);
}

fn refused(scratch: &Scratch, folders: &[&str]) -> Ran {
    let ran = scratch.run(&[&["report", "merge"], folders, &["--out", "merged"]].concat());
    assert_eq!(ran.code, 2, "{ran}");
    assert!(!scratch.path("merged").exists(), "{ran}");
    ran
}

/// A run by `sudo` does not see `CI`, so that what it drilled is asked of the merge.
#[test]
fn in_ci_shards_that_name_no_monitor_are_not_merged() {
    let drill = ["port/cable-pulled@h100-oci", "--arm", "memory"];
    let merge = ["report", "merge", "shards", "--out", "merged"];
    let merged = |more: &[&str]| {
        let scratch = Scratch::new();
        shards(&scratch, &[&drill, more].concat(), 2);
        let ran = scratch.run_with(&merge, &[("CI", "true")]);
        (scratch.path("merged").exists(), ran)
    };
    let (exists, ran) = merged(&[]);
    assert_eq!((ran.code, exists), (2, false), "{ran}");
    let told = "no monitor is named, and `CI` is set: these shards drilled nicdrill's own monitor, not yours\nhint: ";
    assert!(ran.err.contains(told), "{ran}");
    let (exists, ran) = merged(&["--monitor", "reference"]);
    assert_eq!((ran.code, exists), (0, true), "{ran}");
}

#[test]
fn a_shard_with_nothing_to_play_is_not_missing() {
    let scratch = Scratch::new();
    let one = ["port/cable-pulled@h100-oci", "--arm", "memory"];
    let whole = scratch.run(&[&["run"], &one[..], &["--out", "whole"]].concat());
    let empty = ["--shard", "2/2", "--out", "shards/2"];
    let ran = scratch.run(&[&["run"], &one[..], &empty].concat());
    assert_eq!(ran.code, 0, "{ran}");
    let note = "NOTE  shard 2/2 has nothing to play: the run has 1 drill";
    assert!(ran.err.contains(note), "{ran}");
    refused(&scratch, &["shards"]);
    shards(&scratch, &one, 2);
    let merged = scratch.run(&["report", "merge", "shards", "--out", "merged"]);
    assert_eq!((whole.code, merged.code), (0, 0), "{merged}");
    let (one, other) = ("whole", "merged");
    assert_eq!(files(&scratch.path(one)), files(&scratch.path(other)));
    // Of a run without drills no shard has any.
    let none = ["--filter", "nosuch/*", "--shard", "2/2", "--out", "none"];
    let ran = scratch.run(&[&["run"], &none[..]].concat());
    assert_eq!(ran.code, 4, "{ran}");
}

#[rstest]
#[case::a_scenario(
    "own/unfair.yaml",
    "at: 2s",
    "at: 3s",
    "the scenario `own/unfair` is not here what it was in shard 1/2, 2/2"
)]
#[case::a_platform(
    "mine.yaml",
    "about: ",
    "about: another ",
    "the platform `mine`, or a driver of it, is not here what it was in shard 2/2"
)]
fn shards_of_a_text_that_was_edited_since_are_refused(
    #[case] file: &str,
    #[case] from: &str,
    #[case] to: &str,
    #[case] told: &str,
) {
    let scratch = Scratch::new();
    scratch.file("own/unfair.yaml", UNFAIR);
    let made = scratch.run(&["platform", "new", "mine", "--from", "l40-onprem"]);
    assert_eq!(made.code, 0, "{made}");
    let settings = "platforms = [\"mine.yaml\"]\nscenarios = [\"own\"]\n";
    scratch.file("nicdrill.toml", settings);
    shards(
        &scratch,
        &[
            "--arm",
            "memory",
            "--filter",
            "platform(mine) or platform(dgx-a100)",
        ],
        2,
    );
    let before = scratch.text(file);
    assert!(before.contains(from), "{before}");
    scratch.file(file, &before.replacen(from, to, 1));
    let ran = refused(&scratch, &["shards"]);
    assert!(ran.err.contains(told), "{ran}");
    scratch.file(file, &before);
    let ran = scratch.run(&["report", "merge", "shards", "--out", "merged"]);
    assert!([0, 100].contains(&ran.code), "{ran}");
}

#[test]
fn a_merge_does_not_take_the_place_of_a_shard() {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let ran = scratch.run(&["report", "merge", "shards", "--out", "shards/1"]);
    assert_eq!(ran.code, 2, "{ran}");
    let told = "error: `shards/1` is one of the shards";
    assert!(ran.err.contains(told), "{ran}");
    assert!(!scratch.path("shards/1.old").exists());
}

/// The merge excuses what is known where it runs: the shards keep what they found, whether it was known there or not.
#[test]
fn what_is_known_is_asked_where_shards_are_merged() {
    let scratch = Scratch::new();
    scratch.file("less.yaml", &promises_less());
    let drill = "port/cable-pulled@dgx-a100";
    let words = [drill, "--arm", "memory", "--monitor", "less.yaml"];
    let known = "[[known]]\nid = \"port/cable-pulled#*\"\nreason = \"seen\"\n";
    let merge = ["report", "merge", "shards", "--out", "merged"];
    let forget = |file: &str| fs::remove_file(scratch.path(file)).expect("a file");
    scratch.file("known.toml", known);
    shards(&scratch, &words, 2);
    forget("known.toml");
    let ran = scratch.run(&merge);
    assert_eq!(ran.code, 100, "{ran}");
    shards(&scratch, &words, 2);
    scratch.file("known.toml", known);
    let ran = scratch.run(&merge);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("known: known.toml:1: "), "{ran}");
    // A file that the run names must be there.
    scratch.file("named.toml", known);
    shards(
        &scratch,
        &[&words[..], &["--known", "named.toml"]].concat(),
        2,
    );
    forget("named.toml");
    let ran = scratch.run(&merge);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err.contains("error: `named.toml` cannot be read"),
        "{ran}"
    );
}

const FEW: [&str; 5] = ["port", "--arm", "memory", "--platform", "dgx-a100"];

#[test]
fn a_missing_shard_is_refused_with_the_command_that_plays_it() {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 3);
    fs::remove_dir_all(scratch.path("shards/2")).expect("a shard");
    let ran = refused(&scratch, &["shards"]);
    let text = "error: shard 2/3 is missing\nhint: play it: nicdrill run port --arm memory --platform dgx-a100 --shard 2/3 --out DIR";
    assert!(ran.err.contains(text), "{ran}");
}

#[test]
fn a_shard_that_is_there_twice_is_refused() {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let again = ["--shard", "2/2", "--out", "again"];
    scratch.run(&[&["run"], &FEW[..], &again].concat());
    let ran = refused(&scratch, &["shards", "again"]);
    let text = "error: shard 2/2 is twice: in `again` and `shards/2`";
    assert!(ran.err.contains(text), "{ran}");
}

/// A killed run leaves its folder as far as it came.
#[test]
fn a_shard_that_was_killed_is_refused_and_then_played_alone() {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let events = scratch.text("shards/2/events.jsonl");
    let lines: Vec<&str> = events.lines().collect();
    let kept = lines.len() - 5;
    scratch.file("shards/2/events.jsonl", &(lines[..kept].join("\n") + "\n"));
    let ran = refused(&scratch, &["shards"]);
    let text = "error: shard 2/2 in `shards/2` is not whole: its `events.jsonl` does not tell the end of the run, and has ";
    assert!(ran.err.contains(text), "{ran}");
    let again = "hint: play it again: nicdrill run port --arm memory --platform dgx-a100 --shard 2/2 --out shards/2\n";
    assert!(ran.err.contains(again), "{ran}");
    let place = ["--shard", "2/2", "--out", "shards/2"];
    assert_eq!(scratch.run(&[&["run"], &FEW[..], &place].concat()).code, 0);
    // What the killed one left is in `shards/2.old`, and is not taken for a shard.
    let merged = scratch.run(&["report", "merge", "shards", "--out", "merged"]);
    assert_eq!(merged.code, 0, "{merged}");
}

#[test]
fn shards_of_two_runs_and_whole_runs_are_refused() {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let other = ["run", "card", "--arm", "memory", "--platform", "dgx-a100"];
    scratch.run(&[&other[..], &["--shard", "2/2", "--out", "other"]].concat());
    scratch.run(&[&other[..], &["--out", "whole"]].concat());
    let ran = refused(&scratch, &["shards/1", "other"]);
    assert!(ran.err.contains("are of two runs: "), "{ran}");
    let ran = refused(&scratch, &["shards/1", "whole", "nowhere"]);
    let text = "error: `whole` is a whole run, and no shard of one\nhint: shards are played by `nicdrill run --shard K/N`";
    assert!(ran.err.contains(text), "{ran}");
    let text = "error: `nowhere/events.jsonl` cannot be read: No such file or directory";
    assert!(ran.err.contains(text), "{ran}");
}

/// The shards were played on the scenarios of one's own that lay here then.
#[test]
fn shards_of_other_files_are_refused_and_nothing_is_written() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    let words = ["./port", "--arm", "memory", "--platform", "dgx-a100"];
    shards(&scratch, &words, 2);
    scratch.file("port/unfair-too.yaml", UNFAIR);
    let ran = refused(&scratch, &["shards"]);
    assert!(
        ran.err.contains("the shards were run with other files"),
        "{ran}"
    );
}

#[test]
fn what_is_told_of_a_merged_run_is_chosen_as_for_a_run() {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let words = [
        "report",
        "merge",
        "shards",
        "--out",
        "merged",
        "--slowest",
        "1",
    ];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("port/"), "{ran}");
}

/// The stream has the sum of its lines, so nobody turns a red shard green by an editor, nor by a copy that went wrong.
#[rstest]
#[case::another_result("\"event\":\"drill-passed\"", "\"event\":\"drill-failed\"")]
#[case::another_exit_code("\"exit_code\":0", "\"exit_code\":100")]
#[case::another_number("\"polls\":", "\"polls\":1")]
#[case::a_member_more("{\"event\":\"drill-started\"", "{\"x\":1,\"event\":\"drill-started\"")]
#[case::no_sum("\"sha256\":", "\"sha255\":")]
fn a_line_that_was_altered_is_noticed(#[case] from: &str, #[case] to: &str) {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let events = scratch.text("shards/2/events.jsonl");
    let altered = events.replacen(from, to, 1);
    assert_ne!(events, altered);
    scratch.file("shards/2/events.jsonl", &altered);
    let ran = refused(&scratch, &["shards"]);
    let told = "the sum of the lines is not the one that the run wrote";
    assert!(ran.err.contains(told), "{ran}");
    // It is there, so it is not missing.
    assert!(!ran.err.contains("is missing"), "{ran}");
}

#[rstest]
#[case::doubled(|lines: &mut Vec<&str>| lines.insert(3, lines[3]), "the sum of the lines")]
#[case::left_out(|lines: &mut Vec<&str>| lines.truncate(lines.len() - 1), "it was killed, or the file was cut")]
#[case::left_out_in_between(|lines: &mut Vec<&str>| { lines.remove(3); }, "the sum of the lines")]
#[case::in_another_order(|lines: &mut Vec<&str>| lines.swap(2, 4), "the sum of the lines")]
#[case::unknown(
    |lines: &mut Vec<&str>| lines.insert(3, "{\"event\":\"drill-vanished\"}"),
    "unknown variant `drill-vanished`"
)]
#[case::behind_the_end(|lines: &mut Vec<&str>| lines.push(lines[2]), "a line follows the end of the run")]
fn lines_that_are_not_those_of_the_run_are_noticed(
    #[case] alter: fn(&mut Vec<&str>),
    #[case] told: &str,
) {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let events = scratch.text("shards/2/events.jsonl");
    let mut lines: Vec<&str> = events.lines().collect();
    alter(&mut lines);
    scratch.file("shards/2/events.jsonl", &(lines.join("\n") + "\n"));
    let ran = refused(&scratch, &["shards"]);
    assert!(ran.err.contains(told), "{ran}");
}

#[rstest]
#[case::of_another_system(|events: &str| events.replace('\n', "\r\n"))]
#[case::but_for_the_last(|events: &str| events.trim_end().to_owned())]
fn lines_that_do_not_end_as_those_of_the_run_are_noticed(#[case] alter: fn(&str) -> String) {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let events = scratch.text("shards/2/events.jsonl");
    scratch.file("shards/2/events.jsonl", &alter(&events));
    let ran = refused(&scratch, &["shards"]);
    let told = "the line does not end with a newline alone";
    assert!(ran.err.contains(told), "{ran}");
}

#[rstest]
#[case::missing("rm shards/2/run.json", "cannot be read: No such file or directory")]
#[case::endless(
    "ln -sf /dev/zero shards/2/run.json",
    "cannot be read: it is not a regular file"
)]
#[case::too_large(
    "truncate -s 100G shards/2/run.json",
    "cannot be read: it has more than 67108864 bytes"
)]
#[case::another_reason(
    "sed -i 's/\"reason\":\"/&not /' shards/2/run.json",
    "was altered: it is not the plan that the run wrote"
)]
#[case::a_key_more(
    "sed -i 's/^{/{\"mine\":1,/' shards/2/run.json",
    "was altered: it is not the plan that the run wrote"
)]
#[case::a_blank_more(
    "sed -i 's/$/ /' shards/2/run.json",
    "was altered: it is not the plan that the run wrote"
)]
#[case::of_another_monitor(
    "sed -i 's/\"monitor\":\"[^\"]*\"/\"monitor\":\"another\"/' shards/2/run.json",
    "tells another run than `events.jsonl` beside it"
)]
fn a_shard_whose_plan_is_not_that_of_its_events_is_refused(
    #[case] altered: &str,
    #[case] told: &str,
) {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let done = scratch.shell(altered);
    assert_eq!(done.code, 0, "{done}");
    let ran = refused(&scratch, &["shards"]);
    assert!(ran.err.contains("`shards/2/run.json` "), "{ran}");
    assert!(ran.err.contains(told), "{ran}");
}

/// A damaged list says nothing about a platform that lies here as it was.
#[rstest]
#[case::a_digit(|text: &str| text.replacen(|char: char| "0123456789".contains(char), "a", 1), "found the sum `")]
#[case::a_platform(|text: &str| text.replace("@dgx-a100", "@dgx-a10"), "found the sum `")]
#[case::no_digit(|text: &str| text.replacen("  ", "x  ", 1), "contents.txt:1: found `")]
#[case::the_sum(|text: &str| text.replace("# the lines", "# the line"), "found `")]
#[case::no_sum(|text: &str| text[..text.trim_end().rfind('\n').map_or(0, |at| at + 1)].to_owned(), "found the end of the file; ")]
fn a_damaged_list_of_what_was_played_is_named_and_no_platform_is_blamed(
    #[case] alter: fn(&str) -> String,
    #[case] told: &str,
) {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let file = "shards/2/contents.txt";
    let text = scratch.text(file);
    let altered = alter(&text);
    assert_ne!(text, altered);
    scratch.file(file, &altered);
    let ran = refused(&scratch, &["shards"]);
    assert!(ran.err.contains("error: shards/2/contents.txt:"), "{ran}");
    let again = "play it again: nicdrill run port --arm memory --platform dgx-a100 --shard 2/2 --out shards/2\n";
    for told in [told, again] {
        assert!(ran.err.contains(told), "{ran}");
    }
    for blamed in ["is not here what it was", "is missing"] {
        assert!(!ran.err.contains(blamed), "{ran}");
    }
}

#[test]
fn a_line_that_is_no_event_is_named() {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 1);
    let events = scratch.text("shards/1/events.jsonl");
    scratch.file(
        "shards/1/events.jsonl",
        &(events + "{\"event\":\"drill-passed\"}\n"),
    );
    let ran = refused(&scratch, &["shards"]);
    assert!(ran.err.contains("missing field `drill`"), "{ran}");
    assert!(ran.err.contains("events.jsonl:"), "{ran}");
}

/// A folder is found by what is left of it, and what is there and cannot be used is told once.
#[rstest]
#[case::no_events("rm shards/2/events.jsonl", "No such file or directory")]
#[case::a_folder(
    "cd shards/2 && rm events.jsonl && mkdir events.jsonl",
    "it is not a regular file"
)]
#[case::a_pipe(
    "cd shards/2 && rm events.jsonl && mkfifo events.jsonl",
    "it is not a regular file"
)]
#[case::no_marker_either(
    "cd shards/2 && rm events.jsonl .nicdrill-run",
    "No such file or directory"
)]
#[case::no_plan_either("cd shards/2 && rm events.jsonl run.json", "No such file or directory")]
#[case::a_damaged_plan("echo x >shards/2/run.json", "shards/2/run.json` cannot be read")]
#[case::both_damaged(
    "cd shards/2 && echo x >run.json && echo x >events.jsonl",
    "shards/2/events.jsonl:1: "
)]
fn a_shard_that_is_there_and_cannot_be_used_is_not_missing(
    #[case] damage: &str,
    #[case] told: &str,
) {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let done = scratch.shell(damage);
    assert_eq!(done.code, 0, "{done}");
    let ran = refused(&scratch, &["shards"]);
    assert!(ran.err.contains(told), "{ran}");
    assert!(
        ran.err.contains("play the shard again") || told.contains(":1:"),
        "{ran}"
    );
    assert_eq!(ran.err.matches("error: ").count(), 1, "{ran}");
}

/// One is there and nothing says which it is, and two are not there.
#[test]
fn shards_are_missing_beside_one_that_cannot_be_used() {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 3);
    let done = scratch
        .shell("rm -r shards/2 && echo x >shards/3/run.json && echo x >shards/3/events.jsonl");
    assert_eq!(done.code, 0, "{done}");
    let ran = refused(&scratch, &["shards"]);
    assert!(ran.err.contains("error: shard 2/3 is missing"), "{ran}");
}

#[test]
fn a_list_of_another_shard_is_blamed_and_no_scenario_is() {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let list = scratch.text("shards/1/contents.txt");
    scratch.file("shards/2/contents.txt", &list);
    let ran = refused(&scratch, &["shards"]);
    let told = "error: `shards/2/contents.txt` does not tell of the scenario `port/";
    let again = "play it again: nicdrill run port --arm memory --platform dgx-a100 --shard 2/2 --out shards/2\n";
    for told in [told, again] {
        assert!(ran.err.contains(told), "{ran}");
    }
    assert!(!ran.err.contains("is not here what it was"), "{ran}");
}

/// What carries artifacts from one machine to another leaves hidden files out.
#[test]
fn shards_without_their_hidden_files_are_merged() {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let done = scratch.shell("rm shards/*/.nicdrill-run shards/*/.gitignore");
    assert_eq!(done.code, 0, "{done}");
    let merged = scratch.run(&["report", "merge", "shards", "--out", "merged"]);
    assert_eq!(merged.code, 0, "{merged}");
}

#[test]
fn files_of_failed_drills_that_a_shard_has_no_more_are_told() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    let words = ["./port", "--platform", "h100-oci", "--arm", "memory"];
    shards(&scratch, &words, 2);
    let merge = ["report", "merge", "shards", "--out", "merged"];
    let whole = scratch.run(&merge);
    assert_eq!(whole.code, 100, "{whole}");
    assert!(!whole.err.contains("NOTE  shard"), "{whole}");
    fs::remove_dir_all(scratch.path("shards/2/drills")).expect("files of failed drills");
    let ran = scratch.run(&merge);
    assert_eq!(ran.code, 100, "{ran}");
    let told = "NOTE  shard 2/2 left the files of ";
    assert!(ran.err.contains(told), "{ran}");
    assert!(
        ran.err
            .contains(" lost them since: the merged run lacks them"),
        "{ran}"
    );
}

/// The times of the drills are those of the shards too.
#[test]
fn a_merged_run_took_as_long_as_its_longest_shard() {
    let scratch = Scratch::new();
    shards(&scratch, &FEW, 2);
    let merge = [
        "report",
        "merge",
        "shards",
        "--out",
        "merged",
        "--report",
        "junit=merged.xml",
    ];
    let merged = scratch.run(&merge);
    assert_eq!(merged.code, 0, "{merged}");
    let ms = |folder: &str| {
        let events = scratch.text(&format!("{folder}/events.jsonl"));
        let end: Value =
            serde_json::from_str(events.lines().last().expect("an end")).expect("JSON");
        end["wall"]["ms"].as_u64().expect("a time")
    };
    let longest = ms("shards/1").max(ms("shards/2"));
    assert_eq!(ms("merged"), longest);
    let [s, ms] = [longest / 1000, longest % 1000];
    let report = scratch.text("merged.xml");
    let suites = report
        .lines()
        .find(|line| line.starts_with("<testsuites "))
        .expect("suites");
    assert!(
        suites.contains(&format!(" time=\"{s}.{ms:03}\"")),
        "{suites}"
    );
    let told = format!("; {s}.{} s\n", ms / 100);
    assert!(merged.out.contains(&told), "{told}: {merged}");
}
