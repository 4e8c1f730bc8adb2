//! Telling what is done: the ports and devices of a deed are found, its times become ticks.

mod counter;
mod host;

use std::collections::BTreeMap;

use fabric::{Action, DeviceAction, FunctionRef, NodeAction, PortAction, PortsAction};
use mpib::AgentAction;
use platforms::yaml::Place;
use platforms::{DeviceName, LinkLayer, NodeName, PciAddress, SlotRef};

use crate::error::Unfit;
use crate::ground::{Ground, GroundNode, Subject};
use crate::polls::Polls;
use crate::reader::Source;
use crate::step::{FileMomentSaid, MomentSaid};
use crate::story::{CallMoment, Deed, FileMoment, FileRef, Moment, RuleDeed, WorkloadAction};
use crate::subject::{FileSpec, Named, Subjects};
use crate::telling::{known_node, known_workload};
use crate::values::NamesSpec;
use crate::verbs::spec::{ActionSpec, AgentSpec, VerbLine, VerbSpec};
use crate::workload::WorkloadSaid;

/// What telling a deed needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doing<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) ground: &'a Ground,
    pub(crate) workloads: &'a [WorkloadSaid],
    pub(crate) polls: &'a Polls,
}

impl Doing<'_> {
    /// The deeds of a line; none if `only` leaves nobody.
    pub(crate) fn deeds(
        &self,
        line: &VerbLine,
        step_nodes: &[(String, Place)],
    ) -> Result<Vec<Deed>, Unfit> {
        let named = if line.nodes.is_empty() {
            step_nodes
        } else {
            &line.nodes
        };
        for (name, place) in named {
            known_node(&self.source, self.ground, name, *place)?;
        }
        let doing = DoingLine {
            doing: *self,
            line,
            named,
        };
        doing.deeds()
    }
}

/// A line in telling.
#[derive(Clone, Copy, Debug)]
struct DoingLine<'a> {
    doing: Doing<'a>,
    line: &'a VerbLine,
    /// The nodes that it names, or its step; everywhere if there are none.
    named: &'a [(String, Place)],
}

impl<'a> std::ops::Deref for DoingLine<'a> {
    type Target = Doing<'a>;

    fn deref(&self) -> &Doing<'a> {
        &self.doing
    }
}

