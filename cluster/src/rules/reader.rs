//! Parses and checks a rule file: a rule that could never work is rejected.
//!
//! Every error has file, line and column, the source line, what is allowed, and a hint if there is
//! one. Start at [`read`].

use std::{collections::BTreeSet, ops::Range, time::Duration};

use proto::RecommendedAction;
use serde::Deserialize as _;
use toml::{
    Spanned,
    de::{DeTable, DeValue, ValueDeserializer},
};

use super::{
    place::{Place, RuleError},
    rule::{Body, GroupBy, Match, On, Rule},
    span::read_span,
    text::{FileText, MatchText, RuleText},
};

/// The largest size of a rule file, in bytes.
pub const FILE_MAX_BYTES: usize = 1 << 20;
/// The largest count of a rule.
pub const COUNT_MAX: usize = 1000;
/// The largest number of alternatives in one `match`.
pub const MATCHES_MAX: usize = 8;

/// Where the keys are told.
const KEYS: &str = "`docs/rules.md` lists every key of a rule";

/// Parses the rules of a file, in order.
///
/// # Errors
/// The first mistake, with its place.
pub fn read(file: &str, text: &str) -> Result<Vec<Rule>, RuleError> {
    read_every(file, text).map_err(|mut mistakes| mistakes.swap_remove(0))
}

/// Parses the rules of a file like [`read`].
///
/// # Errors
/// The mistakes, at least one: the first one of each rule, and all of those between rules that are sound.
pub fn read_every(file: &str, text: &str) -> Result<Vec<Rule>, Vec<RuleError>> {
    let place = Place { file, text };
    if text.len() > FILE_MAX_BYTES {
        let cause = format!(
            "the file has {} bytes, at most {FILE_MAX_BYTES}",
            text.len()
        );
        let hint = "give each team's rules a file of its own";
        return Err(vec![place.error(0..0, cause, hint)]);
    }
    let parsed: FileText = place.read(KEYS).map_err(|first| place.every(first))?;
    let version = place.version("rules_version", &parsed.rules_version);
    version.map_err(|error| vec![error])?;
    if parsed.rule.is_empty() {
        let hint = "begin a rule with `[[rule]]`";
        return Err(vec![place.error(0..0, "the file holds no rule", hint)]);
    }
    let mut mistakes = Vec::new();
    let mut rules: Vec<Rule> = Vec::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for reported in &parsed.rule {
        match place.rule(reported) {
            Ok(rule) => rules.push(rule),
            Err(error) => mistakes.push(error),
        }
        let name = &reported.get_ref().name;
        if !names.insert(name.get_ref()) {
            let cause = format!("there are two rules `{}`", name.get_ref());
            let hint = "a rule's name is its check's name: give it another";
            mistakes.push(place.error(name.span(), cause, hint));
        }
    }
    if mistakes.is_empty() {
        mistakes = place.holds(&parsed, &rules);
    }
    match mistakes.is_empty() {
        true => Ok(rules),
        false => Err(mistakes),
    }
}

