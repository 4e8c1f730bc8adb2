//! The language: what every word accepts, what it rejects, and with which error.

use std::collections::BTreeMap;

use files::About;
use platforms::{NodeName, Platform, Platforms};
use proptest::prelude::*;
use rstest::rstest;
use scenarios::{
    AtRest, Scenario, ScenarioError, Story, Unfit, Word, WordKind, World, read, vocabulary,
};

/// A scenario around one action and one expectation, with every handle that an example uses, in the
/// world that it needs.
fn around(action: &str, expectation: &str) -> String {
    let both = format!("{action} {expectation}");
    let arms = if expectation.contains("healthz:") {
        "arms: [ process ]\n"
    } else if both.contains("router-1") {
        "world: storage-routed\nworkloads: { storage: { lnet: { client: client, server: server, routers: router-1..router-2 } } }\n"
    } else if both.contains(": storage") {
        "world: storage-pair\nworkloads: { storage: { lnet: { client: client, server: server } } }\n"
    } else if both.contains(": job") || both.contains("{ job:") {
        "world: mpib-eight\nworkloads: { job: { mpib: { ring: [ vm1, vm2 ] } } }\n"
    } else if both.contains("leaf-3") {
        "world: pod-of-four\n"
    } else {
        ""
    };
    let victim = if arms.contains("lnet") {
        "{ node: client, role: storage, nth: 1 }"
    } else {
        "{ nth: 1 }"
    };
    format!(
        "scenario: one line\nwhy: to try it\nlet:\n  victim: {victim}\n  storm: {{ cards: 2 }}\n  \
         model: {{ nth: 2 }}\n  first: {{ nth: 1 }}\n  second: {{ nth: 2 }}\n  vf: {{ healthy: any }}\n\
         timeline:\n  - at: 10s\n    do: [ {action} ]\n    expect: [ {expectation} ]\n{arms}"
    )
}

fn h100() -> Platform {
    Platforms::shipped()
        .get("h100-oci")
        .expect("a shipped platform")
        .clone()
}

fn resolved(scenario: &Scenario) -> Result<Story, Unfit> {
    match scenario.world() {
        None => scenario.in_world(&NodeName::from("node-a"), &h100()),
        Some(name) => scenario.at_rest(&world(name)),
    }
}

/// A shipped world at rest.
fn world(name: &str) -> AtRest {
    let read = |(file, text): (&str, &str)| World::read(file, text).expect("a shipped world");
    let mut worlds = suite::worlds().into_iter().map(read);
    let world = worlds.find(|world| world.name() == name);
    let world = world.unwrap_or_else(|| panic!("no world `{name}`"));
    AtRest::of_world(&world, &Platforms::shipped()).expect("a shipped world")
}

/// The error of a text that must be rejected.
fn refused(text: &str) -> ScenarioError {
    match read("port/try.yaml", text) {
        Err(error) => error,
        Ok(_) => panic!("this was read:\n{text}"),
    }
}

/// Checks that a text is rejected at the place marked `§`, with these texts in the error.
fn check_refused(marked: &str, says: &[&str]) {
    let (before, after) = marked.split_once('§').expect("the place is marked");
    let line = before.lines().count().max(1) + usize::from(before.ends_with('\n'));
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    let error = refused(&format!("{before}{after}")).to_string();
    let head = format!("port/try.yaml:{line}:{column}: ");
    assert!(error.starts_with(&head), "not at {line}:{column}:\n{error}");
    for part in says {
        assert!(error.contains(part), "does not say `{part}`:\n{error}");
    }
}

/// The implemented words of a kind.
fn words(kind: WordKind) -> Vec<Word> {
    vocabulary()
        .into_iter()
        .filter(|word| word.kind == kind && word.built)
        .collect()
}

/// A misspelling that is not a word itself.
fn misspelt(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let last = letters.len() - 1;
    letters.push('q');
    letters.swap(last, last + 1);
    letters.into_iter().collect()
}

#[test]
fn every_example_of_the_vocabulary_is_read_and_told() {
    let mut count = 0;
    for word in vocabulary().iter().filter(|word| word.built) {
        let Some(example) = word.example else {
            continue;
        };
        let text = match word.kind {
            WordKind::StepAction => around(example, "nothing"),
            _ => around("{ cut: victim }", example),
        };
        let scenario = read("port/try.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
        resolved(&scenario).unwrap_or_else(|error| panic!("{example}: {error}"));
        count += 1;
    }
    let verbs = words(WordKind::StepAction).len() + words(WordKind::Expectation).len();
    assert_eq!(count, verbs, "every verb has an example");
}

#[test]
fn every_misspelt_verb_is_refused_with_the_right_one() {
    for word in words(WordKind::StepAction)
        .iter()
        .chain(&words(WordKind::Expectation))
    {
        let wrong = misspelt(word.word);
        let example = word.example.expect("a built verb has one");
        let line = match example.strip_prefix('{') {
            Some(_) => example.replacen(&format!("{}:", word.word), &format!("{wrong}:"), 1),
            None => wrong.clone(),
        };
        let text = match word.kind {
            WordKind::StepAction => around(&line, "nothing"),
            _ => around("{ cut: victim }", &line),
        };
        let error = refused(&text).to_string();
        assert!(error.contains(&format!("`{wrong}`")), "{error}");
        assert!(
            error.contains(&format!("did you mean `{}`", word.word)),
            "{error}"
        );
    }
}

#[test]
fn every_misspelt_key_of_every_verb_is_refused_with_the_right_one() {
    let qualifiers = |kind: WordKind| -> Vec<&'static str> {
        words(kind).iter().map(|word| word.word).collect()
    };
    let mut tried = 0;
    for word in words(WordKind::StepAction)
        .iter()
        .chain(&words(WordKind::Expectation))
    {
        let mut keys: Vec<&str> = word.keys.iter().map(|key| key.word).collect();
        if word.kind == WordKind::StepAction {
            keys.extend(qualifiers(WordKind::ActionQualifier));
        } else {
            keys.extend(qualifiers(WordKind::ExpectationQualifier));
        }
        if matches!(word.word, "fatal" | "nonfatal" | "healthy" | "cleared") {
            keys.extend(qualifiers(WordKind::EventQualifier));
        }
        for key in keys {
            let wrong = misspelt(key);
            let line = match word.example.and_then(|example| example.strip_suffix('}')) {
                Some(start) => format!("{start}, {wrong}: 1 }}"),
                None => format!("{{ {}: null, {wrong}: 1 }}", word.word),
            };
            let text = match word.kind {
                WordKind::StepAction => around(&line, "nothing"),
                _ => around("{ cut: victim }", &line),
            };
            let error = refused(&text).to_string();
            assert!(error.contains(&format!("`{wrong}`")), "{line}\n{error}");
            assert!(error.contains(&format!("`{key}`")), "{line}\n{error}");
            tried += 1;
        }
    }
    assert!(tried > 200, "{tried} keys were tried");
}

