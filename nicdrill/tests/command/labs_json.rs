//! Every page of `link show`, `lnet show` and `mpib show` is JSON with `--json`, and says the same as its text.

use std::collections::BTreeSet;

use rstest::rstest;
use serde_json::Value;
use simfs::SimTime;

use crate::{
    scratch::{Ran, Scratch},
    text_of_json,
};

/// The folder of the shipped scenarios.
const SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../suite/scenarios");

/// A page about a shipped scenario, whose file is named instead of it: then the command reads that file alone, and not
/// the whole suite.
fn shown(words: &[&str]) -> Ran {
    let [of, show, drill, rest @ ..] = words else {
        panic!("no page: {words:?}");
    };
    let file = match drill.split_once('@') {
        Some((name, platform)) => format!("{SCENARIOS}/{name}.yaml@{platform}"),
        None => format!("{SCENARIOS}/{drill}.yaml"),
    };
    let ran = Scratch::new().run(&[&[*of, *show, &file], rest].concat());
    assert_eq!(ran.code, 0, "{ran}");
    ran
}

fn json_of(words: &[&str]) -> Value {
    let ran = shown(&[words, &["--json"]].concat());
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
    let (text, page) = both(&words);
    let course = page["jobs"][0]["timeline"].as_array().expect("a course");
    assert!(course.len() > 10, "{page:#}");
    for line in course {
        let line = line["text"].as_str().expect("a text");
        assert!(text.contains(&format!("s {line}\n")), "{line}: {text}");
    }
}

/// The server has no way back: the text and the JSON say that its fetch was never sent, and why.
#[test]
fn a_request_without_a_path_says_why_in_text_and_in_json() {
    let scratch = Scratch::new();
    scratch.file(
        "back.yaml",
        "scenario: no way back\nwhy: the server has no route\nworld: storage-routed\nmonitors: [ client ]\n\
         workloads: { storage: { lnet: { client: client, server: server, routers: router-1..router-2, \
         routes: [ { node: [ client ], gateway: router-1, hop: 255 } ] } } }\n\
         timeline: [ { at: 4s, expect: [ { nothing: null, from: 1s, to: 4s } ] } ]\nuntil: 5s\n",
    );
    let words = ["lnet", "show", "./back.yaml", "--why", "failed"];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    let request = ran
        .out
        .lines()
        .find_map(|line| line.strip_prefix("request "));
    let request = request.unwrap_or_else(|| panic!("no request: {ran}"));
    let why = "the node has no route to its net";
    let head = format!(
        "request {request}\n  first timer to run out: none, message {request} was not sent\n  \
         blamed: no interface, message {request} was not sent\n  \
         no other path: message {request}, try 1 to 10.1.1.1@o2ib: {why}, and LNet does not resend what has no path\n"
    );
    assert!(ran.out.contains(&head), "{head}: {ran}");
    let ran = scratch.run(&["lnet", "show", "./back.yaml", "--why", request, "--json"]);
    let page: Value = serde_json::from_str(&ran.out).expect("JSON");
    let entries = page["traces"][0]["requests"][0]["entries"].as_array();
    let mut choices = entries
        .expect("entries")
        .iter()
        .map(|entry| &entry["choice"]);
    let choice = choices.find(|choice| choice.is_object()).expect("a choice");
    assert_eq!(choice["no_path"], "remote_error", "{page:#}");
    assert_eq!(choice["no_path_because"], why, "{page:#}");
}

/// The text of a page, and its JSON.
fn both(words: &[&str]) -> (String, Value) {
    (shown(words).out, json_of(words))
}

