//! How a monitor speaks, beyond the name of its protocol: the part of its descriptor that belongs to the protocol, and
//! how it comes to say something.
//!
//! Start at [`Descriptor::pace`].

use files::Problem;

use crate::{Adapter, Descriptor, Medium, Protocol, Schedule};

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
        match self.medium() {
            Medium::RunEnds => Pace::Runs,
            Medium::Files if self.adapter().is_run() => Pace::Runs,
            Medium::Calls | Medium::Output | Medium::Files => Pace::Gate,
            Medium::Page | Medium::KeptPages => Pace::Asked,
        }
    }

    /// By what it says something.
    #[must_use]
    pub fn medium(&self) -> Medium {
        self.speaks.facts().medium
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

    /// What is wrong with what its protocol needs.
    pub(crate) fn speech_problems(&self) -> Vec<Problem> {
        let mut problems = self.missing_or_unused();
        let parts = Protocol::ALL.into_iter().filter_map(|it| self.part(it));
        problems.extend(parts.flat_map(Adapter::problems));
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
        let parts = || {
            let parts = Protocol::ALL.into_iter();
            parts.filter_map(|it| Some((it, it.facts().part?)))
        };
        let problems = parts().filter_map(|(protocol, part)| {
            let (key, word) = (part.key, protocol.word());
            match (self.speaks == protocol, self.part(protocol).is_some()) {
                (true, false) => Some(
                    Problem::at(
                        ["speaks"],
                        format!("`speaks: {word}` needs `{key}`, which says what it means"),
                        format!("write {}", part.example),
                    )
                    .beside(parts().map(|(_, part)| part.key).collect::<Vec<_>>()),
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
        if self.medium() == Medium::KeptPages {
            return problem(
                "`schedule` stands beside `prometheus`, which says when the exporter is scraped",
                "leave it out: `scrape_interval` and `scrape_phase` are its times",
            );
        }
        if self.medium().is_pushed() {
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
        let is_scheduled = self.medium() != Medium::KeptPages;
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
        let asked = Protocol::ALL.into_iter().filter_map(|protocol| {
            let (path, _) = self.part(protocol)?.page()?;
            Some((vec![protocol.facts().part?.key, "path"], path))
        });
        let metrics = self.metrics.as_ref();
        let metrics = metrics.map(|page| (vec!["metrics", "path"], page.path.as_str()));
        let health = self.healthz.as_deref().map(|path| (vec!["healthz"], path));
        let paths = asked.chain(metrics).chain(health);
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
            (Some(_), true) if self.medium() == Medium::KeptPages => problem(
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
