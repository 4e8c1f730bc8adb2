//! The descriptor of a monitor under test: how it is started, how it polls, and what it promises.
//!
//! A descriptor is a YAML file; two are shipped, and users can write their own. No other code knows a
//! monitor by name. `harness` starts the program and finds a user's file. Start at [`Descriptor`].

mod problems;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use include_dir::{Dir, include_dir};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Adapter, AlertRows, ExitCodes, Filling, HttpJson, Limits, Lines, Loop, MetricsPage, Prometheus,
    Promises, Protocol, RealTime, RootAt, RunEnd, Schedule, ScrapePage, Settable, Span, Textfile,
    Texts, platform_connector::PlatformConnector, toml_tables,
};

/// The PCI vendor of NVIDIA's network cards (PCI ID Repository, `15b3 Mellanox Technologies`).
const NVIDIA_NETWORKING: u16 = 0x15b3;

static DESCRIPTORS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/descriptors");

/// The shipped descriptors, as file name and text.
pub fn shipped_descriptors() -> impl Iterator<Item = (&'static str, &'static str)> {
    DESCRIPTORS.files().map(|file| {
        let name = file.path().to_str().expect("a path in UTF-8");
        (name, file.contents_utf8().expect("a text in UTF-8"))
    })
}

/// A monitor under test.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A descriptor of a monitor for nicdrill")]
pub struct Descriptor {
    /// The version of this format: 1.
    pub descriptor_version: u32,
    /// Its name, such as on the command line.
    pub name: String,
    /// A one-line description.
    pub title: Option<String>,
    /// The protocol that it speaks.
    #[serde(default)]
    pub speaks: Protocol,
    /// With `speaks: lines`: what its lines mean.
    pub lines: Option<Lines>,
    /// With `speaks: exit-code`: what its runs mean.
    pub exit_code: Option<ExitCodes>,
    /// With `speaks: textfile`: what its files mean.
    pub textfile: Option<Textfile>,
    /// With `speaks: scrape`: what its page of metrics means.
    pub scrape: Option<ScrapePage>,
    /// With `speaks: http-json`: what its page means.
    pub http_json: Option<HttpJson>,
    /// With `speaks: prometheus-rules`: the rules, and how the program is scraped for them.
    pub prometheus: Option<Prometheus>,
    /// With `speaks: prometheus-rules`: what its alerts mean.
    #[serde(default)]
    pub alerts: AlertRows,
    /// When it is run or asked, if it does not poll by itself.
    #[serde(default)]
    pub schedule: Schedule,
    /// Program and arguments. `{self} {root} {socket} {config} {files} {node} {state_file} {metrics_port}
    /// {checks}` are replaced; `{{name}}` stands for `{name}`.
    pub command: Vec<String>,
    /// Whether the program ends at once with the code 0 and leaves the monitor behind as a daemon
    /// (`daemon(7)`, SysV daemons). Then the monitor runs as long as one of its processes does.
    #[serde(default)]
    pub daemon: bool,
    /// Arguments added in drills that hold a read or a call until the monitor gives up.
    #[serde(default)]
    pub impatient: Vec<String>,
    /// Arguments added in all other drills: they lengthen its timeouts, so that a machine that stalls changes nothing.
    #[serde(default)]
    pub patient: Vec<String>,
    /// Whether it gives up a read that gets no answer, by a timeout of its own. Scenarios in which a read hangs until
    /// then do not apply to a monitor that does not.
    /// The default is yes for one that polls by itself, and no for one that is run or asked.
    pub gives_up: Option<bool>,
    /// Variables added to its environment, with the same replacements.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Host paths at which it finds a file or folder of its node's tree, which is written `{root}` or
    /// `{root}/…`. A path that the host lacks is made. Only the monitor sees this.
    #[serde(default)]
    pub binds: BTreeMap<String, String>,
    /// Where it finds its node's tree.
    #[serde(default)]
    pub root: RootAt,
    /// Whether the host's files are read-only to it and it gets no privileges.
    #[serde(default = "yes")]
    pub confine: bool,
    /// The host's files and folders to which it can write although it is confined; a relative path is below
    /// the folder in which `nicdrill` is started.
    #[serde(default)]
    pub writable: Vec<String>,
    /// How much it may use.
    #[serde(default)]
    pub limits: Limits,
    /// The text of its configuration file, with the same replacements; a story's lines follow it.
    /// Without it and `config_default` no file is written.
    pub config: Option<String>,
    /// More of its configuration file, in TOML, with the same replacements. A value or table of it is left out
    /// where a story's lines set it.
    pub config_default: Option<String>,
    /// Files of its own, by their paths in the folder `{files}`: their texts, with the same replacements.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Number of listings of the anchor folder in one poll unit, at least 1.
    #[serde(default = "one")]
    pub listings_per_poll: u32,
    /// What a poll unit is.
    #[serde(default)]
    pub poll_unit: PollUnit,
    /// Whether it polls in several concurrent loops; then the calls of a tick have no order.
    #[serde(default)]
    pub concurrent: bool,
    /// Its loops, if each lists for its own checks and they are to poll one after another, in this order.
    #[serde(default)]
    pub loops: Vec<Loop>,
    /// How the end of a poll's events is detected.
    #[serde(default)]
    pub drains: Drains,
    /// The clock that it reads.
    #[serde(default)]
    pub clock: ClockKind,
    /// How far the time stamps of a monitor with its own clock may be off the time at which they are received;
    /// without it, they are not judged.
    pub clock_tolerance: Option<Span>,
    /// What it needs of the real time.
    #[serde(default)]
    pub real_time: RealTime,
    /// Whether it shares a CPU with the server of its files (faster; see `docs/output.md`).
    #[serde(default = "yes")]
    pub pin: bool,
    /// The documents' checks that it runs, if nothing tells it which. What it says under one of them in a scenario
    /// that does not run this check is left out.
    #[serde(default)]
    pub checks: BTreeSet<String>,
    /// Whether the connector must listen when it starts. Scenarios in which it does not are not applicable.
    #[serde(default)]
    pub needs_socket: bool,
    /// Whose flags it accepts.
    #[serde(default)]
    pub flags: Vocabulary,
    /// The flags that a story may set, each with the kind of its value. Without it: those of the reference monitor with
    /// `flags: reference`, else none.
    pub settable: Option<Settable>,
    /// Whose messages and log lines it emits.
    #[serde(default)]
    pub texts: Texts,
    /// Whose state file format it uses.
    #[serde(default)]
    pub state_file: Vocabulary,
    /// The path at its `{metrics_port}` that serves metrics with the reference monitor's names; without
    /// it, expectations on metrics do not apply.
    pub metrics: Option<MetricsPage>,
    /// The path that serves its health; without it, expectations on health do not apply.
    #[serde(default)]
    pub healthz: Option<String>,
    /// PCI vendors whose cards it monitors; NVIDIA's by default. Ports of other cards are not monitored,
    /// whatever their role.
    #[serde(default = "nvidia")]
    pub vendors: BTreeSet<u16>,
    /// Whether it can also be played in memory, by the logic in `checks`.
    #[serde(default)]
    pub memory: bool,
    /// The words that start one of its wrong monitors, with `{mutant}` replaced; they replace the words of
    /// `command` before the first flag.
    #[serde(default)]
    pub zoo: Option<Vec<String>>,
    /// What it promises.
    #[serde(default)]
    pub promises: Promises,
}

