//! The verbs of `do:` and `given:`, one row each, in the tables of the submodules.
//!
//! A row holds a verb's name, its subjects, its keys, its meaning, an example, and what it parses to.
//! Parser, schema and reference pages use the rows. What a verb does to a world is implemented in
//! `fabric`, as a [`fabric::Action`]. Start at [`verbs`] and [`parse`].

mod device;
mod fault_rule;
mod file;
mod host;
mod link;
mod load;
mod monitor;
mod port;
pub(crate) mod spec;

use crate::context::Context;
use crate::keys::{Keys, MapForm, maybe};
use crate::kind::Parsed;
use crate::row::{Line, Planned, Row, find};
use crate::values::{LAYER, NODES};
pub(crate) use file::WRITES;
use files::{Mistakes, Node};
use spec::{VerbLine, VerbSpec};

/// Reserved words that are not implemented.
const PLANNED: &[&dyn Row<VerbSpec>] = &[&Planned {
    name: "rules",
    text: "Changes the correlation rules while they run.",
}];

/// Every verb, in the order in which the reference lists them.
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

/// The keys that every verb accepts: `node` and `only`.
pub(crate) fn qualifiers() -> impl Keys<
    Value = (
        Option<crate::subject::NodeNames>,
        Option<platforms::LinkLayer>,
    ),
> {
    (
        maybe("node", NODES, "The nodes."),
        maybe(
            "only",
            LAYER,
            "Restricts the verb to ports of this link layer.",
        ),
    )
}

/// Parses one line.
pub(crate) fn parse(context: &Context<'_>, node: &Node) -> Parsed<VerbLine> {
    let source = &context.source;
    let fields = source.open_map(node, "an action")?;
    let (verb, value) = find(source, &fields, "verb", &verbs())?;
    let fields = fields.of(verb.entry().name);
    let form = verb.line(MapForm::bare()).and(&qualifiers());
    let line = Line {
        context,
        value,
        fields,
    };
    fields.only(source, form.names(), || {
        let beside = qualifiers().parse(context, &fields);
        let ((nodes, only), spec) = Mistakes::in_both(beside, verb.parse(&line))?;
        Ok(VerbLine {
            place: node.place,
            text: node.to_string(),
            nodes: nodes.unwrap_or_default(),
            only,
            spec,
        })
    })
}