impl Place<'_> {
    /// The mistakes of a text that is no rule file: the first one of each rule, or all of its syntax.
    fn every(&self, first: RuleError) -> Vec<RuleError> {
        let (table, of_syntax) = DeTable::parse_recoverable(self.text);
        let told = |error: toml::de::Error| {
            let cause = error.message().replace('\n', " ");
            self.error(error.span().unwrap_or(0..0), cause, KEYS)
        };
        let mut mistakes: Vec<RuleError> = match of_syntax.is_empty() {
            false => of_syntax.into_iter().map(told).collect(),
            true => match table.into_inner().remove("rule").map(Spanned::into_inner) {
                Some(DeValue::Array(rules)) => rules
                    .into_iter()
                    .filter_map(|rule| RuleText::deserialize(ValueDeserializer::from(rule)).err())
                    .map(told)
                    .collect(),
                _ => Vec::new(),
            },
        };
        mistakes.retain(|mistake| *mistake != first);
        mistakes.insert(0, first);
        mistakes
    }

    fn rule(&self, reported: &Spanned<RuleText>) -> Result<Rule, RuleError> {
        let text = reported.get_ref();
        let name = text.name.get_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 63 || !name.chars().all(plain) {
            let cause = format!("invalid name `{name}`: 1 to 63 letters, digits, `-` and `_`");
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
            body: self.body(reported)?,
            action: self.action(text.action.as_ref())?,
            message: text.message.get_ref().clone(),
        })
    }

    fn action(&self, reported: Option<&Spanned<String>>) -> Result<RecommendedAction, RuleError> {
        let Some(reported) = reported else {
            return Ok(RecommendedAction::None);
        };
        let known = RecommendedAction::from_str_name(reported.get_ref());
        known.filter(|action| *action != RecommendedAction::Custom).ok_or_else(|| {
            let cause = format!(
                "invalid action `{}`: NONE, COMPONENT_RESET, CONTACT_SUPPORT, RUN_FIELDDIAG, RESTART_VM, \
                 RESTART_BM, REPLACE_VM, RUN_DCGMEUD, UNKNOWN",
                reported.get_ref()
            );
            self.error(reported.span(), cause, "everything but NONE is published as fatal")
        })
    }

    pub(super) fn group(
        &self,
        key: &str,
        reported: &Spanned<String>,
    ) -> Result<GroupBy, RuleError> {
        GroupBy::of_word(reported.get_ref()).ok_or_else(|| {
            let cause = format!(
                "`{key}` names `{}`: `node`, `check`, `code`, `switch`, or an entity type, which begins with \
                 a capital letter",
                reported.get_ref()
            );
            self.error(reported.span(), cause, "the NIC monitor's entity types are `NIC` and `NICPort`")
        })
    }

    fn groups(&self, reported: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<GroupBy>, RuleError> {
        let mut groups = Vec::new();
        for word in reported.get_ref() {
            let group = self.group("group_by", word)?;
            if groups.contains(&group) {
                let cause = format!("`group_by` names `{}` twice", group.word());
                return Err(self.error(word.span(), cause, "name it once"));
            }
            groups.push(group);
        }
        if groups.is_empty() {
            let hint = "one port's faults are `[\"node\", \"NIC\", \"NICPort\"]`";
            return Err(self.error(reported.span(), "`group_by` is empty", hint));
        }
        Ok(groups)
    }

    pub(super) fn matches(
        &self,
        key: &str,
        reported: &Spanned<Vec<Spanned<MatchText>>>,
    ) -> Result<Vec<Match>, RuleError> {
        let all = reported.get_ref();
        if all.is_empty() || all.len() > MATCHES_MAX {
            let cause = format!("`{key}` has {} alternatives, 1 to {MATCHES_MAX}", all.len());
            return Err(self.error(
                reported.span(),
                cause,
                "each is a table, as in `{ fatal = true }`",
            ));
        }
        all.iter().map(|one| self.one_match(key, one)).collect()
    }

    fn one_match(&self, key: &str, reported: &Spanned<MatchText>) -> Result<Match, RuleError> {
        let text = reported.get_ref();
        let after = self.span_of("after", text.after.as_ref())?;
        let on = match text.on.as_ref().map(|on| on.get_ref().as_str()) {
            None | Some("each") => On::Each,
            Some("fall") => On::Fall,
            Some("enter") => On::Enter,
            Some("return") => On::Return {
                after: after.unwrap_or_default(),
            },
            Some(other) => {
                let cause = format!("`on` is `{other}`: `each`, `enter`, `fall` or `return`");
                let span = text.on.as_ref().map_or(reported.span(), Spanned::span);
                let hint = "`fall` is an unhealthy event of what was well, `return` its end";
                return Err(self.error(span, cause, hint));
            }
        };
        if let (Some(after), On::Each | On::Enter | On::Fall) = (&text.after, on) {
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
            return Err(self.error(reported.span(), cause, hint));
        }
        Ok(meets)
    }

    pub(super) fn span_of(
        &self,
        key: &str,
        reported: Option<&Spanned<String>>,
    ) -> Result<Option<Duration>, RuleError> {
        let Some(reported) = reported else {
            return Ok(None);
        };
        let span = read_span(reported.get_ref()).ok_or_else(|| {
            let cause = format!(
                "`{key}` is `{}`: a number with `ms`, `s`, `m`, `h` or `d`, at most 30d",
                reported.get_ref()
            );
            self.error(reported.span(), cause, "as in `90s` or `10m`")
        })?;
        Ok(Some(span))
    }

    /// As above, but required and above zero.
    pub(super) fn long_span_of(
        &self,
        key: &str,
        reported: Option<&Spanned<String>>,
        rule: Range<usize>,
    ) -> Result<Duration, RuleError> {
        match self.span_of(key, reported)? {
            Some(span) if !span.is_zero() => Ok(span),
            found => {
                let cause = match found {
                    Some(_) => format!("`{key}` is zero: 1ms to 30d is allowed"),
                    None => format!("the rule lacks `{key}`"),
                };
                let at = reported.map_or(rule, Spanned::span);
                Err(self.error(at, cause, "as in `90s` or `10m`"))
            }
        }
    }

    /// What is wrong with rules that hold others back: those exist and group by the same values.
    fn holds(&self, parsed: &FileText, rules: &[Rule]) -> Vec<RuleError> {
        let mut mistakes = Vec::new();
        for (reported, rule) in parsed.rule.iter().zip(rules) {
            let Some(names) = &reported.get_ref().holds else {
                continue;
            };
            if names.get_ref().is_empty() {
                let hint = "name the rules that are held back";
                mistakes.push(self.error(names.span(), "`holds` is empty", hint));
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
                mistakes.push(self.error(name.span(), cause, hint));
            }
        }
        mistakes
    }
}
