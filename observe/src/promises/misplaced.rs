//! Keys of a row that would have no effect: they mean something for other kinds only, for a whole node and stand in the
//! row of a link layer, or are decided elsewhere. Start at [`all`].

use std::borrow::Cow;

use super::{
    Compared, Granularity, Kind, KindOf, Named, PromisedSubject, Promises, Row, Says, Style,
};

/// A key of a row that cannot stand there: the keys that lead to it, the problem and a hint.
type Misplaced = (Vec<&'static str>, Cow<'static, str>, &'static str);

/// The keys of a row that cannot stand in the row of this kind, in these promises.
pub(super) fn all(kind: &Kind, says: &Says, promises: &Promises) -> Vec<Misplaced> {
    let mut found: Vec<Misplaced> = unmeant(kind, says)
        .map(|(key, what)| (vec![key], what.into(), "leave it out"))
        .collect();
    found.extend(
        of_subject(kind, says, promises).map(|(what, hint)| (vec!["subject"], what.into(), hint)),
    );
    found.extend(
        of_healthy(kind, says, promises).map(|(what, hint)| (vec!["healthy"], what.into(), hint)),
    );
    add_new(
        &mut found,
        of_events(kind, says, promises).map(|key| vec![key]),
    );
    let layers = [
        ("infiniband", &says.infiniband),
        ("ethernet", &says.ethernet),
    ];
    for (layer, row) in layers {
        let Some(Row::Says(of)) = row else { continue };
        if of.infiniband.is_some() || of.ethernet.is_some() {
            let what = "a row of a layer has no layers";
            found.push((vec![layer], what.into(), "write them once"));
        }
        let subject = of_subject(kind, of, promises);
        found.extend(subject.map(|(what, hint)| (vec![layer, "subject"], what.into(), hint)));
        let healthy = of_healthy(kind, of, promises);
        found.extend(healthy.map(|(what, hint)| (vec![layer, "healthy"], what.into(), hint)));
        let unmeant: Vec<_> = unmeant(kind, of).collect();
        let is_new = |key: &str| unmeant.iter().all(|(other, _)| *other != key);
        for (key, what) in of_node(of).filter(|(key, _)| is_new(key)) {
            found.push((
                vec![layer, key],
                what.into(),
                "write it in the row of both layers",
            ));
        }
        for (key, what) in unmeant {
            found.push((vec![layer, key], what.into(), "leave it out"));
        }
        let of_layer = of_events(kind, of, promises).map(|key| vec![layer, key]);
        add_new(&mut found, of_layer);
    }
    found
}

/// The keys of a row that mean nothing for its kind, each with the problem.
fn unmeant(kind: &Kind, says: &Says) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is = |meant: Named| *kind == Kind::Named(meant);
    let is_gone_device = is(Named::GoneDevice);
    let keys = [
        (
            "when",
            says.when.is_some(),
            is(Named::Card),
            "`when` is for `card` only",
        ),
        (
            "over_restart",
            says.over_restart.is_some(),
            matches!(kind, Kind::Counter(_)),
            "`over_restart` is for counters only",
        ),
        (
            "ports",
            says.ports.is_some(),
            is_gone_device,
            "`ports` is for `gone_device` only",
        ),
        (
            "back",
            says.back.is_some(),
            is_gone_device,
            "`back` is for `gone_device` only",
        ),
        (
            "class_folder",
            says.class_folder.is_some(),
            is_gone_device,
            "`class_folder` is for `gone_device` only",
        ),
        (
            "garbled",
            says.garbled.is_some(),
            is(Named::OddState),
            "`garbled` is for `odd_state` only",
        ),
        (
            "unreadable",
            says.unreadable.is_some(),
            is(Named::Reboot) || is(Named::Metadata) || is(Named::Card),
            "`unreadable` is for `reboot`, `metadata` and `card` only",
        ),
        (
            "levels",
            says.levels.is_some(),
            is(Named::Metadata),
            "`levels` is for `metadata` only",
        ),
        (
            "known_by",
            says.known_by.is_some(),
            is(Named::Rename),
            "`known_by` is for `rename` only",
        ),
        (
            "healthy",
            says.healthy.is_some(),
            is(Named::HotAdded),
            "`healthy` is for `hot_added` only",
        ),
        (
            "verdict",
            says.verdict.is_some(),
            !is(Named::Reboot),
            "what still stands after a reboot has the verdict of its own row",
        ),
        (
            "restates",
            says.restates.is_some(),
            kind.of() == KindOf::Episode,
            "`restates` is for episodes only",
        ),
        (
            "restates",
            says.restates.is_some() && kind.of() == KindOf::Episode,
            tells_again(kind),
            "nothing stands before this episode that could be told again after it",
        ),
    ];
    keys.into_iter()
        .filter(|(_, is_there, is_meant, _)| *is_there && !is_meant)
        .map(|(key, _, _, what)| (key, what))
}

