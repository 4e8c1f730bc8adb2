//! A world of several nodes: their platforms, the switches, and the cables between them.
//!
//! A world is a YAML file, like a platform; a scenario names one by `world:`. It describes the world
//! at rest. Start at [`World::read`].

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use files::{Mistakes, Node, Place, YamlValue, yaml};
use mpib::Rail;
use platforms::{DeviceName, PortNumber};
use serde_json::json;

use crate::context::Context;
use crate::error::ScenarioError;
use crate::keys::{Keys, Literal, maybe, need, or, together};
use crate::kind::{Checked, Kind, List, Many, Placed, Plain, Text, number, plain, text_form};
use crate::map::MapOf;
use crate::reader::Source;
use crate::values::{DEVICE_NAME, RAIL, TRUTH};

/// The largest number of nodes of a world. Chosen: eight times the largest that is measured.
const NODES_MAX: usize = 4096;

/// A world as parsed.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) name: String,
    pub(crate) why: String,
    pub(crate) nodes: Vec<NodeSpec>,
    pub(crate) switches: Vec<(String, Place)>,
    pub(crate) cables: Vec<CableSpec>,
}

/// One or more nodes of the same platform.
#[derive(Clone, Debug)]
pub(crate) struct NodeSpec {
    pub(crate) names: Vec<String>,
    pub(crate) name_place: Place,
    pub(crate) platform: (String, Place),
    pub(crate) monitored: bool,
    pub(crate) rails: Vec<RailSpec>,
}

/// A rail of each of these nodes; the nth node has the nth address from the given one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RailOf {
    pub(crate) rail: Rail,
    pub(crate) address: Ipv4Addr,
}

/// A rail with its port.
#[derive(Clone, Debug)]
pub(crate) struct RailSpec {
    pub(crate) of: RailOf,
    pub(crate) device: (DeviceName, Place),
}

/// Cables from one port of each of these nodes to a switch.
#[derive(Clone, Debug)]
pub(crate) struct CableSpec {
    /// The nodes; if empty, every node that has such a port.
    pub(crate) nodes: Vec<(String, Place)>,
    pub(crate) devices: Vec<(DeviceName, Place)>,
    pub(crate) port: PortNumber,
    pub(crate) to: (String, Place),
}

impl World {
    /// Reads a world. `file` is the name that errors carry.
    ///
    /// # Errors
    /// Every mistake in the text that can be found without the platforms, each with its place.
    pub fn read(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let root: Node = yaml::read(file, text)?;
        let source = Source { file, text };
        let handles = BTreeSet::new();
        let context = Context::new(source, &handles);
        let (name, why, nodes, switches, cables) =
            MapOf("a world", keys()).parse(&context, &root)?;
        source.refuse_odd_name(root.place, &name)?;
        let world = Self {
            file: file.to_owned(),
            text: text.to_owned(),
            name,
            why: why.trim().to_owned(),
            nodes,
            switches: switches.unwrap_or_default(),
            cables: cables.unwrap_or_default(),
        };
        let mut mistakes = Mistakes::default();
        for cable in &world.cables {
            let (name, place) = &cable.to;
            let switches = || world.switches.iter().map(|(known, _)| known.as_str());
            if !switches().any(|known| known == name) {
                let unknown = source.unknown(*place, "switch", name, switches());
                mistakes.take::<()>(Err(unknown));
            }
            for (name, place) in &cable.nodes {
                let known = || world.nodes.iter().flat_map(|node| &node.names);
                if !known().any(|known| known == name) {
                    let known = known().map(String::as_str);
                    let unknown = source.unknown(*place, "node", name, known);
                    mistakes.take::<()>(Err(unknown));
                }
            }
        }
        mistakes.or(Some(world))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text that it was read from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its purpose.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Its nodes: the name of each, its platform's name, and whether a monitor runs on it.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.nodes.iter().flat_map(|spec| {
            let names = spec.names.iter().map(String::as_str);
            names.map(|name| (name, spec.platform.0.as_str(), spec.monitored))
        })
    }

    /// The names of its switches.
    pub fn switches(&self) -> impl Iterator<Item = &str> {
        self.switches.iter().map(|(name, _)| name.as_str())
    }

    /// Its cables: the names of the nodes (none if it is every node that has such a port), the device, its port, and the switch.
    pub fn cables(&self) -> impl Iterator<Item = (Vec<&str>, &DeviceName, PortNumber, &str)> {
        self.cables.iter().flat_map(|spec| {
            let nodes = || spec.nodes.iter().map(|(name, _)| name.as_str()).collect();
            let devices = spec.devices.iter();
            devices.map(move |(device, _)| (nodes(), device, spec.port, spec.to.0.as_str()))
        })
    }

    /// The file it was read from.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn source(&self) -> Source<'_> {
        Source {
            file: &self.file,
            text: &self.text,
        }
    }
}

