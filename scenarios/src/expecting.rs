//! Telling what is expected: whom a line is about, in which polls, with which message.

mod consequence;
mod event;
mod lnet;
mod subjects;

use platforms::yaml::Place;
use platforms::{LinkLayer, NodeName};

use crate::cluster::RuleProfile;
use crate::error::Unfit;
use crate::expect::{EventSaid, ExpectLine, ExpectSaid, Tally, WindowSaid};
use crate::ground::Ground;
use crate::polls::Polls;
use crate::reader::Source;
use crate::step::{StepSaid, When};
use crate::story::{Expectation, FileRef, What};
use crate::telling::{known_node, known_workload};
use crate::workload::WorkloadSaid;

/// The expectations of a story in the making.
#[derive(Debug)]
pub(crate) struct Expecting<'a> {
    source: Source<'a>,
    ground: &'a Ground,
    workloads: &'a [WorkloadSaid],
    rules: RuleProfile,
    polls: &'a Polls,
    told: Vec<Expectation>,
    groups: u32,
}

/// What a line has from the lines around it.
#[derive(Clone, Debug)]
struct Around<'a> {
    step: &'a StepSaid,
    /// The nodes that the innermost of them names.
    named: &'a [(String, Place)],
    window: Option<WindowSaid>,
    only: Option<LinkLayer>,
    said: bool,
    it: Option<usize>,
    group: Option<u32>,
    /// The text that a failure shows: the outermost line's.
    text: &'a str,
}

impl<'a> Expecting<'a> {
    /// Nothing expected yet.
    pub(crate) fn new(
        source: Source<'a>,
        ground: &'a Ground,
        workloads: &'a [WorkloadSaid],
        rules: RuleProfile,
        polls: &'a Polls,
    ) -> Self {
        Self {
            source,
            ground,
            workloads,
            rules,
            polls,
            told: Vec::new(),
            groups: 0,
        }
    }

    /// What a line of a step expects.
    pub(crate) fn line(&mut self, line: &ExpectLine, step: &StepSaid) -> Result<(), Unfit> {
        let window = match step.when {
            When::At(_) => None,
            When::FromTo(from, to) => Some(WindowSaid::FromTo(from, to)),
        };
        let around = Around {
            step,
            named: &step.nodes,
            window,
            only: None,
            said: false,
            it: None,
            group: None,
            text: &line.text,
        };
        self.tell(line, &around)
    }

    /// Everything told, in order.
    pub(crate) fn finish(self) -> Vec<Expectation> {
        self.told
    }

