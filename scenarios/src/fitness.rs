//! `platforms:`, which states the platforms that a scenario applies to.

use files::{About, Mistakes, Place, YamlValue, did_you_mean};
use platforms::{DeviceName, LinkLayer, Machine, NicRole, Refusal, Routes};
use serde_json::json;

use crate::bound::{BOUND, Bound};
use crate::context::Context;
use crate::error::ScenarioError;
use crate::handle::DEVICE_NAMES;
use crate::keys::{Keys, MapForm, maybe, together};
use crate::kind::{Kind, Many, Parsed, Placed, Plain, Text, Words, any_of, plain, string_form};
use crate::map::MapOf;
use crate::reader::{Fields, Source};
use crate::resolved_world::{ResolvedPort, ResolvedWorld, default_route};
use crate::values::LAYER;

/// What an error is about that names a platform which does not exist.
pub const PLATFORM: &str = "platform";

/// Whether a scenario applies to a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It applies.
    Yes,
    /// It does not.
    No {
        /// What the platform lacks.
        reason: String,
    },
}

/// The parsed value of `platforms:`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fitness {
    names: Option<Vec<(String, Place)>>,
    not: Vec<(String, Place)>,
    numbers: Vec<(&'static Property, Bound, String)>,
    layer: Option<LayerAsked>,
    devices: Vec<DeviceName>,
    /// One of these; empty if nothing is asked.
    default_route: Vec<RouteAsked>,
    /// One of these; empty if nothing is asked.
    refusal: Vec<Option<Refusal>>,
    because: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayerAsked {
    Has(LinkLayer),
    Both,
    Only(LinkLayer),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RouteAsked {
    Rdma,
    Other,
    None,
}

/// The kind of the value of `platforms:`.
pub(crate) const PLATFORMS: Plain<Fitness> = plain(
    "`all`, a list of names, or `{ with, not, names }`",
    || {
        any_of([
            ALL.schema(),
            json!({ "type": "array", "items": string_form() }),
            MapOf("`platforms`", keys()).schema(),
        ])
    },
    |context, node| match &node.value {
        YamlValue::Text(_) => ALL
            .parse(context, node)
            .map_err(|error| {
                error.hint("write `all`, a list of names such as `[ h100-oci ]`, or `{ with: … }`")
            })
            .map(|()| Fitness::default()),
        YamlValue::List(_) => Ok(Fitness {
            names: Some(NAMES.parse(context, node)?),
            ..Fitness::default()
        }),
        _ => MapOf("`platforms`", keys()).parse(context, node),
    },
);

const ALL: Words<()> = Words("word", &[("all", ())]);

const NAMES: Many<Placed<Text>> = Many("platforms' names", Placed(Text("a platform's name")));

/// The keys of `platforms`.
pub(crate) fn keys() -> impl Keys<Value = Fitness> {
    together(
        (
            maybe(
                "with",
                MapOf("`with`", with()),
                "Only platforms with all of these properties.",
            ),
            maybe(
                "not",
                NAMES,
                "Not these platforms; a base name includes its variants.",
            ),
            maybe(
                "names",
                NAMES,
                "Only these platforms; a base name does not include its variants.",
            ),
            maybe(
                "because",
                Text("a text"),
                "Why platforms are named: a name says where, and leaves new machines out; a property says what is needed.",
            ),
        ),
        |_, _, (with, not, names, because)| {
            Ok(Fitness {
                names,
                not: not.unwrap_or_default(),
                because,
                ..with.unwrap_or_default()
            })
        },
    )
}

/// The keys of `platforms: { with }`.
pub(crate) fn with() -> impl Keys<Value = Fitness> {
    together(
        (
            Numbers,
            maybe(
                "layer",
                Words(
                    "layer",
                    &[
                        ("infiniband", LayerAsked::Has(LinkLayer::InfiniBand)),
                        ("ethernet", LayerAsked::Has(LinkLayer::Ethernet)),
                        ("both", LayerAsked::Both),
                    ],
                ),
                "At least one monitored port that is healthy at rest has this link layer; `both`: each layer has one.",
            ),
            maybe(
                "only_layer",
                LAYER,
                "All monitored ports that are healthy at rest have this link layer.",
            ),
            maybe("devices", DEVICE_NAMES, "These devices exist at rest."),
            maybe(
                "default_route",
                Many(
                    "words",
                    Words(
                        "word",
                        &[
                            ("rdma", RouteAsked::Rdma),
                            ("other", RouteAsked::Other),
                            ("none", RouteAsked::None),
                        ],
                    ),
                ),
                "The interface of the default route: a net device of an RDMA function, another one, none.",
            ),
            maybe(
                "refusal",
                Many(
                    "words",
                    Words(
                        "word",
                        &[
                            ("none", None),
                            ("no_topology", Some(Refusal::NoTopology)),
                            ("no_gpu_numa", Some(Refusal::NoGpuNuma)),
                        ],
                    ),
                ),
                "Why a monitor must refuse to start there, by the documents: the metadata has no NIC topology, no GPU has a known NUMA node.",
            ),
        ),
        |context, fields, (numbers, has, only, devices, default_route, refusal)| {
            if has.is_some() && only.is_some() {
                return Err(context.source.wrong(
                    fields.place_of("only_layer"),
                    "`layer` and `only_layer` together",
                ));
            }
            Ok(Fitness {
                numbers,
                layer: has.or(only.map(LayerAsked::Only)),
                devices: devices.unwrap_or_default(),
                default_route: default_route.unwrap_or_default(),
                refusal: refusal.unwrap_or_default(),
                ..Fitness::default()
            })
        },
    )
}

/// The keys of the numeric properties.
struct Numbers;

impl Keys for Numbers {
    type Value = Vec<(&'static Property, Bound, String)>;

    fn rows(&self, form: &mut MapForm) {
        for property in PROPERTIES {
            maybe(property.name, BOUND, property.text).rows(form);
        }
    }

    fn parse(&self, context: &Context<'_>, fields: &Fields<'_>) -> Parsed<Self::Value> {
        let mut numbers = Vec::new();
        for property in PROPERTIES {
            if let Some(node) = fields.get(property.name) {
                numbers.push((property, BOUND.parse(context, node)?, node.to_string()));
            }
        }
        Ok(numbers)
    }
}

impl Fitness {
    /// The platforms that are named, to be taken or left out.
    pub(crate) fn named(&self) -> impl Iterator<Item = &(String, Place)> {
        self.names.iter().flatten().chain(&self.not)
    }

    /// Checks that each platform that is named is one of these.
    pub(crate) fn check_names(
        &self,
        source: &Source<'_>,
        known: &[&str],
    ) -> Result<(), ScenarioError> {
        Mistakes::in_all(self.named().map(|(name, place)| {
            if known.contains(&name.as_str()) {
                return Ok(());
            }
            let near = did_you_mean(name, known.iter().copied());
            let what = format!("there is no platform `{name}`");
            let hint = format!("{near}`nicdrill platform list` lists them");
            let about = About::Unknown {
                kind: PLATFORM,
                name: name.clone(),
                known: Vec::new(),
            };
            Err(source.wrong(*place, what).hint(hint).about(about))
        }))
        .map(|_| ())
    }

    /// Why platforms are named, if it is stated.
    pub(crate) fn because(&self) -> Option<&str> {
        self.because.as_deref()
    }

    /// The platforms that are named; `None` if none is.
    pub(crate) fn names(&self) -> Option<Vec<&str>> {
        let names = self.names.as_ref()?.iter();
        Some(names.map(|(name, _)| name.as_str()).collect())
    }

    /// Whether the platform of this world fits.
    pub(crate) fn of(&self, resolved: &ResolvedWorld) -> Fit {
        match self.lacking(resolved) {
            None => Fit::Yes,
            Some(reason) => Fit::No { reason },
        }
    }

    fn lacking(&self, resolved: &ResolvedWorld) -> Option<String> {
        let platform = &resolved.world;
        let base = platform.split(':').next().unwrap_or(platform);
        if self
            .names
            .as_ref()
            .is_some_and(|names| names.iter().all(|(name, _)| name != platform))
        {
            return Some(format!("`{platform}` is not among the platforms named"));
        }
        let is_meant = |(name, _): &(String, Place)| name == platform || name == base;
        if self.not.iter().any(is_meant) {
            return Some(format!("`{platform}` is excepted"));
        }
        for (property, bound, text) in &self.numbers {
            let (name, has) = (property.name, (property.number)(resolved));
            if !bound.holds(has) {
                let few = format!("`{name}: {text}` is asked for, `{platform}` has {has}");
                return Some(match has == 0 && !OF_ALL_PORTS.contains(&name) {
                    true => resolved.and_why(few),
                    false => few,
                });
            }
        }
        let layers: Vec<LinkLayer> = resolved
            .ports
            .iter()
            .filter(|port| port.is_usual())
            .map(|port| port.facts.layer)
            .collect();
        let lacks_layer = match self.layer {
            None => None,
            Some(LayerAsked::Has(layer)) => {
                (!layers.contains(&layer)).then_some(format!("no {layer} port that is"))
            }
            Some(LayerAsked::Both) => (!layers.contains(&LinkLayer::InfiniBand)
                || !layers.contains(&LinkLayer::Ethernet))
            .then_some("no ports of both layers that are".to_owned()),
            Some(LayerAsked::Only(_)) if layers.is_empty() => Some("no port that is".to_owned()),
            Some(LayerAsked::Only(layer)) => layers
                .iter()
                .any(|other| *other != layer)
                .then_some(format!("ports other than {layer} ones that are")),
        };
        if let Some(lack) = lacks_layer {
            let lack = format!("`{platform}` has {lack} monitored and healthy at rest");
            return Some(resolved.and_why(lack));
        }
        for name in &self.devices {
            if !resolved.ports.iter().any(|port| port.facts.device == *name) {
                return Some(format!("`{platform}` has no device `{name}`"));
            }
        }
        let node = &resolved.nodes[0];
        let carries = carrier(resolved, &node.machine);
        if !self.default_route.is_empty() && !self.default_route.contains(&carries) {
            return Some(format!("the default route of `{platform}` is another"));
        }
        let refusal = node.platform.documented_refusal();
        if !self.refusal.is_empty() && !self.refusal.contains(&refusal) {
            return Some(match refusal {
                Some(refusal) => {
                    format!("a monitor must refuse to start on `{platform}`: {refusal}")
                }
                None => format!("a monitor starts on `{platform}`"),
            });
        }
        None
    }
}

fn carrier(resolved: &ResolvedWorld, machine: &Machine) -> RouteAsked {
    match default_route(&machine.routes) {
        None => match machine.routes {
            Routes::Text(_) => RouteAsked::Other,
            Routes::Rows(_) | Routes::Missing => RouteAsked::None,
        },
        Some(name)
            if resolved
                .ports
                .iter()
                .any(|port| port.facts.netdev.as_deref() == Some(name)) =>
        {
            RouteAsked::Rdma
        }
        Some(_) => RouteAsked::Other,
    }
}

/// A numeric property of a platform.
#[derive(Debug)]
struct Property {
    name: &'static str,
    text: &'static str,
    number: fn(&ResolvedWorld) -> usize,
}

const fn property(
    name: &'static str,
    text: &'static str,
    number: fn(&ResolvedWorld) -> usize,
) -> Property {
    Property { name, text, number }
}

/// The properties that do not count monitored ports, or cards with some.
const OF_ALL_PORTS: [&str; 4] = [
    "management_cards",
    "vfs",
    "gpus",
    "cards_with_two_functions",
];

const PROPERTIES: &[Property] = &[
    property(
        "compute_cards",
        "Number of cards with a monitored Compute port that is healthy at rest.",
        |resolved| resolved.cards(|port| port.has(NicRole::Compute)),
    ),
    property(
        "storage_cards",
        "Number of cards with a monitored Storage port that is healthy at rest.",
        |resolved| resolved.cards(|port| port.has(NicRole::Storage)),
    ),
    property(
        "management_cards",
        "Number of cards with a Management function.",
        |resolved| resolved.cards(|port| port.facts.role == NicRole::Management),
    ),
    property(
        "compute_ports",
        "Number of monitored Compute ports that are healthy at rest.",
        |resolved| count(resolved, |port| port.has(NicRole::Compute)),
    ),
    property(
        "storage_ports",
        "Number of monitored Storage ports that are healthy at rest.",
        |resolved| count(resolved, |port| port.has(NicRole::Storage)),
    ),
    property(
        "uncabled_ports",
        "Number of monitored ports that have no cable at rest.",
        |resolved| {
            count(resolved, |port| {
                port.facts.is_monitored() && !port.facts.cabled
            })
        },
    ),
    property(
        "monitored_ports",
        "Number of monitored ports, healthy or not.",
        |resolved| count(resolved, |port| port.facts.is_monitored()),
    ),
    property("vfs", "Number of virtual functions.", |resolved| {
        count(resolved, |port| port.facts.is_vf)
    }),
    property("gpus", "Number of GPUs.", |resolved| {
        resolved.nodes[0].machine.gpus.len()
    }),
    property(
        "cards_with_two_ports",
        "Number of cards with two or more monitored ports, on several functions or on one.",
        |resolved| {
            resolved.cards(|port| {
                let same = |other: &ResolvedPort| {
                    other.facts.is_monitored() && other.facts.card == port.facts.card
                };
                port.facts.is_monitored() && count(resolved, same) >= 2
            })
        },
    ),
    property(
        "devices_with_two_ports",
        "Number of devices with ports 1 and 2.",
        |resolved| {
            count(resolved, |port| {
                port.facts.is_monitored() && port.facts.port.0 == 2
            })
        },
    ),
    property(
        "cards_with_two_functions",
        "Number of cards with two or more RDMA functions.",
        |resolved| {
            resolved.cards(|port| {
                resolved.ports.iter().any(|other| {
                    other.facts.card == port.facts.card && other.facts.pci != port.facts.pci
                })
            })
        },
    ),
];

fn count(resolved: &ResolvedWorld, fits: impl Fn(&ResolvedPort) -> bool) -> usize {
    resolved.ports.iter().filter(|port| fits(port)).count()
}
