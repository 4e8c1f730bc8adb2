//! A small world in memory that implements the agent's reads, and a rig that runs an agent in it.

use std::collections::{BTreeMap, BTreeSet};

use checks::{
    Agent, Answer, Clocks, Flags, Hands, LogRecord, Outcome, ReadError, Refusal, Request, SaveStep,
    Start, Todo,
};

pub(crate) const ANCHOR: &str = "/sys/class/infiniband";
pub(crate) const NET: &str = "/sys/class/net";
const SECOND_NS: u64 = 1_000_000_000;
/// 2025-03-01T00:00:00Z.
const EPOCH_NS: u64 = 1_740_787_200 * SECOND_NS;

/// Files, links and errors by path.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) links: BTreeMap<String, String>,
    pub(crate) folders: BTreeSet<String>,
    pub(crate) errors: BTreeMap<String, ReadError>,
    /// Errors of reading a link alone; what is below it can be read.
    pub(crate) link_errors: BTreeMap<String, ReadError>,
    pub(crate) wall_ns: u64,
    pub(crate) boot_ns: u64,
}

impl Hands for World {
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Answer, ReadError>> {
        requests.iter().map(|request| self.one(request)).collect()
    }

    fn clocks(&self) -> Result<Clocks, ReadError> {
        Ok(Clocks {
            wall_ns: self.wall_ns,
            boot_ns: self.boot_ns,
        })
    }
}

impl World {
    fn one(&self, request: &Request) -> Result<Answer, ReadError> {
        let path = request.path();
        let broken = self
            .errors
            .iter()
            .find(|(prefix, _)| path == *prefix || path.starts_with(&format!("{prefix}/")));
        if let Some((_, error)) = broken {
            return Err(*error);
        }
        match request {
            Request::Read(_) => match self.files.get(path) {
                Some(text) => Ok(Answer::Bytes(text.clone().into_bytes())),
                None => Err(ReadError::ENOENT),
            },
            Request::ReadLink(_) if self.link_errors.contains_key(path) => {
                Err(self.link_errors[path])
            }
            Request::ReadLink(_) => match self.links.get(path) {
                Some(target) => Ok(Answer::Target(target.clone())),
                None if self.exists(path) => Err(ReadError::EINVAL),
                None => Err(ReadError::ENOENT),
            },
            Request::List(_) if !self.exists(path) => Err(ReadError::ENOENT),
            Request::List(_) => Ok(Answer::Names(self.names(path))),
        }
    }

    fn paths(&self) -> impl Iterator<Item = &String> {
        self.files
            .keys()
            .chain(self.links.keys())
            .chain(&self.folders)
    }

    fn exists(&self, path: &str) -> bool {
        let below = format!("{path}/");
        self.paths()
            .any(|known| known == path || known.starts_with(&below))
    }

    fn names(&self, path: &str) -> Vec<String> {
        let below = format!("{path}/");
        let names: BTreeSet<String> = self
            .paths()
            .filter_map(|known| known.strip_prefix(&below))
            .filter_map(|rest| rest.split('/').next())
            .map(str::to_owned)
            .collect();
        names.into_iter().collect()
    }

