//! The nodes of a part, before they become edits.

use std::borrow::Cow;
use std::fmt::Display;

use simfs::{Edit, Errno, FileValue, TreePath};

/// The node at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Folder,
    File(FileValue),
    Link(String),
}

impl Node {
    pub(super) fn edit(self, path: String) -> Edit {
        let path = TreePath::from(path);
        match self {
            Self::Folder => Edit::Folder(path),
            Self::File(value) => Edit::File { path, value },
            Self::Link(target) => Edit::Link { path, target },
        }
    }
}

/// The nodes of one part: names below its root, or from the tree's root if they begin with `/`.
#[derive(Default)]
pub(crate) struct Nodes(pub(super) Vec<(Cow<'static, str>, Node)>);

impl Nodes {
    pub(super) fn file(&mut self, name: impl Into<Cow<'static, str>>, text: impl Display) {
        self.0
            .push((name.into(), Node::File(FileValue::line(text))));
    }

    pub(super) fn bytes(&mut self, name: impl Into<Cow<'static, str>>, bytes: Vec<u8>) {
        self.0
            .push((name.into(), Node::File(FileValue::Bytes(bytes))));
    }

    pub(super) fn fails(&mut self, name: impl Into<Cow<'static, str>>, errno: Errno) {
        self.0
            .push((name.into(), Node::File(FileValue::Fails(errno))));
    }

    pub(super) fn link(&mut self, name: impl Into<Cow<'static, str>>, target: impl Into<String>) {
        self.0.push((name.into(), Node::Link(target.into())));
    }

    pub(super) fn folder(&mut self, name: impl Into<Cow<'static, str>>) {
        self.0.push((name.into(), Node::Folder));
    }
}

/// The way from a folder that is so many levels below the folder of this bus to `sys`.
pub(super) fn up_from(bus: &str, levels: usize) -> String {
    let depth = levels + 2 + bus.matches('/').count();
    vec![".."; depth].join("/")
}