/// Each answer of the summary, after an arrow, is in the JSON: of a link that is down, of one that is back, or of a machine.
#[rstest]
#[case(&["link", "show", "link/cable-port-or-host", "--summary"], 5)]
#[case(&["link", "show", "joint/driver-unloaded", "--summary", "--at", "12s"], 2)]
#[case(&["link", "show", "link/omni-path-heat-and-power", "--at", "20s", "--summary"], 2)]
fn the_json_of_a_summary_has_its_answers(#[case] words: &[&str], #[case] at_least: usize) {
    let (text, page) = both(words);
    let mut answers: Vec<String> = Vec::new();
    let now = page["at_ns"].as_u64().expect("a time");
    for link in page["links"].as_array().expect("links") {
        let text = |key: &str| link[key].as_str().map(ToOwned::to_owned);
        let last = text("last_cause");
        if link["active"] == true {
            assert!(link["cause"].is_null(), "{link:#}");
            answers.extend(last);
            continue;
        }
        let logged = last.map(|cause| {
            let at = link["last_cause_logged_ns"].as_u64().expect("a time");
            let ago = SimTime::from_ns(now - at);
            format!("the fabric manager logged {ago} ago: {cause}")
        });
        let parts = [text("cause"), logged, text("waits_for")];
        answers.push(parts.into_iter().flatten().collect::<Vec<_>>().join("; "));
    }
    let notes = page["notes"].as_array().expect("notes");
    answers.extend(
        notes
            .iter()
            .filter_map(Value::as_str)
            .map(ToOwned::to_owned),
    );
    let told: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("-> "))
        .collect();
    assert!(told.len() >= at_least, "{text}");
    for line in told {
        assert!(
            answers.iter().any(|answer| answer == line),
            "{line}: {page:#}"
        );
    }
}

/// The manager that took over, and what it knows.
#[test]
fn the_json_of_the_managers_log_says_who_ran_when_and_what_it_knows() {
    let (text, page) = both(&["link", "show", "link/fabric-manager-fails-over", "--fm-log"]);
    assert!(
        text.contains("== manager 2, ran from 30s without earlier logs\n"),
        "{text}"
    );
    let second = &page["managers"][1];
    assert_eq!(second["manager"], 2, "{page:#}");
    assert_eq!(second["from_ns"], 30_000_000_000_u64, "{page:#}");
    assert_eq!(second["remembers"], false, "{page:#}");
    let known = page["known"].as_array().expect("what it knows");
    let known: Vec<String> = known
        .iter()
        .map(|of| {
            format!(
                "{} ({})",
                of["port"].as_str().unwrap_or_default(),
                of["entries"]
            )
        })
        .collect();
    let line = format!("LinkDownErrorLogs of manager 2: {}\n", known.join(", "));
    assert!(text.ends_with(&line), "{line}: {text}");
}

/// Each line of a kernel's log.
#[test]
fn the_json_of_kernel_logs_has_their_lines() {
    let words = [
        "link",
        "show",
        "link/cable-port-or-host",
        "host-4/hfi1_2",
        "--dmesg",
    ];
    let (text, page) = both(&words);
    let lines = page["nodes"][0]["lines"].as_array().expect("lines");
    let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
    let (_, log) = text.split_once("$ dmesg\n").expect("a log");
    assert_eq!(log.lines().collect::<Vec<_>>(), lines);
}

/// The shipped scenarios of a family that have a world of their own: names and texts.
fn scenarios_of(family: &str) -> Vec<(String, String)> {
    let files =
        std::fs::read_dir(format!("{SCENARIOS}/{family}")).expect("the suite has the family");
    let mut found: Vec<(String, String)> = Vec::new();
    for file in files {
        let file = file.expect("an entry").path();
        let text = std::fs::read_to_string(&file).expect("a scenario");
        let name = file.file_stem().and_then(|name| name.to_str());
        if text.contains("\nworld: ") {
            found.push((format!("{family}/{}", name.expect("a name")), text));
        }
    }
    found.sort();
    found
}

/// Of each request that met trouble: the answers at its head, every entry, and every interface at each choice. And each
/// reason stands in the docs' table, there without its numbers and statuses.
#[test]
fn the_text_of_why_follows_from_its_json_over_the_suite_and_its_reasons_are_documented() {
    let table = include_str!("../../../docs/lnet.md")
        .split("<!-- reasons -->")
        .nth(1);
    let rows = table.expect("a table").lines();
    let rows = rows.filter_map(|line| Some(line.strip_prefix("| `")?.split_once("` |")?.0));
    let rows: Vec<&str> = rows.collect();
    let is_listed = |reason: &str| {
        rows.iter().any(|row| match row.split_once('…') {
            Some((head, tail)) => reason.starts_with(head) && reason.ends_with(tail),
            None => *row == reason,
        })
    };
    let (mut requests, mut reasons) = (0, BTreeSet::new());
    for (name, _) in scenarios_of("lnet") {
        let (text, page) = both(&["lnet", "show", &name, "--why", "failed"]);
        assert_eq!(text_of_json::why(&page), text, "{name}");
        requests += text.matches("\nrequest ").count();
        collect_reasons(&page, &mut reasons);
    }
    assert!(requests > 100, "{requests}");
    assert!(reasons.len() > 15, "{reasons:?}");
    for reason in &reasons {
        assert!(is_listed(reason), "`{reason}` is not in {rows:#?}");
    }
}