    pub(crate) fn put(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), format!("{text}\n"));
    }

    pub(crate) fn put_device(&mut self, nic: &Nic) {
        let name = &nic.name;
        let base = format!("{ANCHOR}/{name}");
        let target = format!(
            "../../devices/pci0000:00/{}/infiniband/{name}",
            nic.function
        );
        self.links.insert(base.clone(), target);
        let driver = "../../../bus/pci/drivers/mlx5_core".to_owned();
        self.links.insert(format!("{base}/device/driver"), driver);
        self.put(&format!("{base}/device/vendor"), "0x15b3");
        self.put(&format!("{base}/device/numa_node"), &nic.numa.to_string());
        self.put(&format!("{base}/hca_type"), &nic.hca_type);
        if !nic.vf {
            self.put(&format!("{base}/device/sriov_totalvfs"), "8");
        }
        if nic.vf {
            self.links.insert(
                format!("{base}/device/physfn"),
                "../0000:00:00.0".to_owned(),
            );
        }
        if let Some(interface) = &nic.interface {
            self.folders
                .insert(format!("{base}/device/net/{interface}"));
            self.folders
                .insert(format!("{NET}/{interface}/device/infiniband/{name}"));
            self.put(&format!("{NET}/{interface}/operstate"), "down");
        }
        for port in 1..=nic.ports {
            self.put(&format!("{base}/ports/{port}/link_layer"), nic.layer);
            self.set(name, port, UP);
        }
    }

    pub(crate) fn drop_device(&mut self, name: &str) {
        let base = format!("{ANCHOR}/{name}");
        let below = format!("{base}/");
        let is_of = |path: &String| *path == base || path.starts_with(&below);
        self.files.retain(|path, _| !is_of(path));
        self.links.retain(|path, _| !is_of(path));
        self.folders.retain(|path| !is_of(path));
    }

    pub(crate) fn drop_port(&mut self, name: &str, port: u32) {
        let below = format!("{ANCHOR}/{name}/ports/{port}/");
        self.files.retain(|path, _| !path.starts_with(&below));
        self.folders.insert(format!("{ANCHOR}/{name}/ports"));
    }

    pub(crate) fn set(&mut self, name: &str, port: u32, (state, phys): (&str, &str)) {
        self.put(&format!("{ANCHOR}/{name}/ports/{port}/state"), state);
        self.put(&format!("{ANCHOR}/{name}/ports/{port}/phys_state"), phys);
    }

    pub(crate) fn set_layer(&mut self, name: &str, port: u32, layer: &str) {
        self.put(&format!("{ANCHOR}/{name}/ports/{port}/link_layer"), layer);
    }
}

pub(crate) const UP: (&str, &str) = ("4: ACTIVE", "5: LinkUp");
pub(crate) const DISABLED: (&str, &str) = ("1: DOWN", "3: Disabled");
pub(crate) const POLLING: (&str, &str) = ("1: DOWN", "2: Polling");
pub(crate) const INIT: (&str, &str) = ("2: INIT", "5: LinkUp");
pub(crate) const IB: &str = "InfiniBand";
pub(crate) const ETH: &str = "Ethernet";

/// A healthy device on the GPUs' NUMA node; each test sets what matters.
#[derive(Debug, Clone)]
pub(crate) struct Nic {
    pub(crate) name: String,
    pub(crate) function: String,
    pub(crate) layer: &'static str,
    pub(crate) ports: u32,
    pub(crate) numa: i64,
    pub(crate) hca_type: String,
    pub(crate) vf: bool,
    pub(crate) interface: Option<String>,
}

pub(crate) fn nic(index: u32) -> Nic {
    Nic {
        name: format!("mlx5_{index}"),
        function: format!("0000:{:02x}:00.0", 0x10 + index),
        layer: IB,
        ports: 1,
        numa: 0,
        hca_type: "MT4129".to_owned(),
        vf: false,
        interface: None,
    }
}

impl Nic {
    pub(crate) fn named(mut self, name: &str) -> Nic {
        self.name = name.to_owned();
        self
    }

    pub(crate) fn at(mut self, function: &str) -> Nic {
        self.function = function.to_owned();
        self
    }

    pub(crate) fn ethernet(mut self) -> Nic {
        self.layer = ETH;
        self
    }

    pub(crate) fn ports(mut self, ports: u32) -> Nic {
        self.ports = ports;
        self
    }

    pub(crate) fn numa(mut self, numa: i64) -> Nic {
        self.numa = numa;
        self
    }

    pub(crate) fn vf(mut self) -> Nic {
        self.vf = true;
        self
    }

    pub(crate) fn interface(mut self, interface: &str) -> Nic {
        self.interface = Some(interface.to_owned());
        self
    }
}

/// What the connector answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Connector {
    Accepts,
    /// Takes the batch and answers with a code.
    Refuses(i32),
    Missing,
    /// Takes the batch, and the answer is lost.
    LosesReply,
}

