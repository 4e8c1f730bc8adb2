//! The recording `scontrol` and `sinfo` of a node: a folder with a script, the node's state and the record of the calls.
//!
//! What the calls mean is in [`observe::slurm`]. Start at [`Slurm::set_up`].

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use observe::slurm::calls;

/// The script that stands for both programs.
const SCRIPT: &str = include_str!("slurm.sh");

/// A node's recording `scontrol`.
#[derive(Debug)]
pub(super) struct Slurm {
    folder: PathBuf,
    heard: usize,
}

impl Slurm {
    /// Makes the folder anew. A node that somebody has drained is drained for this reason.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn set_up(folder: &Path, node: &str, drained_by: Option<&str>) -> io::Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        let bin = folder.join("bin");
        fs::create_dir_all(&bin)?;
        fs::write(folder.join("node"), format!("{node}\n"))?;
        if let Some(reason) = drained_by {
            fs::write(folder.join("state"), format!("IDLE+DRAIN\n{reason}\n"))?;
        }
        let script = bin.join("scontrol");
        fs::write(&script, SCRIPT)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        symlink("scontrol", bin.join("sinfo"))?;
        Ok(Self {
            folder: folder.to_owned(),
            heard: 0,
        })
    }

    /// A path for programs, with these two first.
    pub(super) fn path(&self, path: &str) -> String {
        format!("{}:{path}", self.folder.join("bin").display())
    }

    /// The calls of `scontrol` since the last time, each with its arguments.
    pub(super) fn calls(&mut self) -> Vec<Vec<String>> {
        let record = fs::read(self.folder.join("calls")).unwrap_or_default();
        let mut all = calls(&String::from_utf8_lossy(&record));
        let new = all.split_off(self.heard.min(all.len()));
        self.heard += new.len();
        new
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What the two programs print after one another, and the calls that were recorded.
    fn check(drained_by: Option<&str>, commands: &[(&str, &[&str], &str)], recorded: usize) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("slurm");
        let mut slurm = Slurm::set_up(&folder, "n1", drained_by).unwrap();
        for (program, arguments, printed) in commands {
            let mut command = Command::new("/bin/sh");
            let command = command
                .arg(folder.join("bin").join(program))
                .args(*arguments);
            let output = command.output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert_eq!(text, *printed, "{program} {arguments:?}");
        }
        assert_eq!(slurm.calls().len(), recorded);
        assert!(slurm.calls().is_empty(), "each is told once");
    }

    #[test]
    fn a_node_is_drained_and_resumed() {
        let reason = "Reason=NHC: two  words";
        check(
            None,
            &[
                (
                    "scontrol",
                    &["show", "node", "n1"],
                    "NodeName=n1 NodeHostName=n1\n   State=IDLE\n",
                ),
                ("sinfo", &["-h", "-o", "%t", "-n", "n1"], "idle\n"),
                (
                    "scontrol",
                    &["update", "NodeName=n1", "State=DRAIN", reason],
                    "",
                ),
                (
                    "sinfo",
                    &["-o", "%t %E", "-hn", "n1"],
                    "drain NHC: two  words\n",
                ),
                (
                    "scontrol",
                    &["-o", "show", "node", "n1"],
                    "NodeName=n1 NodeHostName=n1    State=IDLE+DRAIN    Reason=NHC: two  words\n",
                ),
                ("scontrol", &["update", "NodeName=n1", "State=RESUME"], ""),
                ("sinfo", &["-h", "-o", "%10T|%E|%n"], "idle|none|n1\n"),
            ],
            4,
        );
    }

    #[test]
    fn a_node_can_be_drained_from_the_beginning() {
        check(
            Some("operator: replacing PSU"),
            &[(
                "sinfo",
                &["-h", "-o", "%t %E"],
                "drain operator: replacing PSU\n",
            )],
            0,
        );
    }

    #[test]
    fn a_drain_without_a_reason_and_another_node_are_refused() {
        check(
            None,
            &[
                ("scontrol", &["update", "NodeName=n1", "State=DRAIN"], ""),
                (
                    "scontrol",
                    &["update", "NodeName=n2", "State=DRAIN", "Reason=x"],
                    "",
                ),
                ("sinfo", &["-h", "-o", "%t"], "idle\n"),
                ("sinfo", &["-h", "-o", "%t", "-n", "n2"], ""),
            ],
            2,
        );
    }
}
