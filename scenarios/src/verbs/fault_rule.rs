//! The keys of `lnet_fault`: the effect of a fault rule of LNet, and the messages that it is about.
//!
//! Selectors and paces are those of `lnetctl fault drop add` and `fault delay add` (lnetctl(8)). Start at [`fault_keys`].

use std::collections::BTreeSet;

use files::Place;
use lnet::{FaultEffect, FaultRule, MessageKind, MsgStatus, Nid, NidPattern, Pace};
use serde_json::json;

use super::spec::RulePlaces;
use crate::keys::{Keys, maybe};
use crate::kind::{Many, Only, Parsed, Placed, Plain, Words, count, plain, string_form};
use crate::map::{Alternative, OneOf, alt};
use crate::row::Line;
use crate::values::{SPAN, positive, whole_seconds};

type Selectors = (
    Option<(NidPattern, Place)>,
    Option<(NidPattern, Place)>,
    Option<(Nid, Place)>,
    Option<Vec<MessageKind>>,
    Option<u32>,
);

type Paces = (Option<u32>, Option<u32>, Option<()>, Option<()>);

/// The keys of a rule.
pub(super) const fn fault_keys() -> impl Keys<Value = (FaultEffect, Selectors, Paces)> {
    (
        OneOf(FAULTS),
        (
            maybe(
                "from",
                Placed(PATTERN),
                "Only messages from this NID, such as `10.1.1.1@o2ib`, or from a net, such as `*@o2ib` (`-s`); `nicdrill lnet show` prints NIDs.",
            ),
            maybe(
                "to",
                Placed(PATTERN),
                "Only messages to this NID or net (`-d`).",
            ),
            maybe(
                "ni",
                Placed(NID),
                "Only messages that arrive at this NID of the node, or leave by it (`-o`).",
            ),
            maybe(
                "message",
                Many("kinds of message", MESSAGE),
                "Only messages of this kind (`-m`).",
            ),
            maybe("portal", count(0), "Only messages to this portal (`-p`)."),
        ),
        (
            maybe(
                "one_in",
                count(1),
                "Applies to one of this many messages (`-r`); to every message by default.",
            ),
            maybe(
                "every",
                WHOLE_SECONDS,
                "Instead of `one_in`: applies to the first message of each such interval (`-i`).",
            ),
            maybe(
                "random",
                Only {
                    value: true,
                    otherwise: "`random: false` says nothing",
                    hint: Some("leave it out"),
                },
                "With `every`: to the first message after a random time in each interval (`-n`).",
            ),
            maybe(
                "all",
                Only {
                    value: true,
                    otherwise: "`all: false` says nothing",
                    hint: Some("leave it out, or write `one_in` or `every`"),
                },
                "Applies to every message (`-x`), as without any pace; not with `delay`.",
            ),
        ),
    )
}

/// The rule of a line, and where it names NIDs.
pub(super) fn fault_rule(
    line: &Line<'_, '_>,
    (effect, (from, to, ni, kinds, portal), pace): (FaultEffect, Selectors, Paces),
) -> Parsed<(FaultRule, RulePlaces)> {
    let place = |named: &Option<(NidPattern, Place)>| named.as_ref().map(|(_, place)| *place);
    let places = RulePlaces {
        from: place(&from),
        to: place(&to),
        ni: ni.as_ref().map(|(_, place)| *place),
    };
    let pattern = |named: Option<(NidPattern, Place)>| named.map_or(NidPattern::Any, |it| it.0);
    if pace.3.is_some() && matches!(effect, FaultEffect::Delay(_)) {
        let wrong = line
            .source()
            .wrong(line.fields.place_of("all"), "`all` with `delay`");
        return Err(wrong.hint("a rule that delays has no such option: leave it out"));
    }
    let rule = FaultRule {
        source: pattern(from),
        destination: pattern(to),
        kinds: kinds.into_iter().flatten().collect::<BTreeSet<_>>(),
        portal,
        via: ni.map(|(nid, _)| nid),
        pace: self::pace(line, pace)?,
        effect,
    };
    Ok((rule, places))
}

