//! JSON Schema (draft 2020-12) of a scenario's file and of a world's file, for editors.
//!
//! It is generated from the kinds and keys that the parser uses. It does not cover what only the
//! parser can check, such as whether a handle exists or times go backwards. Start at
//! [`scenario_schema`].

use platforms::SCHEMA_DIALECT;
use serde_json::{Value, json};

use crate::expect::ExpectationSpec;
use crate::expectations::{EACH, expectations, of_each, qualifiers};
use crate::keys::{Keys, MapForm};
use crate::kind::{Kind, any_of, string_form};
use crate::row::Row;
use crate::subject::by_name;
use crate::{frame, handle, step, verbs, world};

/// The JSON Schema of a scenario's file.
#[must_use]
pub fn scenario_schema() -> Value {
    let subject = any_of([string_form(), by_name().schema()]);
    let defs = json!({
        "action": action(),
        "expectation": expectation(),
        "handle": handle::keys().form().schema(),
        "step": step::keys().form().schema(),
        "subjects": any_of([subject.clone(), json!({ "type": "array", "items": subject, "minItems": 1 })]),
    });
    let mut schema = headed(&frame::keys(MapForm::default()), "A scenario of nicdrill");
    schema["$defs"] = defs;
    schema
}

/// The JSON Schema of a world's file.
#[must_use]
pub fn world_schema() -> Value {
    headed(&world::keys().form(), "A world of nicdrill")
}

fn headed(keys: &MapForm, title: &str) -> Value {
    let mut schema = keys.schema();
    schema["$schema"] = json!(SCHEMA_DIALECT);
    schema["title"] = json!(title);
    schema
}

/// A line of `do:` or `given:`: one verb and the keys beside it.
fn action() -> Value {
    let built = verbs::verbs()
        .into_iter()
        .filter(|verb| verb.entry().example.is_some());
    any_of(built.map(|verb| {
        verb.line(MapForm::default())
            .and(&verbs::qualifiers())
            .schema()
    }))
}

/// A line of `expect:`: a word alone, or a map; with `each`, any line about each port.
fn expectation() -> Value {
    let rows = expectations();
    let alone = rows.iter().filter(|row| row.alone());
    let alone: Vec<&str> = alone.map(|row| row.entry().name).collect();
    let form = |row: &dyn Row<ExpectationSpec>| row.line(MapForm::default()).and(&qualifiers());
    let lines = rows.iter().map(|row| form(*row).schema());
    let is_each = |name: &str| name == EACH.entry().name;
    let others = rows.iter().filter(|row| !is_each(row.entry().name));
    let each = others.map(|row| of_each(form(*row)).schema());
    any_of(
        [json!({ "enum": alone })]
            .into_iter()
            .chain(lines)
            .chain(each),
    )
}
