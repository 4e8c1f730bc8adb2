//! Starts a program of the user's with a tree over the files of its host, on the user's terminal. Start at [`start`].

use std::{
    io,
    path::Path,
    process::{Child, Command},
};

use observe::Limits;
use simfs::{Edit, Tree};

use super::{
    host_root::{self, HostRoot},
    mount_space::MountView,
    network::Network,
    stage::{PRIVATE, Stage},
};

/// What the tree must have for [`start`].
pub(crate) fn edits() -> Vec<Edit> {
    host_root::folders()
}

/// Starts a command in namespaces of its own: the tree that is mounted at `mount`, a folder directly below `folder`,
/// is over the host's `/sys` and what else `root: /` of a descriptor replaces, and the network has the loopback
/// interface only. The host's files can be written, because the command is the user's own.
pub(crate) fn start(
    stage: &Stage,
    (folder, mount): (&Path, &Path),
    tree: &Tree,
    command: &mut Command,
) -> io::Result<Child> {
    if !Network::enter().is_private() {
        return Err(io::Error::other("the kernel grants no private network"));
    }
    for name in PRIVATE {
        command.env_remove(name);
    }
    let view = MountView {
        stage: stage.folder().to_owned(),
        node: folder.to_owned(),
        over_host: Some(HostRoot::new(mount, tree)),
        binds: Vec::new(),
        confinement: None,
        space: Limits::default().most_space(),
        pids: None,
    };
    let (child, _) = view.spawn(command)?;
    Ok(child)
}