#[test]
fn every_misspelt_key_of_the_frame_is_refused_with_the_right_one() {
    let frames: [(WordKind, &str); 8] = [
        (
            WordKind::Cluster,
            "scenario: x\nwhy: y\ncluster: { KEY: 1 }\ntimeline: [ { at: 0s, expect: [ nothing ] } ]\n",
        ),
        (
            WordKind::Lnet,
            "scenario: x\nwhy: y\nworkloads: { s: { lnet: { KEY: 1 } } }\ntimeline: [ { at: 0s, expect: [ nothing ] } ]\n",
        ),
        (
            WordKind::Mpib,
            "scenario: x\nwhy: y\nworkloads: { j: { mpib: { KEY: 1 } } }\ntimeline: [ { at: 0s, expect: [ nothing ] } ]\n",
        ),
        (
            WordKind::File,
            "scenario: x\nwhy: y\nKEY: 1\ntimeline: []\n",
        ),
        (
            WordKind::Platforms,
            "scenario: x\nwhy: y\nplatforms: { KEY: 1 }\ntimeline: [ { at: 0s, expect: [ nothing ] } ]\n",
        ),
        (
            WordKind::With,
            "scenario: x\nwhy: y\nplatforms: { with: { KEY: 1 } }\ntimeline: [ { at: 0s, expect: [ nothing ] } ]\n",
        ),
        (
            WordKind::Handle,
            "scenario: x\nwhy: y\nlet: { victim: { KEY: 1 } }\ntimeline: []\n",
        ),
        (
            WordKind::Step,
            "scenario: x\nwhy: y\ntimeline: [ { at: 1s, KEY: 1 } ]\n",
        ),
    ];
    for (kind, frame) in frames {
        for word in words(kind) {
            let wrong = misspelt(word.word);
            let error = refused(&frame.replace("KEY", &wrong)).to_string();
            assert!(error.contains(&format!("`{wrong}`")), "{error}");
            assert!(error.contains(&format!("`{}`", word.word)), "{error}");
        }
    }
    for word in words(WordKind::Moment) {
        let wrong = misspelt(word.word);
        let text = around("{ cut: victim }", "nothing").replace(
            "at: 10s",
            &format!("at: 10s\n    in_poll: {{ {wrong}: 1 }}"),
        );
        let error = refused(&text).to_string();
        assert!(error.contains(&format!("`{}`", word.word)), "{error}");
    }
}

#[test]
fn every_misspelt_key_of_a_world_is_refused_with_the_right_one() {
    let frames: [(WordKind, &str); 4] = [
        (WordKind::World, "world: w\nwhy: y\nKEY: 1\nnodes: []\n"),
        (
            WordKind::WorldNode,
            "world: w\nwhy: y\nnodes: [ { KEY: 1 } ]\n",
        ),
        (
            WordKind::WorldRail,
            "world: w\nwhy: y\nnodes: [ { name: n, platform: p, rails: { sup: { KEY: 1 } } } ]\n",
        ),
        (
            WordKind::Cable,
            "world: w\nwhy: y\nnodes: [ { name: n, platform: p } ]\ncables: [ { KEY: 1 } ]\n",
        ),
    ];
    for (kind, frame) in frames {
        for word in words(kind) {
            let wrong = misspelt(word.word);
            let error = World::read("worlds/try.yaml", &frame.replace("KEY", &wrong));
            let error = error.expect_err("a misspelt key").to_string();
            assert!(error.contains(&format!("`{wrong}`")), "{error}");
            assert!(error.contains(&format!("`{}`", word.word)), "{error}");
        }
    }
}

#[rstest]
#[case::no_such_platform("nodes: [ { name: a, platform: §h100-oic } ]", &["unknown platform `h100-oic`", "did you mean `h100-oci`"])]
#[case::no_such_device("nodes: [ { name: a, platform: dgx-a100 } ]\nswitches: [ s ]\ncables: [ { device: §mlx5_99, to: s } ]", &["unknown port of a device `mlx5_99`"])]
#[case::no_such_switch("nodes: [ { name: a, platform: dgx-a100 } ]\nswitches: [ leaf ]\ncables: [ { device: mlx5_0, to: §lef } ]", &["unknown switch `lef`", "did you mean `leaf`"])]
#[case::no_such_node("nodes: [ { name: a, platform: dgx-a100 } ]\nswitches: [ s ]\ncables: [ { nodes: §b, device: mlx5_0, to: s } ]", &["unknown node `b`"])]
#[case::two_cables("nodes: [ { name: a, platform: dgx-a100 } ]\nswitches: [ s, t ]\ncables: [ { device: mlx5_0, to: s }, { device: §mlx5_0, to: t } ]", &["`mlx5_0` of `a` has two cables"])]
#[case::no_cable_at_rest("nodes: [ { name: a, platform: h100-oci } ]\nswitches: [ s ]\ncables: [ { device: §mlx5_11, to: s } ]", &["`mlx5_11` of `a` has no cable at rest"])]
#[case::two_nodes_of_one_name("nodes: [ { name: a, platform: dgx-a100 }, { name: §a, platform: dgx-a100 } ]", &["two nodes are called `a`"])]
#[case::two_switches_of_one_name("nodes: [ { name: a, platform: dgx-a100 } ]\nswitches: [ s, §s ]", &["two switches are called `s`"])]
#[case::a_range_backwards("nodes: [ { name: §vm8..vm1, platform: dgx-a100 } ]", &["invalid range of names `vm8..vm1`", "`vm1..vm8`"])]
#[case::no_such_rail("nodes: [ { name: a, platform: two-rail-vm, rails: { §out: { device: mlx5_0, address: 10.0.1.1 } } } ]", &["unknown rail `out`", "`sout`"])]
#[case::addresses_run_out("nodes: [ { name: §a1..a4, platform: two-rail-vm, rails: { sout: { device: mlx5_0, address: 255.255.255.253 } } } ]", &["no 4 addresses from `255.255.255.253` on", "the last address is 255.255.255.255"])]
#[case::no_address("nodes: [ { name: a, platform: two-rail-vm, rails: { sout: { device: mlx5_0, address: §10.0.1 } } } ]", &["invalid IPv4 address `10.0.1`"])]
fn a_wrong_world_is_refused_at_its_place(#[case] marked: &str, #[case] says: &[&str]) {
    let marked = format!("world: w\nwhy: y\n{marked}\n");
    let (before, after) = marked.split_once('§').expect("the place is marked");
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    let (line, text) = (before.lines().count(), format!("{before}{after}"));
    let at_rest = World::read("worlds/try.yaml", &text)
        .and_then(|world| AtRest::of_world(&world, &Platforms::shipped()));
    let error = at_rest.expect_err("a wrong world").to_string();
    let head = format!("worlds/try.yaml:{line}:{column}: ");
    assert!(error.starts_with(&head), "not at {line}:{column}:\n{error}");
    for part in says {
        assert!(error.contains(part), "does not say `{part}`:\n{error}");
    }
}

