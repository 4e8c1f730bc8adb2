//! Verbs about files: rules on the monitor's file operations.

use files::{Node, YamlValue};
use serde_json::{Value as Json, json};

use super::spec::VerbSpec;
use crate::context::Context;
use crate::keys::{Literal, maybe, or};
use crate::kind::{
    AnyText, Kind, Many, Only, Parsed, Plain, Words, any_of, count, plain, string_form,
};
use crate::map::{Alternative, AtMostOne, OneOf, alt};
use crate::row::{Line, Row, word};
use crate::story::{FileOp, HangEnd, RuleEffect, RuleLasting};
use crate::subject::FileSpec;
use crate::values::{ERRNO, FileOf, SPAN, TRUTH, counted};

/// Verbs about files.
pub(crate) const FILES: &[&dyn Row<VerbSpec>] = &[
    &word(
        "read",
        FileOf("a file"),
        "A rule on reading a file: exactly one of `fail`, `hang`, `content`, `truncate`, `torn`, `vanish`.",
        "{ read: victim/state, fail: EIO, for: 3s }",
        (OneOf(READ_EFFECTS), KILLABLE, AtMostOne(LASTING), APPEARS),
        |line, file, (effect, killable, lasting, appears)| {
            let begins = (lasting, appears.is_some());
            rule(line, file, vec![FileOp::Read], (effect, killable), begins)
        },
    ),
    &word(
        "list",
        FileOf("a folder"),
        "A rule on listing a folder: exactly one of `fail`, `hang`, `vanish`.",
        "{ list: device of victim/ports, fail: EACCES, first: 2 }",
        (OneOf(READ_EFFECTS), KILLABLE, AtMostOne(LASTING), APPEARS),
        |line, folder, (effect, killable, lasting, appears)| {
            if let Some(key) = line.first_of(&["content", "truncate", "torn"]) {
                let node = line.fields.need(line.source(), key)?;
                return Err(line
                    .source()
                    .wrong(node.place, format!("a listing has no `{key}`"))
                    .hint("a listing can `fail`, `hang` or `vanish`"));
            }
            let begins = (lasting, appears.is_some());
            rule(line, folder, vec![FileOp::List], (effect, killable), begins)
        },
    ),
    &word(
        "write",
        FileOf("a file"),
        "A rule on writing: exactly one of `fail`, `short`, `hang`.",
        "{ write: state_file, fail: ENOSPC, nth: 2 }",
        (
            OneOf(WRITE_EFFECTS),
            KILLABLE,
            or(
                "ops",
                Literal::Text("write"),
                Many("operations", Words("operation", WRITES)),
                "The operations that the rule applies to.",
            ),
            AtMostOne(LASTING),
        ),
        |line, file, (effect, killable, ops, lasting)| {
            if !matches!(file, FileSpec::StateFile | FileSpec::Path(_)) {
                return Err(line
                    .source()
                    .wrong(line.value.place, "the folders of a device are not writable")
                    .hint("write `state_file`"));
            }
            rule(line, file, ops, (effect, killable), (lasting, false))
        },
    ),
    &word(
        "no_rule",
        Everywhere,
        "Removes the rules on a file, or all rules.",
        "{ no_rule: everywhere }",
        (),
        |_, file, ()| Ok(VerbSpec::NoRule(file)),
    ),
];

/// The operations on the writable folder by name.
pub(crate) const WRITES: &[(&str, FileOp)] = &[
    ("create", FileOp::Create),
    ("write", FileOp::Write),
    ("fsync", FileOp::Fsync),
    ("rename", FileOp::Rename),
    ("unlink", FileOp::Unlink),
];

fn rule(
    line: &Line<'_, '_>,
    file: FileSpec,
    ops: Vec<FileOp>,
    (mut effect, killed): (RuleEffect, Option<bool>),
    (lasting, appears_later): (Option<RuleLasting>, bool),
) -> Parsed<VerbSpec> {
    match (&mut effect, killed) {
        (RuleEffect::Hang { killable, .. }, Some(killed)) => *killable = killed,
        (_, None) => {}
        (_, Some(_)) => {
            let place = line.fields.place_of("killable");
            return Err(line.source().wrong(place, "`killable` goes with `hang`"));
        }
    }
    Ok(VerbSpec::Rule {
        file,
        ops,
        effect,
        lasting: lasting.unwrap_or(RuleLasting::Always),
        appears_later,
    })
}

