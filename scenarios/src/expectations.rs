//! The words of `expect:`, one row each, in the tables of the submodules.
//!
//! A row holds a word's name, its value's kind, its keys, its meaning, an example, and what it parses
//! to. Start at [`expectations`] and [`parse`].

mod cluster_facts;
mod counters;
mod event;
mod monitor_facts;
mod qualifier;
mod world_facts;

use files::{Key, Mistakes, Node, YamlValue};

use crate::context::Context;
use crate::expect::{ExpectLine, ExpectationSpec};
use crate::keys::{KeyRow, Keys, MapForm};
use crate::kind::Parsed;
use crate::reader::Fields;
use crate::row::{Line, Row, find};
pub(crate) use event::{EACH, EXPECTATION};
pub(crate) use qualifier::{of_event, qualifiers, tally};
pub(crate) use world_facts::INTERFACE;

/// Every word of `expect:`, in the order in which the reference lists them.
pub(crate) fn expectations() -> Vec<&'static dyn Row<ExpectationSpec>> {
    [
        event::EVENTS,
        event::AROUND,
        monitor_facts::MONITOR,
        world_facts::WORLD,
        counters::COUNTERS,
        cluster_facts::CLUSTER,
    ]
    .concat()
}

/// Parses one line: a map, or a word that needs no value.
pub(crate) fn parse(context: &Context<'_>, node: &Node) -> Parsed<ExpectLine> {
    let source = &context.source;
    let YamlValue::Text(word) = &node.value else {
        return parse_fields(context, node, source.open_map(node, "an expectation")?);
    };
    let rows = expectations();
    let known = rows.iter().find(|row| row.entry().name == word);
    if !known.is_some_and(|row| row.alone()) {
        return Err(match known {
            Some(_) => source
                .wrong(node.place, format!("`{word}` needs a value"))
                .hint(format!("write `{{ {word}: … }}`")),
            None => {
                let alone = rows.iter().filter(|row| row.alone());
                let names = alone.map(|row| row.entry().name);
                source.unknown(node.place, "expectation", word, names)
            }
        });
    }
    let key = Key {
        place: node.place,
        name: word.clone(),
    };
    let value = Node {
        place: node.place,
        value: YamlValue::Null,
    };
    let pairs = [(key, value)];
    parse_fields(
        context,
        node,
        Fields::new("an expectation", node.place, &pairs),
    )
}

fn parse_fields(context: &Context<'_>, node: &Node, fields: Fields<'_>) -> Parsed<ExpectLine> {
    let source = &context.source;
    let (row, value) = match (fields.get("each"), fields.get("say")) {
        (Some(of), None) => return each(context, node, &fields, of),
        // With `each`, the key `say` holds the events of the edges.
        (Some(of), Some(_)) => (EACH, of),
        (None, _) => find(source, &fields, "expectation", &expectations())?,
    };
    let known = row.line(MapForm::bare()).and(&qualifiers());
    let line = Line {
        context,
        value,
        fields,
    };
    let names = known.names().chain([EACH.entry().name]);
    fields.only(source, names, || {
        let beside = qualifiers().parse(context, &fields);
        let (beside, what) = Mistakes::in_both(beside, row.parse(&line))?;
        Ok(ExpectLine {
            place: node.place,
            text: node.to_string(),
            nodes: beside.nodes,
            only: beside.only,
            window: beside.window,
            what,
        })
    })
}

/// `{ each: storm, fatal: it, … }`: the rest of the map is a line about `it`.
fn each(context: &Context<'_>, node: &Node, fields: &Fields<'_>, of: &Node) -> Parsed<ExpectLine> {
    let source = &context.source;
    if context.in_each {
        return Err(source.wrong(fields.place_of("each"), "an `each` within an `each`"));
    }
    let own: Vec<&str> = tally().bare().names().chain(["each"]).collect();
    let rest: Vec<(Key, Node)> = fields
        .pairs
        .iter()
        .filter(|(key, _)| !own.contains(&key.name.as_str()))
        .cloned()
        .collect();
    if rest.is_empty() {
        return Err(source
            .wrong(fields.place, "`each` expects nothing of each")
            .hint("write `{ each: storm, fatal: it }`, or `say: [ … ]` beside it"));
    }
    let inner = Fields::new("an expectation", fields.place, &rest);
    let line = parse_fields(&context.with_it(), node, inner)?;
    Ok(ExpectLine {
        place: node.place,
        text: node.to_string(),
        nodes: line.nodes.clone(),
        only: line.only,
        window: line.window,
        what: ExpectationSpec::Each {
            of: context.subjects(of)?,
            tally: tally().parse(context, fields)?,
            line: Box::new(line),
        },
    })
}

/// The keys of a line with `each`.
pub(crate) fn of_each(line: MapForm) -> MapForm {
    let each = EACH.line(MapForm::default()).rows.swap_remove(0);
    let own: Vec<&str> = line.names().collect();
    let tally = tally().form().rows.into_iter();
    let rows: Vec<KeyRow> = tally.filter(|row| !own.contains(&row.name)).collect();
    let mut form = line.after(each);
    form.rows.extend(rows);
    form
}
