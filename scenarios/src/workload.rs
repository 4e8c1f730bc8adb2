//! Workloads as a scenario says them: `workloads: { storage: { lnet: … }, job: { mpib: … } }`.
//!
//! What they become in a world is told in `workload/telling.rs`; how they behave is not here.

mod telling;

use mpib::{Bytes, Retries};
use platforms::Role;
use platforms::yaml::{Node, Place, Value};
use simfs::SimTime;

use crate::deed_reader::positive;
use crate::duration;
use crate::error::ScenarioError;
use crate::reader::{Fields, Source};
use crate::words::{LNET, MPIB};
use crate::world::range;

type Read<T> = Result<T, ScenarioError>;

/// A node's name, and where it is named.
type Name = (String, Place);

/// A workload as said.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadSaid {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) kind: KindSaid,
}

#[derive(Clone, Debug)]
pub(crate) enum KindSaid {
    Lnet(LnetSaid),
    Mpib(MpibSaid),
}

#[derive(Clone, Debug)]
pub(crate) struct LnetSaid {
    clients: Vec<Name>,
    server: Name,
    nis: u32,
    role: Role,
    write_interval: SimTime,
    profile: lnet::Profile,
}

#[derive(Clone, Debug)]
pub(crate) struct MpibSaid {
    edges: EdgesSaid,
    message: Bytes,
    every: SimTime,
    pause: Option<(SimTime, SimTime)>,
    profile: mpib::Profile,
    retries: Retries,
    agents: bool,
}

#[derive(Clone, Debug)]
enum EdgesSaid {
    Ring(Vec<Name>),
    Mesh(Vec<Name>),
    Pairs(Vec<(Name, Name)>),
}

/// Reads `workloads:`.
pub(crate) fn read(source: &Source<'_>, node: &Node) -> Read<Vec<WorkloadSaid>> {
    let fields = source.open_map(node, "workloads")?;
    let mut said = Vec::new();
    for (key, node) in fields.pairs {
        let fields = source.open_map(node, "a workload")?;
        fields.known(source, ["lnet", "mpib"])?;
        let (kind, node) = fields.exactly_one(source, &["lnet", "mpib"])?;
        said.push(WorkloadSaid {
            name: key.name.clone(),
            place: key.place,
            kind: match kind {
                "lnet" => KindSaid::Lnet(lnet_said(source, node)?),
                _ => KindSaid::Mpib(mpib_said(source, node)?),
            },
        });
    }
    Ok(said)
}

fn lnet_said(source: &Source<'_>, node: &Node) -> Read<LnetSaid> {
    let fields = source.map(node, "a workload `lnet`", LNET)?;
    let server = fields.need(source, "server")?;
    let roles = [("compute", Role::Compute), ("storage", Role::Storage)];
    Ok(LnetSaid {
        clients: names(source, fields.need(source, "client")?)?,
        server: (source.text(server, "a node's name")?, server.place),
        nis: fields.read("nis", 1, |node| source.small(node, 1))?,
        role: fields.read("role", Role::Storage, |node| {
            source.choice(node, "role", &roles)
        })?,
        write_interval: fields.read("rpc", SimTime::from_secs(1), |node| rpc(source, node))?,
        profile: fields.read("profile", lnet::Profile::V2_17, |node| {
            let words = lnet::Profile::ALL.map(|profile| (profile.name(), profile));
            let text = source.text(node, "a profile of LNet")?;
            let found = words.iter().find(|(name, _)| *name == text);
            found.map(|(_, profile)| *profile).ok_or_else(|| {
                source.unknown(node.place, "profile", &text, words.map(|(name, _)| name))
            })
        })?,
    })
}

/// `1MiB per 1s`: what is written is fixed, how often is not.
fn rpc(source: &Source<'_>, node: &Node) -> Read<SimTime> {
    let text = source.text(node, "`1MiB per 1s`")?;
    let every = text
        .split_once(" per ")
        .filter(|(size, _)| size.trim() == "1MiB")
        .and_then(|(_, time)| duration::parse(time))
        .filter(|every| *every >= SimTime::from_ms(1));
    every.ok_or_else(|| {
        source
            .wrong(node.place, format!("`{text}` is no rate of RPCs"))
            .hint("write `1MiB per 1s`: every write is of 1 MiB, at most one a millisecond")
    })
}

