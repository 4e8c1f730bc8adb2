//! Telling what is expected: whom a line is about, in which polls, with which message.

use std::collections::{BTreeMap, BTreeSet};

use platforms::LinkLayer;

use crate::error::Unfit;
use crate::expect::{Distinct, EventSaid, ExpectLine, ExpectSaid, Tally, WindowSaid};
use crate::ground::{Ground, Subject};
use crate::message::{self, Part};
use crate::polls::Polls;
use crate::reader::Source;
use crate::step::{StepSaid, When};
use crate::story::{EventPattern, Expectation, FileRef, Times, What};
use crate::subject::{FileSaid, Subjects};
use crate::telling::same_node;

/// The expectations of a story in the making.
#[derive(Debug)]
pub(crate) struct Expecting<'a> {
    source: Source<'a>,
    ground: &'a Ground,
    polls: &'a Polls,
    told: Vec<Expectation>,
    groups: u32,
}

/// What a line has from the lines around it.
#[derive(Clone, Debug)]
struct Around<'a> {
    step: &'a StepSaid,
    /// Whether any of them names the node.
    named: bool,
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
    pub(crate) fn new(source: Source<'a>, ground: &'a Ground, polls: &'a Polls) -> Self {
        Self {
            source,
            ground,
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
            named: !step.nodes.is_empty(),
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
            same_node(&self.source, &self.ground.node, name, *place)?;
        }
        let around = Around {
            window: line.window.or(around.window),
            only: line.only.or(around.only),
            named: around.named || !line.nodes.is_empty(),
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
                    self.push(line, &around, what)?;
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
                    self.push(
                        line,
                        &around,
                        What::Reads {
                            file,
                            times: *times,
                        },
                    )?;
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
                    self.push(line, &around, what)?;
                }
                Ok(())
            }
            ExpectSaid::StuckInKernel => self.push(line, &around, What::StuckInKernel),
        }
    }

    fn event(
        &mut self,
        line: &ExpectLine,
        event: &EventSaid,
        around: &Around<'_>,
    ) -> Result<(), Unfit> {
        let subjects = self.subjects(&event.of, around);
        self.tallied(&subjects, event.tally)?;
        let default = Times {
            at_least: 1,
            at_most: if around.said { u32::MAX } else { 1 },
        };
        for subject in subjects {
            let what = What::Say {
                event: self.pattern(event, &subject, around.it)?,
                times: event.times.unwrap_or(default),
                said: around.said,
                in_order: self.order(around),
            };
            self.push(line, around, what)?;
        }
        Ok(())
    }

    /// The event at an edge of a port: about the port, or what is named through `it`.
    fn edge(&self, event: &EventSaid, port: usize) -> Result<EventPattern, Unfit> {
        match &self.ground.find(&event.of, Some(port))[..] {
            [subject] => self.pattern(event, subject, Some(port)),
            _ => Err(self
                .source
                .wrong(event.of.place, "one subject is meant at an edge")
                .hint("write `it`")
                .into()),
        }
    }

    fn pattern(
        &self,
        event: &EventSaid,
        subject: &Subject,
        it: Option<usize>,
    ) -> Result<EventPattern, Unfit> {
        let about = if event.clears {
            self.ground.about_at_rest(subject)
        } else {
            self.ground.about(subject)
        };
        let mut message = BTreeMap::new();
        for (layer, (text, _)) in &event.message {
            message.insert(*layer, self.message(text, it));
        }
        Ok(EventPattern {
            tone: event.tone,
            about,
            check: event.check.clone(),
            message,
            stamped_from: event.stamped_from,
            stamped_to: event.stamped_to,
            error_codes: event.codes.clone(),
            counter: event.counter.clone(),
        })
    }

    /// A message with the placeholders of handles filled in.
    fn message(&self, text: &str, it: Option<usize>) -> String {
        let mut told = String::new();
        for part in message::parts(text) {
            match part {
                Part::Text(text) => told += text,
                Part::Own(field) => told += &format!("{{{field}}}"),
                Part::Of("it", field) => {
                    told += &it
                        .map(|port| self.ground.ports[port].told(field))
                        .unwrap_or_default();
                }
                Part::Of(handle, field) => {
                    told += &self
                        .ground
                        .first_of(handle)
                        .map(|port| port.told(field))
                        .unwrap_or_default();
                }
            }
        }
        told
    }

    fn subjects(&self, of: &Subjects, around: &Around<'_>) -> Vec<Subject> {
        let mut subjects = self.ground.find(of, around.it);
        subjects.retain(|subject| {
            around
                .only
                .is_none_or(|only| self.ground.layer_of(subject) == Some(only))
        });
        subjects
    }

    /// The ports of an `each`.
    fn members(
        &self,
        of: &Subjects,
        tally: Tally,
        around: &Around<'_>,
    ) -> Result<Vec<usize>, Unfit> {
        let subjects = self.subjects(of, around);
        self.tallied(&subjects, tally)?;
        let mut ports = Vec::new();
        for subject in subjects {
            ports.extend(self.ground.ports_of(&subject));
        }
        Ok(ports)
    }

    fn tallied(&self, subjects: &[Subject], tally: Tally) -> Result<(), Unfit> {
        if let Some((count, place)) = tally.count
            && subjects.len() != count as usize
        {
            let what = format!(
                "`count: {count}`, and {} are meant on `{}`",
                subjects.len(),
                self.ground.platform
            );
            return Err(self.source.wrong(place, what).into());
        }
        let Some(distinct) = tally.distinct else {
            return Ok(());
        };
        let ports = subjects
            .iter()
            .filter_map(|subject| self.ground.ports_of(subject).first().copied());
        let keys: BTreeSet<String> = ports
            .map(|port| match distinct {
                Distinct::Node => self.ground.node.to_string(),
                Distinct::Card => self.ground.ports[port].told("card"),
                Distinct::Device => self.ground.ports[port].told("device"),
            })
            .collect();
        if keys.len() == subjects.len() {
            return Ok(());
        }
        Err(Unfit::lacks(format!(
            "{} subjects are meant, on {} of what must be distinct",
            subjects.len(),
            keys.len()
        )))
    }

    fn files(&self, said: &FileSaid, around: &Around<'_>) -> Result<Vec<FileRef>, Unfit> {
        let (place, of, rest) = match said {
            FileSaid::Path(path) => return Ok(vec![FileRef::Path(path.clone())]),
            FileSaid::StateFile => return Ok(vec![FileRef::StateFile]),
            FileSaid::Of(place, of, rest) => (*place, of, rest),
        };
        let of = Subjects {
            place,
            items: vec![of.clone()],
        };
        let node = &self.ground.node;
        self.subjects(&of, around)
            .into_iter()
            .map(|subject| match subject {
                Subject::Port(port) => Ok(FileRef::Port(self.ground.slot(port), rest.clone())),
                Subject::Device(pci) => Ok(FileRef::Device(node.clone(), pci, rest.clone())),
                Subject::Card(_) | Subject::Named(_) => Err(self
                    .source
                    .wrong(place, "only ports and devices have folders")
                    .into()),
            })
            .collect()
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

    fn push(&mut self, line: &ExpectLine, around: &Around<'_>, what: What) -> Result<(), Unfit> {
        let said_at = around.step.first();
        let window = self.polls.window(around.window, said_at).ok_or_else(|| {
            self.source
                .wrong(line.place, "no poll is in this window")
                .hint("a poll happens at each whole tick")
        })?;
        self.told.push(Expectation {
            place: self.source.place(line.place),
            text: around.text.to_owned(),
            node: around.named.then(|| self.ground.node.clone()),
            window,
            what,
        });
        Ok(())
    }
}