/// What to do with a key that decides about single events.
const OF_WHAT_STANDS: &str =
    "leave it out, or write it in the rows of what stands, such as `polling`";

/// Adds keys that decide about single events where alarms are judged, apart from those that were found already.
fn add_new(found: &mut Vec<Misplaced>, of_events: impl Iterator<Item = Vec<&'static str>>) {
    let why = "with `style: level` or a coarser `granularity` alarms are judged, by the rows of what stands";
    for keys in of_events {
        let key = keys.last().copied().unwrap_or_default();
        if found.iter().all(|(of, ..)| *of != keys) {
            let what = format!("`{key}` has no effect: {why}");
            found.push((keys, what.into(), OF_WHAT_STANDS));
        }
    }
}

/// The keys of a row that decide about single events only, in promises by which alarms are judged.
fn of_events<'s>(
    kind: &'s Kind,
    says: &'s Says,
    promises: &Promises,
) -> impl Iterator<Item = &'static str> + 's {
    let has_alarms = promises.has_alarms();
    says.keys()
        .filter(move |key| has_alarms && kind.is_of_single_events(key))
}

/// Why `subject` decides nothing in a row, with a hint; `None` if it does, or is not there.
fn of_subject(
    kind: &Kind,
    says: &Says,
    promises: &Promises,
) -> Option<(&'static str, &'static str)> {
    let subject = says.subject?;
    let is = |meant: Named| *kind == Kind::Named(meant);
    if promises.granularity.unwrap_or_default() != Granularity::Port {
        let what = "`subject` has no effect: `granularity` says whom reports name";
        return Some((what, "leave it out, or write `granularity: port`"));
    }
    if promises.style == Some(Style::Level) {
        let what = "`subject` has no effect with `style: level`: `granularity` says whom statements are about";
        return Some((
            what,
            "leave it out, or write `granularity: device` or `node`",
        ));
    }
    if subject == PromisedSubject::Port && (is(Named::GoneDevice) || is(Named::Card)) {
        let what = "`subject: port` has no effect: what is gone or behind is no port";
        return Some((what, "write `device`, `card` or `node`, or leave it out"));
    }
    if is(Named::Card) && says.when == Some(Compared::EveryPoll) {
        let what = "`subject` has no effect with `when: every_poll`: such reports name the card";
        return Some((what, "leave it out"));
    }
    let is_of_truth = is(Named::Slow) || is(Named::MovedLayer);
    is_of_truth.then_some((
        "`subject` has no effect here: such reports name the port",
        "leave it out",
    ))
}

/// Why `healthy` decides nothing in the row of `hot_added`, with a hint; `None` if it does, or is not there. Where alarms are
/// judged, and not single events, what is healthy needs no report, and may have one.
fn of_healthy(
    kind: &Kind,
    says: &Says,
    promises: &Promises,
) -> Option<(&'static str, &'static str)> {
    says.healthy
        .filter(|_| *kind == Kind::Named(Named::HotAdded))?;
    if promises.granularity.unwrap_or_default() != Granularity::Port {
        let what = "`healthy` has no effect: with this `granularity` alarms are judged, and what is healthy needs no report";
        return Some((what, "leave it out, or write `granularity: port`"));
    }
    (promises.style == Some(Style::Level)).then_some((
        "`healthy` has no effect with `style: level`: what is healthy may be stated in every poll",
        "leave it out",
    ))
}

/// The keys of a row of a layer that are about the whole node, each with the problem.
fn of_node(says: &Says) -> impl Iterator<Item = (&'static str, &'static str)> {
    let keys = [
        ("when", says.when.is_some()),
        ("garbled", says.garbled.is_some()),
        ("unreadable", says.unreadable.is_some()),
        ("levels", says.levels.is_some()),
        ("known_by", says.known_by.is_some()),
        ("over_restart", says.over_restart.is_some()),
    ];
    keys.into_iter()
        .filter(|(_, is_there)| *is_there)
        .map(|(key, _)| (key, "it holds for all ports, whatever their layer"))
}

/// Whether an episode happens to the monitor or to what it is given, so that faults stand over it.
fn tells_again(kind: &Kind) -> bool {
    let episodes = [
        Named::Rename,
        Named::Reboot,
        Named::MonitorRestart,
        Named::ScopeChange,
        Named::Metadata,
        Named::StateFile,
        Named::Connector,
    ];
    matches!(kind, Kind::Named(named) if episodes.contains(named))
}
