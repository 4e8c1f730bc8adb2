//! Expectations that are not about single events: exits, log lines, numbers, the state file, silence, links, workloads,
//! the cluster. Each is one file, with how it is judged, made false for `suite check`, told and drawn. Start at [`Fact`].

mod calls;
mod condition;
mod cordon;
mod count;
mod exit;
mod fact;
mod healthz;
mod link;
mod lnet;
mod log;
mod metric;
mod polls;
mod reads;
mod rule;
mod silence;
mod stands;
mod state_file;
mod stuck;
mod verdict;
mod workload;

use scenarios::What;

use crate::{demands::is_meant, reasons};

pub(crate) use fact::{Fact, FactLane, Outcome, Scene};
pub(crate) use link::shown as shown_end;
pub(crate) use silence::Silence;
pub(crate) use stands::stands;
pub use verdict::{WorkloadVerdict, verdict_on};

/// The fact that an expectation states; `None` if it is about single events.
pub(crate) fn fact(what: &What) -> Option<Box<dyn Fact + '_>> {
    Some(match what {
        What::Say { .. } | What::FollowEdges { .. } | What::Baseline { .. } => return None,
        What::Nothing { .. } => Box::new(silence(what)?),
        What::Exit { code } => Box::new(exit::ExitsWith(*code)),
        What::Log { contains } => Box::new(log::Logged(contains)),
        What::NoLog { contains } => Box::new(log::NotLogged(contains)),
        What::Polls(count) => Box::new(polls::Polls(*count)),
        What::Calls { count } => Box::new(calls::Calls(*count)),
        What::StateFile(is) => Box::new(state_file::StateFile(is)),
        What::Reads { file, times } => Box::new(reads::Reads(file, *times)),
        What::Metric { name, labels, is } => Box::new(metric::Metric {
            name,
            labels,
            is: *is,
        }),
        What::Healthz { status } => Box::new(healthz::Healthz(*status)),
        What::Link { slot, here, there } => Box::new(link::Link { slot, here, there }),
        What::Lnet(is) => Box::new(lnet::Lnet(is)),
        What::Count(is) => Box::new(count::Count(is)),
        What::Workload(is) => Box::new(workload::Workload(is)),
        What::Verdict {
            workload,
            verdict,
            lead,
        } => Box::new(verdict::Verdict {
            workload,
            verdict: *verdict,
            lead: *lead,
        }),
        What::Condition(is) => Box::new(condition::Condition(is)),
        What::Cordoned(stands) => Box::new(cordon::Cordoned(*stands)),
        What::Uncordoned(is) => Box::new(cordon::Released(*is)),
        What::Rule(is) => Box::new(rule::Rule(is)),
        What::RulesSilent => Box::new(rule::RulesSilent),
        What::StuckInKernel => Box::new(stuck::StuckInKernel),
    })
}

/// The silence that an expectation states; `None` if it states another fact.
pub(crate) fn silence(what: &What) -> Option<Silence<'_>> {
    match what {
        What::Nothing {
            about,
            counter,
            reported,
        } => Some(Silence {
            about,
            counter: counter.as_deref(),
            attempts: *reported,
        }),
        _ => None,
    }
}

/// The result of a fact on a node; `None` if the expectation is about single events, or not about this node.
pub(crate) fn standing(scene: &Scene<'_>) -> Option<Outcome> {
    if !is_meant(scene.expectation, scene.node) {
        return None;
    }
    let fact = fact(&scene.expectation.what)?;
    let is_deaf = fact.kind().needs_connector && !scene.recording.protocol.has_connector();
    let reason = match is_deaf {
        true => Some(reasons::NO_CONNECTOR),
        false => fact.not_judged(scene),
    };
    Some(match reason {
        Some(reason) => Outcome::NotJudged(reason),
        None => fact.outcome(scene),
    })
}

#[cfg(test)]
pub(crate) mod tests;
