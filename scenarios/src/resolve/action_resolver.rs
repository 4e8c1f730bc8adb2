//! Resolves the lines of `do:` in a world: ports and devices are looked up, times become ticks.

mod counter;
mod drivers_files;
mod host_actions;
mod loads;

use std::collections::BTreeMap;

use fabric::{Action, DeviceAction, FunctionRef, NodeAction, PortAction, PortsAction};
use files::{Place, did_you_mean};
use platforms::{DeviceName, Driver, LinkLayer, NodeName, PciAddress, SlotRef};

use crate::error::{ScenarioError, Unfit};
use crate::polls::Polls;
use crate::reader::Source;
use crate::resolve::known_node;
use crate::resolved_world::{ResolvedNode, ResolvedWorld, Subject};
use crate::step::{FileMomentSpec, MomentSpec};
use crate::story::{
    About, CallMoment, FileMoment, FileRef, Plan, RuleAction, StepAction, StepMoment,
    WorkloadAction,
};
use crate::subject::{FileSpec, Named, Subjects};
use crate::values::NamesSpec;
use crate::verbs::spec::{ActionSpec, VerbLine, VerbSpec};
use crate::workload::WorkloadSpec;

/// Context for resolving a line of `do:`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActionResolver<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) resolved: &'a ResolvedWorld,
    pub(crate) workloads: &'a [WorkloadSpec],
    /// The workloads in this world, by name.
    pub(crate) plans: &'a BTreeMap<String, Plan>,
    pub(crate) polls: &'a Polls,
}

impl ActionResolver<'_> {
    /// Resolves a line to its steps; empty if `only` leaves no port.
    pub(crate) fn actions(
        &self,
        line: &VerbLine,
        step_nodes: &[(String, Place)],
    ) -> Result<Vec<StepAction>, Unfit> {
        let named = if line.nodes.is_empty() {
            step_nodes
        } else {
            &line.nodes
        };
        for (name, place) in named {
            known_node(&self.source, self.resolved, name, *place)?;
        }
        let resolver = LineResolver {
            resolver: *self,
            line,
            named,
        };
        resolver.actions()
    }
}

/// A line that is being resolved.
#[derive(Clone, Copy, Debug)]
struct LineResolver<'a> {
    resolver: ActionResolver<'a>,
    line: &'a VerbLine,
    /// The nodes named by the line, or else by its step; empty means all.
    named: &'a [(String, Place)],
}

impl<'a> std::ops::Deref for LineResolver<'a> {
    type Target = ActionResolver<'a>;

    fn deref(&self) -> &ActionResolver<'a> {
        &self.resolver
    }
}

