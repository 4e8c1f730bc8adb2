//! The kinds of values specific to the language: durations, reasons, subjects, files, nodes.
//!
//! Kinds that are built from parameters or from other kinds are in [`crate::kind`] and
//! [`crate::keys`].

use std::collections::BTreeMap;

use fabric::Side;
use fabric::opa::LinkDownReason;
use files::{Node, Place, YamlValue};
use mpib::Rail;
use platforms::{DeviceName, LinkLayer, PciAddress, PhysState, PortState, Rate};
use serde_json::{Value as Json, json};
use simfs::{Errno, SimTime};

use crate::context::Context;
use crate::duration;
use crate::kind::{
    Choices, Kind, Parsed, Plain, Text, Words, any_of, plain, string_form, text_form,
};
use crate::reader::Source;
use crate::subject::{FileSpec, Named, NodeNames, Subjects};

/// A duration.
pub(crate) const TIME: Plain<SimTime> = plain("a time", string_form, |context, node| {
    context.source.time(node)
});

/// A duration above zero.
pub(crate) const SPAN: Plain<SimTime> = plain("a time", string_form, |context, node| {
    positive(&context.source, node)
});

/// A duration with an optional minus sign, in nanoseconds.
pub(crate) struct SignedTime(pub(crate) &'static str);

impl Kind for SignedTime {
    type Value = i64;

    fn takes(&self) -> Option<String> {
        Some("a time, `-` for back".to_owned())
    }

    fn schema(&self) -> Json {
        string_form()
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<i64> {
        let text = context.source.text(node, "a time")?;
        duration::parse_signed(&text).ok_or_else(|| {
            context
                .source
                .wrong(node.place, format!("invalid duration `{text}`"))
                .hint(self.0)
        })
    }
}

/// `true` or `false`.
pub(crate) const TRUTH: Plain<bool> = plain(
    "`true` or `false`",
    || json!({ "type": "boolean" }),
    |context, node| context.source.truth(node),
);

/// An errno by its name.
pub(crate) const ERRNO: Plain<Errno> = plain(
    "an errno such as `EIO`",
    || json!({ "enum": Errno::NAMED.iter().map(|(_, name)| *name).collect::<Vec<_>>() }),
    |context, node| context.source.errno(node),
);

/// A link layer.
pub(crate) const LAYER: Words<LinkLayer> = Words(
    "layer",
    &[
        ("infiniband", LinkLayer::InfiniBand),
        ("ethernet", LinkLayer::Ethernet),
    ],
);

/// An end of a link.
pub(crate) const SIDE: Words<Side> = Words(
    "end of a link",
    &[("here", Side::Here), ("there", Side::There)],
);

/// A rail of an MPIB host.
pub(crate) const RAIL: Choices<Rail> = Choices(
    "rail",
    &[
        ("sout", Rail::Sout, "scaleout, between islands"),
        ("sup", Rail::Sup, "scaleup, inside an island"),
    ],
);

/// Power `lost` or `back`.
pub(crate) const POWER: Words<bool> = Words("word", &[("lost", false), ("back", true)]);

pub(crate) const DEVICE_NAME: Plain<DeviceName> = plain("a name", text_form, |context, node| {
    context.source.text(node, "a device name").map(DeviceName)
});

/// A PCI address.
pub(crate) const PCI: Plain<PciAddress> = plain("an address", string_form, |context, node| {
    let text = context
        .source
        .text(node, "an address such as `0000:0c:00.0`")?;
    text.parse().map_err(|_| {
        context
            .source
            .wrong(node.place, format!("`{text}` is no PCI address"))
            .hint("write domain, bus, device and function, as in `0000:0c:00.1`")
    })
});

pub(crate) const NODE_NAME: Text = Text("a node's name");

/// Nodes' names, with their places.
pub(crate) const NODES: Plain<NodeNames> = plain(
    "a name or a list of names",
    || {
        any_of([
            text_form(),
            json!({ "type": "array", "items": text_form() }),
        ])
    },
    |context, node| context.nodes(node),
);

/// A rate: lanes and speed.
pub(crate) const RATE: Plain<Rate> = plain("lanes and speed", string_form, |context, node| {
    let text = context.source.text(node, "a rate such as `4X EDR`")?;
    Rate::by_words(&text).ok_or_else(|| {
        context
            .source
            .wrong(node.place, format!("invalid rate `{text}`"))
            .hint("write lanes and speed, as in `4X NDR` or `2X HDR`")
    })
});

/// A logical state.
pub(crate) const STATE: Plain<PortState> =
    plain("a word or a number", code_form, |context, node| {
        let such = "`DOWN`, `INIT`, `ARMED`, `ACTIVE`, or a number";
        code(
            context,
            node,
            ("state", such),
            PortState::by_word,
            PortState,
        )
    });

/// A physical state.
pub(crate) const PHYS_STATE: Plain<PhysState> =
    plain("a word or a number", code_form, |context, node| {
        let such = "`Polling`, `Disabled`, `LinkUp`, `LinkErrorRecovery`, or a number";
        code(
            context,
            node,
            ("physical state", such),
            PhysState::by_word,
            PhysState,
        )
    });

fn code_form() -> Json {
    any_of([
        string_form(),
        json!({ "type": "integer", "minimum": 0, "maximum": 255 }),
    ])
}

/// A state by its word, or by any number that the kernel could show.
fn code<T>(
    context: &Context<'_>,
    node: &Node,
    (what, such): (&str, &str),
    by_word: impl Fn(&str) -> Option<T>,
    by_number: impl Fn(u8) -> T,
) -> Parsed<T> {
    let source = &context.source;
    if let YamlValue::Whole(_) = node.value {
        let number = source.number(node, 0, 255)?;
        let number = u8::try_from(number).expect("a number up to 255 fits 8 bits");
        return Ok(by_number(number));
    }
    let word = source.text(node, what)?;
    by_word(&word).ok_or_else(|| {
        source
            .wrong(node.place, format!("unknown {what} `{word}`"))
            .hint(format!("such as {such}"))
    })
}

/// A LinkDownReason for which the predicate holds; what other reasons are called in errors.
pub(crate) struct Reason(
    pub(crate) fn(LinkDownReason) -> bool,
    pub(crate) &'static str,
);

/// Any LinkDownReason.
pub(crate) const REASON: Reason = Reason(|_| true, "not a reason");

impl Kind for Reason {
    type Value = LinkDownReason;

    fn takes(&self) -> Option<String> {
        Some("a reason such as `fm_bounce`, or its number".to_owned())
    }

    fn schema(&self) -> Json {
        let fitting = || LinkDownReason::all().filter(|reason| self.0(*reason));
        let words = fitting().map(|reason| json!(reason_word(reason)));
        let codes = fitting().map(|reason| json!(reason.code()));
        json!({ "enum": words.chain(codes).collect::<Vec<_>>() })
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<LinkDownReason> {
        let Self(fits, otherwise) = self;
        let found = reason(&context.source, node)?;
        if fits(found) {
            return Ok(found);
        }
        let fitting = LinkDownReason::all().filter(|reason| fits(*reason));
        let words: Vec<String> = fitting
            .map(|reason| format!("`{}`", reason_word(reason)))
            .collect();
        Err(context
            .source
            .wrong(
                node.place,
                format!("`{}` is {otherwise}", reason_word(found)),
            )
            .hint(format!("allowed: {}", words.join(", "))))
    }
}

/// A LinkDownReason by the end of its symbol in lower case, or by its number.
fn reason(source: &Source<'_>, node: &Node) -> Parsed<LinkDownReason> {
    if let YamlValue::Whole(_) = node.value {
        let number = source.number(node, 0, 63)?;
        let code = u8::try_from(number).expect("a number up to 63 fits 8 bits");
        return LinkDownReason::by_code(code).ok_or_else(|| {
            source
                .wrong(node.place, format!("the LinkDownReason {code} is reserved"))
                .hint("34, 37, 38, 42 to 48, 53, 55, 59 and 62 are")
        });
    }
    let name = source.text(node, "a LinkDownReason such as `fm_bounce`")?;
    LinkDownReason::all()
        .find(|reason| reason_word(*reason) == name)
        .ok_or_else(|| {
            let words: Vec<String> = LinkDownReason::all().map(reason_word).collect();
            let words = words.iter().map(String::as_str);
            source.unknown(node.place, "LinkDownReason", &name, words)
        })
}

fn reason_word(reason: LinkDownReason) -> String {
    reason.symbol().to_ascii_lowercase()
}

/// Ports, devices or cards; their name.
pub(crate) struct Of(pub(crate) &'static str);

/// The ports of a verb.
pub(crate) const PORTS: Of = Of("ports");

/// Devices; a port stands for its device.
pub(crate) const DEVICES: Of = Of("devices");

impl Kind for Of {
    type Value = Subjects;

    fn takes(&self) -> Option<String> {
        Some(self.0.to_owned())
    }

    fn schema(&self) -> Json {
        json!({ "$ref": "#/$defs/subjects" })
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<Subjects> {
        context.subjects(node)
    }
}

/// A file or folder; its name.
pub(crate) struct FileOf(pub(crate) &'static str);

impl Kind for FileOf {
    type Value = FileSpec;

    fn takes(&self) -> Option<String> {
        Some(self.0.to_owned())
    }

    fn schema(&self) -> Json {
        string_form()
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<FileSpec> {
        context.file(node)
    }
}

/// New device names by handle.
pub(crate) type NamesSpec = BTreeMap<String, (Place, Named, DeviceName)>;

/// A map of handles and names.
pub(crate) const NAMES: Plain<NamesSpec> = plain(
    "a map of handles and names",
    || json!({ "type": "object", "additionalProperties": text_form() }),
    |context, node| {
        let source = &context.source;
        let fields = source.open_map(node, "handles and their new names")?;
        let mut names = NamesSpec::new();
        for (key, node) in fields.pairs {
            let key_node = Node {
                place: key.place,
                value: YamlValue::Text(key.name.clone()),
            };
            let named = context.subjects(&key_node)?.items.remove(0);
            let name = source.text(node, "a device name")?;
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
            if !name.chars().all(is_plain) {
                return Err(source
                    .wrong(node.place, format!("`{name}` is no device name"))
                    .hint(
                        "write the name itself, such as `mlx5_5`; `{…}` stands in messages only",
                    ));
            }
            let name = DeviceName(name);
            names.insert(key.name.clone(), (key.place, named, name));
        }
        Ok(names)
    },
);

/// The most polls and ticks of a story, and of a window. Chosen: 27 hours of ticks of a second, which is far more
/// than any fault needs, and a minute or two of memory-arm time.
pub(crate) const POLLS_MAX: u32 = 100_000;

/// The most ticks of a story times the nodes of its world. Chosen: ten nodes for the longest story, or the largest
/// world for four minutes of ticks of a second.
pub(crate) const NODE_TICKS_MAX: u64 = 1_000_000;

/// A number of polls, `3 polls`.
pub(crate) const POLLS: Plain<u32> = plain("`N polls`", string_form, |context, node| {
    let text = context.source.text(node, "`N polls`")?;
    counted(&text, &["poll", "polls"]).ok_or_else(|| {
        context
            .source
            .wrong(node.place, format!("invalid number of polls `{text}`"))
            .hint(format!("write `1 poll` or `3 polls`, at most {POLLS_MAX}"))
    })
});

/// The number in a text such as `3 polls`, if its unit is one of these.
pub(crate) fn counted(text: &str, units: &[&str]) -> Option<u32> {
    let (number, unit) = text.trim().split_once(' ')?;
    let number: u32 = number.parse().ok()?;
    (units.contains(&unit.trim()) && number <= POLLS_MAX).then_some(number)
}

/// A time in LNet's unit.
pub(crate) fn whole_seconds(source: &Source<'_>, node: &Node, time: SimTime) -> Parsed<u64> {
    let ns = time.as_ns();
    if ns.is_multiple_of(1_000_000_000) {
        Ok(ns / 1_000_000_000)
    } else {
        Err(source.wrong(node.place, "LNet counts in whole seconds"))
    }
}

/// A duration above zero.
pub(crate) fn positive(source: &Source<'_>, node: &Node) -> Parsed<SimTime> {
    match source.time(node)? {
        SimTime::ZERO => Err(source.wrong(node.place, "the duration must be above zero")),
        time => Ok(time),
    }
}
