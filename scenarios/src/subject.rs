//! The subject of a line: `victim`, `device of victim`, `[a, b]`, `{ name: mlx5_3 }`.
//!
//! This file parses subjects and checks them against the declared handles; [`crate::resolved_world`]
//! resolves them in a world.

use files::{Key, Node, Place, YamlValue};
use platforms::{DeviceName, PortNumber};

use crate::context::Context;
use crate::error::ScenarioError;
use crate::keys::{maybe, need, together};
use crate::kind::{Kind, Text, number};
use crate::map::MapOf;

/// One or several subjects, as parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subjects {
    /// Where they are in the file.
    pub(crate) place: Place,
    pub(crate) items: Vec<Named>,
}

/// One subject, as parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A handle's ports.
    Handle(String),
    /// The current port of an `each`.
    It,
    /// The devices of this subject.
    DeviceOf(Box<Named>),
    /// The cards of this subject.
    CardOf(Box<Named>),
    /// All ports of these devices or cards.
    PortsOf(Box<Named>),
    /// The port of the device that has this name at the time.
    Port(DeviceName, PortNumber),
    /// The device that has this name at the time.
    Device(DeviceName),
}

/// A file, as parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileSpec {
    /// Below the mount root.
    Path(String),
    /// A path below the folders of these ports or devices; it may be empty for devices.
    Of(Place, Named, String),
    /// The monitor's state file.
    StateFile,
}

/// Node names with their places.
pub(crate) type NodeNames = Vec<(String, Place)>;

/// A device name, with an optional port number.
pub(crate) fn by_name() -> impl Kind<Value = Named> {
    MapOf(
        "a name",
        together(
            (
                need(
                    "name",
                    Text("a device name"),
                    "The device that has this name at the time.",
                ),
                maybe("port", number(1, 255), "Its port with this number."),
            ),
            |_, _, (name, port)| {
                let name = DeviceName(name);
                Ok(match port {
                    Some(port) => Named::Port(name, PortNumber(port)),
                    None => Named::Device(name),
                })
            },
        ),
    )
}

/// Keys of a selection under `let:` that a name does not have.
const SELECTED_BY: [&str; 17] = [
    "node",
    "role",
    "layer",
    "rail",
    "device",
    "netdev",
    "pci",
    "function",
    "device_of",
    "card_of",
    "sibling_of",
    "peer_of",
    "nth",
    "count",
    "cards",
    "ports",
    "cabled_to",
];

/// Folders directly below the mount root, and the abbreviations for `sys/class` and `sys/bus`.
const ROOTS: [&str; 6] = ["sys/", "proc/", "var/", "nicdrill/", "class/", "bus/"];