/// The extent of one round of a monitor's loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PollUnit {
    /// All checks share one listing.
    #[default]
    Whole,
    /// Each check lists for itself and publishes before the next one lists.
    Check,
}

/// How the end of a poll's events is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Drains {
    /// It publishes before it comes to the gate again.
    #[default]
    Gate,
    /// It publishes in the background; the end is assumed once nothing was received for a while.
    Quiet,
}

/// The clock that a monitor reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClockKind {
    /// The system's clock.
    #[default]
    Own,
    /// The file that the mount serves.
    File,
}

/// Whose vocabulary a monitor uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Vocabulary {
    /// The reference monitor's.
    Reference,
    /// Its own; expectations about it do not apply.
    #[default]
    Own,
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

impl Descriptor {
    /// The part that belongs to a protocol, if it is there and the protocol needs one.
    pub(crate) fn part(&self, protocol: Protocol) -> Option<&dyn Adapter> {
        fn part<A: Adapter>(part: Option<&A>) -> Option<&dyn Adapter> {
            part.map(|part| part as &dyn Adapter)
        }
        match protocol {
            Protocol::PlatformConnector => None,
            Protocol::Lines => part(self.lines.as_ref()),
            Protocol::ExitCode => part(self.exit_code.as_ref()),
            Protocol::Textfile => part(self.textfile.as_ref()),
            Protocol::Scrape => part(self.scrape.as_ref()),
            Protocol::HttpJson => part(self.http_json.as_ref()),
            Protocol::PrometheusRules => part(self.prometheus.as_ref()),
        }
    }

