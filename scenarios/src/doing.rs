//! Telling what is done: the ports and devices of a deed are found, its times become ticks.

mod actions;
mod host;

use std::collections::BTreeMap;

use actions::{device_action, port_action};
use fabric::{Action, FunctionRef};
use platforms::yaml::Place;
use platforms::{DeviceName, LinkLayer, PciAddress, Platform, SlotRef};

use crate::deed::{DeedLine, DeedSaid, DeviceVerb, NamesSaid};
use crate::error::Unfit;
use crate::ground::{Ground, Subject};
use crate::polls::Polls;
use crate::reader::Source;
use crate::step::{FileMomentSaid, MomentSaid};
use crate::story::{CallMoment, Deed, FileMoment, FileRef, Moment, RuleDeed};
use crate::subject::{FileSaid, Said, Subjects};
use crate::telling::same_node;

/// What telling a deed needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doing<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) ground: &'a Ground,
    pub(crate) platform: &'a Platform,
    pub(crate) polls: &'a Polls,
}

impl Doing<'_> {
    /// The deeds of a line; none if `only` leaves nobody.
    pub(crate) fn deeds(
        &self,
        line: &DeedLine,
        step_nodes: &[(String, Place)],
    ) -> Result<Vec<Deed>, Unfit> {
        for (name, place) in line.nodes.iter().chain(step_nodes) {
            same_node(&self.source, &self.ground.node, name, *place)?;
        }
        let node = || self.ground.node.clone();
        let world = |actions: Vec<Action>| actions.into_iter().map(Deed::World).collect();
        Ok(match &line.deed {
            DeedSaid::Ports(verb, of) => {
                let slots = self.slots(of, line.only);
                world(
                    slots
                        .into_iter()
                        .map(|slot| port_action(verb, slot))
                        .collect(),
                )
            }
            DeedSaid::Devices(verb, of) => {
                let functions = self.functions(of, line.only);
                if let (DeviceVerb::Rename(to), [_, _, ..]) = (verb, &functions[..]) {
                    let what = format!("{} devices cannot all be called `{to}`", functions.len());
                    return Err(self.source.wrong(of.place, what).into());
                }
                world(
                    functions
                        .into_iter()
                        .map(|function| device_action(verb, function))
                        .collect(),
                )
            }
            DeedSaid::Flap {
                of,
                times,
                down,
                up,
                stagger,
            } => {
                let slots = self.slots(of, line.only);
                if slots.is_empty() {
                    return Ok(Vec::new());
                }
                world(vec![Action::Flap {
                    slots,
                    times: *times,
                    down: *down,
                    up: *up,
                    stagger: *stagger,
                }])
            }
            DeedSaid::PartnerPower { of, on } => {
                let slots = self.slots(of, line.only);
                if slots.is_empty() {
                    return Ok(Vec::new());
                }
                world(vec![Action::SwitchPower { slots, on: *on }])
            }
            DeedSaid::SubnetManager {
                running,
                reinitialise,
            } => world(vec![Action::SubnetManager {
                running: *running,
                reinitialise: *reinitialise,
            }]),
            DeedSaid::DriverUnload => world(vec![Action::DriverUnload(node())]),
            DeedSaid::DriverLoad(names) => world(vec![Action::DriverLoad {
                node: node(),
                names: self.names(names)?,
            }]),
            DeedSaid::HotAdd {
                like,
                pci,
                name,
                cabled,
            } => {
                let like = self.one_function(like)?;
                let function = FunctionRef {
                    node: node(),
                    pci: *pci,
                };
                world(vec![Action::HotAdd {
                    function,
                    like,
                    name: name.clone(),
                    cabled: *cabled,
                }])
            }
            DeedSaid::Reboot(reboot) => {
                let (node, plan) = (node(), self.plan(reboot)?);
                vec![Deed::Reboot {
                    node: node.clone(),
                    takes: reboot.takes,
                    action: if reboot.announced {
                        Action::Reboot { node, plan }
                    } else {
                        Action::PowerLoss { node, plan }
                    },
                }]
            }
            DeedSaid::ClockStep(by_ns) => world(vec![Action::ClockStep {
                node: node(),
                by_ns: *by_ns,
            }]),
            DeedSaid::Metadata(said) => world(vec![Action::Metadata {
                node: node(),
                file: self.metadata(said),
            }]),
            DeedSaid::Routes(said) => world(vec![Action::Routes {
                node: node(),
                routes: self.routes(said)?,
            }]),
            DeedSaid::Rule {
                file,
                ops,
                effect,
                lasting,
            } => self
                .files(file, line.only)?
                .into_iter()
                .map(|file| {
                    Deed::Rule(RuleDeed {
                        node: node(),
                        file,
                        ops: ops.clone(),
                        effect: effect.clone(),
                        lasting: *lasting,
                    })
                })
                .collect(),
            DeedSaid::NoRule(None) => vec![Deed::Unrule(None)],
            DeedSaid::NoRule(Some(file)) => self
                .files(file, line.only)?
                .into_iter()
                .map(|file| Deed::Unrule(Some(file)))
                .collect(),
            DeedSaid::Connector(deed) => vec![Deed::Connector(node(), deed.clone())],
            DeedSaid::Monitor(said) => vec![Deed::Monitor(node(), self.monitor(said))],
            DeedSaid::StateFile(deed) => vec![Deed::StateFile(node(), deed.clone())],
        })
    }

    /// A moment within a poll.
    pub(crate) fn moment(&self, said: &MomentSaid) -> Result<Moment, Unfit> {
        let file = |said: &Option<FileMomentSaid>| {
            said.as_ref().map(|said| self.file_moment(said)).transpose()
        };
        Ok(match said {
            MomentSaid::Files { after, before } => Moment {
                after: file(after)?,
                before: file(before)?,
                call: None,
            },
            MomentSaid::Call { nth, accepted } => {
                let call = if *accepted {
                    CallMoment::Accepted(*nth)
                } else {
                    CallMoment::Received(*nth)
                };
                Moment {
                    after: None,
                    before: None,
                    call: Some(call),
                }
            }
        })
    }

    /// The files meant, one for each port or device; none if `only` leaves nobody.
    pub(crate) fn files(
        &self,
        said: &FileSaid,
        only: Option<LinkLayer>,
    ) -> Result<Vec<FileRef>, Unfit> {
        let (place, of, rest) = match said {
            FileSaid::Path(path) => return Ok(vec![FileRef::Path(path.clone())]),
            FileSaid::StateFile => return Ok(vec![FileRef::StateFile]),
            FileSaid::Of(place, of, rest) => (*place, of, rest),
        };
        let mut files = Vec::new();
        for subject in self.ground.find_one(of, None) {
            if only.is_some_and(|only| self.ground.layer_of(&subject) != Some(only)) {
                continue;
            }
            files.push(self.file_of(place, &subject, rest)?);
        }
        Ok(files)
    }

    /// The file below this subject's folder.
    pub(crate) fn file_of(
        &self,
        place: Place,
        subject: &Subject,
        rest: &str,
    ) -> Result<FileRef, Unfit> {
        match subject {
            Subject::Port(port) => Ok(FileRef::Port(self.ground.slot(*port), rest.to_owned())),
            Subject::Device(pci) => Ok(FileRef::Device(
                self.ground.node.clone(),
                *pci,
                rest.to_owned(),
            )),
            Subject::Card(_) | Subject::Named(_) => Err(self
                .source
                .wrong(place, "only ports and devices have folders")
                .into()),
        }
    }

    fn file_moment(&self, said: &FileMomentSaid) -> Result<FileMoment, Unfit> {
        let files = self.files(&said.file, None)?;
        let [file] = &files[..] else {
            let place = match &said.file {
                FileSaid::Of(place, ..) => *place,
                FileSaid::Path(_) | FileSaid::StateFile => Place::default(),
            };
            let what = format!("a moment is about one file, this names {}", files.len());
            return Err(self.source.wrong(place, what).into());
        };
        Ok(FileMoment {
            op: said.op,
            file: file.clone(),
            nth: said.nth,
        })
    }

    fn slots(&self, of: &Subjects, only: Option<LinkLayer>) -> Vec<SlotRef> {
        let mut ports = self.ground.find_ports(of, None);
        ports.retain(|port| only.is_none_or(|only| self.ground.ports[*port].facts.layer == only));
        ports
            .into_iter()
            .map(|port| self.ground.slot(port))
            .collect()
    }

    fn functions(&self, of: &Subjects, only: Option<LinkLayer>) -> Vec<FunctionRef> {
        let layer = |pci: PciAddress| self.ground.layer_of(&Subject::Device(pci));
        let mut functions = self.ground.find_functions(of, None);
        functions.retain(|pci| only.is_none_or(|only| layer(*pci) == Some(only)));
        let node = &self.ground.node;
        functions
            .into_iter()
            .map(|pci| FunctionRef {
                node: node.clone(),
                pci,
            })
            .collect()
    }

    fn one_function(&self, of: &Subjects) -> Result<PciAddress, Unfit> {
        match self.ground.find_functions(of, None)[..] {
            [pci] => Ok(pci),
            ref many => {
                let what = format!("one device is meant here, this names {}", many.len());
                Err(self.source.wrong(of.place, what).into())
            }
        }
    }

    fn names(&self, said: &NamesSaid) -> Result<BTreeMap<PciAddress, DeviceName>, Unfit> {
        let mut names = BTreeMap::new();
        for (place, said, name) in said.values() {
            let of = Subjects {
                place: *place,
                items: vec![Said::clone(said)],
            };
            names.insert(self.one_function(&of)?, name.clone());
        }
        Ok(names)
    }
}
