//! Where a monitor serves its metrics, and which of the reference monitor's it has. Start at [`MetricsPage`].

use std::{borrow::Cow, collections::BTreeSet, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};

/// The page at `{metrics_port}` with metrics in Prometheus' text format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsPage {
    /// Its path.
    pub path: String,
    /// The names of the reference monitor's metrics that it has; `None`: all. Expectations on others do not apply.
    pub names: Option<BTreeSet<String>>,
    /// Whether a metric has no value before its first change, as labelled ones of client libraries do; no value is 0
    /// then.
    pub lazy: bool,
}

impl MetricsPage {
    /// Whether the monitor has the metric of this name; of a histogram also with `_bucket`, `_sum` or `_count`
    /// behind it.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let of_histogram = ["_bucket", "_sum", "_count"];
        let mut histogram = of_histogram.iter().filter_map(|end| name.strip_suffix(end));
        self.names
            .as_ref()
            .is_none_or(|names| names.contains(name) || histogram.any(|name| names.contains(name)))
    }
}

impl From<&str> for MetricsPage {
    fn from(path: &str) -> Self {
        let path = path.to_owned();
        Self {
            path,
            names: None,
            lazy: false,
        }
    }
}

impl<'de> Deserialize<'de> for MetricsPage {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Each {
            path: String,
            names: BTreeSet<String>,
            #[serde(default)]
            lazy: bool,
        }
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = MetricsPage;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path such as `/metrics`, or `path` and `names`")
            }
            fn visit_str<E: de::Error>(self, path: &str) -> Result<MetricsPage, E> {
                Ok(MetricsPage::from(path))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MetricsPage, A::Error> {
                let Each { path, names, lazy } =
                    Each::deserialize(MapAccessDeserializer::new(map))?;
                let names = Some(names);
                Ok(MetricsPage { path, names, lazy })
            }
        }
        from.deserialize_any(Form)
    }
}

impl JsonSchema for MetricsPage {
    fn schema_name() -> Cow<'static, str> {
        "MetricsPage".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The path at `{metrics_port}` of its metrics, in Prometheus' text format; or `path` and the `names` of those of the reference monitor's metrics that it has.",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["path", "names"],
                    "properties": {
                        "path": {
                            "description": "Its path.",
                            "type": "string",
                        },
                        "names": {
                            "description": "The names of the reference monitor's metrics that it has; expectations on others do not apply.",
                            "type": "array",
                            "items": { "type": "string" },
                        },
                        "lazy": {
                            "description": "Whether a metric has no value before its first change; no value is 0 then.",
                            "type": "boolean",
                        },
                    },
                },
            ],
        })
    }
}
