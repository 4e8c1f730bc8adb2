//! Reading what is expected of the cluster: conditions, cordons, rules.

use super::qualifiers::times;
use super::{Line, Read};
use crate::cluster::{ConditionOf, Stands};
use crate::expect::{ConditionSaid, ExpectSaid, RuleSaid};
use crate::story::Times;

impl Line<'_, '_> {
    pub(super) fn condition(&self) -> Read<ExpectSaid> {
        let source = self.source;
        let name = source.text(self.value, "`state`, `counters` or a check's name")?;
        let stands = self
            .fields
            .read("stands", true, |node| source.truth(node))?;
        Ok(ExpectSaid::Condition(ConditionSaid {
            condition: match name.as_str() {
                "state" => ConditionOf::State,
                "counters" => ConditionOf::Counters,
                _ => ConditionOf::Named(name),
            },
            place: self.value.place,
            of: self
                .fields
                .maybe("of", |node| self.context.subjects(node))?,
            counter: self
                .fields
                .maybe("counter", |node| source.text(node, "a counter's name"))?,
            stands: self.stands(stands)?,
        }))
    }

    pub(super) fn cordoned(&self) -> Read<ExpectSaid> {
        let is = self.source.truth(self.value)?;
        Ok(ExpectSaid::Cordoned(self.stands(is)?))
    }

    fn stands(&self, is: bool) -> Read<Stands> {
        let throughout = self.fields.read("throughout", false, |node| {
            if self.source.truth(node)? {
                return Ok(true);
            }
            Err(self
                .source
                .wrong(node.place, "`throughout: false` says nothing")
                .hint("leave it out: one of the polls meant is enough"))
        })?;
        Ok(Stands { is, throughout })
    }

    pub(super) fn rule(&self) -> Read<ExpectSaid> {
        let source = self.source;
        let says = [("fired", false), ("cleared", true)];
        let switch = |node| Ok((source.text(node, "a switch's name")?, node.place));
        Ok(ExpectSaid::Rule(Box::new(RuleSaid {
            rule: source.text(self.value, "a rule's name")?,
            place: self.value.place,
            of: self
                .fields
                .maybe("port", |node| self.context.subjects(node))?,
            switch: self.fields.maybe("switch", switch)?,
            counted: self.bound("counted")?,
            cleared: self
                .fields
                .read("says", false, |node| source.choice(node, "word", &says))?,
            times: self.rule_times()?,
            events_this_tick: self
                .fields
                .maybe("events_this_tick", |node| source.number(node, 0, 1_000_000))?,
        })))
    }

    fn rule_times(&self) -> Read<Times> {
        let source = self.source;
        let Some(node) = self.fields.get("fires") else {
            return self
                .fields
                .read("times", Times::ONCE, |node| times(source, node));
        };
        if source.truth(node)? {
            return Err(source
                .wrong(node.place, "`fires: true` says nothing")
                .hint("leave it out: a rule that is named fires"));
        }
        for beside in ["times", "counted", "events_this_tick"] {
            if self.fields.get(beside).is_some() {
                return Err(source.wrong(
                    self.fields.place_of(beside),
                    format!("`fires: false` and `{beside}` in one line"),
                ));
            }
        }
        Ok(Times {
            at_least: 0,
            at_most: 0,
        })
    }
}
