//! The recording `scontrol` and `sinfo` of a node: a folder with a script, the node's state and the record of the calls.
//!
//! What the calls mean is in [`observe::slurm`]. Start at [`Slurm::set_up`].

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use observe::slurm::calls;

use super::shared_folder::SharedFolder;

/// The script that stands for both programs.
const SCRIPT: &str = include_str!("slurm.sh");

/// The name of the folder.
const FOLDER: &str = "slurm";

/// The longest record that is read, in bytes. Chosen: thousands of calls; a health check makes a few in a run.
const RECORD_MAX: usize = 1 << 20;

/// A node's recording `scontrol`.
#[derive(Debug)]
pub(super) struct Slurm {
    folder: PathBuf,
    heard: usize,
}

impl Slurm {
    /// Makes the folder anew in the folder of a node. A node that somebody has drained is drained for this reason.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn set_up(of_node: &Path, node: &str, drained_by: Option<&str>) -> io::Result<Self> {
        let folder = of_node.join(FOLDER);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
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
        Ok(Self { folder, heard: 0 })
    }

    /// A path for programs, with these two first.
    pub(super) fn path(&self, path: &str) -> String {
        format!("{}:{path}", self.folder.join("bin").display())
    }

    /// The folder with the record, which the program can write to as well.
    fn record(&self) -> io::Result<SharedFolder> {
        let above = self.folder.parent().ok_or(io::ErrorKind::NotFound)?;
        SharedFolder::open(above)?.below(FOLDER)
    }

    /// The calls of `scontrol` since the last time, each with its arguments.
    pub(super) fn calls(&mut self) -> Vec<Vec<String>> {
        let mut record = Vec::new();
        // Without a call there is no record. What is in its place, or behind its bound, is no call.
        let _ = self.record().and_then(|folder| {
            folder.read("calls", |piece| {
                record.extend_from_slice(piece);
                match record.len() {
                    0..=RECORD_MAX => Ok(()),
                    _ => Err(io::ErrorKind::FileTooLarge.into()),
                }
            })
        });
        let mut all = calls(&String::from_utf8_lossy(&record));
        let new = all.split_off(self.heard.min(all.len()));
        self.heard += new.len();
        new
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    /// What the two programs print after one another, and the calls that were recorded.
    fn check(drained_by: Option<&str>, commands: &[(&str, &[&str], &str)], recorded: usize) {
        let of_node = tempfile::tempdir().unwrap();
        let mut slurm = Slurm::set_up(of_node.path(), "n1", drained_by).unwrap();
        let folder = of_node.path().join(FOLDER);
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
    fn a_record_without_end_and_a_pipe_in_its_place_hold_up_nobody() {
        let of_node = tempfile::tempdir().unwrap();
        let mut slurm = Slurm::set_up(of_node.path(), "n1", None).unwrap();
        let record = of_node.path().join(FOLDER).join("calls");
        fs::File::create(&record).unwrap().set_len(1 << 40).unwrap();
        assert!(slurm.calls().is_empty());
        fs::remove_file(&record).unwrap();
        mknodat(CWD, &record, FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(slurm.calls().is_empty());
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
