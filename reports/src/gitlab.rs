//! A run as a code quality report of GitLab. Start at [`gitlab`].
//!
//! The form is GitLab Docs, "Code Quality", "Import Code Quality results from a CI/CD job", "Code Quality report format".

use std::collections::BTreeSet;

use serde::Serialize;
use terms::EventField;

use crate::{
    Cause, CauseKind, FindingKind, Group, RunReport, groups,
    json::json_output,
    repository::{Repository, split},
    run_fault::RunFault,
};

/// An issue as GitLab reads it.
#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: String,
    /// Equal for the same finding in each run: GitLab compares those of two branches.
    fingerprint: String,
    severity: Severity,
    location: Location,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Info,
    Major,
    Critical,
    Blocker,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u64,
}

/// The run's findings as JSON, an issue for each id, and one for each thing else that makes the run red; `[]` for a run without
/// any.
///
/// GitLab demands a path: a finding in a scenario that is built in has that of the monitor's descriptor, and without one in
/// the repository the scenario's name.
#[must_use]
pub fn gitlab(run: &RunReport, repository: &Repository) -> String {
    let faults = RunFault::all(run);
    let of_run = faults.iter().map(|fault| of_run(run, fault, repository));
    let mut issues: Vec<Issue> = of_run.collect();
    for group in groups(&run.drills) {
        for id in &group.ids {
            issues.push(issue(run, &group, id, repository));
        }
    }
    json_output(&issues)
}

fn of_run(run: &RunReport, fault: &RunFault, repository: &Repository) -> Issue {
    let descriptor = run.plan.descriptor.as_deref();
    let named = repository
        .place(&fault.place)
        .or_else(|| repository.place(descriptor?));
    let (path, begin) = match named {
        Some(place) => (place.path.to_owned(), place.line),
        None => (descriptor.unwrap_or(&run.plan.monitor).to_owned(), 1),
    };
    Issue {
        description: format!("{}: {}", fault.title, fault.text),
        check_name: fault.name.clone(),
        fingerprint: format!("{}#{}", fault.name, fault.code),
        severity: Severity::Blocker,
        location: Location {
            path,
            lines: Lines { begin },
        },
    }
}

fn issue(run: &RunReport, group: &Group, id: &str, repository: &Repository) -> Issue {
    let scenario = id.rsplit_once('#').map_or(id, |(scenario, _)| scenario);
    let drills = run
        .drills
        .iter()
        .filter(|drill| drill.drill.scenario == scenario && group.drills.contains(&drill.drill));
    // The drills of a scenario have one file; the line is that of the first of them by name.
    let first = drills.min_by_key(|drill| &drill.drill);
    let finding = first.and_then(|drill| {
        let mut findings = drill.findings.iter();
        findings.find(|finding| finding.cause == group.cause && finding.excuse == group.excuse)
    });
    let line = finding.and_then(|finding| finding.line.as_ref());
    let file = first.map_or("", |drill| drill.file.as_str());
    let place = line.map_or(file, |line| line.place.as_str());
    let named = repository
        .place(place)
        .or_else(|| repository.place(run.plan.descriptor.as_deref()?));
    let (path, begin) = match named {
        Some(place) => (place.path.to_owned(), place.line),
        None => {
            let (file, numbers) = split(place);
            (file.to_owned(), numbers.first().copied().unwrap_or(1))
        }
    };
    let worlds: BTreeSet<&str> = group
        .drills
        .iter()
        .filter(|drill| drill.scenario == scenario)
        .map(|drill| drill.world.as_str())
        .collect();
    let worlds: Vec<&str> = worlds.into_iter().collect();
    Issue {
        description: format!("{}: {scenario} on {}", group.headline, worlds.join(", ")),
        check_name: group.cause.to_string(),
        fingerprint: id.to_owned(),
        severity: severity(group),
        location: Location {
            path,
            lines: Lines { begin },
        },
    }
}

/// How bad a group is: what stops a monitor or a run blocks, what nobody would hear of, or not as it is, is critical.
fn severity(group: &Group) -> Severity {
    if group.excuse.is_some() {
        return Severity::Info;
    }
    match group.first.finding.kind {
        FindingKind::Crashed
        | FindingKind::Hung
        | FindingKind::Excess
        | FindingKind::StuckInKernel
        | FindingKind::SocketTampered
        | FindingKind::Stage
        | FindingKind::Fault => Severity::Blocker,
        _ if is_unheard(group.cause) => Severity::Critical,
        _ => Severity::Major,
    }
}

/// Whether an event did not come, was lost, came with another severity, or named something else.
fn is_unheard(cause: Cause) -> bool {
    match cause.kind {
        CauseKind::Missed | CauseKind::NotDelivered => true,
        CauseKind::Differs => matches!(
            cause.field,
            None | Some(EventField::Severity | EventField::Entities)
        ),
        _ => false,
    }
}
