//! The keys whose value is found by trying: which drills tell the values apart, and what each value sets. Left out: the
//! trying itself (`tried`). Start at [`groups`]; a further key is a [`Key`] in one of them.

use observe::{
    Promises,
    promises::{
        Back, Baselines, ClearedBy, Clears, Garbled, Kind, KnownBy, Lasting, Levels, Meanwhile,
        Named, OverRestart, Recoveries, Restates, Row, Says, Scope, WhileUnreadable, Wire,
        documents_row,
    },
};

use crate::{drill::Drill, heard::heard};

/// Keys that are tried together, because one of them changes what another one explains. They are set in this order; of
/// combinations that explain as much the first counts, where the last key varies first.
pub(crate) type Group = Vec<Key>;

/// A key, and what it can be.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name, such as `rename.known_by`; the word of a kind for a row as a whole.
    pub(crate) name: &'static str,
    /// What the drills ask about that tell its values apart.
    pub(crate) asks: Vec<&'static str>,
    /// Its values, the documents' first.
    pub(crate) values: Vec<KeyValue>,
}

impl Key {
    /// Whether a drill tells its values apart.
    pub(crate) fn is_asked_in(&self, drill: &Drill<'_>) -> bool {
        self.asks.iter().any(|asked| drill.asks(asked))
    }
}

/// A value of a key.
#[derive(Debug)]
pub(crate) struct KeyValue {
    /// The value, as a descriptor has it.
    pub(crate) word: &'static str,
    /// What it sets.
    pub(crate) set: Set,
    /// Under it a drill does not apply in which the monitor did this.
    pub(crate) excuses: Option<fn(&Drill<'_>) -> bool>,
}

/// What a value sets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Set {
    /// The documents' row of a kind.
    Documents(Named),
    /// A silent row of a kind.
    Silent(Named),
    /// A key of the row of a kind; nothing in a silent row, or where there is none.
    Says(Named, fn(&mut Says)),
    /// A key of all rows of counters.
    Counters(fn(&mut Says)),
    /// A key of `wire`.
    Wire(fn(&mut Wire)),
    /// A key of `wire.baselines`.
    Baselines(fn(&mut Baselines)),
    /// A key of `scope`.
    Scope(fn(&mut Scope)),
}

impl Set {
    /// Sets it.
    pub(crate) fn apply(self, promises: &mut Promises) {
        match self {
            Self::Documents(named) => {
                let kind = Kind::from(named);
                let row = documents_row(&kind);
                promises.rows.insert(kind, row);
            }
            Self::Silent(named) => {
                promises.rows.insert(named.into(), Row::Silent);
            }
            Self::Says(named, set) => {
                if let Some(row) = promises.rows.get_mut(&Kind::from(named)) {
                    set_in(row, set);
                }
            }
            Self::Counters(set) => {
                let rows = promises.rows.iter_mut();
                for (_, row) in rows.filter(|(kind, _)| matches!(kind, Kind::Counter(_))) {
                    set_in(row, set);
                }
            }
            Self::Wire(set) => {
                if let Some(wire) = &mut promises.wire {
                    set(wire);
                }
            }
            Self::Baselines(set) => {
                let wire = promises.wire.as_mut();
                if let Some(baselines) = wire.and_then(|wire| wire.baselines.as_mut()) {
                    set(baselines);
                }
            }
            Self::Scope(set) => {
                if let Some(scope) = &mut promises.scope {
                    set(scope);
                }
            }
        }
    }

    /// Whether it is about the row of this kind.
    pub(crate) fn is_of(self, kind: &Kind) -> bool {
        match self {
            Self::Documents(named) | Self::Silent(named) | Self::Says(named, _) => {
                *kind == Kind::from(named)
            }
            Self::Counters(_) => matches!(kind, Kind::Counter(_)),
            Self::Wire(_) | Self::Baselines(_) | Self::Scope(_) => false,
        }
    }
}

/// Sets a key of a row. One that says nothing of its own then is `usual`.
fn set_in(row: &mut Row, set: fn(&mut Says)) {
    let mut says = match row {
        Row::Silent => return,
        Row::Usual => Says::default(),
        Row::Says(says) => (**says).clone(),
    };
    set(&mut says);
    *row = match says == Says::default() {
        true => Row::Usual,
        false => Row::Says(Box::new(says)),
    };
}

fn value(word: &'static str, set: Set) -> KeyValue {
    KeyValue {
        word,
        set,
        excuses: None,
    }
}

fn says(word: &'static str, of: Named, set: fn(&mut Says)) -> KeyValue {
    value(word, Set::Says(of, set))
}

