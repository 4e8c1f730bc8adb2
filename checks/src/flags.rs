//! The monitor's command line: every flag with its default, and how its text is validated.
//!
//! A caller that starts the agent collects texts by name in [`Flags`] and turns them into
//! [`Settings`]; a real and a simulated command line are therefore validated by the same code. The
//! crate `monitor` reads the real command line with clap, from [`FLAGS`]. Durations are read by
//! [`parse_duration`].

mod duration;

use std::collections::BTreeMap;
use std::time::Duration;

use proto::ProcessingStrategy;
use terms::Check;

pub use duration::parse_duration;

use crate::log_record::{Level, LogRecord};
use crate::refusal::Refusal;

/// One flag that takes a value.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// The name without the dashes.
    pub name: &'static str,
    /// The default; `None` means *unset*.
    pub default: Option<&'static str>,
    /// The text for `--help`.
    pub help: &'static str,
}

const fn flag(name: &'static str, default: &'static str, help: &'static str) -> Flag {
    let default = Some(default);
    Flag {
        name,
        default,
        help,
    }
}

const fn unset(name: &'static str, help: &'static str) -> Flag {
    let default = None;
    Flag {
        name,
        default,
        help,
    }
}

/// Every flag that takes a value: first those of `lsd 12.1`, then those of this monitor only.
pub const FLAGS: [Flag; 21] = [
    flag(
        "checks",
        Check::DEFAULT_NAMES,
        "Checks to run, separated by commas; unknown names are logged and skipped",
    ),
    flag(
        "config",
        "/etc/nic-health-monitor/config.toml",
        "Configuration file (TOML)",
    ),
    flag(
        "metadata-path",
        "/var/lib/nvsentinel/gpu_metadata.json",
        "GPU metadata written by the metadata collector",
    ),
    flag(
        "state-polling-interval",
        "1s",
        "Interval of the state checks",
    ),
    flag(
        "platform-connector-socket",
        "unix:///var/run/nvsentinel.sock",
        "Unix socket of the platform connector",
    ),
    flag(
        "metrics-port",
        "2112",
        "Port for /metrics and /healthz; 0 takes any free one, which the log names",
    ),
    flag(
        "state-file",
        "/var/run/nic_health_monitor/state.json",
        "What the monitor remembers across restarts",
    ),
    flag(
        "boot-id-path",
        "/nvsentinel/proc/sys/kernel/random/boot_id",
        "Kernel boot id; a change means the host was rebooted",
    ),
    flag(
        "processing-strategy",
        "EXECUTE_REMEDIATION",
        "EXECUTE_REMEDIATION or STORE_ONLY, stamped on every event",
    ),
    unset(
        "node-name",
        "Node name stamped on every event; falls back to the environment's NODE_NAME",
    ),
    flag(
        "proc-net-route-path",
        "/nvsentinel/proc/net/route",
        "Route table of the host",
    ),
    flag(
        "counter-polling-interval",
        "1s",
        "Interval of the counter checks",
    ),
    flag(
        "disappearance-polls",
        "1",
        "Polls in a row that must miss a device before it is reported",
    ),
    flag(
        "escalate-after",
        "30s",
        "Patience with a port that is neither healthy nor fatal",
    ),
    unset(
        "clock-path",
        "File with `<wall ns> <boot ns>` that stands for both clocks",
    ),
    flag(
        "publish-attempts",
        "5",
        "Attempts per call to the connector",
    ),
    flag(
        "publish-backoff",
        "2s",
        "Wait before the second attempt; grows by half each time",
    ),
    flag("publish-timeout", "10s", "Longest wait for one call"),
    flag("read-timeout", "2s", "Longest wait for one file"),
    flag("log-format", "text", "text or json"),
    flag("log-level", "info", "debug, info, warn or error"),
];

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// How often and how long the agent tries to publish a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Publish {
    /// Attempts per batch and poll; at least 1.
    pub attempts: u32,
    /// Wait before the second attempt; each further wait is half as long again. From 10 ms on, up
    /// to a tenth is added at random.
    pub backoff: Duration,
    /// Longest wait for one call.
    pub timeout: Duration,
}

/// The paths of files that the configuration file does not name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Configuration (TOML).
    pub config: String,
    /// GPU metadata (JSON).
    pub metadata: String,
    /// The host's route table.
    pub route: String,
    /// The kernel's boot id.
    pub boot_id: String,
    /// The state file.
    pub state_file: String,
    /// A file that replaces both clocks.
    pub clock: Option<String>,
}

