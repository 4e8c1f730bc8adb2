//! Reading what both ends of a link are expected to remember.

use fabric::opa::{LinkDownReason, OfflineDisabledReason, Pair};
use platforms::yaml::{Node, Value};

use super::{Line, Read};
use crate::deed_reader::reason;
use crate::expect::ExpectSaid;
use crate::story::{EndIs, PairIs};
use crate::words::END_IS;

impl Line<'_, '_> {
    pub(super) fn link(&self) -> Read<ExpectSaid> {
        let of = self.context.subjects(self.value)?;
        let end = |name| {
            self.fields
                .read(name, EndIs::default(), |node| self.end_is(node))
        };
        let (here, there) = (end("here")?, end("there")?);
        if (&here, &there) == (&EndIs::default(), &EndIs::default()) {
            return Err(self
                .source
                .wrong(self.fields.place, "`link` expects nothing of either end")
                .hint("write `here: [ 36, 0 ]`, `there: unavailable`, or both"));
        }
        Ok(ExpectSaid::Link { of, here, there })
    }

    fn end_is(&self, node: &Node) -> Read<EndIs> {
        let source = self.source;
        let Value::Map(_) = node.value else {
            return Ok(EndIs {
                pair: Some(self.pair_is(node)?),
                ..EndIs::default()
            });
        };
        let fields = source.map(node, "an end of a link", END_IS)?;
        Ok(EndIs {
            pair: fields.maybe("pair", |node| self.pair_is(node))?,
            offline: fields.maybe("offline", |node| self.offline(node))?,
            log: fields.maybe("log", |node| {
                let entries = source.list(node, "a list of pairs")?;
                entries.iter().map(|entry| self.pair(entry)).collect()
            })?,
        })
    }

    fn pair_is(&self, node: &Node) -> Read<PairIs> {
        match &node.value {
            Value::List(_) => Ok(PairIs::Shown(self.pair(node)?)),
            _ => self.source.choice(
                node,
                "end of a link",
                &[("unavailable", PairIs::Unavailable)],
            ),
        }
    }

    fn pair(&self, node: &Node) -> Read<Pair> {
        match self.source.list(node, "a pair of reasons")? {
            [local, neighbour] => Ok(Pair {
                local: reason(self.source, local)?,
                neighbour: reason(self.source, neighbour)?,
            }),
            _ => Err(self.source.wrong(
                node.place,
                "a pair is LinkDownReason and NeighborLinkDownReason",
            )),
        }
    }

    /// By the reason that it mirrors, or by its number.
    fn offline(&self, node: &Node) -> Read<OfflineDisabledReason> {
        let wrong = |what: String| {
            self.source
                .wrong(node.place, what)
                .hint("such as `none`, `power_policy`, or a number up to 15")
        };
        if let Value::Whole(_) = node.value {
            let number = self.source.number(node, 0, 15)?;
            let code = u8::try_from(number).expect("a number up to 15 fits 8 bits");
            return OfflineDisabledReason::by_code(code)
                .ok_or_else(|| wrong(format!("the OfflineDisabledReason {code} is not used")));
        }
        let mirrored = reason(self.source, node)?;
        let mirrors = mirrored.holds()
            || [LinkDownReason::NONE, LinkDownReason::TRANSIENT].contains(&mirrored);
        let offline = OfflineDisabledReason::of(mirrored).filter(|_| mirrors);
        offline.ok_or_else(|| wrong(format!("no port is offline for `{node}`")))
    }
}
