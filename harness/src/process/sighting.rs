//! What is kept of a monitor while it is probed, beyond the recording of a drill: how it was started, what it opened
//! before its first poll, and the pace of its polls.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use rustix::process::Pid;

use super::{monitor_process::Order, node_runtime::NodeRuntime};

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct Sighting {
    /// Program and arguments.
    pub(super) words: Vec<String>,
    /// The variables added to its environment.
    pub(super) env: Vec<(String, String)>,
    /// The text of its configuration file.
    pub(super) config: Option<String>,
    /// The texts of its own files.
    pub(super) files: Vec<String>,
    /// The mount root.
    pub(super) root: String,
    /// The path of the connector's socket.
    pub(super) socket: String,
    /// What it did outside polls, as `op path: outcome`.
    pub(super) reads: Vec<String>,
    /// The paths that it had open when the probe ended early.
    pub(super) open_files: Vec<String>,
    /// When each tick ended.
    pub(super) ends: Vec<Instant>,
}

impl Sighting {
    /// Keeps how a monitor is started on a node.
    pub(super) fn started(&mut self, order: &Order, node_runtime: &NodeRuntime) {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        self.words.clone_from(&order.words);
        self.env.clone_from(&order.env);
        self.config.clone_from(&order.config);
        self.files.clone_from(&order.files);
        self.root = path(&node_runtime.root);
        self.socket = path(&node_runtime.socket);
    }

    /// Keeps the paths that a process has open; none if it has ended.
    pub(super) fn look(&mut self, pid: Pid) {
        let entries = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero()));
        let targets = entries.into_iter().flatten().flatten();
        let paths = targets.filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            let target = target.to_str()?.replace(&self.root, "{root}");
            let is_file = target.starts_with(['/', '{']) && !target.starts_with("/dev/");
            is_file.then_some(target)
        });
        let mut paths: Vec<String> = paths.collect();
        paths.sort();
        paths.dedup();
        self.open_files = paths;
    }

    /// How long a tick took at the median; `None` after fewer than two.
    pub(super) fn pace(&self) -> Option<Duration> {
        let pairs = self.ends.windows(2);
        let mut lengths: Vec<Duration> = pairs.map(|pair| pair[1] - pair[0]).collect();
        lengths.sort();
        lengths.get(lengths.len() / 2).copied()
    }

    /// Whether the command line, the environment or the configuration contains this text.
    pub(super) fn passes(&self, text: &str) -> bool {
        let values = self.env.iter().map(|(_, value)| value);
        let texts = self.config.iter().chain(&self.files);
        let mut all = self.words.iter().chain(values).chain(texts);
        all.any(|given| given.contains(text))
    }

    /// A text with the paths of this run as placeholders.
    pub(super) fn fold(&self, text: &str) -> String {
        if self.root.is_empty() {
            return text.to_owned();
        }
        text.replace(&self.socket, "{socket}")
            .replace(&self.root, "{root}")
    }
}
