//! The keys of a scenario's file: its title, where it applies, what runs, its handles and its
//! timeline.
//!
//! [`frame`] parses the keys that can be parsed before the handles are known, [`crate::plot`] those
//! that name handles.

use files::Place;
use serde_json::json;
use simfs::SimTime;
use terms::Arm;

use crate::cluster::ClusterPlan;
use crate::cluster_keys::cluster;
use crate::fitness::{Fitness, PLATFORMS};
use crate::handed::{CONFIG, FLAG};
use crate::handle::Handle;
use crate::keys::{Become, Defaulted, Keys, Literal, MapForm, Needed, maybe, need, or, together};
use crate::kind::{Checked, Choices, List, Many, Placed, Plain, Text, Words, plain, string_form};
use crate::map::{MapOf, OrMap};
use crate::plot::{HANDLES, plot};
use crate::story::{ChecksRun, Heal};
use crate::subject::NodeNames;
use crate::ticks::Ticks;
use crate::values::{NODES, POLLS, SPAN, TIME};
use crate::workload::{WORKLOADS, WorkloadSpec};

/// The keys of a file that do not depend on handles, parsed.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) why: String,
    pub(crate) covers: Vec<(String, Place)>,
    pub(crate) fitness: Fitness,
    pub(crate) world: Option<(String, Place)>,
    pub(crate) workloads: Vec<WorkloadSpec>,
    pub(crate) cluster: ClusterPlan,
    pub(crate) monitors: NodeNames,
    pub(crate) checks: ChecksRun,
    pub(crate) arms: Vec<Arm>,
    pub(crate) ticks: Ticks,
    pub(crate) until: Option<SimTime>,
    pub(crate) heal: Heal,
    pub(crate) flags: Vec<String>,
    pub(crate) config: String,
    pub(crate) handles: Vec<Handle>,
    pub(crate) fold_quiet: bool,
}

/// A form with the keys of a scenario's file.
pub(crate) fn keys(form: MapForm) -> MapForm {
    form.and(&frame()).and(&plot())
}

/// The keys that are parsed before the handles are known.
pub(crate) fn frame() -> impl Keys<Value = Frame> {
    together(
        (
            about(),
            place(),
            cluster(),
            monitors(),
            course(),
            maybe(
                "let",
                HANDLES,
                "Handles: names for ports, selected by their properties. A handle is bound to a slot and follows the hardware through renames.",
            ),
        ),
        |_, _, (about, place, cluster, monitors, course, handles)| {
            let (title, why, _, covers) = about;
            let (fitness, world, workloads) = place;
            let (monitors, checks, arms, flags, config) = monitors;
            let (ticks, until, heal, fold_quiet) = course;
            Ok(Frame {
                title,
                why: why.trim().to_owned(),
                covers: covers.unwrap_or_default(),
                fitness: fitness.unwrap_or_default(),
                world,
                workloads: workloads.unwrap_or_default(),
                cluster,
                monitors: monitors.unwrap_or_default(),
                checks,
                arms,
                ticks,
                until,
                heal,
                flags: flags.unwrap_or_default(),
                config: config.unwrap_or_default(),
                handles: handles.unwrap_or_default(),
                fold_quiet,
            })
        },
    )
}

type About = (String, String, (), Option<Vec<(String, Place)>>);

fn about() -> impl Keys<Value = About> {
    (
        need(
            "scenario",
            TITLE,
            "The title, one line of at most 200 characters.",
        ),
        need("why", Text("a text"), "The purpose of the scenario."),
        or(
            "scenario_version",
            Literal::Whole(1),
            VERSION,
            "The version of the language.",
        ),
        maybe(
            "covers",
            CLAUSES,
            "Ids of the clauses that it covers, such as `lsd/3.2/down-is-fatal`. An id with a prefix that nicdrill knows (`lsd/`, `lcd/`, `decision/`, `field/`, `cluster/`, `ldr/`, `lnet/`, `mpib/`) must exist; other prefixes are free.",
        ),
    )
}

/// The most characters of a title.
const TITLE_CHARS_MAX: usize = 200;