/// Errors in lines for a world of several nodes are found when the scenario is resolved there.
#[rstest]
#[case::a_node_wide_action_without_a_node("{ driver: unload }", "nothing", &["which node is meant?", "`node: …`"])]
#[case::a_node_that_is_not_there("{ driver: unload, node: vm9 }", "nothing", &["unknown node `vm9`"])]
#[case::a_switch_that_is_not_there("{ switch: islnd-a, power: lost }", "nothing", &["unknown switch `islnd-a`", "did you mean `island-a`"])]
#[case::a_workload_that_does_not_run("{ hint: jop, node: vm1, pair: vm2, share: 0 }", "nothing", &["unknown workload `jop`", "did you mean `job`"])]
#[case::a_verdict_about_nothing("{ cut: victim }", "{ verdict: { jop: agreement } }", &["unknown workload `jop`"])]
#[case::a_condition_of_no_check("{ cut: victim }", "{ condition: InfinibandStateCheck, of: victim, stands: false }", &["unknown condition `InfinibandStateCheck`", "did you mean `InfiniBandStateCheck`"])]
#[case::a_condition_of_a_rule_that_does_not_listen("{ cut: victim }", "{ condition: RepeatedNICDegradation, stands: false }", &["unknown condition `RepeatedNICDegradation`", "`NICPortDrop`"])]
#[case::a_rule_that_does_not_listen("{ cut: victim }", "{ rule: ib_port_drop, fires: false }", &["unknown rule of `lsd` `ib_port_drop`", "`NICPortDrop`"])]
#[case::a_rule_that_holds_others_back("{ cut: victim }", "{ rule: NICStabilizationWindow, fires: false }", &["`NICStabilizationWindow` holds other rules back, and never fires"])]
#[case::a_rule_about_no_switch("{ cut: victim }", "{ rule: FabricWideFault, switch: islnd-a }", &["unknown switch `islnd-a`", "did you mean `island-a`"])]
#[case::a_condition_of_nobodys_node("{ cut: victim }", "{ condition: state, of: far }", &["no monitor runs on `vm2`", "`monitors`"])]
#[case::nobody_sits_there("{ cut: victim }", "{ fatal: far }", &["no monitor runs on `vm2`", "`monitors`"])]
#[case::a_link_of_another_node("{ cut: victim }", "{ node: vm1, link: far, here: [12, 12] }", &["this is on `vm2`, and the line is about `vm1`", "leave `node` out"])]
#[case::an_event_of_another_node("{ cut: victim }", "{ node: vm2, fatal: victim }", &["this is on `vm1`, and the line is about `vm2`"])]
#[case::silence_of_another_node("{ cut: victim }", "{ node: vm1, nothing: far }", &["this is on `vm2`, and the line is about `vm1`"])]
#[case::edges_of_another_node("{ cut: victim }", "{ node: vm1, each: far, say: [ { fatal: it } ], times: 1 }", &["this is on `vm2`, and the line is about `vm1`"])]
#[case::reads_of_another_node("{ cut: victim }", "{ node: vm1, reads: far/state, times: 1 }", &["this is on `vm2`, and the line is about `vm1`"])]
#[case::a_condition_of_another_node("{ cut: victim }", "{ node: vm1, condition: state, of: far }", &["this is on `vm2`, and the line is about `vm1`"])]
#[case::a_state_file_of_one_poll("{ cut: victim }", "{ this_poll: [ { state_file: unchanged } ] }", &["compared with itself", "`from: …, to: …`"])]
fn a_wrong_line_in_a_world_is_refused(
    #[case] action: &str,
    #[case] expectation: &str,
    #[case] says: &[&str],
) {
    let text = format!(
        "scenario: x\nwhy: y\nworld: mpib-eight\nmonitors: vm1\nworkloads: {{ job: {{ mpib: {{ ring: [ vm1, vm2 ] }} }} }}\n\
         let: {{ victim: {{ node: vm1 }}, far: {{ node: vm2 }} }}\n\
         timeline: [ {{ at: 1s, do: [ {action} ], expect: [ {expectation} ] }} ]\n"
    );
    let scenario = read("port/try.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let error = resolved(&scenario).expect_err("a wrong line").to_string();
    assert!(error.starts_with("port/try.yaml:7:"), "{error}");
    for part in says {
        assert!(error.contains(part), "does not say `{part}`:\n{error}");
    }
}

#[rstest]
#[case::no_interval("{ MPIB_CTS_SIGNAL_INTERVAL: §0 }", &["`MPIB_CTS_SIGNAL_INTERVAL` of 0 is out of range", "1 to 1000000"])]
#[case::too_many_queue_pairs("{ MPIB_SUP_QP: §128 }", &["`MPIB_SUP_QP` of 128 is out of range", "0 to 127"])]
#[case::in_quotes("{ MPIB_SOUT_QP: §\"-1\" }", &["`MPIB_SOUT_QP` of -1 is out of range"])]
#[case::no_such_mode("{ MPIB_MODE: §2 }", &["`MPIB_MODE` of 2 is out of range", "0 to 1"])]
fn a_variable_whose_effect_no_document_defines_is_refused(
    #[case] marked: &str,
    #[case] says: &[&str],
) {
    check_refused(
        &format!(
            "scenario: x\nwhy: y\nworld: mpib-eight\nworkloads: {{ job: {{ mpib: {{ ring: [ vm1, vm2 ], environment: {marked} }} }} }}\n\
             timeline: [ {{ at: 1s, expect: [ nothing ] }} ]\n"
        ),
        says,
    );
}

#[rstest]
#[case::negative("-1")]
#[case::too_long("33")]
#[case::no_number("abc")]
fn a_prefix_that_the_plugin_replaces_can_be_given(#[case] prefix: &str) {
    let text = format!(
        "scenario: x\nwhy: y\nworld: mpib-eight\nworkloads: {{ job: {{ mpib: {{ ring: [ vm1, vm2 ], environment: {{ MPIB_ISLAND_PREFIX_LEN: {prefix} }} }} }} }}\n\
         timeline: [ {{ at: 1s, expect: [ nothing ] }} ]\n"
    );
    read("mpib/try.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_pair_of_a_rank_with_itself_is_refused() {
    check_refused(
        "scenario: x\nwhy: y\nworld: mpib-eight\nworkloads: { job: { mpib: { pairs: [ §[ vm1, vm1 ] ] } } }\n\
         timeline: [ { at: 1s, expect: [ nothing ] } ]\n",
        &[
            "a pair of `vm1` with itself",
            "passes no port, so no fault reaches it",
        ],
    );
}

/// NCCL has 32 requests of a communicator (`NCCL_NET_MAX_REQUESTS`).
#[rstest]
#[case::none("0")]
#[case::more_than_requests("33")]
fn messages_in_flight_are_as_many_as_a_communicator_has(#[case] in_flight: &str) {
    let story = |in_flight: &str| {
        format!(
            "scenario: x\nwhy: y\nworld: mpib-eight\nworkloads: {{ job: {{ mpib: {{ ring: [ vm1, vm2 ], in_flight: {in_flight} }} }} }}\n\
             timeline: [ {{ at: 1s, expect: [ nothing ] }} ]\n"
        )
    };
    check_refused(&story(&format!("§{in_flight}")), &["out of range"]);
    for most in ["1", "32"] {
        read("mpib/try.yaml", &story(most)).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_world_and_platforms_do_not_go_together() {
    check_refused(
        "scenario: a\nwhy: b\nworld: mpib-eight\n§platforms: all\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n",
        &["`platforms` and `world` in one scenario"],
    );
}

#[test]
fn every_choice_of_a_verb_is_a_word_that_its_reading_knows() {
    for word in words(WordKind::StepAction)
        .iter()
        .chain(&words(WordKind::Expectation))
    {
        for (choice, text) in word
            .choices
            .iter()
            .filter(|(_, text)| !text.starts_with('`'))
        {
            let line = format!("{{ {}: {choice} }}", word.word);
            let scenario = match word.kind {
                WordKind::StepAction => around(&line, "nothing"),
                _ => around("{ cut: victim }", &line),
            };
            if let Err(error) = read("port/try.yaml", &scenario) {
                let error = error.to_string();
                assert!(
                    !error.contains("unknown word"),
                    "{choice} ({text}):\n{error}"
                );
            }
        }
    }
}

#[test]
fn what_is_planned_is_refused_by_name() {
    for word in vocabulary().iter().filter(|word| !word.built) {
        let line = format!("{{ {}: x }}", word.word);
        let text = match word.kind {
            WordKind::StepAction => around(&line, "nothing"),
            WordKind::Expectation => around("{ cut: victim }", &line),
            WordKind::Handle => around("{ cut: victim }", "nothing").replace("{ nth: 2 }", &line),
            _ => format!("{}: x\n{}", word.word, around("{ cut: victim }", "nothing")),
        };
        let error = refused(&text);
        let about = error.first().about.as_deref();
        assert_eq!(about, Some(&About::NotBuilt), "{error}");
        assert!(
            error
                .to_string()
                .contains(&format!("`{}` is not built yet", word.word)),
            "{error}"
        );
    }
    check_refused(
        &around("{ monitor: §upgrade }", "nothing"),
        &["`monitor: upgrade` is not built yet"],
    );
}

#[rstest]
#[case::a_renamed_key("§chairs: [ here ]\n", &["unknown key in a scenario `chairs`", "it is called `monitors` now"])]
#[case::an_unknown_key("§wy: x\n", &["unknown key in a scenario `wy`", "did you mean `why`"])]
#[case::a_duplicate_key("scenario: a\n§scenario: b\n", &["duplicate key `scenario`"])]
#[case::no_map("§- 1\n", &["found a list"])]
#[case::no_timeline("§scenario: a\nwhy: b\n", &["key `timeline` is missing"])]
#[case::nothing_at_all("§", &["found"])]
#[case::an_empty_timeline("scenario: a\nwhy: b\ntimeline: §[]\n", &["an empty timeline"])]
#[case::nothing_expected("scenario: a\nwhy: b\nlet: { v: {} }\ntimeline: §[ { at: 1s, do: [ { cut: v } ] } ]\n", &["nothing is expected"])]
#[case::a_step_without_a_time("scenario: a\nwhy: b\ntimeline: [ §{ expect: [ nothing ] } ]\n", &["a step needs `at`"])]
#[case::times_that_go_backwards("scenario: a\nwhy: b\ntimeline:\n  - { at: 9s, expect: [ nothing ] }\n  - §{ at: 8s, expect: [ nothing ] }\n", &["8s comes after 9s: steps must be in the order of their times"])]
#[case::a_time_without_a_unit("scenario: a\nwhy: b\ntimeline: [ { at: §9, expect: [ nothing ] } ]\n", &["duration `9` without a unit", "`4m29s`"])]
#[case::an_end_before_the_last_line("scenario: a\nwhy: b\nuntil: §5s\ntimeline: [ { at: 9s, expect: [ nothing ] } ]\n", &["the story ends at 5s"])]
#[case::an_unknown_role("scenario: a\nwhy: b\nlet: { v: { role: §gateway } }\ntimeline: []\n", &["unknown role `gateway`", "`compute`"])]
#[case::an_impossible_count("scenario: a\nwhy: b\nlet: { v: { cards: §0 } }\ntimeline: []\n", &["out of range"])]
#[case::a_bare_off("scenario: a\nwhy: b\nlet: { v: { vf: §off } }\ntimeline: []\n", &["expected `true` or `false`"])]
#[case::a_handle_of_a_later_one("scenario: a\nwhy: b\nlet: { v: { card_of: §w }, w: {} }\ntimeline: []\n", &["unknown handle `w`"])]
#[case::an_unknown_refusal("scenario: a\nwhy: b\nplatforms: { with: { refusal: §no_gpu } }\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n", &["unknown word `no_gpu`", "`no_gpu_numa`"])]
#[case::unknown_link_reasons("scenario: a\nwhy: b\nlet: { v: { link_reasons: §ib } }\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n", &["`ib`", "`hfi1`"])]
#[case::later_without_an_owner("scenario: a\nwhy: b\nlet: { v: { §appears: later } }\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n", &["`appears` goes with `vf_of`", "`create_vfs`"])]
#[case::sooner("scenario: a\nwhy: b\nlet: { v: {}, w: { vf_of: v, appears: §sooner } }\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n", &["unknown time `sooner`", "`later`"])]
#[case::a_handle_called_it("scenario: a\nwhy: b\nlet: { §it: {} }\ntimeline: []\n", &["has a meaning of its own"])]
#[case::a_clause_of_nobody("scenario: a\nwhy: b\ncovers: [ §rfc ]\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n", &["invalid clause id `rfc`", "`lsd/3.2/down-is-fatal`"])]
#[case::health_in_memory("scenario: a\nwhy: b\ntimeline: [ { at: 1s, expect: [ §{ healthz: 200 } ] } ]\n", &["only a process answers this", "`arms: [ process ]`"])]
#[case::health_in_both_arms("scenario: a\nwhy: b\narms: [ memory, process ]\ntimeline: [ { at: 1s, expect: [ { this_poll: [ §{ healthz: 200 } ] } ] } ]\n", &["only a process answers this"])]
#[case::never_without_a_reason("scenario: a\nwhy: b\nheal: §never\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n", &["needs a reason", "because"])]
#[case::rules_of_nobody("scenario: a\nwhy: b\nrules: §lds\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n", &["unknown profile of rules `lds`", "did you mean `lsd`"])]
#[case::no_way_to_clear("scenario: a\nwhy: b\ncluster: { clearing: §some }\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n", &["unknown way to clear `some`", "`any_with_code`"])]
#[case::no_set_of_rule_sets("scenario: a\nwhy: b\ncluster: { rulesets: §mine }\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n", &["unknown set of rule sets `mine`", "`with_analyzer`"])]
#[case::a_breaker_of_no_fleet("scenario: a\nwhy: b\ncluster: { breaker: { fleet: §0 } }\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n", &["out of range"])]
#[case::a_breaker_without_its_fleet("scenario: a\nwhy: b\ncluster: { breaker: §{} }\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n", &["key `fleet` is missing in a circuit breaker"])]
#[case::a_version_of_the_future("scenario_version: §2\nscenario: a\nwhy: b\n", &["not known"])]
fn a_wrong_frame_is_refused_at_its_place(#[case] text: &str, #[case] says: &[&str]) {
    check_refused(text, says);
}

#[rstest]
#[case::an_unknown_handle("{ cut: §vicitm }", &["unknown handle `vicitm`", "did you mean `victim`"])]
#[case::two_verbs("{ cut: victim, §mend: victim }", &["`cut` and `mend` in one line"])]
#[case::a_missing_key("§{ flap: victim, down: 1s, up: 1s }", &["`flap` needs the key `times`"])]
#[case::no_times("{ flap: victim, times: §0, down: 1s, up: 1s }", &["out of range"])]
#[case::an_unknown_errno("{ read: victim/state, fail: §EOI }", &["unknown errno `EOI`", "`EIO`"])]
#[case::two_effects("{ read: victim/state, fail: EIO, truncate: §1 }", &["`fail` and `truncate` together"])]
#[case::no_effect("§{ read: victim/state, for: 3s }", &["needs one of `fail`"])]
#[case::a_hang_without_an_end("{ read: victim/state, hang: §forever }", &["invalid end of a hang"])]
#[case::a_file_outside("{ read: §../etc/passwd, fail: EIO }", &["leaves the tree"])]
#[case::a_port_is_no_file("{ read: §victim, fail: EIO }", &["names no file of the port"])]
#[case::a_listing_has_no_content("{ list: class/infiniband, content: §x }", &["a listing has no `content`"])]
#[case::it_outside_of_an_each("{ cut: §it }", &["`it` without an `each`"])]
#[case::an_unknown_state("{ set: victim, state: §DWON }", &["unknown state `DWON`"])]
#[case::no_rate("{ speed: victim, rate: §fast }", &["invalid rate `fast`"])]
#[case::an_unknown_code("{ connector: { code: §EIO } }", &["unknown gRPC code `EIO`"])]
#[case::for_and_calls("{ connector: refuse, for: 3s, §calls: 2 }", &["`for` and `calls` together"])]
#[case::a_stray_key("{ monitor: start, §signal: KILL }", &["does not go with `monitor: start`"])]
#[case::a_pause_without_an_end("§{ monitor: pause }", &["needs the key `for`"])]
#[case::no_rate_of_traffic("§{ traffic: victim }", &["`traffic` needs the key `per_second`"])]
#[case::more_than_an_integer_holds("{ flap: victim, times: §18446744073709551615, down: 1s, up: 1s }", &["`18446744073709551615` is out of range", "1 to 1000000"])]
#[case::an_empty_packet("{ traffic: victim, per_second: 1, packet: §0 }", &["out of range"])]
#[case::an_unknown_character_device("{ remove_char_device: victim, kind: §isms }", &["unknown character device `isms`", "`issm`"])]
#[case::no_flag("{ monitor: start, flags: [ §help ] }", &["invalid flag `help`"])]
#[case::an_unknown_reason("{ take_down: victim, why: §fm_bonce }", &["unknown LinkDownReason `fm_bonce`", "did you mean `fm_bounce`"])]
#[case::no_reason_said("§{ take_down: victim }", &["`take_down` needs the key `why`"])]
#[case::none_as_a_reason("{ take_down: victim, why: §0 }", &["`none` is not a reason to go down"])]
#[case::a_reserved_reason("{ take_down: victim, why: §34 }", &["the LinkDownReason 34 is reserved"])]
#[case::a_reason_of_nobody("{ take_down: victim, why: §64 }", &["out of range"])]
#[case::an_unknown_end("{ take_down: victim, why: 39, end: §far }", &["unknown end of a link `far`", "`there`"])]
#[case::a_reason_that_does_not_hold("{ release: victim, why: §fm_bounce }", &["`fm_bounce` is not a reason that holds", "`switch_mgmt`"])]
#[case::a_renamed_action("{ §let_up: victim, why: switch_mgmt }", &["unknown verb `let_up`", "it is called `release` now"])]
#[case::no_packet_error("{ packet_error: victim, why: §sma_disabled }", &["`sma_disabled` is not an error", "`bad_sc`"])]
#[case::an_action_for_no_error("{ error_action: victim, to: [ bad_sc, §reboot ] }", &["`reboot` is not an error"])]
#[case::an_unknown_set_of_errors("{ error_action: victim, to: §most }", &["unknown set of errors `most`", "`everything`"])]
#[case::a_module_nowhere("{ module: victim, to: §gone }", &["unknown word `gone`", "`out`"])]
#[case::half_the_power("{ partner_power: victim, to: §half }", &["unknown word `half`", "`lost`"])]
#[case::a_neighbour_that_is_back_at_once("{ neighbour_reboots: victim, takes: §0s }", &["must be above zero"])]
#[case::a_reboot_half_announced("{ reboot: { takes: 5s, announced: §1 } }", &["expected `true` or `false`"])]
#[case::nid("{ lnet_fault: storage, node: client, drop: true, to: §nobody }", &["invalid NID `nobody`", "`*@o2ib`"])]
#[case::net_as_interface("{ lnet_fault: storage, node: client, drop: true, ni: §\"*@o2ib\" }", &["invalid NID `*@o2ib`"])]
#[case::kind_of_message("{ lnet_fault: storage, node: client, drop: true, message: §put }", &["unknown kind of message `put`", "`PUT`"])]
#[case::unknown_parameter("{ lnet_set: storage, node: client, param: §retries, to: 1 }", &["unknown parameter of LNet `retries`", "`retry_count`"])]
#[case::endless_retries("{ lnet_set: storage, node: client, param: retry_count, to: §2147483646 }", &["`retry_count` cannot be 2147483646", "0 to 1000"])]
#[case::parameter_too_large("{ lnet_set: storage, node: client, param: health_sensitivity, to: §1001 }", &["`health_sensitivity` cannot be 1001", "0 to 1000"])]
#[case::interface_unchanged("§{ lnet_ni: storage, node: client, ni: victim }", &["`lnet_ni` changes nothing", "`health: 500`"])]
#[case::interface_changed_twice("{ lnet_ni: storage, node: client, ni: victim, health: 5, §priority: 1 }", &["`health` and `priority` together"])]
#[case::too_much_health("{ lnet_ni: storage, node: client, ni: victim, health: §1001 }", &["out of range"])]
#[case::no_error_number("§{ error_registers: victim }", &["`error_registers` needs `flit` or `packet`", "`packet: 9`"])]
#[case::an_error_number_of_nine_bits("{ error_registers: victim, flit: §256 }", &["out of range"])]
#[case::a_report_of_a_message("{ firmware_report: victim, code: §11 }", &["code 11 is the report of a neighbour's message", "`{ take_down: victim, why: fm_bounce, end: there }`"])]
#[case::no_lane_lost("{ lose_lanes: victim, left: §4 }", &["out of range"])]
#[case::no_lane_left("{ lose_lanes: victim, left: §0 }", &["out of range"])]
#[case::a_width_that_is_no_list("{ width_policy: victim, to: §4 }", &["`4` is no list of numbers of lanes", "`[ 3, 4 ]`"])]
#[case::a_width_of_nobody("{ width_policy: victim, to: [ 4, §8 ] }", &["out of range"])]
#[case::an_unknown_reason_to_wait("{ quarantine: victim, why: §flaping }", &["unknown reason to stay in Init `flaping`", "did you mean `flapping`"])]
#[case::an_unknown_manager("{ subnet_manager: §takeover }", &["`takeover`", "did you mean `take_over`"])]
#[case::sweeps_without_end("{ sweep_every: §0s }", &["must be above zero"])]
#[case::half_heeded("{ sweep_every: 9s, traps: §some }", &["unknown treatment of traps `some`", "`ignored`"])]
#[case::all_and_a_pace("{ lnet_fault: storage, node: client, drop: true, one_in: 2, §all: true }", &["`all` and `one_in` in one line"])]
#[case::all_and_an_interval("{ lnet_fault: storage, node: client, drop: true, every: 2s, §all: true }", &["`all` and `every` in one line"])]
#[case::all_that_are_late("{ lnet_fault: storage, node: client, delay: 2s, §all: true }", &["`all` with `delay`", "leave it out"])]
#[case::not_all("{ lnet_fault: storage, node: client, drop: true, all: §false }", &["`all: false` says nothing"])]
#[case::too_many_bytes("{ lnet_get: storage, node: client, to: 10.1.2.1@o2ib, bytes: §1048577 }", &["out of range"])]
#[case::request_to_a_net("{ lnet_put: storage, node: client, to: §\"*@o2ib\" }", &["invalid NID `*@o2ib`"])]
#[case::no_ack("{ lnet_put: storage, node: client, to: 10.1.2.1@o2ib, ack: §false }", &["`ack: false` says nothing"])]
#[case::random_alone("{ lnet_fault: storage, node: client, drop: true, §random: true }", &["`random` without `every`"])]
fn a_wrong_action_is_refused_at_its_place(#[case] action: &str, #[case] says: &[&str]) {
    check_refused(&around(action, "nothing"), says);
}

#[rstest]
#[case::a_word_that_needs_more("§fatal", &["`fatal` needs a value"])]
#[case::two_windows("{ fatal: victim, within: 1 poll, §exactly_at: 3s }", &["`within` and `exactly_at` in one line"])]
#[case::an_empty_window("{ fatal: victim, from: 5s, §to: 5s }", &["`to` is not after `from`"])]
#[case::a_window_without_a_unit("{ fatal: victim, within: §3 }", &["invalid number of polls or duration"])]
#[case::zero_times("{ fatal: victim, times: §0 }", &["`times: 0`", "nothing"])]
#[case::impossible_times("{ fatal: victim, times: §[ 3, 1 ] }", &["is impossible"])]
#[case::an_event_at_most_never("{ fatal: victim, times: §at most 0 }", &["is impossible"])]
#[case::an_unknown_placeholder("{ fatal: victim, message: §\"{devcie}\" }", &["unknown placeholder `devcie`", "`device`"])]
#[case::an_unknown_handle_in_a_message("{ fatal: victim, message: §\"{vicitm.device}\" }", &["unknown handle `vicitm`"])]
#[case::an_each_of_nothing("§{ each: storm }", &["expects nothing of each"])]
#[case::an_each_within_an_each("{ each: storm, said: { §each: storm, fatal: it } }", &["an `each` within an `each`"])]
#[case::edges_without_times("§{ each: storm, say: [ { fatal: it } ] }", &["key `times` is missing"])]
#[case::two_events_at_an_edge("{ each: storm, times: 1, say: [ { fatal: it }, §{ nonfatal: it } ] }", &["two events for the same edge"])]
#[case::an_order_of_nothing("{ in_order: [ §nothing ] }", &["only expected events"])]
#[case::a_counter_and_its_code("{ fatal: victim, counter: link_downed, §codes: [ link_downed ] }", &["`counter` and `codes` in one line"])]
#[case::a_link_of_which_nothing_is_said("§{ link: victim }", &["needs `here` or `there`", "unavailable"])]
#[case::half_a_pair("{ link: victim, here: §[ 36 ] }", &["a pair is LinkDownReason and NeighborLinkDownReason"])]
#[case::an_unknown_reason_of_an_end("{ link: victim, there: [ 0, §rebot ] }", &["unknown LinkDownReason `rebot`", "did you mean `reboot`"])]
#[case::an_end_that_is_gone("{ link: victim, there: §gone }", &["unknown end of a link `gone`", "`unavailable`"])]
#[case::an_unknown_key_of_an_end("{ link: victim, here: { §pari: [ 0, 0 ] } }", &["unknown key in an end of a link `pari`", "`pair`"])]
#[case::offline_for_a_bounce("{ link: victim, here: { offline: §fm_bounce } }", &["no port is offline for `fm_bounce`"])]
#[case::offline_for_an_unused_number("{ link: victim, here: { offline: §5 } }", &["OfflineDisabledReason 5 is not used"])]
#[case::a_metric_without_a_number("§{ metric: up }", &["key `is` is missing"])]
#[case::a_metric_with_its_labels_in_it("{ metric: §\"up{job=1}\", is: 1 }", &["invalid metric name", "labels"])]
#[case::a_metric_that_is_no_number("{ metric: up, is: §much }", &["invalid bound `much`"])]
#[case::a_metric_below_zero("{ metric: up, is: §\"< 0\" }", &["below every number"])]
#[case::a_label_of_nobody("{ metric: up, labels: { device: §\"{device}\" }, is: 1 }", &["`{device}` is nobody's here", "{victim.device}"])]
#[case::a_label_of_an_unknown_handle("{ metric: up, labels: { device: §\"{vicitm.device}\" }, is: 1 }", &["unknown handle `vicitm`"])]
#[case::labels_that_are_no_map("{ metric: up, labels: §node-a, is: 1 }", &["found a text"])]
#[case::a_status_that_is_none("{ healthz: §20 }", &["out of range"])]
#[case::a_condition_half_standing("{ condition: state, of: victim, stands: §maybe }", &["expected `true` or `false`"])]
#[case::a_condition_of_an_unknown_handle("{ condition: state, of: §vicitm }", &["unknown handle `vicitm`", "did you mean `victim`"])]
#[case::not_throughout("{ cordoned: true, throughout: §false }", &["`throughout: false` has no effect", "leave it out"])]
#[case::cordoned_by_somebody("{ cordoned: §victim }", &["expected `true` or `false`"])]
#[case::released_somehow("{ uncordoned: §gently }", &["expected `true` or `false`"])]
#[case::a_rule_that_fires_anyway("{ rule: NICPortDrop, fires: §true }", &["`fires: true` has no effect"])]
#[case::silent_three_times("{ rule: NICPortDrop, fires: false, §times: 3 }", &["`fires: false` and `times` in one line"])]
#[case::silent_and_counted("{ rule: NICPortDrop, fires: false, §counted: 3 }", &["`fires: false` and `counted` in one line"])]
#[case::zero_firings("{ rule: NICPortDrop, times: §0 }", &["`times: 0`"])]
#[case::a_rule_that_whispers("{ rule: NICPortDrop, says: §something }", &["unknown word `something`", "`cleared`"])]
#[case::counted_below_nothing("{ rule: NICPortDrop, counted: §\"< 0\" }", &["below every number"])]
#[case::loud_rules("{ rules: §loud }", &["unknown word after `rules` `loud`", "`silent`"])]
#[case::a_selection_in_place_of_a_name("{ cleared: §{ role: compute, nth: 2 } }", &["chosen under `let:`", "hint: write `let: { victim: "])]
#[case::a_port_out_of_range("{ cleared: { name: mlx5_3, port: §300 } }", &["out of range"])]
#[case::counter_of_an_interface("{ lnet_stat: storage, ni: victim, counter: §resend_count, is: 0 }", &["unknown counter of an LNet interface `resend_count`", "`sent_put`"])]
#[case::event_of_lnet("{ lnet_ulp: storage, node: client, event: §TIMEOUT, status: ok, is: 0 }", &["unknown event of LNet `TIMEOUT`", "`UNLINK`"])]
#[case::status_of_an_event("{ lnet_ulp: storage, node: client, event: SEND, status: §timeout, is: 0 }", &["unknown status of an event `timeout`", "`timed_out`"])]
#[case::state_of_a_route("{ lnet_route: storage, node: client, gateway: router-1, state: §dead }", &["unknown state of a route `dead`", "`down`"])]
#[case::half_a_second("{ lnet: storage, ni: victim, next_ping: §1500ms }", &["whole seconds"])]
#[case::counter_of_mpib("{ mpib_stat: job, node: vm1, counter: §retries, is: 0 }", &["unknown counter of MPIB `retries`", "`sout_retries`"])]
#[case::bytes_of_a_pair("{ mpib_stat: job, node: vm1, counter: sup_bytes_sent, §pair: vm2, is: 0 }", &["`sup_bytes_sent` is of a node"])]
#[case::range_from_its_end("{ lnet_stat: storage, node: client, counter: errors, is: §\"9 to 5\" }", &["invalid bound `9 to 5`", "`\"5 to 9\"`"])]
#[case::counter_of_lnet("{ lnet_stat: storage, node: client, counter: §resends, is: 0 }", &["unknown counter of LNet `resends`", "`resend_count`"])]
fn a_wrong_expectation_is_refused_at_its_place(#[case] expectation: &str, #[case] says: &[&str]) {
    check_refused(&around("{ cut: victim }", expectation), says);
}

#[rstest]
#[case::unnamed("", "the counter of which node?")]
#[case::elsewhere("node: [ client, server ], ", "the counter of which node?")]
fn a_counter_of_lnet_is_of_one_node(#[case] node: &str, #[case] says: &str) {
    let line = format!("{{ lnet_stat: storage, {node}counter: errors, is: 0 }}");
    let scenario =
        read("lnet/try.yaml", &around("{ cut: victim }", &line)).expect("it can be read");
    let Err(Unfit::Wrong(error)) = resolved(&scenario) else {
        panic!("it was resolved: {line}");
    };
    assert!(error.to_string().contains(says), "{error}");
    assert!(
        error.to_string().contains("one of `client`, `server`"),
        "{error}"
    );
}

/// Whether a NID exists is known once the workload's interfaces are.
#[rstest]
#[case::from("from: 10.1.9.1@o2ib", "unknown NID of `storage` `10.1.9.1@o2ib`")]
#[case::to("to: \"*@tcp\"", "unknown NID of `storage` `*@tcp`")]
#[case::ni("ni: 10.9.1.1@o2ib", "unknown NID of `client` `10.9.1.1@o2ib`")]
fn a_rule_about_a_nid_that_nobody_has_is_refused(#[case] key: &str, #[case] says: &str) {
    let action = format!("{{ lnet_fault: storage, node: client, drop: true, {key} }}");
    let scenario = read("lnet/try.yaml", &around(&action, "nothing")).expect("it can be read");
    let Err(Unfit::Wrong(error)) = resolved(&scenario) else {
        panic!("it was resolved: {action}");
    };
    let error = error.to_string();
    assert!(error.contains(says), "{error}");
    assert!(error.contains("`10.1.1.1@o2ib`"), "{error}");
}

#[test]
fn a_file_over_the_limit_is_refused() {
    let text = format!("scenario: {}\n", "x".repeat(files::yaml::MAX_BYTES));
    assert!(
        refused(&text)
            .to_string()
            .contains("at most 1048576 are read")
    );
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text =
        String::from("scenario: a\nwhy: b\nlet:\n  a0: &a0 [ x, x, x, x, x, x, x, x ]\n");
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        text += &format!("  a{level}: &a{level} [ {} ]\n", vec![below; 8].join(", "));
    }
    refused(&text);
}

#[test]
fn an_impossible_selection_is_not_applicable_with_its_reason() {
    let text = around("{ cut: victim }", "nothing")
        .replace("{ cards: 2 }", "{ role: compute, cards: 400 }");
    let scenario = read("port/try.yaml", &text).expect("a scenario");
    let Err(Unfit::NotApplicable { reason }) = resolved(&scenario) else {
        panic!("it was told")
    };
    assert!(
        reason.contains("`storm`") && reason.contains("needs 400 cards"),
        "{reason}"
    );
}

#[test]
fn a_port_that_does_not_exist_is_not_applicable_with_its_reason() {
    let text = around("{ cut: victim }", "nothing").replace("{ cards: 2 }", "{ device: mlx5_99 }");
    let scenario = read("port/try.yaml", &text).expect("a scenario");
    let Err(Unfit::NotApplicable { reason }) = resolved(&scenario) else {
        panic!("it was told")
    };
    assert!(
        reason.contains("mlx5_99") && reason.contains("`h100-oci` has 0"),
        "{reason}"
    );
}

#[test]
fn a_count_that_a_handle_cannot_have_is_wrong_at_its_place() {
    let text = around("{ cut: victim }", "{ fatal: storm, count: 77 }");
    let scenario = read("port/try.yaml", &text).expect("a scenario");
    let Err(Unfit::Wrong(error)) = resolved(&scenario) else {
        panic!("it was told")
    };
    assert!(
        error
            .to_string()
            .starts_with("port/try.yaml:13:38: `count: 77`"),
        "{error}"
    );
}

/// Words, handles and values of the language, for random texts.
fn any_word() -> impl Strategy<Value = String> {
    let mut known: Vec<String> = vocabulary()
        .iter()
        .map(|word| word.word.to_owned())
        .collect();
    for word in vocabulary() {
        known.extend(word.keys.iter().map(|key| key.word.to_owned()));
        known.extend(word.choices.iter().map(|(choice, _)| (*choice).to_owned()));
    }
    let values = [
        "victim",
        "device of victim",
        "card of it",
        "10s",
        "1 poll",
        "3",
        "true",
        "null",
        "-1",
        "[]",
        "{}",
        "it",
        "EIO",
        "\"\"",
        "victim/state",
        "1.5",
        "&a x",
        "*a",
        "~",
        "? x",
        "!!str 1",
    ];
    known.extend(values.map(str::to_owned));
    prop::sample::select(known)
}

/// Lists and maps of such words, a few levels deep.
fn any_yaml() -> impl Strategy<Value = String> {
    any_word().prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[ {} ]", items.join(", "))),
            prop::collection::btree_map(any_word(), inner, 0..4).prop_map(
                |pairs: BTreeMap<String, String>| {
                    let pairs: Vec<String> = pairs
                        .iter()
                        .map(|(key, value)| format!("{key}: {value}"))
                        .collect();
                    format!("{{ {} }}", pairs.join(", "))
                }
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,300}") {
        if let Err(error) = read("any.yaml", &text) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn no_lines_of_yaml_make_the_reader_panic(lines in prop::collection::vec("[ ]{0,6}[a-z_]{0,9}[:]?[ ][-&*!|>{}\\[\\]a-z0-9 ]{0,9}", 0..20)) {
        drop(read("any.yaml", &lines.join("\n")));
    }

    #[test]
    fn no_action_and_no_expectation_makes_the_resolver_panic(action in any_yaml(), expectation in any_yaml()) {
        if let Ok(scenario) = read("any.yaml", &around(&action, &expectation)) {
            drop(resolved(&scenario));
        }
    }

    #[test]
    fn no_value_of_a_verb_makes_the_resolver_panic(pick in any::<prop::sample::Index>(), value in any_yaml(), key in any_word(), beside in any_yaml()) {
        let verbs: Vec<Word> = [words(WordKind::StepAction), words(WordKind::Expectation)].concat();
        let verb = pick.get(&verbs);
        let line = format!("{{ {}: {value}, {key}: {beside} }}", verb.word);
        let text = match verb.kind {
            WordKind::StepAction => around(&line, "nothing"),
            _ => around("{ cut: victim }", &line),
        };
        if let Ok(scenario) = read("any.yaml", &text) {
            drop(resolved(&scenario));
        }
    }

    #[test]
    fn no_frame_makes_the_resolver_panic(key in any_word(), value in any_yaml(), handle in any_yaml()) {
        let text = around("{ cut: victim }", "nothing").replace("{ nth: 2 }", &handle);
        if let Ok(scenario) = read("any.yaml", &format!("{key}: {value}\n{text}")) {
            drop(resolved(&scenario));
        }
    }
}

/// A scenario with this `tick:`.
fn ticking(tick: &str) -> String {
    format!(
        "scenario: one line\nwhy: to try it\ntick: {tick}\nlet: {{ victim: {{ nth: 1 }} }}\n\
         timeline: [ {{ at: 10s, do: [ {{ cut: victim }} ], expect: [ {{ fatal: victim }} ] }} ]\n"
    )
}

#[rstest]
#[case("0s", "above zero")]
#[case("500us", "at least one millisecond")]
#[case("{ every: 1s }", "`jitter`")]
#[case("{ jitter: 1s }", "less than a tick")]
#[case("{ every: 5ms, jitter: 7ms }", "less than a tick")]
#[case("{ jitter: 500us }", "whole milliseconds")]
#[case("{ jitter: 5ms, seed: -1 }", "out of range")]
#[case("{ jiter: 5ms }", "`jitter`")]
#[case("{ jitter: 0s }", "0s")]
fn a_tick_that_cannot_be_is_refused(#[case] tick: &str, #[case] part: &str) {
    let error = read("f.yaml", &ticking(tick)).expect_err(tick).to_string();
    assert!(error.contains(part), "{tick}: {error}");
}

#[test]
fn a_step_at_a_tick_belongs_to_its_poll_however_late_that_is() {
    let story = |tick: &str| -> Story {
        let scenario = read("f.yaml", &ticking(tick)).expect("a scenario");
        let rest = AtRest::new(&NodeName::from("node-a"), &h100());
        scenario.at_rest(&rest).expect("it fits")
    };
    let exact = story("1s");
    for seed in 0..20 {
        let late = story(&format!("{{ jitter: 999ms, seed: {seed} }}"));
        let windows = |story: &Story| {
            story
                .expectations
                .iter()
                .map(|it| it.window)
                .collect::<Vec<_>>()
        };
        assert_eq!(windows(&late), windows(&exact), "seed {seed}");
        assert_eq!(late.ticks.first_from(late.steps[0].at), 10);
    }
}

#[test]
fn a_file_name_that_would_forge_a_line_or_a_path_names_no_scenario() {
    let text = around("{ cut: victim }", "nothing");
    for file in [
        "port/a\nport/forged@h100-oci.yaml",
        "a\nb/cut.yaml",
        "port/a\u{7}.yaml",
    ] {
        let error = read(file, &text).unwrap_err().to_string();
        assert!(error.contains("has the character"), "{error}");
    }
    let long = format!("port/{}.yaml", "n".repeat(65));
    let error = read(&long, &text).unwrap_err().to_string();
    assert!(error.contains("more than 64 characters"), "{error}");
}

#[test]
fn a_title_is_one_line_of_at_most_200_characters() {
    let rest = "why: y\ntimeline: [ { at: 0s, expect: [ nothing ] } ]\n";
    check_refused(
        &format!("scenario: §\"a\\nport/forged@h100-oci\"\n{rest}"),
        &["a title is one line", "hint: "],
    );
    check_refused(
        &format!("scenario: §{}\n{rest}", "t".repeat(201)),
        &["more than 200 characters"],
    );
    let longest = format!("scenario: {}\n{rest}", "t".repeat(200));
    read("port/try.yaml", &longest).unwrap();
}

#[rstest]
#[case::polls(
    "scenario: x\nwhy: y\ntimeline: [ { at: 0s, expect: [ { state_file: valid, within: §1000000 polls } ] } ]\n",
    "at most 100000"
)]
#[case::ticks(
    "scenario: x\nwhy: y\ntick: §1ms\ntimeline: [ { at: 1h, expect: [ nothing ] } ]\n",
    "3600000 ticks, at most 100000"
)]
#[case::end(
    "scenario: x\nwhy: y\nuntil: §100001s\ntimeline: [ { at: 0s, expect: [ nothing ] } ]\n",
    "100001 ticks, at most 100000"
)]
fn what_a_story_costs_is_bounded(#[case] marked: &str, #[case] says: &str) {
    check_refused(marked, &[says]);
}

