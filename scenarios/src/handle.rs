//! A handle as it is declared in `let:`: which ports, chosen by what they are.
//!
//! The choosing itself needs a machine and is in [`crate::ground`].

use std::collections::BTreeSet;

use mpib::Rail;
use platforms::yaml::{Node, Place, Value};
use platforms::{DeviceName, LinkLayer, PciAddress, Role};

use crate::error::ScenarioError;
use crate::reader::{Fields, Source};
use crate::subject::{Context, Subjects};
use crate::words::HANDLE;
use crate::world::rail_by_name;

/// A declared handle.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    /// Its name.
    pub(crate) name: String,
    /// What its ports must be.
    pub(crate) filter: Filter,
    /// How many of them.
    pub(crate) pick: Pick,
    /// The declaration as a person reads it.
    pub(crate) text: String,
    /// The node it is on, if said.
    pub(crate) node: Option<(String, Place)>,
    /// The switch that its ports are cabled to, if said.
    pub(crate) switch: Option<(String, Place)>,
}

/// What ports must be to be chosen. `None` means that anything goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) role: Option<Role>,
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
    pub(crate) node: Option<String>,
    pub(crate) cabled_to: Option<String>,
    pub(crate) rail: Option<Rail>,
}

/// How many of the ports that fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The nth port, from 1.
    Nth(usize),
    /// The last port.
    Last,
    /// The first so many ports.
    Count(HowMany),
    /// Ports on the first so many cards; so many of each card.
    Cards(HowMany, HowMany),
}

/// A number, or a share of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HowMany {
    /// So many.
    Number(usize),
    /// Half of them, rounded down.
    Half,
    /// All.
    All,
}

/// A bound on a number: `5`, `">= 5"`, `"< 3"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    /// At least.
    pub(crate) least: u64,
    /// At most.
    pub(crate) most: u64,
}

impl Bound {
    /// Whether a number keeps it.
    pub(crate) fn holds(self, number: usize) -> bool {
        (self.least..=self.most).contains(&(number as u64))
    }

    /// Reads a bound.
    pub(crate) fn read(source: &Source<'_>, node: &Node) -> Result<Self, ScenarioError> {
        let Value::Text(text) = &node.value else {
            let number = source.number(node, 0, 1_000_000)?;
            return Ok(Self {
                least: number,
                most: number,
            });
        };
        let text = text.trim();
        let (sign, number) = text.split_at(
            text.find(|c: char| c.is_ascii_digit())
                .unwrap_or(text.len()),
        );
        let number: u64 = number
            .parse()
            .ok()
            .filter(|number| *number <= 1_000_000)
            .ok_or_else(|| {
                source
                    .wrong(node.place, format!("`{text}` is no bound"))
                    .hint("write a number such as `5`, `\">= 5\"` or `\"< 3\"`")
            })?;
        let bound = |least, most| Ok(Self { least, most });
        match sign.trim() {
            "" | "=" | "==" => bound(number, number),
            ">=" => bound(number, u64::MAX),
            ">" => bound(number + 1, u64::MAX),
            "<=" => bound(0, number),
            "<" if number > 0 => bound(0, number - 1),
            "<" => Err(source.wrong(node.place, format!("`{text}` is below every number"))),
            other => {
                Err(source.unknown(node.place, "comparison", other, [">=", ">", "<=", "<", "="]))
            }
        }
    }
}

impl HowMany {
    /// How many of so many there are; `None` if there are not enough.
    pub(crate) fn of(self, all: usize) -> Option<usize> {
        match self {
            Self::Number(number) => (number <= all).then_some(number),
            Self::Half => (all >= 2).then_some(all / 2),
            Self::All => (all >= 1).then_some(all),
        }
    }

    fn read(source: &Source<'_>, node: &Node) -> Result<Self, ScenarioError> {
        match &node.value {
            Value::Text(_) => {
                source.choice(node, "amount", &[("half", Self::Half), ("all", Self::All)])
            }
            _ => Ok(Self::Number(source.small(node, 1)? as usize)),
        }
    }
}

impl Handle {
    /// All ports of the device that bears this name at rest.
    pub(crate) fn of_device(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            filter: Filter {
                devices: Some(vec![DeviceName(name.to_owned())]),
                ..Filter::default()
            },
            pick: Pick::Count(HowMany::All),
            text: format!("device: {name}"),
            node: None,
            switch: None,
        }
    }

    /// Reads one handle; `declared` are the names of the handles before it.
    pub(crate) fn read(
        source: Source<'_>,
        name: &str,
        node: &Node,
        declared: &BTreeSet<String>,
    ) -> Result<Self, ScenarioError> {
        let fields = source.open_map(node, "a handle")?;
        fields.known(&source, HANDLE.iter().map(|word| word.word))?;
        fields.built(&source, HANDLE)?;
        let context = Context {
            source,
            handles: declared,
            in_each: false,
        };
        let mut filter = filter(&context, &fields)?;
        let pick = pick(&source, &fields)?;
        let node_name = fields.maybe("node", |node| {
            Ok((source.text(node, "a node's name")?, node.place))
        })?;
        let switch = fields.maybe("cabled_to", |node| {
            Ok((source.text(node, "a switch's name")?, node.place))
        })?;
        filter.node = node_name.as_ref().map(|(name, _)| name.clone());
        filter.cabled_to = switch.as_ref().map(|(name, _)| name.clone());
        Ok(Self {
            name: name.to_owned(),
            filter,
            pick,
            text: node.to_string(),
            node: node_name,
            switch,
        })
    }
}

