//! Parses and checks a rule file: a rule that could never work is rejected.
//!
//! Every error has file, line and column, the source line, what is allowed, and a hint if there is
//! one. Start at [`read`].

use std::{collections::BTreeSet, ops::Range, time::Duration};

use proto::RecommendedAction;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    gathered::Gathered,
    place::{Place, RuleError},
    rule::{Body, GroupBy, Match, On, Rule},
    salvage,
    span::read_span,
    text::{FileText, MatchText, RuleText},
};

/// The largest size of a rule file, in bytes.
pub const FILE_MAX_BYTES: usize = 1 << 20;
/// The largest count of a rule.
pub const COUNT_MAX: usize = 1000;
/// The largest number of alternatives in one `match`.
pub const MATCHES_MAX: usize = 8;

/// The keys that each rule has.
const REQUIRED: [&str; 4] = ["name", "match", "group_by", "message"];

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
/// The mistakes, at least one, in the order of the text: of each rule those of its keys, or of its values if its keys can be
/// read; and those between rules if all of them are sound.
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
    let mut found = Gathered::default();
    let (version, texts) = match place.read::<FileText>(KEYS) {
        Ok(parsed) => (Some(parsed.rules_version), parsed.rule),
        Err(first) => place.piece_by_piece(first, &mut found),
    };
    if let Some(version) = version {
        found.take(place.version("rules_version", &version));
    }
    let mut rules: Vec<Rule> = Vec::new();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for reported in &texts {
        rules.extend(found.take(place.rule(reported)));
        let name = &reported.get_ref().name;
        if !names.insert(name.get_ref()) {
            let cause = format!("there are two rules `{}`", name.get_ref());
            let hint = "a rule's name is its check's name: give it another";
            found.note(place.error(name.span(), cause, hint));
        }
    }
    let rules = found.or(Some(rules)).map_err(Gathered::in_order)?;
    if rules.is_empty() {
        let hint = "begin a rule with `[[rule]]`";
        return Err(vec![place.error(0..0, "the file holds no rule", hint)]);
    }
    let between = place.holds(&texts, &rules);
    match between.is_empty() {
        true => Ok(rules),
        false => Err(between),
    }
}

/// What is missing in a rule, in the words of its reader.
fn lacking(rule: &DeValue<'_>) -> Vec<String> {
    let DeValue::Table(keys) = rule else {
        return Vec::new();
    };
    let missing = REQUIRED.into_iter().filter(|key| !keys.contains_key(*key));
    missing
        .map(|key| format!("missing field `{key}`"))
        .collect()
}

