//! Rule files and cabling files: what is rejected, at which place, and with which text.

use cluster::rules::{
    CabledPort, FILE_MAX_BYTES, RuleError, SHIPPED, read, read_cabling, read_every,
    read_every_cable, shipped,
};
use rstest::rstest;

/// A counting rule with additional keys; it begins in line 2.
fn counting(keys: &str) -> String {
    format!(
        "rules_version = 1\n[[rule]]\nname = \"R\"\nmessage = \"m\"\nmatch = [{{ fatal = true }}]\n\
         group_by = [\"node\"]\nwindow = \"10s\"\ncount = 3\n{keys}"
    )
}

/// A rule with these keys and the three required ones.
fn bare(keys: &str) -> String {
    format!(
        "rules_version = 1\n[[rule]]\nname = \"R\"\nmessage = \"m\"\ngroup_by = [\"node\"]\n{keys}"
    )
}

fn check(text: &str, place: &str, reported: &str) {
    let error = read("r.toml", text)
        .expect_err("the file is wrong")
        .to_string();
    assert!(error.starts_with(&format!("r.toml:{place}: ")), "{error}");
    assert!(
        error.contains(reported) && error.contains("\nhint: "),
        "{error}"
    );
}

/// The lines and columns of mistakes.
fn places(mistakes: &[RuleError]) -> Vec<String> {
    let places = mistakes.iter().filter_map(|mistake| mistake.0.place);
    places.map(|place| place.to_string()).collect()
}

#[test]
fn every_mistake_of_a_file_is_told_in_the_order_of_the_text() {
    let text = r#"rules_version = 2
extra = 1
[[rule]]
name = "a b"
message = ""
match = [{}, { on = "rise", fatal = true }]
group_by = ["node", "node", "odd"]
grace = "1s"
window = "x"
count = 0
[[rule]]
nmae = "x"
mesage = "m"
match = [{ fatl = true }, { fatal = 1 }]
action = 3
"#;
    let mistakes = read_every("r.toml", text).expect_err("it is wrong");
    let told = [
        "1:17", "2:1", "4:8", "5:11", "6:10", "6:21", "7:21", "7:29", "8:9", "9:10", "10:9",
        "12:1", "13:1", "14:12", "14:37", "15:10",
    ];
    assert_eq!(places(&mistakes), told, "{mistakes:#?}");
}

#[test]
fn every_key_that_a_rule_lacks_is_told_and_of_a_syntax_the_first_mistake() {
    let causes = |text: &str| -> Vec<String> {
        let mistakes = read_every("r.toml", text).expect_err("it is wrong");
        mistakes.into_iter().map(|it| it.0.what).collect()
    };
    assert_eq!(
        causes("rules_version = 1\n[[rule]]\nname = \"a\"\n"),
        [
            "missing field `group_by`",
            "missing field `match`",
            "missing field `message`"
        ]
    );
    // A key of the wrong type is there, and an unknown one may be the one that is missing.
    let typed =
        "rules_version = 1\n[[rule]]\nname = 1\nsilence = \"1m\"\nsticky = \"10x\"\ncount = 0\n";
    assert_eq!(causes(typed).len(), 6, "{:#?}", causes(typed));
    assert_eq!(causes("rules_versoin = 1\n").len(), 1);
    let unclosed = "rules_version = 1\n[[rule]]\nmatch = [\n { fatal = false\n]\nname = \"a\"\nmessage = \"m\"\n";
    assert_eq!(causes(unclosed).len(), 1);
}

