//! Recognises the commonest causes for which a monitor cannot be drilled, from what it did, wrote and was given.
//!
//! Start at [`Evidence::hints`].

use std::{collections::BTreeMap, path::Path, time::Duration};

use observe::{Broken, Descriptor, Exit, Medium, Pace, RootAt, RunEnd};

use super::{ProbeCause, Sighting};
use crate::process::conversation::{NO_REQUEST, REFUSED};

/// Where the user changes what a monitor is given.
const GIVEN: &str = "`command`, `env`, `config` or `files` of its descriptor";

/// What helps a program whose paths cannot be changed.
const FIXED: &str = "; if its paths are fixed, write `root: /`";

/// From which real time of a poll on the interval is a likely cause of trouble. Chosen: as the note on slow polls.
const SLOW_POLL: Duration = Duration::from_millis(200);

/// The exit codes by which a shell, or `env`, says that a program cannot be run or is missing (POSIX, Shell Command
/// Language, section 2.8.2).
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// What is known of a monitor that cannot be drilled.
pub(super) struct Evidence<'a> {
    pub(super) cause: &'a ProbeCause,
    pub(super) output: &'a [String],
    pub(super) reads: &'a [String],
    pub(super) connections: &'a [String],
    pub(super) sighting: &'a Sighting,
    /// How its runs ended, if it is run again and again.
    pub(super) run_ends: &'a [RunEnd],
    pub(super) descriptor: &'a Descriptor,
    pub(super) checks: &'a [&'a str],
    /// What its descriptor seems to say wrongly about its polls.
    pub(super) advice: Option<&'a str>,
    /// How long it may make no progress.
    pub(super) limit: Duration,
}