    /// What its part of its protocol makes of what it says.
    #[must_use]
    pub fn adapter(&self) -> &dyn Adapter {
        self.part(self.speaks).unwrap_or(&PlatformConnector)
    }

    /// Whether a run of a program that is run again and again ended as a crash does: by a signal, or by a code that
    /// means nothing by its descriptor.
    #[must_use]
    pub fn is_crash(&self, end: RunEnd) -> bool {
        let codes = self.exit_code.as_ref();
        codes.map_or_else(|| end.is_crash(), |codes| codes.is_crash(end))
    }

    /// The texts in which placeholders are replaced, each with the keys that lead to it.
    fn texts_with_placeholders(&self) -> impl Iterator<Item = (Vec<String>, &String)> {
        let lists = [
            ("command", &self.command),
            ("impatient", &self.impatient),
            ("patient", &self.patient),
        ];
        let maps = [("env", &self.env), ("files", &self.files)];
        let plain = [
            ("config", self.config.as_ref()),
            ("config_default", self.config_default.as_ref()),
        ];
        let lists = lists.into_iter().flat_map(|(key, texts)| {
            let texts = texts.iter().enumerate();
            texts.map(move |(at, text)| (vec![key.to_owned(), at.to_string()], text))
        });
        let maps = maps.into_iter().flat_map(|(key, texts)| {
            let texts = texts.iter();
            texts.map(move |(name, text)| (vec![key.to_owned(), name.clone()], text))
        });
        let plain = plain.into_iter();
        let plain = plain.filter_map(|(key, text)| Some((vec![key.to_owned()], text?)));
        lists.chain(maps).chain(plain)
    }

    /// Whether it is told where its state file is to be.
    #[must_use]
    pub fn is_told_state_file(&self) -> bool {
        self.texts_with_placeholders()
            .any(|(_, text)| text.contains("{state_file}"))
    }

    /// The PCI vendors whose cards it monitors: those that it promises, or `vendors`.
    #[must_use]
    pub fn monitored_vendors(&self) -> &BTreeSet<u16> {
        let scope = self.promises.scope.as_ref();
        let promised = scope.and_then(|scope| scope.vendors.as_ref());
        promised.unwrap_or(&self.vendors)
    }

    /// Whether it has a configuration file, to which a story can add lines.
    #[must_use]
    pub fn has_config(&self) -> bool {
        self.config.is_some() || self.config_default.is_some()
    }