    fn tell(&mut self, line: &ExpectLine, around: &Around<'_>) -> Result<(), Unfit> {
        for (name, place) in &line.nodes {
            known_node(&self.source, self.ground, name, *place)?;
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
            ExpectSaid::Said(inner) => self.tell(
                inner,
                &Around {
                    said: true,
                    ..around
                },
            ),
            ExpectSaid::Group(lines) => lines.iter().try_for_each(|line| self.tell(line, &around)),
            ExpectSaid::InOrder(lines) => {
                self.groups += 1;
                let around = Around {
                    group: Some(self.groups),
                    ..around
                };
                lines.iter().try_for_each(|line| self.tell(line, &around))
            }
            ExpectSaid::Each { of, tally, line } => {
                let ports = self.members(of, *tally, &around)?;
                ports.into_iter().try_for_each(|port| {
                    self.tell(
                        line,
                        &Around {
                            it: Some(port),
                            ..around.clone()
                        },
                    )
                })
            }
            ExpectSaid::Event(event) => self.event(line, event, &around),
            ExpectSaid::Edges {
                of,
                tally,
                down,
                up,
                times,
                within_polls,
            } => {
                for port in self.members(of, *tally, &around)? {
                    let pattern = |event: &Option<Box<EventSaid>>| {
                        event
                            .as_ref()
                            .map(|event| self.edge(event, port).map(Box::new))
                            .transpose()
                    };
                    let what = What::FollowEdges {
                        slot: self.ground.slot(port),
                        times: *times,
                        within_polls: *within_polls,
                        down: pattern(down)?,
                        up: pattern(up)?,
                    };
                    let node = self.ground.node_of(port).clone();
                    self.push_of(line, &around, what, Some(node))?;
                }
                Ok(())
            }
            ExpectSaid::Nothing(about) => {
                let about = match about {
                    None => Vec::new(),
                    Some(about) => {
                        let subjects = self.subjects(about, &around);
                        if subjects.is_empty() {
                            return Ok(());
                        }
                        subjects
                            .iter()
                            .map(|subject| self.ground.about(subject))
                            .collect()
                    }
                };
                self.push(
                    line,
                    &around,
                    What::Nothing {
                        about,
                        said: around.said,
                    },
                )
            }
            ExpectSaid::Baseline { fresh, except } => {
                let except = except
                    .as_ref()
                    .map(|of| self.ground.find_ports(of, around.it));
                let except = except.unwrap_or_default();
                let except = except
                    .into_iter()
                    .map(|port| self.ground.slot(port))
                    .collect();
                let in_order = self.order(&around);
                self.push(
                    line,
                    &around,
                    What::Baseline {
                        fresh: *fresh,
                        except,
                        in_order,
                    },
                )
            }
            ExpectSaid::Reads { file, times } => {
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
            ExpectSaid::Exit(code) => self.push(line, &around, What::Exit { code: *code }),
            ExpectSaid::Log(text) => self.push(
                line,
                &around,
                What::Log {
                    contains: text.clone(),
                },
            ),
            ExpectSaid::NoLog(text) => self.push(
                line,
                &around,
                What::NoLog {
                    contains: text.clone(),
                },
            ),
            ExpectSaid::Polls(count) => self.push(line, &around, What::Polls(*count)),
            ExpectSaid::Calls(count) => self.push(line, &around, What::Calls { count: *count }),
            ExpectSaid::StateFile(is) => self.push(line, &around, What::StateFile(is.clone())),
            ExpectSaid::Metric { name, labels, is } => {
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
            ExpectSaid::Healthz(status) => {
                self.push(line, &around, What::Healthz { status: *status })
            }
            ExpectSaid::Link { of, here, there } => {
                for port in self.members(of, Tally::default(), &around)? {
                    let what = What::Link {
                        slot: self.ground.slot(port),
                        here: here.clone(),
                        there: there.clone(),
                    };
                    let node = self.ground.node_of(port).clone();
                    self.push_of(line, &around, what, Some(node))?;
                }
                Ok(())
            }
            ExpectSaid::Lnet(said) => {
                let what = What::Lnet(self.lnet(said, line, &around)?);
                self.push_of(line, &around, what, None)
            }
            ExpectSaid::Workload(is) => {
                known_workload(&self.source, self.workloads, &is.workload, line.place)?;
                // Its instants are the workload's own; it is looked at in the first poll after them.
                let looked = |(_, to)| self.polls.at(self.polls.tick_at(to));
                let window = is.failed.map(looked).map(WindowSaid::ExactlyAt);
                let around = Around {
                    window: window.or(around.window),
                    ..around
                };
                self.push(line, &around, What::Workload(is.clone()))
            }
            ExpectSaid::Verdict { of, lead } => {
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
            ExpectSaid::Condition(said) => self.condition(said, line, &around),
            ExpectSaid::Cordoned(stands) => self.push(line, &around, What::Cordoned(*stands)),
            ExpectSaid::Uncordoned(is) => self.push(line, &around, What::Uncordoned(*is)),
            ExpectSaid::Rule(said) => self.rule(said, line, &around),
            ExpectSaid::RulesSilent => self.push(line, &around, What::RulesSilent),
            ExpectSaid::StuckInKernel => self.push(line, &around, What::StuckInKernel),
        }
    }

    /// The next place in the order at hand.
    fn order(&self, around: &Around<'_>) -> Option<(u32, u32)> {
        let group = around.group?;
        let before = self.told.iter().filter(|told| match &told.what {
            What::Say { in_order, .. } | What::Baseline { in_order, .. } => {
                in_order.is_some_and(|(other, _)| other == group)
            }
            _ => false,
        });
        Some((group, u32::try_from(before.count()).unwrap_or(u32::MAX)))
    }

    /// Expects something of every node that is named, or of all.
    fn push(&mut self, line: &ExpectLine, around: &Around<'_>, what: What) -> Result<(), Unfit> {
        self.push_of(line, around, what, None)
    }

    /// Expects something of the node that it is about, if it is about one.
    fn push_of(
        &mut self,
        line: &ExpectLine,
        around: &Around<'_>,
        what: What,
        about: Option<NodeName>,
    ) -> Result<(), Unfit> {
        let named = || around.named.iter().map(|(name, _)| name.as_str());
        let nodes: Vec<Option<NodeName>> = match about {
            Some(_) if around.named.is_empty() && self.ground.sole().is_some() => vec![None],
            Some(node) => vec![Some(node)],
            None if around.named.is_empty() => vec![None],
            None => named().map(|name| Some(NodeName::from(name))).collect(),
        };
        let silent = |node: &NodeName| {
            self.ground
                .node(node.as_str())
                .is_some_and(|node| !node.monitored)
        };
        if !what.is_of_the_world()
            && let Some(node) = nodes.iter().flatten().find(|node| silent(node))
        {
            return Err(self
                .source
                .wrong(line.place, format!("no monitor sits on `{node}`"))
                .hint("`chairs` and the world's file say where one does; nobody else can say or do this")
                .into());
        }
        let said_at = around.step.first();
        let window = self.polls.window(around.window, said_at).ok_or_else(|| {
            self.source
                .wrong(line.place, "no poll is in this window")
                .hint("a poll happens at each whole tick")
        })?;
        for node in nodes {
            self.told.push(Expectation {
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