/// The validated command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The node name in every event.
    pub node_name: String,
    /// The processing strategy in every event.
    pub strategy: ProcessingStrategy,
    /// The checks in the order given, each once.
    pub checks: Vec<Check>,
    /// Interval of the state checks.
    pub state_polling_interval: Duration,
    /// Interval of the counter checks.
    pub counter_polling_interval: Duration,
    /// Polls in a row that must miss a device; at least 1.
    pub disappearance_polls: u32,
    /// How long a port may be neither healthy nor fatal, in boot time.
    pub escalate_after: Duration,
    /// How often and how long publishing is tried.
    pub publish: Publish,
    /// Longest wait for one file.
    pub read_timeout: Duration,
    /// Further paths.
    pub paths: Paths,
    /// Socket of the connector as given, such as `unix:///var/run/nvsentinel.sock`.
    pub connector: String,
    /// Port of `/metrics` and `/healthz`; 0 is any free one.
    pub metrics_port: u16,
    /// The format of log lines.
    pub log_format: LogFormat,
    /// The lowest level that is logged.
    pub log_level: Level,
}

impl Settings {
    /// The path of the connector's socket: `unix:///p` and `unix:/p` both mean `/p`.
    #[must_use]
    pub fn socket_path(&self) -> &str {
        let rest = self.connector.strip_prefix("unix:").unwrap_or_default();
        rest.strip_prefix("//").unwrap_or(rest)
    }
}

/// Flag texts by name; a flag that is not set has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    texts: BTreeMap<&'static str, String>,
}

impl Flags {
    /// All flags at their defaults.
    #[must_use]
    pub fn new() -> Flags {
        Flags::default()
    }

    /// Sets one flag; the last setting wins, as on a command line.
    ///
    /// # Errors
    /// Refuses a name that is not in [`FLAGS`].
    pub fn set(&mut self, name: &str, text: impl Into<String>) -> Result<(), Refusal> {
        let flag = FLAGS
            .iter()
            .find(|flag| flag.name == name)
            .ok_or_else(|| Refusal::usage(format!("unknown flag `--{name}`")))?;
        self.texts.insert(flag.name, text.into());
        Ok(())
    }

