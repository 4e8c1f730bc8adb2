//! Reading what is expected of a metric.

use std::collections::BTreeMap;

use platforms::yaml::{Key, Node, Value};

use super::{Line, Read};
use crate::error::ScenarioError;
use crate::expect::ExpectSaid;
use crate::handle::Bound;
use crate::message::{self, Part};
use crate::story::MetricIs;

impl Line<'_, '_> {
    pub(super) fn metric(&self) -> Read<ExpectSaid> {
        let source = self.source;
        let name = source.text(self.value, "a metric's name")?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
        if !name.chars().all(is_plain) {
            return Err(source
                .wrong(self.value.place, format!("`{name}` cannot name a metric"))
                .hint("labels stand beside it: `labels: { check: InfiniBandStateCheck }`"));
        }
        Ok(ExpectSaid::Metric {
            name,
            labels: self
                .fields
                .read("labels", BTreeMap::new(), |node| self.labels(node))?,
            is: self.metric_is(self.fields.need(source, "is")?)?,
        })
    }

    fn labels(&self, node: &Node) -> Read<BTreeMap<String, String>> {
        let source = self.source;
        let fields = source.open_map(node, "labels")?;
        let label = |(key, node): &(Key, Node)| {
            let text = match &node.value {
                Value::Truth(truth) => truth.to_string(),
                _ => source.any_text(node, "a label's text")?,
            };
            self.filled_by_handles(node, &text)?;
            Ok::<_, ScenarioError>((key.name.clone(), text))
        };
        fields.pairs.iter().map(label).collect()
    }

    /// A label has no subject of its own whose fields it could name.
    fn filled_by_handles(&self, node: &Node, text: &str) -> Result<(), ScenarioError> {
        message::check(self.context, node.place, text)?;
        for part in message::parts(text) {
            if let Part::Own(field) = part {
                return Err(self
                    .source
                    .wrong(node.place, format!("`{{{field}}}` is nobody's here"))
                    .hint(format!("write `{{victim.{field}}}`")));
            }
        }
        Ok(())
    }

    fn metric_is(&self, node: &Node) -> Read<MetricIs> {
        if matches!(&node.value, Value::Text(word) if word == "absent") {
            return Ok(MetricIs::Absent);
        }
        let Bound { least, most } = Bound::read(self.source, node)?;
        Ok(MetricIs::Within { least, most })
    }
}