type Keyed = (
    String,
    String,
    Vec<NodeSpec>,
    Option<Vec<NameAt>>,
    Option<Vec<CableSpec>>,
);

/// A name and its place.
type NameAt = (String, Place);

/// The keys of a world.
pub(crate) fn keys() -> impl Keys<Value = Keyed> {
    (
        need(
            "world",
            Text("a name"),
            "The name that scenarios use in `world`.",
        ),
        need("why", Text("a text"), "The purpose of the world."),
        need(
            "nodes",
            NODES,
            "The nodes, in the order in which handles select ports.",
        ),
        maybe(
            "switches",
            SWITCHES,
            "The switches; `leaf-1..leaf-4` is four.",
        ),
        maybe(
            "cables",
            List("a list of cables", CABLE),
            "Cables from ports to switches. A port without one has a link partner of its own.",
        ),
    )
}

const NODES: Checked<Many<Plain<NodeSpec>>, Vec<NodeSpec>> =
    Checked(Many("nodes", NODE), |context, list, nodes| {
        let source = &context.source;
        for (at, spec) in nodes.iter().enumerate() {
            let twice = |name: &&String| nodes[..at].iter().any(|other| other.names.contains(name));
            if let Some(name) = spec.names.iter().find(twice) {
                return Err(source.wrong(spec.name_place, format!("two nodes are called `{name}`")));
            }
        }
        let count: usize = nodes.iter().map(|node| node.names.len()).sum();
        if count > NODES_MAX {
            return Err(source.wrong(
                list.place,
                format!("{count} nodes, at most {NODES_MAX} are played"),
            ));
        }
        Ok(nodes)
    });

const NODE: Plain<NodeSpec> = plain(
    "a node",
    || MapOf("a node", node_keys()).schema(),
    |context, node| MapOf("a node", node_keys()).parse(context, node),
);

pub(crate) fn node_keys() -> impl Keys<Value = NodeSpec> {
    together(
        (
            need(
                "name",
                Placed(Text("a name or a range")),
                "Its name; `vm1..vm8` is eight nodes of the same platform.",
            ),
            need(
                "platform",
                Placed(Text("a platform's name")),
                "Its platform, such as `dgx-h100:ib-storage`.",
            ),
            or(
                "monitored",
                Literal::Truth(true),
                TRUTH,
                "Whether it runs a monitor.",
            ),
            maybe("rails", RAILS, "The two rails of an MPIB host."),
        ),
        |context, _, ((name, name_place), platform, monitored, rails)| {
            let source = &context.source;
            let names = named(source, range(source, &name, name_place)?, name_place)?;
            let rails: Vec<RailSpec> = rails.unwrap_or_default();
            let mut addresses = rails.iter().map(|rail| rail.of.address);
            let after_first = u32::try_from(names.len().saturating_sub(1)).unwrap_or(u32::MAX);
            let ends = |address: Ipv4Addr| address.to_bits().checked_add(after_first).is_none();
            if let Some(address) = addresses.find(|address| ends(*address)) {
                let what = format!("no {} addresses from `{address}` on", names.len());
                return Err(source
                    .wrong(name_place, what)
                    .hint("the last address is 255.255.255.255"));
            }
            Ok(NodeSpec {
                names,
                name_place,
                platform,
                monitored,
                rails,
            })
        },
    )
}

const RAILS: Plain<Vec<RailSpec>> = plain(
    "a map of `sout` and `sup`",
    || {
        let rail = MapOf("a rail", rail_keys()).schema();
        json!({
            "type": "object",
            "additionalProperties": rail,
            "propertyNames": RAIL.schema(),
        })
    },
    |context, node| {
        let fields = context.source.open_map(node, "rails")?;
        let mut rails = Vec::new();
        for (key, node) in fields.pairs {
            let name = Node {
                place: key.place,
                value: YamlValue::Text(key.name.clone()),
            };
            let rail = RAIL.parse(context, &name)?;
            let (device, address) = MapOf("a rail", rail_keys()).parse(context, node)?;
            rails.push(RailSpec {
                of: RailOf { rail, address },
                device,
            });
        }
        Ok(rails)
    },
);

