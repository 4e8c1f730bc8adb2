//! A world of several nodes: what they are made of, which switches there are, and the cables between.
//!
//! A world is told as data, like a platform; a scenario names one by `world:`. It says how things are
//! at rest; what happens to it is a scenario's. Start at [`World::read`].

use std::net::Ipv4Addr;

use mpib::Rail;
use platforms::yaml::{self, Node, Place};
use platforms::{DeviceName, PortNumber};

use crate::error::ScenarioError;
use crate::reader::{Fields, Source};
use crate::words::{CABLE, WORLD, WORLD_NODE, WORLD_RAIL};

/// How many nodes a world may have. Chosen: eight times the largest that is measured.
const NODES_MAX: usize = 4096;

/// A world as its file says it.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) name: String,
    pub(crate) why: String,
    pub(crate) nodes: Vec<NodeSaid>,
    pub(crate) switches: Vec<(String, Place)>,
    pub(crate) cables: Vec<CableSaid>,
}

/// Nodes of one make.
#[derive(Clone, Debug)]
pub(crate) struct NodeSaid {
    pub(crate) names: Vec<String>,
    pub(crate) name_place: Place,
    pub(crate) platform: (String, Place),
    pub(crate) monitored: bool,
    pub(crate) rails: Vec<RailSaid>,
}

/// A rail of each of these nodes; the nth of them has the nth address from the one given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RailOf {
    pub(crate) rail: Rail,
    pub(crate) address: Ipv4Addr,
}

/// A rail with the port that it is.
#[derive(Clone, Debug)]
pub(crate) struct RailSaid {
    pub(crate) of: RailOf,
    pub(crate) device: (DeviceName, Place),
}

/// Cables from a port of each of these nodes to a switch.
#[derive(Clone, Debug)]
pub(crate) struct CableSaid {
    /// The nodes; every node that has such a port if there are none.
    pub(crate) nodes: Vec<(String, Place)>,
    pub(crate) devices: Vec<(DeviceName, Place)>,
    pub(crate) port: PortNumber,
    pub(crate) to: (String, Place),
}