/// 256 nodes for an hour of seconds would be 921,856 ticks in all, for two hours twice as many.
#[rstest]
#[case::an_hour(3600, None)]
#[case::two_hours(7200, Some("256 nodes play 7201 ticks each, at most 1000000 in all"))]
fn what_a_story_costs_in_a_large_world_is_bounded(
    #[case] seconds: u32,
    #[case] says: Option<&str>,
) {
    let world = "world: large\nwhy: y\nnodes: [ { name: vm1..vm256, platform: h100-oci } ]\n";
    let world = World::read("worlds/large.yaml", world).unwrap();
    let at_rest = AtRest::of_world(&world, &Platforms::shipped()).unwrap();
    let text = format!(
        "scenario: x\nwhy: y\nworld: large\nuntil: {seconds}s\n\
         timeline: [ {{ at: 0s, expect: [ nothing ] }} ]\n"
    );
    let told = read("port/try.yaml", &text).unwrap().at_rest(&at_rest);
    match (told, says) {
        (Ok(_), None) => {}
        (Err(error), Some(says)) => {
            let error = error.to_string();
            assert!(error.starts_with("port/try.yaml:5:"), "{error}");
            assert!(error.contains(says), "{error}");
        }
        (told, _) => panic!("{told:?}"),
    }
}