fn filter(context: &Context<'_>, fields: &Fields<'_>) -> Result<Filter, ScenarioError> {
    let source = &context.source;
    let subjects = |node| context.subjects(node);
    let bound = |node| Bound::read(source, node);
    let role = fields.maybe("role", |node| source.choice(node, "role", ROLES))?;
    let vf = fields.maybe("vf", |node| source.truth(node))?;
    let vf_of = fields.maybe("vf_of", subjects)?;
    let cabled = fields.maybe("cabled", |node| source.truth(node))?;
    let any_health = cabled.is_some() || vf == Some(true) || vf_of.is_some();
    let any_scope = role == Some(Role::Management)
        || vf == Some(true)
        || vf_of.is_some()
        || ["device", "netdev", "pci", "default_route"]
            .iter()
            .any(|key| fields.get(key).is_some());
    let three_way = |name, any: bool| {
        fields.read(name, (!any).then_some(true), |node| match &node.value {
            Value::Text(_) => source.choice(node, "word", &[("any", None)]),
            _ => source.truth(node).map(Some),
        })
    };
    Ok(Filter {
        role,
        layer: fields.maybe("layer", |node| source.layer(node))?,
        devices: fields.maybe("device", |node| names(source, node))?,
        netdev: fields.maybe("netdev", |node| source.text(node, "an interface's name"))?,
        pci: fields.maybe("pci", |node| pci(source, node))?,
        port: fields.maybe("port", |node| source.number(node, 1, 255))?,
        function: fields.maybe("function", |node| source.number(node, 1, 256))?,
        device_of: fields.maybe("device_of", subjects)?,
        card_of: fields.maybe("card_of", subjects)?,
        sibling_of: fields.maybe("sibling_of", subjects)?,
        peer_of: fields.maybe("peer_of", subjects)?,
        not: fields.maybe("not", subjects)?,
        numa: fields.maybe("numa", |node| match node.value {
            Value::Whole(-1) => Ok(-1),
            _ => Ok(i64::from(source.small(node, 0)?)),
        })?,
        healthy: three_way("healthy", any_health)?,
        monitored: three_way("monitored", any_scope)?,
        default_route: match fields.maybe("default_route", |node| source.truth(node))? {
            Some(false) => {
                return Err(source
                    .wrong(
                        fields.place_of("default_route"),
                        "`default_route: false` chooses nothing",
                    )
                    .hint("use `not: …` to leave a port out"));
            }
            said => said.is_some(),
        },
        vf: if vf_of.is_some() {
            Some(true)
        } else {
            Some(vf.unwrap_or(false))
        },
        vf_of,
        cabled,
        group_cards: fields.maybe("group_cards", bound)?,
        card_functions: fields.maybe("card_functions", bound)?,
        card_ports: fields.maybe("card_ports", bound)?,
        device_ports: fields.maybe("device_ports", bound)?,
        node: None,
        cabled_to: None,
        rail: fields.maybe("rail", |node| {
            let name = source.text(node, "a rail")?;
            rail_by_name(source, &name, node.place)
        })?,
    })
}

fn pick(source: &Source<'_>, fields: &Fields<'_>) -> Result<Pick, ScenarioError> {
    let amounts: Vec<&str> = ["nth", "count", "cards"]
        .into_iter()
        .filter(|name| fields.get(name).is_some())
        .collect();
    if let [first, second, ..] = amounts[..] {
        return Err(source.wrong(
            fields.place_of(second),
            format!("`{first}` and `{second}` together in a handle"),
        ));
    }
    if let (Some(_), false) = (fields.get("ports"), amounts == ["cards"]) {
        return Err(source
            .wrong(fields.place_of("ports"), "`ports` goes with `cards`")
            .hint("use `count` for a number of ports"));
    }
    if let Some(node) = fields.get("nth") {
        return match &node.value {
            Value::Text(_) => source.choice(node, "amount", &[("last", Pick::Last)]),
            _ => Ok(Pick::Nth(source.small(node, 1)? as usize)),
        };
    }
    if let Some(node) = fields.get("count") {
        return Ok(Pick::Count(HowMany::read(source, node)?));
    }
    if let Some(node) = fields.get("cards") {
        let ports = fields.read("ports", HowMany::All, |node| HowMany::read(source, node))?;
        return Ok(Pick::Cards(HowMany::read(source, node)?, ports));
    }
    // Who names a switch means what hangs on it.
    Ok(match fields.get("cabled_to") {
        Some(_) => Pick::Count(HowMany::All),
        None => Pick::Nth(1),
    })
}

/// Reads one device name or a list.
pub(crate) fn names(source: &Source<'_>, node: &Node) -> Result<Vec<DeviceName>, ScenarioError> {
    let nodes = source.one_or_more(node, "device names")?;
    nodes
        .iter()
        .map(|node| source.text(node, "a device name").map(DeviceName))
        .collect()
}

/// Reads a PCI address.
pub(crate) fn pci(source: &Source<'_>, node: &Node) -> Result<PciAddress, ScenarioError> {
    let text = source.text(node, "an address such as `0000:0c:00.0`")?;
    text.parse().map_err(|_| {
        source
            .wrong(node.place, format!("`{text}` is no PCI address"))
            .hint("write domain, bus, device and function, as in `0000:0c:00.1`")
    })
}

const ROLES: &[(&str, Role)] = &[
    ("management", Role::Management),
    ("compute", Role::Compute),
    ("storage", Role::Storage),
];
