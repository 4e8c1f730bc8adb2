//! Keys of a row that mean something for other kinds only. Start at [`all`].

use super::{Kind, KindOf, Named, Row, Says};

/// The keys of a row that cannot stand in the row of this kind, each with the problem and a hint.
pub(super) fn all(
    kind: &Kind,
    says: &Says,
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let layers = [
        ("infiniband", &says.infiniband),
        ("ethernet", &says.ethernet),
    ];
    let is_nested = |row: &Option<Row>| matches!(row, Some(Row::Says(of)) if of.infiniband.is_some() || of.ethernet.is_some());
    let nested: Vec<_> = layers
        .into_iter()
        .filter(|(_, row)| is_nested(row))
        .map(|(layer, _)| (layer, "a row of a layer has no layers", "write them once"))
        .collect();
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
            is(Named::Reboot) || is(Named::Metadata),
            "`unreadable` is for `reboot` and `metadata` only",
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
            "restates",
            says.restates.is_some(),
            kind.of() == KindOf::Episode,
            "`restates` is for episodes only",
        ),
    ];
    let unmeant = keys
        .into_iter()
        .filter(|(_, is_there, is_meant, _)| *is_there && !is_meant)
        .map(|(key, _, _, what)| (key, what, "leave it out"));
    nested.into_iter().chain(unmeant)
}
