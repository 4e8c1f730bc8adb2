//! The command line for people and scripts: what it rejects and with which place, its exit codes,
//! and the files it leaves. All tests run the binary.

use std::fs;

use rstest::rstest;
use serde_json::Value;

use crate::scratch::Scratch;

/// The shortest scenario that can be drilled, with its timeline to be filled in.
fn scenario(rest: &str) -> String {
    format!("scenario: a test\nwhy: a test\nplatforms: all\n{rest}")
}

const QUIET: &str = "let: { victim: { nth: 1 } }\ntimeline:\n  - at: 0s\n    expect: [ { this_poll: baseline } ]\nuntil: 3s\n";

#[rstest]
#[case::unknown_key("timelin: []\n", "4:1", "`timelin`", "did you mean `timeline`?")]
#[case::duplicate_key(
    "until: 3s\nuntil: 4s\ntimeline: []\n",
    "5:1",
    "duplicate key `until`",
    "keep one"
)]
#[case::misspelt_verb(
    "let: { victim: { nth: 1 } }\ntimeline:\n  - at: 1s\n    do: [ { cutt: victim } ]\n",
    "7:13",
    "cutt",
    "cut"
)]
#[case::time_goes_backwards(
    "let: { victim: { nth: 1 } }\ntimeline:\n  - at: 5s\n    do: [ { cut: victim } ]\n  - at: 3s\n    do: [ { mend: victim } ]\n",
    "8:5",
    "3s comes after 5s",
    "sort the steps by time"
)]
#[case::unknown_port(
    "timeline:\n  - at: 1s\n    do: [ { cut: nobody } ]\n",
    "6:18",
    "nobody",
    ""
)]
#[case::role_that_does_not_exist(
    "let: { victim: { role: compuet, nth: 1 } }\ntimeline: []\n",
    "4:24",
    "compuet",
    "compute"
)]
fn bad_input_is_refused_with_its_place(
    #[case] rest: &str,
    #[case] place: &str,
    #[case] names: &str,
    #[case] hint: &str,
) {
    let scratch = Scratch::new();
    scratch.file("port/bad.yaml", &scenario(rest));
    let ran = scratch.run(&["run", "port/bad.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains(&format!("port/bad.yaml:{place}")), "{ran}");
    assert!(ran.err.contains(names) && ran.err.contains(hint), "{ran}");
    assert!(
        !scratch.path("nicdrill.out").exists(),
        "a run that never began left a folder"
    );
}

#[test]
fn a_file_over_the_limit_is_refused_unread() {
    let scratch = Scratch::new();
    scratch.file("port/big.yaml", &format!("# {}\n", "x".repeat(1024 * 1024)));
    let ran = scratch.run(&["run", "port/big.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("1048579 bytes, at most 1048576"), "{ran}");
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let below = vec![format!("*a{}", level - 1); 8].join(", ");
        bomb += &format!("a{level}: &a{level} [{below}]\n");
    }
    let scratch = Scratch::new();
    scratch.file("port/bomb.yaml", &bomb);
    let ran = scratch.run(&["run", "port/bomb.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("port/bomb.yaml"), "{ran}");
}

#[test]
fn a_story_that_fits_nowhere_is_not_applicable_and_counted() {
    let scratch = Scratch::new();
    let text = scenario(QUIET).replace(
        "platforms: all",
        "platforms: { with: { compute_cards: \">= 99\" } }",
    );
    scratch.file("port/nowhere.yaml", &text);
    let ran = scratch.run(&["run", "port/nowhere.yaml"]);
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.err.contains("pairs do not fit"), "{ran}");
    let listed = scratch.run(&["list", "--drills", "port/nowhere.yaml"]);
    assert_eq!(listed.code, 4, "{listed}");
    assert!(
        listed
            .out
            .contains("port/nowhere@h100-oci  not applicable: "),
        "{listed}"
    );
}

/// A drill is named `scenario@platform`, and no platform has a `@` in its name.
#[test]
fn a_file_of_a_scenario_may_have_an_at_in_its_name() {
    let scratch = Scratch::new();
    scratch.file("mine/at@night.yaml", &scenario(QUIET));
    let drill = "mine/at@night@h100-oci";
    for name in ["mine/at@night", drill] {
        let listed = scratch.run(&["list", "--drills", "mine", name]);
        assert_eq!(listed.code, 0, "{listed}");
        assert!(listed.out.contains(&format!("{drill}  ")), "{listed}");
    }
    let shown = scratch.run(&["show", "--scenarios", "mine", drill]);
    assert_eq!(shown.code, 0, "{shown}");
}

/// What a scenario's name and a platform mean, its file and a platform mean as well.
#[rstest]
#[case::one(&["./port/quiet.yaml@dgx-a100"], &["port/quiet@dgx-a100"])]
#[case::without_a_folder(&["alone.yaml@dgx-a100"], &["alone@dgx-a100"])]
#[case::a_folder(&["./port@dgx-a100"], &["port/other@dgx-a100", "port/quiet@dgx-a100"])]
#[case::two(&["./port/quiet.yaml@dgx-a100", "./port/other.yaml@mi300x"], &["port/other@mi300x", "port/quiet@dgx-a100"])]
#[case::beside_one_without(&["./port/quiet.yaml@dgx-a100", "./port/other.yaml", "--platform", "dgx-a100,mi300x"], &["port/other@dgx-a100", "port/other@mi300x", "port/quiet@dgx-a100"])]
fn a_file_is_played_on_the_platform_behind_it(#[case] asked: &[&str], #[case] drills: &[&str]) {
    let scratch = Scratch::new();
    for file in ["port/quiet.yaml", "port/other.yaml", "alone.yaml"] {
        scratch.file(file, &scenario(QUIET));
    }
    let listed = scratch.run(&[&["list", "--drills"], asked].concat());
    assert_eq!(listed.code, 0, "{listed}");
    let lines = listed.out.lines().filter(|line| line.contains('@'));
    let mut told: Vec<&str> = lines
        .filter_map(|line| line.split_whitespace().next())
        .filter(|drill| !drill.contains(':'))
        .collect();
    told.sort_unstable();
    assert_eq!(told, drills, "{listed}");
}

#[rstest]
#[case(&["show", "./story.yaml@storage-pair"], "story on storage-pair")]
#[case(&["lnet", "show", "./story.yaml@storage-pair", "client", "--view", "stats"], "# lnetctl stats show on client")]
#[case(&["link", "show", "story.yaml@storage-pair", "--summary"], "client")]
fn the_file_of_one_drill_may_have_its_world_behind_it(#[case] words: &[&str], #[case] told: &str) {
    let scratch = Scratch::new();
    scratch.file(
        "story.yaml",
        "scenario: a cable is pulled\nwhy: a test\nworld: storage-pair\nmonitors: [ client ]\n\
         workloads: { storage: { lnet: { client: client, server: server } } }\n\
         let: { victim: { node: client, device: mlx5_1 } }\n\
         timeline: [ { at: 4s, do: [ { cut: victim } ], expect: [ { fatal: victim } ] } ]\nuntil: 5s\n",
    );
    let shown = scratch.run(words);
    assert_eq!(shown.code, 0, "{shown}");
    assert!(shown.out.contains(told), "{shown}");
}

#[test]
fn a_file_on_a_platform_that_is_misspelt_is_refused() {
    let scratch = Scratch::new();
    scratch.file("port/quiet.yaml", &scenario(QUIET));
    let ran = scratch.run(&["run", "./port/quiet.yaml@h100-oic"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("did you mean `h100-oci`"), "{ran}");
}

#[rstest]
#[case(&["run", "--filter", "family(port"], "`)` is missing")]
#[case(&["run", "--shard", "3/2"], "invalid shard `3/2`")]
#[case(&["run", "--platform", "h100-oic"], "did you mean `h100-oci`")]
#[case(&["run", "start/baselin"], "did you mean `start/baseline`")]
#[case(&["run", "--monitor", "refrence"], "there is no monitor `refrence`")]
#[case(&["run", "--failed"], "`--failed` repeats what failed")]
#[case(&["run", "--report", "xml=x"], "`junit=FILE`")]
#[case(&["run", "--jobs", "0"], "it is a whole number, 1 to 4096")]
#[case(&["run", "--jobs", "4097"], "it is a whole number, 1 to 4096")]
#[case(&["run", "--drill-limit", "999ms"], "`--drill-limit 999ms` is from 1s to 1h")]
#[case(&["run", "--drill-limit", "2h"], "`--drill-limit 2h` is from 1s to 1h")]
#[case(&["run", "--drill-limit", "long"], "invalid duration `long`")]
#[case(&["run", "--bless"], "given by path")]
#[case(&["run", "--report", "html="], "`html=FILE`")]
#[case(&["run", "--report", "gitlab"], "`gitlab=FILE`")]
#[case(&["run", "--report", "github="], "`github=FILE`")]
#[case(&["compare", "reference", "--report", "json=x"], "a comparison is written as `html=FILE`")]
#[case(&["run", "--arm", "realtime"], "[possible values: memory, process, both]")]
#[case(&["list", "--real-time-at-most", "0"], "invalid duration `0`\nhint: it is longer than zero")]
#[case(&["list", "--real-time-at-most", "0s"], "invalid duration `0s`\nhint: it is longer than zero")]
#[case(&["list", "--real-time-at-most", "5"], "invalid duration `5`\nhint: write its unit, as in `5s`")]
#[case(&["link", "show", "link/cable-pulled", "--at", "noon"], "invalid duration `noon`")]
#[case(&["link", "show", "link/cable-port-or-host", "--at", "1h"], "the story ends at 40s, before `1h`\nhint: write a time up to 40s")]
#[case(&["link", "show", "link/cable-pulled@dgx-a100", "mlx5_77"], "no port `mlx5_77` on dgx-a100")]
#[case(&["link", "show", "link/cable-port-or-host", "--switch", "leaf-9"], "no switch `leaf-9` in opa-pod\nhint: the switches are `leaf-1`, `leaf-2`")]
#[case(&["link", "show", "link/cable-pulled@dgx-a100", "--switch", "leaf-1"], "hint: only the file of a world of several nodes names switches")]
#[case(&["link", "show", "link/cable-port-or-host", "--dmesg", "--fm-log"], "cannot be used with")]
#[case(&["link", "show", "link/cable-port-or-host", "host-1/hfi1_2", "--summary"], "cannot be used with")]
#[case(&["link", "show", "link/cable-puled"], "did you mean `link/cable-pulled`")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "clinet"], "no node on LNet `clinet`")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "--view", "nett"], "`nett` is not a view of LNet")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "--why", "999999"], "no message 999999 was sent\nhint: messages are numbered up to")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "--over", "9s"], "invalid span `9s`\nhint: write two times, the earlier first, as in `0s..120s`")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "--over", "9s..8s"], "invalid span `9s..8s`")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "--over", "900s..990s"], ", before `900s..990s`\nhint: write a time up to ")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "--over", "9s..500s"], "the story ends at 65s, before `9s..500s`\nhint: write a time up to 65s")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "clinet", "--over", "1s..8s"], "no node on LNet `clinet`")]
#[case(&["lnet", "show", "port/cable-pulled@h100-oci"], "has no workload on LNet")]
#[case(&["mpib", "show", "mpib/mesh-of-eight", "--workload", "jbo"], "no job over MPIB `jbo`")]
#[case(&["mpib", "show", "port/cable-pulled@h100-oci"], "has no job over MPIB")]
#[case(&["record", "--platform", "h100-oic"], "did you mean `h100-oci`")]
#[case(&["record", "--platform", "h100-oci", "--for", "1"], "invalid duration `1`")]
#[case(&["platform", "capture", "--root", ".", "--read-limit", "0s"], "invalid duration `0s`")]
#[case(&["record", "--platform", "h100-oci", "--root", "."], "none of its NICs is on the bus")]
#[case(&["schema", "weather"], "invalid value 'weather'")]
#[case(&["platform", "new", "mine", "--from", "h100-oic"], "did you mean `h100-oci`")]
#[case(&["platform", "new", "dgx-a100"], "there is a platform `dgx-a100` already")]
#[case(&["platform", "capture", "--name", "dgx-a100"], "there is a platform `dgx-a100` already")]
#[case(&["platform", "new", "a b"], "`a b` cannot be a platform's name\nhint: small letters, digits, `-`, `_` and `.`")]
#[case(&["platform", "new", "../x"], "`../x` cannot be a platform's name")]
#[case(&["platform", "capture", "--root", ".", "--name", "a@b"], "`a@b` cannot be a platform's name")]
#[case(&["platform", "capture", "--from-dump", "empty"], "`empty` is empty\nhint: a dump is one file")]
#[case(&["platform", "capture", "--from-dump", "/dev/null"], "`/dev/null` is not a regular file")]
#[case(&["platform", "capture", "--from-dump", "."], "`.` is a folder\nhint: a dump is one file")]
#[case(&["platform", "capture", "--root", "."], "there are no NICs of interest")]
#[case(&["platform", "topo", "mi300x"], "its GPUs are not NVIDIA's")]
#[case(&["platform", "show", "h100-oic"], "did you mean `h100-oci`")]
#[case(&["suite", "check", "--seed", "x"], "it is a whole number, 0 to 18446744073709551615")]
#[case(&["help", "weather"], "there is no help about `weather`")]
#[case(&["zoo", "--only", "unicorn"], "there is no wrong monitor `unicorn`")]
fn a_wrong_word_is_refused_by_name(#[case] words: &[&str], #[case] reported: &str) {
    let scratch = Scratch::new();
    scratch.file("empty", "");
    let ran = scratch.run(words);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains(reported), "{ran}");
}

#[test]
fn golden_traces_are_not_renewed_by_a_machine() {
    let scratch = Scratch::new();
    scratch.file("port/quiet.yaml", &scenario(QUIET));
    let ran = scratch.run_with(&["run", "./port", "--bless"], &[("CI", "true")]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("refused while CI is set"), "{ran}");
}

#[test]
fn a_run_ends_with_0_and_leaves_its_folder() {
    let scratch = Scratch::new();
    let ran = scratch.run(&["run", "start/baseline@h100-oci", "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.out
            .contains("\n1 drill of `reference`: 1 passed, 0 failed; memory arm: 1 of 1 run"),
        "{ran}"
    );
    assert_eq!(
        scratch.text("nicdrill.out/passed.txt"),
        "start/baseline@h100-oci\n"
    );
    assert_eq!(scratch.text("nicdrill.out/.gitignore"), "*\n");
    let plan: Value = serde_json::from_str(&scratch.text("nicdrill.out/run.json")).unwrap();
    assert_eq!(plan["drills"][0]["drill"], "start/baseline@h100-oci");
    let events = scratch.text("nicdrill.out/events.jsonl");
    let kinds: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone())
        .collect();
    assert_eq!(
        kinds,
        ["run-started", "drill-started", "drill-passed", "run-ended"]
    );
}

#[test]
fn nothing_selected_ends_with_4() {
    let ran = Scratch::new().run(&["run", "--filter", "family(nothing)"]);
    assert_eq!(ran.code, 4, "{ran}");
}

/// A story in which a cable is pulled and no event is expected.
fn unfair() -> String {
    scenario(
        "let: { victim: { nth: 1 } }\ntimeline:\n  - at: 0s\n    expect: [ { this_poll: baseline } ]\n  - at: 2s\n    do: [ { disable: victim } ]\n    expect: [ { nothing: victim } ]\nuntil: 5s\n",
    )
}

#[test]
fn a_wrong_judgement_ends_with_100_and_can_be_repeated_by_one_command() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", &unfair());
    scratch.file("port/quiet.yaml", &scenario(QUIET));
    let words = ["run", "./port", "--platform", "h100-oci", "--arm", "memory"];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 100, "{ran}");
    let repeat = ran
        .out
        .lines()
        .find_map(|line| line.trim().strip_prefix("repeat it: nicdrill "));
    let repeat: Vec<&str> = repeat
        .expect("the command that repeats it")
        .split(' ')
        .collect();
    assert_eq!(
        repeat,
        ["run", "./port", "port/unfair@h100-oci", "--arm", "memory"]
    );
    let again = scratch.run(&repeat);
    assert_eq!(again.code, 100, "{again}");
    let folder = "nicdrill.out/drills/port/unfair@h100-oci";
    for file in [
        "story.yaml",
        "memory-reads.txt",
        "memory-events.txt",
        "memory-health-events.jsonl",
        "memory-log.txt",
        "memory-state.json",
    ] {
        assert!(scratch.path(&format!("{folder}/{file}")).exists(), "{file}");
    }
    assert!(scratch.path("nicdrill.out.old/run.json").exists());
    let failed = scratch.run(&["run", "./port", "--failed", "--arm", "memory"]);
    assert_eq!(failed.code, 100, "{failed}");
    assert!(
        failed
            .out
            .contains("1 drill of `reference`: 0 passed, 1 failed"),
        "{failed}"
    );
}

#[test]
fn fail_fast_ends_at_the_first_failure_and_says_what_was_not_reached() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", &unfair());
    let ran = scratch.run(&[
        "run",
        "./port",
        "--arm",
        "memory",
        "--fail-fast",
        "--jobs",
        "1",
    ]);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(
        ran.out
            .contains("1 drill of `reference`: 0 passed, 1 failed, "),
        "{ran}"
    );
    assert!(ran.out.contains(" not reached"), "{ran}");
}

#[test]
fn a_report_that_cannot_be_written_ends_with_110_and_a_folder_that_is_a_file_with_2() {
    let scratch = Scratch::new();
    let words = [
        "run",
        "start/baseline@h100-oci",
        "--arm",
        "memory",
        "--report",
        "json=/dev/null/x",
    ];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 110, "{ran}");
    assert!(ran.err.contains("`/dev/null`"), "{ran}");
    let words = [
        "run",
        "start/baseline@h100-oci",
        "--arm",
        "memory",
        "--out",
        "/dev/null/x",
    ];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("`/dev/null` is no folder"), "{ran}");
}