#[test]
fn a_key_that_cannot_be_read_hides_no_value_and_makes_no_mistake_of_one() {
    let text = r#"rules_version = 1
[[rule]]
nam = "A"
message = ""
match = [{ on = "entr", fatal = true }, { onn = "return", after = "5m" }]
group_by = ["node", "nod"]
window = "10x"
count = 0
hold = "5m"
action = "REPLACE"
[[rule]]
name = "B"
message = "m"
match = [{ fatal = true }]
group_by = ["node"]
silenc = "5m"
grace = "soon"
[[rule]]
name = "C"
message = "m"
match = [{ fatal = true }]
group_by = ["code"]
hold = "5m"
holds = ["A", "B", "X"]
[[rule]]
name = "C"
message = "m"
match = [3]
group_by = []
hold = "5m"
holds = []
"#;
    let mistakes = read_every("r.toml", text).expect_err("it is wrong");
    let told = [
        "3:1", "4:11", "5:17", "5:43", "6:21", "7:10", "8:9", "10:10", "16:1", "17:9", "26:8",
        "28:10", "29:12", "31:9",
    ];
    assert_eq!(places(&mistakes), told, "{mistakes:#?}");
    let named = text.replace("nam =", "name =");
    let named = named.replacen(
        "name = \"C\"\nmessage = \"m\"\nmatch = [3]",
        "name = \"D\"\nmessage = \"m\"\nmatch = [3]",
        1,
    );
    let mistakes = read_every("r.toml", &named).expect_err("it is wrong");
    let is_there = |mistake: &&RuleError| mistake.0.place.is_some_and(|place| place.line == 24);
    let unknown = mistakes.iter().find(is_there).expect("`X` is unknown");
    assert_eq!(
        unknown.0.what,
        "there is no rule `X` in this file: `A`, `B`, `C`, `D`"
    );
}

#[rstest]
#[case::no_toml("rules_version = \n", "1:17", "")]
#[case::no_version("", "1:1", "missing field `rules_version`")]
#[case::another_version(
    "rules_version = 2\n",
    "1:17",
    "`rules_version` is 2; 1 is the only one"
)]
#[case::no_rule("rules_version = 1\n", "1:1", "the file holds no rule")]
fn a_file_is_refused(#[case] text: &str, #[case] place: &str, #[case] reported: &str) {
    check(text, place, reported);
}

#[rstest]
#[case::unknown_key("windw = \"1s\"", "9:1", "unknown field `windw`")]
#[case::duplicate_key("count = 4", "9:1", "duplicate key")]
#[case::another_kinds_key(
    "grace = \"1s\"",
    "9:9",
    "`grace` means nothing in a rule with `count`"
)]
#[case::two_kinds("silence = \"1s\"", "9:11", "both `count` and `silence`")]
#[case::long_merge("merge = \"10s\"", "9:9", "`merge` must be shorter than `window`")]
#[case::no_time("merge = \"soon\"", "9:9", "`merge` is `soon`: a number with")]
#[case::no_edge("edge = \"open\"", "9:8", "`edge` is `open`: `included` or `excluded`")]
#[case::entering_a_trigger(
    "trigger = [{ on = \"enter\", fatal = true }]",
    "9:19",
    "`on = \"enter\"` does not go with `trigger`"
)]
#[case::no_repeat("repeat = \"daily\"", "9:10", "`repeat` is `daily`: `each` or `once`")]
#[case::no_action(
    "action = \"REBOOT\"",
    "9:10",
    "invalid action `REBOOT`: NONE, COMPONENT_RESET"
)]
#[case::custom_action("action = \"CUSTOM\"", "9:10", "invalid action `CUSTOM`")]
#[case::settle_without_distinct(
    "settle = \"1s\"",
    "9:10",
    "`settle` means nothing in a rule with `count` and no `distinct`"
)]
#[case::distinct_in_its_group(
    "distinct = \"node\"",
    "9:12",
    "`distinct` and `group_by` both name `node`"
)]
#[case::distinct_once(
    "distinct = \"NIC\"\nrepeat = \"once\"",
    "10:10",
    "`repeat` means nothing in a rule with `distinct`"
)]
#[case::empty_trigger("trigger = []", "9:11", "`trigger` has 0 alternatives, 1 to 8")]
#[case::trigger_for_everything(
    "trigger = [{}]",
    "9:12",
    "an alternative of `trigger` means every event"
)]
#[case::wrong_kind_of_value("whole_seconds = 1", "9:17", "invalid type")]
fn a_key_of_a_counting_rule_is_refused(
    #[case] keys: &str,
    #[case] place: &str,
    #[case] reported: &str,
) {
    check(&counting(keys), place, reported);
}

