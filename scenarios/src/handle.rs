//! A handle as declared in `let:`: a name for ports, selected by their properties.
//!
//! The selection itself needs a machine and is in [`crate::resolved_world`].

use files::{Node, Place, YamlValue};
use mpib::Rail;
use platforms::{DeviceName, LinkLayer, LinkReasons, NicRole, PciAddress};
use serde_json::json;

use crate::bound::{BOUND, Bound};
use crate::context::Context;
use crate::keys::{Keys, maybe, together};
use crate::kind::{Choices, Kind, Many, Only, Parsed, Placed, Plain, Text, Words, number, plain};
use crate::pick::{HowMany, Pick, pick};
use crate::subject::Subjects;
use crate::values::{DEVICE_NAME, NODE_NAME, Of, PCI, PORTS, RAIL, TRUTH};

/// A declared handle.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    pub(crate) name: String,
    /// Where it is declared.
    pub(crate) place: Place,
    /// The properties that its ports must have.
    pub(crate) filter: Filter,
    /// How many of the matching ports it takes.
    pub(crate) pick: Pick,
    /// Whether each of its devices must have a matching port: it names several, and not how many ports it takes.
    pub(crate) each_device: bool,
    /// The declaration as shown to people.
    pub(crate) text: String,
    /// The node that its ports are on, if stated.
    pub(crate) node: Option<NameAt>,
    /// The switch that its ports are cabled to, if stated.
    pub(crate) switch: Option<NameAt>,
}

/// Properties that select ports. `None` matches everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) role: Option<NicRole>,
    pub(crate) layer: Option<LinkLayer>,
    pub(crate) devices: Option<Vec<DeviceName>>,
    pub(crate) netdev: Option<String>,
    pub(crate) pci: Option<PciAddress>,
    pub(crate) port: Option<u64>,
    pub(crate) function: Option<u64>,
    pub(crate) device_of: Option<Subjects>,
    pub(crate) card_of: Option<Subjects>,
    pub(crate) sibling_of: Option<Subjects>,
    pub(crate) peer_of: Option<Subjects>,
    pub(crate) vf_of: Option<Subjects>,
    pub(crate) not: Option<Subjects>,
    pub(crate) numa: Option<i64>,
    pub(crate) vf: Option<bool>,
    pub(crate) cabled: Option<bool>,
    pub(crate) healthy: Option<bool>,
    pub(crate) monitored: Option<bool>,
    pub(crate) default_route: bool,
    pub(crate) group_cards: Option<Bound>,
    pub(crate) card_functions: Option<Bound>,
    pub(crate) card_ports: Option<Bound>,
    pub(crate) device_ports: Option<Bound>,
    pub(crate) sriov_totalvfs: Option<Bound>,
    pub(crate) link_reasons: Option<LinkReasons>,
    pub(crate) near_gpu: Option<bool>,
    pub(crate) appears_later: bool,
    pub(crate) node: Option<String>,
    pub(crate) cabled_to: Option<String>,
    pub(crate) rail: Option<Rail>,
}

impl Handle {
    /// Selects all ports of the device that has this name at rest.
    pub(crate) fn of_device(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            place: Place::default(),
            filter: Filter {
                devices: Some(vec![DeviceName(name.to_owned())]),
                ..Filter::default()
            },
            pick: Pick::Count(HowMany::All),
            each_device: false,
            text: format!("device: {name}"),
            node: None,
            switch: None,
        }
    }

    /// Parses one handle; the context's handles are those declared before it.
    pub(crate) fn parse(context: &Context<'_>, name: &str, node: &Node) -> Parsed<Self> {
        let fields = context.source.open_map(node, "a handle")?;
        let form = keys().bare();
        let (filter, pick, at, switch) = fields.only(&context.source, form.names(), || {
            keys().parse(context, &fields)
        })?;
        let names = filter.devices.as_deref().unwrap_or_default();
        let several = names.len() > 1;
        let states_no_number = pick.is_none();
        Ok(Self {
            name: name.to_owned(),
            place: node.place,
            filter: Filter {
                node: at.as_ref().map(|(name, _)| name.clone()),
                cabled_to: switch.as_ref().map(|(name, _)| name.clone()),
                ..filter
            },
            // A handle with a switch takes every port cabled to it, one with several names every port of these.
            pick: pick.unwrap_or(match (&switch, several) {
                (None, false) => Pick::Nth(1),
                _ => Pick::Count(HowMany::All),
            }),
            each_device: several && states_no_number,
            text: node.to_string(),
            node: at,
            switch,
        })
    }
}