/// An agent in a world, with a disk and a connector.
#[derive(Debug)]
pub(crate) struct Rig {
    pub(crate) world: World,
    pub(crate) agent: Option<Agent>,
    pub(crate) disk: Option<Vec<u8>>,
    pub(crate) disk_error: Option<ReadError>,
    pub(crate) saves: usize,
    pub(crate) connector: Connector,
    pub(crate) config: String,
    pub(crate) args: Vec<String>,
    pub(crate) boot_id: Option<String>,
    pub(crate) metadata: String,
    pub(crate) route: Option<String>,
    /// Why it does not exist.
    pub(crate) route_error: ReadError,
    pub(crate) records: Vec<LogRecord>,
    /// Every call the connector received, as `check: events`.
    pub(crate) calls: Vec<(String, Vec<proto::HealthEvent>)>,
    pub(crate) attempts: u32,
    pub(crate) waits_ms: Vec<u128>,
}

impl Rig {
    pub(crate) fn new(nics: &[Nic]) -> Rig {
        let mut world = World {
            wall_ns: EPOCH_NS,
            boot_ns: 100 * SECOND_NS,
            ..World::default()
        };
        world.folders.insert(ANCHOR.to_owned());
        for nic in nics {
            world.put_device(nic);
        }
        Rig {
            world,
            agent: None,
            disk: None,
            disk_error: None,
            saves: 0,
            connector: Connector::Accepts,
            config: String::new(),
            args: Vec::new(),
            boot_id: Some("boot-1".to_owned()),
            metadata: r#"{"gpus":[{"numa_node":0}],"nic_topology":{"other":["SYS"]}}"#.to_owned(),
            route: None,
            route_error: ReadError::ENOENT,
            records: Vec::new(),
            calls: Vec::new(),
            attempts: 0,
            waits_ms: Vec::new(),
        }
    }

    /// A rig whose agent has had its first poll.
    pub(crate) fn started(nics: &[Nic]) -> Rig {
        let mut rig = Rig::new(nics);
        rig.poll();
        rig
    }

    pub(crate) fn try_start(&mut self) -> Result<(), Refusal> {
        let config = format!(
            "sysClassInfinibandPath = '{ANCHOR}'\nsysClassNetPath = '{NET}'\n{}",
            self.config
        );
        let mut args = vec![
            "--node-name=n1".to_owned(),
            "--checks=InfiniBandStateCheck,EthernetStateCheck".to_owned(),
            "--state-file=/s/state.json".to_owned(),
            "--boot-id-path=/boot_id".to_owned(),
            "--proc-net-route-path=/route".to_owned(),
            "--publish-backoff=1ms".to_owned(),
        ];
        args.extend(self.args.iter().cloned());
        let flags = Flags::from_args(args.iter().map(String::as_str))?;
        let (settings, _) = flags.settings()?;
        match &self.boot_id {
            Some(boot_id) => self.world.put("/boot_id", boot_id),
            None => {
                self.world.files.remove("/boot_id");
            }
        }
        let boot_id = self.boot_id.as_ref().map(|text| text.as_bytes());
        let start = Start {
            settings,
            config: Ok(config.as_bytes()),
            metadata: Ok(self.metadata.as_bytes()),
            route: self
                .route
                .as_deref()
                .map(str::as_bytes)
                .ok_or(self.route_error),
            boot_id: boot_id.ok_or(ReadError::EIO),
            state: self.disk.as_deref().ok_or(ReadError::ENOENT),
        };
        let started = Agent::start(start)?;
        self.agent = Some(started.0);
        self.records.extend(started.1);
        Ok(())
    }

    pub(crate) fn tick(&mut self) {
        self.world.wall_ns += SECOND_NS;
        self.world.boot_ns += SECOND_NS;
    }

    pub(crate) fn wait(&mut self, seconds: u64) {
        self.world.wall_ns += seconds * SECOND_NS;
        self.world.boot_ns += seconds * SECOND_NS;
    }

    /// Stops the agent regularly and drops it.
    pub(crate) fn stop(&mut self) {
        if let Some(mut agent) = self.agent.take() {
            agent.stop();
            self.drain(&mut agent);
        }
    }

