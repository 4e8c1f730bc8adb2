//! Verbs about both ends of a link, the switches and the subnet manager.

use fabric::opa::{
    ErrorInfo, FirmwareReport, LinkDownReason, LinkInitReason, LinkWidths, PortErrorAction,
};
use fabric::{Action, PortAction, PortsAction};
use files::{Node, YamlValue};

use super::spec::{ActionSpec, VerbSpec, port, ports};
use crate::context::Context;
use crate::keys::{Defaulted, Literal, maybe, need, or, together};
use crate::kind::{Choices, Kind, Parsed, Placed, Plain, Text, Words, any_of, number, plain};
use crate::row::{Row, word};
use crate::values::{POWER, Reason, SIDE, SPAN, TRUTH};

/// Verbs about links.
pub(crate) const LINKS: &[&dyn Row<VerbSpec>] = &[
    &word(
        "subnet_manager",
        Choices(
            "word after `subnet_manager`",
            &[
                (
                    "stop",
                    ManagerStep::Stop,
                    "stops; ACTIVE ports stay ACTIVE, others wait in INIT",
                ),
                (
                    "die",
                    ManagerStep::Die,
                    "stops, and every InfiniBand port goes to INIT",
                ),
                ("start", ManagerStep::Start, "runs again"),
                (
                    "start_without_logs",
                    ManagerStep::StartWithoutLogs,
                    "runs again, without its logs of links that went down; its first sweep takes what it finds as given",
                ),
                (
                    "take_over",
                    ManagerStep::TakeOver,
                    "a standby takes over, now or after a `stop`; it has no logs, sweeps at once, and takes what it finds as given",
                ),
            ],
        ),
        "The InfiniBand subnet manager, on Omni-Path the fabric manager.",
        "{ subnet_manager: die }",
        (),
        |_, step, ()| Ok(VerbSpec::World(step.action())),
    ),
    &word(
        "sweep_every",
        SPAN,
        "Changes when the subnet manager sweeps. It sweeps at once, then at this interval, 10s at rest, and 100 ms after a port's trap.",
        "{ sweep_every: 60s, traps: ignored }",
        or(
            "traps",
            Literal::Text("heeded"),
            TRAPS,
            "Whether a port's trap makes it sweep.",
        ),
        |_, every, on_traps| Ok(VerbSpec::World(Action::Sweeps { every, on_traps })),
    ),
    &port(
        "take_down",
        "An end of the link takes it down. For a reason that holds, such as `switch_mgmt` or `power_policy`, it stays down until `release` or `mend`; for others, such as `fm_bounce`, it trains again at once.",
        "{ take_down: victim, why: fm_bounce, end: there }",
        (
            need(
                "why",
                Reason(LinkDownReason::is_some, "not a reason to go down"),
                WHY,
            ),
            END,
            or(
                "unheard",
                Literal::Truth(false),
                TRUTH,
                "Whether the message to the other end is lost.",
            ),
        ),
        |(reason, side, unheard)| PortAction::TakeDown {
            side,
            reason,
            says: !unheard,
        },
    ),
    &port(
        "two_sided",
        "Both ends of the link take it down at the same instant, each for a reason that does not hold; it trains again.",
        "{ two_sided: victim, why: fm_bounce, partner_why: excessive_buffer_overrun }",
        (
            need("why", PASSES, WHY),
            need("partner_why", PASSES, "The other end's reason."),
            maybe(
                "unheard",
                Words(
                    "end of a link",
                    &[
                        ("here", [false, true]),
                        ("there", [true, false]),
                        ("both", [false, false]),
                    ],
                ),
                "The end whose message is lost; none by default.",
            ),
        ),
        |(here, there, heard)| {
            let [from_here, from_there] = heard.unwrap_or([true, true]);
            PortAction::BothTakeDown {
                here: (here, from_here),
                there: (there, from_there),
            }
        },
    ),
    &port(
        "release",
        "Removes a reason that holds an end down.",
        "{ release: victim, why: switch_mgmt, end: there }",
        (
            need(
                "why",
                Reason(LinkDownReason::holds, "not a reason that holds a port down"),
                WHY,
            ),
            END,
        ),
        |(reason, side)| PortAction::Release { side, reason },
    ),
    &port(
        "clear_reason",
        "A manager sets a reason of an end to 0 in a Set(PortInfo), and nothing else; the other one stays. Arming clears both.",
        "{ clear_reason: victim, which: neighbour, end: there }",
        (
            need(
                "which",
                Words(
                    "reason of an end",
                    &[
                        ("own", [true, false]),
                        ("neighbour", [false, true]),
                        ("both", [true, true]),
                    ],
                ),
                "Its LinkDownReason, its NeighborLinkDownReason, or both.",
            ),
            END,
        ),
        |([local, neighbour], side)| PortAction::ClearReasons {
            side,
            local,
            neighbour,
        },
    ),
    &port(
        "packet_error",
        "An end detects an error in what it receives (reasons 1 to 32). If its `error_action` names the error, it takes the link down. `excessive_buffer_overrun` also counts, if the end is the node's own; an hfi1 finds it in its check every ten seconds.",
        "{ packet_error: victim, why: bad_sc }",
        (need("why", PACKET_ERROR, WHY), END),
        |(reason, side)| match reason {
            LinkDownReason::EXCESSIVE_BUFFER_OVERRUN => PortAction::BufferOverrun { side },
            reason => PortAction::PacketError { side, reason },
        },
    ),
    &port(
        "error_action",
        "The errors for which an end takes its link down; all of them at rest.",
        "{ error_action: victim, to: [ bad_sc, pkt_too_long ], end: there }",
        (need("to", ERROR_ACTION, "Which."), END),
        |(action, side)| PortAction::ErrorAction { side, action },
    ),
    &port(
        "error_registers",
        "The two error registers of the node's own port hold these numbers. Each bounces the link if `error_action` names its error; an hfi1 writes a line of each to the kernel log, also of a number without an error.",
        "{ error_registers: victim, packet: 9 }",
        together(
            (
                maybe(
                    "flit",
                    BYTE,
                    "The number in the register of flit errors: 0 to 6 are the reasons 17 to 23, 8 is 21.",
                ),
                maybe(
                    "packet",
                    BYTE,
                    "The number in the register of packet errors: 1 to 7, 9, 11 and 12 are the reasons 2 to 8, 10, 12 and 13.",
                ),
            ),
            |context, fields, (fm_config, receive)| {
                if fm_config.is_none() && receive.is_none() {
                    return Err(context
                        .source
                        .wrong(fields.place, "`error_registers` needs `flit` or `packet`")
                        .hint("write `flit: 2`, `packet: 9`, or both"));
                }
                Ok(ErrorInfo { fm_config, receive })
            },
        ),
        |info| PortAction::ErrorRegisters { info },
    ),
    &port(
        "firmware_report",
        "The link goes down without a reason at either end and trains again; the firmware of the node's own port (on an hfi1 the 8051) reports this code of it, which an hfi1 writes to the kernel log.",
        "{ firmware_report: victim, code: 51 }",
        need(
            "code",
            REPORT,
            "The code: 10 is a link that went down unexpectedly, 12 a request of the host; the driver does not know others.",
        ),
        |report| PortAction::FirmwareReport { report },
    ),
    &port(
        "lose_lanes",
        "Lanes of the link die in the direction of an end, which goes on with those that are left (LinkWidthDowngrade); the link stays ACTIVE, and sysfs shows the rate of before, unless a `width_policy` takes it down. All lanes are back when the link comes up again.",
        "{ lose_lanes: victim, left: 2, end: there }",
        (
            need("left", LANES, "How many lanes are left."),
            or(
                "end",
                Literal::Text("here"),
                SIDE,
                "The end that receives over them: the node's own port, or its partner.",
            ),
        ),
        |(left, side)| PortAction::LoseLanes { side, left },
    ),
    &port(
        "width_policy",
        "The numbers of lanes with which an end lets a downgraded link stay up; all of them at rest. With another number it takes the link down (41), and all lanes are back when it has trained.",
        "{ width_policy: victim, to: [ 3, 4 ], end: there }",
        (need("to", WIDTHS, "Which."), END),
        |(allowed, side)| PortAction::WidthPolicy { side, allowed },
    ),
    &port(
        "overheat",
        "The device of the port reaches its critical temperature. The driver `hfi1`, the only one with such a limit, sends reason 61 and takes the link down until it is loaded again or the port is mended; sysfs goes on showing the states of before.",
        "{ overheat: victim }",
        (),
        |()| PortAction::Overheat,
    ),
    &port(
        "quarantine",
        "The fabric manager keeps the link in Init from its next training on, for a reason that an end shows then; or lets it out.",
        "{ quarantine: victim, why: flapping }",
        (
            need(
                "why",
                INIT_REASON,
                "The LinkInitReason, of which `flapping` outlasts further trainings; `none` lets it out.",
            ),
            END,
        ),
        |(reason, side)| PortAction::Quarantine { side, reason },
    ),
    &port(
        "module",
        "Removes the transceiver module of an end, or inserts it.",
        "{ module: victim, to: out }",
        (
            need(
                "to",
                Words("word", &[("out", false), ("in", true)]),
                "Which.",
            ),
            END,
        ),
        |(there, side)| PortAction::Module { side, there },
    ),
    &port(
        "neighbour_reboots",
        "The host at the other end reboots in an orderly way.",
        "{ neighbour_reboots: victim, takes: 20s }",
        need(
            "takes",
            SPAN,
            "Time from going down until its port signals again.",
        ),
        |takes| PortAction::NeighbourReboot { takes },
    ),
    &ports(
        "partner_power",
        "The partner of these ports loses its power, or has it again.",
        "{ partner_power: victim, to: lost }",
        need("to", POWER, "Which."),
        |on| PortsAction::SwitchPower { on },
    ),
    &word(
        "switch",
        Placed(Text("a switch of the world")),
        "The switch loses its power, and with it every port that is cabled to it; or has it again.",
        "{ switch: leaf-3, power: lost }",
        need("power", POWER, "Which."),
        |_, switch, on| Ok(VerbSpec::SwitchPower { switch, on }),
    ),
];

