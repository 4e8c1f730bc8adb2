//! Promises: rows over rows, and fields where they mean nothing.

use terms::Severity;

use super::*;

fn says(row: &Row) -> &Says {
    match row {
        Row::Says(says) => says,
        other => panic!("a map, not {other:?}"),
    }
}

fn fatal_after(polls: u32) -> Row {
    Row::Says(Box::new(Says {
        verdict: Some(Severity::Fatal),
        after: Some(Lasting::Polls(polls)),
        ..Says::default()
    }))
}

#[test]
fn a_row_of_a_layer_is_over_the_row_of_both() {
    let row = Row::Says(Box::new(Says {
        infiniband: Some(Row::Says(Box::new(Says {
            verdict: Some(Severity::NonFatal),
            ..Says::default()
        }))),
        ethernet: Some(Row::Silent),
        ..says(&fatal_after(2)).clone()
    }));
    let infiniband = row.on(terms::LinkLayer::InfiniBand);
    assert_eq!(says(&infiniband).verdict, Some(Severity::NonFatal));
    assert_eq!(says(&infiniband).after, Some(Lasting::Polls(2)));
    assert_eq!(row.on(terms::LinkLayer::Ethernet), Row::Silent);
}

#[test]
fn rows_that_are_imported_are_overridden_field_by_field() {
    let down = Kind::Named(Named::Down);
    let base = Promises {
        rows: BTreeMap::from([
            (down.clone(), fatal_after(3)),
            (Named::Card.into(), Row::Silent),
        ]),
        lost_publish: Some(LostPublish::Lost),
        ..Promises::default()
    };
    let own = Promises {
        rows: BTreeMap::from([(
            down.clone(),
            Row::Says(Box::new(Says {
                verdict: Some(Severity::NonFatal),
                ..Says::default()
            })),
        )]),
        ..Promises::default()
    };
    let both = own.over(&base);
    assert_eq!(says(&both.rows[&down]).verdict, Some(Severity::NonFatal));
    assert_eq!(says(&both.rows[&down]).after, Some(Lasting::Polls(3)));
    assert_eq!(both.rows[&Kind::Named(Named::Card)], Row::Silent);
    assert_eq!(both.lost_publish, Some(LostPublish::Lost));
}

#[test]
fn a_counter_without_a_row_of_its_own_has_that_of_all_counters() {
    let kind = Kind::Counter("link_downed".to_owned());
    let any = Kind::Counter(ANY_COUNTER.to_owned());
    let mut promises = Promises::default();
    assert_eq!(promises.row(&kind, None), None);
    promises.rows.insert(any, Row::Silent);
    assert_eq!(promises.row(&kind, None), Some(Row::Silent));
    promises.rows.insert(kind.clone(), Row::Usual);
    assert_eq!(promises.row(&kind, None), Some(Row::Usual));
    assert_eq!(promises.row(&Named::Down.into(), None), None);
}

