//! Verbs about the monitor, its state file and the connector.

use files::YamlValue;
use serde_json::json;
use simfs::Errno;

use super::file::WRITES;
use super::spec::{MonitorSpec, VerbSpec};
use crate::handed::{CONFIG, FLAG};
use crate::keys::{Literal, maybe, or};
use crate::kind::{AnyText, Choices, Many, Parsed, Plain, Words, count, plain};
use crate::map::{Alternative, AtMostOne, WordOr, alt};
use crate::row::{Line, Row, word};
use crate::story::{
    ConnectorAction, ConnectorBehaviour, ConnectorLasting, FileOp, RuleEffect, RuleLasting, Signal,
    StateFileAction,
};
use crate::subject::FileSpec;
use crate::values::{SPAN, TIME};

/// Verbs about the monitor, its state file and the connector.
pub(crate) const MONITOR: &[&dyn Row<VerbSpec>] = &[
    &word(
        "connector",
        WordOr {
            takes: "a word, `{ code: NAME }` or `{ slow: a time }`",
            word: "word after `connector`",
            words: BEHAVIOURS,
            map: "a connector's behaviour",
            keys: BEHAVIOURS_OF,
        },
        "The behaviour of the platform connector from now on.",
        "{ connector: { code: INTERNAL }, calls: 2 }",
        AtMostOne(CONNECTOR_LASTING),
        |_, behaviour, lasting| {
            Ok(VerbSpec::Connector(ConnectorAction {
                behaviour,
                lasting: lasting.unwrap_or(ConnectorLasting::Always),
            }))
        },
    ),
    &word(
        "monitor",
        Choices(
            "word after `monitor`",
            &[
                ("restart", Order::Restart, "ended and started again"),
                ("stop", Order::Stop, "ended by SIGTERM, not started again"),
                ("kill", Order::Kill, "ended by SIGKILL, not started again"),
                (
                    "start",
                    Order::Start,
                    "started again, or a second one beside the first",
                ),
                ("pause", Order::Pause, "suspended; requires `for`"),
                (
                    "upgrade",
                    Order::Upgrade,
                    "replaced by another binary (not built yet)",
                ),
            ],
        ),
        "Stops, starts or pauses the monitor.",
        "{ monitor: restart, signal: KILL, away: 5s }",
        (
            or(
                "signal",
                Literal::Text("TERM"),
                Words("signal", &[("TERM", Signal::Term), ("KILL", Signal::Kill)]),
                "With `restart`: the signal that ends it.",
            ),
            or(
                "away",
                Literal::Text("0s"),
                TIME,
                "With `restart`: the time without a monitor.",
            ),
            maybe("for", SPAN, "With `pause`: how long."),
            maybe(
                "flags",
                Many("flags", FLAG),
                "With `restart` and `start`: additional flags from now on; later ones win.",
            ),
            maybe(
                "config",
                CONFIG,
                "With `restart`: the lines of `config.toml` from now on.",
            ),
        ),
        |line, order, (signal, away, span, flags, config)| {
            order.refuse_stray_keys(line)?;
            let flags = flags.unwrap_or_default();
            Ok(VerbSpec::Monitor(match order {
                Order::Restart => MonitorSpec::Restart {
                    signal,
                    away,
                    flags,
                    config,
                },
                Order::Stop => MonitorSpec::Stop(Signal::Term),
                Order::Kill => MonitorSpec::Stop(Signal::Kill),
                Order::Start => MonitorSpec::Start { flags },
                Order::Pause => MonitorSpec::Pause(line.needs("for", span)?),
                Order::Upgrade => {
                    let what = "`monitor: upgrade` is not built yet";
                    return Err(line.source().not_built(line.value.place, what));
                }
            }))
        },
    ),
    &word(
        "state_file",
        WordOr {
            takes: "a word, `{ truncate: N }`, `{ write: text }` or `{ version: N }`",
            word: "word after `state_file`",
            words: STATE_FILE,
            map: "the change of the state file",
            keys: STATE_FILE_OF,
        },
        "Changes the monitor's state file.",
        "{ state_file: { version: 99 } }",
        (),
        |_, state_file, ()| {
            let every_write = |errno| VerbSpec::Rule {
                file: FileSpec::StateFile,
                ops: WRITES.iter().map(|(_, op)| *op).collect::<Vec<FileOp>>(),
                effect: RuleEffect::Fail(errno),
                lasting: RuleLasting::Always,
                appears_later: false,
            };
            Ok(match state_file {
                StateFile::Delete => VerbSpec::StateFile(StateFileAction::Delete),
                StateFile::Corrupt => VerbSpec::StateFile(StateFileAction::Write(CORRUPT.to_vec())),
                StateFile::Fails(errno) => every_write(errno),
                StateFile::Writable => VerbSpec::NoRule(Some(FileSpec::StateFile)),
                StateFile::Changed(change) => VerbSpec::StateFile(change),
            })
        },
    ),
];

