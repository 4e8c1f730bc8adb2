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
