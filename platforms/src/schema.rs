//! The forms of a platform's and of a driver's file as JSON Schema (draft 2020-12), for editors.
//!
//! They are found by asking the types that read the files: each is handed a file that answers nothing
//! and notes what it is asked for, key by key. So a key that the one knows the other knows. They leave
//! out which keys must be there and what only reading tells: whether names lead somewhere, whether a
//! machine can be so (`check.rs`). Start at [`profile_schema`].

mod asking;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::Driver;
use crate::profile::Profile;
use asking::{Asked, Step, ask};

/// What `$schema` names: JSON Schema, draft 2020-12.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The form of a platform's file.
#[must_use]
pub fn profile_schema() -> Value {
    titled::<Profile>("A platform of nicdrill")
}

/// The form of a driver's file.
#[must_use]
pub fn driver_schema() -> Value {
    titled::<Driver>("A driver file of nicdrill")
}

fn titled<T: DeserializeOwned>(title: &str) -> Value {
    let mut form = form::<T>(&mut Vec::new());
    form["$schema"] = json!(DIALECT);
    form["title"] = json!(title);
    form
}

/// The form of what stands at the end of the route through a file.
fn form<T: DeserializeOwned>(route: &mut Vec<Step>) -> Value {
    let asked = ask::<T>(route);
    let mut below = |step: Step| {
        route.push(step);
        let form = form::<T>(route);
        route.pop();
        form
    };
    match asked {
        Asked::Keys(keys) => {
            let forms = keys.iter().enumerate();
            let forms = forms.map(|(nth, key)| ((*key).to_owned(), below(Step::Key(nth))));
            let forms: Map<String, Value> = forms.collect();
            json!({ "type": "object", "additionalProperties": false, "properties": forms })
        }
        Asked::Map => {
            let (names, values) = (below(Step::Name), below(Step::Entry));
            // Names that are numbers are texts to an editor.
            match names.get("enum") {
                Some(_) => json!({
                    "type": "object", "additionalProperties": values, "propertyNames": names,
                }),
                None => json!({ "type": "object", "additionalProperties": values }),
            }
        }
        Asked::List => json!({ "type": "array", "items": below(Step::Item) }),
        Asked::Perhaps => {
            let form = below(Step::There);
            json!({ "anyOf": [form, { "type": "null" }] })
        }
        Asked::Words(words) => json!({ "enum": words }),
        // What reads as a number is a text where one is asked for.
        Asked::Text => json!({ "type": ["string", "number"] }),
        Asked::Count => json!({ "type": "integer", "minimum": 0 }),
        Asked::Number => json!({ "type": "integer" }),
        Asked::Truth => json!({ "type": "boolean" }),
        Asked::Anything => json!({}),
    }
}
