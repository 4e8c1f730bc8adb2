//! Every page of `link show`, `lnet show` and `mpib show` is JSON with `--json`, and says the same as its text.

use rstest::rstest;
use serde_json::Value;

use crate::scratch::Scratch;

fn json_of(words: &[&str]) -> Value {
    let mut words = words.to_vec();
    words.push("--json");
    let ran = Scratch::new().run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

/// The page at a pointer (RFC 6901) is this value.
#[rstest]
#[case(&["link", "show", "link/cable-pulled@dgx-a100", "--at", "12s"], "/links/0/ends/0/port/reasons/own/code", "36")]
#[case(&["link", "show", "link/cable-port-or-host", "--summary"], "/managed", "true")]
#[case(&["link", "show", "link/cable-port-or-host", "--switch", "leaf-4"], "/links/0/active", "true")]
#[case(&["link", "show", "link/fabric-manager-fails-over", "--fm-log"], "/notices/0/at_ns", "10100000000")]
#[case(&["link", "show", "link/omni-path-heat-and-power", "--dmesg", "--at", "20s"], "/at_ns", "20000000000")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "client", "--view", "net", "--at", "12s"], "/views/0/command", "\"lnetctl net show -v 2\"")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "client", "--view", "net", "--at", "12s"], "/views/0/shows/net/0/net type", "\"lo\"")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "--why", "1"], "/traces/0/requests/0/first_timer", "null")]
#[case(&["lnet", "show", "lnet/second-interface-carries", "--why", "1"], "/traces/0/requests/0/request", "1")]
#[case(&["lnet", "show", "lnet/resends-hide-a-lossy-path", "--at", "20s", "--trace"], "/traces/0/entries/0/choice/attempt", "1")]
#[case(&["lnet", "show", "lnet/cable-out-for-five-seconds", "client", "--over", "9s..12s"], "/tables/0/rows/0/time", "\"9s\"")]
#[case(&["mpib", "show", "mpib/no-agent-no-isolation"], "/jobs/0/transport", "\"internal\"")]
#[case(&["mpib", "show", "joint/job-dies-half-a-minute-later", "--timeline"], "/jobs/0/failure/result", "\"ncclSystemError\"")]
fn a_page_is_json(#[case] words: &[&str], #[case] pointer: &str, #[case] expected: &str) {
    let page = json_of(words);
    let found = page.pointer(pointer);
    let found = found.unwrap_or_else(|| panic!("no {pointer} in {page:#}"));
    assert_eq!(found.to_string(), expected, "{page:#}");
}

/// The course has the lines of the text, each after its time.
#[test]
fn the_json_of_a_timeline_has_its_lines() {
    let words = [
        "mpib",
        "show",
        "joint/job-dies-half-a-minute-later",
        "--timeline",
    ];
    let text = Scratch::new().run(&words).out;
    let page = json_of(&words);
    let course = page["jobs"][0]["timeline"].as_array().expect("a course");
    assert!(course.len() > 10, "{page:#}");
    for line in course {
        let line = line["text"].as_str().expect("a text");
        assert!(text.contains(&format!("s {line}\n")), "{line}: {text}");
    }
}

/// Whether an interface can have been passed over for this reason, beside the chosen one, by the values at the choice. Of
/// fatal interfaces the first is taken.
fn fits(why: &str, passed: &Value, chosen: &Value) -> bool {
    let number = |of: &Value, key: &str| of[key].as_i64().expect("a number");
    let less_is_worse = |key| number(passed, key).cmp(&number(chosen, key));
    let more_is_worse = |key| number(chosen, key).cmp(&number(passed, key));
    let order = [
        ("passed over, lower health", less_is_worse("health")),
        ("passed over, priority", more_is_worse("priority")),
        ("passed over, fewer credits", less_is_worse("credits")),
        (
            "passed over, selected more often",
            more_is_worse("selected"),
        ),
    ];
    let first = order.into_iter().find(|(_, compared)| compared.is_ne());
    match why {
        "passed over, later in the configuration" => first.is_none() || passed["down"] == true,
        "passed over, its fatal flag is set" => passed["down"] == true,
        "passed over, the source is given"
        | "passed over, the source is given and the destination on its net"
        | "passed over, the message goes to a fixed NID"
        | "passed over, the peer keeps seeing one NI"
        | "passed over, another net was chosen"
        | "passed over, an earlier try used it" => true,
        _ => first.is_some_and(|(reason, compared)| reason == why && compared.is_lt()),
    }
}

/// Every reason over the shipped scenarios: the first comparison that an interface loses by the values beside it, or one
/// for which it was not compared.
#[test]
fn every_reason_over_the_suite_fits_the_values_at_the_choice() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../suite/scenarios/lnet");
    let mut reasons = 0;
    for file in std::fs::read_dir(folder).expect("the suite has scenarios of LNet") {
        let file = file.expect("an entry").file_name();
        let name = file.to_str().and_then(|file| file.strip_suffix(".yaml"));
        let name = format!("lnet/{}", name.expect("a scenario"));
        let page = json_of(&["lnet", "show", &name, "--trace"]);
        for trace in page["traces"].as_array().expect("traces") {
            let entries = trace["entries"].as_array().expect("entries");
            let choices = entries.iter().map(|entry| &entry["choice"]);
            for choice in choices.filter(|choice| choice["by"].is_string()) {
                for side in ["sources", "destinations"] {
                    let all = choice[side].as_array().expect("interfaces");
                    let Some(chosen) = all.iter().find(|one| one["passed_over"].is_null()) else {
                        assert!(all.is_empty(), "{name}: {choice:#}");
                        continue;
                    };
                    for one in all {
                        if let Some(why) = one["passed_over"].as_str() {
                            reasons += 1;
                            assert!(fits(why, one, chosen), "{name}: {why} in {choice:#}");
                        }
                    }
                }
            }
        }
    }
    assert!(reasons > 1_000, "{reasons}");
}