impl LineResolver<'_> {
    /// The nodes of a line whose verb applies to nodes.
    fn nodes(&self) -> Result<Vec<&ResolvedNode>, Unfit> {
        if let Some(node) = self.resolved.sole() {
            return Ok(vec![node]);
        }
        if self.named.is_empty() {
            let names: Vec<String> = self
                .resolved
                .nodes
                .iter()
                .map(|node| format!("`{}`", node.name))
                .collect();
            return Err(self
                .source
                .wrong(self.line.place, "which node is meant?")
                .hint(format!("write `node: …`: {}", names.join(", ")))
                .into());
        }
        let node = |(name, _): &(String, Place)| self.resolved.node(name);
        Ok(self.named.iter().filter_map(node).collect())
    }

    fn each_node<T>(&self, action: impl Fn(NodeName) -> T) -> Result<Vec<T>, Unfit> {
        let nodes = self.nodes()?;
        Ok(nodes
            .into_iter()
            .map(|node| action(node.name.clone()))
            .collect())
    }

    fn is_meant(&self, node: &NodeName) -> bool {
        self.named.is_empty() || self.named.iter().any(|(name, _)| name == node.as_str())
    }

    fn actions(&self) -> Result<Vec<StepAction>, Unfit> {
        let line = self.line;
        let world = |actions: Vec<Action>| actions.into_iter().map(StepAction::World).collect();
        Ok(match &line.spec {
            VerbSpec::World(action) => world(self.world_actions(action)?),
            VerbSpec::SwitchPower {
                switch: (name, place),
                on,
            } => {
                if !self.resolved.switches.contains(name) {
                    let known = self.resolved.switches.iter().map(String::as_str);
                    return Err(self.source.unknown(*place, "switch", name, known).into());
                }
                let ports = 0..self.resolved.ports.len();
                let slots = ports
                    .filter(|port| self.resolved.ports[*port].switch.as_ref() == Some(name))
                    .map(|port| self.resolved.slot(port));
                world(vec![
                    PortsAction::SwitchPower { on: *on }.on(slots.collect()),
                ])
            }
            VerbSpec::LnetFault {
                workload,
                rule,
                places,
            } => {
                self.known_nids(workload, rule, *places)?;
                self.each_node(|node| {
                    StepAction::Load(WorkloadAction::Rule {
                        workload: workload.clone(),
                        node,
                        rule: rule.clone(),
                    })
                })?
            }
            VerbSpec::NoLnetFault { workload } => {
                self.known_workload(workload)?;
                self.each_node(|node| {
                    StepAction::Load(WorkloadAction::NoRules {
                        workload: workload.clone(),
                        node,
                    })
                })?
            }
            VerbSpec::LnetSet {
                workload,
                param,
                value,
            } => {
                self.storage(workload)?;
                self.each_node(|node| {
                    StepAction::Load(WorkloadAction::LnetParam {
                        workload: workload.clone(),
                        node,
                        param: *param,
                        value: *value,
                    })
                })?
            }
            VerbSpec::LnetNi {
                workload,
                of,
                change,
            } => vec![StepAction::Load(self.lnet_ni(workload, of, *change)?)],
            VerbSpec::LnetSend { workload, send } => {
                let requests = self.requests(workload, send)?;
                let step = |request| {
                    StepAction::Load(WorkloadAction::LnetSend {
                        workload: workload.clone(),
                        request,
                    })
                };
                requests.into_iter().map(step).collect()
            }
            VerbSpec::Agent { workload, agent } => {
                self.known_workload(workload)?;
                let action = self.agent(agent)?;
                self.each_node(|node| {
                    StepAction::Load(WorkloadAction::Agent {
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
                self.each_node(|node| StepAction::Reboot {
                    node,
                    plan: plan.clone(),
                })?
            }
            VerbSpec::Metadata(spec) => {
                let file = |node: &ResolvedNode| {
                    let file = self.metadata(spec, node);
                    NodeAction::Metadata { file }.on(node.name.clone())
                };
                world(self.nodes()?.into_iter().map(file).collect())
            }
            VerbSpec::Routes(spec) => {
                let mut actions = Vec::new();
                for node in self.nodes()? {
                    let routes = self.routes(spec, node)?;
                    actions.push(NodeAction::Routes { routes }.on(node.name.clone()));
                }
                world(actions)
            }
            VerbSpec::Rule {
                file,
                ops,
                effect,
                lasting,
                appears_later,
            } => {
                let mut actions = Vec::new();
                for file in self.files(file, line.only)? {
                    if !*appears_later {
                        self.has_file(&file)?;
                    }
                    let nodes = match &file {
                        FileRef::Port(slot, _) => vec![slot.node.clone()],
                        FileRef::Device(node, ..) => vec![node.clone()],
                        FileRef::Path(_) | FileRef::StateFile => self.each_node(|node| node)?,
                    };
                    actions.extend(nodes.into_iter().map(|node| {
                        StepAction::Rule(RuleAction {
                            node,
                            file: file.clone(),
                            ops: ops.clone(),
                            effect: effect.clone(),
                            lasting: *lasting,
                            appears_later: *appears_later,
                        })
                    }));
                }
                actions
            }
            VerbSpec::NoRule(None) => vec![StepAction::Unrule(None)],
            VerbSpec::NoRule(Some(file)) => self
                .files(file, line.only)?
                .into_iter()
                .map(|file| StepAction::Unrule(Some(file)))
                .collect(),
            VerbSpec::Connector(action) => {
                self.each_node(|node| StepAction::Connector(node, action.clone()))?
            }
            VerbSpec::Monitor(spec) => {
                self.each_node(|node| StepAction::Monitor(node, self.monitor(spec)))?
            }
            VerbSpec::StateFile(action) => {
                self.each_node(|node| StepAction::StateFile(node, action.clone()))?
            }
        })
    }

    /// The actions of this spec, one for each port, device or node it applies to.
    fn world_actions(&self, action: &ActionSpec) -> Result<Vec<Action>, Unfit> {
        Ok(match action {
            Action::Port(of, action) => {
                let ports = self.ports(of)?;
                if let PortAction::Counter { name, change } = action {
                    ports
                        .iter()
                        .try_for_each(|port| self.can_count(*port, name, change, of.place))?;
                }
                if let PortAction::NeighbourReboot { .. } = action {
                    ports
                        .iter()
                        .try_for_each(|port| self.leads_to_a_host(*port, of.place))?;
                }
                if let PortAction::ChangeLayer { layer } = action {
                    ports
                        .iter()
                        .try_for_each(|port| self.can_speak(*port, *layer))?;
                }
                let done = |port| action.clone().on(self.resolved.slot(port));
                ports.into_iter().map(done).collect()
            }
            Action::Ports(of, action) => {
                let slots = self.slots(of)?;
                if slots.is_empty() {
                    return Ok(Vec::new());
                }
                vec![action.clone().on(slots)]
            }
            Action::Device(of, action @ DeviceAction::HotAdd { .. }) => {
                vec![action.clone().on(self.one_function(of)?)]
            }
            Action::Device(of, action) => {
                let functions = self.functions(of)?;
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
                keeps_logs,
            } => vec![Action::SubnetManager {
                running: *running,
                reinitialise: *reinitialise,
                keeps_logs: *keeps_logs,
            }],
            Action::StandbyTakesOver => vec![Action::StandbyTakesOver],
            Action::Sweeps { every, on_traps } => vec![Action::Sweeps {
                every: *every,
                on_traps: *on_traps,
            }],
        })
    }

    /// Checks that the world's file does not cable the port to a switch.
    fn leads_to_a_host(&self, port: usize, place: Place) -> Result<(), Unfit> {
        let port = &self.resolved.ports[port];
        let Some(switch) = &port.switch else {
            return Ok(());
        };
        let (node, device) = (&self.resolved.nodes[port.node].name, &port.facts.device);
        let what = format!(
            "the neighbour of `{node}/{device}` is the switch `{switch}`, and no host that reboots"
        );
        let hint = format!(
            "write `{{ switch: {switch}, power: lost }}`, or name a port that the world's file cables to no switch"
        );
        Err(self.source.wrong(place, what).hint(hint).into())
    }

    /// Checks that the platform has a driver of the port's kernel module for this layer.
    fn can_speak(&self, port: usize, layer: LinkLayer) -> Result<(), Unfit> {
        let port = &self.resolved.ports[port];
        let platform = &self.resolved.nodes[port.node].platform;
        let own = platform.driver(&port.facts.driver_file);
        let of_module =
            |driver: &&Driver| own.is_some_and(|own| own.kernel_driver == driver.kernel_driver);
        if platform
            .drivers()
            .filter(of_module)
            .any(|driver| driver.layer == layer)
        {
            return Ok(());
        }
        let device = &port.facts.device;
        Err(Unfit::lacks(format!(
            "`{device}` cannot speak {layer}: its platform has no driver for that"
        )))
    }

    fn ports(&self, of: &Subjects) -> Result<Vec<usize>, Unfit> {
        self.names_are_there(of)?;
        let mut ports = self.resolver.ports(of, self.line.only);
        ports.retain(|port| self.is_meant(self.resolved.node_of(*port)));
        Ok(ports)
    }

    fn slots(&self, of: &Subjects) -> Result<Vec<SlotRef>, Unfit> {
        let ports = self.ports(of)?.into_iter();
        Ok(ports.map(|port| self.resolved.slot(port)).collect())
    }

    fn functions(&self, of: &Subjects) -> Result<Vec<FunctionRef>, Unfit> {
        self.names_are_there(of)?;
        let mut functions = self.resolver.functions(of, self.line.only);
        functions.retain(|function| self.is_meant(&function.node));
        Ok(functions)
    }

    /// Rejects a name that no device, or no port of the device, has at rest: the action would be about nothing.
    fn names_are_there(&self, of: &Subjects) -> Result<(), Unfit> {
        for subject in self.resolved.find(of, None) {
            let Subject::Named(about) = &subject else {
                continue;
            };
            if self.resolved.ports_of(&subject).is_empty() {
                return Err(self.no_such_name(of.place, about).into());
            }
        }
        Ok(())
    }

    fn no_such_name(&self, place: Place, about: &About) -> ScenarioError {
        const HINT: &str = "an action is about the device that has the name at rest; declare a handle, as in \
                            `let: { victim: { role: compute, nth: 1 } }`, for one that is renamed";
        let ports = self.resolved.ports.iter();
        match about {
            About::NamedPort(name, port) if ports.clone().any(|it| it.facts.device == *name) => {
                let has = ports.filter(|it| it.facts.device == *name);
                let has: Vec<String> = has.map(|it| it.facts.port.to_string()).collect();
                let what = format!("`{name}` has no port {port} at rest");
                let hint = format!("it has port {}", has.join(", "));
                self.source.wrong(place, what).hint(hint)
            }
            About::NamedPort(name, _) | About::NamedDevice(name) => {
                let known = ports.map(|it| it.facts.device.as_str());
                let near = did_you_mean(name.as_str(), known);
                let what = format!("no device is called `{name}` at rest");
                self.source.wrong(place, what).hint(near + HINT)
            }
            _ => self
                .source
                .wrong(place, "this is not there at rest")
                .hint(HINT),
        }
    }
}

impl ActionResolver<'_> {
    /// Resolves a moment within a poll.
    pub(crate) fn moment(&self, spec: &MomentSpec) -> Result<StepMoment, Unfit> {
        let file = |spec: &Option<FileMomentSpec>| {
            spec.as_ref().map(|spec| self.file_moment(spec)).transpose()
        };
        Ok(match spec {
            MomentSpec::Files { after, before } => StepMoment {
                after: file(after)?,
                before: file(before)?,
                call: None,
            },
            MomentSpec::Call { nth, accepted } => {
                let call = if *accepted {
                    CallMoment::Accepted(*nth)
                } else {
                    CallMoment::Received(*nth)
                };
                StepMoment {
                    after: None,
                    before: None,
                    call: Some(call),
                }
            }
        })
    }

    /// Resolves a file spec to one file for each port or device; empty if `only` leaves none.
    pub(crate) fn files(
        &self,
        spec: &FileSpec,
        only: Option<LinkLayer>,
    ) -> Result<Vec<FileRef>, Unfit> {
        let (place, of, rest) = match spec {
            FileSpec::Path(path) => return Ok(vec![FileRef::Path(path.clone())]),
            FileSpec::StateFile => return Ok(vec![FileRef::StateFile]),
            FileSpec::Of(place, of, rest) => (*place, of, rest),
        };
        let mut files = Vec::new();
        for subject in self.resolved.find_one(of, None) {
            if only.is_some_and(|only| self.resolved.layer_of(&subject) != Some(only)) {
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
            Subject::Port(port) => Ok(FileRef::Port(self.resolved.slot(*port), rest.to_owned())),
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

    fn file_moment(&self, spec: &FileMomentSpec) -> Result<FileMoment, Unfit> {
        let files = self.files(&spec.file, None)?;
        let [file] = &files[..] else {
            let place = match &spec.file {
                FileSpec::Of(place, ..) => *place,
                FileSpec::Path(_) | FileSpec::StateFile => Place::default(),
            };
            let what = format!("a moment is about one file, this names {}", files.len());
            return Err(self.source.wrong(place, what).into());
        };
        Ok(FileMoment {
            op: spec.op,
            file: file.clone(),
            nth: spec.nth,
        })
    }

    fn ports(&self, of: &Subjects, only: Option<LinkLayer>) -> Vec<usize> {
        let mut ports = self.resolved.find_ports(of, None);
        ports.retain(|port| only.is_none_or(|only| self.resolved.ports[*port].facts.layer == only));
        ports
    }

    fn functions(&self, of: &Subjects, only: Option<LinkLayer>) -> Vec<FunctionRef> {
        let layer = |device: &FunctionRef| self.resolved.layer_of(&Subject::Device(device.clone()));
        let mut functions = self.resolved.find_functions(of, None);
        functions.retain(|device| only.is_none_or(|only| layer(device) == Some(only)));
        functions
    }

    fn one_function(&self, of: &Subjects) -> Result<FunctionRef, Unfit> {
        match &self.resolved.find_functions(of, None)[..] {
            [device] => Ok(device.clone()),
            many => {
                let what = format!("one device is meant here, this names {}", many.len());
                Err(self.source.wrong(of.place, what).into())
            }
        }
    }

    fn names(&self, spec: &NamesSpec) -> Result<BTreeMap<PciAddress, DeviceName>, Unfit> {
        let mut names = BTreeMap::new();
        for (place, spec, name) in spec.values() {
            let of = Subjects {
                place: *place,
                items: vec![Named::clone(spec)],
            };
            names.insert(self.one_function(&of)?.pci, name.clone());
        }
        Ok(names)
    }
}
