//! How a monitor speaks, beyond the name of its protocol: the part of its descriptor that belongs to the protocol, and
//! how it comes to say something.
//!
//! Start at [`Descriptor::pace`].

use files::Problem;

use crate::{Descriptor, ExitCodes, HttpJson, Prometheus, Protocol, Schedule, TextfileProgram};

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

    /// What is wrong with what its protocol needs, except its lines.
    pub(crate) fn speech_problems(&self) -> Vec<Problem> {
        let mut problems = self.missing_or_unused();
        let of_codes = self.exit_code.as_ref().map(ExitCodes::problems);
        problems.extend(of_codes.into_iter().flatten());
        let scrape = self.scrape.as_ref().map(|it| ("scrape", &it.metrics));
        let textfile = self.textfile.as_ref().map(|it| ("textfile", &it.metrics));
        for (key, rules) in scrape.into_iter().chain(textfile) {
            let of_rules = rules.problems().into_iter();
            problems.extend(of_rules.map(|problem| problem.below([key])));
        }
        let of_page = self.http_json.as_ref().map(HttpJson::problems);
        problems.extend(of_page.into_iter().flatten());
        let of_times = self.prometheus.as_ref().map(Prometheus::problems);
        problems.extend(of_times.into_iter().flatten());
        problems.extend(self.alerts.problems());
        problems.extend(self.alerts_without_rules());
        problems.extend(self.schedule.problems());
        problems.extend(self.unused_schedule());
        problems.extend(self.unused_times());
        problems.extend(self.pages_that_are_no_paths());
        problems
    }

    /// The part that its protocol needs, if it is missing, and the parts of other protocols.
    fn missing_or_unused(&self) -> Vec<Problem> {
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
        let problems = parts.into_iter().filter_map(|(protocol, key, is_there)| {
            let word = protocol.word();
            match (self.speaks == protocol, is_there) {
                (true, false) => Some(
                    Problem::at(
                        ["speaks"],
                        format!("`speaks: {word}` needs `{key}`, which says what it means"),
                        format!("write {}", example(protocol)),
                    )
                    .beside(&PARTS),
                ),
                (false, true) => Some(
                    Problem::at(
                        [key],
                        format!("`{key}` is for a monitor that speaks by it"),
                        format!("write `speaks: {word}`, or leave `{key}` out"),
                    )
                    .beside(&["speaks"]),
                ),
                _ => None,
            }
        });
        problems.collect()
    }

    fn unused_schedule(&self) -> Option<Problem> {
        if self.schedule == Schedule::default() {
            return None;
        }
        let problem = |what: &'static str, hint: &'static str| {
            let problem = Problem::at(["schedule"], what, hint);
            Some(problem.beside(&["speaks", "textfile", "prometheus"]))
        };
        if self.speaks == Protocol::PrometheusRules {
            return problem(
                "`schedule` stands beside `prometheus`, which says when the exporter is scraped",
                "leave it out: `scrape_interval` and `scrape_phase` are its times",
            );
        }
        if self.pace() == Pace::Gate && self.speaks != Protocol::Textfile {
            return problem(
                "`schedule` is for a program that is run or asked",
                "leave it out: this monitor polls by itself",
            );
        }
        None
    }

    /// The keys of its schedule that are for monitors of another pace.
    fn unused_times(&self) -> Vec<Problem> {
        let Schedule {
            timeout,
            kill_after,
            on,
            ..
        } = &self.schedule;
        let is_scheduled = self.speaks != Protocol::PrometheusRules;
        let is = |pace: Pace| self.pace() == pace && is_scheduled;
        let (is_run, is_asked) = (is(Pace::Runs), is(Pace::Asked));
        let asked = "is for a page that is asked for";
        let run = "is for a program that is run";
        let keys = [
            (
                "timeout",
                is_run && timeout.is_some(),
                asked,
                "write `kill_after`, or leave it out",
            ),
            (
                "kill_after",
                is_asked && kill_after.is_some(),
                run,
                "write `timeout`, or leave it out",
            ),
            ("on", is_asked && on.is_some(), run, "leave it out"),
        ];
        let unused = keys.into_iter().filter(|(_, is_unused, ..)| *is_unused);
        let problems = unused.map(|(key, _, what, hint)| {
            let problem = Problem::at([key], format!("`{key}` of `schedule` {what}"), hint);
            let problem = problem.below(["schedule"]);
            problem.beside(&["speaks", "textfile", "prometheus"])
        });
        problems.collect()
    }

    /// The pages that it is asked for whose paths do not begin with `/`.
    fn pages_that_are_no_paths(&self) -> Vec<Problem> {
        let scrape = self.scrape.as_ref().map(|page| page.path.as_str());
        let json = self.http_json.as_ref().map(|page| page.path.as_str());
        let rules = self.prometheus.as_ref().map(|page| page.path.as_str());
        let metrics = self.metrics.as_ref().map(|page| page.path.as_str());
        let pages = [
            (vec!["scrape", "path"], scrape),
            (vec!["http_json", "path"], json),
            (vec!["prometheus", "path"], rules),
            (vec!["metrics", "path"], metrics),
            (vec!["healthz"], self.healthz.as_deref()),
        ];
        let paths = pages
            .into_iter()
            .filter_map(|(keys, path)| Some((keys, path?)));
        let wrong = paths.filter(|(_, path)| !path.starts_with('/'));
        let problems = wrong.map(|(keys, path)| {
            let what = format!("`{path}` is no path of a page");
            Problem::at(keys, what, format!("write `/{path}`"))
        });
        problems.collect()
    }

    fn alerts_without_rules(&self) -> Option<Problem> {
        let problem = |key, what: &'static str, hint: &'static str| {
            let problem = Problem::at([key], what, hint);
            Some(problem.beside(&["speaks", "prometheus", "alerts"]))
        };
        match (&self.prometheus, self.alerts.is_empty()) {
            (Some(_), true) if self.speaks == Protocol::PrometheusRules => problem(
                "prometheus",
                "`speaks: prometheus-rules` needs `alerts`, which says what they mean",
                "write `alerts: { NicPortDown: { says: fatal, device: device, port: port } }`",
            ),
            (None, false) => problem(
                "alerts",
                "`alerts` is for a monitor that speaks by alert rules",
                "write `speaks: prometheus-rules`, or leave `alerts` out",
            ),
            _ => None,
        }
    }
}

/// The keys of the parts of a descriptor that belong to one protocol each.
const PARTS: [&str; 6] = [
    "lines",
    "exit_code",
    "textfile",
    "scrape",
    "http_json",
    "prometheus",
];

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
