//! Reading what is done to a node beside its ports: to the connector, the monitor, its state file,
//! the metadata file, the route table, and the node itself.

use super::files::WRITES;
use super::{Line, Read, flags, positive};
use crate::deed::{DeedSaid, MetadataSaid, MonitorSaid, NamesSaid, RebootSaid, RoutesSaid};
use crate::story::{
    ConnectorBehaviour, ConnectorDeed, ConnectorLasting, RuleEffect, RuleLasting, Signal,
    StateFileDeed,
};
use crate::subject::FileSaid;
use crate::words::{KeyWord, REBOOT};
use platforms::yaml::Value;
use simfs::SimTime;

impl Line<'_, '_> {
    pub(super) fn connector(&self) -> Read<ConnectorDeed> {
        let source = self.source;
        let behaviour = match &self.value.value {
            Value::Map(_) => {
                let fields = source.map(self.value, "a connector's behaviour", CONNECTOR_KEYS)?;
                match fields.exactly_one(source, &["code", "slow"])? {
                    ("code", node) => {
                        ConnectorBehaviour::Code(source.choice(node, "gRPC code", GRPC_CODES)?)
                    }
                    (_, node) => ConnectorBehaviour::Slow(positive(source, node)?),
                }
            }
            _ => self
                .word(&[
                    ("accept", &ConnectorBehaviour::Accept),
                    ("absent", &ConnectorBehaviour::Absent),
                    ("down", &ConnectorBehaviour::Down),
                    ("refuse", &ConnectorBehaviour::Refuse),
                    ("hang", &ConnectorBehaviour::Hang),
                    ("lose_reply", &ConnectorBehaviour::LoseReply),
                    ("disconnect", &ConnectorBehaviour::Disconnect),
                ])?
                .clone(),
        };
        let lasting = match (self.fields.get("for"), self.fields.get("calls")) {
            (None, None) => ConnectorLasting::Always,
            (Some(node), None) => ConnectorLasting::For(positive(source, node)?),
            (None, Some(node)) => ConnectorLasting::Calls(source.small(node, 1)?),
            (Some(_), Some(_)) => {
                return Err(source
                    .wrong(self.fields.place_of("calls"), "`for` and `calls` together")
                    .hint("say one of them"));
            }
        };
        Ok(ConnectorDeed { behaviour, lasting })
    }

    pub(super) fn monitor(&self) -> Read<MonitorSaid> {
        let source = self.source;
        let word = self.word(&[
            ("restart", "restart"),
            ("stop", "stop"),
            ("kill", "kill"),
            ("start", "start"),
            ("pause", "pause"),
            ("upgrade", "upgrade"),
        ])?;
        let goes_with = |keys: &[&str]| {
            let stray = self
                .verb
                .keys
                .iter()
                .find(|key| self.fields.get(key.word).is_some() && !keys.contains(&key.word));
            match stray {
                None => Ok(()),
                Some(key) => Err(source.wrong(
                    self.fields.place_of(key.word),
                    format!("`{}` does not go with `monitor: {word}`", key.word),
                )),
            }
        };
        let flags = || {
            self.fields
                .read("flags", Vec::new(), |node| flags(source, node))
        };
        match word {
            "restart" => {
                goes_with(&["signal", "away", "flags", "config"])?;
                Ok(MonitorSaid::Restart {
                    signal: self.fields.read("signal", Signal::Term, |node| {
                        source.choice(
                            node,
                            "signal",
                            &[("TERM", Signal::Term), ("KILL", Signal::Kill)],
                        )
                    })?,
                    away: self
                        .fields
                        .read("away", SimTime::ZERO, |node| source.time(node))?,
                    flags: flags()?,
                    config: self
                        .fields
                        .maybe("config", |node| source.any_text(node, "lines of TOML"))?,
                })
            }
            "start" => {
                goes_with(&["flags"])?;
                Ok(MonitorSaid::Start { flags: flags()? })
            }
            "pause" => {
                goes_with(&["for"])?;
                Ok(MonitorSaid::Pause(self.span("for")?))
            }
            "stop" | "kill" => {
                goes_with(&[])?;
                Ok(MonitorSaid::Stop(if word == "stop" {
                    Signal::Term
                } else {
                    Signal::Kill
                }))
            }
            _ => Err(source.not_built(
                self.value.place,
                format!("`monitor: {word}` is not built yet"),
            )),
        }
    }

