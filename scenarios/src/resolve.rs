//! Resolves a scenario for a world: every handle becomes a slot, every time a tick.
//!
//! [`resolve`] combines the parts; [`action_resolver`] resolves the lines of `do:`,
//! [`expectation_resolver`] those of `expect:`.

pub(crate) mod action_resolver;
pub(crate) mod expectation_resolver;
mod shown;

use std::collections::BTreeMap;

use files::{Mistakes, Place};
use platforms::{NodeName, SlotRef};
use simfs::SimTime;

use crate::cluster::ClusterPlan;
use crate::duration::parse;
use crate::error::{ScenarioError, Unfit};
use crate::frame::Frame;
use crate::polls::Polls;
use crate::reader::Source;
use crate::resolve::action_resolver::ActionResolver;
use crate::resolve::expectation_resolver::ExpectationResolver;
use crate::resolved_world::ResolvedWorld;
use crate::scenario::Scenario;
use crate::step::StepSpec;
use crate::story::{ChecksRun, Expectation, Heal, Step, Story, USUAL_FIRST_POLL, What, Window};
use crate::subject::Subjects;
use crate::values::NODE_TICKS_MAX;
use crate::workload::WorkloadSpec;

/// Number of polls that a story without `until` continues after its last line.
const AFTERMATH: u64 = 2;

/// Resolves a scenario for this world.
pub(crate) fn resolve(scenario: &Scenario, resolved: &ResolvedWorld) -> Result<Story, Unfit> {
    let source = scenario.source();
    let frame = &scenario.frame;
    let polls = Polls::new(frame.ticks, &scenario.steps);
    let mut workloads = BTreeMap::new();
    for spec in &frame.workloads {
        workloads.insert(spec.name.clone(), spec.plan(&source, resolved)?);
    }
    let resolver = ActionResolver {
        source,
        resolved,
        workloads: &frame.workloads,
        plans: &workloads,
        polls: &polls,
    };
    let mut given = Vec::new();
    for spec in &scenario.given {
        let actions = resolver.actions(&spec.action, &[])?;
        given.push(Step {
            at: SimTime::ZERO,
            place: source.place(spec.action.place),
            text: spec.action.text.clone(),
            moment: None,
            actions,
        });
    }
    let mut steps = Vec::new();
    let mut expectations = ExpectationResolver::new(
        source,
        resolved,
        (&frame.workloads, &workloads),
        frame.cluster.rules,
        &polls,
    );
    let mut mistakes = Mistakes::default();
    for spec in &scenario.steps {
        let named = spec.nodes.iter();
        let named = named.map(|(name, place)| known_node(&source, resolved, name, *place));
        if mistakes.take(Mistakes::in_all(named)).is_none() {
            continue;
        }
        let of_spec = Unfit::noted(step(&resolver, spec), &mut mistakes)?;
        steps.extend(of_spec.flatten());
        for line in &spec.expect {
            Unfit::noted(expectations.line(line, spec), &mut mistakes)?;
        }
    }
    mistakes.or(Some(()))?;
    let mut expectations = expectations.finish();
    if let Some(baseline) = usual_baseline(scenario, &expectations) {
        expectations.insert(0, baseline);
    }
    let last_stated = scenario
        .steps
        .iter()
        .map(|step| polls.tick_at(step.last()))
        .max()
        .unwrap_or(0);
    let last_meant = expectations
        .iter()
        .map(|expected| expected.window.to)
        .max()
        .unwrap_or(0);
    let last = last_stated.max(last_meant);
    let until = match frame.until {
        Some(until) => until.max(polls.at(last_meant)),
        None => polls.at(last + AFTERMATH),
    };
    let (nodes, ticks) = (
        resolved.nodes.len() as u64,
        frame.ticks.last_until(until) + 1,
    );
    if nodes * ticks > NODE_TICKS_MAX {
        let what = format!(
            "{nodes} nodes play {ticks} ticks each, at most {NODE_TICKS_MAX} in all are played"
        );
        return Err(source
            .wrong(scenario.timeline, what)
            .hint("end earlier, write a longer `tick`, or take a smaller world")
            .into());
    }
    let story = Story {
        name: scenario.name(),
        title: frame.title.clone(),
        why: frame.why.clone(),
        covers: scenario.covers.clone(),
        world: resolved.world.clone(),
        nodes: resolved
            .nodes
            .iter()
            .map(|node| (node.name.clone(), node.platform.clone()))
            .collect(),
        monitors: resolved
            .nodes
            .iter()
            .filter(|node| node.monitored)
            .map(|node| node.name.clone())
            .collect(),
        workloads,
        cluster: ClusterPlan {
            cables: resolved.cables(),
            ..frame.cluster.clone()
        },
        ticks: frame.ticks,
        until,
        heal: healing(frame),
        checks: frame.checks,
        arms: frame.arms.clone(),
        flags: frame.flags.clone(),
        config: frame.config.clone(),
        given,
        steps,
        expectations,
        fold_quiet: frame.fold_quiet,
    };
    match shown::hidden(&story, resolved) {
        Some(reason) => Err(Unfit::lacks(reason)),
        None => Ok(story),
    }
}

