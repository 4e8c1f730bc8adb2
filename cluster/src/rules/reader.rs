//! Reads a rule file and judges it: a rule that could never do what it says is refused.
//!
//! Every refusal names file, line and column, shows the line, says what is allowed, and gives a hint
//! where there is one. Start at [`read`].

use std::{collections::BTreeMap, ops::Range, time::Duration};

use proto::RecommendedAction;
use toml::Spanned;

use super::{
    rule::{Body, Count, GroupBy, Hold, Match, On, Repeat, Rule, Silence, Spread},
    span::read_span,
    text::{FileText, MatchText, RuleText},
};

/// The most bytes of a rule file.
pub const FILE_MAX_BYTES: usize = 1 << 20;
/// The most events that a rule can count.
pub const COUNT_MAX: usize = 1000;
/// The most alternatives of one `match`.
pub const MATCHES_MAX: usize = 8;

/// A rule file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {cause}\n  | {text}\nhint: {hint}")]
pub struct RuleError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was found and what is allowed.
    pub cause: String,
    /// The line's text.
    pub text: String,
    /// What helps.
    pub hint: String,
}

/// Reads the rules of a file, in their order.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn read(file: &str, text: &str) -> Result<Vec<Rule>, RuleError> {
    let place = Place { file, text };
    if text.len() > FILE_MAX_BYTES {
        let cause = format!(
            "the file has {} bytes, at most {FILE_MAX_BYTES}",
            text.len()
        );
        return Err(place.error(0..0, cause, "give each team's rules a file of its own"));
    }
    let parsed: FileText = toml::from_str(text).map_err(|error| {
        let cause = error.message().replace('\n', " ");
        let hint = "`docs/rules.md` lists every key of a rule";
        place.error(error.span().unwrap_or(0..0), cause, hint)
    })?;
    let version = *parsed.rules_version.get_ref();
    if version != 1 {
        let cause = format!("`rules_version` is {version}; 1 is the only one there is");
        return Err(place.error(
            parsed.rules_version.span(),
            cause,
            "write `rules_version = 1`",
        ));
    }
    if parsed.rule.is_empty() {
        let hint = "begin a rule with `[[rule]]`";
        return Err(place.error(0..0, "the file holds no rule", hint));
    }
    let mut rules: Vec<Rule> = Vec::new();
    let mut names: BTreeMap<String, Range<usize>> = BTreeMap::new();
    for said in &parsed.rule {
        let rule = place.rule(said)?;
        let span = said.get_ref().name.span();
        if names.insert(rule.name.clone(), span.clone()).is_some() {
            let cause = format!("there are two rules `{}`", rule.name);
            return Err(place.error(
                span,
                cause,
                "a rule's name is its check's name: give it another",
            ));
        }
        rules.push(rule);
    }
    place.holds(&parsed, &rules)?;
    Ok(rules)
}

struct Place<'a> {
    file: &'a str,
    text: &'a str,
}

