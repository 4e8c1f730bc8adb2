//! Whose texts a monitor writes: in its events and in its log. Start at [`Texts`].

use std::{borrow::Cow, collections::BTreeSet, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{
        self, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer,
        value::SeqAccessDeserializer,
    },
};

use crate::Vocabulary;

/// Whose texts a monitor writes. In a descriptor `reference` and `own` stand for both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The messages of its events.
    pub events: Messages,
    /// The lines of its log.
    pub logs: Logs,
}

/// Which of the reference monitor's messages a monitor writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Messages {
    /// All of them.
    Reference,
    /// None of them; messages are not judged.
    #[default]
    Own,
    /// All but those in which one of these texts stands, as expectations write them.
    Except(BTreeSet<String>),
}

impl Messages {
    /// Whether the monitor writes the message that an expectation states.
    #[must_use]
    pub fn has(&self, message: &str) -> bool {
        match self {
            Self::Reference => true,
            Self::Own => false,
            Self::Except(texts) => !texts.iter().any(|text| message.contains(text)),
        }
    }
}

/// Which of the reference monitor's log lines a monitor writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Logs {
    /// All of them.
    Reference,
    /// None of them; expectations on log lines do not apply.
    #[default]
    Own,
    /// Those with one of these texts, as expectations on log lines write them; others do not apply.
    Lines(BTreeSet<String>),
}

impl Logs {
    /// Whether the monitor writes the line that an expectation describes by this text.
    #[must_use]
    pub fn has(&self, text: &str) -> bool {
        match self {
            Self::Reference => true,
            Self::Own => false,
            Self::Lines(lines) => lines.contains(text),
        }
    }
}

impl From<Vocabulary> for Texts {
    fn from(both: Vocabulary) -> Self {
        let (events, logs) = match both {
            Vocabulary::Reference => (Messages::Reference, Logs::Reference),
            Vocabulary::Own => (Messages::Own, Logs::Own),
        };
        Self { events, logs }
    }
}

/// A vocabulary by its name.
fn vocabulary<E: de::Error>(word: &str) -> Result<Vocabulary, E> {
    match word {
        "reference" => Ok(Vocabulary::Reference),
        "own" => Ok(Vocabulary::Own),
        other => Err(E::unknown_variant(other, &["reference", "own"])),
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, default)]
        #[derive(Default)]
        struct Each {
            events: Messages,
            logs: Logs,
        }
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = Texts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`reference`, `own`, or `events` and `logs`")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Texts, E> {
                vocabulary(word).map(Texts::from)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Texts, A::Error> {
                let Each { events, logs } = Each::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Texts { events, logs })
            }
        }
        from.deserialize_any(Form)
    }
}

/// All messages but some.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct But {
    except: BTreeSet<String>,
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = Messages;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`reference`, `own`, or `{ except: [ … ] }`")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Messages, E> {
                vocabulary(word).map(|both| Texts::from(both).events)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Messages, A::Error> {
                let But { except } = But::deserialize(MapAccessDeserializer::new(map))?;
                // It would stand in every message.
                if except.is_empty() || except.contains("") {
                    return Err(de::Error::custom(
                        "`except` names no text\nhint: write texts of messages, such as `[ healthy on port ]`, or `own`",
                    ));
                }
                Ok(Messages::Except(except))
            }
        }
        from.deserialize_any(Form)
    }
}

impl<'de> Deserialize<'de> for Logs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = Logs;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`reference`, `own`, or a list of texts")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Logs, E> {
                vocabulary(word).map(|both| Texts::from(both).logs)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Logs, A::Error> {
                BTreeSet::deserialize(SeqAccessDeserializer::new(seq)).map(Logs::Lines)
            }
        }
        from.deserialize_any(Form)
    }
}

impl JsonSchema for Texts {
    fn schema_name() -> Cow<'static, str> {
        "Texts".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let vocabulary = generator.subschema_for::<Vocabulary>();
        let lines = json_schema!({ "type": "array", "items": { "type": "string" } });
        let some = json_schema!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "description": "Texts of those that are not judged." });
        json_schema!({
            "description": "Whose texts it writes: one word for both, or `events` and `logs`. `events` may except messages, and `logs` may be a list of the reference monitor's lines that it has, as expectations on log lines write them.",
            "anyOf": [
                vocabulary,
                {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {
                        "events": {
                            "description": "The messages of its events; `except` names texts of those that are its own.",
                            "anyOf": [
                                vocabulary,
                                {
                                    "type": "object",
                                    "additionalProperties": false,
                                    "required": ["except"],
                                    "properties": { "except": some },
                                },
                            ],
                        },
                        "logs": {
                            "description": "The lines of its log; a list names those of the reference monitor's that it has.",
                            "anyOf": [vocabulary, lines],
                        },
                    },
                },
            ],
        })
    }
}
