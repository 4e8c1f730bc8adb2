//! `nicdrill replay`: a stream through rules, as an operator uses it.

use rstest::rstest;

use crate::scratch::Scratch;

/// An event as a store exports it, at this second of 2025-03-01.
fn stored(at: &str, check: &str, kind: &str, message: &str) -> String {
    let (is_fatal, is_healthy) = (kind == "fatal", kind == "healthy");
    format!(
        r#"{{"_id":"x","healthevent":{{"version":1,"agent":"nic-health-monitor","componentclass":"NIC","checkname":"{check}","isfatal":{is_fatal},"ishealthy":{is_healthy},"message":"{message}","recommendedaction":25,"errorcode":[],"entitiesimpacted":[{{"entitytype":"NIC","entityvalue":"mlx5_0"}},{{"entitytype":"NICPort","entityvalue":"1"}}],"generatedtimestamp":"2025-03-01T00:{at}Z","nodename":"node-1","processingstrategy":1}}}}"#
    ) + "\n"
}

fn down(at: &str) -> String {
    let text = "Port mlx5_0 port 1: state DOWN, phys_state Disabled";
    stored(at, "InfiniBandStateCheck", "fatal", text)
}

fn up(at: &str) -> String {
    let text = "Port mlx5_0 port 1: healthy (ACTIVE, LinkUp)";
    stored(at, "InfiniBandStateCheck", "healthy", text)
}

/// The events of "NIC Health Monitor: Link State Detection", 6.4, line by line.
fn three_falls() -> [String; 5] {
    [
        down("01:30"),
        up("01:45"),
        down("04:20"),
        up("04:35"),
        down("07:10"),
    ]
}

/// "NIC Health Monitor: Link State Detection", 6.4, and its continuation.
#[test]
fn the_flap_diagram_is_told_to_the_second() {
    let scratch = Scratch::new();
    let lines = three_falls();
    scratch.file("events.jsonl", &lines.concat());
    let ran = scratch.run(&["replay", "events.jsonl", "--rules", "lsd"]);
    assert_eq!(ran.code, 0, "{ran}");
    let expected = "\
rule sets of `nic-health-monitor` and `syslog-health-monitor` decide on cordons; those of other agents (GPUs, cloud maintenance, Kubernetes objects, preflight) are left out
`FabricWideFault` cannot be evaluated: it needs the cabling of ports and switches
2025-03-01T00:01:30Z  condition  node-1 InfiniBandStateCheck stands
2025-03-01T00:01:30Z  cordon     node-1 by NIC health monitor
2025-03-01T00:01:45Z  condition  node-1 InfiniBandStateCheck is cleared
2025-03-01T00:01:45Z  uncordon   node-1
2025-03-01T00:04:20Z  condition  node-1 InfiniBandStateCheck stands
2025-03-01T00:04:20Z  cordon     node-1 by NIC health monitor
2025-03-01T00:04:35Z  condition  node-1 InfiniBandStateCheck is cleared
2025-03-01T00:04:35Z  uncordon   node-1
2025-03-01T00:07:10Z  condition  node-1 InfiniBandStateCheck stands
2025-03-01T00:07:10Z  cordon     node-1 by NIC health monitor
2025-03-01T00:07:10Z  rule       RepeatedNICLinkFlap node-1/mlx5_0/1 x3: NIC port flapping detected
2025-03-01T00:07:10Z  condition  node-1 RepeatedNICLinkFlap stands
events: 5 in 5 calls, nodes: 1, from 2025-03-01T00:01:30Z to 2025-03-01T00:07:10Z; rules fired: 1; at the end conditions that stand: 2, nodes cordoned: 1
  node-1 is cordoned, faults outstanding: 1
  node-1 InfiniBandStateCheck: NIC:mlx5_0 NICPort:1 Port mlx5_0 port 1: state DOWN, phys_state Disabled Recommended Action=REPLACE_VM;
  node-1 RepeatedNICLinkFlap: NIC:mlx5_0 NICPort:1 NIC port flapping detected Recommended Action=REPLACE_VM;
";
    assert_eq!(ran.out, expected, "{ran}");
    assert_eq!(ran.err, "");
}

#[test]
fn silence_fires_between_two_lines_and_after_the_last() {
    let scratch = Scratch::new();
    let later = stored("05:00", "InfiniBandDegradationCheck", "warning", "slow");
    scratch.file("between.jsonl", &[down("00:30"), later].concat());
    let ran = scratch.run(&["replay", "between.jsonl", "--rules", "lsd"]);
    assert!(
        ran.out
            .contains("\n2025-03-01T00:04:30Z  rule       NICPortDrop "),
        "{ran}"
    );
    scratch.file("after.jsonl", &down("00:30"));
    let ran = scratch.run(&["replay", "after.jsonl", "--rules", "lsd"]);
    let (_, later) = ran.out.split_once("if nothing more comes:\n").unwrap();
    assert!(
        later.starts_with("2025-03-01T00:04:30Z  rule       NICPortDrop "),
        "{ran}"
    );
}