/// What a NID or pattern should look like.
const NID_HINT: &str =
    "write an address, `@` and a net, such as `10.1.1.1@o2ib`; in `from` and `to` also `*@o2ib`";

const PATTERN: Plain<NidPattern> =
    plain("a NID or `*@` and a net", string_form, |context, node| {
        let text = context.source.text(node, "a NID")?;
        text.parse().map_err(|_| {
            let what = format!("invalid NID `{text}`");
            context.source.wrong(node.place, what).hint(NID_HINT)
        })
    });

pub(super) const NID: Plain<Nid> = plain("a NID", string_form, |context, node| {
    let text = context.source.text(node, "a NID")?;
    text.parse().map_err(|_| {
        let what = format!("invalid NID `{text}`");
        context.source.wrong(node.place, what).hint(NID_HINT)
    })
});

/// The kinds that this model sends, as the tool spells them.
const MESSAGE: Words<MessageKind> = Words(
    "kind of message",
    &[
        ("PUT", MessageKind::Put),
        ("ACK", MessageKind::Ack),
        ("GET", MessageKind::Get),
        ("REPLY", MessageKind::Reply),
    ],
);

const FAULTS: &[&dyn Alternative<FaultEffect>] = &[
    &alt(
        "simulate",
        Many("message statuses", MESSAGE_STATUS),
        "Sent messages end with this status, such as `local_dropped`; of several, a random one.",
        |statuses| FaultEffect::Simulate(statuses.into_iter().collect()),
    ),
    &alt(
        "drop",
        Only {
            value: true,
            otherwise: "`drop: false` is not a fault",
            hint: None,
        },
        "Received messages are lost.",
        |()| FaultEffect::Drop,
    ),
    &alt(
        "delay",
        SPAN,
        "Received messages are delayed by this much.",
        FaultEffect::Delay,
    ),
];

fn statuses() -> impl Iterator<Item = MsgStatus> {
    let all = MsgStatus::ALL.into_iter();
    all.filter(|status| *status != MsgStatus::Ok)
}

const MESSAGE_STATUS: Plain<MsgStatus> = plain(
    "a message status",
    || json!({ "enum": statuses().map(MsgStatus::name).collect::<Vec<_>>() }),
    |context, node| {
        let words: Vec<(&str, MsgStatus)> =
            statuses().map(|status| (status.name(), status)).collect();
        context.source.choice(node, "message status", &words)
    },
);

/// A duration in whole seconds, LNet's unit.
const WHOLE_SECONDS: Plain<u32> = plain("a time in whole seconds", string_form, |context, node| {
    let time = positive(&context.source, node)?;
    let secs = whole_seconds(&context.source, node, time)?;
    Ok(u32::try_from(secs).unwrap_or(u32::MAX))
});

fn pace(line: &Line<'_, '_>, (one_in, every, random, all): Paces) -> Parsed<Pace> {
    let other = [("one_in", one_in.is_some()), ("every", every.is_some())];
    if let (Some(()), Some((other, _))) = (all, other.iter().find(|(_, there)| *there)) {
        let what = format!("`all` and `{other}` in one line");
        return Err(line.source().wrong(line.fields.place_of("all"), what));
    }
    if random.is_some() && every.is_none() {
        let what = "`random` without `every`";
        let wrong = line.source().wrong(line.fields.place_of("random"), what);
        return Err(wrong.hint("a window of `one_in` has its message at a random place anyway"));
    }
    match (one_in, every) {
        (None, None) => Ok(Pace::Every),
        (Some(number), None) => Ok(Pace::OneIn(number)),
        (None, Some(secs)) if random.is_some() => Ok(Pace::RandomlyEverySecs(secs)),
        (None, Some(secs)) => Ok(Pace::EverySecs(secs)),
        (Some(_), Some(_)) => Err(line.source().wrong(
            line.fields.place_of("every"),
            "`one_in` and `every` in one line",
        )),
    }
}
