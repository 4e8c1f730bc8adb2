//! Pages of the laboratories as JSON (`--json`): times are nanoseconds since the drill's start (`…_ns`), and what `lnetctl`
//! prints as YAML has its keys and values.
//!
//! Each page has its own file (`link/link_json.rs`, `lnet/lnet_json.rs`, `mpib/job_json.rs`); here is what they share.

use files::{Node, YamlValue, yaml};
use serde_json::{Map, Value};

/// A page: the value, indented, with a newline.
pub(super) fn page(value: &Value) -> String {
    format!("{value:#}\n")
}

/// YAML as JSON; the text itself if it is not YAML.
pub(super) fn of_yaml(text: &str) -> Value {
    yaml::tree("lnetctl", text).map_or_else(|_| Value::from(text), |node| of_node(&node))
}

fn of_node(node: &Node) -> Value {
    match &node.value {
        YamlValue::Null => Value::Null,
        YamlValue::Truth(truth) => Value::from(*truth),
        YamlValue::Whole(number) => Value::from(*number),
        YamlValue::Number(number) => Value::from(*number),
        YamlValue::Text(text) => Value::from(text.as_str()),
        YamlValue::List(items) => items.iter().map(of_node).collect(),
        YamlValue::Map(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(key, node)| (key.name.clone(), of_node(node)));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_keeps_its_keys_and_kinds_of_values() {
        let text = "net:\n    - nid: a1@o2ib\n      interfaces:\n          0: ib0\n      health value: 1000\n";
        let expected = json!({
            "net": [ { "nid": "a1@o2ib", "interfaces": { "0": "ib0" }, "health value": 1000 } ],
        });
        assert_eq!(of_yaml(text), expected);
    }
}
