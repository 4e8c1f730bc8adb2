//! A monitor under test, described as data: how it is started, how it polls, and where it is known
//! to differ from the reference monitor.
//!
//! A descriptor is a YAML file; two ship with the harness, and a user may write a third for a
//! monitor of another make. Nothing else in the harness knows any monitor by name. What it leaves
//! out: starting the program (`process`) and finding a user's file. Start at [`Descriptor`].

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Filling, Protocol};

/// The PCI vendor of NVIDIA's network cards (PCI ID Repository, `15b3 Mellanox Technologies`).
const NVIDIA_NETWORKING: u16 = 0x15b3;

/// The descriptors that ship, as file name and text.
pub const SHIPPED: &[(&str, &str)] = &[
    (
        "reference.yaml",
        include_str!("../descriptors/reference.yaml"),
    ),
    (
        "nvsentinel.yaml",
        include_str!("../descriptors/nvsentinel.yaml"),
    ),
];

/// A monitor under test.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A descriptor of a monitor for nicdrill")]
pub struct Descriptor {
    /// The version of this form: 1.
    pub descriptor_version: u32,
    /// The name it goes by, such as on the command line.
    pub name: String,
    /// What it is, in a line.
    pub title: Option<String>,
    /// What it speaks.
    #[serde(default)]
    pub speaks: Protocol,
    /// Program and arguments, with `{self} {root} {socket} {config} {node} {state_file}
    /// {metrics_port} {checks}` to be filled in.
    pub command: Vec<String>,
    /// Arguments added in drills that hold a read or a call for good.
    #[serde(default)]
    pub impatient: Vec<String>,
    /// Variables added to its environment, filled in likewise.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The text of its configuration file, filled in likewise; a story's lines follow it. Without it
    /// no file is written.
    pub config: Option<String>,
    /// Listings of the anchor in one poll unit, at least 1.
    #[serde(default = "one")]
    pub listings_per_poll: u32,
    /// What a poll unit is.
    #[serde(default)]
    pub poll_unit: PollUnit,
    /// Whether it polls from several loops at once; then a tick's calls have no order.
    #[serde(default)]
    pub concurrent: bool,
    /// How it is known that a poll's events have all been sent.
    #[serde(default)]
    pub drains: Drains,
    /// Which clock it reads.
    #[serde(default)]
    pub clock: ClockKind,
    /// Whether it shares a CPU with the server of its files (faster; see `docs/output.md`).
    #[serde(default = "yes")]
    pub pin: bool,
    /// Whether the socket must be there before it starts.
    #[serde(default)]
    pub needs_socket: bool,
    /// Whose flags it understands.
    #[serde(default)]
    pub flags: Vocabulary,
    /// Whose messages and log lines it speaks.
    #[serde(default)]
    pub texts: Vocabulary,
    /// Whose state file it keeps.
    #[serde(default)]
    pub state_file: Vocabulary,
    /// The path below its `{metrics_port}` where it tells metrics by the reference monitor's names;
    /// without it, what a story says of metrics does not apply.
    #[serde(default)]
    pub metrics: Option<String>,
    /// The path where it tells whether it is alive; without it, what a story says of that does not
    /// apply.
    #[serde(default)]
    pub healthz: Option<String>,
    /// PCI vendors whose cards it speaks for: NVIDIA's unless told. Ports of other cards are nobody's to
    /// watch, whatever their role.
    #[serde(default = "nvidia")]
    pub vendors: BTreeSet<u16>,
    /// Whether it can also be played in memory, by the agent in `checks`.
    #[serde(default)]
    pub memory: bool,
    /// The argument that makes it a deliberately wrong monitor, with `{species}` to be filled in.
    #[serde(default)]
    pub zoo: Option<String>,
    /// Where it differs from the reference monitor.
    #[serde(default)]
    pub differences: Differences,
}

/// What one round of a monitor's loop is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PollUnit {
    /// All checks share one discovery.
    #[default]
    Whole,
    /// Each check lists for itself, and publishes before the next one lists.
    Check,
}

/// How it is known that a poll's events have all been sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Drains {
    /// It publishes before it comes to the gate again.
    #[default]
    Gate,
    /// It publishes on its own; it has ended when nothing was received for a while.
    Quiet,
}

/// Which clock a monitor reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClockKind {
    /// The system's.
    #[default]
    Own,
    /// The file that the mount serves.
    File,
}

/// Whose words a monitor uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Vocabulary {
    /// The reference monitor's.
    Reference,
    /// Its own; what a story says about them does not apply.
    #[default]
    Own,
}