impl DoingLine<'_> {
    /// The nodes of a deed that is done to nodes.
    fn nodes(&self) -> Result<Vec<&GroundNode>, Unfit> {
        if let Some(node) = self.ground.sole() {
            return Ok(vec![node]);
        }
        if self.named.is_empty() {
            let names: Vec<String> = self
                .ground
                .nodes
                .iter()
                .map(|node| format!("`{}`", node.name))
                .collect();
            return Err(self
                .source
                .wrong(self.line.place, "to which node is this done?")
                .hint(format!("write `node: …`: {}", names.join(", ")))
                .into());
        }
        let node = |(name, _): &(String, Place)| self.ground.node(name);
        Ok(self.named.iter().filter_map(node).collect())
    }

    fn each_node<T>(&self, deed: impl Fn(NodeName) -> T) -> Result<Vec<T>, Unfit> {
        let nodes = self.nodes()?;
        Ok(nodes
            .into_iter()
            .map(|node| deed(node.name.clone()))
            .collect())
    }

    fn is_meant(&self, node: &NodeName) -> bool {
        self.named.is_empty() || self.named.iter().any(|(name, _)| name == node.as_str())
    }

    fn deeds(&self) -> Result<Vec<Deed>, Unfit> {
        let line = self.line;
        let world = |actions: Vec<Action>| actions.into_iter().map(Deed::World).collect();
        Ok(match &line.spec {
            VerbSpec::World(action) => world(self.actions(action)?),
            VerbSpec::SwitchPower {
                switch: (name, place),
                on,
            } => {
                if !self.ground.switches.contains(name) {
                    let known = self.ground.switches.iter().map(String::as_str);
                    return Err(self.source.unknown(*place, "switch", name, known).into());
                }
                let ports = 0..self.ground.ports.len();
                let slots = ports
                    .filter(|port| self.ground.ports[*port].switch.as_ref() == Some(name))
                    .map(|port| self.ground.slot(port));
                world(vec![
                    PortsAction::SwitchPower { on: *on }.on(slots.collect()),
                ])
            }
            VerbSpec::LnetFault { workload, rule } => {
                self.known_workload(workload)?;
                self.each_node(|node| {
                    Deed::Load(WorkloadAction::Rule {
                        workload: workload.clone(),
                        node,
                        rule: rule.clone(),
                    })
                })?
            }
            VerbSpec::NoLnetFault { workload } => {
                self.known_workload(workload)?;
                self.each_node(|node| {
                    Deed::Load(WorkloadAction::NoRules {
                        workload: workload.clone(),
                        node,
                    })
                })?
            }
            VerbSpec::Agent { workload, agent } => {
                self.known_workload(workload)?;
                let action = self.agent(agent)?;
                self.each_node(|node| {
                    Deed::Load(WorkloadAction::Agent {
                        workload: workload.clone(),
                        node,
                        action: action.clone(),
                    })
                })?
            }
            VerbSpec::DriverLoad(names) => {
                let names = self.names(names)?;
                let load = NodeAction::DriverLoad { names };
                world(self.each_node(|node| load.clone().on(node))?)
            }
            VerbSpec::Reboot(reboot) => {
                let plan = self.plan(reboot)?;
                self.each_node(|node| {
                    let plan = plan.clone();
                    Deed::Reboot {
                        node: node.clone(),
                        takes: reboot.takes,
                        action: if reboot.announced {
                            NodeAction::Reboot { plan }.on(node)
                        } else {
                            NodeAction::PowerLoss { plan }.on(node)
                        },
                    }
                })?
            }
            VerbSpec::Metadata(said) => {
                let file = |node: &GroundNode| {
                    let file = self.metadata(said, node);
                    NodeAction::Metadata { file }.on(node.name.clone())
                };
                world(self.nodes()?.into_iter().map(file).collect())
            }
            VerbSpec::Routes(said) => {
                let mut actions = Vec::new();
                for node in self.nodes()? {
                    let routes = self.routes(said, node)?;
                    actions.push(NodeAction::Routes { routes }.on(node.name.clone()));
                }
                world(actions)
            }
            VerbSpec::Rule {
                file,
                ops,
                effect,
                lasting,
            } => {
                let mut deeds = Vec::new();
                for file in self.files(file, line.only)? {
                    let nodes = match &file {
                        FileRef::Port(slot, _) => vec![slot.node.clone()],
                        FileRef::Device(node, ..) => vec![node.clone()],
                        FileRef::Path(_) | FileRef::StateFile => self.each_node(|node| node)?,
                    };
                    deeds.extend(nodes.into_iter().map(|node| {
                        Deed::Rule(RuleDeed {
                            node,
                            file: file.clone(),
                            ops: ops.clone(),
                            effect: effect.clone(),
                            lasting: *lasting,
                        })
                    }));
                }
                deeds
            }
            VerbSpec::NoRule(None) => vec![Deed::Unrule(None)],
            VerbSpec::NoRule(Some(file)) => self
                .files(file, line.only)?
                .into_iter()
                .map(|file| Deed::Unrule(Some(file)))
                .collect(),
            VerbSpec::Connector(deed) => {
                self.each_node(|node| Deed::Connector(node, deed.clone()))?
            }
            VerbSpec::Monitor(said) => {
                self.each_node(|node| Deed::Monitor(node, self.monitor(said)))?
            }
            VerbSpec::StateFile(deed) => {
                self.each_node(|node| Deed::StateFile(node, deed.clone()))?
            }
        })
    }

    /// What is done to each port, device or node that is meant.
    fn actions(&self, action: &ActionSpec) -> Result<Vec<Action>, Unfit> {
        Ok(match action {
            Action::Port(of, action) => {
                let ports = self.ports(of);
                if let PortAction::Counter { name, change } = action {
                    ports
                        .iter()
                        .try_for_each(|port| self.can_count(*port, name, change))?;
                }
                let done = |port| action.clone().on(self.ground.slot(port));
                ports.into_iter().map(done).collect()
            }
            Action::Ports(of, action) => {
                let slots = self.slots(of);
                if slots.is_empty() {
                    return Ok(Vec::new());
                }
                vec![action.clone().on(slots)]
            }
            Action::Device(of, action @ DeviceAction::HotAdd { .. }) => {
                vec![action.clone().on(self.one_function(of)?)]
            }
            Action::Device(of, action) => {
                let functions = self.functions(of);
                if let (DeviceAction::Rename { to }, [_, _, ..]) = (action, &functions[..]) {
                    let what = format!("{} devices cannot all be called `{to}`", functions.len());
                    return Err(self.source.wrong(of.place, what).into());
                }
                let done = |function| action.clone().on(function);
                functions.into_iter().map(done).collect()
            }
            Action::Node((), action) => self.each_node(|node| action.clone().on(node))?,
            Action::SubnetManager {
                running,
                reinitialise,
            } => vec![Action::SubnetManager {
                running: *running,
                reinitialise: *reinitialise,
            }],
        })
    }

    fn known_workload(&self, name: &str) -> Result<(), Unfit> {
        Ok(known_workload(
            &self.source,
            self.workloads,
            name,
            self.line.place,
        )?)
    }

    fn agent(&self, said: &AgentSpec) -> Result<AgentAction, Unfit> {
        let node = |(name, place): &(String, Place)| {
            known_node(&self.source, self.ground, name, *place)?;
            Ok::<_, Unfit>(NodeName::from(name.as_str()))
        };
        Ok(match said {
            AgentSpec::Hint { pair, share } => AgentAction::Hint {
                to: node(pair)?,
                share: *share,
            },
            AgentSpec::Dies => AgentAction::Dies,
            AgentSpec::DiesWhileWriting { pair } => {
                AgentAction::DiesWhileWriting { to: node(pair)? }
            }
        })
    }

    fn ports(&self, of: &Subjects) -> Vec<usize> {
        let mut ports = self.doing.ports(of, self.line.only);
        ports.retain(|port| self.is_meant(self.ground.node_of(*port)));
        ports
    }

    fn slots(&self, of: &Subjects) -> Vec<SlotRef> {
        let ports = self.ports(of).into_iter();
        ports.map(|port| self.ground.slot(port)).collect()
    }

    fn functions(&self, of: &Subjects) -> Vec<FunctionRef> {
        let mut functions = self.doing.functions(of, self.line.only);
        functions.retain(|function| self.is_meant(&function.node));
        functions
    }
}

