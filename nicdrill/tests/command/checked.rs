//! `nicdrill check`: every mistake of every kind of file, each with its place.

use rstest::rstest;

use crate::scratch::{Ran, Scratch};

/// A scenario with two mistakes.
const SCENARIO: &str = "\
scenario: a port is disabled
why: a test
platforms: al
let: { victim: { nth: 1 } }
timeline:
  - { at: 2s, do: [ { disabel: victim } ] }
";
const WORLD: &str = "\
world: pair
why: a test
nodes:
  - { name: one, platform: dgx-a100 }
switches: [ leaf-1 ]
cables:
  - { device: mlx5_0, to: leef-1 }
  - { nodes: two, device: mlx5_1, to: leaf-1 }
";
const KNOWN: &str = "\
[[known]]
id = \"a/b\"
reason = \" \"
expires = 07:32:00
[[known]]
id = \"a/b\"
link = 5
reasn = \"x\"
[[known]]
id = \"x#\"
";
const CABLING: &str = "\
world_version = 1
switchs = 1
[switches]
leaf = [\"one/mlx5_0\"]
";
const PLATFORM: &str = include_str!("../vendor/acme0.yaml");
const DRIVER: &str = include_str!("../vendor/acme-ib.yaml");
const DESCRIPTOR: &str = "\
descriptor_version: 1
name: mine
command: [ ./mine ]
clock: ownn
lisitngs_per_poll: 1
";
const DESCRIPTOR_THAT_CANNOT_BE: &str = "\
descriptor_version: 1
name: mine
command: [ ./mine, \"--root={rot}\" ]
listings_per_poll: 0
vendors: []
";
const DESCRIPTOR_WITH_BOTH: &str = "\
descriptor_version: 9
name: mine
command: [ ./mine, \"--root={rot}\", \"--socket={sockt}\" ]
env: { NODE: \"{nod}\" }
clock: ownn
listings_per_poll: 0
";
/// What is wrong with `lines` follows from the key that is misspelt.
const DESCRIPTOR_WITH_A_CONSEQUENCE: &str = "\
descriptor_version: 1
name: mine
command: [ ./mine ]
spekas: lines
lines:
  - { pattern: down, sais: fatal }
  - { pattern: up }
vendors: []
";
const NEEDS: &str = "\
needs_version: 1
kinds:
  down: { noticed: 5s }
  rebot: { noticed: within 5s }
";
const DESCRIPTOR_OF_SEVERAL_PROTOCOLS: &str = "\
descriptor_version: 1
name: mine
speaks: exit-code
command: [ ./mine ]
exit_code: { codes: nhc, drained_by: me }
schedule: { interval: 5m, phase: 6m }
lines: [ { pattern: x, says: fatal } ]
promises: { like: nofile.yaml }
limits: { processes: 0, files: 1 }
checks: [ Foo, Bar ]
";
const DESCRIPTOR_WITH_PAGES: &str = "\
descriptor_version: 1
name: mine
speaks: scrape
command: [ ./mine ]
healthz: healthz
scrape: { path: metrics, metrics: [ { name: up, device: d, values: { 1: healthy, 0: fatal } } ] }
schedule: { interval: 15s, kill_after: 5s, on: [ boot ] }
promises: { rows: { polling: { known_by: name, back: whole } } }
";
const DESCRIPTOR_WITH_LOOPS: &str = "\
descriptor_version: 1
name: mine
command: [ ./mine ]
loops:
  - { checks: [ InfiniBandStateCheck ] }
  - { checks: [ InfiniBandStateCheck, Foo ], listings: 0 }
  - { checks: [] }
binds: { rel: \"{root}\", /a: /etc }
";
const DESCRIPTOR_WITH_RULES: &str = "\
descriptor_version: 1
name: mine
speaks: prometheus-rules
command: [ ./mine ]
prometheus: { rules: nofile.yaml, scrape_interval: 0s, scrape_timeout: 5s }
alerts: { B: {}, C: { says: fatal, by: severity } }
";
/// Of a number that is none in YAML the place is told too.
const MIX_WITH_INFINITY: &str = "\
mix_version: 1
per_1000_nodes_and_month:
  flap: -3
  poling: 2
  init: .inf
";
const NEEDS_WITH_BOTH: &str = "\
needs_version: 2
kinds:
  down: { notced: within 5s }
  reboot: { noticed: within 5s }
";
const NEEDS_THAT_CANNOT_BE: &str = "\
needs_version: 1
kinds:
  down: {}
  counter.symbol_eror: { noticed: within 5s }
";
const MIX: &str = "\
mix_version: 1
per_1000_nodes_and_month:
  slow: -2
  down: -3
";
const ALERTS: &str = "\
groups:
- name: ports
  interval: soon
  fro: 1
  rules:
  - { alert: A, exp: up == 0 }
  - { expr: up == 0 }
  - alert: B
    expr: up == 0
    for: 1 minute
    labels: { severity: [ critical ] }
  - { record: a:b, expr: up, for: 1m }
- name: ports
";
const RULES: &str = "\
rules_version = 1
[[rule]]
name = \"a b\"
match = [ { fatal = true } ]
group_by = [\"node\"]
window = \"10m\"
count = 3
message = \"m\"
[[rule]]
name = \"b\"
match = [ { fatal = true } ]
group_by = []
window = \"10m\"
count = 3
message = \"m\"
";
const RULES_WITH_ANOTHER_KEY: &str = "\
rules_version = 1
[[rule]]
nmae = \"a\"
[[rule]]
name = \"b\"
match = 3
";
const SETTINGS_OF_OTHER_KINDS: &str = "\
monitor = 3
out = 5
platforms = [\"nosuch\"]
scenarios = [\"none\"]
[profile.ci]
jobs = 0
filter = \"(\"
";
const SETTINGS: &str = "\
moniter = \"m.yaml\"
[profile.ci]
jobs = true
";

fn check(file: &str, text: &str) -> Ran {
    let scratch = Scratch::new();
    scratch.file(file, text);
    scratch.run(&["check", file])
}

#[rstest]
#[case::scenario("port/a.yaml", SCENARIO, &["3:12: unknown word `al`", "6:23: unknown verb `disabel`"], "did you mean `disable`?")]
#[case::world("worlds/a.yaml", WORLD, &["7:27: unknown switch `leef-1`", "8:14: unknown node `two`"], "did you mean `leaf-1`?")]
#[case::descriptor("m.yaml", DESCRIPTOR, &["4:8: unknown word `ownn`", "5:1: unknown key `lisitngs_per_poll`"], "did you mean `own`?")]
#[case::descriptor("m.yaml", DESCRIPTOR_THAT_CANNOT_BE, &["3:20: ", "4:1: ", "5:1: "], "the placeholders are ")]
#[case::descriptor("m.yaml", DESCRIPTOR_WITH_BOTH, &["1:1: this descriptor has another version", "3:20: `command` has the placeholder `{rot}`", "3:36: `command` has the placeholder `{sockt}`", "4:8: `env` has the placeholder `{nod}`", "5:8: unknown word `ownn`", "6:1: a poll has"], "write `descriptor_version: 1`")]
#[case::descriptor("m.yaml", DESCRIPTOR_WITH_A_CONSEQUENCE, &["4:1: unknown key `spekas`", "6:22: unknown key `sais`", "7:7: `up` has no group `verdict`", "8:1: `vendors` names nobody"], "did you mean `says`?")]
#[case::descriptor("m.yaml", DESCRIPTOR_OF_SEVERAL_PROTOCOLS, &["5:26: `drained_by` is for", "6:27: `schedule` has a phase", "7:1: `lines` is for", "8:13: `like` names `nofile.yaml`", "9:11: a limit", "9:25: a limit", "10:1: `Bar` is no check", "10:1: `Foo` is no check"], "write `actions: slurm`")]
#[case::descriptor("m.yaml", DESCRIPTOR_WITH_PAGES, &["5:1: `healthz` is no path", "6:11: `metrics` is no path", "7:28: `kill_after` of `schedule`", "7:44: `on` of `schedule`", "8:32: the row of `polling`: `known_by`", "8:48: the row of `polling`: `back`"], "write `timeout`, or leave it out")]
#[case::descriptor("m.yaml", DESCRIPTOR_WITH_LOOPS, &["6:7: a loop names a check", "6:7: two loops run the same check", "6:46: a poll has", "7:7: a loop has no checks", "8:10: `binds` has a path at which", "8:25: `binds` names something"], "name each check in one loop")]
#[case::descriptor("m.yaml", DESCRIPTOR_WITH_RULES, &["5:15: `nofile.yaml` cannot be read", "5:35: `prometheus` has an interval of 0", "5:56: `prometheus` has a `scrape_timeout`", "6:11: `B` does not state", "6:18: `C` does not state"], "write the path of a rule file")]
#[case::mix("mix.yaml", MIX_WITH_INFINITY, &["3:3: `-3` is no number", "4:3: unknown word `poling`", "5:3: `inf` is no number"], "did you mean `polling`?")]
#[case::settings("nicdrill.toml", SETTINGS_OF_OTHER_KINDS, &["1:11: invalid type: integer", "2:7: invalid type: integer", "3:13: `nosuch` cannot be read", "4:13: `none` cannot be read", "6:8: invalid value '0'", "7:10: "], "hint: ")]
#[case::needs("n.yaml", NEEDS_WITH_BOTH, &["1:1: these needs have another version", "3:11: unknown key `notced`", "4:3: `reboot` is an episode"], "did you mean `noticed`?")]
#[case::needs("n.yaml", NEEDS, &["3:20: invalid time `5s`", "4:3: unknown word `rebot`"], "did you mean `reboot`?")]
#[case::needs("n.yaml", NEEDS_THAT_CANNOT_BE, &["3:3: nothing about `down`", "4:3: there is no counter"], "did you mean `counter.symbol_error`?")]
#[case::mix("mix.yaml", MIX, &["3:3: `-2` is no number", "4:3: `-3` is no number"], "hint: write a number")]
#[case::alert_rules("a.yaml", ALERTS, &["3:3: the group `ports` has the interval `soon`", "4:3: unknown key `fro`", "6:17: unknown key `exp`", "7:5: ", "10:5: `1 minute` is no duration", "11:15: the value of `severity`", "12:30: the record `a:b` has `for`", "13:3: two groups have the name `ports`"], "did you mean `expr`?")]
#[case::cluster_rules("r.toml", RULES, &["3:8: invalid name `a b`", "12:12: `group_by` is empty"], "hint: ")]
#[case::cluster_rules("r.toml", RULES_WITH_ANOTHER_KEY, &["3:1: unknown field `nmae`", "4:1: missing field `group_by`", "4:1: missing field `message`", "6:9: "], "docs/rules.md")]
#[case::known("known.toml", KNOWN, &["2: invalid id `a/b`", "3: an empty `reason`", "4: `expires` is 07:32:00", "6: invalid id `a/b`", "7: invalid type: integer `5`", "8: unknown field `reasn`", "9: missing field `reason`", "10: invalid id `x#`"], "did you mean `reason`?")]
#[case::cabling("c.toml", CABLING, &["2:1: unknown field `switchs`", "4:9: invalid port `one/mlx5_0`"], "did you mean `switches`?")]
#[case::settings("nicdrill.toml", SETTINGS, &["1:1: unknown key `moniter`", "3:8: `jobs` takes"], "did you mean `monitor`?")]
fn every_mistake_of_a_file_is_told_with_its_place(
    #[case] file: &str,
    #[case] text: &str,
    #[case] told: &[&str],
    #[case] hint: &str,
) {
    let ran = check(file, text);
    assert_eq!(ran.code, 2, "{ran}");
    let places = ran.out.lines().filter(|line| line.starts_with(file));
    let places: Vec<&str> = places.collect();
    assert_eq!(places.len(), told.len(), "{ran}");
    for (place, told) in places.iter().zip(told) {
        assert!(
            place.starts_with(&format!("{file}:{told}")),
            "`{told}`: {ran}"
        );
    }
    assert!(ran.out.contains(hint), "{ran}");
    let count = format!(": {} mistakes\n", told.len());
    assert!(ran.out.ends_with(&count), "{ran}");
}

/// The platform that is checked is that of a vendor, with its own drivers.
#[test]
fn every_mistake_of_a_platform_and_of_a_driver_is_told() {
    let scratch = Scratch::new();
    let platform = PLATFORM
        .replace(
            "role: storage, topo: NODE*4 SYS*4",
            "role: sotrage, topo: NODE*4 SYS*4",
        )
        .replace("cpus:", "cups:");
    scratch.file("acme/acme0.yaml", &platform);
    let driver = DRIVER
        .replace("gid_table: 8", "gid_table: many")
        .replace("arp_type:", "arp_tpye:");
    scratch.file("acme/acme-ib.yaml", &driver);
    scratch.file(
        "acme/acme-eth.yaml",
        include_str!("../vendor/acme-eth.yaml"),
    );
    let ran = scratch.run(&["check", "acme"]);
    assert_eq!(ran.code, 2, "{ran}");
    for told in [
        "acme/acme0.yaml:13:1: unknown key `cups`",
        "unknown word `sotrage`",
        "acme/acme-ib.yaml:10:12: ",
        "unknown key `arp_tpye`",
        "did you mean `arp_type`?",
    ] {
        assert!(ran.out.contains(told), "`{told}`: {ran}");
    }
    assert!(
        ran.out.contains("(platform: 1, driver: 2): 4 mistakes"),
        "{ran}"
    );
}

/// A scenario that names the platform is not told that there is none.
#[test]
fn words_names_and_values_of_a_platform_are_told_at_once() {
    let scratch = Scratch::new();
    scratch.file("acme/acme-ib.yaml", DRIVER);
    let ethernet = include_str!("../vendor/acme-eth.yaml");
    scratch.file("acme/acme-eth.yaml", ethernet);
    let platform =
        PLATFORM
            .replace("cpus:", "cups:")
            .replacen("driver: acme-ib", "driver: acme-ob", 1);
    assert!(
        platform.contains("acme-ob"),
        "the platform has such a driver"
    );
    scratch.file(
        "acme/acme0.yaml",
        &platform.replace("platform_version: 1", "platform_version: 7"),
    );
    scratch.file(
        "own/of.yaml",
        "scenario: of a broken platform\nwhy: it is told where it is broken\nplatforms: [ acme0 ]\n\
         timeline:\n  - { at: 0s, expect: [ { this_poll: baseline } ] }\nuntil: 5s\n",
    );
    let ran = scratch.run(&["check", "acme", "own"]);
    assert_eq!(ran.code, 2, "{ran}");
    for told in [
        "acme/acme0.yaml:3:19: version 7 is not known",
        "acme/acme0.yaml:13:1: unknown key `cups`",
        "names driver `acme-ob`, which does not exist",
        "did you mean `acme-ib`?",
        "3 mistakes",
    ] {
        assert!(ran.out.contains(told), "`{told}`: {ran}");
    }
}

#[test]
fn a_platform_that_can_be_read_is_compared_with_what_a_monitor_finds_on_it() {
    let scratch = Scratch::new();
    let platform = PLATFORM.replace("compute: 9, storage: 2", "compute: 8, storage: 3");
    scratch.file("acme/acme0.yaml", &platform);
    for driver in ["acme-ib", "acme-eth"] {
        let text = match driver {
            "acme-ib" => DRIVER,
            _ => include_str!("../vendor/acme-eth.yaml"),
        };
        scratch.file(&format!("acme/{driver}.yaml"), text);
    }
    let ran = scratch.run(&["check", "acme"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.out.contains("acme/acme0.yaml:"), "{ran}");
}

#[test]
fn a_file_that_is_named_twice_is_one_and_the_folder_of_a_run_is_nobodys() {
    let scratch = Scratch::new();
    let story = "scenario: a port is disabled\nwhy: nobody says so\nplatforms: all\nlet: { victim: { nth: 1 } }\n\
                 timeline:\n  - { at: 2s, do: [ { disable: victim } ], expect: [ { nothing: victim } ] }\nuntil: 5s\n";
    scratch.file("own/unfair.yaml", story);
    scratch.file("known.toml", "# none yet\n");
    let made = scratch.run(&["platform", "new", "mine", "--from", "l40-onprem"]);
    assert_eq!(made.code, 0, "{made}");
    scratch.file(
        "nicdrill.toml",
        "platforms = [\"mine.yaml\"]\nscenarios = [\"own\"]\n",
    );
    for _ in 0..2 {
        let run = [
            "run",
            "./own/unfair.yaml",
            "own",
            "--platform",
            "./mine.yaml",
            "--arm",
            "memory",
        ];
        let ran = scratch.run(&run);
        assert_eq!(ran.code, 100, "{ran}");
    }
    assert!(scratch.path("nicdrill.out.old/drills").is_dir());
    let ran = scratch.run(&["check", ".", "own/unfair.yaml", "mine.yaml"]);
    assert_eq!(ran.code, 0, "{ran}");
    let sum = "checked 4 files (scenario: 1, platform: 1, file of known deviations: 1, file of settings: 1): no mistake\n";
    assert!(ran.out.ends_with(sum), "{ran}");
}

#[test]
fn all_files_are_checked_beside_each_other() {
    let scratch = Scratch::new();
    scratch.file("port/a.yaml", SCENARIO);
    scratch.file("needs.yaml", NEEDS);
    scratch.file(
        "worlds/pair.yaml",
        &WORLD.replace("leef", "leaf").replace("two", "one"),
    );
    let of_world = "scenario: a\nwhy: a test\nworld: pair\ntimeline:\n  - { at: 2s, expect: [ { this_poll: nothing } ] }\n";
    scratch.file("joint/a.yaml", of_world);
    scratch.file("joint/b.yaml", &of_world.replace("pair", "pear"));
    scratch.file("notes.yaml", "to: be read by nobody\n");
    let ran = scratch.run(&["check", "."]);
    assert_eq!(ran.code, 2, "{ran}");
    for told in [
        "./port/a.yaml:3:",
        "./port/a.yaml:6:",
        "./needs.yaml:3:",
        "./needs.yaml:4:",
    ] {
        assert!(ran.out.contains(told), "`{told}`: {ran}");
    }
    assert!(
        ran.out.contains("./joint/b.yaml:3:8: unknown world `pear`"),
        "{ran}"
    );
    assert!(!ran.out.contains("./joint/a.yaml"), "{ran}");
    let sum = "checked 5 files (scenario: 3, world: 1, file of needs: 1): 5 mistakes\n";
    assert!(ran.out.ends_with(sum), "{ran}");
}

/// Each mistake of it would show only in a run, which would select no drill.
#[test]
fn a_scenario_that_fits_no_world_is_a_mistake() {
    let text = SCENARIO.replace("al\n", "all\n").replace(
        "disabel: victim } ]",
        "disable: victim } ], expect: [ { fatal: victim } ]",
    );
    assert_eq!(check("port/a.yaml", &text).code, 0);
    let nowhere = text.replace("all\n", "{ with: { compute_cards: \">= 500\" } }\n");
    let ran = check("port/a.yaml", &nowhere);
    assert_eq!(ran.code, 2, "{ran}");
    let told = "port/a.yaml:1:1: the scenario fits no world, so that nothing would be drilled: `compute_cards: >= 500` is asked for, \
        which the world has not, in ";
    let (_, rest) = ran.out.split_once(told).expect("it is told");
    let (in_so_many, rest) = rest.split_once(" of ").expect("it says of how many");
    assert!(rest.starts_with(&format!("{in_so_many} worlds\n")), "{ran}");
    // That a name is wrong says it already, and where.
    let ran = check(
        "port/a.yaml",
        &text.replace("{ nth: 1 }", "{ device: mlx5_77 }"),
    );
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.out
            .contains("no platform that this applies to has the device `mlx5_77`"),
        "{ran}"
    );
    assert!(ran.out.ends_with(": 1 mistake\n"), "{ran}");
    let in_world = "scenario: a\nwhy: a test\nworld: storage-pair\nlet: { port: { node: client, device: mlx5_77 } }\ntimeline:\n  - { at: 2s, expect: [ { this_poll: nothing } ] }\n";
    let ran = check("joint/a.yaml", in_world);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.out.contains("mlx5_77") && ran.out.contains(", in 1 world"),
        "{ran}"
    );
}

/// What only the world knows: the range of a parameter beside another, or the nodes of a job.
#[test]
fn a_step_that_the_world_cannot_take_is_a_mistake() {
    let text = "scenario: a\nwhy: a test\nworld: storage-pair\nworkloads: { storage: { lnet: { client: client, server: server, nis: 2 } } }\ntimeline:\n  - { at: 2s, do: [ { lnet_set: storage, node: client, param: retry_count, to: 2 } ], expect: [ { this_poll: nothing } ] }\n";
    assert_eq!(check("joint/a.yaml", text).code, 0);
    let ran = check("joint/a.yaml", &text.replace("to: 2 ", "to: 200 "));
    assert_eq!(ran.code, 2, "{ran}");
    for part in [
        "joint/a.yaml:6:",
        "`retry_count` cannot be 200",
        "hint: a retry needs a second",
    ] {
        assert!(ran.out.contains(part), "{part}: {ran}");
    }
}

/// What stands beside it is checked too.
#[test]
fn a_file_of_a_folder_that_is_no_text_is_one_mistake_of_several() {
    let scratch = Scratch::new();
    scratch.file("all/needs.yaml", NEEDS);
    scratch.shell("printf 'scenario: \\377\\n' > all/bytes.yaml");
    let ran = scratch.run(&["check", "all"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.out
            .contains("all/bytes.yaml:1: the file is not text in UTF-8"),
        "{ran}"
    );
    assert!(ran.out.contains("all/needs.yaml:3:"), "{ran}");
}

#[test]
fn a_named_file_that_cannot_be_read_hides_no_mistake_of_another() {
    let scratch = Scratch::new();
    scratch.file("needs.yaml", NEEDS);
    let ran = scratch.run(&["check", "absent.yaml", "needs.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.out.contains("`absent.yaml` cannot be read"), "{ran}");
    assert!(ran.out.contains("needs.yaml:3:"), "{ran}");
}

#[test]
fn files_without_a_mistake_are_counted() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs");
    let ran = Scratch::new().run(&["check", docs]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.ends_with(": no mistake\n"), "{ran}");
}

#[test]
fn a_file_that_is_named_and_says_nothing_of_itself_is_a_mistake() {
    let ran = check("a.yaml", "colour: blue\n");
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.out
            .contains("a.yaml:1: no key says what kind of file this is"),
        "{ran}"
    );
    assert!(
        ran.out
            .contains("hint: a file says what it is by one of the keys `scenario`"),
        "{ran}"
    );
}

#[test]
fn standard_input_is_checked() {
    let ran = Scratch::new().shell("printf 'mix_version: 1\\ntitel: a\\n' | \"$NICDRILL\" check -");
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.out.contains("standard input:2:1: unknown key `titel`"),
        "{ran}"
    );
}

#[test]
fn what_a_run_refuses_of_the_settings_is_told_all_at_once() {
    let scratch = Scratch::new();
    let text = "\
monitor = \"nosuch.yaml\"
[profile.ci]
budget = 60
report = \"junit\"
shard = \"9/3\"
filter = \"foo(\"
drill-limit = \"9h\"
platform = \"nosuch\"
known = \"nosuch.toml\"
[profile.both]
budget = \"60s\"
shard = \"1/3\"
";
    scratch.file("nicdrill.toml", text);
    let ran = scratch.run(&["check", "nicdrill.toml"]);
    assert_eq!(ran.code, 2, "{ran}");
    let told = ran.out.lines().filter(|line| line.starts_with("nicdrill"));
    let told: Vec<&str> = told.collect();
    let expected = [
        ":1:11: ",
        ":3:10: invalid duration `60`",
        ":4:10: `--report junit` cannot be read",
        ":5:9: ",
        ":6:10: ",
        ":7:15: `--drill-limit 9h` is from 1s to 1h",
        ":8:12: there is no platform `nosuch`",
        ":9:9: `nosuch.toml` cannot be read",
        ":10:10: the argument '--budget <TIME>' cannot be used with '--shard <K/N>'",
    ];
    assert_eq!(told.len(), expected.len(), "{ran}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told[13..].starts_with(expected), "{told} is not {expected}");
    }
}

#[test]
fn what_a_profile_as_a_whole_is_refused_for_is_told() {
    let scratch = Scratch::new();
    scratch.file(
        "m.yaml",
        "descriptor_version: 1\nname: mine\ncommand: [ ./mine ]\n",
    );
    let text = "[profile.p]\narm = \"memory\"\nmonitor = \"m.yaml\"\n[profile.q]\nbudget = \"1s\"\nshard = \"1/2\"\nrepeat = 2\n";
    scratch.file("nicdrill.toml", text);
    let ran = scratch.run(&["check", "nicdrill.toml"]);
    for told in [
        "nicdrill.toml:1:10: `mine` cannot be played in memory",
        "nicdrill.toml:4:10: the argument '--budget <TIME>' cannot be used with: --",
    ] {
        assert!(ran.out.contains(told), "{ran}");
    }
    assert!(ran.out.ends_with(": 2 mistakes\n"), "{ran}");
}

#[test]
fn a_mistake_of_a_file_that_the_settings_name_is_told_once() {
    let scratch = Scratch::new();
    scratch.file("nicdrill.toml", "scenarios = [\"port\"]\n");
    scratch.file("port/a.yaml", SCENARIO);
    let ran = scratch.run(&["check", "port", "nicdrill.toml"]);
    assert!(ran.out.ends_with(": 2 mistakes\n"), "{ran}");
    let ran = scratch.run(&["check", "nicdrill.toml"]);
    assert!(
        ran.out.starts_with("nicdrill.toml: port/a.yaml:3:12: "),
        "{ran}"
    );
}

#[test]
fn settings_that_cannot_be_read_stop_a_check_of_other_files() {
    let scratch = Scratch::new();
    scratch.file("nicdrill.toml", SETTINGS);
    scratch.file("needs.yaml", NEEDS);
    let ran = scratch.run(&["check", "needs.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err.contains("nicdrill.toml:1:1: unknown key `moniter`"),
        "{ran}"
    );
}

/// By vendors whose cards no platform has, no drill fits.
#[test]
fn vendors_of_which_no_platform_has_a_card_are_noted() {
    let scratch = Scratch::new();
    let descriptor = |vendors: &str| {
        format!("descriptor_version: 1\nname: m\ncommand: [ m ]\nvendors: {vendors}\n")
    };
    scratch.file("none.yaml", &descriptor("[ 0x4242 ]"));
    scratch.file("some.yaml", &descriptor("[ 0x4242, 0x14e4 ]"));
    let ran = scratch.run(&["check", "none.yaml", "some.yaml"]);
    assert_eq!(ran.code, 0, "{ran}");
    let told =
        "warning: none.yaml: no platform here has a card of the vendors that it monitors (0x4242)";
    assert!(ran.err.contains(told), "{ran}");
    assert!(!ran.err.contains("some.yaml"), "{ran}");
}

/// Nothing would ever be said by the row, and the rule that was meant would be blamed for its silence.
#[test]
fn an_alert_that_the_rules_do_not_have_is_a_mistake_of_the_descriptor() {
    let scratch = Scratch::new();
    scratch.file("alerts.yaml", include_str!("../../../docs/alerts.yaml"));
    let right = include_str!("../../../docs/alert-rules.yaml");
    let wrong = right.replace("  NicPortSlow: ", "  NicPortSlo: ");
    let wrong = wrong.replace("  NicPortGone: ", "  NicPortAway: ");
    scratch.file("m.yaml", &wrong);
    let ran = scratch.run(&["check", "m.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    for told in [
        "m.yaml:27:3: `alerts.yaml` has no alert `NicPortSlo`",
        "did you mean `NicPortSlow`? its alerts are `NicPortNotActive`, ",
        "m.yaml:32:3: `alerts.yaml` has no alert `NicPortAway`",
        "2 mistakes\n",
    ] {
        assert!(ran.out.contains(told), "`{told}`: {ran}");
    }
    let ran = scratch.run(&["list", "port/cable-pulled", "--monitor", "m.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    let told = "m.yaml:27:3: `alerts.yaml` has no alert `NicPortSlo`";
    assert!(ran.err.contains(told), "{ran}");
}

#[test]
fn alerts_without_a_row_are_told_by_name() {
    let scratch = Scratch::new();
    scratch.file("alerts.yaml", include_str!("../../../docs/alerts.yaml"));
    let right = include_str!("../../../docs/alert-rules.yaml");
    let left = right
        .lines()
        .filter(|line| !line.starts_with("  NicSymbolErrors: "));
    scratch.file("m.yaml", &left.collect::<Vec<&str>>().join("\n"));
    let told = "`alerts` has no row for 1 alert of `alerts.yaml`, which is not judged: `NicSymbolErrors`\n";
    let ran = scratch.run(&["check", "m.yaml"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.err.contains(&format!("warning: m.yaml: {told}")),
        "{ran}"
    );
    scratch.file("m.yaml", right);
    let ran = scratch.run(&["check", "m.yaml"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.err.contains(" no row "), "{ran}");
}