const FEW: &str = r#"rules_version = 1
[[rule]]
name = "Two"
match = [{ fatal = true }]
group_by = ["switch"]
distinct = "node"
window = "1m"
count = 1
message = "a switch"
"#;

const IN_A_WORLD: [&str; 6] = [
    "replay",
    "events.jsonl",
    "--rules",
    "rules.toml",
    "--world",
    "world.toml",
];

#[test]
fn rules_of_ones_own_see_the_world_that_is_given() {
    let scratch = Scratch::new();
    scratch.file("events.jsonl", &down("00:30"));
    scratch.file("rules.toml", FEW);
    scratch.file(
        "world.toml",
        "world_version = 1\n[switches]\nleaf-3 = [\"node-1/mlx5_0/1\"]\n",
    );
    let blind = scratch.run(&["replay", "events.jsonl", "--rules", "rules.toml"]);
    assert!(blind.out.contains("`Two` cannot be evaluated"), "{blind}");
    assert!(blind.out.contains("rules fired: 0"), "{blind}");
    let ran = scratch.run(&IN_A_WORLD);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.out
            .contains("00:00:30Z  rule       Two leaf-3 x1: a switch"),
        "{ran}"
    );
}

/// The cables of a world are equivalent to a cabling file.
#[test]
fn a_world_of_drills_says_what_hangs_on_a_switch() {
    let scratch = Scratch::new();
    scratch.file("events.jsonl", &down("00:30"));
    scratch.file("rules.toml", FEW);
    let world = "world: two\nwhy: two nodes on one leaf\nnodes:\n  - { name: node-1..node-2, platform: dgx-a100 }\n\
                 switches: [ leaf-3 ]\ncables:\n  - { device: mlx5_0, to: leaf-3 }\n";
    scratch.file("world.yaml", world);
    let words = ["replay", "events.jsonl", "--rules", "rules.toml", "--world"];
    let ran = scratch.run(&[&words, ["world.yaml"].as_slice()].concat());
    assert_eq!(ran.code, 0, "{ran}");
    let fired = "00:00:30Z  rule       Two leaf-3 x1: a switch";
    assert!(ran.out.contains(fired), "{ran}");
    scratch.file("world.yaml", &world.replace("dgx-a100", "dgx-a10"));
    let ran = scratch.run(&[&words, ["world.yaml"].as_slice()].concat());
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("world.yaml:4:"), "{ran}");
}