fn mpib_said(source: &Source<'_>, node: &Node) -> Read<MpibSaid> {
    let fields = source.map(node, "a workload `mpib`", MPIB)?;
    let (kind, edges) = fields.exactly_one(source, &["ring", "mesh", "pairs"])?;
    let several = |node: &Node| {
        let names = names(source, node)?;
        match names.len() {
            0 | 1 => Err(source.wrong(node.place, "a job of one node sends nothing")),
            _ => Ok(names),
        }
    };
    let profiles = [
        ("spec", mpib::Profile::Spec),
        ("g1", mpib::Profile::G1),
        ("g2", mpib::Profile::G2),
    ];
    Ok(MpibSaid {
        edges: match kind {
            "ring" => EdgesSaid::Ring(several(edges)?),
            "mesh" => EdgesSaid::Mesh(several(edges)?),
            _ => EdgesSaid::Pairs(pairs(source, edges)?),
        },
        message: fields.read("message", Bytes::from_mib(1), |node| size(source, node))?,
        every: fields.read("every", SimTime::from_ms(100), |node| {
            positive(source, node)
        })?,
        pause: pause(source, &fields)?,
        profile: fields.read("profile", mpib::Profile::G1, |node| {
            source.choice(node, "profile", &profiles)
        })?,
        retries: fields.read("retries", Retries::Eight, |node| {
            Ok(match source.number(node, 7, 8)? {
                7 => Retries::Seven,
                _ => Retries::Eight,
            })
        })?,
        agents: fields.read("agents", true, |node| {
            source.choice(node, "word", &[("running", true), ("missing", false)])
        })?,
    })
}

fn pause(source: &Source<'_>, fields: &Fields<'_>) -> Read<Option<(SimTime, SimTime)>> {
    fields.maybe("pause", |node| {
        match source.list(node, "a list of two times")? {
            [from, to] => {
                let (from, to) = (source.time(from)?, source.time(to)?);
                if from < to {
                    Ok((from, to))
                } else {
                    Err(source.wrong(node.place, "the pause ends before it begins"))
                }
            }
            _ => Err(source.wrong(node.place, "`pause` takes two times")),
        }
    })
}

fn names(source: &Source<'_>, node: &Node) -> Read<Vec<Name>> {
    let mut names: Vec<Name> = Vec::new();
    for node in source.one_or_more(node, "nodes' names")? {
        let text = source.text(node, "a node's name")?;
        for name in range(source, &text, node.place)? {
            if names.iter().any(|(other, _)| *other == name) {
                return Err(source.wrong(node.place, format!("`{name}` is named twice")));
            }
            names.push((name, node.place));
        }
    }
    Ok(names)
}

fn pairs(source: &Source<'_>, node: &Node) -> Read<Vec<(Name, Name)>> {
    let pair = |node: &Node| match &names(source, node)?[..] {
        [from, to] => Ok((from.clone(), to.clone())),
        _ => Err(source
            .wrong(node.place, "a pair is two nodes")
            .hint("write `pairs: [ [ vm1, vm2 ] ]`: the first sends to the second")),
    };
    let nodes = source.one_or_more(node, "pairs of nodes")?;
    nodes.iter().map(pair).collect()
}

/// `4096`, `64KiB` or `1MiB`.
fn size(source: &Source<'_>, node: &Node) -> Read<Bytes> {
    const MOST: u64 = 1 << 30;
    if let Value::Whole(_) = node.value {
        return Ok(Bytes::new(source.number(node, 0, MOST)?));
    }
    let text = source.text(node, "a size such as `1MiB`")?;
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20)];
    let bytes = units.iter().find_map(|(unit, bytes)| {
        let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        number.checked_mul(*bytes).filter(|bytes| *bytes <= MOST)
    });
    bytes.map(Bytes::new).ok_or_else(|| {
        source
            .wrong(node.place, format!("`{text}` is no size"))
            .hint("write bytes, or `64KiB`, or `1MiB`; at most 1 GiB")
    })
}