#[rstest]
#[case::nothing_to_do(
    "match = [{ fatal = true }]",
    "3:8",
    "none of `count`, `silence` and `holds`"
)]
#[case::no_window(
    "match = [{ fatal = true }]\ncount = 3",
    "3:8",
    "the rule lacks `window`"
)]
#[case::empty_window(
    "match = [{ fatal = true }]\ncount = 3\nwindow = \"0s\"",
    "8:10",
    "`window` is zero"
)]
#[case::long_window(
    "match = [{ fatal = true }]\ncount = 3\nwindow = \"31d\"",
    "8:10",
    "at most 30d"
)]
#[case::zero(
    "match = [{ fatal = true }]\ncount = 0\nwindow = \"1s\"",
    "7:9",
    "`count` is 0: 1 to 1000"
)]
#[case::too_many(
    "match = [{ fatal = true }]\ncount = 1001\nwindow = \"1s\"",
    "7:9",
    "`count` is 1001"
)]
#[case::everything(
    "match = [{ on = \"fall\" }]\ncount = 3\nwindow = \"1s\"",
    "6:10",
    "means every event"
)]
#[case::no_turn(
    "match = [{ on = \"rise\", fatal = true }]\ncount = 3\nwindow = \"1s\"",
    "6:17",
    "`on` is `rise`: `each`, `enter`, `fall` or `return`"
)]
#[case::entering_a_spread(
    "match = [{ on = \"enter\", fatal = true }]\ncount = 3\nwindow = \"1s\"\ndistinct = \"NIC\"",
    "6:17",
    "`on = \"enter\"` does not go with `distinct`"
)]
#[case::after_a_fall(
    "match = [{ on = \"fall\", after = \"1s\", fatal = true }]\ncount = 3\nwindow = \"1s\"",
    "6:33",
    "`after` goes with `on = \"return\"`"
)]
#[case::a_healthy_fall(
    "match = [{ on = \"fall\", healthy = true, fatal = true }]\ncount = 3\nwindow = \"1s\"",
    "6:35",
    "`healthy` goes with `on = \"each\"`"
)]
#[case::window_in_silence(
    "match = [{ fatal = true }]\nsilence = \"4m\"\nwindow = \"1s\"",
    "8:10",
    "`window` means nothing in a rule with `silence`"
)]
#[case::long_grace(
    "match = [{ fatal = true }]\nsilence = \"4m\"\ngrace = \"4m\"",
    "8:9",
    "`grace` must be shorter than `silence`"
)]
#[case::silent_fall(
    "match = [{ on = \"fall\", fatal = true }]\nsilence = \"4m\"",
    "6:17",
    "`on` means nothing in a rule with `silence`"
)]
#[case::holds_nothing(
    "match = [{ fatal = true }]\nholds = []\nhold = \"1m\"",
    "7:9",
    "`holds` is empty"
)]
#[case::holds_nobody(
    "match = [{ fatal = true }]\nholds = [\"X\"]\nhold = \"1m\"",
    "7:10",
    "there is no rule `X` in this file"
)]
#[case::holds_itself(
    "match = [{ fatal = true }]\nholds = [\"R\"]\nhold = \"1m\"",
    "7:10",
    "`R` holds others back and cannot be held"
)]
#[case::holds_for_no_time(
    "match = [{ fatal = true }]\nholds = [\"R\"]",
    "3:8",
    "the rule lacks `hold`"
)]
#[case::holds_and_acts(
    "match = [{ fatal = true }]\naction = \"NONE\"\nholds = [\"R\"]\nhold = \"1m\"",
    "7:10",
    "`action` means nothing in a rule with `holds`"
)]
fn a_rule_that_could_not_do_what_it_says_is_refused(
    #[case] keys: &str,
    #[case] place: &str,
    #[case] reported: &str,
) {
    check(&bare(keys), place, reported);
}