const TITLE: Checked<Text, String> = Checked(Text("a title"), |context, node, title| {
    let odd = title.trim_end().chars().find(|c| c.is_control());
    let what = match odd {
        Some(odd) => format!("a title is one line, and this one has the character {odd:?}"),
        None if title.chars().nth(TITLE_CHARS_MAX).is_some() => {
            format!("a title of more than {TITLE_CHARS_MAX} characters")
        }
        None => return Ok(title.trim_end().to_owned()),
    };
    Err(context
        .source
        .wrong(node.place, what)
        .hint("write one line; the rest belongs to `why`"))
});

pub(crate) const VERSION: Plain<()> = plain(
    "`1`",
    || json!({ "const": 1 }),
    |context, node| match context.source.number(node, 0, u64::MAX)? {
        1 => Ok(()),
        _ => Err(context
            .source
            .wrong(node.place, "this version of the language is not known")
            .hint("write `scenario_version: 1`")),
    },
);

/// The ids of `covers`.
pub(crate) const CLAUSES: List<Plain<(String, Place)>> = List("a list of clause ids", CLAUSE);

const CLAUSE: Plain<(String, Place)> = plain("a clause id", string_form, |context, node| {
    let id = context.source.text(node, "a clause id")?;
    let prefix = id.split_once('/').filter(|(_, rest)| !rest.is_empty());
    let plain = prefix.is_some_and(|(prefix, _)| {
        let mut letters = prefix.chars();
        letters.next().is_some_and(|c| c.is_ascii_lowercase())
            && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    });
    match plain && !id.contains(char::is_whitespace) {
        true => Ok((id, node.place)),
        false => Err(context
            .source
            .wrong(node.place, format!("invalid clause id `{id}`"))
            .hint("write the source's prefix, the section and what it says, such as `lsd/3.2/down-is-fatal`")),
    }
});

type Where = (
    Option<Fitness>,
    Option<(String, Place)>,
    Option<Vec<WorkloadSpec>>,
);

/// The keys that state where a scenario applies and what runs there.
fn place() -> impl Keys<Value = Where> {
    together(
        (
            maybe(
                "platforms",
                PLATFORMS,
                "The platforms that it applies to; `all` by default. It is not applicable to a platform that lacks a port for one of its handles.",
            ),
            maybe(
                "world",
                Placed(Text("a name")),
                "The world of several nodes that it applies to, instead of platforms.",
            ),
            maybe(
                "workloads",
                WORKLOADS,
                "The workloads that run from the start of the story.",
            ),
        ),
        |context, fields, (platforms, world, workloads)| {
            if platforms.is_some() && world.is_some() {
                return Err(context
                    .source
                    .wrong(
                        fields.place_of("platforms"),
                        "`platforms` and `world` in one scenario",
                    )
                    .hint("the world's file names the platforms of its nodes"));
            }
            Ok((platforms, world, workloads))
        },
    )
}

type Monitors = (
    Option<NodeNames>,
    ChecksRun,
    Vec<Arm>,
    Option<Vec<String>>,
    Option<String>,
);

fn monitors() -> impl Keys<Value = Monitors> {
    (
        maybe(
            "monitors",
            NODES,
            "The nodes that run a monitor; by default every node that the world's file does not exclude.",
        ),
        or(
            "checks",
            Literal::Text("state"),
            Choices(
                "word",
                &[
                    ("state", ChecksRun::State, "the two state checks"),
                    ("counters", ChecksRun::Counters, "the two counter checks"),
                    (
                        "char_devices",
                        ChecksRun::CharDevices,
                        "the check of character devices alone",
                    ),
                    ("all", ChecksRun::All, "all checks"),
                ],
            ),
            "Which of the monitor's checks run.",
        ),
        together(
            maybe(
                "arms",
                Many(
                    "arms",
                    Choices(
                        "arm",
                        &[
                            (
                                "memory",
                                Arm::Memory,
                                "the reference monitor's logic with simulated I/O",
                            ),
                            ("process", Arm::Process, "a process on a FUSE mount"),
                        ],
                    ),
                ),
                "The arms in which it can be played; both by default.",
            ),
            |_, _, arms| {
                let mut arms = arms.unwrap_or(vec![Arm::Memory, Arm::Process]);
                arms.sort_unstable();
                arms.dedup();
                Ok(arms)
            },
        ),
        maybe(
            "flags",
            Many("flags", FLAG),
            "Flags for the monitor, in addition to the descriptor's.",
        ),
        maybe("config", CONFIG, "Lines of the monitor's `config.toml`."),
    )
}

