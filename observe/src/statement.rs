//! What a monitor stated of which subject, from when to when.
//!
//! Whatever the protocol and the style, a statement holds until another one about the same subject. A statement
//! about the node as a whole, or everything that a check monitors, holds for all subjects of the check. Start at
//! [`statements`].

use std::collections::BTreeMap;

use terms::Severity;

use crate::{Observation, Recording, Subject};

/// A statement that held for some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The subject.
    pub subject: Subject,
    /// The check; `None` if the protocol has none.
    pub check: Option<String>,
    /// The codes that distinguish several faults of one subject.
    pub codes: Vec<String>,
    /// The statement.
    pub severity: Severity,
    /// The tick in which it was accepted.
    pub from: u64,
    /// The tick in which another one replaced it; `None` if none did.
    pub to: Option<u64>,
    /// How often it was made.
    pub times: u32,
}

/// What distinguishes statements.
type Key = (Subject, Option<String>, Vec<String>);

/// The statements of the monitor of a node that were accepted, in the order of their beginnings.
#[must_use]
pub fn statements(recording: &Recording, node: &str) -> Vec<Statement> {
    let mut done = Vec::new();
    let mut open: BTreeMap<Key, Statement> = BTreeMap::new();
    for (tick, monitors) in (0..).zip(&recording.ticks) {
        let Some(monitor) = monitors.monitors.get(node) else {
            continue;
        };
        let accepted = monitor.calls.iter().filter(|call| call.accepted);
        // What says that nothing is known is no statement about its subject: what was said before stands.
        let known = |event: &&Observation| event.severity != Severity::Unknown;
        for event in accepted.flat_map(|call| &call.observations).filter(known) {
            let is_of_all = event.subject == Subject::Node && event.severity == Severity::Healthy;
            if is_of_all {
                // Everything that the check said before is replaced.
                open.retain(|(_, check, _), was| {
                    let goes_on = *check != event.check || was.severity == Severity::Healthy;
                    if !goes_on {
                        done.push(ended(was, tick));
                    }
                    goes_on
                });
            }
            let key = (
                event.subject.clone(),
                event.check.clone(),
                event.codes.clone(),
            );
            match open.get_mut(&key) {
                Some(was) if was.severity == event.severity => was.times += 1,
                found => {
                    if let Some(was) = found {
                        done.push(ended(was, tick));
                    }
                    let (subject, check, codes) = key.clone();
                    let now = Statement {
                        subject,
                        check,
                        codes,
                        severity: event.severity,
                        from: tick,
                        to: None,
                        times: 1,
                    };
                    open.insert(key, now);
                }
            }
        }
    }
    done.extend(open.into_values());
    done.sort_by_key(|statement| statement.from);
    done
}

fn ended(was: &Statement, tick: u64) -> Statement {
    Statement {
        to: Some(tick),
        ..was.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, MonitorTick, Tick};

    /// A recording with these statements of a check about devices, one a tick; an empty name is the whole check.
    fn recording(statements: &[(&str, Severity)]) -> Recording {
        let ticks = statements.iter().map(|(device, severity)| {
            let observation = Observation {
                subject: if device.is_empty() {
                    Subject::Node
                } else {
                    Subject::Device((*device).to_owned())
                },
                severity: *severity,
                check: Some("StateCheck".to_owned()),
                ..Observation::default()
            };
            let call = Call {
                observations: vec![observation],
                accepted: true,
                fields: Vec::new(),
                answer: "accepted".to_owned(),
            };
            let instance = MonitorTick {
                calls: vec![call],
                ..MonitorTick::default()
            };
            let mut tick = Tick::default();
            tick.insert("n".into(), instance.into());
            tick
        });
        Recording {
            ticks: ticks.collect(),
            ..Recording::default()
        }
    }

    #[track_caller]
    fn check(statements: &[(&str, Severity)], unhealthy: &[(&str, u64, Option<u64>, u32)]) {
        let said = super::statements(&recording(statements), "n");
        let faults = said.iter().filter(|it| it.severity != Severity::Healthy);
        let rendered: Vec<(&str, u64, Option<u64>, u32)> = faults
            .map(|it| (it.subject.nic().unwrap_or(""), it.from, it.to, it.times))
            .collect();
        assert_eq!(rendered, unhealthy);
    }

    const WELL: Severity = Severity::Healthy;
    const ILL: Severity = Severity::NonFatal;
    const DEAD: Severity = Severity::Fatal;

    #[test]
    fn a_statement_holds_until_another_one_about_its_subject() {
        check(
            &[("a", ILL), ("b", WELL), ("a", WELL)],
            &[("a", 0, Some(2), 1)],
        );
        check(
            &[("a", ILL), ("a", DEAD), ("b", ILL)],
            &[("a", 0, Some(1), 1), ("a", 1, None, 1), ("b", 2, None, 1)],
        );
    }

    #[test]
    fn what_is_not_known_is_neither_an_alarm_nor_an_all_clear() {
        let nobody_knows = Severity::Unknown;
        check(
            &[
                ("a", nobody_knows),
                ("a", ILL),
                ("a", nobody_knows),
                ("a", WELL),
            ],
            &[("a", 1, Some(3), 1)],
        );
    }

    #[test]
    fn what_is_stated_again_goes_on() {
        check(
            &[("a", ILL), ("a", ILL), ("a", WELL)],
            &[("a", 0, Some(2), 2)],
        );
    }

    #[test]
    fn a_whole_check_that_is_healthy_ends_all_that_it_said() {
        let all = [("a", ILL), ("b", DEAD), ("", WELL), ("a", ILL)];
        check(
            &all,
            &[
                ("a", 0, Some(2), 1),
                ("b", 1, Some(2), 1),
                ("a", 3, None, 1),
            ],
        );
    }
}