/// The rule sets of the GPU monitor are not modelled: its fault may hold the node, so the node is not
/// said to be released.
#[test]
fn a_node_that_another_agent_holds_is_not_released() {
    let scratch = Scratch::new();
    let gpu = |at: &str, kind: &str| {
        stored(at, "GpuXidError", kind, "XID 79")
            .replace("nic-health-monitor", "gpu-health-monitor")
            .replace(r#""componentclass":"NIC""#, r#""componentclass":"GPU""#)
    };
    let held = [gpu("00:30", "fatal"), down("01:00"), up("02:00")];
    scratch.file("held.jsonl", &held.concat());
    let ran = scratch.run(&["replay", "held.jsonl", "--rules", "lsd"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.out.contains("uncordon"), "{ran}");
    for part in [
        "2025-03-01T00:00:30Z  left out   rule sets of `gpu-health-monitor`: ",
        "2025-03-01T00:01:00Z  cordon     node-1 by NIC health monitor\n",
        "2025-03-01T00:02:00Z  held       node-1 by `gpu-health-monitor`, whose rule sets are left out\n",
        "  node-1 is cordoned, faults outstanding: 0; held by `gpu-health-monitor` too, whose rule sets are left out\n",
    ] {
        assert!(ran.out.contains(part), "{part}: {ran}");
    }
    scratch.file("freed.jsonl", &(held.concat() + &gpu("03:00", "healthy")));
    let ran = scratch.run(&["replay", "freed.jsonl", "--rules", "lsd"]);
    assert!(
        ran.out
            .contains("2025-03-01T00:03:00Z  uncordon   node-1\n"),
        "{ran}"
    );
}

/// What a replay prints for the three falls of 6.4, whatever the format of the file.
#[test]
fn every_export_of_a_cluster_is_replayed_alike() {
    let scratch = Scratch::new();
    let lines = three_falls();
    let documents: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let rows: Vec<String> = documents
        .iter()
        .map(|it| format!("b1,\"a,\nb\",{}\r\n", quoted(it)))
        .collect();
    let alone: Vec<String> = documents.iter().map(|it| quoted(it) + "\n").collect();
    let texts: Vec<String> = documents
        .iter()
        .map(|it| format!("{{\"document\":{}}}\n", serde_json::to_string(it).unwrap()))
        .collect();
    let pretty: Vec<String> = documents
        .iter()
        .map(|it| {
            let value: serde_json::Value = serde_json::from_str(it).unwrap();
            serde_json::to_string_pretty(&value).unwrap() + "\n"
        })
        .collect();
    let formats = [
        ("lines", lines.concat()),
        ("lines with a mark", format!("\u{feff}{}", lines.concat())),
        ("a list", format!("[{}]\n", documents.join(",\n"))),
        (
            "a list with a mark",
            format!("\u{feff}\n [ {} ]", documents.join(",")),
        ),
        ("documents", pretty.concat()),
        ("texts", texts.concat()),
        (
            "a table",
            format!("id,message,document\r\n{}", rows.concat()),
        ),
        (
            "a table with a mark",
            format!("\u{feff}document\n{}", alone.concat()),
        ),
        ("a table without names", alone.concat()),
    ];
    let replayed = formats.map(|(name, text)| {
        scratch.file("events", &text);
        let ran = scratch.run(&["replay", "events", "--rules", "lsd"]);
        assert_eq!(ran.code, 0, "{name}: {ran}");
        ran.out
    });
    assert!(replayed[0].contains("RepeatedNICLinkFlap node-1/mlx5_0/1 x3"));
    for other in &replayed {
        assert_eq!(*other, replayed[0]);
    }
}

#[test]
fn a_stream_in_utf_16_is_refused_with_the_command_that_converts_it() {
    let scratch = Scratch::new();
    let bytes: Vec<u8> = "\u{feff}{}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    std::fs::write(scratch.path("events"), bytes).unwrap();
    let ran = scratch.run(&["replay", "events", "--rules", "lsd"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err.contains("`iconv -f UTF-16 -t UTF-8 events`"),
        "{ran}"
    );
}

#[rstest]
#[case::kubernetes_events(
    "events.jsonl",
    "{\n  \"apiVersion\": \"v1\",\n  \"items\": [ { \"kind\": \"Event\" } ],\n  \"kind\": \"List\"\n}\n",
    "these are Kubernetes events"
)]
#[case::a_drawn_table("events.jsonl", " id | document \n----+----\n", "psql --csv")]
#[case::a_list_of_something_else(
    "events.jsonl",
    "[{\"a\":1}]",
    "document 1: the event has no `checkname`"
)]
#[case::a_short_record(
    "events.jsonl",
    "id,document\nb1\n",
    "events.jsonl:2: the record has 1 fields"
)]
#[case::an_empty_list("events.jsonl", "[]", "`events.jsonl` holds no health event")]
#[case::no_json("events.jsonl", "\nx\n", "events.jsonl:2: column 1: no JSON")]
#[case::no_event(
    "events.jsonl",
    "{\"a\":1}\n",
    "events.jsonl:1: the event has no `checkname`"
)]
#[case::a_runs_own(
    "events.jsonl",
    "{\"event\":\"run-started\"}\n",
    "memory-health-events.jsonl"
)]
#[case::empty("events.jsonl", "\n\n", "`events.jsonl` holds no health event")]
#[case::bad_rules(
    "rules.toml",
    "rules_version = 2\n",
    "rules.toml:1:17: `rules_version` is 2"
)]
#[case::bad_world(
    "world.toml",
    "world_version = 1\n[switches]\na = [\"x\"]\n",
    "world.toml:3:6: invalid port `x`"
)]
fn a_wrong_file_is_refused_with_its_place(
    #[case] file: &str,
    #[case] text: &str,
    #[case] reported: &str,
) {
    let scratch = Scratch::new();
    scratch.file("events.jsonl", &down("00:30"));
    scratch.file("rules.toml", FEW);
    scratch.file("world.toml", "world_version = 1\n[switches]\n");
    scratch.file(file, text);
    let ran = scratch.run(&IN_A_WORLD);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err.contains(reported) && ran.err.contains("hint: "),
        "{ran}"
    );
}

#[rstest]
#[case(&["replay", "none.jsonl", "--rules", "lsd"], "`none.jsonl` cannot be read")]
#[case(&["replay", "events.jsonl", "--rules", "none.toml"], "`none.toml` cannot be read")]
#[case(&["replay", "events.jsonl", "--rules", "ldd"], "there are no rules `ldd`")]
#[case(&["replay", "events.jsonl"], "--rules <FILE>")]
fn what_is_not_there_is_refused_by_name(#[case] words: &[&str], #[case] reported: &str) {
    let scratch = Scratch::new();
    scratch.file("events.jsonl", &down("00:30"));
    let ran = scratch.run(words);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains(reported), "{ran}");
}

#[test]
fn a_drills_own_stream_can_be_replayed() {
    let scratch = Scratch::new();
    let drill = "link/cable-pulled@h100-oci";
    let ran = scratch.run(&["run", drill, "--arm", "memory", "--keep"]);
    assert_eq!(ran.code, 0, "{ran}");
    let events = format!("nicdrill.out/drills/{drill}/memory-health-events.jsonl");
    let ran = scratch.run(&["replay", &events, "--rules", "lsd"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("  cordon     "), "{ran}");
    assert!(
        ran.out.contains("nodes cordoned: 0"),
        "healed, so released: {ran}"
    );
}