    pub(super) fn state_file(&self) -> Read<DeedSaid> {
        let source = self.source;
        let every_write = |errno| DeedSaid::Rule {
            file: FileSaid::StateFile,
            ops: WRITES.iter().map(|(_, op)| *op).collect(),
            effect: RuleEffect::Fail(errno),
            lasting: RuleLasting::Always,
        };
        if let Value::Map(_) = self.value.value {
            let fields = source.map(
                self.value,
                "what becomes of the state file",
                STATE_FILE_KEYS,
            )?;
            let deed = match fields.exactly_one(source, &["truncate", "write", "version"])? {
                ("truncate", node) => StateFileDeed::Truncate(source.small(node, 0)? as usize),
                ("write", node) => {
                    StateFileDeed::Write(source.any_text(node, "a text")?.into_bytes())
                }
                (_, node) => match node.value {
                    Value::Whole(version) => StateFileDeed::Version(version),
                    _ => return Err(source.wrong(node.place, "a version is a whole number")),
                },
            };
            return Ok(DeedSaid::StateFile(deed));
        }
        let word = self.word(&[
            ("delete", "delete"),
            ("corrupt", "corrupt"),
            ("read_only", "read_only"),
            ("disk_full", "disk_full"),
            ("writable", "writable"),
        ])?;
        Ok(match word {
            "delete" => DeedSaid::StateFile(StateFileDeed::Delete),
            "corrupt" => DeedSaid::StateFile(StateFileDeed::Write(CORRUPT.to_vec())),
            "read_only" => every_write(simfs::Errno::EROFS),
            "disk_full" => every_write(simfs::Errno::ENOSPC),
            _ => DeedSaid::NoRule(Some(FileSaid::StateFile)),
        })
    }

    pub(super) fn reboot(&self) -> Read<RebootSaid> {
        let source = self.source;
        let fields = source.map(self.value, "a reboot", REBOOT)?;
        let subjects = |name| fields.maybe(name, |node| self.context.subjects(node));
        Ok(RebootSaid {
            takes: positive(source, fields.need(source, "takes")?)?,
            mend: subjects("mend")?,
            remove: subjects("remove")?,
            restore: subjects("restore")?,
            replace: subjects("replace")?,
            names: fields.read("names", NamesSaid::new(), |node| self.names(node))?,
            keep_counters: fields.read("counters", false, |node| {
                source.choice(node, "word", &[("zero", false), ("keep", true)])
            })?,
            announced: fields.read("announced", true, |node| source.truth(node))?,
            same_boot_id: fields.read("boot_id", false, |node| {
                source.choice(node, "word", &[("new", false), ("same", true)])
            })?,
        })
    }

    pub(super) fn metadata(&self) -> Read<MetadataSaid> {
        let source = self.source;
        if let Value::Map(_) = self.value.value {
            let fields = source.map(self.value, "a metadata file", METADATA_KEYS)?;
            return match fields.exactly_one(source, &["without", "short_row", "write"])? {
                ("without", node) => Ok(MetadataSaid::Without(self.context.subjects(node)?)),
                ("short_row", node) => Ok(MetadataSaid::ShortRow(self.context.subjects(node)?)),
                (_, node) => Ok(MetadataSaid::Text(source.any_text(node, "a text")?)),
            };
        }
        let malformed = MetadataSaid::Text("{ \"gpus\": [".to_owned());
        self.word(&[
            ("missing", &MetadataSaid::Missing),
            ("malformed", &malformed),
            ("empty_topology", &MetadataSaid::EmptyTopology),
            ("unknown_numa", &MetadataSaid::UnknownNuma),
            ("no_gpus", &MetadataSaid::NoGpus),
            ("at_rest", &MetadataSaid::AtRest),
        ])
        .cloned()
    }

    pub(super) fn routes(&self) -> Read<RoutesSaid> {
        let source = self.source;
        if let Value::Map(_) = self.value.value {
            let fields = source.map(self.value, "a route table", ROUTES_KEYS)?;
            return match fields.exactly_one(source, &["port", "over"])? {
                ("port", node) => Ok(RoutesSaid::OverPort(self.context.subjects(node)?)),
                (_, node) => Ok(RoutesSaid::Over(source.text(node, "an interface's name")?)),
            };
        }
        self.word(&[
            ("missing", &RoutesSaid::Missing),
            ("no_default", &RoutesSaid::NoDefault),
            ("at_rest", &RoutesSaid::AtRest),
        ])
        .cloned()
    }
}

/// What `state_file: corrupt` leaves.
const CORRUPT: &[u8] = b"{ \"version\": 2, \"bo";

const fn bare(word: &'static str) -> KeyWord {
    KeyWord {
        word,
        takes: "",
        text: "",
    }
}

const CONNECTOR_KEYS: &[KeyWord] = &[bare("code"), bare("slow")];
const STATE_FILE_KEYS: &[KeyWord] = &[bare("truncate"), bare("write"), bare("version")];
const METADATA_KEYS: &[KeyWord] = &[bare("without"), bare("short_row"), bare("write")];
const ROUTES_KEYS: &[KeyWord] = &[bare("port"), bare("over")];

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
