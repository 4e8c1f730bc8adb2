//! What a user meets who mistypes, runs again, and pastes: every mistake of a file at once, warnings, and commands that
//! work when they are pasted.

use std::fs;

use rstest::rstest;

use crate::scratch::Scratch;

/// A scenario with this rest.
fn scenario(rest: &str) -> String {
    format!("scenario: a test\nwhy: a test\nplatforms: all\n{rest}")
}

const QUIET: &str = "let: { victim: { nth: 1 } }\ntimeline:\n  - at: 0s\n    expect: [ { this_poll: baseline } ]\nuntil: 3s\n";

const UNFAIR: &str = "let: { victim: { nth: 1 } }\ntimeline:\n  - at: 2s\n    do: [ { disable: victim } ]\n    expect: [ { nothing: victim } ]\nuntil: 5s\n";

/// A folder in which a scenario failed in the run before.
fn failed_on(platform: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", &scenario(UNFAIR));
    let drill = ["run", "port/unfair.yaml", "--platform", platform];
    let ran = scratch.run(&[&drill[..], &["--arm", "memory"]].concat());
    assert_eq!(ran.code, 100, "{ran}");
    scratch
}

#[test]
fn every_mistake_of_a_file_is_told_at_once() {
    let scratch = Scratch::new();
    scratch.file(
        "port/bad.yaml",
        &scenario(
            "let: { victim: { nthh: 1 } }\ntimeline:\n  - at: 2\n    do: [ { cutt: victim }, { flap: victim, times: x, down: 1s, up: 1s } ]\n  - at: 3s\n    expect: [ { fatal: nobody } ]\nunti: 5s\n",
        ),
    );
    let ran = scratch.run(&["run", "port/bad.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    let places: Vec<&str> = ran
        .err
        .lines()
        .filter_map(|line| Some(line.split_once("port/bad.yaml:")?.1.split_once(": ")?.0))
        .collect();
    let lines: Vec<&str> = places
        .iter()
        .filter_map(|place| Some(place.split_once(':')?.0))
        .collect();
    assert_eq!(lines, ["4", "6", "7", "7", "9", "10"], "{ran}");
    for (wrong, right) in [("nthh", "nth"), ("cutt", "cut"), ("unti", "until")] {
        assert!(ran.err.contains(&format!("`{wrong}`")), "{ran}");
        assert!(
            ran.err.contains(&format!("did you mean `{right}`?")),
            "{ran}"
        );
    }
}

#[test]
fn names_that_do_not_exist_are_told_beside_mistakes_of_form() {
    let scratch = Scratch::new();
    scratch.file(
        "port/bad.yaml",
        "scenario: x\nwhy: y\nplatforms: { names: [ nosuch ] }\ncovers: [ lsd/9.9/none ]\n\
         timeline:\n  - at: 0s\n    do: { cut: all }\n",
    );
    let ran = scratch.run(&["check", "port/bad.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    for told in [
        "port/bad.yaml:3:23: there is no platform `nosuch`",
        "port/bad.yaml:4:11: there is no clause `lsd/9.9/none`",
        "port/bad.yaml:7:9: found a map, expected a list of actions",
        "write it in brackets",
        "3 mistakes",
    ] {
        assert!(ran.out.contains(told), "{told}: {ran}");
    }
}

#[test]
fn after_a_green_run_nothing_failed_in_the_run_before() {
    let scratch = Scratch::new();
    scratch.file("port/quiet.yaml", &scenario(QUIET));
    let words = ["run", "./port", "--platform", "h100-oci", "--arm", "memory"];
    assert_eq!(scratch.run(&words).code, 0);
    let failed = scratch.run(&["run", "./port", "--failed"]);
    assert_eq!(failed.code, 4, "{failed}");
    assert!(
        failed.err.contains("nothing failed in the run before"),
        "{failed}"
    );
}

/// The list was emptied, so that nobody knows what failed.
#[test]
fn of_a_run_whose_lists_are_not_whole_nobody_says_that_nothing_failed() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", &scenario(UNFAIR));
    let words = ["run", "./port", "--platform", "h100-oci", "--arm", "memory"];
    assert_eq!(scratch.run(&words).code, 100);
    scratch.file("nicdrill.out/failed.txt", "");
    let failed = scratch.run(&["run", "./port", "--failed"]);
    assert_eq!(failed.code, 4, "{failed}");
    let told = "are in none of its lists";
    assert!(failed.err.contains(told), "{failed}");
    let told = "nothing was selected: the list `failed.txt` of the run before is empty";
    assert!(failed.err.contains(told), "{failed}");
    assert!(!failed.err.contains("nothing failed"), "{failed}");
}

#[rstest]
#[case::in_a_folder("port/unfair.yaml", "port/unfair.yaml")]
#[case::beside_one("unfair.yaml", "./unfair.yaml")]
#[case::above_one("unfair.yaml", "../here/unfair.yaml")]
#[case::with_a_space("my port/unfair.yaml", "my port/unfair.yaml")]
fn what_repeats_a_drill_works_when_it_is_pasted(#[case] file: &str, #[case] asked: &str) {
    let scratch = Scratch::new();
    scratch.file(&format!("here/{file}"), &scenario(UNFAIR));
    let line = format!("cd here && \"$NICDRILL\" run '{asked}' --platform h100-oci --arm memory");
    let ran = scratch.shell(&line);
    assert_eq!(ran.code, 100, "{ran}");
    let repeat = ran
        .out
        .lines()
        .find_map(|line| line.trim().strip_prefix("repeat it: nicdrill "))
        .unwrap_or_else(|| panic!("no command repeats it\n{ran}"));
    let again = scratch.shell(&format!("cd here && \"$NICDRILL\" {repeat}"));
    assert_eq!(again.code, 100, "{again}");
    assert!(
        again
            .out
            .contains("1 drill of `reference`: 0 passed, 1 failed"),
        "{again}"
    );
}

#[rstest]
#[case::a_name_that_looks_like_a_placeholder(
    "let: { a: { nth: 1 }, b: { nth: 2 } }\ntimeline:\n  - at: 2s\n    do: [ { reboot: { takes: 9s, names: { a: \"{b.device}\" } } } ]\n",
    &["7:", "`{b.device}` is no device name", "such as `mlx5_5`"]
)]
#[case::a_counter_that_no_driver_has(
    "let: { a: { nth: 1 } }\ntimeline:\n  - at: 2s\n    do: [ { counter: a, name: symbol_eror, add: 1 } ]\n    expect: [ { nothing: a } ]\n",
    &["7:", "unknown counter `symbol_eror`", "did you mean `symbol_error`?"]
)]
#[case::a_device_that_no_platform_has(
    "let: { a: { device: mlx5_99 } }\ntimeline:\n  - at: 2s\n    do: [ { cut: a } ]\n    expect: [ { fatal: a } ]\n",
    &["4:", "no platform that this applies to has the device `mlx5_99`"]
)]
fn what_no_platform_has_is_found_when_the_file_is_read(#[case] rest: &str, #[case] says: &[&str]) {
    let scratch = Scratch::new();
    scratch.file("port/bad.yaml", &scenario(rest));
    for command in ["list", "run"] {
        let ran = scratch.run(&[command, "port/bad.yaml", "--platform", "h100-oci"]);
        assert_eq!(ran.code, 2, "{ran}");
        for part in says {
            assert!(ran.err.contains(part), "does not say `{part}`: {ran}");
        }
    }
}