impl World {
    /// Reads a world; `file` is the name that errors carry.
    ///
    /// # Errors
    /// Whatever is wrong with the text on any platform, with its place.
    pub fn read(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let root: Node = yaml::read(file, text)?;
        let source = Source { file, text };
        let fields = source.map(&root, "a world", WORLD)?;
        let mut nodes: Vec<NodeSaid> = Vec::new();
        let list = fields.need(&source, "nodes")?;
        for node in source.one_or_more(list, "nodes")? {
            let said = node_said(&source, node)?;
            let twice = |name: &&String| nodes.iter().any(|other| other.names.contains(name));
            if let Some(name) = said.names.iter().find(twice) {
                return Err(source.wrong(said.name_place, format!("two nodes are called `{name}`")));
            }
            nodes.push(said);
        }
        let count: usize = nodes.iter().map(|node| node.names.len()).sum();
        if count > NODES_MAX {
            return Err(source.wrong(
                list.place,
                format!("{count} nodes, at most {NODES_MAX} are played"),
            ));
        }
        let switches = fields.read("switches", Vec::new(), |node| {
            let nodes = source.one_or_more(node, "switches")?;
            let name = |node: &Node| {
                let (names, place) = (source.text(node, "a switch's name")?, node.place);
                Ok(range(&source, &names, place)?
                    .into_iter()
                    .map(move |name| (name, place)))
            };
            let all = nodes
                .iter()
                .map(name)
                .collect::<Result<Vec<_>, ScenarioError>>()?;
            Ok(all.into_iter().flatten().collect())
        })?;
        for (at, (name, place)) in switches.iter().enumerate() {
            if switches[..at].iter().any(|(other, _)| other == name) {
                return Err(source.wrong(*place, format!("two switches are called `{name}`")));
            }
        }
        let world = Self {
            file: file.to_owned(),
            text: text.to_owned(),
            name: source.text(fields.need(&source, "world")?, "a name")?,
            why: source
                .text(fields.need(&source, "why")?, "what the world is for")?
                .trim()
                .to_owned(),
            nodes,
            switches,
            cables: fields.read("cables", Vec::new(), |node| {
                let nodes = source.list(node, "a list of cables")?;
                nodes.iter().map(|node| cable(&source, node)).collect()
            })?,
        };
        for cable in &world.cables {
            let (name, place) = &cable.to;
            if !world.switches.iter().any(|(known, _)| known == name) {
                let known = world.switches.iter().map(|(known, _)| known.as_str());
                return Err(source.unknown(*place, "switch", name, known));
            }
            for (name, place) in &cable.nodes {
                let known = || world.nodes.iter().flat_map(|node| &node.names);
                if !known().any(|known| known == name) {
                    return Err(source.unknown(*place, "node", name, known().map(String::as_str)));
                }
            }
        }
        Ok(world)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is for.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
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

fn node_said(source: &Source<'_>, node: &Node) -> Result<NodeSaid, ScenarioError> {
    let fields = source.map(node, "a node", WORLD_NODE)?;
    let name = fields.need(source, "name")?;
    let platform = fields.need(source, "platform")?;
    let rails = match fields.get("rails") {
        None => Vec::new(),
        Some(node) => rails(source, source.open_map(node, "rails")?)?,
    };
    Ok(NodeSaid {
        names: range(source, &source.text(name, "a node's name")?, name.place)?,
        name_place: name.place,
        platform: (source.text(platform, "a platform's name")?, platform.place),
        monitored: fields.read("monitored", true, |node| source.truth(node))?,
        rails,
    })
}

fn rails(source: &Source<'_>, fields: Fields<'_>) -> Result<Vec<RailSaid>, ScenarioError> {
    let mut rails = Vec::new();
    for (key, node) in fields.pairs {
        let rail = rail_by_name(source, &key.name, key.place)?;
        let fields = source.map(node, "a rail", WORLD_RAIL)?;
        let device = fields.need(source, "device")?;
        let address = fields.need(source, "address")?;
        let text = source.text(address, "an IPv4 address")?;
        let address = text.parse().map_err(|_| {
            source
                .wrong(address.place, format!("`{text}` is no IPv4 address"))
                .hint("write `10.0.1.1`")
        })?;
        rails.push(RailSaid {
            of: RailOf { rail, address },
            device: (
                DeviceName(source.text(device, "a device's name")?),
                device.place,
            ),
        });
    }
    Ok(rails)
}

/// A rail's name as scenarios spell it.
pub(crate) fn rail_by_name(
    source: &Source<'_>,
    name: &str,
    place: Place,
) -> Result<Rail, ScenarioError> {
    match name {
        "sout" => Ok(Rail::Sout),
        "sup" => Ok(Rail::Sup),
        other => Err(source.unknown(place, "rail", other, ["sout", "sup"])),
    }
}

fn cable(source: &Source<'_>, node: &Node) -> Result<CableSaid, ScenarioError> {
    let fields = source.map(node, "a cable", CABLE)?;
    let mut nodes = Vec::new();
    if let Some(node) = fields.get("nodes") {
        for node in source.one_or_more(node, "nodes' names")? {
            let text = source.text(node, "a node's name")?;
            let names = range(source, &text, node.place)?;
            nodes.extend(names.into_iter().map(|name| (name, node.place)));
        }
    }
    let devices = fields.need(source, "device")?;
    let device = |node: &Node| {
        let name = source.text(node, "a device's name")?;
        Ok((DeviceName(name), node.place))
    };
    let to = fields.need(source, "to")?;
    let port = fields.read("port", 1, |node| source.number(node, 1, 255))?;
    Ok(CableSaid {
        nodes,
        devices: source
            .one_or_more(devices, "devices' names")?
            .iter()
            .map(device)
            .collect::<Result<_, ScenarioError>>()?,
        port: PortNumber(u8::try_from(port).expect("a number up to 255 fits 8 bits")),
        to: (source.text(to, "a switch's name")?, to.place),
    })
}

/// `vm1..vm8`, `node-01..node-64`, or one name.
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
            .wrong(place, format!("`{text}` is no range of names"))
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
