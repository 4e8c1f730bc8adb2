//! A story's handles, and what happens and is expected: `let:`, `given:` and `timeline:`.

use std::collections::BTreeSet;

use files::{Mistakes, Node, Place};
use serde_json::json;

use crate::context::Context;
use crate::handle::Handle;
use crate::keys::{Keys, maybe, need};
use crate::kind::{Checked, List, Parsed, Plain, plain};
use crate::reader::Source;
use crate::step::{GIVEN, GivenSpec, STEP, StepSpec};

/// The keys that name handles.
pub(crate) fn plot() -> impl Keys<Value = (Option<Vec<GivenSpec>>, Vec<StepSpec>)> {
    (
        maybe(
            "given",
            List("a list of actions", GIVEN),
            "Actions before the monitor starts.",
        ),
        need(
            "timeline",
            TIMELINE,
            "The steps: what happens, and what is expected.",
        ),
    )
}

/// The value of `let:`.
pub(crate) const HANDLES: Plain<Vec<Handle>> = plain(
    "a map of handles",
    || {
        json!({
            "type": "object",
            "additionalProperties": { "$ref": "#/$defs/handle" },
        })
    },
    handles,
);

fn handles(context: &Context<'_>, node: &Node) -> Parsed<Vec<Handle>> {
    let source = context.source;
    let fields = source.open_map(node, "handles")?;
    let mut declared = BTreeSet::new();
    Mistakes::in_all(fields.pairs.iter().map(|(key, node)| {
        let handle = refuse_taken_name(&source, &key.name, key.place)
            .and_then(|()| Handle::parse(&Context::new(source, &declared), &key.name, node));
        declared.insert(key.name.clone());
        handle
    }))
}

/// Rejects a handle's name that has another meaning or is malformed.
fn refuse_taken_name(source: &Source<'_>, name: &str, place: Place) -> Parsed<()> {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let taken = [
        "it",
        "state_file",
        "everywhere",
        "class",
        "bus",
        "sys",
        "proc",
        "var",
        "nicdrill",
    ];
    if taken.contains(&name) {
        return Err(source
            .wrong(place, format!("`{name}` has a meaning of its own"))
            .hint("choose another name"));
    }
    if !plain {
        return Err(source
            .wrong(place, format!("`{name}` cannot name a handle"))
            .hint("write lower-case letters, digits and `_`, a letter first"));
    }
    source.refuse_odd_name(place, name)
}

const TIMELINE: Checked<List<Plain<StepSpec>>, Vec<StepSpec>> =
    Checked(List("a list of steps", STEP), timeline);

fn timeline(context: &Context<'_>, node: &Node, steps: Vec<StepSpec>) -> Parsed<Vec<StepSpec>> {
    let source = &context.source;
    for pair in steps.windows(2) {
        let (before, step) = (pair[0].first(), pair[1].first());
        if step < before {
            return Err(source
                .wrong(
                    pair[1].place,
                    format!(
                        "{step} comes after {before}: steps must be in the order of their times"
                    ),
                )
                .hint("sort the steps by time"));
        }
    }
    if steps.is_empty() {
        return Err(source
            .wrong(node.place, "an empty timeline")
            .hint("a story has at least one step"));
    }
    if steps.iter().all(|step| step.expect.is_empty()) {
        return Err(source
            .wrong(node.place, "nothing is expected")
            .hint("a story expects at least one thing, such as `expect: [ baseline ]`"));
    }
    Ok(steps)
}