/// What happens to the subnet manager.
#[derive(Clone, Copy)]
enum ManagerStep {
    Stop,
    Die,
    Start,
    StartWithoutLogs,
    TakeOver,
}

impl ManagerStep {
    fn action(self) -> ActionSpec {
        let (running, reinitialise, keeps_logs) = match self {
            Self::Stop => (false, false, true),
            Self::Die => (false, true, true),
            Self::Start => (true, false, true),
            Self::StartWithoutLogs => (true, false, false),
            Self::TakeOver => return Action::StandbyTakesOver,
        };
        Action::SubnetManager {
            running,
            reinitialise,
            keeps_logs,
        }
    }
}

const TRAPS: Words<bool> = Words(
    "treatment of traps",
    &[("heeded", true), ("ignored", false)],
);

const WHY: &str = "The LinkDownReason: the end of its symbol in lower case.";

const END: Defaulted<Words<fabric::Side>> = or(
    "end",
    Literal::Text("here"),
    SIDE,
    "The node's own port, or its partner.",
);

const PASSES: Reason = Reason(
    |reason| reason.is_some() && !reason.holds(),
    "not a reason that can pass by itself",
);

const INIT_REASON: Words<Option<LinkInitReason>> = Words(
    "reason to stay in Init",
    &[
        ("flapping", Some(LinkInitReason::FLAPPING)),
        ("out_of_policy", Some(LinkInitReason::OUT_OF_POLICY)),
        ("quarantined", Some(LinkInitReason::QUARANTINED)),
        (
            "insufficient_capability",
            Some(LinkInitReason::INSUFFICIENT_CAPABILITY),
        ),
        ("none", None),
    ],
);

