//! The schemas that `nicdrill schema` prints accept the shipped files, and reject a key that the
//! parsers reject.

use observe::promises::Kind;
use rstest::rstest;
use serde_json::{Value, json};

use crate::scratch::Scratch;

pub(crate) fn form(of: &str) -> Value {
    let ran = Scratch::new().run(&["schema", of]);
    assert_eq!(ran.code, 0, "{ran}");
    let form: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        form["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    form
}

/// The violations of a schema by a document. Only the keywords that the schemas use are supported; any
/// other keyword is an error.
fn faults(root: &Value, form: &Value, document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for (keyword, reported) in form.as_object().expect("a form is a map") {
        let fault = |what: String| vec![format!("{keyword}: {what:.200}")];
        faults.extend(match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "format" | "examples" | "default" => {
                Vec::new()
            }
            "$ref" => {
                let path = reported
                    .as_str()
                    .and_then(|it| it.strip_prefix('#'))
                    .expect("a place");
                faults_of_all([root.pointer(path).expect("it is there")], root, document)
            }
            "type" => {
                let kinds = reported
                    .as_array()
                    .cloned()
                    .unwrap_or(vec![reported.clone()]);
                let is = |kind: &Value| match kind.as_str().expect("a word") {
                    "object" => document.is_object(),
                    "array" => document.is_array(),
                    "string" => document.is_string(),
                    "number" => document.is_number(),
                    "integer" => document.is_i64() || document.is_u64(),
                    "boolean" => document.is_boolean(),
                    "null" => document.is_null(),
                    other => panic!("no type `{other}`"),
                };
                if kinds.iter().any(is) {
                    Vec::new()
                } else {
                    fault(format!("{document} is no {reported}"))
                }
            }
            "enum" => match reported.as_array().expect("a list").contains(document) {
                true => Vec::new(),
                false => fault(format!("{document} is none of {reported}")),
            },
            "const" if reported == document => Vec::new(),
            "const" => fault(format!("{document} is not {reported}")),
            "minimum" => match document.as_f64() < reported.as_f64() && document.is_number() {
                true => fault(format!("{document} is below {reported}")),
                false => Vec::new(),
            },
            "maximum" => match document.as_f64() > reported.as_f64() && document.is_number() {
                true => fault(format!("{document} is above {reported}")),
                false => Vec::new(),
            },
            "minItems" | "maxItems" => {
                let count = document.as_array().map(|items| items.len() as u64);
                let bound = reported.as_u64().expect("a number");
                match count {
                    Some(count) if keyword == "minItems" && count < bound => {
                        fault(format!("{count} items, at least {bound}"))
                    }
                    Some(count) if keyword == "maxItems" && count > bound => {
                        fault(format!("{count} items, at most {bound}"))
                    }
                    _ => Vec::new(),
                }
            }
            "anyOf" | "oneOf" => {
                let forms = reported.as_array().expect("a list").iter();
                let fitting = forms.filter(|form| self::faults(root, form, document).is_empty());
                match (fitting.count(), keyword.as_str()) {
                    (0, _) => fault(format!("{document} fits no form")),
                    (1, _) | (_, "anyOf") => Vec::new(),
                    (count, _) => fault(format!("{document} fits {count} forms")),
                }
            }
            "items" => {
                let items = document.as_array().into_iter().flatten();
                items
                    .flat_map(|item| self::faults(root, reported, item))
                    .collect()
            }
            "required" => {
                let keys = reported
                    .as_array()
                    .expect("a list")
                    .iter()
                    .filter_map(Value::as_str);
                let lacking =
                    keys.filter(|key| document.is_object() && document.get(key).is_none());
                lacking
                    .flat_map(|key| fault(format!("`{key}` is missing")))
                    .collect()
            }
            "properties" => {
                let forms = reported.as_object().expect("a map").iter();
                let there = forms.filter_map(|(key, form)| Some((form, document.get(key)?)));
                there
                    .flat_map(|(form, value)| self::faults(root, form, value))
                    .collect()
            }
            "additionalProperties" => {
                let others = document.as_object().into_iter().flatten();
                let others = others.filter(|(key, _)| {
                    form["properties"].get(key).is_none() && !is_patterned(form, key)
                });
                others
                    .flat_map(|(key, value)| match reported {
                        Value::Bool(false) => fault(format!("`{key}` is unknown")),
                        form => self::faults(root, form, value),
                    })
                    .collect()
            }
            "patternProperties" => {
                let entries = document.as_object().into_iter().flatten();
                let entries = entries.filter(|(key, _)| is_patterned(form, key));
                let forms = reported.as_object().expect("a map");
                assert_eq!(forms.len(), 1, "one pattern: {reported}");
                let value_form = forms.values().next().expect("the one pattern");
                entries
                    .flat_map(|(_, value)| self::faults(root, value_form, value))
                    .collect()
            }
            "propertyNames" => {
                let names = document.as_object().into_iter().flatten();
                names
                    .flat_map(|(key, _)| self::faults(root, reported, &json!(key)))
                    .collect()
            }
            "uniqueItems" => {
                let items = document.as_array().map_or(&[][..], Vec::as_slice);
                let twice = (1..items.len()).filter(|at| items[..*at].contains(&items[*at]));
                twice
                    .flat_map(|at| fault(format!("`{}` is there twice", items[at])))
                    .collect()
            }
            other => panic!("the keyword `{other}` is unknown here"),
        });
    }
    faults
}

