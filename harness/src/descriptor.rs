//! A monitor under test, described as data: how it is started, how it polls, and where it is known
//! to differ from the reference monitor.
//!
//! A descriptor is a YAML file; two ship with the harness, and a user may write a third for a
//! monitor of another make. Nothing else in the harness knows any monitor by name. What it leaves
//! out: starting the program (`process`) and finding a user's file. Start at [`Descriptor`].

use std::collections::{BTreeMap, BTreeSet};

use platforms::{
    NVIDIA_NETWORKING,
    yaml::{self, YamlError},
};
use proto::{Check, CheckKind};
use scenarios::{ChecksRun, Story};
use serde::Deserialize;

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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Descriptor {
    /// The version of this form: 1.
    pub descriptor_version: u32,
    /// The name it goes by, such as on the command line.
    pub name: String,
    /// What it is, in a line.
    #[serde(default)]
    pub title: String,
    /// Program and arguments, with `{self} {root} {socket} {config} {node} {state_file}
    /// {metrics_port} {checks}` to be filled in.
    pub command: Vec<String>,
    /// Arguments added in drills that hold a read or a call for good.
    #[serde(default)]
    pub impatient: Vec<String>,
    /// Variables added to its environment, filled in likewise.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The text of its configuration file, filled in likewise; a story's lines follow it. Where it
    /// is empty no file is written.
    #[serde(default)]
    pub config: String,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PollUnit {
    /// All checks share one discovery.
    #[default]
    Whole,
    /// Each check lists for itself, and publishes before the next one lists.
    Check,
}

/// How it is known that a poll's events have all been sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Drains {
    /// It publishes before it comes to the gate again.
    #[default]
    Gate,
    /// It publishes on its own; it has ended when nothing was received for a while.
    Quiet,
}

/// Which clock a monitor reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClockKind {
    /// The system's.
    #[default]
    Own,
    /// The file that the mount serves.
    File,
}

/// Whose words a monitor uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vocabulary {
    /// The reference monitor's.
    Reference,
    /// Its own; what a story says about them does not apply.
    #[default]
    #[serde(alias = "none")]
    Own,
}

/// Where a monitor differs from the reference monitor, as an expectation has to know it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
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

/// What is filled into a descriptor's `{...}`.
#[derive(Clone, Debug, Default)]
pub struct Filling<'a> {
    /// `{self}`: this program.
    pub this: &'a str,
    /// `{root}`: the mount root; empty in memory.
    pub root: &'a str,
    /// `{socket}`: path of the connector's socket.
    pub socket: &'a str,
    /// `{config}`: path of the configuration file.
    pub config: &'a str,
    /// `{node}`: the node's name.
    pub node: &'a str,
    /// `{metrics_port}`.
    pub metrics_port: u16,
    /// `{checks}`.
    pub checks: ChecksRun,
}

/// Where the state file lies below the mount root.
pub const STATE_FILE: &str = "var/run/nic_health_monitor/state.json";

impl Filling<'_> {
    /// `text` with everything filled in.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        if !text.contains('{') {
            return text.to_owned();
        }
        text.replace("{self}", self.this)
            .replace("{state_file}", &format!("{}/{STATE_FILE}", self.root))
            .replace("{root}", self.root)
            .replace("{socket}", self.socket)
            .replace("{config}", self.config)
            .replace("{node}", self.node)
            .replace("{metrics_port}", &self.metrics_port.to_string())
            .replace("{checks}", &check_names(self.checks).join(","))
    }
}

/// The names of the checks that run, those of one link layer after those of the other.
#[must_use]
pub fn check_names(checks: ChecksRun) -> Vec<&'static str> {
    let runs = |check: &Check| match checks {
        ChecksRun::State => check.kind() == CheckKind::State,
        ChecksRun::Counters => check.kind() == CheckKind::Degradation,
        ChecksRun::CharDevices => check.kind() == CheckKind::CharDevice,
        ChecksRun::All => true,
    };
    let mut run: Vec<Check> = Check::ALL.into_iter().filter(runs).collect();
    run.sort_by_key(|check| check.layer());
    run.into_iter().map(Check::name).collect()
}

impl Descriptor {
    /// Reads a descriptor; `file` is the name that errors carry.
    ///
    /// # Errors
    /// Whatever is no descriptor of version 1, with its place.
    pub fn read(file: &str, text: &str) -> Result<Self, YamlError> {
        let descriptor: Self = yaml::read(file, text)?;
        let wrong = |key: &str, what: &str, hint: &str| {
            let line = text
                .lines()
                .position(|line| line.starts_with(key))
                .map_or(0, |at| at + 1);
            let place = yaml::Place {
                line: u32::try_from(line).unwrap_or(u32::MAX),
                column: 1,
            };
            Err(YamlError::at(file, text, place, what).hint(hint))
        };
        if descriptor.descriptor_version != 1 {
            return wrong(
                "descriptor_version",
                "this descriptor has another version",
                "write `descriptor_version: 1`",
            );
        }
        if descriptor.command.first().is_none_or(String::is_empty) {
            return wrong(
                "command",
                "`command` names no program",
                "its first item is the program",
            );
        }
        if descriptor.listings_per_poll == 0 {
            return wrong(
                "listings_per_poll",
                "a poll has at least one listing",
                "write 1 or more",
            );
        }
        if descriptor.vendors.is_empty() {
            return wrong(
                "vendors",
                "`vendors` names nobody",
                "write PCI vendors such as `[0x15b3]`, or leave it out",
            );
        }
        if descriptor.differences.disappearance_polls == 0 {
            return wrong(
                "differences",
                "`disappearance_polls` counts from 1",
                "write 1 or more",
            );
        }
        Ok(descriptor)
    }

