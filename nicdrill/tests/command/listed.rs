//! `nicdrill list`: the selection by scenario and by drill, for a program, and as a page.

use rstest::rstest;
use serde_json::Value;

use crate::{groups::UNFAIR, scratch::Scratch};

#[test]
fn a_drill_is_listed_with_its_title_its_platform_and_its_arms() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    let words = [
        "list",
        "./port",
        "--json",
        "--arm",
        "memory",
        "port/unfair@h100-oci",
    ];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    let list: Value = serde_json::from_str(&ran.out).unwrap();
    let drills = list["drills"].as_array().unwrap();
    assert_eq!(drills.len(), 1, "{ran}");
    let drill = &drills[0];
    assert_eq!(drill["drill"], "port/unfair@h100-oci");
    assert_eq!(drill["scenario"], "port/unfair");
    assert_eq!(drill["title"], "a port is disabled and nobody may say so");
    assert_eq!(drill["platform"], "h100-oci");
    assert_eq!(drill["arms"], serde_json::json!(["memory"]));
    assert_eq!(drill["because"], Value::Null);
}

#[test]
fn a_scenario_has_one_line_with_its_title_and_its_drills() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    let nowhere = UNFAIR.replace("all", "{ with: { compute_cards: \">= 99\" } }");
    scratch.file("port/nowhere.yaml", &nowhere);
    let platforms = ["--platform", "h100-oci,dgx-a100,dgx-h100"];
    let ran = scratch.run(&[&["list", "./port", "--arm", "memory"], &platforms[..]].concat());
    assert_eq!(ran.code, 0, "{ran}");
    let lines: Vec<&str> = ran.out.lines().collect();
    let title = "a port is disabled and nobody may say so";
    assert_eq!(lines.len(), 3, "{ran}");
    assert!(lines[0].starts_with("port/nowhere  fits nowhere "), "{ran}");
    assert!(lines[1].starts_with("port/unfair   "), "{ran}");
    assert!(
        lines[1].contains(" drills (") && lines[1].contains(" memory, 0 process)  "),
        "{ran}"
    );
    assert!(lines[1].ends_with(title), "{ran}");
    assert!(lines[2].starts_with("2 scenarios: "), "{ran}");
}

#[test]
fn a_drill_has_a_line_of_its_own_if_drills_are_asked_for() {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    let words = [
        "list",
        "./port",
        "--drills",
        "--arm",
        "memory",
        "port/unfair@h100-oci",
    ];
    let ran = scratch.run(&words);
    assert!(
        ran.out
            .starts_with("port/unfair@h100-oci  memory\n1 drill ("),
        "{ran}"
    );
}

#[test]
fn the_page_of_the_suite_is_what_the_command_prints() {
    let ran = Scratch::new().run(&["list", "--markdown"]);
    assert_eq!(ran.code, 0, "{ran}");
    let page = include_str!("../../../docs/suite.md");
    assert!(
        ran.out == page,
        "`nicdrill list --markdown > docs/suite.md` writes it"
    );
}

#[rstest]
#[case(&["--drills", "--json"])]
#[case(&["--markdown", "--json"])]
fn a_selection_is_listed_in_one_way(#[case] words: &[&str]) {
    let ran = Scratch::new().run(&[&["list"], words].concat());
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("cannot be used with"), "{ran}");
}

#[test]
fn a_pair_that_does_not_fit_is_listed_with_its_reason() {
    let scratch = Scratch::new();
    let only = UNFAIR.replace("platforms: all", "platforms: [ h100-oci ]");
    scratch.file("port/unfair.yaml", &only);
    let ran = scratch.run(&["list", "./port", "--json", "--platform", "dgx-a100"]);
    assert_eq!(ran.code, 4, "{ran}");
    let list: Value = serde_json::from_str(&ran.out).unwrap();
    let pairs = list["not_applicable"].as_array().unwrap();
    assert!(!pairs.is_empty(), "{ran}");
    for pair in pairs {
        assert!(
            pair["drill"]
                .as_str()
                .unwrap()
                .starts_with("port/unfair@dgx-a100")
        );
        assert!(!pair["reason"].as_str().unwrap().is_empty());
    }
}