#[rstest]
#[case::a_space("name = \"R\"", "name = \"a b\"", "3:8", "invalid name `a b`")]
#[case::no_name("name = \"R\"", "name = \"\"", "3:8", "invalid name ``")]
#[case::no_message("\"m\"", "\"\"", "4:11", "`message` is empty")]
#[case::no_group("[\"node\"]", "[]", "6:12", "`group_by` is empty")]
#[case::no_such_group(
    "[\"node\"]",
    "[\"nic\"]",
    "6:13",
    "`group_by` names `nic`: `node`, `check`"
)]
#[case::a_group_twice(
    "[\"node\"]",
    "[\"NIC\", \"NIC\"]",
    "6:20",
    "`group_by` names `NIC` twice"
)]
fn what_every_rule_has_is_judged(
    #[case] right: &str,
    #[case] wrong: &str,
    #[case] place: &str,
    #[case] reported: &str,
) {
    check(&counting("").replacen(right, wrong, 1), place, reported);
}

#[test]
fn two_rules_of_one_name_are_refused() {
    let one = counting("");
    let second = one.split_once('\n').unwrap().1;
    check(&format!("{one}{second}"), "10:8", "there are two rules `R`");
}

#[test]
fn what_is_held_back_must_share_its_group() {
    let holder = "[[rule]]\nname = \"H\"\nmessage = \"m\"\nmatch = [{ fatal = true }]\n\
        group_by = [\"NIC\"]\nholds = [\"R\"]\nhold = \"1m\"\n";
    let text = counting("") + holder;
    check(&text, "14:10", "`R` has another `group_by` than `H`");
    read("r.toml", &text.replace("\"NIC\"", "\"node\"")).unwrap();
}

#[test]
fn a_file_over_the_limit_is_refused() {
    let text = "#".repeat(FILE_MAX_BYTES + 1);
    check(&text, "1:1", "the file has 1048577 bytes, at most 1048576");
}