/// A name and its place.
type NameAt = (String, Place);

/// The keys of a handle.
pub(crate) fn keys() -> impl Keys<Value = (Filter, Option<Pick>, Option<NameAt>, Option<NameAt>)> {
    (
        filter(),
        pick(),
        maybe("node", Placed(NODE_NAME), "The node that the ports are on."),
        maybe(
            "cabled_to",
            Placed(Text("a switch")),
            "Ports that are cabled to this switch; all of them unless `nth`, `count` or `cards` is given.",
        ),
    )
}

fn filter() -> impl Keys<Value = Filter> {
    together(
        (
            (
                maybe(
                    "role",
                    Choices(
                        "role",
                        &[
                            ("management", NicRole::Management, "not monitored"),
                            ("compute", NicRole::Compute, "the compute fabric"),
                            ("storage", NicRole::Storage, "storage"),
                        ],
                    ),
                    "The role that the platform declares.",
                ),
                maybe(
                    "layer",
                    Choices(
                        "layer",
                        &[
                            ("infiniband", LinkLayer::InfiniBand, "InfiniBand"),
                            ("ethernet", LinkLayer::Ethernet, "Ethernet (RoCE)"),
                        ],
                    ),
                    "The link layer.",
                ),
                maybe(
                    "device",
                    DEVICE_NAMES,
                    "Ports of the devices that have these names at rest; of several names all ports, unless `nth`, `count` or `cards` is given.",
                ),
                maybe(
                    "netdev",
                    Text("an interface's name"),
                    "The port that has this net device at rest.",
                ),
                maybe(
                    "pci",
                    PCI,
                    "Ports of the function at this PCI address, such as `0000:0c:00.0`.",
                ),
                maybe("port", number(1, 255), "Ports of this number only."),
                maybe(
                    "function",
                    number(1, 256),
                    "The card's nth RDMA function, from 1.",
                ),
                maybe("numa", NUMA, "Ports of functions on this NUMA node."),
                maybe("rail", RAIL, "The port of this rail of a node."),
                maybe(
                    "near_gpu",
                    TRUTH,
                    "Whether a PCIe switch connects the device to a GPU (`PIX` or `PXB`).",
                ),
                maybe(
                    "link_reasons",
                    Choices(
                        "link reasons",
                        &[
                            (
                                "spec",
                                LinkReasons::Spec,
                                "as \"Link Down Reason\" specifies, which is the default of drivers",
                            ),
                            ("hfi1", LinkReasons::Hfi1, "as the driver hfi1 does"),
                        ],
                    ),
                    "How the port remembers why its link went down.",
                ),
            ),
            (
                maybe(
                    "device_of",
                    PORTS,
                    "Ports of the same devices as these ports, these included.",
                ),
                maybe(
                    "card_of",
                    PORTS,
                    "Ports on the same cards as these ports, these included.",
                ),
                maybe(
                    "sibling_of",
                    PORTS,
                    "Ports on the same cards as these ports, without these.",
                ),
                maybe(
                    "peer_of",
                    PORTS,
                    "Ports on other cards, of the same role and layer as these ports.",
                ),
                maybe(
                    "vf_of",
                    PORTS,
                    "Ports of the virtual functions of these ports' functions.",
                ),
                maybe(
                    "appears",
                    LATER,
                    "With `vf_of`: `later` for virtual functions that `create_vfs` makes in the story, in the order in which it makes them. They have no name yet: `{guest.device}` is the first that is free at rest.",
                ),
                maybe(
                    "not",
                    Of("ports or a list of them"),
                    "Excludes these ports and all other ports on their cards.",
                ),
            ),
            (
                maybe(
                    "vf",
                    TRUTH,
                    "Whether the ports are those of virtual functions; `false` by default.",
                ),
                maybe("cabled", TRUTH, "Whether the ports have a cable at rest."),
                maybe(
                    "healthy",
                    OR_ANY,
                    "Whether the ports are healthy at rest; `true` by default, `any` with `cabled`, `vf` or `vf_of`.",
                ),
                maybe(
                    "monitored",
                    OR_ANY,
                    "Whether the ports are in the monitor's scope; `true` by default, `any` with the role `management` and with `vf`, `vf_of`, `device`, `netdev`, `pci` or `default_route`.",
                ),
                maybe(
                    "default_route",
                    Only {
                        value: true,
                        otherwise: "`default_route: false` chooses nothing",
                        hint: Some("use `not: …` to leave a port out"),
                    },
                    "The port whose net device carries the default route.",
                ),
            ),
            (
                maybe(
                    "group_cards",
                    BOUND,
                    "Ports whose peer group (the compared cards of the same role and layer) has this many cards.",
                ),
                maybe(
                    "card_functions",
                    BOUND,
                    "Ports on cards with this many RDMA functions.",
                ),
                maybe(
                    "card_ports",
                    BOUND,
                    "Ports on cards with this many monitored ports, healthy or not.",
                ),
                maybe(
                    "device_ports",
                    BOUND,
                    "Ports of devices with this many ports.",
                ),
                maybe(
                    "sriov_totalvfs",
                    BOUND,
                    "Ports of functions that can have this many virtual functions; 0 inside a guest, and for a card without SR-IOV.",
                ),
            ),
        ),
        |context, fields, (is, beside, state, bounds)| {
            let (
                role,
                layer,
                devices,
                netdev,
                pci,
                port,
                function,
                numa,
                rail,
                near_gpu,
                link_reasons,
            ) = is;
            let (device_of, card_of, sibling_of, peer_of, vf_of, appears, not) = beside;
            if appears.is_some() && vf_of.is_none() {
                return Err(context
                    .source
                    .wrong(fields.place_of("appears"), "`appears` goes with `vf_of`")
                    .hint(
                        "as in `guest: { vf_of: pf, appears: later }`, for what `create_vfs` makes",
                    ));
            }
            // For these two, `None` means not stated and `Some(None)` means `any`.
            let (vf, cabled, healthy, monitored, default_route) = state;
            let (group_cards, card_functions, card_ports, device_ports, sriov_totalvfs) = bounds;
            let of_vfs: bool = vf == Some(true) || vf_of.is_some();
            let any_health = cabled.is_some() || of_vfs;
            let any_scope = role == Some(NicRole::Management)
                || of_vfs
                || ["device", "netdev", "pci", "default_route"]
                    .iter()
                    .any(|key| fields.get(key).is_some());
            Ok(Filter {
                role,
                layer,
                devices,
                netdev,
                pci,
                port,
                function,
                device_of,
                card_of,
                sibling_of,
                peer_of,
                not,
                numa,
                healthy: healthy.unwrap_or((!any_health).then_some(true)),
                monitored: monitored.unwrap_or((!any_scope).then_some(true)),
                default_route: default_route.is_some(),
                vf: Some(vf_of.is_some() || vf.unwrap_or(false)),
                vf_of,
                cabled,
                group_cards,
                card_functions,
                card_ports,
                device_ports,
                sriov_totalvfs,
                link_reasons,
                near_gpu,
                appears_later: appears.is_some(),
                node: None,
                cabled_to: None,
                rail,
            })
        },
    )
}

/// One device name, or a list.
pub(crate) const DEVICE_NAMES: Many<Plain<DeviceName>> = Many("device names", DEVICE_NAME);

const NUMA: Plain<i64> = plain(
    "a number",
    || json!({ "type": "integer", "minimum": -1 }),
    |context, node| match node.value {
        YamlValue::Whole(-1) => Ok(-1),
        _ => Ok(i64::from(context.source.small(node, 0)?)),
    },
);

const LATER: Words<()> = Words("time", &[("later", ())]);

const ANY: Words<Option<bool>> = Words("word", &[("any", None)]);

const OR_ANY: Plain<Option<bool>> = plain(
    "`true`, `false` or `any`",
    || json!({ "enum": [true, false, "any"] }),
    |context, node| match &node.value {
        YamlValue::Text(_) => ANY.parse(context, node),
        _ => context.source.truth(node).map(Some),
    },
);