#[rstest]
#[case("lnet/by-the-document-a-failed-connection-is-resent")]
#[case("lnet/second-interface-carries")]
#[case("lnet/better-priority-keeps-a-dead-router")]
#[case("lnet/tcp-carries-when-o2ib-is-dark")]
fn the_tables_over_a_span_follow_from_their_json(#[case] name: &str) {
    let (text, page) = both(&["lnet", "show", name, "--over", "0s..60s"]);
    let told = text_of_json::over_of_text(&text);
    assert_eq!(text_of_json::over(&page), told);
}

/// Both the state and the course of every job over MPIB, also where it runs beside storage. The JSON of the course has both.
#[rstest]
#[case("mpib", 20)]
#[case("joint", 20)]
fn the_text_of_a_job_follows_from_its_json_over_the_suite(
    #[case] family: &str,
    #[case] at_least: usize,
) {
    let mut compared = 0;
    for (name, story) in scenarios_of(family) {
        if !story.contains("mpib:") {
            continue;
        }
        let (course, page) = both(&["mpib", "show", &name, "--timeline"]);
        assert_eq!(text_of_json::jobs(&page, true), course, "{name}");
        let state = shown(&["mpib", "show", &name]);
        assert_eq!(text_of_json::jobs(&page, false), state.out, "{name}");
        compared += 1;
    }
    assert!(compared >= at_least, "{compared}");
}

/// What the tools print of each end, with its numbers, or why they print nothing.
#[rstest]
#[case(&["link", "show", "link/cable-port-or-host"])]
#[case(&["link", "show", "link/cable-port-or-host", "--at", "10500ms"])]
#[case(&["link", "show", "link/cable-port-or-host", "host-1/hfi1_3"])]
#[case(&["link", "show", "link/fabric-manager-fails-over", "--at", "25s"])]
#[case(&["link", "show", "link/omni-path-heat-and-power"])]
#[case(&["link", "show", "link/lanes-lost-until-the-policy-bounces@dgx-a100", "--at", "15s"])]
#[case(&["link", "show", "link/three-flaps-three-entries@dgx-a100"])]
#[case(&["link", "show", "link/neighbour-reboots@dgx-a100", "--at", "12s"])]
#[case(&["link", "show", "link/host-loses-power@dgx-a100", "--at", "12s"])]
#[case(&["link", "show", "joint/one-leaf-under-four-nodes", "--at", "12s"])]
fn what_tools_print_of_an_end_follows_from_its_json(#[case] words: &[&str]) {
    let (text, page) = both(words);
    let (_, ends) = text.split_once("\n== ").expect("an end");
    let ends: Vec<&str> = ends
        .split("\n== ")
        .map(|end| end.split_once('\n').expect("a heading").1)
        .collect();
    assert_eq!(text_of_json::ends(&page), ends);
}

/// A link that is up again has no cause now; what its log has is told as the last one.
#[test]
fn of_a_logged_reason_it_is_not_said_that_none_is_recorded() {
    let words = ["link", "show", "link/cable-pulled@dgx-a100", "--at", "24s"];
    let link = &json_of(&words)["links"][0];
    assert_eq!(link["active"], true, "{link:#}");
    assert_eq!(link["ends"][0]["log"][0]["reasons"]["own"]["code"], 36);
    assert!(link["cause"].is_null(), "{link:#}");
    assert_eq!(link["last_cause"], "the cable: neither end took it down");
}

