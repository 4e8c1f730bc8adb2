//! Rule files that are refused.

use super::*;

#[track_caller]
fn check(text: &str, place: &str, words: &[&str]) {
    let prometheus: Prometheus = serde_json::from_str(r#"{"rules": "r.yaml"}"#).unwrap();
    let error = read("r.yaml", text, &prometheus).unwrap_err().to_string();
    assert!(error.starts_with(&format!("r.yaml:{place}: ")), "{error}");
    for word in words {
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn a_rule_file_that_cannot_be_evaluated_is_refused_with_its_place() {
    check(
        "groups:\n- name: slow\n  interval: 5m\n  rules:\n  - record: a:b\n    expr: a\n- name: fast\n  rules:\n  - alert: A\n    expr: a:b > 0\n",
        "9:5",
        &[
            "`A`",
            "`a:b`",
            "every 5m",
            "hint: give both groups the same `interval`",
        ],
    );
    check("groups: []\n", "1:1", &["no alert"]);
    check(
        "groups:\n- name: g\n  rules:\n  - alert: A\n",
        "4:5",
        &["expr"],
    );
}