    /// A descriptor for an unknown program: it is started without arguments and configured by
    /// environment variables.
    #[must_use]
    pub fn of_program(program: &str) -> Self {
        let env = [
            ("NICDRILL_ROOT", "{root}"),
            ("NICDRILL_SOCKET", "{socket}"),
            ("NICDRILL_STATE_FILE", "{state_file}"),
            ("NICDRILL_NODE", "{node}"),
            ("NICDRILL_CHECKS", "{checks}"),
            ("NICDRILL_METRICS_PORT", "{metrics_port}"),
            ("NODE_NAME", "{node}"),
        ];
        Self {
            descriptor_version: 1,
            name: program.to_owned(),
            title: None,
            speaks: Protocol::default(),
            lines: None,
            exit_code: None,
            textfile: None,
            scrape: None,
            http_json: None,
            prometheus: None,
            alerts: AlertRows::default(),
            schedule: Schedule::default(),
            command: vec![program.to_owned()],
            daemon: false,
            impatient: Vec::new(),
            patient: Vec::new(),
            gives_up: None,
            env: env
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            binds: BTreeMap::new(),
            root: RootAt::Mount,
            confine: true,
            writable: Vec::new(),
            limits: Limits::default(),
            config: None,
            config_default: None,
            files: BTreeMap::new(),
            listings_per_poll: 1,
            poll_unit: PollUnit::Whole,
            concurrent: false,
            loops: Vec::new(),
            drains: Drains::Gate,
            clock: ClockKind::Own,
            clock_tolerance: None,
            real_time: RealTime::default(),
            pin: true,
            checks: BTreeSet::new(),
            needs_socket: true,
            flags: Vocabulary::Own,
            settable: None,
            texts: Texts::default(),
            state_file: Vocabulary::Own,
            metrics: None,
            healthz: None,
            vendors: nvidia(),
            memory: false,
            zoo: None,
            promises: Promises::default(),
        }
    }

    /// The number of listings of the anchor folder in one poll with this many checks.
    #[must_use]
    pub fn listings(&self, checks: usize) -> u32 {
        let checks = match self.checks.len() {
            0 => checks,
            own => own,
        };
        let units = match self.poll_unit {
            PollUnit::Whole => 1,
            PollUnit::Check => u32::try_from(checks).expect("there are few checks"),
        };
        self.listings_per_poll * units
    }

    /// Program and arguments of a start, with `flags` after the descriptor's own. `held` states that the
    /// drill holds a read or a call until the monitor gives up; `mutant` names the wrong
    /// monitor to start instead.
    #[must_use]
    pub fn arguments(
        &self,
        held: bool,
        flags: &[String],
        mutant: Option<&str>,
        filling: &Filling<'_>,
    ) -> Vec<String> {
        let mut command = self.command.clone();
        if let (Some(zoo), Some(mutant)) = (&self.zoo, mutant) {
            let is_flag = |word: &String| word.starts_with("--");
            let first_flag = command.iter().position(is_flag).unwrap_or(command.len());
            let words = zoo.iter().map(|word| word.replace("{mutant}", mutant));
            command.splice(..first_flag, words);
        }
        let mut arguments: Vec<String> = command.iter().map(|text| filling.fill(text)).collect();
        let temper = if held { &self.impatient } else { &self.patient };
        arguments.extend(temper.iter().map(|text| filling.fill(text)));
        let may_set = |flag: &&String| self.refuses_flag(flag).is_none();
        arguments.extend(flags.iter().filter(may_set).cloned());
        arguments
    }

    /// Why a flag of a story cannot be given to this monitor; `None` if it can.
    #[must_use]
    pub fn refuses_flag(&self, flag: &str) -> Option<String> {
        match &self.settable {
            Some(settable) => settable.refuses(flag),
            None => Settable::default().refuses(flag),
        }
    }

    /// The text of its configuration file with the story's lines; `None` if it has no such file.
    #[must_use]
    pub fn config_text(&self, story_lines: &str, filling: &Filling<'_>) -> Option<String> {
        if !self.has_config() {
            return None;
        }
        let config = filling.fill(self.config.as_deref().unwrap_or_default());
        let story_lines = match &self.config_default {
            None => Cow::Borrowed(story_lines),
            Some(default) => Cow::Owned(toml_tables::with_defaults(
                &filling.fill(default),
                story_lines,
            )),
        };
        Some(format!("{config}{story_lines}"))
    }
}
