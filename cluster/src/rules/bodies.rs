//! Parses the three kinds of rules, each with its keys.
//!
//! A key of another kind is rejected, because it would have no effect.

use std::{ops::Range, time::Duration};

use toml::Spanned;

use super::{
    place::{Place, RuleError},
    reader::COUNT_MAX,
    rule::{Body, Count, Edge, Hold, Repeat, Silence, Spread},
    text::{MatchText, RuleText},
};

impl Place<'_> {
    /// The kind of the rule, by the key that only this kind has.
    pub(super) fn body(&self, reported: &Spanned<RuleText>) -> Result<Body, RuleError> {
        let text = reported.get_ref();
        let kinds = [
            ("count", text.count.as_ref().map(Spanned::span)),
            ("silence", text.silence.as_ref().map(Spanned::span)),
            ("holds", text.holds.as_ref().map(Spanned::span)),
        ];
        let named: Vec<(&str, Range<usize>)> = kinds
            .into_iter()
            .filter_map(|(key, span)| Some((key, span?)))
            .collect();
        let hint = "a rule counts, waits for silence, or holds others back";
        match named.as_slice() {
            [("count", _)] => self.counting(reported),
            [("silence", _)] => self.waiting(reported),
            [(_, _)] => self.holding(reported),
            [] => {
                let cause = "the rule has none of `count`, `silence` and `holds`";
                Err(self.error(text.name.span(), cause, hint))
            }
            [(first, _), (second, span), ..] => {
                let cause = format!("the rule has both `{first}` and `{second}`");
                Err(self.error(span.clone(), cause, hint))
            }
        }
    }

    /// Rejects the first key that this kind of rule does not have.
    fn none_of(&self, kind: &str, keys: &[(&str, Option<Range<usize>>)]) -> Result<(), RuleError> {
        let found = keys
            .iter()
            .find_map(|(key, span)| Some((key, span.clone()?)));
        found.map_or(Ok(()), |(key, span)| {
            let cause = format!("`{key}` means nothing in a rule with {kind}");
            Err(self.error(
                span,
                cause,
                "take it out, or see `docs/rules.md` for where it belongs",
            ))
        })
    }

    fn counting(&self, reported: &Spanned<RuleText>) -> Result<Body, RuleError> {
        let text = reported.get_ref();
        self.none_of(
            "`count`",
            &[
                ("grace", span(text.grace.as_ref())),
                ("broken_by", span(text.broken_by.as_ref())),
                ("sticky", span(text.sticky.as_ref())),
                ("hold", span(text.hold.as_ref())),
            ],
        )?;
        let window = self.long_span_of("window", text.window.as_ref(), text.name.span())?;
        let count = text.count.as_ref().map_or(0, |count| *count.get_ref());
        if !(1..=COUNT_MAX).contains(&count) {
            let at = span(text.count.as_ref()).unwrap_or_default();
            let cause = format!("`count` is {count}: 1 to {COUNT_MAX}");
            return Err(self.error(
                at,
                cause,
                "a rule that fires at every event has `count = 1`",
            ));
        }
        if text.distinct.is_some() {
            return self.spreading(reported, window, count);
        }
        self.none_of(
            "`count` and no `distinct`",
            &[("settle", span(text.settle.as_ref()))],
        )?;
        let merge = self.shorter("merge", text.merge.as_ref(), "window", window)?;
        let trigger = text.trigger.as_ref();
        let trigger = trigger
            .map(|reported| {
                self.no_enter(reported, "`trigger`")?;
                self.matches("trigger", reported)
            })
            .transpose()?;
        Ok(Body::Count(Count {
            window,
            edge: self.edge(text.edge.as_ref())?,
            count,
            merge,
            whole_seconds: text
                .whole_seconds
                .as_ref()
                .is_some_and(|reported| *reported.get_ref()),
            trigger: trigger.unwrap_or_default(),
            repeat: self.repeat(text.repeat.as_ref())?,
        }))
    }

    fn edge(&self, reported: Option<&Spanned<String>>) -> Result<Edge, RuleError> {
        match reported.map(|reported| (reported.get_ref().as_str(), reported.span())) {
            None | Some(("included", _)) => Ok(Edge::Included),
            Some(("excluded", _)) => Ok(Edge::Excluded),
            Some((other, span)) => {
                let cause = format!("`edge` is `{other}`: `included` or `excluded`");
                let hint = "it says whether an event exactly one window old counts";
                Err(self.error(span, cause, hint))
            }
        }
    }

    fn repeat(&self, reported: Option<&Spanned<String>>) -> Result<Repeat, RuleError> {
        match reported.map(|reported| (reported.get_ref().as_str(), reported.span())) {
            None | Some(("each", _)) => Ok(Repeat::Each),
            Some(("once", _)) => Ok(Repeat::Once),
            Some((other, span)) => {
                let cause = format!("`repeat` is `{other}`: `each` or `once`");
                Err(self.error(
                    span,
                    cause,
                    "the deployed engine fires with each further event",
                ))
            }
        }
    }

    fn spreading(
        &self,
        reported: &Spanned<RuleText>,
        window: Duration,
        count: usize,
    ) -> Result<Body, RuleError> {
        let text = reported.get_ref();
        self.none_of(
            "`distinct`",
            &[
                ("edge", span(text.edge.as_ref())),
                ("merge", span(text.merge.as_ref())),
                ("whole_seconds", span(text.whole_seconds.as_ref())),
                ("trigger", span(text.trigger.as_ref())),
                ("repeat", span(text.repeat.as_ref())),
            ],
        )?;
        self.no_enter(&text.matches, "`distinct`")?;
        let Some(word) = &text.distinct else {
            unreachable!("only a rule with `distinct` comes here")
        };
        let distinct = self.group("distinct", word)?;
        if text
            .group_by
            .get_ref()
            .iter()
            .any(|group| group.get_ref() == distinct.word())
        {
            let cause = format!("`distinct` and `group_by` both name `{}`", distinct.word());
            return Err(self.error(
                word.span(),
                cause,
                "events of one group cannot differ in it",
            ));
        }
        let settle = self.shorter("settle", text.settle.as_ref(), "window", window)?;
        Ok(Body::Spread(Spread {
            window,
            count,
            distinct,
            settle,
        }))
    }

    /// A duration, zero by default, that must be shorter than another one.
    fn shorter(
        &self,
        key: &str,
        reported: Option<&Spanned<String>>,
        other: &str,
        limit: Duration,
    ) -> Result<Duration, RuleError> {
        let found = self.span_of(key, reported)?.unwrap_or_default();
        if found < limit {
            return Ok(found);
        }
        let at = span(reported).unwrap_or_default();
        let cause = format!("`{key}` must be shorter than `{other}`");
        Err(self.error(at, cause, "two polls of the monitor are `2s`"))
    }

    fn waiting(&self, reported: &Spanned<RuleText>) -> Result<Body, RuleError> {
        let text = reported.get_ref();
        let mut others = not_for_waiting_or_holding(text).to_vec();
        others.push(("hold", span(text.hold.as_ref())));
        self.none_of("`silence`", &others)?;
        self.no_on(&text.matches, "`silence`")?;
        let silence = self.long_span_of("silence", text.silence.as_ref(), text.name.span())?;
        let broken_by = text.broken_by.as_ref();
        let broken_by = broken_by
            .map(|reported| self.matches("broken_by", reported))
            .transpose()?;
        Ok(Body::Silence(Silence {
            silence,
            grace: self.shorter("grace", text.grace.as_ref(), "silence", silence)?,
            broken_by: broken_by.unwrap_or_default(),
            sticky: self
                .span_of("sticky", text.sticky.as_ref())?
                .unwrap_or_default(),
        }))
    }

    fn holding(&self, reported: &Spanned<RuleText>) -> Result<Body, RuleError> {
        let text = reported.get_ref();
        let mut others = not_for_waiting_or_holding(text).to_vec();
        others.extend([
            ("grace", span(text.grace.as_ref())),
            ("broken_by", span(text.broken_by.as_ref())),
            ("sticky", span(text.sticky.as_ref())),
            ("action", span(text.action.as_ref())),
        ]);
        self.none_of("`holds`", &others)?;
        self.no_on(&text.matches, "`holds`")?;
        let holds = text.holds.iter().flat_map(Spanned::get_ref);
        Ok(Body::Hold(Hold {
            holds: holds.map(|name| name.get_ref().clone()).collect(),
            hold: self.long_span_of("hold", text.hold.as_ref(), text.name.span())?,
        }))
    }

    /// Rejects `on = "enter"`, which only the events that a rule counts can have.
    fn no_enter(
        &self,
        reported: &Spanned<Vec<Spanned<MatchText>>>,
        kind: &str,
    ) -> Result<(), RuleError> {
        let mut all = reported.get_ref().iter();
        let on = all.find_map(|one| {
            one.get_ref()
                .on
                .as_ref()
                .filter(|on| on.get_ref() == "enter")
        });
        on.map_or(Ok(()), |on| {
            let cause = format!("`on = \"enter\"` does not go with {kind}");
            let hint = "it belongs in the `match` of a rule that counts events";
            Err(self.error(on.span(), cause, hint))
        })
    }

    /// Rejects `on`: these kinds determine by themselves which events of a fault they use.
    fn no_on(
        &self,
        reported: &Spanned<Vec<Spanned<MatchText>>>,
        kind: &str,
    ) -> Result<(), RuleError> {
        for one in reported.get_ref() {
            let text = one.get_ref();
            let keys = [
                ("on", span(text.on.as_ref())),
                ("healthy", span(text.healthy.as_ref())),
            ];
            self.none_of(kind, &keys)?;
        }
        Ok(())
    }
}

fn span<T>(reported: Option<&Spanned<T>>) -> Option<Range<usize>> {
    reported.map(Spanned::span)
}

fn not_for_waiting_or_holding(text: &RuleText) -> [(&'static str, Option<Range<usize>>); 8] {
    [
        ("window", span(text.window.as_ref())),
        ("edge", span(text.edge.as_ref())),
        ("merge", span(text.merge.as_ref())),
        ("whole_seconds", span(text.whole_seconds.as_ref())),
        ("trigger", span(text.trigger.as_ref())),
        ("repeat", span(text.repeat.as_ref())),
        ("distinct", span(text.distinct.as_ref())),
        ("settle", span(text.settle.as_ref())),
    ]
}
