//! A NIC health monitor: reports the link state of NVIDIA's RDMA ports to the platform connector.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use connector::{
    Entity, HealthEvent, HealthEvents, ProcessingStrategy, RecommendedAction,
    platform_connector_client::PlatformConnectorClient,
};
use tonic::{
    Code, Status,
    transport::{Channel, Endpoint},
};

#[expect(dead_code, reason = "the contract has more than a monitor sends")]
mod connector {
    tonic::include_proto!("datamodels");
}

#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Severity {
    Healthy,
    NonFatal,
    Fatal,
}

/// A device and one of its ports.
type Port = (String, String);

struct Monitor {
    root: PathBuf,
    node: String,
    checks: Vec<String>,
    connector: PlatformConnectorClient<Channel>,
    /// Whether a device is monitored.
    watched: BTreeMap<String, bool>,
    /// The worst of a port that was accepted since its last healthy event.
    said: BTreeMap<Port, Severity>,
    /// The ports that have been healthy.
    known: BTreeSet<Port>,
    /// The first of the waits between attempts to send.
    backoff: Duration,
}

fn read(path: impl AsRef<Path>) -> io::Result<String> {
    Ok(fs::read_to_string(path)?.trim().to_owned())
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = entries.collect::<io::Result<_>>()?;
    names.sort();
    Ok(names)
}

fn severity(layer: &str, state: &str, phys: &str) -> Option<Severity> {
    match (layer, state, phys) {
        (_, "ACTIVE", "LinkUp") => Some(Severity::Healthy),
        (_, "DOWN", _) | ("InfiniBand", _, "Disabled") => Some(Severity::Fatal),
        ("InfiniBand", ..) => Some(Severity::NonFatal),
        _ => None, // an Ethernet port in between is not reported
    }
}

impl Monitor {
    fn class(&self) -> PathBuf {
        self.root.join("sys/class/infiniband")
    }

    /// A physical function of NVIDIA that does not carry the default route.
    fn is_watched(&self, device: &str) -> io::Result<bool> {
        let folder = self.class().join(device).join("device");
        if read(folder.join("vendor"))? != "0x15b3" || folder.join("physfn").exists() {
            return Ok(false);
        }
        let net = names(&folder.join("net")).unwrap_or_default();
        let routes = read(self.root.join("proc/net/route"))?;
        Ok(!routes.lines().any(|line| {
            let mut words = line.split_whitespace();
            words.next().is_some_and(|name| net.iter().any(|net| net == name)) && words.next() == Some("00000000")
        }))
    }

    /// The changes of one device's ports.
    fn changes(&mut self, device: &str) -> io::Result<Vec<(Port, Severity, HealthEvent)>> {
        if !self.watched.contains_key(device) {
            self.watched.insert(device.to_owned(), self.is_watched(device)?);
        }
        let mut changes = Vec::new();
        let folder = self.class().join(device).join("ports");
        for port in if self.watched[device] { names(&folder)? } else { Vec::new() } {
            let text = |file| read(folder.join(&port).join(file));
            let (layer, state, phys) = (text("link_layer")?, text("state")?, text("phys_state")?);
            // Such as `4: ACTIVE` and `5: LinkUp`; anything else is neither healthy nor faulty.
            let (Some((_, state)), Some((_, phys))) = (state.split_once(": "), phys.split_once(": ")) else {
                continue;
            };
            let which = (device.to_owned(), port.clone());
            let Some(now) = severity(&layer, state, phys) else { continue };
            if now == Severity::Healthy {
                self.known.insert(which.clone());
            }
            // The first event of a port is a healthy one; after it, a worse state and the return to healthy are reported.
            let is_news = match (now, self.said.get(&which)) {
                (Severity::Healthy, before) => before != Some(&now),
                (_, before) => self.known.contains(&which) && before.is_none_or(|before| now > *before),
            };
            if !is_news {
                continue;
            }
            let entity = |kind: &str, value: &str| Entity { entity_type: kind.into(), entity_value: value.into() };
            let action = if now == Severity::Fatal { RecommendedAction::ReplaceVm } else { RecommendedAction::None };
            let event = HealthEvent {
                version: 1,
                agent: "nic-health-monitor".into(),
                component_class: "NIC".into(),
                check_name: format!("{layer}StateCheck"),
                is_fatal: now == Severity::Fatal,
                is_healthy: now == Severity::Healthy,
                message: format!("Port {device} port {port}: state {state}, phys_state {phys}"),
                recommended_action: action.into(),
                entities_impacted: vec![entity("NIC", device), entity("NICPort", &port)],
                node_name: self.node.clone(),
                processing_strategy: ProcessingStrategy::ExecuteRemediation.into(),
                ..HealthEvent::default()
            };
            changes.push((which, now, event));
        }
        Ok(changes)
    }

    /// Sends a batch. A connector that is not available, or whose connection breaks, is tried again at once, three times.
    async fn publish(&mut self, batch: HealthEvents) -> Result<(), Status> {
        for attempt in 0..3 {
            match self.connector.health_event_occurred_v1(batch.clone()).await {
                Err(status) if matches!(status.code(), Code::Unavailable | Code::Unknown) => {
                    tokio::time::sleep(self.backoff * 2u32.pow(attempt)).await;
                }
                answer => return answer.map(|_| ()),
            }
        }
        self.connector.health_event_occurred_v1(batch).await.map(|_| ())
    }

    async fn poll(&mut self) -> Result<(), Box<dyn Error>> {
        let mut changes = Vec::new();
        for device in names(&self.class())? {
            changes.extend(self.changes(&device).unwrap_or_default()); // it can be read in a later poll
        }
        changes.sort_by_key(|(_, now, _)| *now != Severity::Healthy); // clears come first
        for check in self.checks.clone() {
            let of_check = changes.iter().filter(|(_, _, event)| event.check_name == check);
            let mut events: Vec<HealthEvent> = of_check.clone().map(|(_, _, event)| event.clone()).collect();
            events.iter_mut().for_each(|event| event.generated_timestamp = Some(SystemTime::now().into()));
            if !events.is_empty() {
                self.publish(HealthEvents { version: 1, events }).await?;
                // Delivered, then remembered.
                self.said.extend(of_check.map(|(which, now, _)| (which.clone(), *now)));
            }
        }
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let flags: BTreeMap<String, String> =
        env::args().filter_map(|word| word.split_once('=').map(|(name, value)| (name.into(), value.into()))).collect();
    let flag = |name: &str, default: &str| flags.get(name).cloned().unwrap_or_else(|| default.into());
    let socket = flag("--socket", "/var/run/nvsentinel.sock");
    let interval = Duration::from_secs_f64(flag("--interval", "1").parse()?);
    let endpoint = Endpoint::from_shared(format!("unix://{socket}"))?.timeout(Duration::from_secs(10));
    let mut monitor = Monitor {
        root: flag("--root", "/").into(),
        node: flag("--node", &env::var("NODE_NAME").unwrap_or_default()),
        checks: flag("--checks", "InfiniBandStateCheck,EthernetStateCheck").split(',').map(str::to_owned).collect(),
        connector: PlatformConnectorClient::new(endpoint.connect_lazy()),
        watched: BTreeMap::new(),
        said: BTreeMap::new(),
        known: BTreeSet::new(),
        backoff: interval / 10,
    };
    loop {
        if let Err(error) = monitor.poll().await {
            eprintln!("{error}"); // the next poll finds the same changes again
        }
        tokio::time::sleep(interval).await;
    }
}
