//! Telling a scenario in a world: every handle becomes a slot, every time a tick.
//!
//! [`tell`] puts the parts together; [`crate::doing`] tells the deeds, [`crate::expecting`] the
//! expectations.

use std::collections::BTreeMap;

use platforms::yaml::Place;
use simfs::SimTime;

use crate::cluster::ClusterPlan;
use crate::doing::Doing;
use crate::error::{ScenarioError, Unfit};
use crate::expecting::Expecting;
use crate::ground::Ground;
use crate::polls::Polls;
use crate::reader::Source;
use crate::scenario::Scenario;
use crate::step::StepSaid;
use crate::story::{Expectation, Step, Story, What, Window};
use crate::workload::WorkloadSaid;

/// Polls that a story goes on after its last line, unless it says `until`.
const AFTERMATH: u64 = 2;

/// The story of a scenario on this ground.
pub(crate) fn tell(scenario: &Scenario, ground: &Ground) -> Result<Story, Unfit> {
    let source = scenario.source();
    let frame = &scenario.frame;
    let polls = Polls::new(frame.tick, &scenario.steps);
    let mut workloads = BTreeMap::new();
    for said in &frame.workloads {
        workloads.insert(said.name.clone(), said.plan(&source, ground)?);
    }
    let doing = Doing {
        source,
        ground,
        workloads: &frame.workloads,
        polls: &polls,
    };
    let mut given = Vec::new();
    for said in &scenario.given {
        let deeds = doing.deeds(&said.deed, &[])?;
        given.push(Step {
            at: SimTime::ZERO,
            place: source.place(said.deed.place),
            text: said.deed.text.clone(),
            moment: None,
            deeds,
        });
    }
    let mut steps = Vec::new();
    let mut expecting = Expecting::new(
        source,
        ground,
        &frame.workloads,
        frame.cluster.rules,
        &polls,
    );
    for said in &scenario.steps {
        for (name, place) in &said.nodes {
            known_node(&source, ground, name, *place)?;
        }
        if let Some(step) = step(&doing, said)? {
            steps.push(step);
        }
        for line in &said.expect {
            expecting.line(line, said)?;
        }
    }
    let mut expectations = expecting.finish();
    if let Some(baseline) = usual_baseline(scenario, &expectations) {
        expectations.insert(0, baseline);
    }
    let last_said = scenario
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
    let last = last_said.max(last_meant);
    let until = match frame.until {
        Some(until) => until.max(polls.at(last_meant)),
        None => polls.at(last + AFTERMATH),
    };
    Ok(Story {
        name: scenario.name(),
        title: frame.title.clone(),
        why: frame.why.clone(),
        covers: scenario.covers.clone(),
        world: ground.world.clone(),
        nodes: ground
            .nodes
            .iter()
            .map(|node| (node.name.clone(), node.platform.clone()))
            .collect(),
        chairs: ground
            .nodes
            .iter()
            .filter(|node| node.monitored)
            .map(|node| node.name.clone())
            .collect(),
        workloads,
        cluster: ClusterPlan {
            cables: ground.cables(),
            ..frame.cluster.clone()
        },
        tick: frame.tick,
        until,
        heal: frame.heal.clone(),
        checks: frame.checks,
        arms: frame.arms.clone(),
        flags: frame.flags.clone(),
        config: frame.config.clone(),
        given,
        steps,
        expectations,
        fold_quiet: frame.fold_quiet,
    })
}

/// The baseline of the first poll: expected of every story that gives nothing and does not speak of
/// the first poll itself. What follows from its events says nothing of them.
fn usual_baseline(scenario: &Scenario, told: &[Expectation]) -> Option<Expectation> {
    let first = Window { from: 0, to: 0 };
    let speaks = told
        .iter()
        .any(|expected| expected.window.from == 0 && !expected.what.is_a_consequence());
    let does = scenario
        .steps
        .iter()
        .any(|step| step.first() == SimTime::ZERO && !step.deeds.is_empty());
    let usual = scenario.given.is_empty() && !speaks && !does;
    usual.then(|| Expectation {
        place: scenario.source().place(scenario.timeline),
        text: "this_poll: baseline (of every story that says nothing of its first poll)".to_owned(),
        node: None,
        window: first,
        what: What::Baseline {
            fresh: true,
            except: Vec::new(),
            in_order: None,
        },
    })
}

/// Refuses a node that is not there.
pub(crate) fn known_node(
    source: &Source<'_>,
    ground: &Ground,
    name: &str,
    place: Place,
) -> Result<(), ScenarioError> {
    if ground.node(name).is_some() {
        return Ok(());
    }
    let wrong = source.wrong(place, format!("no node `{name}` in this world"));
    Err(match ground.sole() {
        Some(node) => wrong.hint(format!("its one node is `{}`; leave `node` out", node.name)),
        None => {
            let known = ground.nodes.iter().map(|node| node.name.as_str());
            source.unknown(place, "node", name, known)
        }
    })
}

/// Refuses a workload that the scenario does not name.
pub(crate) fn known_workload(
    source: &Source<'_>,
    workloads: &[WorkloadSaid],
    name: &str,
    place: Place,
) -> Result<(), ScenarioError> {
    let mut known = workloads.iter().map(|said| said.name.as_str());
    if known.clone().any(|known| known == name) {
        return Ok(());
    }
    if known.next().is_none() {
        return Err(source
            .wrong(place, format!("no workload `{name}` runs"))
            .hint("name it, as in `workloads: { job: { mpib: { ring: [ vm1, vm2 ] } } }`"));
    }
    let known = workloads.iter().map(|said| said.name.as_str());
    Err(source.unknown(place, "workload", name, known))
}

fn step(doing: &Doing<'_>, said: &StepSaid) -> Result<Option<Step>, Unfit> {
    let mut deeds = Vec::new();
    for line in &said.deeds {
        deeds.extend(doing.deeds(line, &said.nodes)?);
    }
    if deeds.is_empty() {
        return Ok(None);
    }
    let lines: Vec<&str> = said.deeds.iter().map(|line| line.text.as_str()).collect();
    Ok(Some(Step {
        at: said.first(),
        place: doing.source.place(said.place),
        text: lines.join("; "),
        moment: said
            .moment
            .as_ref()
            .map(|moment| doing.moment(moment))
            .transpose()?,
        deeds,
    }))
}