impl Doing<'_> {
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
        said: &FileSpec,
        only: Option<LinkLayer>,
    ) -> Result<Vec<FileRef>, Unfit> {
        let (place, of, rest) = match said {
            FileSpec::Path(path) => return Ok(vec![FileRef::Path(path.clone())]),
            FileSpec::StateFile => return Ok(vec![FileRef::StateFile]),
            FileSpec::Of(place, of, rest) => (*place, of, rest),
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
            Subject::Device(device) => Ok(FileRef::Device(
                device.node.clone(),
                device.pci,
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
                FileSpec::Of(place, ..) => *place,
                FileSpec::Path(_) | FileSpec::StateFile => Place::default(),
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

    fn ports(&self, of: &Subjects, only: Option<LinkLayer>) -> Vec<usize> {
        let mut ports = self.ground.find_ports(of, None);
        ports.retain(|port| only.is_none_or(|only| self.ground.ports[*port].facts.layer == only));
        ports
    }

    fn functions(&self, of: &Subjects, only: Option<LinkLayer>) -> Vec<FunctionRef> {
        let layer = |device: &FunctionRef| self.ground.layer_of(&Subject::Device(device.clone()));
        let mut functions = self.ground.find_functions(of, None);
        functions.retain(|device| only.is_none_or(|only| layer(device) == Some(only)));
        functions
    }

    fn one_function(&self, of: &Subjects) -> Result<FunctionRef, Unfit> {
        match &self.ground.find_functions(of, None)[..] {
            [device] => Ok(device.clone()),
            many => {
                let what = format!("one device is meant here, this names {}", many.len());
                Err(self.source.wrong(of.place, what).into())
            }
        }
    }

    fn names(&self, said: &NamesSpec) -> Result<BTreeMap<PciAddress, DeviceName>, Unfit> {
        let mut names = BTreeMap::new();
        for (place, said, name) in said.values() {
            let of = Subjects {
                place: *place,
                items: vec![Named::clone(said)],
            };
            names.insert(self.one_function(&of)?.pci, name.clone());
        }
        Ok(names)
    }
}