/// Where a monitor differs from the reference monitor, as an expectation has to know it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Differences {
    /// Polls in a row that must miss a device before it is reported.
    pub disappearance_polls: u32,
    /// An InfiniBand port that is `DOWN` and `Polling` is not fatal.
    pub infiniband_polling_nonfatal: bool,
    /// A baseline begins with one healthy event without entities for each check.
    pub baseline_clear: bool,
    /// A fresh baseline tells devices.
    pub baseline_devices: bool,
    /// A fresh baseline tells cards.
    pub baseline_cards: bool,
}

impl Default for Differences {
    fn default() -> Self {
        Self {
            disappearance_polls: 1,
            infiniband_polling_nonfatal: false,
            baseline_clear: false,
            baseline_devices: true,
            baseline_cards: true,
        }
    }
}

fn nvidia() -> BTreeSet<u16> {
    BTreeSet::from([NVIDIA_NETWORKING])
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

/// Something that a descriptor may not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key that says it.
    pub key: &'static str,
    /// What is wrong.
    pub what: &'static str,
    /// What would be right.
    pub hint: &'static str,
}

impl Descriptor {
    /// What no descriptor of version 1 may say, if this one says it.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        let problem = |key, what, hint| Some(Problem { key, what, hint });
        if self.descriptor_version != 1 {
            return problem(
                "descriptor_version",
                "this descriptor has another version",
                "write `descriptor_version: 1`",
            );
        }
        if self.command.first().is_none_or(String::is_empty) {
            return problem(
                "command",
                "`command` names no program",
                "its first item is the program",
            );
        }
        if self.listings_per_poll == 0 {
            return problem(
                "listings_per_poll",
                "a poll has at least one listing",
                "write 1 or more",
            );
        }
        if self.vendors.is_empty() {
            return problem(
                "vendors",
                "`vendors` names nobody",
                "write PCI vendors such as `[0x15b3]`, or leave it out",
            );
        }
        if self.differences.disappearance_polls == 0 {
            return problem(
                "differences",
                "`disappearance_polls` counts from 1",
                "write 1 or more",
            );
        }
        None
    }

    /// A descriptor for a program about which nothing is known: it is started without arguments and
    /// finds its way by the environment.
    #[must_use]
    pub fn of_program(program: &str) -> Self {
        let env = [
            ("NICDRILL_ROOT", "{root}"),
            ("NICDRILL_SOCKET", "{socket}"),
            ("NICDRILL_STATE_FILE", "{state_file}"),
            ("NICDRILL_NODE", "{node}"),
            ("NICDRILL_METRICS_PORT", "{metrics_port}"),
            ("NODE_NAME", "{node}"),
        ];
        Self {
            descriptor_version: 1,
            name: program.to_owned(),
            title: None,
            speaks: Protocol::default(),
            command: vec![program.to_owned()],
            impatient: Vec::new(),
            env: env
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            config: None,
            listings_per_poll: 1,
            poll_unit: PollUnit::Whole,
            concurrent: false,
            drains: Drains::Gate,
            clock: ClockKind::Own,
            pin: true,
            needs_socket: true,
            flags: Vocabulary::Own,
            texts: Vocabulary::Own,
            state_file: Vocabulary::Own,
            metrics: None,
            healthz: None,
            vendors: nvidia(),
            memory: false,
            zoo: None,
            differences: Differences::default(),
        }
    }

    /// Listings of the anchor in one poll in which this many checks run.
    #[must_use]
    pub fn listings(&self, checks: usize) -> u32 {
        let units = match self.poll_unit {
            PollUnit::Whole => 1,
            PollUnit::Check => u32::try_from(checks).expect("there are few checks"),
        };
        self.listings_per_poll * units
    }

    /// Program and arguments of a start, with `flags` after the descriptor's own. `held` says that
    /// the drill holds a read or a call until the monitor gives up; `species` makes it a
    /// deliberately wrong monitor.
    #[must_use]
    pub fn arguments(
        &self,
        held: bool,
        flags: &[String],
        species: Option<&str>,
        filling: &Filling<'_>,
    ) -> Vec<String> {
        let mut arguments: Vec<String> =
            self.command.iter().map(|text| filling.fill(text)).collect();
        if held {
            arguments.extend(self.impatient.iter().map(|text| filling.fill(text)));
        }
        if let (Some(zoo), Some(species)) = (&self.zoo, species) {
            arguments.push(zoo.replace("{species}", species));
        }
        if self.flags == Vocabulary::Reference {
            arguments.extend(flags.iter().cloned());
        }
        arguments
    }

    /// The text of its configuration file with the story's lines; `None` where it has no such file.
    #[must_use]
    pub fn config_text(&self, story_lines: &str, filling: &Filling<'_>) -> Option<String> {
        let config = self.config.as_ref()?;
        Some(format!("{}{story_lines}", filling.fill(config)))
    }
}