/// The only pattern in the schemas for names of keys.
const WHOLE_NUMBER: &str = r"^-?\d+$";

fn is_patterned(form: &Value, key: &str) -> bool {
    let mut patterns = form["patternProperties"].as_object().into_iter().flatten();
    // The keys of other maps with a pattern are kinds of promises.
    patterns.any(|(pattern, _)| match pattern.as_str() {
        WHOLE_NUMBER => key.parse::<i64>().is_ok(),
        _ => Kind::parse(key).is_some(),
    })
}

fn faults_of_all<'f>(
    forms: impl IntoIterator<Item = &'f Value>,
    root: &Value,
    document: &Value,
) -> Vec<String> {
    forms
        .into_iter()
        .flat_map(|form| faults(root, form, document))
        .collect()
}

fn is_valid(form: &Value, document: &Value) -> bool {
    faults(form, form, document).is_empty()
}

fn check(form: &Value, file: &str, document: &Value) {
    let faults = faults(form, form, document);
    assert!(faults.is_empty(), "{file}: {faults:#?}");
}

/// A YAML text as an editor sees it: keys are texts.
fn document(text: &str) -> Value {
    files::yaml::read("file", text).expect("a shipped file is YAML")
}

/// The `known.toml` of the page about it; no file ships.
fn known() -> Value {
    let page = include_str!("../../../docs/output.md");
    let (_, text) = page.split_once("```toml\n[[known]]").expect("it has one");
    let (text, _) = text.split_once("```").expect("a block is closed");
    let file: toml::Value = toml::from_str(&format!("[[known]]{text}")).expect("TOML");
    of_toml(&file)
}

/// TOML as an editor sees it: a date is a text.
fn of_toml(value: &toml::Value) -> Value {
    match value {
        toml::Value::Datetime(date) => json!(date.to_string()),
        toml::Value::Array(items) => items.iter().map(of_toml).collect(),
        toml::Value::Table(map) => {
            let entries = map.iter();
            let entries = entries.map(|(key, value)| (key.clone(), of_toml(value)));
            Value::Object(entries.collect())
        }
        plain => json!(plain),
    }
}

