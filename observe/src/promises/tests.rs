//! Promises: rows over rows, and fields where they mean nothing.

use super::*;

fn says(row: &Row) -> &Says {
    match row {
        Row::Says(says) => says,
        other => panic!("a map, not {other:?}"),
    }
}

fn fatal_after(polls: u32) -> Row {
    Row::Says(Box::new(Says {
        verdict: Some(Verdict::Fatal),
        after: Some(Lasting::Polls(polls)),
        ..Says::default()
    }))
}

#[test]
fn a_row_of_a_layer_is_over_the_row_of_both() {
    let row = Row::Says(Box::new(Says {
        infiniband: Some(Row::Says(Box::new(Says {
            verdict: Some(Verdict::NonFatal),
            ..Says::default()
        }))),
        ethernet: Some(Row::Silent),
        ..says(&fatal_after(2)).clone()
    }));
    let infiniband = row.on(proto::Layer::InfiniBand);
    assert_eq!(says(&infiniband).verdict, Some(Verdict::NonFatal));
    assert_eq!(says(&infiniband).after, Some(Lasting::Polls(2)));
    assert_eq!(row.on(proto::Layer::Ethernet), Row::Silent);
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
                verdict: Some(Verdict::NonFatal),
                ..Says::default()
            })),
        )]),
        ..Promises::default()
    };
    let both = own.over(&base);
    assert_eq!(says(&both.rows[&down]).verdict, Some(Verdict::NonFatal));
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
        verdict: Some(Verdict::NonFatal),
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
