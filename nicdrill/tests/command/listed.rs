//! `nicdrill list --json`: the selection for a program.

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
