//! A row of the promises: what a monitor says about one kind of fault, and when. Start at [`Row`].

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use terms::{LinkLayer, Severity};

use super::Lasting;

/// What a monitor promises about one kind. In a descriptor: `silent`, `usual`, or a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// It says nothing about this kind, and must not.
    Silent,
    /// It says what the documents ask; for an episode: what its rows of conditions say.
    Usual,
    /// It says this. What a field leaves out is as the documents ask.
    Says(Box<Says>),
}

/// The fields of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Says {
    /// The severity.
    #[serde(deserialize_with = "promised")]
    #[schemars(with = "Option<Verdict>")]
    pub verdict: Option<Severity>,
    /// Whom it names. Only for reports of events about ports: with `style: level`, or at another granularity, that decides.
    pub subject: Option<PromisedSubject>,
    /// For how long the fault must have stood: its patience or debounce. Nothing is said before, and nothing is
    /// owed if it ends before.
    pub after: Option<Lasting>,
    /// How much later than `after` it says so at the latest.
    pub within: Option<Lasting>,
    /// How the fault is taken back.
    pub clears: Option<Clears>,
    /// For `card`: in which polls cards are compared.
    pub when: Option<Compared>,
    /// For episodes after which faults still stand: which of them it says again.
    pub restates: Option<Restates>,
    /// For `gone_device`: what becomes of the faults of its ports while it comes back.
    pub ports: Option<Meanwhile>,
    /// For `gone_device`: when it counts as back.
    pub back: Option<Back>,
    /// For `gone_device`: what it says of its devices while the class folder itself is missing.
    pub class_folder: Option<Meanwhile>,
    /// For `odd_state`: what a text is that is no state.
    pub garbled: Option<Garbled>,
    /// For `reboot` and `metadata`: what an unreadable source, such as the boot id or the route table, is taken for. For
    /// `card`: whether cards are compared while a device cannot be read.
    pub unreadable: Option<WhileUnreadable>,
    /// For `metadata`: which levels of the topology it takes.
    pub levels: Option<Levels>,
    /// For `rename`: by what a device is known.
    pub known_by: Option<KnownBy>,
    /// For counters: with which value it compares after a restart.
    pub over_restart: Option<OverRestart>,
    /// For `hot_added`: whether it says that what was added is healthy, or must not.
    pub healthy: Option<Meanwhile>,
    /// What is different for InfiniBand ports.
    pub infiniband: Option<Row>,
    /// What is different for Ethernet (RoCE) ports.
    pub ethernet: Option<Row>,
}

/// A promised severity.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// Work that uses it fails.
    Fatal,
    /// Work goes on.
    NonFatal,
}

/// Reads a promised severity.
fn promised<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Severity>, D::Error> {
    let verdict = Option::deserialize(from)?;
    Ok(verdict.map(|verdict| match verdict {
        Verdict::Fatal => Severity::Fatal,
        Verdict::NonFatal => Severity::NonFatal,
    }))
}

/// Whom a report names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PromisedSubject {
    /// The port.
    Port,
    /// The device of the port.
    Device,
    /// The card of the device.
    Card,
    /// The node.
    Node,
}

/// How a fault is taken back. In a descriptor: `healed`, `by_check`, `by_operator`, `never`, or
/// `{ within: 3 polls }` for `healed` within that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clears {
    /// By a healthy report about its subject once it is healed; within this time if it is stated, else as the
    /// documents ask.
    Healed(Option<Lasting>),
    /// By a healthy report about everything that its check monitors.
    ByCheck,
    /// By a person; the monitor does not.
    ByOperator,
    /// Not at all.
    Never,
}

/// In which polls cards are compared with their peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// In the first poll that decides, as the documents ask.
    FirstPoll,
    /// In every poll: a card that falls behind its peers later is reported too.
    EveryPoll,
}

/// Which faults that stand are reported again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Restates {
    /// All, as the documents ask.
    All,
    /// Those for which the peers are evidence.
    Evidence,
    /// None.
    Nothing,
}

/// When a device that was gone counts as back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Back {
    /// Once all of its ports are healthy, as the documents ask.
    Whole,
    /// Once one of its ports is; its ports are told one by one.
    AnyPort,
}

/// What a text is that is no state of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Garbled {
    /// It cannot be read, as the documents ask.
    Unreadable,
    /// An odd state.
    State,
}

/// What a source is taken for that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhileUnreadable {
    /// It is asked again, and what depends on it waits, as the documents ask of boot id, route table and NUMA node.
    Waits,
    /// As if it were not there: another boot, no default route, a card that is not counted, as the documents ask of cards.
    Missing,
}

/// Which levels of the topology in the node's metadata a monitor takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Levels {
    /// Those that `nvidia-smi` prints: with another one it refuses to start, as the documents ask.
    Known,
    /// Any: one that nobody knows is far from every GPU.
    Any,
}

/// With which value of a counter a monitor compares after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverRestart {
    /// With the last one that it read, as the documents ask.
    LastRead,
    /// With the one that it wrote to its state file, which can be older: what changed while it was away, or while the
    /// counter was switched off, may look like growth or not like a reset.
    LastWritten,
}

/// By what a monitor knows a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KnownBy {
    /// By its place on the bus, as the documents ask: its faults follow it to its new name.
    Place,
    /// By its name: the old name is a device that is gone, and the new one a device that was added.
    Name,
}

/// What becomes of faults of ports while a report about their device stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Meanwhile {
    /// They are not reported, as the documents ask.
    Silent,
    /// They are reported beside it.
    Reported,
}

