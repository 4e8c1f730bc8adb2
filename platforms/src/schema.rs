//! JSON Schema (draft 2020-12) of a platform's and of a driver's file, for editors.
//!
//! `schemars` derives it from the types that parse the files; the descriptions are their doc
//! comments. It does not cover what only the check finds, such as unknown names or impossible
//! machines (`check.rs`). Start at [`profile_schema`].

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::identifiers::{Guid, HardwareAddress};
use crate::profile::{Profile, TopoRow};
use crate::{Driver, PciAddress, PhysState, PortState, Rate, TopoLevel};

/// The value of `$schema`: JSON Schema, draft 2020-12.
pub const DIALECT: &str = schemars::consts::meta_schemas::DRAFT2020_12;

/// The JSON Schema of a platform's file.
#[must_use]
pub fn profile_schema() -> Value {
    schema_of::<Profile>()
}

/// The JSON Schema of a driver's file.
#[must_use]
pub fn driver_schema() -> Value {
    schema_of::<Driver>()
}

/// The JSON Schema of a YAML file that parses to a `T`.
#[must_use]
pub fn schema_of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(take_numbers_for_texts))
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// Allows numbers where a text is expected, as the YAML parser does.
fn take_numbers_for_texts(schema: &mut Schema) {
    let is_word = schema.get("enum").is_some() || schema.get("const").is_some();
    let kinds = match schema.get("type") {
        Some(Value::String(kind)) => vec![json!(kind)],
        Some(Value::Array(kinds)) => kinds.clone(),
        _ => Vec::new(),
    };
    if kinds.contains(&json!("string")) && !is_word {
        let kinds = kinds.into_iter().chain([json!("number")]).collect();
        schema.insert("type".to_owned(), Value::Array(kinds));
    }
}

/// A map with an optional key for each word of `K`.
pub(crate) fn some_of<K: JsonSchema, V: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let words = K::json_schema(generator);
    let value = generator.subschema_for::<V>();
    let words = words.get("oneOf").and_then(Value::as_array);
    let words = words.expect("every word of the keys is documented");
    let keys = words.iter().filter_map(|word| {
        let mut of_word = value.clone();
        of_word.insert("description".to_owned(), word.get("description")?.clone());
        Some((word.get("const")?.as_str()?.to_owned(), of_word.to_value()))
    });
    let keys: Map<String, Value> = keys.collect();
    json_schema!({ "type": "object", "additionalProperties": false, "properties": keys })
}

/// A map with a required key for each word of `K`.
pub(crate) fn each_of<K: JsonSchema, V: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = some_of::<K, V>(generator);
    let keys = schema.get("properties").and_then(Value::as_object);
    let keys: Vec<&String> = keys.into_iter().flat_map(Map::keys).collect();
    let keys = json!(keys);
    schema.insert("required".to_owned(), keys);
    schema
}

/// Types that a file writes as a text.
macro_rules! written_as_text {
    ($($type:ident: $keyword:literal = $reported:expr;)*) => {$(
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", $keyword: $reported })
            }
        }
    )*};
}

written_as_text! {
    PciAddress: "examples" = ["0000:0c:00.1"];
    Rate: "examples" = ["4X NDR", "2X HDR"];
    TopoRow: "examples" = ["PXB NODE*3 SYS*4"];
    TopoLevel: "examples" = ["PIX", "PXB", "PHB", "NODE", "SYS", "NV18"];
    PortState: "enum" = [0, 1, 2, 3, 4, 5].map(|state| PortState(state).word());
    PhysState: "examples" = ["LinkUp", "Polling", "9"];
    Guid: "examples" = ["a088:c203:00e3:142a"];
    HardwareAddress: "examples" = ["94:6d:ae:00:00:08"];
}