/// A key with a value of the documents and another one.
fn key<const N: usize>(
    name: &'static str,
    asks: [&'static str; N],
    documents: KeyValue,
    other: KeyValue,
) -> Key {
    Key {
        name,
        asks: asks.into(),
        values: vec![documents, other],
    }
}

/// A row that has the documents' keys until others are tried.
fn begun(word: &'static str, named: Named) -> Key {
    Key {
        name: word,
        asks: vec![word],
        values: vec![value("usual", Set::Documents(named))],
    }
}

/// A row as a whole: the documents', or silent.
fn or_silent(word: &'static str, named: Named) -> Key {
    let mut row = begun(word, named);
    row.values.push(value("silent", Set::Silent(named)));
    row
}

/// How long ports on their way up are waited for.
fn after(name: &'static str, asks: &'static str, named: Named) -> Key {
    let at_once = says("0 polls", named, |it| it.after = Some(Lasting::NOTHING));
    key(name, [asks], says("30s", named, |_| ()), at_once)
}

/// Every key that is found by trying.
pub(crate) fn groups() -> Vec<Group> {
    let mut groups = vec![first_poll()];
    groups.extend(baselines());
    groups.extend(conditions());
    groups.extend(episodes());
    groups.extend(reboot());
    groups.extend(metadata());
    groups.push(vec![near_gpu()]);
    groups
}

fn first_poll() -> Group {
    vec![
        or_silent("first_poll", Named::FirstPoll),
        after("first_poll.after", "first_poll", Named::FirstPoll),
    ]
}

/// The events of a first poll, and the recoveries.
fn baselines() -> Vec<Group> {
    let card = Named::Card;
    vec![
        // Both are about devices that cannot be read.
        vec![
            key(
                "wire.baselines.complete",
                ["wire.baselines.complete"],
                value("false", Set::Baselines(|it| it.complete = false)),
                value("true", Set::Baselines(|it| it.complete = true)),
            ),
            key(
                "card.unreadable",
                ["card.unreadable"],
                says("missing", card, |it| it.unreadable = None),
                says("waits", card, |it| {
                    it.unreadable = Some(WhileUnreadable::Waits);
                }),
            ),
        ],
        vec![key(
            "wire.baselines.late_cards",
            ["wire.baselines.late_cards"],
            value("true", Set::Baselines(|it| it.late_cards = true)),
            value("false", Set::Baselines(|it| it.late_cards = false)),
        )],
        vec![key(
            "wire.recoveries",
            ["init", "armed", "link_error_recovery", "odd_state"],
            value("reported", Set::Wire(|it| it.recoveries = None)),
            value("all", Set::Wire(|it| it.recoveries = Some(Recoveries::All))),
        )],
    ]
}

/// Keys of rows of conditions.
fn conditions() -> Vec<Group> {
    let gone = Named::GoneDevice;
    // Whether ports that are still dark are told while their device comes back, and when it is back.
    let returns = vec![
        key(
            "gone_device.ports",
            ["gone_device", "gone_device.back"],
            says("silent", gone, |it| it.ports = Some(Meanwhile::Silent)),
            says("reported", gone, |it| it.ports = Some(Meanwhile::Reported)),
        ),
        key(
            "gone_device.back",
            ["gone_device.back"],
            says("whole", gone, |it| it.back = None),
            says("any_port", gone, |it| it.back = Some(Back::AnyPort)),
        ),
    ];
    let keys = [
        key(
            "gone_device.class_folder",
            ["gone_device.class_folder"],
            says("reported", gone, |it| it.class_folder = None),
            says("silent", gone, |it| {
                it.class_folder = Some(Meanwhile::Silent);
            }),
        ),
        key(
            "odd_state.garbled",
            ["odd_state.garbled"],
            says("unreadable", Named::OddState, |it| it.garbled = None),
            says("state", Named::OddState, |it| {
                it.garbled = Some(Garbled::State);
            }),
        ),
        key(
            "counter.*.over_restart",
            ["counters.over_restart"],
            value("last_read", Set::Counters(|it| it.over_restart = None)),
            value(
                "last_written",
                Set::Counters(|it| it.over_restart = Some(OverRestart::LastWritten)),
            ),
        ),
    ];
    let mut groups = vec![returns];
    groups.extend(keys.map(|key| vec![key]));
    groups
}

/// Rows of episodes but those of reboots and metadata.
fn episodes() -> Vec<Group> {
    // What is silent in these is a weaker promise; in others it would be a loss.
    let may_be_silent = [
        ("flap", Named::Flap),
        ("sm_gone", Named::SmGone),
        ("driver_reload", Named::DriverReload),
        ("firmware_reset", Named::FirmwareReset),
        ("replaced", Named::Replaced),
        ("moved_layer", Named::MovedLayer),
    ];
    let mut groups: Vec<Group> = may_be_silent
        .map(|(word, named)| vec![or_silent(word, named)])
        .into();
    let (added, restart) = (Named::HotAdded, Named::MonitorRestart);
    groups.push(vec![
        or_silent("hot_added", added),
        after("hot_added.after", "hot_added", added),
        key(
            "hot_added.healthy",
            ["hot_added"],
            says("reported", added, |_| ()),
            says("silent", added, |it| it.healthy = Some(Meanwhile::Silent)),
        ),
    ]);
    groups.push(vec![
        begun("rename", Named::Rename),
        key(
            "rename.known_by",
            ["rename"],
            says("place", Named::Rename, |_| ()),
            says("name", Named::Rename, |it| {
                it.known_by = Some(KnownBy::Name);
            }),
        ),
    ]);
    groups.push(vec![
        begun("monitor_restart", restart),
        Key {
            name: "monitor_restart.restates",
            asks: vec!["monitor_restart"],
            values: vec![
                says("as it remembers", restart, |_| ()),
                says("nothing", restart, |it| {
                    it.restates = Some(Restates::Nothing);
                }),
                says("all", restart, |it| it.restates = Some(Restates::All)),
            ],
        },
    ]);
    // A call that was not accepted may be repeated in the next poll only.
    groups.push(vec![
        begun("connector", Named::Connector),
        key(
            "connector.within",
            ["connector"],
            says("0 polls", Named::Connector, |_| ()),
            says("1 poll", Named::Connector, |it| {
                it.within = Some(Lasting::Polls(1));
                it.clears = Some(Clears::Healed(Some(Lasting::Polls(1))));
            }),
        ),
    ]);
    groups
}

fn reboot() -> Vec<Group> {
    let boot = Named::Reboot;
    let clears = key(
        "wire.clears",
        ["reboot", "scope_change"],
        value(
            "subject",
            Set::Wire(|it| it.clears = Some(ClearedBy::Subject)),
        ),
        value("check", Set::Wire(|it| it.clears = Some(ClearedBy::Check))),
    );
    let restates = Key {
        name: "reboot.restates",
        asks: vec!["reboot", "reboot.restates"],
        values: vec![
            says("all", boot, |_| ()),
            says("evidence", boot, |it| {
                it.restates = Some(Restates::Evidence);
            }),
            says("nothing", boot, |it| it.restates = Some(Restates::Nothing)),
        ],
    };
    vec![
        // How what stands is cleared, and what is said again, come in the same polls.
        vec![clears, begun("reboot", boot), restates],
        vec![after("reboot.after", "reboot.after", boot)],
        vec![Key {
            name: "reboot.unreadable",
            asks: vec!["reboot.unreadable"],
            values: vec![
                says("waits", boot, |it| it.unreadable = None),
                says("missing", boot, |it| {
                    it.unreadable = Some(WhileUnreadable::Missing);
                }),
                // Who does as neither of them does not ask for the boot id.
                value("the row is silent", Set::Silent(boot)),
            ],
        }],
    ]
}

fn metadata() -> Vec<Group> {
    let metadata = Named::Metadata;
    let keys = [
        or_silent("metadata", metadata),
        key(
            "metadata.clears",
            ["metadata.clears"],
            says("healed", metadata, |it| it.clears = None),
            says("never", metadata, |it| it.clears = Some(Clears::Never)),
        ),
        key(
            "metadata.unreadable",
            ["metadata.unreadable"],
            says("waits", metadata, |it| it.unreadable = None),
            says("missing", metadata, |it| {
                it.unreadable = Some(WhileUnreadable::Missing);
            }),
        ),
        key(
            "metadata.levels",
            ["metadata.levels"],
            says("known", metadata, |it| it.levels = None),
            KeyValue {
                excuses: Some(goes_on),
                ..says("any", metadata, |it| it.levels = Some(Levels::Any))
            },
        ),
    ];
    keys.map(|key| vec![key]).into()
}

/// One that is stated stays where no drill shows it.
fn near_gpu() -> Key {
    key(
        "scope.near_gpu",
        ["scope.near_gpu"],
        value("false", Set::Scope(|_| ())),
        KeyValue {
            excuses: Some(watches_it),
            ..value("true", Set::Scope(|it| it.near_gpu = Some(true)))
        },
    )
}

/// Whether a monitor that was to refuse to start said something.
fn goes_on(drill: &Drill<'_>) -> bool {
    drill.asks("metadata.levels") && !heard(drill).is_empty()
}

/// Whether a fault was reported where none is of a monitored port.
fn watches_it(drill: &Drill<'_>) -> bool {
    let mut said = heard(drill).into_iter();
    drill.asks("scope.near_gpu") && said.any(|it| it.verdict().is_some())
}
