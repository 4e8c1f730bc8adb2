//! Reads a live node into a platform.
//!
//! On a production node it opens as few files as possible: only those in the tables of `asked.rs`;
//! every read has a time limit (`live.rs`); unreadable files are recorded as such.
//! `platforms::capture` builds the platform; the roles that a monitor finds are added here.

mod asked;
mod live;
mod reader;

use std::{borrow::Cow, collections::BTreeMap, path::Path};

use files::FileError;
use platforms::{
    NicRole, Platform, Platforms,
    capture::{CaptureError, Snapshot, capture, from_dump},
    topo::{self, Printed, TopoError},
};

pub use live::LiveRoot;
pub use reader::{Asked, Guest, Unread, read};

/// Finds the role of each device, by name, in a platform's tree.
pub type FindRoles<'a> = &'a dyn Fn(&Platform) -> BTreeMap<String, NicRole>;

/// A platform's file and notes for its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The file's text.
    pub yaml: String,
    /// Notes, such as what the file does not contain.
    pub notes: Vec<String>,
}

/// Why a capture failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// No platform can be built from what was read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The matrix of GPUs and NICs is ambiguous.
    #[error("the matrix cannot be read: {0}")]
    Topo(#[from] TopoError),
    /// The dump is invalid.
    #[error("the dump cannot be read: {0}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Dump(String),
    /// The written platform cannot be parsed: an error in nicdrill.
    #[error("the platform that was made cannot be read: {0}")]
    Made(#[from] FileError),
}

impl Failed {
    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Dump(..) => "one line a file, `mlx5_0/ports/1/state = 4: ACTIVE` or as `grep -r` prints it, or a JSON map of paths and texts".into(),
            _ => return None,
        })
    }
}

/// Reads a node through `guest` and makes a platform of this name.
///
/// # Errors
/// If there are no NICs of interest, or the matrix is ambiguous.
pub fn of_node(
    guest: &mut dyn Guest,
    matrix: Option<&str>,
    name: &str,
    asked: Asked,
    known: &Platforms,
    find_roles: FindRoles<'_>,
) -> Result<Captured, Failed> {
    made(&read(guest, asked), matrix, name, asked, known, find_roles)
}

/// Builds a platform of this name from the text of a dump. Of `asked`, only identifiers matter,
/// because a dump's counters are always read.
///
/// # Errors
/// If the dump is invalid, has no NICs, or the matrix is ambiguous.
pub fn of_dump(
    dump: &str,
    matrix: Option<&str>,
    name: &str,
    asked: Asked,
    known: &Platforms,
    find_roles: FindRoles<'_>,
) -> Result<Captured, Failed> {
    let snapshot = from_dump(dump).map_err(Failed::Dump)?;
    made(&snapshot, matrix, name, asked, known, find_roles)
}

fn made(
    snapshot: &Snapshot,
    matrix: Option<&str>,
    name: &str,
    asked: Asked,
    known: &Platforms,
    find_roles: FindRoles<'_>,
) -> Result<Captured, Failed> {
    let (topology, listed) = match matrix.map(topo::read).transpose()? {
        Some(Printed::Matrix(topology)) => (Some(topology), None),
        Some(Printed::Gpus(gpus)) => (None, Some(gpus)),
        None => (None, None),
    };
    let with_list = listed.map(|gpus| with_gpus(snapshot, &gpus));
    let snapshot = with_list.as_ref().unwrap_or(snapshot);
    let captured = capture(snapshot, topology.as_ref(), name, known)?;
    let captured = captured.with_roles(&BTreeMap::new());
    let captured = match roles(&captured.yaml(), name, known, find_roles)? {
        Some(roles) => captured.with_roles(&roles),
        None => captured.with_likely_roles(),
    };
    let captured = match asked.identifiers {
        true => captured.with_identifiers(snapshot),
        false => captured,
    };
    Ok(Captured {
        yaml: captured.yaml(),
        notes: captured.notes().to_vec(),
    })
}

/// What was read of a node, and the GPUs that a tool lists on it.
fn with_gpus(snapshot: &Snapshot, gpus: &[topo::ListedGpu]) -> Snapshot {
    let mut snapshot = snapshot.clone();
    for (number, gpu) in gpus.iter().enumerate() {
        snapshot.file(format!("gpu/{number}/line"), gpu.line.to_string());
        if let Some(pci) = gpu.pci {
            snapshot.file(format!("gpu/{number}/pci"), pci.to_string());
        }
        if let Some(node) = gpu.numa_node {
            snapshot.file(format!("gpu/{number}/numa_node"), node.to_string());
        }
    }
    snapshot
}

/// The roles that a monitor finds in the platform's tree; `None` if it must refuse to start on it.
fn roles(
    yaml: &str,
    name: &str,
    known: &Platforms,
    find_roles: FindRoles<'_>,
) -> Result<Option<BTreeMap<String, NicRole>>, Failed> {
    let texts: Vec<(&str, &str)> = known.own_texts().chain([("captured.yaml", yaml)]).collect();
    let platforms = Platforms::read(&texts)?;
    let platform = platforms.get(name).expect("it was just read");
    let is_told_apart = platform.documented_refusal().is_none();
    Ok(is_told_apart.then(|| find_roles(platform)))
}

/// The output of `nvidia-smi topo -m` on this node; `None` if there is no such program, or it fails.
#[must_use]
pub fn matrix_of_this_node() -> Option<String> {
    let output = std::process::Command::new("nvidia-smi")
        .args(["topo", "-m"])
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether `root` is the running system's root.
#[must_use]
pub fn is_this_node(root: &Path) -> bool {
    root == Path::new("/")
}

#[cfg(test)]
mod tests;
