//! The verbs of `do:` and `given:`: one row each, in the tables below this file.
//!
//! A row holds a verb's name, what it is done to, its keys, what it means, an example, and what it
//! becomes; the parser, the schema and the reference pages are made of the rows. What a verb does to a
//! world is [`fabric::Action`]'s to say. Start at [`verbs`] and [`parse`].

mod device;
mod file;
mod host;
mod link;
mod load;
mod monitor;
mod port;
pub(crate) mod spec;

use platforms::yaml::Node;

use crate::context::Context;
use crate::keys::{Keys, maybe};
use crate::kind::Parsed;
use crate::row::{Line, Planned, Row, find};
use crate::values::{LAYER, NODES};
pub(crate) use file::WRITES;
use spec::{VerbLine, VerbSpec};

/// Known to the language, and not built yet.
const PLANNED: &[&dyn Row<VerbSpec>] = &[&Planned {
    name: "rules",
    text: "Correlation rules are changed while they listen.",
}];

/// Every verb, in the order in which the language is told.
pub(crate) fn verbs() -> Vec<&'static dyn Row<VerbSpec>> {
    [
        port::PORTS,
        link::LINKS,
        load::LOADS,
        device::DEVICES,
        port::COUNTERS,
        file::FILES,
        monitor::MONITOR,
        host::HOST,
        PLANNED,
    ]
    .concat()
}

/// What every verb takes: the nodes, and the only layer.
pub(crate) fn qualifiers() -> impl Keys<
    Value = (
        Option<crate::subject::NodeNames>,
        Option<platforms::LinkLayer>,
    ),
> {
    (
        maybe("node", NODES, "On these nodes."),
        maybe(
            "only",
            LAYER,
            "To ports of this layer only; others are left alone.",
        ),
    )
}

/// Parses one line.
pub(crate) fn parse(context: &Context<'_>, node: &Node) -> Parsed<VerbLine> {
    let source = &context.source;
    let fields = source.open_map(node, "a deed")?;
    let (verb, value) = find(source, &fields, "verb", &verbs())?;
    let fields = fields.of(verb.entry().name);
    fields.known(source, verb.line_form().and(&qualifiers()).names())?;
    let (nodes, only) = qualifiers().parse(context, &fields)?;
    let line = Line {
        context,
        value,
        fields,
    };
    Ok(VerbLine {
        place: node.place,
        text: node.to_string(),
        nodes: nodes.unwrap_or_default(),
        only,
        spec: verb.parse(&line)?,
    })
}