/// The keys that state how time passes and how the story ends.
fn course() -> impl Keys<Value = (Ticks, Option<SimTime>, Heal, bool)> {
    (
        or(
            "tick",
            Literal::Text("1s"),
            OrMap("a time, or a map", TICK, MapOf("`tick`", JITTERED)),
            "The time from one poll to the next. Poll k happens at k ticks, after everything that is due by then.",
        ),
        maybe(
            "until",
            TIME,
            "The story's last instant; by default two polls after the last line. Healing follows.",
        ),
        heal(),
        or(
            "quiet",
            Literal::Text("full"),
            Choices(
                "word",
                &[("fold", true, "one line"), ("full", false, "a line each")],
            ),
            "Whether a trace folds quiet minutes into one line.",
        ),
    )
}

/// A tick without jitter.
const TICK: Checked<Plain<SimTime>, Ticks> = Checked(SPAN, |context, node, tick| {
    if tick < SimTime::from_ms(1) {
        let what = "a tick is at least one millisecond";
        return Err(context.source.wrong(node.place, what));
    }
    Ok(Ticks::every(tick))
});

/// Ticks that come late.
const JITTERED: Jittered = together(
    (
        or(
            "every",
            Literal::Text("1s"),
            TICK,
            "The time from one poll to the next, if neither is late.",
        ),
        need(
            "jitter",
            SPAN,
            "The most by which a poll comes late, in whole milliseconds; poll 0 is never late.",
        ),
        or(
            "seed",
            Literal::Whole(0),
            SEED,
            "Another number makes the polls late by other times. One number gives the same times in both arms and in every repetition.",
        ),
    ),
    |context, fields, (every, jitter, seed)| {
        if jitter.as_ns() % 1_000_000 != 0 || jitter >= every.interval() {
            return Err(context
                .source
                .wrong(
                    fields.place_of("jitter"),
                    "a jitter is whole milliseconds, and less than a tick",
                )
                .hint("write how late a poll may be, such as `jitter: 5ms`"));
        }
        Ok(every.late(jitter, seed))
    },
);

type Jittered = Become<
    (
        Defaulted<Checked<Plain<SimTime>, Ticks>>,
        Needed<Plain<SimTime>>,
        Defaulted<Plain<u64>>,
    ),
    Ticks,
>;

const SEED: Plain<u64> = plain(
    "a whole number",
    || json!({ "type": "integer", "minimum": 0 }),
    |context, node| context.source.number(node, 0, u64::MAX),
);

/// The default deadline after healing, in polls.
const HEALED_WITHIN: u32 = 3;

fn heal() -> impl Keys<Value = Heal> {
    together(
        (
            maybe(
                "heal",
                Placed(OrMap(
                    "`never` or `{ within: 3 polls }`",
                    NEVER,
                    MapOf("`heal`", WITHIN),
                )),
                "How it ends. By default every fault is mended at the end, and 3 polls later nothing may be outstanding.",
            ),
            maybe(
                "because",
                Text("a text"),
                "The reason for `heal: never`; required with it.",
            ),
        ),
        |context, fields, spec| match spec {
            (Some((None, _)), Some(because)) => Ok(Heal::Never { because }),
            (Some((None, place)), None) => Err(context
                .source
                .wrong(place, "`heal: never` needs a reason")
                .hint("write `because: …` with the reason why the story may end with faults")),
            (_, Some(_)) => Err(context
                .source
                .wrong(
                    fields.place_of("because"),
                    "`because` without `heal: never`",
                )
                .hint("the purpose of the story belongs in `why`")),
            (Some((Some(polls), _)), None) => Ok(Heal::Within { polls, every: 1 }),
            (None, None) => Ok(Heal::Within {
                polls: HEALED_WITHIN,
                every: 1,
            }),
        },
    )
}

/// `heal: never`, which has no deadline.
const NEVER: Words<Option<u32>> = Words("word", &[("never", None)]);

/// The deadline after healing, in polls.
const WITHIN: Needed<Checked<Plain<u32>, Option<u32>>> = need(
    "within",
    Checked(POLLS, |_, _, polls| Ok(Some(polls))),
    "The deadline after the last port is ACTIVE.",
);
