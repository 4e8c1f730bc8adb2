//! Reading rules on files: `read`, `list`, `write`.

use platforms::yaml::Node;

use super::{Line, Read, counted, positive};
use crate::deed::DeedSaid;
use crate::story::{FileOp, HangEnd, RuleEffect, RuleLasting};
use crate::subject::FileSaid;

impl Line<'_, '_> {
    pub(super) fn rule(&self, op: FileOp) -> Read<DeedSaid> {
        let source = self.source;
        let file = self.context.file(self.value)?;
        let effects = ["fail", "hang", "content", "truncate", "torn", "vanish"];
        let (key, node) = self.fields.exactly_one(source, &effects)?;
        let effect = match key {
            "fail" => RuleEffect::Fail(source.errno(node)?),
            "hang" => self.hang(node)?,
            "content" => RuleEffect::Content(source.any_text(node, "a text")?.into_bytes()),
            "truncate" => RuleEffect::Truncate(source.small(node, 0)? as usize),
            "torn" => RuleEffect::Torn(source.any_text(node, "a text")?.into_bytes()),
            _ if source.truth(node)? => RuleEffect::Vanish,
            _ => return Err(source.wrong(node.place, "`vanish: false` says nothing")),
        };
        let of_content = matches!(
            effect,
            RuleEffect::Content(_) | RuleEffect::Truncate(_) | RuleEffect::Torn(_)
        );
        if op == FileOp::List && of_content {
            return Err(source
                .wrong(node.place, format!("a listing has no `{key}`"))
                .hint("a listing can `fail`, `hang` or `vanish`"));
        }
        self.killable(&effect)?;
        Ok(DeedSaid::Rule {
            file,
            ops: vec![op],
            effect,
            lasting: self.lasting()?,
        })
    }

    pub(super) fn write_rule(&self) -> Read<DeedSaid> {
        let source = self.source;
        let file = self.context.file(self.value)?;
        if !matches!(file, FileSaid::StateFile | FileSaid::Path(_)) {
            return Err(source
                .wrong(self.value.place, "nobody writes below a device")
                .hint("write `state_file`"));
        }
        let (key, node) = self
            .fields
            .exactly_one(source, &["fail", "short", "hang"])?;
        let effect = match key {
            "fail" => RuleEffect::Fail(source.errno(node)?),
            "short" => RuleEffect::ShortWrite(source.small(node, 0)? as usize),
            _ => self.hang(node)?,
        };
        self.killable(&effect)?;
        let ops = self.fields.read("ops", vec![FileOp::Write], |node| {
            let nodes = source.one_or_more(node, "operations")?;
            nodes
                .iter()
                .map(|node| source.choice(node, "operation", WRITES))
                .collect()
        })?;
        Ok(DeedSaid::Rule {
            file,
            ops,
            effect,
            lasting: self.lasting()?,
        })
    }

    fn killable(&self, effect: &RuleEffect) -> Read<()> {
        match (self.fields.get("killable"), effect) {
            (Some(_), RuleEffect::Hang { .. }) | (None, _) => Ok(()),
            (Some(_), _) => Err(self.source.wrong(
                self.fields.place_of("killable"),
                "`killable` goes with `hang`",
            )),
        }
    }

    fn hang(&self, node: &Node) -> Read<RuleEffect> {
        let source = self.source;
        let killable = self
            .fields
            .read("killable", true, |node| source.truth(node))?;
        let text = source.text(node, "`given_up` or `N ticks`")?;
        let until = match counted(&text, &["tick", "ticks"]) {
            _ if text == "given_up" => HangEnd::GivenUp,
            Some(ticks) if ticks > 0 => HangEnd::Ticks(ticks),
            _ => {
                return Err(source
                    .wrong(node.place, format!("`{text}` names no end of a hang"))
                    .hint("write `given_up` (by the monitor's own timeout) or `3 ticks`"));
            }
        };
        Ok(RuleEffect::Hang { killable, until })
    }

    fn lasting(&self) -> Read<RuleLasting> {
        let source = self.source;
        let said = ["for", "nth", "first"]
            .into_iter()
            .filter(|key| self.fields.get(key).is_some());
        if said.count() == 0 {
            return Ok(RuleLasting::Always);
        }
        let (key, node) = self.fields.exactly_one(source, &["for", "nth", "first"])?;
        Ok(match key {
            "for" => RuleLasting::For(positive(source, node)?),
            "nth" => RuleLasting::Nth(u64::from(source.small(node, 1)?)),
            _ => RuleLasting::First(u64::from(source.small(node, 1)?)),
        })
    }
}

/// The operations on the writable folder by name.
pub(crate) const WRITES: &[(&str, FileOp)] = &[
    ("create", FileOp::Create),
    ("write", FileOp::Write),
    ("fsync", FileOp::Fsync),
    ("rename", FileOp::Rename),
    ("unlink", FileOp::Unlink),
];