const BEHAVIOURS: &[(&str, ConnectorBehaviour, &str)] = &[
    ("accept", ConnectorBehaviour::Accept, "accepts every call"),
    (
        "absent",
        ConnectorBehaviour::Absent,
        "the socket file is absent",
    ),
    (
        "down",
        ConnectorBehaviour::Down,
        "the socket exists but nothing listens: refused, nothing received",
    ),
    (
        "refuse",
        ConnectorBehaviour::Refuse,
        "received, and answered UNAVAILABLE",
    ),
    (
        "hang",
        ConnectorBehaviour::Hang,
        "received and never answered; nothing is accepted",
    ),
    (
        "lose_reply",
        ConnectorBehaviour::LoseReply,
        "accepted, but the reply is lost",
    ),
    (
        "disconnect",
        ConnectorBehaviour::Disconnect,
        "received, but the connection is closed before an answer; nothing is accepted",
    ),
];

const BEHAVIOURS_OF: &[&dyn Alternative<ConnectorBehaviour>] = &[
    &alt(
        "code",
        Words("gRPC code", GRPC_CODES),
        "`{ code: INTERNAL }`: received, and answered with this gRPC code",
        ConnectorBehaviour::Code,
    ),
    &alt(
        "slow",
        SPAN,
        "`{ slow: 1s }`: accepted, and the answer comes this much real time later",
        ConnectorBehaviour::Slow,
    ),
];

const CONNECTOR_LASTING: &[&dyn Alternative<ConnectorLasting>] = &[
    &alt(
        "for",
        SPAN,
        "For this long; then it accepts again.",
        ConnectorLasting::For,
    ),
    &alt(
        "calls",
        count(1),
        "For this many calls; then it accepts again.",
        ConnectorLasting::Calls,
    ),
];

/// gRPC's status codes by name (`grpc/doc/statuscodes.md`); `OK` is `accept`.
const GRPC_CODES: &[(&str, i32)] = &[
    ("CANCELLED", 1),
    ("UNKNOWN", 2),
    ("INVALID_ARGUMENT", 3),
    ("DEADLINE_EXCEEDED", 4),
    ("NOT_FOUND", 5),
    ("ALREADY_EXISTS", 6),
    ("PERMISSION_DENIED", 7),
    ("RESOURCE_EXHAUSTED", 8),
    ("FAILED_PRECONDITION", 9),
    ("ABORTED", 10),
    ("OUT_OF_RANGE", 11),
    ("UNIMPLEMENTED", 12),
    ("INTERNAL", 13),
    ("UNAVAILABLE", 14),
    ("DATA_LOSS", 15),
    ("UNAUTHENTICATED", 16),
];

/// The value of `monitor:`.
#[derive(Clone, Copy, Debug)]
enum Order {
    Restart,
    Stop,
    Kill,
    Start,
    Pause,
    Upgrade,
}

impl Order {
    /// Rejects a key that belongs to another value of `monitor:`.
    fn refuse_stray_keys(self, line: &Line<'_, '_>) -> Parsed<()> {
        let (word, stray): (_, &[&str]) = match self {
            Self::Restart => ("restart", &["for"]),
            Self::Start => ("start", &["signal", "away", "for", "config"]),
            Self::Pause => ("pause", &["signal", "away", "flags", "config"]),
            Self::Stop => ("stop", &["signal", "away", "for", "flags", "config"]),
            Self::Kill => ("kill", &["signal", "away", "for", "flags", "config"]),
            Self::Upgrade => return Ok(()),
        };
        match line.first_of(stray) {
            None => Ok(()),
            Some(key) => Err(line.source().wrong(
                line.fields.place_of(key),
                format!("`{key}` does not go with `monitor: {word}`"),
            )),
        }
    }
}

/// The value of `state_file:`.
#[derive(Clone, Debug)]
enum StateFile {
    Delete,
    Corrupt,
    Fails(Errno),
    Writable,
    Changed(StateFileAction),
}

/// The content that `state_file: corrupt` writes.
const CORRUPT: &[u8] = b"{ \"version\": 2, \"bo";

const STATE_FILE: &[(&str, StateFile, &str)] = &[
    ("delete", StateFile::Delete, "removed"),
    (
        "corrupt",
        StateFile::Corrupt,
        "holds a text that is not JSON",
    ),
    (
        "read_only",
        StateFile::Fails(Errno::EROFS),
        "writes fail with EROFS",
    ),
    (
        "disk_full",
        StateFile::Fails(Errno::ENOSPC),
        "writes fail with ENOSPC",
    ),
    (
        "writable",
        StateFile::Writable,
        "ends `read_only` and `disk_full`",
    ),
];

const STATE_FILE_OF: &[&dyn Alternative<StateFile>] = &[
    &alt(
        "truncate",
        count(0),
        "`{ truncate: 10 }`: truncated to 10 bytes",
        |bytes| StateFile::Changed(StateFileAction::Truncate(bytes)),
    ),
    &alt(
        "write",
        AnyText("a text"),
        "`{ write: \"text\" }`: replaced by this text",
        |text| StateFile::Changed(StateFileAction::Write(text.into_bytes())),
    ),
    &alt(
        "version",
        VERSION,
        "`{ version: 3 }`: its JSON member `version` becomes this",
        |version| StateFile::Changed(StateFileAction::Version(version)),
    ),
];

const VERSION: Plain<i64> = plain(
    "a number",
    || json!({ "type": "integer" }),
    |context, node| match node.value {
        YamlValue::Whole(version) => Ok(version),
        _ => Err(context
            .source
            .wrong(node.place, "a version is a whole number")),
    },
);
