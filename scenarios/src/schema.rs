//! The form of a scenario's file and of a world's as JSON Schema (draft 2020-12), for editors.
//!
//! It is made of the table of words that the parser reads by, so a key that the one knows the other
//! knows. It says which keys there are and, where that is plain, what they take; it leaves out what only
//! a parser can say: whether a handle exists, whether times go backwards. Start at [`scenario_schema`].

use platforms::SCHEMA_DIALECT;
use serde_json::{Map, Value, json};

use crate::words::{
    CABLE, DEED_QUALIFIERS, DEEDS, END_IS, EVENT_QUALIFIERS, EXPECTATION_QUALIFIERS, EXPECTATIONS,
    FILE, HANDLE, HEAL, IN_POLL, KeyWord, LNET, MPIB, PLATFORMS, REBOOT, STEP, WITH, WORLD,
    WORLD_NODE, WORLD_RAIL, Word, WordKind,
};

/// The form of a scenario's file.
#[must_use]
pub fn scenario_schema() -> Value {
    let mut schema = closed(FILE.iter().filter(|word| word.built).map(of_word));
    let handles = json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/handle" } });
    let workloads =
        json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/workload" } });
    for (key, form) in [
        (
            "platforms",
            one_of([json!({ "const": "all" }), texts(), of_keys(PLATFORMS)]),
        ),
        ("workloads", workloads),
        ("let", handles),
        ("given", list_of("deed")),
        ("timeline", list_of("step")),
        ("heal", one_of([json!({ "const": "never" }), of_keys(HEAL)])),
        ("covers", texts()),
        ("scenario_version", json!({ "const": 1 })),
    ] {
        refine(&mut schema, key, form);
    }
    refine(
        &mut schema["properties"]["platforms"]["anyOf"][2],
        "with",
        of_keys(WITH),
    );
    let mut step = closed(STEP.iter().map(of_word));
    refine(&mut step, "in_poll", of_keys(IN_POLL));
    refine(&mut step, "do", list_of("deed"));
    refine(&mut step, "expect", list_of("expectation"));
    let workload = closed([("lnet", of_keys(LNET)), ("mpib", of_keys(MPIB))].into_iter());
    headed(
        schema,
        "A scenario of nicdrill",
        needed(FILE.iter().map(|word| (word.word, word.text))),
        json!({
            "deed": deeds(),
            "expectation": expectations(),
            "handle": closed(HANDLE.iter().map(of_word)),
            "step": step,
            "workload": workload,
        }),
    )
}

/// The form of a world's file.
#[must_use]
pub fn world_schema() -> Value {
    let mut schema = of_keys(WORLD);
    refine(&mut schema, "nodes", list_of("node"));
    refine(&mut schema, "cables", list_of("cable"));
    let mut node = with_needs(WORLD_NODE);
    let rails = json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/rail" } });
    refine(&mut node, "rails", rails);
    headed(
        schema,
        "A world of nicdrill",
        needed(WORLD.iter().map(|key| (key.word, key.text))),
        json!({ "node": node, "rail": with_needs(WORLD_RAIL), "cable": with_needs(CABLE) }),
    )
}

fn headed(mut schema: Value, title: &str, required: Vec<Value>, defs: Value) -> Value {
    schema["$schema"] = json!(SCHEMA_DIALECT);
    schema["title"] = json!(title);
    schema["required"] = Value::Array(required);
    schema["$defs"] = defs;
    schema
}

/// A line of `do:` or `given:`: one verb, and what may stand beside it.
fn deeds() -> Value {
    let of = |word: &Word| {
        let mut form = beside(word, word.keys, DEED_QUALIFIERS);
        if word.word == "reboot" {
            refine(&mut form, "reboot", of_keys(REBOOT));
        }
        form
    };
    let built = DEEDS.iter().filter(|word| word.built);
    json!({ "anyOf": built.map(of).collect::<Vec<_>>() })
}

/// A line of `expect:`: a word alone, or a map.
fn expectations() -> Value {
    let built = || EXPECTATIONS.iter().filter(|word| word.built);
    let alone = built().filter(|word| word.takes.is_empty() || word.word == "nothing");
    let alone: Vec<&str> = alone.map(|word| word.word).collect();
    let mut forms = vec![json!({ "enum": alone })];
    for word in built().filter(|word| word.word != "each") {
        forms.push(expectation(word));
    }
    let each = EXPECTATIONS.iter().find(|word| word.word == "each");
    let each = each.expect("the word stands in the table");
    // Beside `each` stands `say`, or another line.
    let keys = || each.keys.iter().filter(|key| key.word != "say");
    let own: Vec<&str> = each.keys.iter().map(|key| key.word).collect();
    let lines = built().filter(|word| word.word != "each" && !own.contains(&word.word));
    let mut all: Vec<(&str, Value)> = lines.clone().map(of_word).collect();
    all.extend(lines.flat_map(|word| word.keys).map(of_key));
    all.extend(keys().map(of_key));
    all.push(("say", some("expectation")));
    all.extend(
        EXPECTATION_QUALIFIERS
            .iter()
            .chain(EVENT_QUALIFIERS)
            .map(of_key),
    );
    all.push(of_word(each));
    let mut form = closed(all.into_iter());
    form["required"] = json!([each.word]);
    forms.push(form);
    json!({ "anyOf": forms })
}