impl Evidence<'_> {
    /// The likely causes and what to do about them; the likeliest first.
    pub(super) fn hints(&self) -> Vec<String> {
        let mut hints: Vec<String> = self.wrote_elsewhere().into_iter().collect();
        hints.extend(self.hints_of_cause());
        hints.extend(self.advice.map(str::to_owned));
        hints
    }

    fn hints_of_cause(&self) -> Vec<String> {
        match self.cause {
            ProbeCause::Broken(Broken::Crashed { exit, .. }) => self.ended(*exit),
            ProbeCause::Broken(Broken::Hung { .. }) if self.descriptor.pace() == Pace::Runs => vec![
                "a run has to end: a program that goes on is a monitor that polls, or one that is asked".to_owned(),
            ],
            ProbeCause::Broken(Broken::Hung { tick: 0, .. })
                if self.descriptor.pace() == Pace::Asked =>
            {
                vec!["pass `{metrics_port}` in its command, environment or configuration; it must listen at 127.0.0.1".to_owned()]
            }
            ProbeCause::Broken(Broken::Hung { tick: 0, .. }) if !self.listed() => {
                self.never_listed()
            }
            ProbeCause::Broken(Broken::Hung { .. }) => {
                vec![format!("{}; or it is stuck", self.interval())]
            }
            ProbeCause::Broken(_) => Vec::new(),
            ProbeCause::SaidNothing { .. } => self.said_nothing(),
        }
    }

    fn said_nothing(&self) -> Vec<String> {
        let facts = self.descriptor.speaks.facts();
        let Some(part) = facts.part else {
            return self.never_called();
        };
        let is_written = facts.medium == Medium::Output;
        let hint = match is_written && self.output.is_empty() {
            true => "it wrote nothing: a program that keeps its output in a buffer must write it out in every poll".to_owned(),
            false => part.silence_hint.replace("{ends}", &self.ends_told()),
        };
        let mut hints = vec![hint];
        hints.extend(self.slow_polls().filter(|_| is_written));
        hints
    }

    fn ended(&self, exit: Exit) -> Vec<String> {
        let mut hints = match exit {
            Exit::Code(NOT_FOUND) => vec![
                "exit code 127: a program was not found, such as the runtime of its language; its last output may name it"
                    .to_owned(),
            ],
            Exit::Code(NOT_EXECUTABLE) => {
                vec!["exit code 126: a program was found but cannot be executed".to_owned()]
            }
            Exit::Code(0) if self.output.is_empty() && !self.descriptor.daemon => vec![
                "exit code 0 without output: if it leaves a daemon behind, write `daemon: true`; `probe/command.txt` in the run folder has its command, to start it by hand"
                    .to_owned(),
            ],
            _ => Vec::new(),
        };
        if !self.run_ends.is_empty() {
            hints.insert(
                0,
                format!(
                    "run after run it crashed: {}; see its last output",
                    self.ends_told()
                ),
            );
        }
        hints.extend(self.host_files());
        // A path where it may not write is not the connector's socket.
        if self.wrote_elsewhere().is_none() {
            hints.extend(self.other_socket());
        }
        hints
    }

    /// How its runs ended, each once with how often: `exit code 2 (12 times)`.
    fn ends_told(&self) -> String {
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for end in self.run_ends {
            *times.entry(end.to_string()).or_default() += 1;
        }
        let told = times.iter().map(|(end, times)| match times {
            1 => format!("{end} (once)"),
            _ => format!("{end} ({times} times)"),
        });
        told.collect::<Vec<_>>().join(", ")
    }

    fn never_listed(&self) -> Vec<String> {
        let mut hints: Vec<String> = self.host_files().into_iter().collect();
        let is_put_elsewhere = self.is_put_elsewhere();
        let fixed = if is_put_elsewhere { "" } else { FIXED };
        if !is_put_elsewhere && !self.sighting.passes(&self.sighting.root) {
            hints.push(format!(
                "nothing that it is given contains the path of its root: pass `{{root}}` in {GIVEN}{FIXED}"
            ));
        } else if self.reads.is_empty() {
            hints.push(format!(
                "does it list its root's `sys/class/infiniband`, and not the host's? see {GIVEN}{fixed}"
            ));
        } else {
            hints.push(
                "it opened files below its root, but did not list `{root}/sys/class/infiniband`, with which a poll begins"
                    .to_owned(),
            );
        }
        if self.reads.is_empty() {
            hints.push(format!(
                "it opened nothing below its root: {}",
                self.no_check()
            ));
        }
        hints
    }

    /// Whether the folder with which a poll begins is put where the program looks for it.
    fn is_put_elsewhere(&self) -> bool {
        let covers = |from: &String| Path::new("{root}/sys/class/infiniband").starts_with(from);
        self.descriptor.root == RootAt::Host || self.descriptor.binds.values().any(covers)
    }

    fn never_called(&self) -> Vec<String> {
        let read = |file: &str| {
            let end = format!("/{file}:");
            self.reads
                .iter()
                .any(|read| read.starts_with("read ") && read.contains(&end))
        };
        let mut hints = Vec::new();
        if self.connections.is_empty() {
            hints.extend(self.other_socket());
        } else if self.called_nothing() {
            hints.push(format!(
                "it reached the socket and called nothing: {}",
                self.no_check()
            ));
        } else {
            hints
                .push("it reached the socket, but no call arrived: see its connections".to_owned());
        }
        if !self.reads.iter().any(|read| read.starts_with("read ")) {
            hints.push(format!(
                "it lists the devices and reads none of their files: does it pass over their names, such as `mlx5_ib0`, or {}",
                self.no_check()
            ));
        } else if read("vendor") && !read("state") {
            let vendors = self.descriptor.monitored_vendors().iter();
            let vendors: Vec<String> = vendors.map(|vendor| format!("{vendor:#06x}")).collect();
            hints.push(format!(
                "it read the vendors of the cards and no port's state: does it monitor cards of {} (`vendors` of its descriptor)?",
                vendors.join(", ")
            ));
        }
        if hints.is_empty() {
            hints.push(format!(
                "it polls, and connected to no socket: {}",
                self.no_check()
            ));
            hints.push(format!("does it get the socket's path? see {GIVEN}"));
        }
        hints.extend(self.slow_polls());
        hints
    }

    /// Whether nothing is wrong with its connections but that no call was made on them.
    fn called_nothing(&self) -> bool {
        let mut connections = self.connections.iter();
        connections.all(|of| of.contains(NO_REQUEST) && !of.contains(REFUSED))
    }

    fn no_check(&self) -> String {
        format!(
            "is a check left that it runs? The drill is about {} (`{{checks}}`, in the environment `NICDRILL_CHECKS`)",
            self.checks.join(", ")
        )
    }

    fn slow_polls(&self) -> Option<String> {
        let pace = self.sighting.pace().filter(|pace| *pace >= SLOW_POLL)?;
        Some(format!(
            "its polls take {:.1} s of real time, and a drill of 50 polls {:.0} s: shorten its interval by {GIVEN}",
            pace.as_secs_f64(),
            (pace * 50).as_secs_f64()
        ))
    }

    fn interval(&self) -> String {
        format!(
            "it must poll again within {} s: shorten its interval by {GIVEN}, or state it in `real_time`",
            self.limit.as_secs_f64()
        )
    }

    fn listed(&self) -> bool {
        let listing = "list sys/class/infiniband:";
        self.reads.iter().any(|read| read.starts_with(listing))
    }

    /// That it was refused to write, by its own words: those of the C library for EROFS, or the error's name.
    fn wrote_elsewhere(&self) -> Option<String> {
        let is_refusal = |line: &String| {
            let line = line.to_ascii_lowercase();
            line.contains("read-only file system") || line.contains("erofs")
        };
        let is_told = self.descriptor.confine && self.output.iter().any(is_refusal);
        is_told.then(|| {
            "it writes where it may not: the folder in `TMPDIR` and `/dev/shm` are its own; `writable` of its descriptor names paths of the host"
                .to_owned()
        })
    }

    /// A path of the host's `/sys` that it has open, or that its output names.
    fn host_files(&self) -> Option<String> {
        if self.descriptor.root == RootAt::Host {
            return None;
        }
        let bound = |path: &str| self.descriptor.binds.keys().any(|at| path.starts_with(at));
        let is_host = |path: &&str| path.starts_with("/sys/") && !bound(path);
        let mut open = self.sighting.open_files.iter().map(String::as_str);
        let path = open
            .find(is_host)
            .or_else(|| self.words_of_output().find(is_host))?;
        Some(format!(
            "it uses the host's `{path}`, and not its root's: pass `{{root}}/sys` in {GIVEN}{FIXED}"
        ))
    }

    /// A socket's path in its output that is not the connector's; or that it was not given the connector's.
    fn other_socket(&self) -> Option<String> {
        let is_socket = |word: &&str| {
            let path = word.trim_start_matches("unix:");
            path.starts_with('/') && (word.starts_with("unix:") || path.ends_with(".sock"))
        };
        if let Some(other) = self.words_of_output().find(is_socket) {
            return Some(format!(
                "its output names the socket `{other}`; the connector listens at `{{socket}}`: pass it in {GIVEN}"
            ));
        }
        let is_silent = matches!(self.cause, ProbeCause::SaidNothing { .. });
        let never_called = is_silent && self.descriptor.speaks.has_connector();
        (never_called && !self.sighting.passes(&self.sighting.socket)).then(|| {
            format!("nothing that it is given contains the path of its socket: pass `{{socket}}` in {GIVEN}")
        })
    }

    /// The words of its output without quotes and punctuation.
    fn words_of_output(&self) -> impl Iterator<Item = &str> {
        let around = |byte: char| !byte.is_alphanumeric() && !"/_{}".contains(byte);
        let lines = self.output.iter();
        let words = lines.flat_map(|line| line.split([' ', '\t', '=', '"', '\'', '`', ',']));
        words.map(move |word| word.trim_matches(around))
    }
}

#[cfg(test)]
mod tests;