#[test]
fn a_misspelt_prefix_of_a_clause_is_a_warning() {
    let scratch = Scratch::new();
    let text =
        scenario(QUIET).replace("platforms: all", "covers: [ lsf/3.2/down ]\nplatforms: all");
    scratch.file("port/quiet.yaml", &text);
    let ran = scratch.run(&["run", "./port", "--platform", "h100-oci", "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.err.contains("warning: ./port/quiet.yaml:3:"), "{ran}");
    assert!(ran.err.contains("did you mean `lsd/3.2/down`?"), "{ran}");
}

#[rstest]
#[case::in_a_list("platforms: [ h100-occi ]")]
#[case::by_names("platforms: { names: [ h100-occi ] }")]
#[case::excepted("platforms: { not: [ h100-occi ] }")]
fn a_platform_that_is_misspelt_in_a_scenario_is_refused(#[case] platforms: &str) {
    let scratch = Scratch::new();
    let text = scenario(QUIET).replace("platforms: all", platforms);
    scratch.file("port/quiet.yaml", &text);
    let ran = scratch.run(&["run", "port/quiet.yaml", "--arm", "memory"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("port/quiet.yaml:3:"), "{ran}");
    assert!(
        ran.err.contains("there is no platform `h100-occi`"),
        "{ran}"
    );
    assert!(ran.err.contains("did you mean `h100-oci`?"), "{ran}");
}

#[rstest]
#[case("platform(h100-occi)")]
#[case("not platform(h100-occi) and port/*")]
#[case("port/cable-pulled@h100-occi")]
fn a_platform_that_is_misspelt_in_a_filter_is_refused(#[case] filter: &str) {
    let ran = Scratch::new().run(&["list", "--filter", filter]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err.contains("there is no platform `h100-occi`"),
        "{ran}"
    );
    assert!(ran.err.contains("did you mean `h100-oci`?"), "{ran}");
}

#[test]
fn what_failed_is_found_again_without_its_file() {
    let scratch = failed_on("h100-oci:vfs");
    let ran = scratch.run(&["run", "--failed", "--arm", "memory"]);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(
        ran.out
            .contains("1 drill of `reference`: 0 passed, 1 failed"),
        "{ran}"
    );
}

#[test]
fn a_run_before_whose_lists_lack_drills_is_told() {
    let scratch = failed_on("h100-oci:vfs");
    let drills = "[\"port/unfair@h100-oci:vfs\",\"port/unfair@h100-oci\",\"port/unfair@dgx-a100\"]";
    let plan = format!(
        "{{\"monitor\":\"reference\",\"again\":[\"port/unfair.yaml\"],\"drills\":{drills}}}\n"
    );
    scratch.file("nicdrill.out/run.json", &plan);
    let told = "NOTE  2 of the 3 drills of the run before are in none of its lists: it ended early, or they are not whole";
    let ran = scratch.run(&["list", "--failed", "--drills"]);
    assert!(ran.err.contains(told), "{ran}");
    let ran = scratch.run(&["accept", "--reason", "seen", "--yes"]);
    assert!(ran.err.contains(told), "{ran}");
}

#[test]
fn what_failed_is_drilled_with_the_same_monitor() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", &scenario(UNFAIR));
    scratch.file(
        "mine.yaml",
        "descriptor_version: 1\nname: mine\ncommand: [/bin/true]\n",
    );
    scratch.file("nicdrill.out/.gitignore", "*\n");
    scratch.file(
        "nicdrill.out/failed.txt",
        "port/unfair@h100-oci:vfs missed\n",
    );
    scratch.file(
        "nicdrill.out/run.json",
        "{\"monitor\":\"mine\",\"again\":[\"port/unfair.yaml\",\"--monitor\",\"mine.yaml\"]}\n",
    );
    let ran = scratch.run(&["list", "--failed", "--drills"]);
    assert!(
        ran.err
            .contains("`mine.yaml` is drilled, as in the run before"),
        "{ran}"
    );
    assert!(ran.out.contains("port/unfair@h100-oci:vfs"), "{ran}");
    let other = scratch.run(&["list", "--failed", "--monitor", "reference"]);
    assert!(
        !other.err.contains("is drilled, as in the run before"),
        "{other}"
    );
}

#[test]
fn no_times_at_all_has_a_hint_for_events_and_for_files() {
    let scratch = Scratch::new();
    let text = scenario(
        "let: { victim: { nth: 1 } }\ntimeline:\n  - { at: 3s, expect: [ { reads: victim/state, times: 0 } ] }\n",
    );
    scratch.file("port/bad.yaml", &text);
    let ran = scratch.run(&["list", "port/bad.yaml"]);
    assert!(ran.err.contains("`nothing: …`"), "{ran}");
    assert!(ran.err.contains("`times: at most 0`"), "{ran}");
}

#[test]
fn a_second_document_is_told_in_words_of_the_file() {
    let scratch = Scratch::new();
    scratch.file("port/two.yaml", &format!("{0}---\n{0}", scenario(QUIET)));
    let ran = scratch.run(&["list", "port/two.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("a second YAML document"), "{ran}");
    assert!(ran.err.contains("hint: "), "{ran}");
    assert!(!ran.err.contains("from_str"), "{ran}");
}

#[test]
fn a_duplicate_key_hides_no_other_mistake() {
    let scratch = Scratch::new();
    let text = scenario(QUIET).replace("why: a test", "why: a test\nwhy: another\nwhy: a third")
        + "unti: 4s\n";
    scratch.file("port/bad.yaml", &text);
    let ran = scratch.run(&["list", "port/bad.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    for says in [
        "port/bad.yaml:3:1: duplicate key `why`",
        "port/bad.yaml:4:1: duplicate key `why`",
        "`unti`",
    ] {
        assert!(ran.err.contains(says), "does not say `{says}`: {ran}");
    }
}

#[test]
fn the_mistakes_of_all_files_are_told() {
    let scratch = Scratch::new();
    let nowhere = "let: { a: { device: mlx5_99 } }\ntimeline:\n  - at: 2s\n    do: [ { cut: a } ]\n    expect: [ { fatal: a } ]\n";
    scratch.file("port/a.yaml", &(scenario(QUIET) + "unti: 4s\n"));
    scratch.file("port/b.yaml", &scenario(QUIET).replace("nth", "nthh"));
    scratch.file("port/c.yaml", &scenario(QUIET));
    scratch.file("more/d.yaml", &scenario(nowhere));
    let ran = scratch.run(&["list", "./port"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("a.yaml:"), "{ran}");
    assert!(ran.err.contains("b.yaml:"), "{ran}");
    assert!(!ran.err.contains("c.yaml:"), "{ran}");
    let misspelt = scenario(QUIET).replace("platforms: all", "platforms: [ h100-occi ]");
    scratch.file("more/e.yaml", &misspelt);
    let ran = scratch.run(&["list", "./more"]);
    assert!(ran.err.contains("d.yaml:4:"), "{ran}");
    assert!(ran.err.contains("e.yaml:3:"), "{ran}");
}

#[test]
fn hidden_folders_are_no_part_of_a_suite() {
    let scratch = Scratch::new();
    scratch.file("suite/port/quiet.yml", &scenario(QUIET));
    scratch.file("suite/.git/port/bad.yaml", "no scenario");
    scratch.file("suite/port/.bad.yaml", "no scenario");
    let ran = scratch.run(&["list", "./suite", "--drills", "--platform", "h100-oci:vfs"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("port/quiet@h100-oci:vfs"), "{ran}");
    assert!(ran.out.contains("1 drill ("), "{ran}");
}

#[test]
fn an_empty_reason_is_told_of_the_argument() {
    let scratch = failed_on("h100-oci");
    let ran = scratch.run(&["accept", "--yes", "--reason", " "]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("`--reason` is empty"), "{ran}");
    assert!(!ran.err.contains("known.toml"), "{ran}");
}

#[rstest]
#[case("html=taken", 110, "`taken` cannot be written")]
#[case("junit=/proc/report.xml", 110, "`/proc/report.xml` cannot be written")]
#[case("junit=missing/x.xml", 110, "there is no folder `missing`")]
#[case("html=one,junit=one", 2, "`one` is named for two reports")]
#[case("html=one,junit=./one", 2, "`./one` is named for two reports")]
fn a_report_that_cannot_be_written_is_told_before_the_run(
    #[case] report: &str,
    #[case] code: i32,
    #[case] says: &str,
) {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("taken")).expect("it is new");
    let ran = scratch.run(&[
        "run",
        "port/cable-pulled@dgx-h100",
        "--arm",
        "memory",
        "--report",
        report,
    ]);
    assert_eq!(ran.code, code, "{ran}");
    assert!(ran.err.contains(says) && ran.out.is_empty(), "{ran}");
    assert!(
        !scratch.path("nicdrill.out").exists(),
        "nothing was drilled"
    );
    assert!(!scratch.path("one").exists());
}

/// No file may have more than a KiB, as on a disk that is full by then.
#[test]
fn each_report_that_cannot_be_written_is_told() {
    let scratch = Scratch::new();
    let ran = scratch.shell(
        "trap '' XFSZ; ulimit -f 1; \"$NICDRILL\" run port/cable-pulled@dgx-h100 --arm memory \
         --report json=a.json,html=b.html",
    );
    assert_eq!(ran.code, 110, "{ran}");
    for file in ["a.json", "b.html"] {
        let told = format!("error: `{file}` cannot be written: ");
        assert!(ran.err.contains(&told), "{ran}");
    }
}

#[rstest]
#[case(&["--repeat", "999999999999"], &["'999999999999'", "whole number, 1 to 10000"])]
#[case(&["--repeat", "0"], &["'0'", "whole number, 1 to 10000"])]
#[case(&["--seed", "18446744073709551616"], &["--seed", "whole number, 0 to 18446744073709551615"])]
#[case(&["--budget", "60"], &["invalid duration `60`", "`60s`"])]
#[case(&["--budget", "0s"], &["invalid duration `0s`", "longer than zero"])]
#[case(&["--monitor", "deaf"], &["`deaf` is a wrong monitor of the zoo", "`nicdrill zoo --only deaf`"])]
fn a_wrong_argument_is_told_with_what_is_meant(#[case] words: &[&str], #[case] says: &[&str]) {
    let ran = Scratch::new().run(&[&["run", "port/cable-pulled@dgx-h100"], words].concat());
    assert_eq!(ran.code, 2, "{ran}");
    for part in says {
        assert!(ran.err.contains(part), "{part}: {ran}");
    }
}

/// What is left of a file would stand in the way of the next attempt.
#[rstest]
#[case::a_platform("platform new mine --from dgx-a100", "mine.yaml")]
#[case::a_monitor("init --lang python mine", "mine/monitor.py")]
fn a_file_that_cannot_be_written_to_its_end_is_not_left(#[case] words: &str, #[case] file: &str) {
    let scratch = Scratch::new();
    let ran = scratch.shell(&format!("trap '' XFSZ; ulimit -f 1; \"$NICDRILL\" {words}"));
    assert_ne!(ran.code, 0, "{ran}");
    assert!(
        ran.err.contains("cannot be written") && !scratch.path(file).exists(),
        "{ran}"
    );
    let again = scratch.shell(&format!("\"$NICDRILL\" {words}"));
    assert_eq!(again.code, 0, "{again}");
    assert!(scratch.path(file).exists(), "{again}");
}

/// In memory the logic of the reference monitor is played, so a descriptor of another one would be green by it.
#[test]
fn no_other_monitor_is_played_in_memory() {
    let example = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/loses-events.yaml"
    ));
    let example = example
        .expect("the docs have it")
        .replace("memory: false\n", "memory: true\n");
    let scratch = Scratch::new();
    scratch.file("mine.yaml", &example);
    for words in [
        ["check", "mine.yaml"].as_slice(),
        &[
            "run",
            "--monitor",
            "mine.yaml",
            "port/cable-pulled",
            "--arm",
            "memory",
        ],
    ] {
        let ran = scratch.run(words);
        assert_eq!(ran.code, 2, "{ran}");
        let said = format!("{}{}", ran.out, ran.err);
        assert!(
            said.contains("`memory: true` is for the reference monitor"),
            "{ran}"
        );
    }
}

#[test]
fn what_shows_a_drill_of_a_file_works_when_it_is_pasted() {
    let scratch = Scratch::new();
    scratch.file("unfair.yaml", &scenario(UNFAIR));
    let ran = scratch.run(&["show", "./unfair.yaml", "--platforms", "h100-oci"]);
    let lines = &mut ran.out.lines();
    let repeat = lines.find_map(|line| line.trim().strip_prefix("repeat it: nicdrill "));
    let repeat = repeat.unwrap_or_else(|| panic!("no command repeats it\n{ran}"));
    let again = scratch.shell(&format!("\"$NICDRILL\" {repeat}"));
    assert_eq!((again.code, again.out), (ran.code, ran.out));
}

/// Its reader gets the report, and not an end before it.
#[test]
fn a_report_goes_into_a_pipe() {
    let scratch = Scratch::new();
    let ran = scratch.shell(
        "mkfifo pipe; cat pipe > got & \"$NICDRILL\" run port/cable-pulled@dgx-h100 --arm memory --report json=pipe; wait",
    );
    assert_eq!(ran.code, 0, "{ran}");
    let got = fs::read_to_string(scratch.path("got")).expect("it was read");
    assert!(got.contains("port/cable-pulled"), "{got}");
}

/// A disk that is full is found out by who asked, and not by who reads an empty file later.
#[rstest]
#[case::list("list")]
#[case::explain("explain F13")]
#[case::proto("proto")]
#[case::schema("schema scenario")]
#[case::lnet("lnet show lnet/second-interface-carries --trace")]
#[case::run("run port/cable-pulled@dgx-h100 --arm memory")]
fn what_does_not_get_onto_a_full_disk_is_told(#[case] words: &str) {
    let scratch = Scratch::new();
    let ran = scratch.shell(&format!("\"$NICDRILL\" {words} > /dev/full"));
    assert_eq!(ran.code, 110, "{ran}");
    assert!(
        ran.err
            .contains("error: stdout cannot be written: No space left on device"),
        "{ran}"
    );
}

#[test]
fn a_reader_that_has_read_enough_ends_a_command_without_an_error() {
    let scratch = Scratch::new();
    let ran = scratch.shell("{ \"$NICDRILL\" list --json; echo $? >&2; } | head -n 1");
    assert_eq!(ran.err, "0\n", "{ran}");
}
