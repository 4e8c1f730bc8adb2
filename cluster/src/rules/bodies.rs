//! Parses the three kinds of rules, each with its keys.
//!
//! A key of another kind is rejected, because it would have no effect.

use std::{ops::Range, time::Duration};

use files::{FileError, Mistakes};
use toml::Spanned;

use super::{
    place::Place,
    reader::COUNT_MAX,
    rule::{Body, Count, Edge, Hold, Repeat, Silence, Spread},
    text::{MatchText, RuleText},
};

impl Place<'_> {
    /// The kind of the rule, by the key that only this kind has.
    pub(super) fn body(&self, reported: &Spanned<RuleText>) -> Result<Body, Mistakes> {
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
                let mut found = Mistakes::between(self.error(text.name.span(), cause, hint));
                self.values(text, &mut found);
                Err(found)
            }
            [(first, _), (second, span), ..] => {
                let cause = format!("the rule has both `{first}` and `{second}`");
                let mut found = Mistakes::between(self.error(span.clone(), cause, hint));
                self.values(text, &mut found);
                Err(found)
            }
        }
    }

    /// What is wrong with the values of a rule of no kind, or of several.
    fn values(&self, text: &RuleText, found: &mut Mistakes) {
        let spans = [
            ("window", &text.window),
            ("silence", &text.silence),
            ("merge", &text.merge),
            ("settle", &text.settle),
            ("grace", &text.grace),
            ("sticky", &text.sticky),
            ("hold", &text.hold),
        ];
        for (key, span) in spans {
            found.take(self.span_of(key, span.as_ref()));
        }
        if text.count.is_some() {
            found.take(self.count(text.count.as_ref()));
        }
        found.take(self.edge(text.edge.as_ref()));
        found.take(self.repeat(text.repeat.as_ref()));
        if let Some(distinct) = &text.distinct {
            found.take(self.group("distinct", distinct));
        }
        for (key, matches) in [("trigger", &text.trigger), ("broken_by", &text.broken_by)] {
            if let Some(matches) = matches {
                found.take(self.matches(key, matches));
            }
        }
    }

    /// Rejects the keys that this kind of rule does not have.
    fn none_of(&self, kind: &str, keys: &[(&str, Option<Range<usize>>)]) -> Result<(), Mistakes> {
        let mut found = Mistakes::default();
        let there = keys
            .iter()
            .filter_map(|(key, span)| Some((key, span.clone()?)));
        for (key, span) in there {
            let cause = format!("`{key}` means nothing in a rule with {kind}");
            let hint = "take it out, or see `docs/rules.md` for where it belongs";
            found.note_between(self.error(span, cause, hint));
        }
        found.or(Some(()))
    }

    fn counting(&self, reported: &Spanned<RuleText>) -> Result<Body, Mistakes> {
        let text = reported.get_ref();
        let mut found = Mistakes::default();
        found.take(self.none_of(
            "`count`",
            &[
                ("grace", span(text.grace.as_ref())),
                ("broken_by", span(text.broken_by.as_ref())),
                ("sticky", span(text.sticky.as_ref())),
                ("hold", span(text.hold.as_ref())),
            ],
        ));
        let window = self.long_span_of("window", text.window.as_ref(), text.name.span());
        let window = found.take(window);
        let count = found.take(self.count(text.count.as_ref()));
        if text.distinct.is_some() {
            let spread = found.take(self.spreading(reported, window, count));
            return found.or(spread.flatten());
        }
        found.take(self.none_of(
            "`count` and no `distinct`",
            &[("settle", span(text.settle.as_ref()))],
        ));
        let merge = found.take(self.shorter("merge", text.merge.as_ref(), ("window", window)));
        let edge = found.take(self.edge(text.edge.as_ref()));
        let repeat = found.take(self.repeat(text.repeat.as_ref()));
        let trigger = text.trigger.as_ref();
        let trigger = trigger.and_then(|reported| {
            found.take(self.no_enter(reported, "`trigger`"));
            found.take(self.matches("trigger", reported))
        });
        let count = || {
            Some(Body::Count(Count {
                window: window?,
                edge: edge?,
                count: count?,
                merge: merge?,
                whole_seconds: text
                    .whole_seconds
                    .as_ref()
                    .is_some_and(|reported| *reported.get_ref()),
                trigger: trigger.unwrap_or_default(),
                repeat: repeat?,
            }))
        };
        let count = count();
        found.or(count)
    }

    fn count(&self, reported: Option<&Spanned<usize>>) -> Result<usize, FileError> {
        let count = reported.map_or(0, |count| *count.get_ref());
        if (1..=COUNT_MAX).contains(&count) {
            return Ok(count);
        }
        let at = span(reported).unwrap_or_default();
        let cause = format!("`count` is {count}: 1 to {COUNT_MAX}");
        let hint = "a rule that fires at every event has `count = 1`";
        Err(self.error(at, cause, hint))
    }

    fn edge(&self, reported: Option<&Spanned<String>>) -> Result<Edge, FileError> {
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

    fn repeat(&self, reported: Option<&Spanned<String>>) -> Result<Repeat, FileError> {
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

    /// The body of a rule with `distinct`; nothing if its window or its count cannot be read.
    fn spreading(
        &self,
        reported: &Spanned<RuleText>,
        window: Option<Duration>,
        count: Option<usize>,
    ) -> Result<Option<Body>, Mistakes> {
        let text = reported.get_ref();
        let mut found = Mistakes::default();
        found.take(self.none_of(
            "`distinct`",
            &[
                ("edge", span(text.edge.as_ref())),
                ("merge", span(text.merge.as_ref())),
                ("whole_seconds", span(text.whole_seconds.as_ref())),
                ("trigger", span(text.trigger.as_ref())),
                ("repeat", span(text.repeat.as_ref())),
            ],
        ));
        found.take(self.no_enter(&text.matches, "`distinct`"));
        let Some(word) = &text.distinct else {
            unreachable!("only a rule with `distinct` comes here")
        };
        let distinct = found.take(self.group("distinct", word));
        let mut groups = text.group_by.get_ref().iter();
        if let Some(distinct) = &distinct
            && groups.any(|group| group.get_ref() == distinct.word())
        {
            let cause = format!("`distinct` and `group_by` both name `{}`", distinct.word());
            let hint = "events of one group cannot differ in it";
            found.note_between(self.error(word.span(), cause, hint));
        }
        let settle = found.take(self.shorter("settle", text.settle.as_ref(), ("window", window)));
        let spread = || {
            Some(Body::Spread(Spread {
                window: window?,
                count: count?,
                distinct: distinct?,
                settle: settle?,
            }))
        };
        let spread = spread();
        found.or(Some(spread))
    }

    /// A duration, zero by default, that must be shorter than another one, if that can be read.
    fn shorter(
        &self,
        key: &str,
        reported: Option<&Spanned<String>>,
        (other, limit): (&str, Option<Duration>),
    ) -> Result<Duration, FileError> {
        let found = self.span_of(key, reported)?.unwrap_or_default();
        if limit.is_none_or(|limit| found < limit) {
            return Ok(found);
        }
        let at = span(reported).unwrap_or_default();
        let cause = format!("`{key}` must be shorter than `{other}`");
        Err(self.error(at, cause, "two polls of the monitor are `2s`"))
    }

    fn waiting(&self, reported: &Spanned<RuleText>) -> Result<Body, Mistakes> {
        let text = reported.get_ref();
        let mut found = Mistakes::default();
        let mut others = not_for_waiting_or_holding(text).to_vec();
        others.push(("hold", span(text.hold.as_ref())));
        found.take(self.none_of("`silence`", &others));
        found.take(self.no_on(&text.matches, "`silence`"));
        let silence = self.long_span_of("silence", text.silence.as_ref(), text.name.span());
        let silence = found.take(silence);
        let broken_by = text.broken_by.as_ref().and_then(|reported| {
            found.take(self.no_enter(reported, "`broken_by`"));
            found.take(self.matches("broken_by", reported))
        });
        let grace = found.take(self.shorter("grace", text.grace.as_ref(), ("silence", silence)));
        let sticky = found.take(self.span_of("sticky", text.sticky.as_ref()));
        let body = || {
            Some(Body::Silence(Silence {
                silence: silence?,
                grace: grace?,
                broken_by: broken_by.unwrap_or_default(),
                sticky: sticky?.unwrap_or_default(),
            }))
        };
        let body = body();
        found.or(body)
    }

    fn holding(&self, reported: &Spanned<RuleText>) -> Result<Body, Mistakes> {
        let text = reported.get_ref();
        let mut found = Mistakes::default();
        let mut others = not_for_waiting_or_holding(text).to_vec();
        others.extend([
            ("grace", span(text.grace.as_ref())),
            ("broken_by", span(text.broken_by.as_ref())),
            ("sticky", span(text.sticky.as_ref())),
            ("action", span(text.action.as_ref())),
        ]);
        found.take(self.none_of("`holds`", &others));
        found.take(self.no_on(&text.matches, "`holds`"));
        let hold = self.long_span_of("hold", text.hold.as_ref(), text.name.span());
        let hold = found.take(hold);
        let holds = text.holds.iter().flat_map(Spanned::get_ref);
        let holds: Vec<String> = holds.map(|name| name.get_ref().clone()).collect();
        found.or(hold.map(|hold| Body::Hold(Hold { holds, hold })))
    }

    /// Rejects `on = "enter"`, which only the events that a rule counts can have.
    fn no_enter(
        &self,
        reported: &Spanned<Vec<Spanned<MatchText>>>,
        kind: &str,
    ) -> Result<(), Mistakes> {
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
            Err(Mistakes::between(self.error(on.span(), cause, hint)))
        })
    }

    /// Rejects `on`: these kinds determine by themselves which events of a fault they use.
    fn no_on(
        &self,
        reported: &Spanned<Vec<Spanned<MatchText>>>,
        kind: &str,
    ) -> Result<(), Mistakes> {
        let mut found = Mistakes::default();
        for one in reported.get_ref() {
            let text = one.get_ref();
            let keys = [
                ("on", span(text.on.as_ref())),
                ("healthy", span(text.healthy.as_ref())),
            ];
            found.take(self.none_of(kind, &keys));
        }
        found.or(Some(()))
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