const FAIL: crate::map::Alt<Plain<simfs::Errno>, RuleEffect> = alt(
    "fail",
    ERRNO,
    "The operation ends with this error.",
    RuleEffect::Fail,
);

const HANG: crate::map::Alt<Plain<HangEnd>, RuleEffect> = alt(
    "hang",
    HANG_END,
    "The operation gets no answer until the monitor's own timeout expires, or this many ticks have passed without a poll.",
    |until| RuleEffect::Hang {
        killable: true,
        until,
    },
);

const KILLABLE: crate::keys::Maybe<Plain<bool>> = maybe(
    "killable",
    TRUTH,
    "With `hang`: whether a kill interrupts the waiting process; `true` by default.",
);

const APPEARS: crate::keys::Maybe<Words<()>> = maybe(
    "appears",
    Words("time", &[("later", ())]),
    "`later`: the file or folder need not be there yet, but has to be before the story ends.",
);

const READ_EFFECTS: &[&dyn Alternative<RuleEffect>] = &[
    &FAIL,
    &HANG,
    &alt(
        "content",
        AnyText("a text"),
        "The file returns this text instead.",
        |text| RuleEffect::Content(text.into_bytes()),
    ),
    &alt(
        "truncate",
        count(0),
        "The file returns at most this many bytes.",
        RuleEffect::Truncate,
    ),
    &alt(
        "torn",
        AnyText("a text"),
        "The file returns the first half of its content and the rest of this text.",
        |text| RuleEffect::Torn(text.into_bytes()),
    ),
    &alt(
        "vanish",
        Only {
            value: true,
            otherwise: "`vanish: false` has no effect",
            hint: None,
        },
        "The file or folder disappears at this operation.",
        |()| RuleEffect::Vanish,
    ),
];

const WRITE_EFFECTS: &[&dyn Alternative<RuleEffect>] = &[
    &FAIL,
    &alt(
        "short",
        count(0),
        "A write accepts only this many bytes.",
        RuleEffect::ShortWrite,
    ),
    &HANG,
];

const LASTING: &[&dyn Alternative<RuleLasting>] = &[
    &alt(
        "for",
        SPAN,
        "The rule applies for this long.",
        RuleLasting::For,
    ),
    &alt(
        "nth",
        count(1),
        "The rule applies to the nth operation only, from 1.",
        RuleLasting::Nth,
    ),
    &alt(
        "first",
        count(1),
        "The rule applies to the first operations, this many.",
        RuleLasting::First,
    ),
];

const HANG_END: Plain<HangEnd> = plain("`given_up` or `N ticks`", string_form, hang_end);

fn hang_end(context: &Context<'_>, node: &Node) -> Parsed<HangEnd> {
    let text = context.source.text(node, "`given_up` or `N ticks`")?;
    match counted(&text, &["tick", "ticks"]) {
        _ if text == "given_up" => Ok(HangEnd::GivenUp),
        Some(ticks) if ticks > 0 => Ok(HangEnd::Ticks(ticks)),
        _ => Err(context
            .source
            .wrong(node.place, format!("invalid end of a hang `{text}`"))
            .hint("write `given_up` (by the monitor's own timeout) or `3 ticks`")),
    }
}

/// A file, or all of them.
struct Everywhere;

impl Kind for Everywhere {
    type Value = Option<FileSpec>;

    fn takes(&self) -> Option<String> {
        Some("a file or `everywhere`".to_owned())
    }

    fn schema(&self) -> Json {
        any_of([json!({ "const": "everywhere" }), FileOf("a file").schema()])
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<Option<FileSpec>> {
        match &node.value {
            YamlValue::Text(word) if word == "everywhere" => Ok(None),
            _ => context.file(node).map(Some),
        }
    }
}
