//! Parses and checks a rule file: a rule that could never work is rejected.
//!
//! Every error has file, line and column, the source line, what is allowed, and a hint if there is
//! one. Start at [`read`].

use std::{collections::BTreeSet, ops::Range, time::Duration};

use files::{
    About, FileError, Mistakes,
    toml::{Part as Piece, Source},
};
use proto::RecommendedAction;
use toml::{Spanned, de::DeValue};

use super::{
    place::{Place, RuleError},
    rule::{GroupBy, Match, On, Rule},
    span::read_span,
    text::{MatchText, RuleText},
};

/// The largest size of a rule file, in bytes.
pub const FILE_MAX_BYTES: usize = 1 << 20;
/// The largest count of a rule.
pub const COUNT_MAX: usize = 1000;
/// The largest number of alternatives in one `match`.
pub(crate) const MATCHES_MAX: usize = 8;

/// The keys that each rule has, with values in which nothing is wrong.
const STAND_IN: &str =
    "name = 'R'\nmatch = [{ fatal = true }]\ngroup_by = ['node']\nmessage = 'm'\n";

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
/// The mistakes, at least one, in the order of the text. Of a rule some of whose keys cannot be read those of the other
/// values are told, and none between its keys.
pub fn read_every(file: &str, text: &str) -> Result<Vec<Rule>, Vec<RuleError>> {
    let keys = KEYS;
    let place = Place(Source { file, text, keys });
    if text.len() > FILE_MAX_BYTES {
        let cause = format!(
            "the file has {} bytes, at most {FILE_MAX_BYTES}",
            text.len()
        );
        let hint = "give each team's rules a file of its own";
        return Err(vec![RuleError(place.error(0..0, cause, hint))]);
    }
    let mut found = Mistakes::default();
    let parts = place.parts(&mut found);
    let mut rules: Vec<Rule> = Vec::new();
    let mut are_named = parts.iter().all(|part| part.is_named);
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for part in &parts {
        let rule = place.rule(&part.text);
        rules.extend(match part.is_whole {
            true => found.take(rule),
            false => {
                found.take(rule.map_err(Mistakes::of_values));
                None
            }
        });
        let name = &part.text.get_ref().name;
        if part.is_named && !names.insert(name.get_ref()) {
            let cause = format!("there are two rules `{}`", name.get_ref());
            let hint = "a rule's name is its check's name: give it another";
            found.note(place.error(name.span(), cause, hint));
            are_named = false;
        }
    }
    place.holds(&parts, are_named, &mut found);
    if rules.is_empty() && found.is_empty() {
        let hint = "begin a rule with `[[rule]]`";
        found.note(place.error(0..0, "the file holds no rule", hint));
    }
    found.or(Some(rules)).map_err(in_order)
}

/// The mistakes of a file, in the order of its text.
pub(super) fn in_order(found: Mistakes) -> Vec<RuleError> {
    found.into_iter().map(RuleError).collect()
}

/// A rule of a file, so far as it can be read.
struct Part {
    /// Its keys; a key that is required and cannot be read has a value that is never wrong.
    text: Spanned<RuleText>,
    /// Whether all of its keys can be read.
    is_whole: bool,
    /// Whether it has a name that a rule can have.
    is_named: bool,
}