/// How the world is healed: a poll of a monitor whose flags state a longer interval is that long.
fn healing(frame: &Frame) -> Heal {
    let Heal::Within { polls, .. } = &frame.heal else {
        return frame.heal.clone();
    };
    let kinds = [
        ("--state-polling-interval", ChecksRun::State),
        ("--counter-polling-interval", ChecksRun::Counters),
    ];
    let runs = |kind: ChecksRun| frame.checks == kind || frame.checks == ChecksRun::All;
    let stated = kinds.iter().filter(|(_, kind)| runs(*kind));
    let ticks = stated.filter_map(|(flag, _)| {
        let interval = parse(flag_value(&frame.flags, flag)?)?;
        Some(frame.ticks.covering(interval))
    });
    Heal::Within {
        polls: *polls,
        every: ticks.max().unwrap_or(1).max(1),
    }
}

/// The value of the last flag of this name.
fn flag_value<'f>(flags: &'f [String], name: &str) -> Option<&'f str> {
    let values = flags.iter().rev();
    let mut values = values.filter_map(|flag| flag.strip_prefix(name)?.strip_prefix('='));
    values.next()
}

/// The baseline of the first poll. It is expected in every story without `given`, without an action
/// at time zero, and without an expectation that starts at the first poll (other than expectations
/// on the cluster).
fn usual_baseline(scenario: &Scenario, expectations: &[Expectation]) -> Option<Expectation> {
    let first = Window { from: 0, to: 0 };
    let speaks = expectations
        .iter()
        .any(|expected| expected.window.from == 0 && !expected.what.is_a_consequence());
    let does = scenario
        .steps
        .iter()
        .any(|step| step.first() == SimTime::ZERO && !step.actions.is_empty());
    let usual = scenario.given.is_empty() && !speaks && !does;
    usual.then(|| Expectation {
        place: scenario.source().place(scenario.timeline),
        text: USUAL_FIRST_POLL.to_owned(),
        node: None,
        window: first,
        what: What::Baseline {
            fresh: true,
            except: Vec::new(),
            counter: None,
            in_order: None,
        },
    })
}

/// Rejects an unknown node.
pub(crate) fn known_node(
    source: &Source<'_>,
    resolved: &ResolvedWorld,
    name: &str,
    place: Place,
) -> Result<(), ScenarioError> {
    if resolved.node(name).is_some() {
        return Ok(());
    }
    let wrong = source.wrong(place, format!("no node `{name}` in this world"));
    Err(match resolved.sole() {
        Some(node) => wrong.hint(format!("its one node is `{}`; leave `node` out", node.name)),
        None => {
            let known = resolved.nodes.iter().map(|node| node.name.as_str());
            source.unknown(place, "node", name, known)
        }
    })
}

/// Rejects a workload that the scenario does not declare.
pub(crate) fn known_workload(
    source: &Source<'_>,
    workloads: &[WorkloadSpec],
    name: &str,
    place: Place,
) -> Result<(), ScenarioError> {
    let mut known = workloads.iter().map(|spec| spec.name.as_str());
    if known.clone().any(|known| known == name) {
        return Ok(());
    }
    if known.next().is_none() {
        return Err(source
            .wrong(place, format!("no workload `{name}` runs"))
            .hint("name it, as in `workloads: { job: { mpib: { ring: [ vm1, vm2 ] } } }`"));
    }
    let known = workloads.iter().map(|spec| spec.name.as_str());
    Err(source.unknown(place, "workload", name, known))
}

/// The one port of an LNet interface, and the node whose view of it is meant: the one that is named, or the port's own.
/// `peers` states that the interface is another node's.
pub(crate) fn lnet_interface(
    source: &Source<'_>,
    resolved: &ResolvedWorld,
    (peers, of, it): (bool, &Subjects, Option<usize>),
    (named, place): (&[(String, Place)], Place),
) -> Result<(NodeName, SlotRef), ScenarioError> {
    let ports = resolved.find_ports(of, it);
    let [port] = ports[..] else {
        let what = format!("one port is meant here, this names {}", ports.len());
        return Err(source.wrong(of.place, what));
    };
    let own = resolved.node_of(port);
    let seen_from = match named {
        [] if !peers => own.clone(),
        [(node, _)] => NodeName::from(node.as_str()),
        _ => {
            let wrong = source.wrong(place, "the view of which node?");
            return Err(wrong.hint("write `node: …`"));
        }
    };
    if (seen_from != *own) != peers {
        let what = format!("the port is on `{own}`, seen from `{seen_from}`");
        let hint = "`ni` is a node's own interface, `peer_ni` another's";
        return Err(source.wrong(place, what).hint(hint));
    }
    Ok((seen_from, resolved.slot(port)))
}

fn step(resolver: &ActionResolver<'_>, spec: &StepSpec) -> Result<Option<Step>, Unfit> {
    let mut actions = Vec::new();
    for line in &spec.actions {
        actions.extend(resolver.actions(line, &spec.nodes)?);
    }
    if actions.is_empty() {
        return Ok(None);
    }
    let lines: Vec<&str> = spec.actions.iter().map(|line| line.text.as_str()).collect();
    Ok(Some(Step {
        at: spec.first(),
        place: resolver.source.place(spec.place),
        text: lines.join("; "),
        moment: spec
            .moment
            .as_ref()
            .map(|moment| resolver.moment(moment))
            .transpose()?,
        actions,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(flags: &[&str], value: Option<&str>) {
        let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
        assert_eq!(flag_value(&flags, "--state-polling-interval"), value);
    }

    #[test]
    fn the_last_flag_of_a_name_counts() {
        let flag = |value: &str| format!("--state-polling-interval={value}");
        check(&[], None);
        check(&[&flag("5s"), "--verbose"], Some("5s"));
        check(&[&flag("5s"), &flag("2s")], Some("2s"));
        check(&["--state-polling-intervals=5s"], None);
    }
}
