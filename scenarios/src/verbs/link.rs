//! Verbs about both ends of a link, the switches and the subnet manager.

use fabric::opa::{LinkDownReason, PortErrorAction};
use fabric::{Action, PortAction, PortsAction};
use platforms::yaml::{Node, Value};

use super::spec::{VerbSpec, port, ports};
use crate::context::Context;
use crate::keys::{Defaulted, Literal, maybe, need, or};
use crate::kind::{Choices, Kind, Parsed, Placed, Plain, Text, Words, any_of, plain};
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
                    (false, false),
                    "stops; ACTIVE ports stay ACTIVE, others wait in INIT",
                ),
                (
                    "die",
                    (false, true),
                    "stops, and every InfiniBand port goes to INIT",
                ),
                ("start", (true, false), "runs again"),
            ],
        ),
        "The InfiniBand subnet manager.",
        "{ subnet_manager: die }",
        (),
        |_, (running, reinitialise), ()| {
            Ok(VerbSpec::World(Action::SubnetManager {
                running,
                reinitialise,
                keeps_logs: true,
            }))
        },
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
    let Value::List(reasons) = &node.value else {
        return ALL_OR_NONE.parse(context, node);
    };
    let mut action = PortErrorAction::NOTHING;
    for node in reasons {
        action = action.and(PACKET_ERROR.parse(context, node)?);
    }
    Ok(action)
}