    /// The shipped descriptor of this name; `None` if there is none.
    ///
    /// # Panics
    /// If a shipped descriptor cannot be read, which a test excludes.
    #[must_use]
    pub fn shipped(name: &str) -> Option<Self> {
        SHIPPED
            .iter()
            .map(|(file, text)| Self::read(file, text).expect("a shipped descriptor can be read"))
            .find(|descriptor| descriptor.name == name)
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
            title: String::new(),
            command: vec![program.to_owned()],
            impatient: Vec::new(),
            env: env
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            config: String::new(),
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

    /// Listings of the anchor in one poll while these checks run.
    #[must_use]
    pub fn listings(&self, checks: ChecksRun) -> u32 {
        let units = match self.poll_unit {
            PollUnit::Whole => 1,
            PollUnit::Check => {
                u32::try_from(check_names(checks).len()).expect("there are few checks")
            }
        };
        self.listings_per_poll * units
    }

    /// Program and arguments of a start in this story, with `flags` after the descriptor's own and
    /// `species` if it is to be a deliberately wrong monitor.
    #[must_use]
    pub fn arguments(
        &self,
        story: &Story,
        flags: &[String],
        species: Option<&str>,
        filling: &Filling<'_>,
    ) -> Vec<String> {
        let mut arguments: Vec<String> =
            self.command.iter().map(|text| filling.fill(text)).collect();
        if holds_for_good(story) {
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
        (!self.config.is_empty()).then(|| format!("{}{story_lines}", filling.fill(&self.config)))
    }

    /// Why this monitor cannot be drilled with this story; `None` if it can.
    #[must_use]
    pub fn cannot_play(&self, story: &Story) -> Option<String> {
        if self.flags == Vocabulary::Own && !story.flags.is_empty() {
            return Some(format!(
                "`{}` does not know the flags `{}`",
                self.name,
                story.flags.join(" ")
            ));
        }
        if self.config.is_empty() && !story.config.trim().is_empty() {
            return Some(format!("`{}` has no configuration file", self.name));
        }
        if self.state_file == Vocabulary::Own && touches_state_file(story) {
            return Some(format!(
                "`{}` keeps its state in a file of its own",
                self.name
            ));
        }
        None
    }
}

/// Whether a story does something to the reference monitor's state file.
fn touches_state_file(story: &Story) -> bool {
    let steps = story.given.iter().chain(&story.steps);
    steps
        .flat_map(|step| &step.deeds)
        .any(|deed| matches!(deed, scenarios::Deed::StateFile(..)))
}

/// Whether a story holds a read or a call until the monitor gives up, in real time.
fn holds_for_good(story: &Story) -> bool {
    use scenarios::{ConnectorBehaviour, Deed, RuleEffect};
    let steps = story.given.iter().chain(&story.steps);
    steps.flat_map(|step| &step.deeds).any(|deed| match deed {
        Deed::Rule(rule) => matches!(rule.effect, RuleEffect::Hang { .. }),
        Deed::Connector(_, deed) => deed.behaviour == ConnectorBehaviour::Hang,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_descriptor_is_read_and_found_by_its_name() {
        for (file, text) in SHIPPED {
            let descriptor = Descriptor::read(file, text).unwrap();
            assert_eq!(Descriptor::shipped(&descriptor.name), Some(descriptor));
        }
    }

    #[test]
    fn a_poll_has_as_many_listings_as_its_checks_make() {
        let listings = |name: &str| {
            Descriptor::shipped(name)
                .unwrap()
                .listings(ChecksRun::State)
        };
        assert_eq!(listings("reference"), 1);
        assert_eq!(listings("nvsentinel"), 2);
    }

    #[test]
    fn everything_in_braces_is_filled_in() {
        let filling = Filling {
            this: "/bin/n",
            root: "/r",
            socket: "/s",
            config: "/c",
            node: "n-1",
            metrics_port: 1,
            checks: ChecksRun::State,
        };
        for (file, text) in SHIPPED {
            let descriptor = Descriptor::read(file, text).unwrap();
            for text in descriptor.command.iter().chain([&descriptor.config]) {
                let filled = filling.fill(text);
                assert!(!filled.contains('{'), "{filled}");
            }
        }
        assert_eq!(
            filling.fill("{state_file}"),
            "/r/var/run/nic_health_monitor/state.json"
        );
    }

    #[test]
    fn a_descriptor_that_cannot_be_is_refused_with_its_place() {
        let refused = |text: &str| Descriptor::read("d.yaml", text).unwrap_err().to_string();
        assert!(refused("descriptor_version: 2\nname: a\ncommand: [b]\n").contains("d.yaml:1"));
        assert!(refused("descriptor_version: 1\nname: a\ncommand: []\n").contains("d.yaml:3"));
        assert!(
            refused("descriptor_version: 1\nname: a\ncommand: [b]\nclok: own\n").contains("clock")
        );
    }
}