    /// Drops the agent as a kill does.
    pub(crate) fn kill(&mut self) {
        self.agent = None;
    }

    pub(crate) fn restart(&mut self) {
        self.stop();
    }

    /// The host reboots, with another boot id and a boot clock near zero.
    pub(crate) fn reboot(&mut self) {
        self.kill();
        let number = self.world.wall_ns % 1_000_003;
        self.boot_id = Some(format!("boot-{number}"));
        self.world.boot_ns = 20 * SECOND_NS;
    }

    /// One tick and one poll; returns the accepted events in short form.
    pub(crate) fn poll(&mut self) -> Vec<String> {
        let before = self.calls.len();
        self.tick();
        if self.agent.is_none() {
            self.try_start().unwrap();
        }
        let mut agent = self.agent.take().unwrap();
        let polled = agent.poll(&self.world);
        agent.take(polled);
        self.drain(&mut agent);
        self.agent = Some(agent);
        self.calls[before..]
            .iter()
            .flat_map(|(_, events)| events.iter().map(rendered))
            .collect()
    }

    /// Polls until there are no more events, at most that often; returns the events.
    pub(crate) fn polls(&mut self, count: usize) -> Vec<String> {
        (0..count).flat_map(|_| self.poll()).collect()
    }

    fn drain(&mut self, agent: &mut Agent) {
        loop {
            match agent.next() {
                Todo::Done => return,
                Todo::LogRecord(record) => self.records.push(record),
                Todo::Wait(span) => self.waits_ms.push(span.as_millis()),
                Todo::Save(steps) => {
                    let result = self.save(&steps);
                    agent.saved(result);
                }
                Todo::Publish { check, batch, .. } => {
                    self.attempts += 1;
                    let outcome = match self.connector {
                        Connector::Accepts => Outcome::Accepted,
                        Connector::Missing => Outcome::SocketMissing,
                        Connector::Refuses(code) => Outcome::Status {
                            code,
                            message: "no".to_owned(),
                        },
                        Connector::LosesReply => Outcome::TimedOut,
                    };
                    let is_received =
                        matches!(self.connector, Connector::Accepts | Connector::LosesReply);
                    if is_received {
                        self.calls.push((check.name().to_owned(), batch.events));
                    }
                    agent.published(&outcome);
                }
            }
        }
    }

    fn save(&mut self, steps: &[SaveStep]) -> Result<(), ReadError> {
        if let Some(error) = self.disk_error {
            return Err(error);
        }
        let mut temporary = None;
        for step in steps {
            match step {
                SaveStep::Create(_) => temporary = Some(Vec::new()),
                SaveStep::Write(_, bytes) => {
                    temporary
                        .as_mut()
                        .expect("created first")
                        .extend_from_slice(bytes);
                }
                SaveStep::Rename(_, _) => self.disk = temporary.take(),
                SaveStep::CreateFolder(_) | SaveStep::Fsync(_) | SaveStep::FsyncFolder(_) => {}
            }
        }
        self.saves += 1;
        Ok(())
    }

    pub(crate) fn records_with(&self, part: &str) -> usize {
        self.records
            .iter()
            .filter(|record| record.to_string().contains(part))
            .count()
    }
}

/// `F`atal, `n`on-fatal or `h`ealthy; the entities; the message.
pub(crate) fn rendered(event: &proto::HealthEvent) -> String {
    let kind = match (event.is_fatal, event.is_healthy) {
        (true, false) => 'F',
        (false, false) => 'n',
        (false, true) => 'h',
        (true, true) => panic!("fatal and healthy at once"),
    };
    let entities: Vec<&str> = event
        .entities_impacted
        .iter()
        .map(|entity| entity.entity_value.as_str())
        .collect();
    format!("{kind} {}: {}", entities.join("/"), event.message)
}

/// Only the kind and the entities.
pub(crate) fn brief(rendered: &[String]) -> Vec<&str> {
    rendered
        .iter()
        .map(|line| line.split(": ").next().unwrap_or_default())
        .collect()
}
