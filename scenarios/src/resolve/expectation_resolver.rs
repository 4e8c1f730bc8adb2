//! Resolves the lines of `expect:` in a world: their subjects, polls and messages.

mod consequence;
mod counters;
mod events;
mod lnet;
mod subjects;
mod workload_counters;

use std::collections::BTreeMap;

use files::Place;
use platforms::{LinkLayer, NodeName};

use crate::cluster::RuleProfile;
use crate::error::Unfit;
use crate::expect::{EventSpec, ExpectLine, ExpectationSpec, Tally, WindowSpec};
use crate::polls::Polls;
use crate::reader::Source;
use crate::resolve::{known_node, known_workload};
use crate::resolved_world::{ResolvedWorld, Subject};
use crate::step::{StepSpec, When};
use crate::story::{About, Expectation, FileRef, Plan, StateFileIs, What};
use crate::values::POLLS_MAX;
use crate::workload::WorkloadSpec;

/// Collects the resolved expectations of a story.
#[derive(Debug)]
pub(crate) struct ExpectationResolver<'a> {
    source: Source<'a>,
    resolved: &'a ResolvedWorld,
    workloads: &'a [WorkloadSpec],
    /// The workloads in this world, by name.
    plans: &'a BTreeMap<String, Plan>,
    rules: RuleProfile,
    polls: &'a Polls,
    done: Vec<Expectation>,
    groups: u32,
}

/// What a nested line inherits from the lines around it.
#[derive(Clone, Debug)]
struct Around<'a> {
    step: &'a StepSpec,
    /// The nodes named by the innermost of them.
    named: &'a [(String, Place)],
    window: Option<WindowSpec>,
    only: Option<LinkLayer>,
    reported: bool,
    it: Option<usize>,
    group: Option<u32>,
    /// The text shown when it fails: the outermost line's.
    text: &'a str,
}

impl<'a> ExpectationResolver<'a> {
    /// Starts with no expectation.
    pub(crate) fn new(
        source: Source<'a>,
        resolved: &'a ResolvedWorld,
        (workloads, plans): (&'a [WorkloadSpec], &'a BTreeMap<String, Plan>),
        rules: RuleProfile,
        polls: &'a Polls,
    ) -> Self {
        Self {
            source,
            resolved,
            workloads,
            plans,
            rules,
            polls,
            done: Vec::new(),
            groups: 0,
        }
    }

    /// Resolves a line of a step and adds its expectations.
    pub(crate) fn line(&mut self, line: &ExpectLine, step: &StepSpec) -> Result<(), Unfit> {
        let window = match step.when {
            When::At(_) => None,
            When::FromTo(from, to) => Some(WindowSpec::FromTo(from, to)),
        };
        let around = Around {
            step,
            named: &step.nodes,
            window,
            only: None,
            reported: false,
            it: None,
            group: None,
            text: &line.text,
        };
        self.resolve(line, &around)
    }

    /// All expectations, in order.
    pub(crate) fn finish(self) -> Vec<Expectation> {
        self.done
    }