/// Of an NVIDIA card no tool shows the reasons, and the page says so; of an Omni-Path one nothing is said.
#[rstest]
#[case(&["link", "show", "link/cable-pulled@dgx-a100", "--at", "12s"], true)]
#[case(&["link", "show", "link/cable-pulled@dgx-a100", "--at", "12s", "--summary"], true)]
#[case(&["link", "show", "link/cable-pulled@dgx-a100", "--at", "12s", "--fm-log"], true)]
#[case(&["link", "show", "joint/one-leaf-under-four-nodes", "--switch", "leaf-3"], true)]
#[case(&["link", "show", "link/cable-port-or-host"], false)]
#[case(&["link", "show", "link/cable-port-or-host", "--summary"], false)]
#[case(&["link", "show", "link/cable-port-or-host", "--fm-log"], false)]
#[case(&["link", "show", "link/cable-port-or-host", "--switch", "leaf-3"], false)]
fn ports_that_are_not_omni_path_are_told_as_such(#[case] words: &[&str], #[case] told: bool) {
    let (text, page) = both(words);
    let note = page["not_omni_path"]["note"].as_str();
    let hint = page["not_omni_path"]["hint"].as_str();
    let lines = note
        .zip(hint)
        .map(|(note, hint)| format!("\nnote: {note}\nhint: {hint}\n"));
    assert_eq!(lines.is_some(), told, "{page:#}");
    match lines {
        Some(lines) => {
            assert!(
                lines.contains("ports of `mlx5_core` are not Omni-Path"),
                "{lines}"
            );
            assert!(text.contains(&lines), "{lines}: {text}");
        }
        None => assert!(!text.contains("note: "), "{text}"),
    }
}

/// The reasons of a value and of all in it.
fn collect_reasons(value: &Value, reasons: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => {
            for item in items {
                collect_reasons(item, reasons);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                match field.as_str() {
                    Some(text)
                        if ["reason", "passed_over", "no_path_because"].contains(&&**key) =>
                    {
                        reasons.insert(text.to_owned());
                    }
                    _ => collect_reasons(field, reasons),
                }
            }
        }
        _ => {}
    }
}

/// Whether an interface can have been passed over for this reason, beside the chosen one, by the values at the choice.
fn fits(why: &str, passed: &Value, chosen: &Value) -> bool {
    let number = |of: &Value, key: &str| of[key].as_i64().expect("a number");
    let less_is_worse = |key| number(passed, key).cmp(&number(chosen, key));
    let more_is_worse = |key| number(chosen, key).cmp(&number(passed, key));
    let order = [
        ("lower health", less_is_worse("health")),
        ("priority", more_is_worse("priority")),
        ("fewer credits", less_is_worse("credits")),
        ("selected more often", more_is_worse("selected")),
    ];
    let first = order.into_iter().find(|(_, compared)| compared.is_ne());
    match why {
        "later in the configuration" => first.is_none(),
        "its fatal flag is set" => passed["down"] == true,
        "all are fatal, and the first is used" => passed["down"] == true && chosen["down"] == true,
        "the source is given"
        | "the source is given and the destination on its net"
        | "the message goes to a fixed NID"
        | "the peer keeps seeing one NI"
        | "another net was chosen"
        | "an earlier try used it" => true,
        _ => first.is_some_and(|(reason, compared)| reason == why && compared.is_lt()),
    }
}

/// Every reason over the shipped scenarios: the first comparison that an interface loses by the values beside it, or one
/// for which it was not compared. And every line of the text, health that rises among them, is one of the JSON.
#[test]
fn every_reason_over_the_suite_fits_the_values_at_the_choice_and_every_line_is_in_the_json() {
    let (mut reasons, mut rises, mut why_kinds) = (0, 0, BTreeSet::new());
    for (name, _) in scenarios_of("lnet") {
        let (text, page) = both(&["lnet", "show", &name, "--trace"]);
        let known = text_of_json::trace_lines(&page);
        for line in text.lines() {
            assert!(known.contains(line), "{name}: {line}");
            rises += usize::from(line.ends_with(", by a recovery ping"));
        }
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
                            why_kinds.insert(why.to_owned());
                            assert!(fits(why, one, chosen), "{name}: {why} in {choice:#}");
                        }
                    }
                }
            }
        }
    }
    assert!(reasons > 1_000, "{reasons}");
    assert!(why_kinds.len() > 8, "{why_kinds:?}");
    assert!(rises > 10, "{rises}");
}