#[rstest]
#[case::a_file("--state-file=/tmp/x", "`--state-file` is set by nicdrill")]
#[case::a_file_beside("--state-file=x", "`--state-file` is set by nicdrill")]
#[case::a_socket("--platform-connector-socket=unix:///run/x", "is set by nicdrill")]
#[case::a_port("--metrics-port=80", "is set by nicdrill")]
#[case::the_clock("--clock-path=x", "is set by nicdrill")]
#[case::a_path("--other=/etc/passwd", "a story names no path")]
#[case::a_path_beside("--other=a/b", "a story names no path")]
#[case::an_address("--other=h:80", "a story names no path")]
#[case::two_words("\"--other=a b\"", "a story names no path")]
#[case::two_lines("\"--other=a\\nb\"", "a story names no path")]
#[case::no_value("--other=", "invalid value of the flag")]
#[case::an_odd_name("\"--a b=c\"", "invalid flag")]
fn a_flag_of_a_story_names_nothing_of_the_host(#[case] flag: &str, #[case] says: &str) {
    let rest = "timeline: [ { at: 0s, expect: [ nothing ] } ]\n";
    check_refused(
        &format!("scenario: x\nwhy: y\nflags: [ §{flag} ]\n{rest}"),
        &[says, "hint: "],
    );
    check_refused(
        &around(
            &format!("{{ monitor: restart, flags: [ §{flag} ] }}"),
            "nothing",
        ),
        &[says],
    );
}