#[test]
fn an_error_shows_the_line_and_helps() {
    let error = read("r.toml", &counting("repeat = \"daily\"")).unwrap_err();
    insta::assert_snapshot!(error, @r#"
    r.toml:9:10: `repeat` is `daily`: `each` or `once`
      | repeat = "daily"
    hint: the deployed engine fires with each further event
    "#);
}

#[test]
fn columns_are_counted_in_characters() {
    let keys = "trigger = [{ message_contains = 'ß', on = 'ä' }]";
    check(&counting(keys), "9:43", "`on` is `ä`");
}

#[test]
fn every_profile_that_ships_is_well_formed_and_says_what_it_is() {
    for file in SHIPPED {
        let rules = shipped(file.name).unwrap();
        assert!(
            rules.iter().all(|rule| !rule.description.is_empty()),
            "{}",
            file.name
        );
        assert!(file.text.starts_with("# "), "{}", file.name);
    }
    assert_eq!(shipped("nothing"), None);
}

#[test]
fn every_key_of_a_rule_is_documented() {
    let page = include_str!("../../../docs/rules.md");
    let keys = [
        "name",
        "description",
        "match",
        "group_by",
        "window",
        "count",
        "merge",
        "whole_seconds",
        "trigger",
        "repeat",
        "distinct",
        "settle",
        "silence",
        "grace",
        "broken_by",
        "sticky",
        "holds",
        "hold",
        "action",
        "message",
        "on",
        "after",
        "agent",
        "class",
        "checks",
        "fatal",
        "healthy",
        "codes",
        "message_contains",
    ];
    for key in keys {
        assert!(page.contains(&format!("| `{key}` |")), "`{key}`");
    }
    for file in SHIPPED {
        assert!(
            page.contains(&format!("| `{}` |", file.name)),
            "`{}`",
            file.name
        );
    }
}

#[rstest]
#[case::version("world_version = 3\n[switches]\n", "1:17", "1 is the only one")]
#[case::unknown_key(
    "world_version = 1\nhubs = 1\n[switches]\n",
    "2:1",
    "unknown field `hubs`"
)]
#[case::no_port(
    "world_version = 1\n[switches]\nl = [\"n/m\"]\n",
    "3:6",
    "invalid port `n/m`"
)]
#[case::too_much(
    "world_version = 1\n[switches]\nl = [\"n/m/1/2\"]\n",
    "3:6",
    "invalid port"
)]
#[case::empty_part(
    "world_version = 1\n[switches]\nl = [\"n//1\"]\n",
    "3:6",
    "invalid port"
)]
#[case::two_cables(
    "world_version = 1\n[switches]\na = [\"n/m/1\"]\nb = [\"n/m/1\"]\n",
    "4:6",
    "plugged into `a` already"
)]
fn a_world_is_refused(#[case] text: &str, #[case] place: &str, #[case] reported: &str) {
    let error = read_cabling("w.toml", text).unwrap_err().to_string();
    assert!(error.starts_with(&format!("w.toml:{place}: ")), "{error}");
    assert!(error.contains(reported), "{error}");
}

#[test]
fn a_world_says_which_switch_is_behind_a_port() {
    let text = "world_version = 1\n[switches]\nleaf-3 = [\"n1/mlx5_2/1\", \"n2/mlx5_2/1\"]\n";
    let cabling = read_cabling("w.toml", text).unwrap();
    let port = |node: &str| CabledPort {
        node: node.to_owned(),
        device: "mlx5_2".to_owned(),
        port: "1".to_owned(),
    };
    assert_eq!(cabling.len(), 2);
    assert_eq!(cabling.switch(&port("n2")), Some("leaf-3"));
    assert_eq!(cabling.switch(&port("n3")), None);
}

#[test]
fn a_rule_that_cannot_be_named_is_not_missed_by_those_that_hold_it() {
    let text = r#"rules_version = 1
[[rule]]
name = "Flap x"
message = "m"
match = [{ fatal = true }]
group_by = ["node"]
count = 1
window = "1m"
[[rule]]
name = "B"
message = "m"
match = [{ fatal = true }]
group_by = ["code"]
count = 0
window = "1m"
[[rule]]
name = "H"
message = "m"
match = [{ fatal = true }]
group_by = ["node"]
hold = "0q"
holds = ["Flap", "B", "H"]
"#;
    let mistakes = read_every("r.toml", text).expect_err("it is wrong");
    assert_eq!(
        places(&mistakes),
        ["3:8", "14:9", "21:8", "22:18", "22:23"],
        "{mistakes:#?}"
    );
}

#[test]
fn every_mistake_of_a_cabling_is_told() {
    let text = "world_version = 2\nhub = 1\n[switches]\na = [\"n/m/1\", 3, \"n/m\", \"n/m/x\"]\nb = [\"n/m/1\"]\n";
    let mistakes = read_every_cable("w.toml", text).expect_err("it is wrong");
    assert_eq!(
        places(&mistakes),
        ["1:17", "2:1", "4:15", "4:18", "4:25", "5:6"],
        "{mistakes:#?}"
    );
    let empty = read_every_cable("w.toml", "").expect_err("it is empty");
    let causes: Vec<&str> = empty
        .iter()
        .map(|mistake| mistake.0.what.as_str())
        .collect();
    let missing = ["missing field `switches`", "missing field `world_version`"];
    assert_eq!(causes, missing);
}