fn shipped(of: &str) -> Vec<(String, Value)> {
    let own = |(file, text): (&str, &str)| (file.to_owned(), document(text));
    match of {
        "scenario" => suite::scenarios().into_iter().map(own).collect(),
        "world" => suite::worlds().into_iter().map(own).collect(),
        "descriptor" => observe::shipped_descriptors().map(own).collect(),
        "known" => vec![("docs/output.md".to_owned(), known())],
        "needs" => vec![(
            "docs/needs.yaml".to_owned(),
            document(include_str!("../../../docs/needs.yaml")),
        )],
        "mix" => vec![(
            "docs/mix.yaml".to_owned(),
            document(include_str!("../../../docs/mix.yaml")),
        )],
        folder => platforms::Platforms::shipped_texts()
            .filter(|(file, _)| file.starts_with(&format!("{folder}s/")))
            .map(|(file, text)| (file, document(text)))
            .collect(),
    }
}

#[rstest]
#[case("profile", 15)]
#[case("driver", 5)]
#[case("descriptor", 2)]
#[case("scenario", 200)]
#[case("world", 1)]
#[case("known", 1)]
#[case("needs", 1)]
#[case("mix", 1)]
fn what_ships_has_its_form(#[case] of: &str, #[case] least: usize) {
    let form = form(of);
    let files = shipped(of);
    assert!(files.len() >= least, "{} files", files.len());
    for (file, document) in &files {
        check(&form, file, document);
    }
}

/// Each key of each map of a shipped file, misspelt, wherever the schema lists its keys.
#[rstest]
#[case("profile", &["platform_version", "gpus/model", "devices/0/netdevs", "models/cx7/fw_ver", "provenance/0/of"])]
#[case("driver", &["kernel_driver", "counters/0/bits", "views/active/operstate", "keeps/reboot/name"])]
#[case("descriptor", &["command", "clock", "promises/rows", "promises/wire/first_poll"])]
#[case("scenario", &["timeline", "timeline/0/at", "why"])]
#[case("world", &["nodes", "nodes/0/name"])]
#[case("known", &["known", "known/0/reason", "known/0/expires"])]
#[case("needs", &["needs_version", "kinds", "kinds/down", "kinds/down/noticed", "never_alarms", "never_alarms/reboot"])]
#[case("mix", &["mix_version", "per_1000_nodes_and_month", "per_1000_nodes_and_month/slow"])]
fn a_misspelt_key_is_refused(#[case] of: &str, #[case] keys: &[&str]) {
    let form = form(of);
    for key in keys {
        let (above, name) = key.rsplit_once('/').unwrap_or(("", key));
        let pointer = if above.is_empty() {
            String::new()
        } else {
            format!("/{above}")
        };
        let mut tried = 0;
        for (file, mut document) in shipped(of) {
            let Some(Value::Object(map)) = document.pointer_mut(&pointer) else {
                continue;
            };
            let Some(value) = map.remove(name) else {
                continue;
            };
            map.insert(format!("{name}e"), value);
            tried += 1;
            assert!(!is_valid(&form, &document), "{file}: `{key}e` is taken");
        }
        assert!(tried > 0, "no file has `{key}`");
    }
}

#[rstest]
#[case::verb(json!({ "cutt": "victim" }))]
#[case::key_of_a_verb(json!({ "flap": "victim", "tims": 3 }))]
#[case::key_of_another_verb(json!({ "cut": "victim", "times": 3 }))]
#[case::planned(json!({ "rules": "lsd" }))]
#[case::time_without_a_unit(json!({ "train_slowly": "victim", "takes": 20 }))]
#[case::no_needed_key(json!({ "train_slowly": "victim" }))]
#[case::unknown_word(json!({ "stick": "victim", "in": "ini" }))]
#[case::number_out_of_range(json!({ "create_vfs": "victim", "count": 0 }))]
#[case::unknown_reason(json!({ "take_down": "victim", "why": "fm_bonce" }))]
#[case::reason_that_does_not_hold(json!({ "release": "victim", "why": "fm_bounce" }))]
#[case::two_ways(json!({ "counter": "victim", "name": "symbol_error", "add": 1, "fails": "EIO" }))]
#[case::no_way(json!({ "read": "victim/state", "for": "3s" }))]
fn an_action_that_the_parser_refuses_is_refused(#[case] action: Value) {
    let form = form("scenario");
    let with = |action: &Value| {
        json!({
            "scenario": "a test", "why": "a test",
            "timeline": [{ "at": "1s", "do": [action], "expect": ["baseline"] }],
        })
    };
    check(&form, "good", &with(&json!({ "cut": "victim" })));
    assert!(!is_valid(&form, &with(&action)), "{action}");
}