impl Place<'_> {
    /// The rules of a file, so far as they can be read.
    fn parts(&self, found: &mut Mistakes) -> Vec<Part> {
        let Some(table) = found.take(self.0.table()) else {
            return Vec::new();
        };
        let mut table = table.into_inner();
        let version = table.remove("rules_version");
        let rules = table.remove("rule");
        match version {
            Some(version) => {
                let version = self.0.part(version, "", found).value;
                let version = version.map(|version| self.version("rules_version", &version));
                found.take(version.unwrap_or(Ok(())));
            }
            None if table.is_empty() => {
                found.note(self.error(0..0, "missing field `rules_version`", KEYS));
            }
            // An unknown key may have been meant.
            None => {}
        }
        let mut parts = Vec::new();
        if let Some(rules) = rules {
            let span = rules.span();
            match rules.into_inner() {
                DeValue::Array(rules) => {
                    parts.extend(rules.into_iter().filter_map(|rule| self.part(rule, found)));
                }
                other => {
                    let cause = format!("`rule` is of type {}, expected a list", other.type_str());
                    found.note(self.error(span, cause, "begin each rule with `[[rule]]`"));
                }
            }
        }
        for key in table.keys() {
            found.note(self.0.unknown(key, &["rules_version", "rule"]));
        }
        parts
    }

    /// A rule, so far as it can be read; `None` if nothing is left of it.
    fn part(&self, rule: Spanned<DeValue<'_>>, found: &mut Mistakes) -> Option<Part> {
        let read: Piece<Spanned<RuleText>> = self.0.part(rule, STAND_IN, found);
        let text = read.value?;
        let has_name = !read.lacking.iter().any(|key| key == "name");
        Some(Part {
            is_whole: read.is_whole,
            is_named: has_name && self.name(&text.get_ref().name).is_ok(),
            text,
        })
    }

    fn rule(&self, reported: &Spanned<RuleText>) -> Result<Rule, Mistakes> {
        let text = reported.get_ref();
        let mut found = Mistakes::default();
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

    fn name(&self, reported: &Spanned<String>) -> Result<String, FileError> {
        let name = reported.get_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 63 || !name.chars().all(plain) {
            let cause = format!("invalid name `{name}`: 1 to 63 letters, digits, `-` and `_`");
            let hint = "a rule's name becomes the type of a node condition";
            return Err(self.error(reported.span(), cause, hint));
        }
        Ok(name.clone())
    }

    fn message(&self, reported: &Spanned<String>) -> Result<String, FileError> {
        if reported.get_ref().is_empty() {
            let hint = "say what was found and what to look at";
            return Err(self.error(reported.span(), "`message` is empty", hint));
        }
        Ok(reported.get_ref().clone())
    }

    fn action(&self, reported: Option<&Spanned<String>>) -> Result<RecommendedAction, FileError> {
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
    ) -> Result<GroupBy, FileError> {
        GroupBy::of_word(reported.get_ref()).ok_or_else(|| {
            let cause = format!(
                "`{key}` names `{}`: `node`, `check`, `code`, `switch`, or an entity type, which begins with \
                 a capital letter",
                reported.get_ref()
            );
            self.error(reported.span(), cause, "the NIC monitor's entity types are `NIC` and `NICPort`")
        })
    }

    fn groups(&self, reported: &Spanned<Vec<Spanned<String>>>) -> Result<Vec<GroupBy>, Mistakes> {
        let mut found = Mistakes::default();
        if reported.get_ref().is_empty() {
            let hint = "one port's faults are `[\"node\", \"NIC\", \"NICPort\"]`";
            let empty = self.error(reported.span(), "`group_by` is empty", hint);
            return Err(empty.into());
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
    ) -> Result<Vec<Match>, Mistakes> {
        let all = reported.get_ref();
        if all.is_empty() || all.len() > MATCHES_MAX {
            let cause = format!("`{key}` has {} alternatives, 1 to {MATCHES_MAX}", all.len());
            let hint = "each is a table, as in `{ fatal = true }`";
            return Err(self.error(reported.span(), cause, hint).into());
        }
        let mut found = Mistakes::default();
        let matches = all
            .iter()
            .filter_map(|one| found.take(self.one_match(key, one)))
            .collect();
        found.or(Some(matches))
    }

    fn one_match(&self, key: &str, reported: &Spanned<MatchText>) -> Result<Match, Mistakes> {
        let text = reported.get_ref();
        let mut found = Mistakes::default();
        let after = found.take(self.span_of("after", text.after.as_ref()));
        let on = found.take(self.on(reported, after.flatten()));
        if let (Some(after), Some(On::Each | On::Enter | On::Fall)) = (&text.after, on) {
            let hint = "it says how long something was unhealthy before it returned";
            let cause = "`after` goes with `on = \"return\"`";
            found.note_between(self.error(after.span(), cause, hint));
        }
        if let (Some(healthy), Some(On::Fall | On::Return { .. })) = (&text.healthy, on) {
            let hint = "a fall is unhealthy and a return is healthy by itself";
            let cause = "`healthy` goes with `on = \"each\"`";
            found.note_between(self.error(healthy.span(), cause, hint));
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
            found.note_between(self.error(reported.span(), cause, hint));
        }
        found.or(on.map(meets))
    }

    /// The events that an alternative means.
    fn on(&self, reported: &Spanned<MatchText>, after: Option<Duration>) -> Result<On, FileError> {
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
    ) -> Result<Option<Duration>, FileError> {
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
    ) -> Result<Duration, Mistakes> {
        let hint = "as in `90s` or `10m`";
        let Some(reported) = reported else {
            let cause = format!("the rule lacks `{key}`");
            return Err(Mistakes::between(self.error(rule, cause, hint)));
        };
        let span = self.span_of(key, Some(reported))?.unwrap_or_default();
        if span.is_zero() {
            let cause = format!("`{key}` is zero: 1ms to 30d is allowed");
            return Err(self.error(reported.span(), cause, hint).into());
        }
        Ok(span)
    }

    /// What is wrong with rules that hold others back: those exist and group by the same values. Rules whose keys cannot be
    /// read are not compared; unless all have a name, the one that is missing may be one of them.
    fn holds(&self, parts: &[Part], are_named: bool, found: &mut Mistakes) {
        let named = || parts.iter().filter(|part| part.is_named);
        let name_of = |part: &Part| part.text.get_ref().name.get_ref().clone();
        let known: Vec<String> = named().map(name_of).collect();
        for part in parts {
            let Some(holds) = &part.text.get_ref().holds else {
                continue;
            };
            if holds.get_ref().is_empty() {
                let hint = "name the rules that are held back";
                found.note(self.error(holds.span(), "`holds` is empty", hint));
            }
            for name in holds.get_ref() {
                let held = named().find(|other| name_of(other) == *name.get_ref());
                let cause = match held {
                    None if !are_named => continue,
                    None => format!(
                        "there is no rule `{}` in this file: `{}`",
                        name.get_ref(),
                        known.join("`, `")
                    ),
                    Some(held) if held.text.get_ref().holds.is_some() => {
                        format!("`{}` holds others back and cannot be held", name.get_ref())
                    }
                    Some(held) if held.groups_unlike(part) => {
                        format!(
                            "`{}` has another `group_by` than `{}`",
                            name.get_ref(),
                            name_of(part)
                        )
                    }
                    Some(_) => continue,
                };
                let hint = "a rule is held back group by group, port by port for instance";
                let mistake = self.error(name.span(), cause, hint);
                found.note(match held {
                    Some(_) => mistake,
                    None => mistake.about(About::Unknown {
                        kind: "rule",
                        name: name.get_ref().clone(),
                        known: known.clone(),
                    }),
                });
            }
        }
    }
}

impl Part {
    /// Whether it groups by other values, if all keys of both can be read.
    fn groups_unlike(&self, other: &Self) -> bool {
        let words = |part: &Self| -> Vec<String> {
            let words = part.text.get_ref().group_by.get_ref().iter();
            words.map(|word| word.get_ref().clone()).collect()
        };
        self.is_whole && other.is_whole && words(self) != words(other)
    }
}