#[test]
fn a_scope_that_lets_nothing_in_is_refused() {
    let problems = |text: &str| -> Vec<String> {
        let promises: Promises = serde_json::from_str(text).expect("it can be read");
        let problems = promises.problems().into_iter();
        problems.map(|problem| problem.keys.join(".")).collect()
    };
    assert_eq!(problems(r#"{"scope": {"vendors": []}}"#), ["scope.vendors"]);
    let both = problems(r#"{"scope": {"roles": [], "devices": []}}"#);
    assert_eq!(both, ["scope.roles", "scope.devices"]);
    let none: [String; 0] = [];
    assert_eq!(
        problems(r#"{"scope": {"vendors": [5555], "cabled": true}}"#),
        none
    );
}

#[test]
fn fields_stand_only_where_they_mean_something() {
    let with = |kind: Kind, says: Says| Promises {
        rows: BTreeMap::from([(kind, Row::Says(Box::new(says)))]),
        ..Promises::default()
    };
    let when = Says {
        when: Some(Compared::EveryPoll),
        ..Says::default()
    };
    let restates = Says {
        restates: Some(Restates::Evidence),
        ..Says::default()
    };
    let has_problem =
        |kind: Named, says: &Says| !with(kind.into(), says.clone()).problems().is_empty();
    assert!(has_problem(Named::Down, &when) && !has_problem(Named::Card, &when));
    assert!(has_problem(Named::Down, &restates) && !has_problem(Named::Reboot, &restates));
    // No fault stands before a first poll of which something was said.
    assert!(has_problem(Named::FirstPoll, &restates) && has_problem(Named::Flap, &restates));
    let levels = Says {
        levels: Some(Levels::Any),
        ..Says::default()
    };
    assert!(has_problem(Named::Reboot, &levels) && !has_problem(Named::Metadata, &levels));
}

#[test]
fn a_row_of_a_layer_has_only_keys_that_have_an_effect_there() {
    let problems = |kind: Named, says: Says| -> Vec<String> {
        let of_layer = Says {
            infiniband: Some(Row::Says(Box::new(says))),
            ..Says::default()
        };
        let promises = Promises {
            rows: BTreeMap::from([(kind.into(), Row::Says(Box::new(of_layer)))]),
            ..Promises::default()
        };
        let problems = promises.problems().into_iter();
        problems.map(|problem| problem.keys.join(".")).collect()
    };
    let known_by = || Says {
        known_by: Some(KnownBy::Name),
        ..Says::default()
    };
    let when = Says {
        when: Some(Compared::EveryPoll),
        ..Says::default()
    };
    let milder = Says {
        verdict: Some(Severity::NonFatal),
        ..Says::default()
    };
    let none: [String; 0] = [];
    assert_eq!(problems(Named::Polling, milder), none);
    let card = problems(Named::Card, when);
    assert_eq!(card, ["rows.card.infiniband.when"]);
    let rename = problems(Named::Rename, known_by());
    assert_eq!(rename, ["rows.rename.infiniband.known_by"]);
    let polling = problems(Named::Polling, known_by());
    assert_eq!(polling, ["rows.polling.infiniband.known_by"]);
}

/// The keys of the problems of promises.
fn refused(text: &str) -> Vec<String> {
    let promises: Promises = serde_json::from_str(text).expect("it can be read");
    let problems = promises.problems().into_iter();
    problems
        .inspect(|problem| assert!(!problem.hint.is_empty(), "{problem:?}"))
        .map(|problem| problem.keys.join("."))
        .collect()
}

/// A report of an event about a port names whom its row says. Everywhere else something else says whom it names.
#[test]
fn a_subject_that_decides_nothing_is_refused() {
    let none: [String; 0] = [];
    let device = r#""polling": {"subject": "device"}"#;
    assert_eq!(refused(&format!(r#"{{"rows": {{{device}}}}}"#)), none);
    for elsewhere in [
        r#""style": "level""#,
        r#""granularity": "device""#,
        r#""granularity": "node""#,
    ] {
        let text = format!(r#"{{{elsewhere}, "rows": {{{device}}}}}"#);
        assert_eq!(refused(&text), ["rows.polling.subject"], "{elsewhere}");
    }
    let edge = format!(r#"{{"style": "edge", "granularity": "port", "rows": {{{device}}}}}"#);
    assert_eq!(refused(&edge), none);
    let of_layer = r#"{"style": "level", "rows": {"init": {"infiniband": {"subject": "node"}}}}"#;
    assert_eq!(refused(of_layer), ["rows.init.infiniband.subject"]);
}

#[test]
fn what_is_no_port_is_not_named_by_one() {
    let none: [String; 0] = [];
    for kind in ["gone_device", "card"] {
        let of = |subject: &str| {
            let text = format!(r#"{{"rows": {{"{kind}": {{"subject": "{subject}"}}}}}}"#);
            refused(&text)
        };
        assert_eq!(of("port"), [format!("rows.{kind}.subject")]);
        assert_eq!(of("node"), none, "{kind}");
    }
    let every = r#"{"rows": {"card": {"when": "every_poll", "subject": "node"}}}"#;
    assert_eq!(refused(every), ["rows.card.subject"]);
    for kind in ["slow", "moved_layer"] {
        let text = format!(r#"{{"rows": {{"{kind}": {{"subject": "device"}}}}}}"#);
        assert_eq!(refused(&text), [format!("rows.{kind}.subject")]);
    }
    assert_eq!(
        refused(r#"{"rows": {"polling": {"subject": "port"}}}"#),
        none
    );
}

/// Where alarms are judged, what is healthy needs no report.
#[test]
fn whether_what_was_added_is_healthy_is_told_decides_among_events_about_ports_only() {
    let none: [String; 0] = [];
    for value in ["reported", "silent"] {
        let row = format!(r#""hot_added": {{"healthy": "{value}"}}"#);
        for elsewhere in ["level", "device", "node"] {
            let key = match elsewhere {
                "level" => "style",
                _ => "granularity",
            };
            let text = format!(r#"{{"{key}": "{elsewhere}", "rows": {{{row}}}}}"#);
            assert_eq!(refused(&text), ["rows.hot_added.healthy"], "{text}");
        }
        let edge = format!(r#"{{"style": "edge", "granularity": "port", "rows": {{{row}}}}}"#);
        assert_eq!(refused(&edge), none);
    }
    let of_layer =
        r#"{"style": "level", "rows": {"hot_added": {"infiniband": {"healthy": "silent"}}}}"#;
    assert_eq!(refused(of_layer), ["rows.hot_added.infiniband.healthy"]);
    // Of another kind it is refused once.
    let other = r#"{"style": "level", "rows": {"down": {"healthy": "silent"}}}"#;
    assert_eq!(refused(other), ["rows.down.healthy"]);
}

/// What is said in an episode about alarms is said by the rows of what stands.
#[test]
fn a_key_of_an_episode_that_decides_about_single_events_is_refused_where_alarms_are_judged() {
    let none: [String; 0] = [];
    let of = |elsewhere: &str, kind: &str, row: &str| {
        refused(&format!(
            r#"{{{elsewhere} "rows": {{"{kind}": {{{row}}}}}}}"#
        ))
    };
    let of_events = [
        ("reboot", "restates", r#""nothing""#),
        ("reboot", "clears", r#""never""#),
        ("rename", "restates", r#""nothing""#),
        ("first_poll", "verdict", r#""nonfatal""#),
        ("first_poll", "clears", r#""never""#),
        ("hot_added", "verdict", r#""nonfatal""#),
        ("hot_added", "clears", r#""never""#),
        ("scope_change", "verdict", r#""nonfatal""#),
        ("scope_change", "clears", r#""never""#),
        ("rename", "after", r#""3 polls""#),
        ("first_poll", "within", r#""3 polls""#),
    ];
    for (kind, key, value) in of_events {
        let row = format!(r#""{key}": {value}"#);
        assert_eq!(of("", kind, &row), none, "{kind}: {row}");
        for elsewhere in [
            r#""style": "level","#,
            r#""granularity": "device","#,
            r#""granularity": "node","#,
        ] {
            let keys = [format!("rows.{kind}.{key}")];
            assert_eq!(of(elsewhere, kind, &row), keys, "{elsewhere}");
        }
    }
    let level = r#""style": "level","#;
    for (kind, row) in [
        ("first_poll", r#""after": "3 polls""#),
        ("hot_added", r#""after": "3 polls""#),
        ("reboot", r#""after": "3 polls""#),
        ("monitor_restart", r#""restates": "nothing""#),
        ("polling", r#""verdict": "fatal", "clears": "never""#),
    ] {
        assert_eq!(of(level, kind, row), none, "{kind}: {row}");
    }
    let of_layer = of(level, "first_poll", r#""infiniband": {"verdict": "fatal"}"#);
    assert_eq!(of_layer, ["rows.first_poll.infiniband.verdict"]);
    // What a reboot never has is refused once.
    let once = of(level, "reboot", r#""verdict": "fatal""#);
    assert_eq!(once, ["rows.reboot.verdict"]);
}

#[test]
fn names_and_subjects_of_a_first_poll_that_decide_nothing_are_refused() {
    let none: [String; 0] = [];
    assert_eq!(refused(r#"{"names": "all"}"#), ["names"]);
    let of_ports = r#"{"like": "x.yaml", "granularity": "port", "names": "all"}"#;
    assert_eq!(refused(of_ports), ["names"]);
    for accepted in [
        r#"{"granularity": "node", "names": "all"}"#,
        r#"{"names": "first"}"#,
        r#"{"like": "x.yaml", "names": "all"}"#,
    ] {
        assert_eq!(refused(accepted), none, "{accepted}");
    }
    let of_wire = |more: &str, rows: &str| {
        refused(&format!(
            r#"{{"wire": {{"baselines": {{"cards": false}}{more}}}, "rows": {{{rows}}}}}"#
        ))
    };
    assert_eq!(of_wire("", ""), ["wire.baselines"]);
    assert_eq!(of_wire(r#", "first_poll": "none""#, ""), ["wire.baselines"]);
    assert_eq!(of_wire(r#", "first_poll": "events""#, ""), none);
    assert_eq!(of_wire(r#", "clears": "check""#, ""), none);
    assert_eq!(of_wire("", r#""hot_added": "usual""#), none);
    let like = r#"{"like": "reference", "wire": {"baselines": {"cards": false}}}"#;
    assert_eq!(refused(like), none);
}