pub(crate) fn rail_keys() -> impl Keys<Value = ((DeviceName, Place), Ipv4Addr)> {
    (
        need(
            "device",
            Placed(DEVICE_NAME),
            "The device; the plugin uses its port 1.",
        ),
        need(
            "address",
            ADDRESS,
            "Its address; the nth node of a range has the nth address from this one.",
        ),
    )
}

const ADDRESS: Plain<Ipv4Addr> = plain("an IPv4 address", text_form, |context, node| {
    let text = context.source.text(node, "an IPv4 address")?;
    text.parse().map_err(|_| {
        context
            .source
            .wrong(node.place, format!("invalid IPv4 address `{text}`"))
            .hint("write `10.0.1.1`")
    })
});

const SWITCHES: Checked<Many<Placed<Text>>, Vec<NameAt>> = Checked(
    Many("switches", Placed(Text("a switch's name"))),
    |context, _, names| {
        let switches = ranges(&context.source, names)?;
        for (at, (name, place)) in switches.iter().enumerate() {
            if switches[..at].iter().any(|(other, _)| other == name) {
                let what = format!("two switches are called `{name}`");
                return Err(context.source.wrong(*place, what));
            }
        }
        Ok(switches)
    },
);

const CABLE: Plain<CableSpec> = plain(
    "a cable",
    || MapOf("a cable", cable_keys()).schema(),
    |context, node| MapOf("a cable", cable_keys()).parse(context, node),
);

pub(crate) fn cable_keys() -> impl Keys<Value = CableSpec> {
    together(
        (
            maybe(
                "nodes",
                Many("nodes' names", Placed(Text("a name or a range"))),
                "The nodes; by default every node with such a port.",
            ),
            need(
                "device",
                Many("devices' names", Placed(DEVICE_NAME)),
                "The devices.",
            ),
            or(
                "port",
                Literal::Whole(1),
                number(1, 255),
                "The port number.",
            ),
            need("to", Placed(Text("a switch's name")), "The switch."),
        ),
        |context, _, (nodes, devices, port, to)| {
            Ok(CableSpec {
                nodes: ranges(&context.source, nodes.unwrap_or_default())?,
                devices,
                port: PortNumber(port),
                to,
            })
        },
    )
}

/// The names of a range, if a file may give them.
fn named(
    source: &Source<'_>,
    names: Vec<String>,
    place: Place,
) -> Result<Vec<String>, ScenarioError> {
    for name in &names {
        source.refuse_odd_name(place, name)?;
    }
    Ok(names)
}

/// Every name of these ranges.
fn ranges(source: &Source<'_>, texts: Vec<NameAt>) -> Result<Vec<NameAt>, ScenarioError> {
    let mut names = Vec::new();
    for (text, place) in texts {
        let range = named(source, range(source, &text, place)?, place)?;
        names.extend(range.into_iter().map(|name| (name, place)));
    }
    Ok(names)
}

/// Expands `vm1..vm8`, `node-01..node-64`, or a single name.
pub(crate) fn range(
    source: &Source<'_>,
    text: &str,
    place: Place,
) -> Result<Vec<String>, ScenarioError> {
    let Some((first, last)) = text.split_once("..") else {
        return Ok(vec![text.to_owned()]);
    };
    let split = |name: &str| {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = name.split_at(name.len() - digits);
        Some((stem.to_owned(), number.parse::<usize>().ok()?, digits))
    };
    let wrong = || {
        source
            .wrong(place, format!("invalid range of names `{text}`"))
            .hint("write two names that differ in their last number, as in `vm1..vm8` or `node-01..node-64`")
    };
    let ((stem, from, width), (other, to, _)) = split(first).zip(split(last)).ok_or_else(wrong)?;
    if stem != other || from > to || to - from >= NODES_MAX {
        return Err(wrong());
    }
    Ok((from..=to)
        .map(|number| format!("{stem}{number:0width$}"))
        .collect())
}
