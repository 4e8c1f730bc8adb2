//! How a line names what it is about: `victim`, `device of victim`, `[a, b]`, `{ name: mlx5_3 }`.
//!
//! Read here, checked against the handles that the scenario declares; found in a world by
//! [`crate::ground`].

use std::collections::BTreeSet;

use platforms::yaml::{Node, Place, Value};
use platforms::{DeviceName, PortNumber};

use crate::error::ScenarioError;
use crate::reader::Source;
use crate::words::KeyWord;

/// What a reading of lines needs to know: the text, and the handles that may be named.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// The text.
    pub(crate) source: Source<'a>,
    /// The declared handles.
    pub(crate) handles: &'a BTreeSet<String>,
    /// Whether `it` may be said.
    pub(crate) in_each: bool,
}

/// One or several subjects, as said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subjects {
    /// Where they are named.
    pub(crate) place: Place,
    /// What is named.
    pub(crate) items: Vec<Said>,
}

/// One subject, as said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// A handle's ports.
    Handle(String),
    /// The member at hand of an `each`.
    It,
    /// The devices of these.
    DeviceOf(Box<Said>),
    /// The cards of these.
    CardOf(Box<Said>),
    /// All ports of these devices or cards.
    PortsOf(Box<Said>),
    /// A port of whatever bears this name.
    NamedPort(DeviceName, PortNumber),
    /// Whatever bears this name.
    NamedDevice(DeviceName),
}

/// A file, as said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileSaid {
    /// Below the mount root.
    Path(String),
    /// Below the folders of these ports or devices; the rest of the path may be empty for devices.
    Of(Place, Said, String),
    /// The monitor's state file.
    StateFile,
}

/// Nodes as said: names with their places.
pub(crate) type Nodes = Vec<(String, Place)>;

const NAME_KEYS: &[KeyWord] = &[
    KeyWord {
        word: "name",
        takes: "a device name",
        text: "Whatever bears this name.",
    },
    KeyWord {
        word: "port",
        takes: "a number",
        text: "Its port of this number.",
    },
];

/// Folders directly below the mount root, and what is written short for one of them.
const ROOTS: [&str; 6] = ["sys/", "proc/", "var/", "nicdrill/", "class/", "bus/"];

impl Context<'_> {
    /// The same, where `it` may be said.
    pub(crate) fn with_it(self) -> Self {
        Self {
            in_each: true,
            ..self
        }
    }

    /// Reads one subject or a list of them.
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

    fn subject(&self, node: &Node) -> Result<Said, ScenarioError> {
        if let Value::Map(_) = node.value {
            let fields = self.source.map(node, "a name", NAME_KEYS)?;
            let name = fields.need(&self.source, "name")?;
            let name = DeviceName(self.source.text(name, "a device name")?);
            let port = fields.maybe("port", |port| self.source.number(port, 1, 255))?;
            return Ok(match port {
                Some(port) => {
                    let port = u8::try_from(port).expect("a number up to 255 fits 8 bits");
                    Said::NamedPort(name, PortNumber(port))
                }
                None => Said::NamedDevice(name),
            });
        }
        let text = self.source.text(node, "a handle, such as `victim`")?;
        self.said(node.place, &text)
    }

    fn said(&self, place: Place, text: &str) -> Result<Said, ScenarioError> {
        let text = text.trim();
        let Some((first, rest)) = text.split_once(" of ") else {
            return self.handle(place, text);
        };
        let inner = || self.said(place, rest).map(Box::new);
        match first.trim() {
            "device" | "devices" => Ok(Said::DeviceOf(inner()?)),
            "card" | "cards" => Ok(Said::CardOf(inner()?)),
            "port" | "ports" => Ok(Said::PortsOf(inner()?)),
            other => Err(self.source.unknown(
                place,
                "word before `of`",
                other,
                ["device", "card", "ports"],
            )),
        }
    }

    fn handle(&self, place: Place, name: &str) -> Result<Said, ScenarioError> {
        if name == "it" {
            return if self.in_each {
                Ok(Said::It)
            } else {
                Err(self.source.wrong(place, "`it` outside of an `each`"))
            };
        }
        self.declared(place, name)?;
        Ok(Said::Handle(name.to_owned()))
    }

    /// Refuses a handle that nobody declared.
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

    /// Reads a node's name or a list of names.
    pub(crate) fn nodes(&self, node: &Node) -> Result<Nodes, ScenarioError> {
        let nodes = self.source.one_or_more(node, "a node's name")?;
        let name = |node: &Node| Ok((self.source.text(node, "a node's name")?, node.place));
        nodes.iter().map(name).collect()
    }

    /// Reads a file's name.
    pub(crate) fn file(&self, node: &Node) -> Result<FileSaid, ScenarioError> {
        let text = self.source.text(node, "a file, such as `victim/state`")?;
        self.file_text(node.place, text.trim())
    }

    /// Reads a file's name out of a text.
    pub(crate) fn file_text(&self, place: Place, text: &str) -> Result<FileSaid, ScenarioError> {
        if text == "state_file" {
            return Ok(FileSaid::StateFile);
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
            return Ok(FileSaid::Path(path));
        }
        let (of, rest) = text.split_once('/').unwrap_or((text, ""));
        let said = self.said(place, of).map_err(|error| {
            error.hint(
                "a file is `victim/state`, `device of victim/fw_ver`, `state_file`, or a path below \
                 `class/`, `bus/`, `sys/`, `proc/`, `var/`, `nicdrill/`",
            )
        })?;
        let is_device = matches!(said, Said::DeviceOf(_));
        if rest.is_empty() && !is_device {
            return Err(self
                .source
                .wrong(place, format!("`{text}` names no file of the port"))
                .hint(format!(
                    "write `{text}/state`, or `device of {text}` for its folder"
                )));
        }
        if matches!(said, Said::CardOf(_)) {
            return Err(self
                .source
                .wrong(place, "a card has no folder of its own")
                .hint("name a device or a port"));
        }
        Ok(FileSaid::Of(place, said, rest.to_owned()))
    }
}