impl Context<'_> {
    /// Parses one subject or a list of them.
    pub(crate) fn subjects(&self, node: &Node) -> Result<Subjects, ScenarioError> {
        let nodes = self
            .source
            .one_or_more(node, "a handle, such as `victim`")?;
        let items = nodes
            .iter()
            .map(|node| self.subject(node))
            .collect::<Result<_, _>>()?;
        Ok(Subjects {
            place: node.place,
            items,
        })
    }

    fn subject(&self, node: &Node) -> Result<Named, ScenarioError> {
        if let YamlValue::Map(pairs) = &node.value {
            let chosen_by = |(key, _): &(Key, Node)| SELECTED_BY.contains(&key.name.as_str());
            if pairs.iter().any(chosen_by) {
                let what = "ports and devices are chosen under `let:`, not where they are named";
                return Err(self.source.wrong(node.place, what).hint(
                    "write `let: { victim: { role: compute, nth: 1 } }` and `victim` here, or `{ name: mlx5_0, port: 1 }` \
                     for what has this name at the time",
                ));
            }
            return by_name().parse(self, node);
        }
        let text = self.source.text(node, "a handle, such as `victim`")?;
        self.spec(node.place, &text)
    }

    fn spec(&self, place: Place, text: &str) -> Result<Named, ScenarioError> {
        let text = text.trim();
        let Some((first, rest)) = text.split_once(" of ") else {
            return self.handle(place, text);
        };
        let inner = || self.spec(place, rest).map(Box::new);
        match first.trim() {
            "device" | "devices" => Ok(Named::DeviceOf(inner()?)),
            "card" | "cards" => Ok(Named::CardOf(inner()?)),
            "port" | "ports" => Ok(Named::PortsOf(inner()?)),
            other => Err(self.source.unknown(
                place,
                "word before `of`",
                other,
                ["device", "card", "ports"],
            )),
        }
    }

    fn handle(&self, place: Place, name: &str) -> Result<Named, ScenarioError> {
        if name == "it" {
            return if self.in_each {
                Ok(Named::It)
            } else {
                Err(self.source.wrong(place, "`it` without an `each`"))
            };
        }
        self.declared(place, name)?;
        Ok(Named::Handle(name.to_owned()))
    }

    /// Rejects an undeclared handle.
    pub(crate) fn declared(&self, place: Place, name: &str) -> Result<(), ScenarioError> {
        if self.handles.contains(name) {
            return Ok(());
        }
        if self.handles.is_empty() {
            return Err(self
                .source
                .wrong(place, format!("unknown handle `{name}`"))
                .hint("declare it, as in `let: { victim: { role: compute, nth: 1 } }`"));
        }
        Err(self.source.unknown(
            place,
            "handle",
            name,
            self.handles.iter().map(String::as_str),
        ))
    }

    /// Parses a node's name or a list of names.
    pub(crate) fn nodes(&self, node: &Node) -> Result<NodeNames, ScenarioError> {
        let nodes = self.source.one_or_more(node, "a node's name")?;
        let name = |node: &Node| Ok((self.source.text(node, "a node's name")?, node.place));
        nodes.iter().map(name).collect()
    }

    /// Parses a file.
    pub(crate) fn file(&self, node: &Node) -> Result<FileSpec, ScenarioError> {
        let text = self.source.text(node, "a file, such as `victim/state`")?;
        self.file_text(node.place, text.trim())
    }

    /// Parses a file from a text.
    pub(crate) fn file_text(&self, place: Place, text: &str) -> Result<FileSpec, ScenarioError> {
        if text == "state_file" {
            return Ok(FileSpec::StateFile);
        }
        if text.split('/').any(|part| part == ".." || part == ".") || text.starts_with('/') {
            return Err(self
                .source
                .wrong(place, format!("`{text}` leaves the tree"))
                .hint("write a path below the mount root, such as `class/infiniband`"));
        }
        if let Some(root) = ROOTS.iter().find(|root| text.starts_with(**root)) {
            let path = if *root == "class/" || *root == "bus/" {
                format!("sys/{text}")
            } else {
                text.to_owned()
            };
            return Ok(FileSpec::Path(path));
        }
        let (of, rest) = text.split_once('/').unwrap_or((text, ""));
        let spec = self.spec(place, of).map_err(|error| {
            error.hint(
                "a file is `victim/state`, `device of victim/fw_ver`, `state_file`, or a path below \
                 `class/`, `bus/`, `sys/`, `proc/`, `var/`, `nicdrill/`",
            )
        })?;
        let is_device = matches!(spec, Named::DeviceOf(_));
        if rest.is_empty() && !is_device {
            return Err(self
                .source
                .wrong(place, format!("`{text}` names no file of the port"))
                .hint(format!(
                    "write `{text}/state`, or `device of {text}` for its folder"
                )));
        }
        if matches!(spec, Named::CardOf(_)) {
            return Err(self
                .source
                .wrong(place, "a card has no folder of its own")
                .hint("name a device or a port"));
        }
        Ok(FileSpec::Of(place, spec, rest.to_owned()))
    }
}