    fn resolve(&mut self, line: &ExpectLine, around: &Around<'_>) -> Result<(), Unfit> {
        for (name, place) in &line.nodes {
            known_node(&self.source, self.resolved, name, *place)?;
        }
        let around = Around {
            window: line.window.or(around.window),
            only: line.only.or(around.only),
            named: if line.nodes.is_empty() {
                around.named
            } else {
                &line.nodes
            },
            ..around.clone()
        };
        match &line.what {
            ExpectationSpec::Attempt(inner) => self.resolve(
                inner,
                &Around {
                    reported: true,
                    ..around
                },
            ),
            ExpectationSpec::Group(lines) => lines
                .iter()
                .try_for_each(|line| self.resolve(line, &around)),
            ExpectationSpec::InOrder(lines) => {
                self.groups += 1;
                let around = Around {
                    group: Some(self.groups),
                    ..around
                };
                lines
                    .iter()
                    .try_for_each(|line| self.resolve(line, &around))
            }
            ExpectationSpec::Each { of, tally, line } => {
                let ports = self.members(of, *tally, &around)?;
                ports.into_iter().try_for_each(|port| {
                    self.resolve(
                        line,
                        &Around {
                            it: Some(port),
                            ..around.clone()
                        },
                    )
                })
            }
            ExpectationSpec::Event(event) => self.event(line, event, &around),
            ExpectationSpec::Edges {
                of,
                tally,
                down,
                up,
                times,
                within_polls,
            } => {
                for port in self.members(of, *tally, &around)? {
                    let pattern = |event: &Option<Box<EventSpec>>| {
                        event
                            .as_ref()
                            .map(|event| self.edge(event, port).map(Box::new))
                            .transpose()
                    };
                    let what = What::FollowEdges {
                        slot: self.resolved.slot(port),
                        times: *times,
                        within_polls: *within_polls,
                        down: pattern(down)?,
                        up: pattern(up)?,
                    };
                    let node = self.resolved.node_of(port).clone();
                    self.push_of(line, &around, what, Some(node))?;
                }
                Ok(())
            }
            ExpectationSpec::Nothing(about, counter) => {
                self.known_counter(counter.as_ref())?;
                let about = match about {
                    None => Vec::new(),
                    Some(about) => {
                        let subjects = self.subjects(about, &around)?;
                        if subjects.is_empty() {
                            return Ok(());
                        }
                        subjects
                            .iter()
                            .map(|subject| self.resolved.about(subject))
                            .collect()
                    }
                };
                self.push(
                    line,
                    &around,
                    What::Nothing {
                        about,
                        counter: counter.as_ref().map(|(name, _)| name.clone()),
                        reported: around.reported,
                    },
                )
            }
            ExpectationSpec::Baseline {
                fresh,
                except,
                counter,
            } => {
                self.known_counter(counter.as_ref())?;
                let except = except.as_ref();
                let except =
                    except.map_or_else(Default::default, |of| self.resolved.find(of, around.it));
                let mut abouts = Vec::new();
                for subject in except {
                    let by_ports = counter.is_some() || matches!(subject, Subject::Named(_));
                    if by_ports {
                        let ports = self.resolved.ports_of(&subject).into_iter();
                        abouts.extend(ports.map(|port| About::Port(self.resolved.slot(port))));
                    } else {
                        abouts.push(self.resolved.about(&subject));
                    }
                }
                let in_order = self.order(&around);
                self.push(
                    line,
                    &around,
                    What::Baseline {
                        fresh: *fresh,
                        except: abouts,
                        counter: counter.as_ref().map(|(name, _)| name.clone()),
                        in_order,
                    },
                )
            }
            ExpectationSpec::Reads { file, times } => {
                for file in self.files(file, &around)? {
                    let node = match &file {
                        FileRef::Port(slot, _) => Some(slot.node.clone()),
                        FileRef::Device(node, ..) => Some(node.clone()),
                        FileRef::Path(_) | FileRef::StateFile => None,
                    };
                    let times = *times;
                    self.push_of(line, &around, What::Reads { file, times }, node)?;
                }
                Ok(())
            }
            ExpectationSpec::Stated(what) => self.push(line, &around, what.clone()),
            ExpectationSpec::Metric { name, labels, is } => {
                let filled = labels
                    .iter()
                    .map(|(name, text)| (name.clone(), self.message(text, around.it)));
                let what = What::Metric {
                    name: name.clone(),
                    labels: filled.collect(),
                    is: *is,
                };
                self.push(line, &around, what)
            }
            ExpectationSpec::Link { of, here, there } => {
                for port in self.members(of, Tally::default(), &around)? {
                    let what = What::Link {
                        slot: self.resolved.slot(port),
                        here: here.clone(),
                        there: there.clone(),
                    };
                    let node = self.resolved.node_of(port).clone();
                    self.push_of(line, &around, what, Some(node))?;
                }
                Ok(())
            }
            ExpectationSpec::Lnet(spec) => {
                let what = What::Lnet(self.lnet(spec, line, &around)?);
                self.push_of(line, &around, what, None)
            }
            ExpectationSpec::Count(spec) => {
                let what = What::Count(self.count(spec, line, &around)?);
                self.push_of(line, &around, what, None)
            }
            ExpectationSpec::Workload(is) => {
                known_workload(&self.source, self.workloads, &is.workload, line.place)?;
                // `between` is about the instant of the failure; it is checked in the first poll
                // after the range.
                let looked = |(_, to)| self.polls.at(self.polls.tick_at(to));
                let window = is.failed.map(looked).map(WindowSpec::ExactlyAt);
                let around = Around {
                    window: window.or(around.window),
                    ..around
                };
                self.push(line, &around, What::Workload(is.clone()))
            }
            ExpectationSpec::Verdict { of, lead } => {
                for (workload, place, verdict) in of {
                    known_workload(&self.source, self.workloads, workload, *place)?;
                    let what = What::Verdict {
                        workload: workload.clone(),
                        verdict: *verdict,
                        lead: *lead,
                    };
                    self.push(line, &around, what)?;
                }
                Ok(())
            }
            ExpectationSpec::Condition(spec) => self.condition(spec, line, &around),
            ExpectationSpec::Rule(spec) => self.rule(spec, line, &around),
        }
    }

