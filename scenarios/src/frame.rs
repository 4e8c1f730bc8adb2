//! The keys of a scenario's file: its title, where it is told, what runs, its handles and its plot.
//!
//! [`frame`] is all that is parsed before the handles are known, [`crate::plot`] what names them.

use platforms::yaml::Place;
use serde_json::json;
use simfs::SimTime;

use crate::cluster::ClusterPlan;
use crate::cluster_keys::cluster;
use crate::fitness::{Fitness, PLATFORMS};
use crate::handle::Handle;
use crate::keys::{Keys, Literal, MapForm, Needed, maybe, need, or, together};
use crate::kind::{
    AnyText, Checked, Choices, List, Many, Placed, Plain, Text, Words, plain, string_form,
};
use crate::map::{MapOf, OrMap};
use crate::plot::{HANDLES, plot};
use crate::story::{Arm, ChecksRun, Heal};
use crate::subject::NodeNames;
use crate::values::{FLAG, NODES, POLLS, SPAN, TIME};
use crate::workload::{WORKLOADS, WorkloadSpec};

/// All that a file says before its handles are known.
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
    pub(crate) tick: SimTime,
    pub(crate) until: Option<SimTime>,
    pub(crate) heal: Heal,
    pub(crate) flags: Vec<String>,
    pub(crate) config: String,
    pub(crate) handles: Vec<Handle>,
    pub(crate) fold_quiet: bool,
}

/// The keys of a scenario's file.
pub(crate) fn keys() -> MapForm {
    frame().form().and(&plot())
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
                "Names for ports, chosen by what they are. A handle is a slot: it follows the hardware through renames.",
            ),
        ),
        |_, _, (about, place, cluster, monitors, course, handles)| {
            let (title, why, _, covers) = about;
            let (fitness, world, workloads) = place;
            let (monitors, checks, arms, flags, config) = monitors;
            let (tick, until, heal, fold_quiet) = course;
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
                tick,
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
            Text("a title"),
            "The title: the story in one line.",
        ),
        need("why", Text("a text"), "What the scenario is for."),
        or(
            "scenario_version",
            Literal::Whole(1),
            VERSION,
            "The version of the language.",
        ),
        maybe(
            "covers",
            List("a list of clause ids", CLAUSE),
            "The clauses of the sources that it covers, such as `lsd/3.2/down-is-fatal`. An id whose prefix nicdrill knows (`lsd/`, `lcd/`, `decision/`, `field/`, `cluster/`) must exist; any other prefix is your own.",
        ),
    )
}

const VERSION: Plain<()> = plain(
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
            .wrong(node.place, format!("`{id}` is no clause id"))
            .hint("write the source's prefix, the section and what it says, such as `lsd/3.2/down-is-fatal`")),
    }
});

type Where = (
    Option<Fitness>,
    Option<(String, Place)>,
    Option<Vec<WorkloadSpec>>,
);

/// Where it is told, and what runs there.
fn place() -> impl Keys<Value = Where> {
    together(
        (
            maybe(
                "platforms",
                PLATFORMS,
                "Where it is told, `all` unless said. On a platform that lacks what a handle asks for it is not applicable.",
            ),
            maybe(
                "world",
                Placed(Text("a name")),
                "The world of several nodes in which it is told, instead of on platforms.",
            ),
            maybe(
                "workloads",
                WORKLOADS,
                "What runs on the world's links, from the story's start.",
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
            "The nodes that a monitor runs on; every node that the world's file does not except, unless said.",
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
                    ("all", ChecksRun::All, "every one"),
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
                            ("memory", Arm::Memory, "pure code, simulated hands"),
                            ("process", Arm::Process, "a real process on a real mount"),
                        ],
                    ),
                ),
                "Where it can be played: both unless said.",
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
            "Flags for the monitor beyond the descriptor's.",
        ),
        maybe(
            "config",
            AnyText("lines of TOML"),
            "Lines for the monitor's `config.toml`.",
        ),
    )
}

/// How time passes and how the story ends.
fn course() -> impl Keys<Value = (SimTime, Option<SimTime>, Heal, bool)> {
    (
        or(
            "tick",
            Literal::Text("1s"),
            TICK,
            "The length of one poll. Poll k happens at k ticks, after everything done until then.",
        ),
        maybe(
            "until",
            TIME,
            "The story's last instant; two polls after the last line unless said. Healing comes after.",
        ),
        heal(),
        or(
            "quiet",
            Literal::Text("full"),
            Choices(
                "word",
                &[("fold", true, "one line"), ("full", false, "a line each")],
            ),
            "Whether minutes of nothing cost one line in a trace.",
        ),
    )
}

const TICK: Checked<Plain<SimTime>, SimTime> = Checked(SPAN, |context, node, tick| {
    if tick < SimTime::from_ms(1) {
        let what = "a tick is at least one millisecond";
        return Err(context.source.wrong(node.place, what));
    }
    Ok(tick)
});

/// The deadline after healing unless a scenario says otherwise, in polls.
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
                "How it ends. Everything is healed, and within 3 polls nothing may be outstanding, unless said.",
            ),
            maybe(
                "because",
                Text("a text"),
                "Why a story may end in trouble; goes with `heal: never`.",
            ),
        ),
        |context, fields, spec| match spec {
            (Some((None, _)), Some(because)) => Ok(Heal::Never { because }),
            (Some((None, place)), None) => Err(context
                .source
                .wrong(place, "`heal: never` says no reason")
                .hint("write `because: …`: why the story may end in trouble")),
            (_, Some(_)) => Err(context
                .source
                .wrong(
                    fields.place_of("because"),
                    "`because` without `heal: never`",
                )
                .hint("what the story is for stands in `why`")),
            (Some((Some(polls), _)), None) => Ok(Heal::Within { polls }),
            (None, None) => Ok(Heal::Within {
                polls: HEALED_WITHIN,
            }),
        },
    )
}

/// Healed never: no deadline.
const NEVER: Words<Option<u32>> = Words("word", &[("never", None)]);

/// Healed within so many polls.
const WITHIN: Needed<Checked<Plain<u32>, Option<u32>>> = need(
    "within",
    Checked(POLLS, |_, _, polls| Ok(Some(polls))),
    "The deadline after the last port is ACTIVE.",
);