/// Every key in a schema, with its subschema.
fn keys(form: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let mut forms = vec![form];
    while let Some(form) = forms.pop() {
        match form {
            Value::Object(map) => {
                if let Some(Value::Object(keys)) = map.get("properties") {
                    found.extend(keys.iter().map(|(key, form)| (key.clone(), form.clone())));
                }
                forms.extend(map.values());
            }
            Value::Array(list) => forms.extend(list),
            _ => {}
        }
    }
    found
}

#[rstest]
#[case("profile", 60)]
#[case("driver", 60)]
#[case("descriptor", 25)]
#[case("known", 6)]
fn every_key_says_what_it_means(#[case] of: &str, #[case] least: usize) {
    let keys = keys(&form(of));
    assert!(keys.len() >= least, "{} keys", keys.len());
    for (key, form) in keys {
        let text = form["description"].as_str().unwrap_or_default();
        assert!(
            text.ends_with('.') && !text.contains("[`"),
            "`{key}`: `{text}`"
        );
    }
}

#[rstest]
#[case("profile", &["platform_version", "gpus/pci", "devices/0/topo", "devices/0/pci", "provenance"])]
#[case("driver", &["driver_version", "views/active", "views/init/carrier", "keeps/reboot/netdev", "timings_ms/sweep"])]
#[case("descriptor", &["descriptor_version", "name", "command"])]
#[case("known", &["known/0/id", "known/0/reason"])]
fn a_key_that_must_be_there_is_required(#[case] of: &str, #[case] keys: &[&str]) {
    let form = form(of);
    for key in keys {
        let (above, name) = key.rsplit_once('/').unwrap_or(("", key));
        let pointer = above.split('/').filter(|part| !part.is_empty());
        let pointer: String = pointer.map(|part| format!("/{part}")).collect();
        let left_out = shipped(of).into_iter().filter_map(|(_, mut document)| {
            let map = document.pointer_mut(&pointer)?.as_object_mut()?;
            map.remove(name)?;
            Some(document)
        });
        let left_out: Vec<Value> = left_out.collect();
        assert!(!left_out.is_empty(), "no file has `{key}`");
        for document in left_out {
            assert_eq!(
                is_valid(&form, &document),
                *key == "devices/0/topo",
                "{key}"
            );
        }
    }
}

#[test]
fn the_forms_say_what_keys_mean() {
    let scenario = form("scenario");
    let text = scenario["properties"]["timeline"]["description"].as_str();
    assert!(text.is_some_and(|text| text.starts_with("The steps: what happens")));
}

/// Every key of every map in a schema, at any depth.
fn keys_of(form: &Value, keys: &mut Vec<(String, Value)>) {
    if let Some(properties) = form["properties"].as_object() {
        keys.extend(
            properties
                .iter()
                .map(|(key, form)| (key.clone(), form.clone())),
        );
    }
    let below = match form {
        Value::Object(map) => map.values().collect::<Vec<_>>(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    for form in below {
        keys_of(form, keys);
    }
}

#[rstest]
#[case("scenario")]
#[case("world")]
fn every_key_of_a_form_has_a_description(#[case] of: &str) {
    let mut keys = Vec::new();
    keys_of(&form(of), &mut keys);
    assert!(!keys.is_empty());
    for (key, form) in keys {
        let text = form["description"].as_str();
        assert!(text.is_some_and(|text| text.len() > 4), "`{key}`: {form}");
    }
}

#[test]
fn a_key_without_which_nothing_is_read_is_required() {
    let scenario = form("scenario");
    assert_eq!(scenario["required"], json!(["scenario", "why", "timeline"]));
    let world = form("world");
    assert_eq!(world["required"], json!(["world", "why", "nodes"]));
}
