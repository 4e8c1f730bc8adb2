//! What is wrong with a descriptor that can be read. Start at [`Descriptor::problems`].

use files::Problem;

use super::{ClockKind, Descriptor};
use crate::{
    PLACEHOLDERS, Vocabulary, filling, isolation, loops,
    promises::{Kind, Named, Row},
    toml_tables,
};

impl Descriptor {
    /// The invalid values of this descriptor, by version 1 of the format: of each key, or part of it, the first one.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let another_version = (self.descriptor_version != 1).then(|| {
            Problem::at(
                ["descriptor_version"],
                "this descriptor has another version",
                "write `descriptor_version: 1`",
            )
        });
        let no_program = self.command.first().is_none_or(String::is_empty).then(|| {
            Problem::at(
                ["command"],
                "`command` names no program",
                "its first item is the program",
            )
        });
        // The command may stand there by its path.
        let is_nicdrill = |program: &String| program == "{self}" || program.ends_with("/nicdrill");
        let is_reference = matches!(&self.command[..], [program, word, ..] if is_nicdrill(program) && word == "monitor");
        let played_for_another = (self.memory && !is_reference).then(|| {
            Problem::at(
                ["memory"],
                "`memory: true` is for the reference monitor: in memory its logic is played, and not this `command`",
                "leave it out: the monitor is then drilled as a process",
            )
            .beside(&["command"])
        });
        let words = || {
            let words = self.command.iter().chain(&self.patient);
            words.chain(&self.impatient)
        };
        let of_settable = self.settable.iter();
        let of_settable = of_settable.flat_map(|settable| settable.problems(words()));
        let of_promises = self.promises.problems().into_iter();
        let mut problems: Vec<Problem> = another_version.into_iter().chain(no_program).collect();
        problems.extend(played_for_another);
        problems.extend(self.speech_problems());
        problems.extend(self.unknown_placeholders());
        problems.extend(self.of_its_files());
        problems.extend(self.of_its_binds());
        problems.extend(isolation::problems(
            self.confine,
            &self.writable,
            &self.limits,
        ));
        problems.extend(self.of_its_polls());
        problems.extend(of_settable);
        let of_promises = of_promises.chain(self.of_rows_without_drills());
        problems.extend(of_promises.map(|problem| problem.below(["promises"])));
        problems
    }

    /// The keys of rows about episodes that no drill of this monitor has, so that they would have no effect.
    fn of_rows_without_drills(&self) -> Vec<Problem> {
        let is_deaf = !self.speaks.has_connector();
        let has_file = self.state_file == Vocabulary::Reference || self.is_told_state_file();
        let without = [
            (
                Named::Connector,
                is_deaf,
                "it calls no connector, so that no drill with an outage of one applies to it",
            ),
            (
                Named::StateFile,
                !has_file,
                "`state_file` is `own`, and it is not told `{state_file}`: no drill that does something to the file applies to it",
            ),
        ];
        let without = without.into_iter().filter(|(_, is_without, _)| *is_without);
        let keys = without.flat_map(|(named, _, why)| {
            let kind = Kind::from(named);
            let says = match self.promises.rows.get(&kind) {
                Some(Row::Says(says)) => Some(says),
                Some(Row::Silent | Row::Usual) | None => None,
            };
            let keys = says.into_iter().flat_map(|says| says.keys());
            let of_key = move |key: &str| {
                let what = format!("the row of `{kind}`: `{key}` has no effect: {why}");
                let place = ["rows".to_owned(), kind.to_string(), key.to_owned()];
                Problem::at(place, what, "leave it out")
            };
            keys.map(of_key).collect::<Vec<_>>()
        });
        keys.collect()
    }

    /// Its configuration, its files and its clock.
    fn of_its_files(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let default = self.config_default.as_deref();
        if let Some(error) = default.and_then(toml_tables::problem) {
            problems.push(Problem::at(
                ["config_default"],
                format!("`config_default` is not TOML: {error}"),
                "write another language into `config` or `files`",
            ));
        }
        let in_folder = |path: &String| {
            !path.is_empty() && !path.starts_with('/') && !path.ends_with('/') && is_plain(path)
        };
        if !self.files.keys().all(in_folder) {
            problems.push(Problem::at(
                ["files"],
                "`files` names a path that is not in their folder",
                "write relative paths without `..`; the folder is `{files}`",
            ));
        }
        if self.clock_tolerance.is_some() && self.clock == ClockKind::File {
            problems.push(Problem::at(
                ["clock_tolerance"],
                "`clock_tolerance` is for a monitor with its own clock",
                "write `clock: own`, or leave it out: the clock of the tree is exact",
            ));
        }
        problems
    }

    /// The paths at which it finds parts of the tree, each with the first mistake.
    fn of_its_binds(&self) -> Vec<Problem> {
        let from_tree = |from: &str| from == "{root}" || from.starts_with("{root}/");
        // `/proc/net` leads to `/proc/self/net`, whose entries the kernel revalidates at each lookup, so that a
        // mount on one is gone at the next (`proc_net_d_revalidate`, `fs/proc/proc_net.c`).
        let is_lost = |at: &str| at == "/proc/net" || at.starts_with("/proc/net/");
        let on_host = |at: &str| at.len() > 1 && at.starts_with('/') && is_plain(at);
        let problems = self.binds.iter().filter_map(|(at, from)| {
            let (what, hint) = if !from_tree(from) || !is_plain(from) {
                (
                    "`binds` names something that is not in the tree",
                    "write `{root}/…`, the path of a file or folder in the tree, without `..`",
                )
            } else if is_lost(at) {
                (
                    "`binds` has a path below `/proc/net`, where a mount does not stay",
                    "write `root: /`, or give the program another path by `command`, `env` or `config`",
                )
            } else if !on_host(at) {
                (
                    "`binds` has a path at which nothing can be put",
                    "write absolute paths other than `/`, without `..`",
                )
            } else {
                return None;
            };
            Some(Problem::at(["binds", at], what, hint))
        });
        problems.collect()
    }

    /// Its listings and loops, its checks, and whose cards it monitors.
    fn of_its_polls(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.listings_per_poll == 0 {
            problems.push(Problem::at(
                ["listings_per_poll"],
                "a poll has at least one listing",
                "write 1 or more",
            ));
        }
        problems.extend(loops::problems(&self.loops));
        if !self.loops.is_empty() && (self.concurrent || self.listings_per_poll != 1) {
            problems.push(Problem::at(
                ["loops"],
                "`loops` cannot be combined with `concurrent` or `listings_per_poll`",
                "write the number of listings into each loop",
            ));
        }
        let names: Vec<&str> = terms::Check::ALL.iter().map(|check| check.name()).collect();
        let unknown = (self.checks.iter()).filter(|name| terms::Check::parse(name).is_none());
        problems.extend(unknown.map(|unknown| {
            Problem::at(
                ["checks"],
                format!("`{unknown}` is no check of the documents"),
                format!("the checks are {}", names.join(", ")),
            )
        }));
        if self.vendors.is_empty() {
            problems.push(Problem::at(
                ["vendors"],
                "`vendors` names nobody",
                "write PCI vendors such as `[0x15b3]`, or leave it out",
            ));
        }
        problems
    }

    /// The placeholders that have no value: of each text the first one.
    fn unknown_placeholders(&self) -> Vec<Problem> {
        let texts = self.texts_with_placeholders();
        let unknown = texts.filter_map(|(keys, text)| Some((keys, filling::unknown(text)?)));
        let known = PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(" ");
        let problems = unknown.map(|(keys, name)| {
            let what = format!(
                "`{}` has the placeholder `{{{name}}}`, which does not exist",
                keys[0]
            );
            let hint =
                format!("the placeholders are {known}; `{{{{{name}}}}}` stands for `{{{name}}}`");
            Problem::at(keys, what, hint)
        });
        problems.collect()
    }
}

/// Whether a path has no step that leads elsewhere than it reads.
fn is_plain(path: &str) -> bool {
    !path.split('/').any(|name| name == ".." || name == ".")
}