impl Place<'_> {
    fn error(&self, span: Range<usize>, cause: impl Into<String>, hint: &str) -> RuleError {
        let at = self.text.floor_char_boundary(span.start);
        let begin = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[begin..].lines().next().unwrap_or_default();
        RuleError {
            file: self.file.to_owned(),
            line: self.text[..begin].matches('\n').count() + 1,
            column: self.text[begin..at].chars().count() + 1,
            cause: cause.into(),
            text: line.trim_end().to_owned(),
            hint: hint.to_owned(),
        }
    }

    fn rule(&self, said: &Spanned<RuleText>) -> Result<Rule, RuleError> {
        let text = said.get_ref();
        let name = text.name.get_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 63 || !name.chars().all(plain) {
            let cause = format!("`{name}` is no name: 1 to 63 letters, digits, `-` and `_`");
            let hint = "a rule's name becomes the type of a node condition";
            return Err(self.error(text.name.span(), cause, hint));
        }
        if text.message.get_ref().is_empty() {
            let hint = "say what was found and what to look at";
            return Err(self.error(text.message.span(), "`message` is empty", hint));
        }
        Ok(Rule {
            name: name.clone(),
            description: text.description.trim().to_owned(),
            matches: self.matches("match", &text.matches)?,
            group_by: self.groups(&text.group_by)?,
            body: self.body(said)?,
            action: self.action(text.action.as_ref())?,
            message: text.message.get_ref().clone(),
        })
    }

    fn action(&self, said: Option<&Spanned<String>>) -> Result<RecommendedAction, RuleError> {
        let Some(said) = said else {
            return Ok(RecommendedAction::None);
        };
        let known = RecommendedAction::from_str_name(said.get_ref());
        known.filter(|action| *action != RecommendedAction::Custom).ok_or_else(|| {
            let cause = format!(
                "`{}` is no action: NONE, COMPONENT_RESET, CONTACT_SUPPORT, RUN_FIELDDIAG, RESTART_VM, \
                 RESTART_BM, REPLACE_VM, RUN_DCGMEUD, UNKNOWN",
                said.get_ref()
            );
            self.error(said.span(), cause, "everything but NONE is published as fatal")
        })
    }

    fn group(&self, key: &str, said: &Spanned<String>) -> Result<GroupBy, RuleError> {
        GroupBy::of_word(said.get_ref()).ok_or_else(|| {
            let cause = format!(
                "`{key}` names `{}`: `node`, `check`, `code`, `switch`, or an entity type, which begins with \
                 a capital letter",
                said.get_ref()
            );
            self.error(said.span(), cause, "the NIC monitor's entity types are `NIC` and `NICPort`")
        })
    }

    fn groups(&self, said: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<GroupBy>, RuleError> {
        let mut groups = Vec::new();
        for word in said.get_ref() {
            let group = self.group("group_by", word)?;
            if groups.contains(&group) {
                let cause = format!("`group_by` names `{}` twice", group.word());
                return Err(self.error(word.span(), cause, "name it once"));
            }
            groups.push(group);
        }
        if groups.is_empty() {
            let hint = "one port's faults are `[\"node\", \"NIC\", \"NICPort\"]`";
            return Err(self.error(said.span(), "`group_by` is empty", hint));
        }
        Ok(groups)
    }

    fn matches(
        &self,
        key: &str,
        said: &Spanned<Vec<Spanned<MatchText>>>,
    ) -> Result<Vec<Match>, RuleError> {
        let all = said.get_ref();
        if all.is_empty() || all.len() > MATCHES_MAX {
            let cause = format!("`{key}` has {} alternatives, 1 to {MATCHES_MAX}", all.len());
            return Err(self.error(
                said.span(),
                cause,
                "each is a table, as in `{ fatal = true }`",
            ));
        }
        all.iter().map(|one| self.one_match(key, one)).collect()
    }

    fn one_match(&self, key: &str, said: &Spanned<MatchText>) -> Result<Match, RuleError> {
        let text = said.get_ref();
        let after = self.span_of("after", text.after.as_ref())?;
        let on = match text.on.as_ref().map(|on| on.get_ref().as_str()) {
            None | Some("each") => On::Each,
            Some("fall") => On::Fall,
            Some("return") => On::Return {
                after: after.unwrap_or_default(),
            },
            Some(other) => {
                let cause = format!("`on` is `{other}`: `each`, `fall` or `return`");
                let span = text.on.as_ref().map_or(said.span(), Spanned::span);
                let hint = "`fall` is an unhealthy event of what was well, `return` its end";
                return Err(self.error(span, cause, hint));
            }
        };
        if let (Some(after), On::Each | On::Fall) = (&text.after, on) {
            let hint = "it says how long something was unhealthy before it returned";
            return Err(self.error(after.span(), "`after` goes with `on = \"return\"`", hint));
        }
        if let (Some(healthy), On::Fall | On::Return { .. }) = (&text.healthy, on) {
            let hint = "a fall is unhealthy and a return is healthy by itself";
            return Err(self.error(healthy.span(), "`healthy` goes with `on = \"each\"`", hint));
        }
        let meets = Match {
            on,
            agent: text.agent.clone(),
            class: text.class.clone(),
            checks: text.checks.clone(),
            fatal: text.fatal,
            healthy: text.healthy.as_ref().map(|healthy| *healthy.get_ref()),
            codes: text.codes.clone(),
            message_contains: text.message_contains.clone(),
        };
        let says_nothing = meets.agent.is_none()
            && meets.class.is_none()
            && meets.checks.is_empty()
            && meets.fatal.is_none()
            && meets.healthy.is_none()
            && meets.codes.is_empty()
            && meets.message_contains.is_none();
        if says_nothing {
            let cause = format!(
                "an alternative of `{key}` means every event: one of `agent`, `class`, `checks`, `fatal`, \
                 `healthy`, `codes`, `message_contains` is needed"
            );
            let hint = "the NIC monitor is `agent = \"nic-health-monitor\"`";
            return Err(self.error(said.span(), cause, hint));
        }
        Ok(meets)
    }

    fn span_of(
        &self,
        key: &str,
        said: Option<&Spanned<String>>,
    ) -> Result<Option<Duration>, RuleError> {
        let Some(said) = said else { return Ok(None) };
        let span = read_span(said.get_ref()).ok_or_else(|| {
            let cause = format!(
                "`{key}` is `{}`: a whole number with `ms`, `s`, `m`, `h` or `d`, at most 30d",
                said.get_ref()
            );
            self.error(said.span(), cause, "as in `90s` or `10m`")
        })?;
        Ok(Some(span))
    }

    /// The same, but it must be there and must not be nothing.
    fn long_span_of(
        &self,
        key: &str,
        said: Option<&Spanned<String>>,
        rule: Range<usize>,
    ) -> Result<Duration, RuleError> {
        match self.span_of(key, said)? {
            Some(span) if !span.is_zero() => Ok(span),
            found => {
                let cause = match found {
                    Some(_) => format!("`{key}` is no time at all: 1ms to 30d"),
                    None => format!("the rule lacks `{key}`"),
                };
                let at = said.map_or(rule, Spanned::span);
                Err(self.error(at, cause, "as in `90s` or `10m`"))
            }
        }
    }

    fn body(&self, said: &Spanned<RuleText>) -> Result<Body, RuleError> {
        let text = said.get_ref();
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
            [("count", _)] => self.counting(said),
            [("silence", _)] => self.waiting(said),
            [(_, _)] => self.holding(said),
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

    /// Refuses the first key that a rule of this kind has no use for.
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

    fn counting(&self, said: &Spanned<RuleText>) -> Result<Body, RuleError> {
        let text = said.get_ref();
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
            return self.spreading(said, window, count);
        }
        self.none_of(
            "`count` and no `distinct`",
            &[("settle", span(text.settle.as_ref()))],
        )?;
        let merge = self.shorter("merge", text.merge.as_ref(), "window", window)?;
        let trigger = text.trigger.as_ref();
        let trigger = trigger
            .map(|said| self.matches("trigger", said))
            .transpose()?;
        Ok(Body::Count(Count {
            window,
            count,
            merge,
            whole_seconds: text
                .whole_seconds
                .as_ref()
                .is_some_and(|said| *said.get_ref()),
            trigger: trigger.unwrap_or_default(),
            repeat: self.repeat(text.repeat.as_ref())?,
        }))
    }

    fn repeat(&self, said: Option<&Spanned<String>>) -> Result<Repeat, RuleError> {
        match said.map(|said| (said.get_ref().as_str(), said.span())) {
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
        said: &Spanned<RuleText>,
        window: Duration,
        count: usize,
    ) -> Result<Body, RuleError> {
        let text = said.get_ref();
        self.none_of(
            "`distinct`",
            &[
                ("merge", span(text.merge.as_ref())),
                ("whole_seconds", span(text.whole_seconds.as_ref())),
                ("trigger", span(text.trigger.as_ref())),
                ("repeat", span(text.repeat.as_ref())),
            ],
        )?;
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

    /// A length of time, nothing by default, that must be shorter than another.
    fn shorter(
        &self,
        key: &str,
        said: Option<&Spanned<String>>,
        other: &str,
        limit: Duration,
    ) -> Result<Duration, RuleError> {
        let found = self.span_of(key, said)?.unwrap_or_default();
        if found < limit {
            return Ok(found);
        }
        let at = span(said).unwrap_or_default();
        let cause = format!("`{key}` must be shorter than `{other}`");
        Err(self.error(at, cause, "two polls of the monitor are `2s`"))
    }

    fn waiting(&self, said: &Spanned<RuleText>) -> Result<Body, RuleError> {
        let text = said.get_ref();
        let mut others = not_for_waiting_or_holding(text).to_vec();
        others.push(("hold", span(text.hold.as_ref())));
        self.none_of("`silence`", &others)?;
        self.no_on(&text.matches, "`silence`")?;
        let silence = self.long_span_of("silence", text.silence.as_ref(), text.name.span())?;
        let broken_by = text.broken_by.as_ref();
        let broken_by = broken_by
            .map(|said| self.matches("broken_by", said))
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

    fn holding(&self, said: &Spanned<RuleText>) -> Result<Body, RuleError> {
        let text = said.get_ref();
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

    /// These rules know themselves which of a fault's events they wait for.
    fn no_on(&self, said: &Spanned<Vec<Spanned<MatchText>>>, kind: &str) -> Result<(), RuleError> {
        for one in said.get_ref() {
            let text = one.get_ref();
            let keys = [
                ("on", span(text.on.as_ref())),
                ("healthy", span(text.healthy.as_ref())),
            ];
            self.none_of(kind, &keys)?;
        }
        Ok(())
    }

    /// What a rule holds back must be there, and must count by the same things.
    fn holds(&self, parsed: &FileText, rules: &[Rule]) -> Result<(), RuleError> {
        for (said, rule) in parsed.rule.iter().zip(rules) {
            let Some(names) = &said.get_ref().holds else {
                continue;
            };
            if names.get_ref().is_empty() {
                let hint = "name the rules that are held back";
                return Err(self.error(names.span(), "`holds` is empty", hint));
            }
            for name in names.get_ref() {
                let held = rules.iter().find(|other| other.name == *name.get_ref());
                let cause = match held {
                    None => format!("there is no rule `{}` in this file", name.get_ref()),
                    Some(held) if matches!(held.body, Body::Hold(_)) => {
                        format!("`{}` holds others back and cannot be held", held.name)
                    }
                    Some(held) if held.group_by != rule.group_by => {
                        format!(
                            "`{}` has another `group_by` than `{}`",
                            held.name, rule.name
                        )
                    }
                    Some(_) => continue,
                };
                let hint = "a rule is held back group by group, port by port for instance";
                return Err(self.error(name.span(), cause, hint));
            }
        }
        Ok(())
    }
}

fn span<T>(said: Option<&Spanned<T>>) -> Option<Range<usize>> {
    said.map(Spanned::span)
}

fn not_for_waiting_or_holding(text: &RuleText) -> [(&'static str, Option<Range<usize>>); 7] {
    [
        ("window", span(text.window.as_ref())),
        ("merge", span(text.merge.as_ref())),
        ("whole_seconds", span(text.whole_seconds.as_ref())),
        ("trigger", span(text.trigger.as_ref())),
        ("repeat", span(text.repeat.as_ref())),
        ("distinct", span(text.distinct.as_ref())),
        ("settle", span(text.settle.as_ref())),
    ]
}