    /// The next position in the current ordered group.
    fn order(&self, around: &Around<'_>) -> Option<(u32, u32)> {
        let group = around.group?;
        let before = self
            .done
            .iter()
            .filter(|expectation| match &expectation.what {
                What::Say { in_order, .. } | What::Baseline { in_order, .. } => {
                    in_order.is_some_and(|(other, _)| other == group)
                }
                _ => false,
            });
        Some((group, u32::try_from(before.count()).unwrap_or(u32::MAX)))
    }

    /// Adds an expectation for every node that is named, or for all.
    fn push(&mut self, line: &ExpectLine, around: &Around<'_>, what: What) -> Result<(), Unfit> {
        self.push_of(line, around, what, None)
    }

    /// Adds an expectation for the node of its subject, if it has one.
    fn push_of(
        &mut self,
        line: &ExpectLine,
        around: &Around<'_>,
        what: What,
        about: Option<NodeName>,
    ) -> Result<(), Unfit> {
        let named = || around.named.iter().map(|(name, _)| name.as_str());
        let nodes: Vec<Option<NodeName>> = match about {
            Some(_) if around.named.is_empty() && self.resolved.sole().is_some() => vec![None],
            Some(node) => vec![Some(node)],
            None if around.named.is_empty() => vec![None],
            None => named().map(|name| Some(NodeName::from(name))).collect(),
        };
        let silent = |node: &NodeName| {
            self.resolved
                .node(node.as_str())
                .is_some_and(|node| !node.monitored)
        };
        if !what.is_of_the_world()
            && let Some(node) = nodes.iter().flatten().find(|node| silent(node))
        {
            return Err(self
                .source
                .wrong(line.place, format!("no monitor runs on `{node}`"))
                .hint("`monitors` and the world's file state which nodes run one")
                .into());
        }
        let stated_at = around.step.first();
        let window = self.polls.window(around.window, stated_at).ok_or_else(|| {
            self.source
                .wrong(line.place, "no poll is in this window")
                .hint("a poll happens at each whole tick")
        })?;
        if window.to > u64::from(POLLS_MAX) {
            let what = format!(
                "the window ends at tick {}, at most {POLLS_MAX} are played",
                window.to
            );
            return Err(self
                .source
                .wrong(line.place, what)
                .hint("end it earlier, or write a longer `tick`; polls that a reboot, restart or pause leaves out count too")
                .into());
        }
        if matches!(what, What::StateFile(StateFileIs::Unchanged)) && window.from == window.to {
            return Err(self
                .source
                .wrong(
                    line.place,
                    "the state file at one poll is compared with itself",
                )
                .hint("write the polls between which it stays: `from: …, to: …`")
                .into());
        }
        for node in nodes {
            self.done.push(Expectation {
                place: self.source.place(line.place),
                text: around.text.to_owned(),
                node,
                window,
                what: what.clone(),
            });
        }
        Ok(())
    }
}