fn expectation(word: &Word) -> Value {
    let is_event = ["fatal", "nonfatal", "healthy", "cleared"].contains(&word.word);
    let qualifiers: Vec<KeyWord> = if is_event {
        [EXPECTATION_QUALIFIERS, EVENT_QUALIFIERS].concat()
    } else {
        EXPECTATION_QUALIFIERS.to_vec()
    };
    let mut form = beside(word, word.keys, &qualifiers);
    match word.word {
        "said" | "accepted" => {
            refine(
                &mut form,
                word.word,
                json!({ "$ref": "#/$defs/expectation" }),
            );
        }
        "say" | "this_poll" | "next_poll" | "in_order" => {
            refine(&mut form, word.word, some("expectation"));
        }
        "link" => {
            for end in ["here", "there"] {
                let list = json!({ "type": "array" });
                let words = json!({ "type": "string" });
                refine(&mut form, end, one_of([words, list, of_keys(END_IS)]));
            }
        }
        _ => {}
    }
    form
}

/// A map with this word, and of these keys and qualifiers any.
fn beside(word: &Word, keys: &[KeyWord], qualifiers: &[KeyWord]) -> Value {
    // Of an expectation's number a bound may be said instead.
    let of = if word.kind == WordKind::Deed {
        typed_key
    } else {
        of_key
    };
    let rest = keys.iter().chain(qualifiers).map(of);
    let mut form = closed(std::iter::once(of_word(word)).chain(rest));
    form["required"] = json!([word.word]);
    form
}

fn of_keys(keys: &[KeyWord]) -> Value {
    closed(keys.iter().map(of_key))
}

fn with_needs(keys: &[KeyWord]) -> Value {
    let mut form = of_keys(keys);
    form["required"] = Value::Array(needed(keys.iter().map(|key| (key.word, key.text))));
    form
}

/// The keys whose text says that they are needed.
fn needed<'w>(keys: impl Iterator<Item = (&'w str, &'w str)>) -> Vec<Value> {
    let needed = keys.filter(|(_, text)| text.contains("Needed."));
    needed.map(|(word, _)| json!(word)).collect()
}

fn of_word(word: &Word) -> (&'static str, Value) {
    let plain = ["a word", "a list of words"].contains(&word.takes);
    let mut form = described(word.takes, word.text);
    if plain && !word.choices.is_empty() {
        let choices =
            json!({ "enum": word.choices.iter().map(|(choice, _)| choice).collect::<Vec<_>>() });
        if word.takes == "a word" {
            form["enum"] = choices["enum"].clone();
        } else {
            form["type"] = json!("array");
            form["items"] = choices;
        }
    }
    (word.word, form)
}

fn of_key(key: &KeyWord) -> (&'static str, Value) {
    (key.word, described(key.takes, key.text))
}

/// A key with its type, where what it takes is said so plainly that it holds wherever it stands.
fn typed_key(key: &KeyWord) -> (&'static str, Value) {
    let (word, mut form) = of_key(key);
    match key.takes {
        "a time" => form["type"] = json!("string"),
        "`true` or `false`" => form["type"] = json!("boolean"),
        "`true`" => form["const"] = json!(true),
        "a number" => form["type"] = json!("integer"),
        _ => {}
    }
    (word, form)
}

fn described(takes: &str, text: &str) -> Value {
    let described = match takes {
        "" => text.to_owned(),
        takes => format!("{text} Takes {takes}."),
    };
    json!({ "description": described })
}

/// A map of these keys and no others.
fn closed<'w>(keys: impl Iterator<Item = (&'w str, Value)>) -> Value {
    let keys: Map<String, Value> = keys.map(|(key, form)| (key.to_owned(), form)).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": keys })
}

/// Says more of what a key takes.
fn refine(schema: &mut Value, key: &str, form: Value) {
    let said = schema["properties"][key]
        .as_object_mut()
        .expect("the key stands in the table of words");
    if let Value::Object(form) = form {
        said.extend(form);
    }
}

fn one_of(forms: impl IntoIterator<Item = Value>) -> Value {
    json!({ "anyOf": forms.into_iter().collect::<Vec<_>>() })
}

fn texts() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn list_of(def: &str) -> Value {
    json!({ "type": "array", "items": { "$ref": format!("#/$defs/{def}") } })
}

/// One, or a list.
fn some(def: &str) -> Value {
    one_of([json!({ "$ref": format!("#/$defs/{def}") }), list_of(def)])
}
