//! How a monitor speaks, beyond the name of its protocol: the part of its descriptor that belongs to the protocol, and
//! how it comes to say something.
//!
//! Start at [`Descriptor::pace`].

use crate::{
    Descriptor, ExitCodes, HttpJson, Prometheus, Protocol, Schedule, SeriesRules, TextfileProgram,
};

/// How a monitor comes to say something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// It polls by itself, and waits at the gate before each poll.
    Gate,
    /// It is run again and again.
    Runs,
    /// It runs, and is asked for a page.
    Asked,
}

impl Descriptor {
    /// How it comes to say something.
    #[must_use]
    pub fn pace(&self) -> Pace {
        let program = self.textfile.as_ref().map(|textfile| textfile.program);
        match self.speaks {
            Protocol::PlatformConnector | Protocol::Lines => Pace::Gate,
            Protocol::Textfile if program == Some(TextfileProgram::OneShot) => Pace::Runs,
            Protocol::Textfile => Pace::Gate,
            Protocol::ExitCode => Pace::Runs,
            Protocol::Scrape | Protocol::HttpJson | Protocol::PrometheusRules => Pace::Asked,
        }
    }

    /// The path of the page that it is asked for, if it is.
    #[must_use]
    pub fn page(&self) -> Option<&str> {
        let scrape = self.scrape.as_ref().map(|page| page.path.as_str());
        let json = self.http_json.as_ref().map(|page| page.path.as_str());
        let rules = self.prometheus.as_ref().map(|page| page.path.as_str());
        scrape.or(json).or(rules)
    }

    /// Whether a read that hangs until the monitor gives up ends by the monitor's own timeout, in real time. One that is
    /// run or asked has none unless it says so: whoever runs or asks it gives up, in simulated time.
    #[must_use]
    pub fn has_own_timeout(&self) -> bool {
        self.gives_up.unwrap_or(self.pace() == Pace::Gate)
    }

    /// Whether a read that hangs until somebody gives up ever ends.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.has_own_timeout()
            || match self.pace() {
                Pace::Gate => false,
                Pace::Runs => self.schedule.kill_after.is_some(),
                Pace::Asked => true,
            }
    }

    /// What is wrong with what its protocol needs, except its lines: key, problem and hint.
    pub(crate) fn speech_problem(&self) -> Option<(&'static str, String, String)> {
        let parts = [
            (Protocol::Lines, "lines", self.lines.is_some()),
            (Protocol::ExitCode, "exit_code", self.exit_code.is_some()),
            (Protocol::Textfile, "textfile", self.textfile.is_some()),
            (Protocol::Scrape, "scrape", self.scrape.is_some()),
            (Protocol::HttpJson, "http_json", self.http_json.is_some()),
            (
                Protocol::PrometheusRules,
                "prometheus",
                self.prometheus.is_some(),
            ),
        ];
        for (protocol, key, is_there) in parts {
            let word = protocol.word();
            match (self.speaks == protocol, is_there) {
                (true, false) => {
                    return Some((
                        "speaks",
                        format!("`speaks: {word}` needs `{key}`, which says what it means"),
                        format!("write {}", example(protocol)),
                    ));
                }
                (false, true) => {
                    return Some((
                        key,
                        format!("`{key}` is for a monitor that speaks by it"),
                        format!("write `speaks: {word}`, or leave `{key}` out"),
                    ));
                }
                _ => {}
            }
        }
        let scrape = self.scrape.as_ref().map(|it| &it.metrics);
        let textfile = self.textfile.as_ref().map(|it| &it.metrics);
        let parts = [
            (
                "exit_code",
                self.exit_code.as_ref().and_then(ExitCodes::problem),
            ),
            ("scrape", scrape.and_then(SeriesRules::problem)),
            ("textfile", textfile.and_then(SeriesRules::problem)),
            (
                "http_json",
                self.http_json.as_ref().and_then(HttpJson::problem),
            ),
            (
                "prometheus",
                self.prometheus.as_ref().and_then(Prometheus::problem),
            ),
            ("alerts", self.alerts_problem()),
            ("schedule", self.schedule_problem()),
        ];
        parts.into_iter().find_map(|(key, problem)| {
            let (what, hint) = problem?;
            Some((key, what, hint))
        })
    }

    fn schedule_problem(&self) -> Option<(String, String)> {
        let is_idle = self.pace() == Pace::Gate && self.speaks != Protocol::Textfile;
        let unused = (
            "`schedule` is for a program that is run or asked",
            "leave it out: this monitor polls by itself",
        );
        let unused = (is_idle && self.schedule != Schedule::default()).then_some(unused);
        let (what, hint) = self.schedule.problem().or(unused)?;
        Some((what.to_owned(), hint.to_owned()))
    }

    fn alerts_problem(&self) -> Option<(String, String)> {
        match (&self.prometheus, self.alerts.is_empty()) {
            (Some(_), true) => Some((
                "`speaks: prometheus-rules` needs `alerts`, which says what they mean".to_owned(),
                "write `alerts: { NicPortDown: { says: fatal, device: device, port: port } }`"
                    .to_owned(),
            )),
            (None, false) => Some((
                "`alerts` is for a monitor that speaks by alert rules".to_owned(),
                "write `speaks: prometheus-rules`, or leave `alerts` out".to_owned(),
            )),
            _ if self.prometheus.is_some() && self.schedule != Schedule::default() => Some((
                "`schedule` stands beside `prometheus`, which says when the exporter is scraped"
                    .to_owned(),
                "leave it out: `scrape_interval` and `scrape_phase` are its times".to_owned(),
            )),
            _ => self.alerts.problem(),
        }
    }
}

/// The shortest thing that a protocol needs.
fn example(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::PlatformConnector => "nothing",
        Protocol::Lines => "`lines: [ { pattern: …, says: fatal } ]`",
        Protocol::ExitCode => "`exit_code: { codes: nhc }`",
        Protocol::Textfile | Protocol::Scrape => {
            "`metrics: [ { name: nic_port_up, device: device, port: port, values: { 1: healthy, 0: fatal } } ]` into it"
        }
        Protocol::PrometheusRules => "`prometheus: { rules: alerts.yaml }`",
        Protocol::HttpJson => {
            "`http_json: { path: /health, verdict: /status, verdicts: { ok: healthy, down: fatal } }`"
        }
    }
}
