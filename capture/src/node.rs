//! A live node becomes a platform: what is read of it, carefully, and what is made of that.
//!
//! A guest on a production node opens as little as it can. What it opens is `asked.rs`'s table and
//! nothing else; every read is bounded in time (`live.rs`); what cannot be read is recorded so. The
//! making is `platforms::capture`; here the roles are added that a monitor finds.

mod asked;
mod live;
mod reader;

use std::{borrow::Cow, collections::BTreeMap, path::Path, time::Duration};

use platforms::{
    Platform, PlatformError, Platforms, Role,
    capture::{CaptureError, Snapshot, capture, from_dump},
    topo::{self, TopoError},
};

pub use live::LiveRoot;
pub use reader::{Asked, Guest, Unread, read};

/// Finds the role of each device, by its name, in a platform's tree.
pub type FindRoles<'a> = &'a dyn Fn(&Platform) -> BTreeMap<String, Role>;

/// The longest that one read may take before the file counts as unreadable. Chosen: a firmware
/// command of mlx5 is answered within milliseconds, or after its own timeout of a minute.
pub const READ_LIMIT: Duration = Duration::from_secs(2);

/// A platform's file and what its reader ought to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The file's text.
    pub yaml: String,
    /// What could not be carried, and the like.
    pub notes: Vec<String>,
}

/// Why nothing could be captured.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// No platform could be made of what was read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The matrix of GPUs and NICs has two readings.
    #[error("the matrix cannot be read: {0}")]
    Topo(#[from] TopoError),
    /// The dump is none.
    #[error("the dump cannot be read: {0}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Dump(String),
    /// What was made cannot be read again: a fault of ours.
    #[error("the platform that was made cannot be read: {0}")]
    Made(#[from] PlatformError),
}

impl Failed {
    /// What helps; `None` where the text says it all.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Dump(..) => "one line a file, `mlx5_0/ports/1/state = 4: ACTIVE`, or a JSON map of paths and texts".into(),
            _ => return None,
        })
    }
}

/// Reads a node through `guest` and makes a platform of this name.
///
/// # Errors
/// If there are no NICs of interest, or the matrix cannot be read with certainty.
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

/// Makes a platform of this name out of a dump's text; of what may be asked, only identifiers count,
/// a dump's counters always do.
///
/// # Errors
/// If it is no dump, has no NICs, or the matrix cannot be read with certainty.
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
    let topology = matrix.map(topo::parse).transpose()?;
    let captured = capture(snapshot, topology.as_ref(), name, known)?;
    let captured = captured.with_roles(&BTreeMap::new());
    let roles = roles(&captured.yaml(), name, known, find_roles)?;
    let captured = captured.with_roles(&roles);
    let captured = match asked.identifiers {
        true => captured.with_identifiers(snapshot),
        false => captured,
    };
    Ok(Captured {
        yaml: captured.yaml(),
        notes: captured.notes().to_vec(),
    })
}

/// The roles that a monitor finds in the platform's tree.
fn roles(
    yaml: &str,
    name: &str,
    known: &Platforms,
    find_roles: FindRoles<'_>,
) -> Result<BTreeMap<String, Role>, Failed> {
    let texts: Vec<(&str, &str)> = known.own_texts().chain([("captured.yaml", yaml)]).collect();
    let platforms = Platforms::read(&texts)?;
    let platform = platforms.get(name).expect("it was just read");
    Ok(find_roles(platform))
}

/// What `nvidia-smi topo -m` prints here; `None` if there is no such program, or it fails.
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

/// Whether `root` is the running system's own.
#[must_use]
pub fn is_this_node(root: &Path) -> bool {
    root == Path::new("/")
}

#[cfg(test)]
mod tests;