    /// Reads `--name value` and `--name=value` pairs, for callers without a command line parser.
    ///
    /// # Errors
    ///
    /// Refuses an unknown flag, a flag without its value, and an argument that is not a flag.
    pub fn from_args<'a>(args: impl IntoIterator<Item = &'a str>) -> Result<Flags, Refusal> {
        let mut flags = Flags::new();
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let Some(rest) = arg.strip_prefix("--") else {
                return Err(Refusal::usage(format!("unexpected argument `{arg}`")));
            };
            match rest.split_once('=') {
                Some((name, text)) => flags.set(name, text)?,
                None => {
                    let text = args
                        .next()
                        .ok_or_else(|| Refusal::usage(format!("flag `--{rest}` needs a value")))?;
                    flags.set(rest, text)?;
                }
            }
        }
        Ok(flags)
    }

    /// The text of a flag that has a default, given or by default.
    fn text(&self, name: &str) -> &str {
        let flag = || FLAGS.iter().find(|flag| flag.name == name);
        let text = self.given(name).or_else(|| flag()?.default);
        text.expect("only flags of the table with a default are asked for")
    }

    /// The text of a flag, if it was given.
    fn given(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// Validates every text.
    ///
    /// # Errors
    ///
    /// The first invalid flag, with the allowed values.
    pub fn settings(&self) -> Result<(Settings, Vec<LogRecord>), Refusal> {
        let mut records = Vec::new();
        let node_name = self.given("node-name").map(str::trim);
        let Some(node_name) = node_name.filter(|name| !name.is_empty()) else {
            return Err(Refusal::new(
                "NODE_NAME env not set and --node-name flag not provided, cannot run",
            ));
        };
        let clock = self.given("clock-path").filter(|path| !path.is_empty());
        let settings = Settings {
            node_name: node_name.to_owned(),
            strategy: self.strategy()?,
            checks: self.checks(&mut records)?,
            state_polling_interval: self.interval("state-polling-interval")?,
            counter_polling_interval: self.interval("counter-polling-interval")?,
            disappearance_polls: self.count("disappearance-polls")?,
            escalate_after: self.span("escalate-after")?,
            publish: Publish {
                attempts: self.count("publish-attempts")?,
                backoff: self.span("publish-backoff")?,
                timeout: self.interval("publish-timeout")?,
            },
            read_timeout: self.interval("read-timeout")?,
            paths: Paths {
                config: self.text("config").to_owned(),
                metadata: self.text("metadata-path").to_owned(),
                route: self.text("proc-net-route-path").to_owned(),
                boot_id: self.text("boot-id-path").to_owned(),
                state_file: self.text("state-file").to_owned(),
                clock: clock.map(str::to_owned),
            },
            connector: self.connector()?,
            metrics_port: self
                .text("metrics-port")
                .trim()
                .parse()
                .map_err(|_| self.refuse("metrics-port", "a port number from 0 to 65535"))?,
            log_format: match self.text("log-format") {
                "text" => LogFormat::Text,
                "json" => LogFormat::Json,
                _ => return Err(self.misuse("log-format", "`text` or `json`")),
            },
            log_level: match self.text("log-level") {
                "debug" => Level::Debug,
                "info" => Level::Info,
                "warn" => Level::Warn,
                "error" => Level::Error,
                _ => return Err(self.misuse("log-level", "`debug`, `info`, `warn` or `error`")),
            },
        };
        Ok((settings, records))
    }

    fn refuse(&self, name: &str, allowed: &str) -> Refusal {
        Refusal::new(format!("invalid --{name} `{}`", self.text(name)))
            .hint(format!("must be {allowed}"))
    }

    /// A refusal as a usage error.
    fn misuse(&self, name: &str, allowed: &str) -> Refusal {
        Refusal {
            code: 2,
            ..self.refuse(name, allowed)
        }
    }

    fn strategy(&self) -> Result<ProcessingStrategy, Refusal> {
        match self.text("processing-strategy") {
            "EXECUTE_REMEDIATION" => Ok(ProcessingStrategy::ExecuteRemediation),
            "STORE_ONLY" => Ok(ProcessingStrategy::StoreOnly),
            other => Err(
                Refusal::new(format!("unexpected processing strategy value: `{other}`"))
                    .hint("must be `EXECUTE_REMEDIATION` or `STORE_ONLY`"),
            ),
        }
    }

    fn checks(&self, records: &mut Vec<LogRecord>) -> Result<Vec<Check>, Refusal> {
        let mut checks = Vec::new();
        for name in self.text("checks").split(',').map(str::trim) {
            match Check::parse(name) {
                Some(check) if checks.contains(&check) => {}
                Some(check) => checks.push(check),
                None if name.is_empty() => {}
                None => {
                    let record = LogRecord::new(Level::Warn, "unknown check: skipped");
                    records.push(record.with("check", name));
                }
            }
        }
        if checks.is_empty() {
            return Err(Refusal::new(format!(
                "no checks enabled in --checks `{}`",
                self.text("checks"),
            ))
            .hint(format!(
                "include at least one of {}",
                Check::NAMES.join(", ")
            )));
        }
        Ok(checks)
    }

    fn connector(&self) -> Result<String, Refusal> {
        let text = self.text("platform-connector-socket");
        let path = text
            .strip_prefix("unix://")
            .or_else(|| text.strip_prefix("unix:"));
        match path {
            Some(path) if path.starts_with('/') => Ok(text.to_owned()),
            _ => Err(self.refuse(
                "platform-connector-socket",
                "`unix://` and an absolute path, such as `unix:///var/run/nvsentinel.sock`",
            )),
        }
    }

    /// A duration that may be zero.
    fn span(&self, name: &str) -> Result<Duration, Refusal> {
        parse_duration(self.text(name))
            .ok_or_else(|| self.refuse(name, "a duration such as `1s`, `300ms` or `1m30s`"))
    }

    /// A duration longer than zero.
    fn interval(&self, name: &str) -> Result<Duration, Refusal> {
        match self.span(name)? {
            Duration::ZERO => Err(self.refuse(name, "longer than 0s")),
            span => Ok(span),
        }
    }

    /// A number from 1.
    fn count(&self, name: &str) -> Result<u32, Refusal> {
        match self.text(name).trim().parse() {
            Ok(count) if count >= 1 => Ok(count),
            _ => Err(self.refuse(name, "a whole number from 1")),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn judge(args: &[&str]) -> Result<(Settings, Vec<LogRecord>), Refusal> {
        let args = [&["--node-name", "n1"], args].concat();
        Flags::from_args(args).and_then(|flags| flags.settings())
    }

    #[test]
    fn the_defaults_run_four_checks() {
        let (settings, records) = judge(&[]).unwrap();
        assert_eq!(settings.checks.len(), 4);
        assert_eq!(settings.escalate_after, Duration::from_secs(30));
        assert_eq!(settings.socket_path(), "/var/run/nvsentinel.sock");
        assert_eq!(records, []);
    }

    #[rstest]
    #[case(&["--state-polling-interval", "soon"], "--state-polling-interval")]
    #[case(&["--state-polling-interval", "0s"], "longer than 0s")]
    #[case(&["--checks", "Nonsense"], "no checks enabled")]
    #[case(&["--processing-strategy=FOO"], "FOO")]
    #[case(&["--metrics-port", "65536"], "65535")]
    #[case(&["--publish-attempts", "0"], "from 1")]
    #[case(&["--platform-connector-socket", "localhost:50051"], "unix://")]
    #[case(&["--platform-connector-socket", "unix:run/a.sock"], "an absolute path")]
    #[case(&["--node-name", " "], "NODE_NAME")]
    fn a_text_that_cannot_be_is_refused_with_what_can(#[case] args: &[&str], #[case] part: &str) {
        let refusal = judge(args).unwrap_err();
        let line = refusal.to_string();
        assert!(line.contains(part), "{line}");
        assert!(!line.contains('\n'));
        assert_eq!(refusal.code, 1);
    }

    #[rstest]
    #[case(&["--log-format", "xml"], "json")]
    #[case(&["--log-level", "loud"], "`debug`, `info`, `warn` or `error`")]
    fn a_word_that_a_log_does_not_have_is_a_usage_error(#[case] args: &[&str], #[case] part: &str) {
        let refusal = judge(args).unwrap_err();
        assert_eq!(refusal.code, 2);
        assert!(refusal.to_string().contains(part), "{refusal}");
    }

    #[rstest]
    #[case(&["--chekcs", "x"])]
    #[case(&["--checks"])]
    #[case(&["checks"])]
    fn what_is_no_flag_is_a_usage_error(#[case] args: &[&str]) {
        assert_eq!(judge(args).unwrap_err().code, 2);
    }

    #[rstest]
    #[case("unix:///run/a.sock", "/run/a.sock")]
    #[case("unix:/run/a.sock", "/run/a.sock")]
    fn both_spellings_of_a_unix_target_mean_the_path(#[case] target: &str, #[case] path: &str) {
        let (settings, _) = judge(&["--platform-connector-socket", target]).unwrap();
        assert_eq!(settings.socket_path(), path);
    }

    #[test]
    fn a_check_named_twice_runs_once() {
        let list = "EthernetStateCheck, InfiniBandStateCheck,EthernetStateCheck,";
        let (settings, records) = judge(&["--checks", list]).unwrap();
        assert_eq!(
            settings.checks,
            [Check::EthernetState, Check::InfiniBandState]
        );
        assert_eq!(records, []);
    }

    #[test]
    fn every_word_of_a_log_is_taken() {
        for (word, format) in [("text", LogFormat::Text), ("json", LogFormat::Json)] {
            let (settings, _) = judge(&["--log-format", word]).unwrap();
            assert_eq!(settings.log_format, format);
        }
        for (word, level) in [
            ("debug", Level::Debug),
            ("info", Level::Info),
            ("warn", Level::Warn),
            ("error", Level::Error),
        ] {
            let (settings, _) = judge(&["--log-level", word]).unwrap();
            assert_eq!(settings.log_level, level);
        }
    }

    #[test]
    fn the_clocks_are_the_systems_unless_a_file_is_named() {
        let (settings, _) = judge(&[]).unwrap();
        assert_eq!(settings.paths.clock, None);
        let (settings, _) = judge(&["--clock-path", "/run/clock"]).unwrap();
        assert_eq!(settings.paths.clock.as_deref(), Some("/run/clock"));
    }

    #[test]
    fn an_unknown_check_is_told_and_an_empty_name_is_not() {
        let (_, records) = judge(&["--checks", "EthernetStateCheck,,Nonsense"]).unwrap();
        let records: Vec<String> = records.iter().map(LogRecord::to_string).collect();
        assert_eq!(records.len(), 1, "{records:?}");
        assert!(records[0].contains("Nonsense"), "{records:?}");
    }
}