impl Row {
    /// The row for one link layer: what it states for this layer, over what it states for both.
    #[must_use]
    pub fn on(&self, layer: LinkLayer) -> Row {
        let Self::Says(says) = self else {
            return self.clone();
        };
        let of_layer = match layer {
            LinkLayer::InfiniBand => &says.infiniband,
            LinkLayer::Ethernet => &says.ethernet,
        };
        let both = Self::Says(Box::new(Says {
            infiniband: None,
            ethernet: None,
            ..(**says).clone()
        }));
        of_layer
            .as_ref()
            .map_or_else(|| both.clone(), |row| row.over(&both))
    }

    /// This row with what it leaves out taken from another one.
    #[must_use]
    pub fn over(&self, base: &Row) -> Row {
        match (self, base) {
            (Self::Says(says), Self::Says(under)) => Self::Says(Box::new(says.over(under))),
            _ => self.clone(),
        }
    }
}

impl Says {
    /// The keys that it states, in the order of the docs.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("verdict", self.verdict.is_some()),
            ("subject", self.subject.is_some()),
            ("after", self.after.is_some()),
            ("within", self.within.is_some()),
            ("clears", self.clears.is_some()),
            ("when", self.when.is_some()),
            ("restates", self.restates.is_some()),
            ("ports", self.ports.is_some()),
            ("back", self.back.is_some()),
            ("class_folder", self.class_folder.is_some()),
            ("garbled", self.garbled.is_some()),
            ("unreadable", self.unreadable.is_some()),
            ("levels", self.levels.is_some()),
            ("known_by", self.known_by.is_some()),
            ("healthy", self.healthy.is_some()),
            ("over_restart", self.over_restart.is_some()),
            ("infiniband", self.infiniband.is_some()),
            ("ethernet", self.ethernet.is_some()),
        ];
        let stated = keys.into_iter().filter(|(_, is_stated)| *is_stated);
        stated.map(|(key, _)| key)
    }

    fn over(&self, base: &Says) -> Says {
        let layer = |own: &Option<Row>, under: &Option<Row>| match (own, under) {
            (Some(own), Some(under)) => Some(own.over(under)),
            (own, under) => own.clone().or_else(|| under.clone()),
        };
        Says {
            verdict: self.verdict.or(base.verdict),
            subject: self.subject.or(base.subject),
            after: self.after.or(base.after),
            within: self.within.or(base.within),
            clears: self.clears.or(base.clears),
            when: self.when.or(base.when),
            restates: self.restates.or(base.restates),
            ports: self.ports.or(base.ports),
            back: self.back.or(base.back),
            class_folder: self.class_folder.or(base.class_folder),
            garbled: self.garbled.or(base.garbled),
            unreadable: self.unreadable.or(base.unreadable),
            levels: self.levels.or(base.levels),
            known_by: self.known_by.or(base.known_by),
            healthy: self.healthy.or(base.healthy),
            over_restart: self.over_restart.or(base.over_restart),
            infiniband: layer(&self.infiniband, &base.infiniband),
            ethernet: layer(&self.ethernet, &base.ethernet),
        }
    }
}

const WORDS_OF_ROW: &str =
    "`silent`, `usual`, or a map such as `{ verdict: fatal, within: 1 poll }`";

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = Row;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(WORDS_OF_ROW)
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Row, E> {
                match word {
                    "silent" => Ok(Row::Silent),
                    "usual" => Ok(Row::Usual),
                    _ => Err(E::custom(format!(
                        "`{word}` is no row\nhint: write {WORDS_OF_ROW}"
                    ))),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Row, A::Error> {
                Says::deserialize(MapAccessDeserializer::new(map))
                    .map(|says| Row::Says(Box::new(says)))
            }
        }
        from.deserialize_any(Words)
    }
}

impl JsonSchema for Row {
    fn schema_name() -> Cow<'static, str> {
        "Row".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let says = generator.subschema_for::<Says>();
        json_schema!({
            "description": "What the monitor says about a kind.",
            "oneOf": [
                { "const": "silent", "description": "It says nothing, and must not." },
                { "const": "usual", "description": "It says what the documents ask." },
                says,
            ],
        })
    }
}

/// The map form of [`Clears`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HealedWithin {
    /// How long after it is healed at the latest.
    within: Lasting,
}

const WORDS_OF_CLEARS: &str =
    "`healed`, `by_check`, `by_operator`, `never`, or `{ within: 3 polls }`";

impl<'de> Deserialize<'de> for Clears {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = Clears;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(WORDS_OF_CLEARS)
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Clears, E> {
                match word {
                    "healed" => Ok(Clears::Healed(None)),
                    "by_check" => Ok(Clears::ByCheck),
                    "by_operator" => Ok(Clears::ByOperator),
                    "never" => Ok(Clears::Never),
                    _ => Err(E::custom(format!(
                        "`{word}` is no way to clear a fault\nhint: write {WORDS_OF_CLEARS}"
                    ))),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Clears, A::Error> {
                HealedWithin::deserialize(MapAccessDeserializer::new(map))
                    .map(|healed| Clears::Healed(Some(healed.within)))
            }
        }
        from.deserialize_any(Words)
    }
}

impl JsonSchema for Clears {
    fn schema_name() -> Cow<'static, str> {
        "Clears".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let within = generator.subschema_for::<HealedWithin>();
        json_schema!({
            "description": "How the fault is taken back.",
            "oneOf": [
                { "const": "healed", "description": "By a healthy report about its subject once it is healed." },
                { "const": "by_check", "description": "By a healthy report about everything that its check monitors." },
                { "const": "by_operator", "description": "By a person." },
                { "const": "never", "description": "Not at all." },
                within,
            ],
        })
    }
}