/// A number of 8 bits.
const BYTE: Plain<u8> = plain(
    "a number up to 255",
    || number::<u8>(0, 255).schema(),
    |context, node| number(0, 255).parse(context, node),
);

/// What a port's firmware reports of a link that went down.
const REPORT: Plain<FirmwareReport> = plain(
    "a number up to 255",
    || BYTE.schema(),
    |context, node| {
        let code = BYTE.parse(context, node)?;
        FirmwareReport::by_code(code).ok_or_else(|| {
            context
                .source
                .wrong(node.place, "code 11 is the report of a neighbour's message")
                .hint("write `{ take_down: victim, why: fm_bounce, end: there }`")
        })
    },
);

/// How many lanes are left of a link; four were too many to be left.
const LANES: Plain<u8> = plain(
    "a number from 1 to 3",
    || number::<u8>(1, 3).schema(),
    |context, node| number(1, 3).parse(context, node),
);

/// The widths in which a downgrade may end.
const WIDTHS: Plain<LinkWidths> = plain(
    "a list of numbers of lanes",
    || serde_json::json!({ "type": "array", "items": number::<u8>(1, 4).schema() }),
    |context, node| {
        let YamlValue::List(widths) = &node.value else {
            let source = &context.source;
            return Err(source
                .wrong(
                    node.place,
                    format!("`{node}` is no list of numbers of lanes"),
                )
                .hint("write `[ 3, 4 ]`, or `[]` for a link that may lose none"));
        };
        let mut allowed = LinkWidths::NONE;
        for node in widths {
            allowed = allowed.and(number(1, 4).parse(context, node)?);
        }
        Ok(allowed)
    },
);

/// An error that a port finds in what it receives.
const PACKET_ERROR: Reason = Reason(
    |reason| PortErrorAction::bit_of(reason).is_some(),
    "not an error in what a port receives",
);

const ALL_OR_NONE: Words<PortErrorAction> = Words(
    "set of errors",
    &[
        ("everything", PortErrorAction::EVERYTHING),
        ("nothing", PortErrorAction::NOTHING),
    ],
);

const ERROR_ACTION: Plain<PortErrorAction> = plain(
    "`everything`, `nothing` or a list of reasons",
    || {
        any_of([
            ALL_OR_NONE.schema(),
            serde_json::json!({ "type": "array", "items": PACKET_ERROR.schema() }),
        ])
    },
    error_action,
);

fn error_action(context: &Context<'_>, node: &Node) -> Parsed<PortErrorAction> {
    let YamlValue::List(reasons) = &node.value else {
        return ALL_OR_NONE.parse(context, node);
    };
    let mut action = PortErrorAction::NOTHING;
    for node in reasons {
        action = action.and(PACKET_ERROR.parse(context, node)?);
    }
    Ok(action)
}
