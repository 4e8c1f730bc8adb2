//! Changes of a story to files apart from the kernel's: the state file, and files that vanish.

use platforms::{CLASS_INFINIBAND, Machine};
use scenarios::StateFileAction;
use simfs::{Disk, Edit, Fs, TreePath};
use std::borrow::Cow;

use crate::WRITABLE;

/// The name of the state file in the writable folder.
const STATE_FILE: &str = "state.json";

/// Why the state file cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// It does not exist.
    #[error("there is no state file yet\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Absent,
    /// It is not a JSON object, so it has no version to change.
    #[error("the state file is no JSON object, so it has no `version`")]
    NoObject,
}

impl DiskError {
    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Absent => "let the monitor save one first, or write one".into(),
            _ => return None,
        })
    }
}

/// Changes the state file.
pub(super) fn change(action: &StateFileAction, fs: &mut Fs) -> Result<(), DiskError> {
    let disk = fs.disk();
    let old = disk.file(STATE_FILE);
    let new = match action {
        StateFileAction::Delete => None,
        StateFileAction::Write(bytes) => Some(bytes.clone()),
        StateFileAction::Truncate(len) => {
            let old = old.ok_or(DiskError::Absent)?;
            Some(old[..old.len().min(*len)].to_vec())
        }
        StateFileAction::Version(version) => {
            let old = old.ok_or(DiskError::Absent)?;
            let mut json: serde_json::Value =
                serde_json::from_slice(old).map_err(|_| DiskError::NoObject)?;
            let object = json.as_object_mut().ok_or(DiskError::NoObject)?;
            object.insert("version".to_owned(), (*version).into());
            Some(serde_json::to_vec_pretty(&json).map_err(|_| DiskError::NoObject)?)
        }
    };
    let mut changed = Disk::default();
    for (path, bytes) in disk.files().filter(|(path, _)| path.as_str() != STATE_FILE) {
        changed.put(path, bytes.to_vec());
    }
    if let Some(bytes) = new {
        changed.put(STATE_FILE, bytes);
    }
    fs.set_disk(&changed);
    Ok(())
}

/// Removes a file from the tree; returns the path at which it was.
pub(super) fn vanish(path: &str, fs: &mut Fs) -> String {
    let canonical = canonical(path, fs);
    fs.apply(&[Edit::Remove(TreePath::new(&canonical))]);
    canonical
}

/// Restores vanished files with the machine's present content.
pub(super) fn reappear(vanished: &[String], machine: &Machine, fs: &mut Fs) {
    if vanished.is_empty() {
        return;
    }
    let lost = |edit: &Edit| {
        let path = edit.path().as_str();
        let below = |folder: &String| {
            path.strip_prefix(folder.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        vanished.iter().any(below)
    };
    let edits: Vec<Edit> = platforms::render(machine)
        .into_iter()
        .filter(lost)
        .collect();
    fs.apply(&edits);
}

/// Resolves the class folder's symlink in a path.
fn canonical(path: &str, fs: &mut Fs) -> String {
    let Some(rest) = path
        .strip_prefix(CLASS_INFINIBAND)
        .and_then(|rest| rest.strip_prefix('/'))
    else {
        return path.to_owned();
    };
    let (device, below) = rest.split_once('/').unwrap_or((rest, ""));
    match fs.read_link(&format!("{CLASS_INFINIBAND}/{device}")) {
        Ok(target) if !below.is_empty() => {
            TreePath::new(&format!("{CLASS_INFINIBAND}/{target}/{below}"))
                .as_str()
                .to_owned()
        }
        _ => path.to_owned(),
    }
}

/// The state file's content; `None` if it does not exist.
pub fn state_file(fs: &mut Fs) -> Option<&[u8]> {
    fs.peek(&format!("{WRITABLE}/{STATE_FILE}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_state_file_is_advised_upon() {
        let advice = "let the monitor save one first, or write one";
        assert_eq!(DiskError::Absent.hint().as_deref(), Some(advice));
        assert_eq!(DiskError::NoObject.hint(), None);
    }

    /// A path below a device leads through the link of its class folder; the device's own does not.
    #[test]
    fn a_vanished_file_is_removed_where_the_class_folder_leads_to() {
        let device = "sys/devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0";
        let link = format!("{CLASS_INFINIBAND}/mlx5_0");
        let mut fs = Fs::new();
        fs.apply(&[
            Edit::Link {
                path: TreePath::new(&link),
                target: "../../devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0".to_owned(),
            },
            Edit::File {
                path: TreePath::new(&format!("{device}/fw_ver")),
                value: simfs::FileValue::line(1),
            },
        ]);
        assert_eq!(canonical(&link, &mut fs), link);
        assert_eq!(
            canonical("sys/class/net/eth0", &mut fs),
            "sys/class/net/eth0"
        );
        let file = format!("{link}/fw_ver");
        assert_eq!(vanish(&file, &mut fs), format!("{device}/fw_ver"));
        assert!(fs.peek(&format!("{device}/fw_ver")).is_err());
    }
}