#[test]
fn a_folder_that_holds_no_run_is_never_moved_away() {
    let scratch = Scratch::new();
    scratch.file("nicdrill.out/thesis.txt", "dear");
    let ran = scratch.run(&["run", "start/baseline@h100-oci", "--arm", "memory"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert_eq!(scratch.text("nicdrill.out/thesis.txt"), "dear");
}

#[test]
fn both_reports_are_written_and_agree() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", &unfair());
    scratch.file("r/other", "");
    let words = [
        "run",
        "./port",
        "--platform",
        "h100-oci",
        "--arm",
        "memory",
        "--report",
        "json=r/run.json,junit=r/run.xml",
    ];
    assert_eq!(scratch.run(&words).code, 100);
    let json: Value = serde_json::from_str(&scratch.text("r/run.json")).unwrap();
    let xml = scratch.text("r/run.xml");
    assert_eq!(json["results_version"], 3);
    let failed = json["summary"]["failed"].as_u64().unwrap();
    assert!(failed > 0);
    assert!(
        xml.contains(&format!("errors=\"0\" failures=\"{failed}\"")),
        "{xml}"
    );
}

#[test]
fn repeats_have_a_folder_each_and_are_equal_outside_wall() {
    fn without_wall(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.remove("wall");
                members.values_mut().for_each(without_wall);
            }
            Value::Array(items) => items.iter_mut().for_each(without_wall),
            _ => {}
        }
    }
    let scratch = Scratch::new();
    let words = [
        "run",
        "start/baseline",
        "port/cable-pulled",
        "--arm",
        "memory",
        "--repeat",
        "3",
        "--jobs",
        "2",
        "--keep",
    ];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    let rendered = |number: u32| {
        let text = scratch.text(&format!("nicdrill.out/repeat-{number:02}/events.jsonl"));
        let lines = text.lines().map(|line| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            without_wall(&mut event);
            event
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(rendered(1), rendered(2));
    assert_eq!(rendered(1), rendered(3));
    let events = |number: u32| {
        scratch.text(&format!(
            "nicdrill.out/repeat-{number:02}/drills/start/baseline@h100-oci/memory-events.txt"
        ))
    };
    assert_eq!(events(1), events(3));
}

#[test]
fn shards_share_the_run() {
    let scratch = Scratch::new();
    let list = |words: &[&str]| {
        let ran = scratch.run(&[&["list", "--drills", "start"], words].concat());
        let mut drills: Vec<String> = ran
            .out
            .lines()
            .filter(|line| line.contains('@'))
            .map(str::to_owned)
            .collect();
        drills.retain(|line| !line.contains("not applicable"));
        drills
    };
    let mut together = list(&["--shard", "1/2"]);
    together.extend(list(&["--shard", "2/2"]));
    together.sort();
    let mut all = list(&[]);
    all.sort();
    assert_eq!(together, all);
}

#[test]
fn a_coverage_names_every_clause_and_fails_where_nothing_narrows_the_run_down() {
    let scratch = Scratch::new();
    scratch.file("port/fair.yaml", &scenario(QUIET));
    let words = ["run", "./port", "--arm", "memory", "--coverage"];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(
        ran.out.contains("UNCOVERED: lsd/3.2/down-is-fatal: "),
        "{ran}"
    );
    assert!(ran.err.contains("clauses are uncovered"), "{ran}");
    let narrow = [
        &words[..],
        &["--platform", "h100-oci", "--report", "json=run.json"],
    ]
    .concat();
    let ran = scratch.run(&narrow);
    assert_eq!(ran.code, 0, "{ran}");
    let json: Value = serde_json::from_str(&scratch.text("run.json")).unwrap();
    let count = &json["coverage"]["count"];
    assert!(count["uncovered"].as_u64().unwrap() > 0, "{count}");
    assert!(count["clauses"].as_u64().unwrap() > 400, "{count}");
    assert!(
        scratch
            .text("nicdrill.out/events.jsonl")
            .contains("\"event\":\"coverage\"")
    );
}

#[test]
fn a_clause_that_does_not_exist_is_refused_with_the_nearest() {
    let scratch = Scratch::new();
    let covers = scenario(QUIET).replacen("why:", "covers: [ lsd/3.2/down-is-fatl ]\nwhy:", 1);
    scratch.file("port/misspelt.yaml", &covers);
    let ran = scratch.run(&["run", "./port"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err
            .contains("there is no clause `lsd/3.2/down-is-fatl`"),
        "{ran}"
    );
    assert!(
        ran.err.contains("did you mean `lsd/3.2/down-is-fatal`?"),
        "{ran}"
    );
}

#[test]
fn a_foreign_repository_needs_only_its_settings() {
    let scratch = Scratch::new();
    scratch.file(
        "nicdrill.toml",
        "scenarios = [\"stories\"]\nout = \"out\"\n",
    );
    scratch.file("stories/port/quiet.yaml", &scenario(QUIET));
    let ran = scratch.run(&["run", "--arm", "memory", "--platform", "h100-oci"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        scratch
            .text("out/passed.txt")
            .contains("port/quiet@h100-oci\n")
    );
    scratch.file("nicdrill.toml", "scenarois = []\n");
    let ran = scratch.run(&["run"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("nicdrill.toml:1:1"), "{ran}");
}

#[test]
fn a_vendors_ninth_platform_needs_no_code() {
    let scratch = Scratch::new();
    let shipped = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../platforms/profiles/h100-oci.yaml"
    ));
    scratch.file(
        "mine/ninth.yaml",
        &shipped.unwrap().replace("name: h100-oci", "name: ninth"),
    );
    let checked = scratch.run(&["platform", "check", "./mine"]);
    assert_eq!(checked.code, 0, "{checked}");
    assert!(
        checked.out.starts_with("ninth: 18 ports, as declared\n"),
        "{checked}"
    );
    let ran = scratch.run(&[
        "run",
        "start/baseline",
        "--platform",
        "./mine",
        "--arm",
        "memory",
    ]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        scratch
            .text("nicdrill.out/passed.txt")
            .contains("start/baseline@ninth\n")
    );
    let broken = scratch
        .text("mine/ninth.yaml")
        .replacen("role: compute", "role: storage", 1);
    scratch.file("mine/ninth.yaml", &broken);
    let checked = scratch.run(&["platform", "check", "./mine"]);
    assert_eq!(checked.code, 2, "{checked}");
    assert!(checked.out.contains("NOT as declared"), "{checked}");
}

#[test]
fn a_drill_is_shown_with_its_timeline_events_consequences_and_reads() {
    let ran = Scratch::new().run(&["show", "port/cable-pulled@h100-oci"]);
    assert_eq!(ran.code, 0, "{ran}");
    for part in [
        "Timeline",
        "10s  do",
        "Events",
        "state DOWN",
        "Consequences",
        "10s  cordon     node-a by NIC health monitor",
        "uncordon   node-a",
        "Reads",
        "ports/1/state",
        "PASS",
    ] {
        assert!(ran.out.contains(part), "{part}: {ran}");
    }
}

#[test]
fn a_reader_that_goes_away_is_a_quiet_end() {
    let ran = Scratch::new().shell("\"$NICDRILL\" help scenario | head -n 1");
    assert_eq!(ran.err, "", "{ran}");
}

#[test]
fn a_zoo_without_the_scenarios_that_catch_is_red() {
    let scratch = Scratch::new();
    let ran = scratch.run(&["zoo", "start/baseline", "--arm", "memory"]);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(ran.out.contains("not caught"), "{ran}");
}

/// Each is caught by only one scenario of the suite.
#[rstest]
#[case("debounces-one-poll-short", "device/debounced-by-three-polls")]
#[case(
    "one-failed-check-silences-the-other",
    "connector/one-check-refused-the-other-taken"
)]
#[case("patience-starts-anew", "restart/keeps-the-patience")]
fn a_zoo_without_the_only_catcher_is_red(#[case] mutant: &str, #[case] catcher: &str) {
    let scratch = Scratch::new();
    let words = [
        "zoo",
        "--arm=memory",
        "--platform=dgx-h100",
        "--only",
        mutant,
    ];
    let whole = scratch.run(&words);
    assert_eq!(whole.code, 0, "{whole}");
    assert!(whole.out.contains(catcher), "{whole}");
    let without = format!("not {catcher}");
    let ran = scratch.run(&[&words[..], &["--filter", &without]].concat());
    assert_eq!(ran.code, 100, "{ran}");
    assert!(ran.out.contains("not caught"), "{ran}");
}

#[test]
fn a_scenario_that_is_of_no_use_is_a_finding_of_the_zoo() {
    let scratch = Scratch::new();
    scratch.file(
        "mine/idle.yaml",
        "scenario: nothing happens\nwhy: it is of no use\nplatforms: { names: [ dgx-h100 ] }\n\
         timeline: [ { at: 0s, expect: [ { this_poll: baseline } ] } ]\nuntil: 2s\n",
    );
    let ran = scratch.run(&["zoo", "./mine", "--arm", "memory", "--full"]);
    assert_eq!(ran.code, 100, "{ran}");
    let rendered = "idle catches nobody and states no row of a table";
    assert!(ran.out.contains(rendered), "{ran}");
}

#[test]
fn a_wrong_monitor_is_listed_with_the_story_in_which_it_is_right_at_first() {
    let ran = Scratch::new().run(&["zoo", "--list", "--only", "tie-goes-up"]);
    assert_eq!(ran.code, 0, "{ran}");
    for part in ["models", "right   for 20 polls when", "  | timeline:"] {
        assert!(ran.out.contains(part), "{part}: {ran}");
    }
}
