//! On which platforms a scenario is told: `platforms:`.

use platforms::yaml::{Node, Value};
use platforms::{DeviceName, LinkLayer, Machine, Role, Routes};

use crate::error::ScenarioError;
use crate::ground::{Ground, default_route};
use crate::handle::{Bound, names};
use crate::reader::Source;
use crate::words::{PLATFORMS, ROLES_OF_WITH, WITH};

/// Whether a scenario is told on a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It is.
    Yes,
    /// It is not.
    No {
        /// What the platform lacks.
        reason: String,
    },
}

/// What `platforms:` says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fitness {
    names: Option<Vec<String>>,
    not: Vec<String>,
    numbers: Vec<(&'static str, Bound, String)>,
    layer: Option<LayerAsked>,
    devices: Vec<DeviceName>,
    default_route: Option<RouteAsked>,
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

impl Fitness {
    /// Reads `platforms:`.
    pub(crate) fn read(source: &Source<'_>, node: &Node) -> Result<Self, ScenarioError> {
        match &node.value {
            Value::Text(word) if word == "all" => Ok(Self::default()),
            Value::Text(_) => source
                .choice(node, "word", &[("all", ())])
                .map_err(|error| {
                    error.hint(
                        "write `all`, a list of names such as `[ h100-oci ]`, or `{ with: … }`",
                    )
                })
                .map(|()| Self::default()),
            Value::List(_) => Ok(Self {
                names: Some(platform_names(source, node)?),
                ..Self::default()
            }),
            _ => Self::read_map(source, node),
        }
    }

    fn read_map(source: &Source<'_>, node: &Node) -> Result<Self, ScenarioError> {
        let fields = source.map(node, "`platforms`", PLATFORMS)?;
        let mut fitness = Self {
            names: fields.maybe("names", |node| platform_names(source, node))?,
            not: fields.read("not", Vec::new(), |node| platform_names(source, node))?,
            ..Self::default()
        };
        let Some(with) = fields.get("with") else {
            return Ok(fitness);
        };
        let fields = source.map(with, "`with`", WITH)?;
        for name in ROLES_OF_WITH {
            if let Some(node) = fields.get(name) {
                fitness
                    .numbers
                    .push((name, Bound::read(source, node)?, node.to_string()));
            }
        }
        let has = fields.maybe("layer", |node| {
            source.choice(
                node,
                "layer",
                &[
                    ("infiniband", LayerAsked::Has(LinkLayer::InfiniBand)),
                    ("ethernet", LayerAsked::Has(LinkLayer::Ethernet)),
                    ("both", LayerAsked::Both),
                ],
            )
        })?;
        let only = fields.maybe("only_layer", |node| {
            source.layer(node).map(LayerAsked::Only)
        })?;
        if let (Some(_), Some(_)) = (has, only) {
            return Err(source.wrong(
                fields.place_of("only_layer"),
                "`layer` and `only_layer` together",
            ));
        }
        fitness.layer = has.or(only);
        fitness.devices = fields.read("devices", Vec::new(), |node| names(source, node))?;
        fitness.default_route = fields.maybe("default_route", |node| {
            source.choice(
                node,
                "word",
                &[
                    ("rdma", RouteAsked::Rdma),
                    ("other", RouteAsked::Other),
                    ("none", RouteAsked::None),
                ],
            )
        })?;
        Ok(fitness)
    }

    /// Whether it holds on this ground of one platform.
    pub(crate) fn of(&self, ground: &Ground) -> Fit {
        match self.lacking(ground) {
            None => Fit::Yes,
            Some(reason) => Fit::No { reason },
        }
    }

    fn lacking(&self, ground: &Ground) -> Option<String> {
        let platform = &ground.world;
        let base = platform.split(':').next().unwrap_or(platform);
        if self
            .names
            .as_ref()
            .is_some_and(|names| !names.contains(platform))
        {
            return Some(format!("`{platform}` is not among the platforms named"));
        }
        if self.not.iter().any(|name| name == platform || name == base) {
            return Some(format!("`{platform}` is excepted"));
        }
        for (name, bound, text) in &self.numbers {
            let has = number(ground, name);
            if !bound.holds(has) {
                return Some(format!(
                    "`{name}: {text}` is asked for, `{platform}` has {has}"
                ));
            }
        }
        let layers: Vec<LinkLayer> = ground
            .ports
            .iter()
            .filter(|port| port.is_usual())
            .map(|port| port.facts.layer)
            .collect();
        let lacks_layer = match self.layer {
            None => None,
            Some(LayerAsked::Has(layer)) => {
                (!layers.contains(&layer)).then_some(format!("no {layer} port"))
            }
            Some(LayerAsked::Both) => (!layers.contains(&LinkLayer::InfiniBand)
                || !layers.contains(&LinkLayer::Ethernet))
            .then_some("ports of one layer only".to_owned()),
            Some(LayerAsked::Only(layer)) => (layers.iter().any(|other| *other != layer)
                || layers.is_empty())
            .then_some(format!("not only {layer} ports")),
        };
        if let Some(lack) = lacks_layer {
            return Some(format!(
                "`{platform}` has {lack} that is monitored and healthy at rest"
            ));
        }
        for name in &self.devices {
            if !ground.ports.iter().any(|port| port.facts.device == *name) {
                return Some(format!("`{platform}` has no device `{name}`"));
            }
        }
        let carries = carrier(ground, &ground.nodes[0].machine);
        if self.default_route.is_some_and(|asked| asked != carries) {
            return Some(format!("the default route of `{platform}` is another"));
        }
        None
    }
}

fn platform_names(source: &Source<'_>, node: &Node) -> Result<Vec<String>, ScenarioError> {
    let nodes = source.one_or_more(node, "platforms' names")?;
    nodes
        .iter()
        .map(|node| source.text(node, "a platform's name"))
        .collect()
}

fn carrier(ground: &Ground, machine: &Machine) -> RouteAsked {
    match default_route(&machine.routes) {
        None => match machine.routes {
            Routes::Text(_) => RouteAsked::Other,
            Routes::Rows(_) | Routes::Missing => RouteAsked::None,
        },
        Some(name)
            if ground
                .ports
                .iter()
                .any(|port| port.facts.netdev.as_deref() == Some(name)) =>
        {
            RouteAsked::Rdma
        }
        Some(_) => RouteAsked::Other,
    }
}

fn number(ground: &Ground, name: &str) -> usize {
    let ports = || ground.ports.iter();
    match name {
        "compute_cards" => ground.cards(|port| port.has(Role::Compute)),
        "storage_cards" => ground.cards(|port| port.has(Role::Storage)),
        "management_cards" => ground.cards(|port| port.facts.role == Role::Management),
        "compute_ports" => ports().filter(|port| port.has(Role::Compute)).count(),
        "storage_ports" => ports().filter(|port| port.has(Role::Storage)).count(),
        "uncabled_ports" => ports()
            .filter(|port| port.facts.is_monitored() && !port.facts.cabled)
            .count(),
        "monitored_ports" => ports().filter(|port| port.facts.is_monitored()).count(),
        "vfs" => ports().filter(|port| port.facts.is_vf).count(),
        "gpus" => ground.nodes[0].machine.gpus.len(),
        "cards_with_two_ports" => ground.cards(|port| {
            let same = |other: &&crate::ground::GroundPort| {
                other.facts.is_monitored() && other.facts.card == port.facts.card
            };
            port.facts.is_monitored() && ports().filter(same).count() >= 2
        }),
        "devices_with_two_ports" => {
            let second = |port: &&crate::ground::GroundPort| {
                port.facts.is_monitored() && port.facts.port.0 == 2
            };
            ports().filter(second).count()
        }
        _ => ground.cards(|port| {
            ports().any(|other| {
                other.facts.card == port.facts.card && other.facts.pci != port.facts.pci
            })
        }),
    }
}