impl Place<'_> {
    /// The version and the rules of a text that is no rule file as a whole, so far as they can be read. `first` is its first
    /// mistake.
    fn piece_by_piece(
        &self,
        first: RuleError,
        found: &mut Gathered,
    ) -> (Option<Spanned<u32>>, Vec<Spanned<RuleText>>) {
        found.note(first);
        let mut tell = |at: Option<Range<usize>>, cause: &str| {
            let cause = cause.replace('\n', " ");
            found.note(self.error(at.unwrap_or(0..0), cause, KEYS));
        };
        let (table, of_syntax) = DeTable::parse_recoverable(self.text);
        // What a parser says of a syntax after its first mistake is a consequence of it, as a rule.
        if !of_syntax.is_empty() {
            return (None, Vec::new());
        }
        let mut table = table.into_inner();
        let mut texts = Vec::new();
        if let Some(DeValue::Array(rules)) = table.remove("rule").map(Spanned::into_inner) {
            for rule in rules {
                let lacking = lacking(rule.get_ref());
                match salvage::every(rule) {
                    Ok(text) => texts.push(text),
                    Err(mistakes) => {
                        for error in &mistakes {
                            tell(error.span(), error.message());
                            if error.message().starts_with("missing field") {
                                lacking.iter().for_each(|what| tell(error.span(), what));
                            }
                        }
                    }
                }
            }
        }
        let version = table.remove("rules_version").map(salvage::every);
        let version = version.transpose().unwrap_or_else(|mistakes| {
            let mistakes = mistakes.iter();
            mistakes.for_each(|error| tell(error.span(), error.message()));
            None
        });
        for key in table.keys() {
            let cause = format!(
                "unknown field `{}`, expected `rules_version` or `rule`",
                key.get_ref()
            );
            found.note(self.error(key.span(), cause, KEYS));
        }
        (version, texts)
    }

    fn rule(&self, reported: &Spanned<RuleText>) -> Result<Rule, Gathered> {
        let text = reported.get_ref();
        let mut found = Gathered::default();
        let name = found.take(self.name(&text.name));
        let message = found.take(self.message(&text.message));
        let matches = found.take(self.matches("match", &text.matches));
        let group_by = found.take(self.groups(&text.group_by));
        let body = found.take(self.body(reported));
        let action = found.take(self.action(text.action.as_ref()));
        let rule = || {
            Some(Rule {
                name: name?,
                description: text.description.trim().to_owned(),
                matches: matches?,
                group_by: group_by?,
                body: body?,
                action: action?,
                message: message?,
            })
        };
        let rule = rule();
        found.or(rule)
    }

    fn name(&self, reported: &Spanned<String>) -> Result<String, RuleError> {
        let name = reported.get_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 63 || !name.chars().all(plain) {
            let cause = format!("invalid name `{name}`: 1 to 63 letters, digits, `-` and `_`");
            let hint = "a rule's name becomes the type of a node condition";
            return Err(self.error(reported.span(), cause, hint));
        }
        Ok(name.clone())
    }

    fn message(&self, reported: &Spanned<String>) -> Result<String, RuleError> {
        if reported.get_ref().is_empty() {
            let hint = "say what was found and what to look at";
            return Err(self.error(reported.span(), "`message` is empty", hint));
        }
        Ok(reported.get_ref().clone())
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

    fn groups(&self, reported: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<GroupBy>, Gathered> {
        let mut found = Gathered::default();
        if reported.get_ref().is_empty() {
            let hint = "one port's faults are `[\"node\", \"NIC\", \"NICPort\"]`";
            return Err(self
                .error(reported.span(), "`group_by` is empty", hint)
                .into());
        }
        let mut groups = Vec::new();
        for word in reported.get_ref() {
            let Some(group) = found.take(self.group("group_by", word)) else {
                continue;
            };
            if groups.contains(&group) {
                let cause = format!("`group_by` names `{}` twice", group.word());
                found.note(self.error(word.span(), cause, "name it once"));
            }
            groups.push(group);
        }
        found.or(Some(groups))
    }

    pub(super) fn matches(
        &self,
        key: &str,
        reported: &Spanned<Vec<Spanned<MatchText>>>,
    ) -> Result<Vec<Match>, Gathered> {
        let all = reported.get_ref();
        if all.is_empty() || all.len() > MATCHES_MAX {
            let cause = format!("`{key}` has {} alternatives, 1 to {MATCHES_MAX}", all.len());
            let hint = "each is a table, as in `{ fatal = true }`";
            return Err(self.error(reported.span(), cause, hint).into());
        }
        let mut found = Gathered::default();
        let matches = all
            .iter()
            .filter_map(|one| found.take(self.one_match(key, one)))
            .collect();
        found.or(Some(matches))
    }

    fn one_match(&self, key: &str, reported: &Spanned<MatchText>) -> Result<Match, Gathered> {
        let text = reported.get_ref();
        let mut found = Gathered::default();
        let after = found.take(self.span_of("after", text.after.as_ref()));
        let on = found.take(self.on(reported, after.flatten()));
        if let (Some(after), Some(On::Each | On::Enter | On::Fall)) = (&text.after, on) {
            let hint = "it says how long something was unhealthy before it returned";
            let cause = "`after` goes with `on = \"return\"`";
            found.note(self.error(after.span(), cause, hint));
        }
        if let (Some(healthy), Some(On::Fall | On::Return { .. })) = (&text.healthy, on) {
            let hint = "a fall is unhealthy and a return is healthy by itself";
            let cause = "`healthy` goes with `on = \"each\"`";
            found.note(self.error(healthy.span(), cause, hint));
        }
        let meets = |on| Match {
            on,
            agent: text.agent.clone(),
            class: text.class.clone(),
            checks: text.checks.clone(),
            fatal: text.fatal,
            healthy: text.healthy.as_ref().map(|healthy| *healthy.get_ref()),
            codes: text.codes.clone(),
            message_contains: text.message_contains.clone(),
        };
        let says_nothing = text.agent.is_none()
            && text.class.is_none()
            && text.checks.is_empty()
            && text.fatal.is_none()
            && text.healthy.is_none()
            && text.codes.is_empty()
            && text.message_contains.is_none();
        if says_nothing {
            let cause = format!(
                "an alternative of `{key}` means every event: one of `agent`, `class`, `checks`, `fatal`, \
                 `healthy`, `codes`, `message_contains` is needed"
            );
            let hint = "the NIC monitor is `agent = \"nic-health-monitor\"`";
            found.note(self.error(reported.span(), cause, hint));
        }
        found.or(on.map(meets))
    }

    /// The events that an alternative means.
    fn on(&self, reported: &Spanned<MatchText>, after: Option<Duration>) -> Result<On, RuleError> {
        let text = reported.get_ref();
        Ok(match text.on.as_ref().map(|on| on.get_ref().as_str()) {
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
        })
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
    fn holds(&self, texts: &[Spanned<RuleText>], rules: &[Rule]) -> Vec<RuleError> {
        let mut mistakes = Vec::new();
        for (reported, rule) in texts.iter().zip(rules) {
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