#[rstest]
#[case::a_path("a = '/etc/passwd'", "line 2 of `config` has a path from the root")]
#[case::a_step_up("a = 'b/../../c'", "a step to the folder above")]
#[case::an_address("a = 'unix:///run/x'", "an address")]
fn a_configuration_of_a_story_names_nothing_of_the_host(#[case] line: &str, #[case] says: &str) {
    let rest = "timeline: [ { at: 0s, expect: [ nothing ] } ]\n";
    let config = format!("config: §\"[b]\\n{line}\"");
    check_refused(
        &format!("scenario: x\nwhy: y\n{config}\n{rest}"),
        &[says, "hint: "],
    );
    let restart = format!("{{ monitor: restart, config: §\"[b]\\n{line}\" }}");
    check_refused(&around(&restart, "nothing"), &[says]);
}

#[test]
fn names_of_worlds_nodes_and_handles_are_no_paths() {
    let world = |name: &str, node: &str| {
        let text = format!(
            "world: \"{name}\"\nwhy: y\nnodes: [ {{ name: \"{node}\", platform: h100-oci }} ]\n"
        );
        World::read("worlds/w.yaml", &text)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    world("pair", "n-1").unwrap();
    for (name, node) in [
        ("../../x", "n-1"),
        ("a\\nb", "n-1"),
        ("pair", "a/n"),
        ("pair", "a\\nb"),
    ] {
        let error = world(name, node).unwrap_err();
        assert!(error.contains("has the character"), "{error}");
    }
    let long = "h".repeat(65);
    check_refused(
        &format!("scenario: x\nwhy: y\nlet: {{ §{long}: {{ nth: 1 }} }}\ntimeline: []\n"),
        &["more than 64 characters"],
    );
}
