//! A small monitor: it lists the devices, reads the state of each port, and calls the connector
//! with every line that changed.
//!
//! Modes: `plain`; `caller` calls in every poll; `twice` lists twice in a poll; `behind` calls from
//! a second thread, a while after the poll; `loops` polls from two threads; `mute` never calls;
//! `hang` never polls; `exit` ends at once.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::mpsc,
    thread,
    time::Duration,
};

use proto::{HealthEvent, HealthEvents, platform_connector_client::PlatformConnectorClient};
use tokio::runtime::Runtime;
use tonic::transport::{Channel, Endpoint};

pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let [mode, root, socket] = arguments else {
        return ExitCode::from(64);
    };
    let class = Path::new(root).join("sys/class/infiniband");
    match mode.as_str() {
        "exit" => {
            eprintln!("no reason to stay");
            return ExitCode::from(3);
        }
        "hang" => loop {
            thread::park();
        },
        "loops" => {
            let (other, socket_too) = (class.clone(), socket.clone());
            thread::spawn(move || Toy::new("plain", other, &socket_too).forever());
        }
        _ => {}
    }
    Toy::new(mode, class, socket).forever()
}

struct Toy {
    mode: String,
    class: PathBuf,
    mouth: Mouth,
    behind: Option<mpsc::Sender<Vec<String>>>,
    known: BTreeMap<String, String>,
}

impl Toy {
    fn new(mode: &str, class: PathBuf, socket: &str) -> Self {
        let behind = (mode == "behind").then(|| {
            let (send, lines) = mpsc::channel::<Vec<String>>();
            let socket = socket.to_owned();
            thread::spawn(move || {
                let mut mouth = Mouth::new(&socket);
                for lines in lines {
                    // Some work, like that of a queue's worker.
                    let mut sum = 0_u64;
                    for number in 0..2_000_000_u64 {
                        sum = sum.wrapping_mul(31).wrapping_add(number);
                    }
                    std::hint::black_box(sum);
                    mouth.say(lines);
                }
            });
            send
        });
        Self {
            mode: mode.to_owned(),
            class,
            mouth: Mouth::new(socket),
            behind,
            known: BTreeMap::new(),
        }
    }

    fn forever(mut self) -> ExitCode {
        loop {
            self.poll();
            thread::sleep(Duration::from_micros(100));
        }
    }

    fn poll(&mut self) {
        let mut now = self.look();
        if self.mode == "twice" {
            now = self.look();
        }
        let reported = now
            .iter()
            .filter(|(port, state)| self.known.get(*port) != Some(*state));
        let mut lines: Vec<String> = reported
            .map(|(port, state)| format!("{port} {state}"))
            .collect();
        lines.extend(
            self.known
                .keys()
                .filter(|port| !now.contains_key(*port))
                .map(|port| format!("{port} gone")),
        );
        let first = self.known.is_empty();
        self.known = now;
        if first {
            lines = vec![format!("{} ports", self.known.len())];
        }
        match &self.behind {
            _ if self.mode == "mute" => {}
            _ if lines.is_empty() && self.mode != "caller" => {}
            Some(behind) => behind.send(lines).unwrap(),
            None => self.mouth.say(lines),
        }
    }

    fn look(&self) -> BTreeMap<String, String> {
        let names = |folder: &Path| {
            let mut names: Vec<String> = fs::read_dir(folder)
                .map(|entries| {
                    entries
                        .flatten()
                        .map(|entry| entry.file_name().to_string_lossy().into_owned())
                        .collect()
                })
                .unwrap_or_default();
            names.sort();
            names
        };
        let mut seen = BTreeMap::new();
        for device in names(&self.class) {
            let ports = self.class.join(&device).join("ports");
            for port in names(&ports) {
                match fs::read_to_string(ports.join(&port).join("state")) {
                    Ok(state) => seen.insert(format!("{device}/{port}"), state.trim().to_owned()),
                    Err(error) => {
                        eprintln!("{device}/{port}: {error}");
                        None
                    }
                };
            }
        }
        seen
    }
}

/// Calls the connector.
struct Mouth {
    runtime: Runtime,
    client: PlatformConnectorClient<Channel>,
}

impl Mouth {
    fn new(socket: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let endpoint = Endpoint::try_from(format!("unix://{socket}"))
            .unwrap()
            .timeout(Duration::from_millis(300));
        let channel = {
            let _inside = runtime.enter();
            endpoint.connect_lazy()
        };
        Self {
            runtime,
            client: PlatformConnectorClient::new(channel),
        }
    }

    fn say(&mut self, lines: Vec<String>) {
        let event = |message| HealthEvent {
            message,
            ..HealthEvent::default()
        };
        let batch = HealthEvents {
            version: 1,
            events: lines.into_iter().map(event).collect(),
        };
        let answer = self
            .runtime
            .block_on(self.client.health_event_occurred_v1(batch));
        eprintln!(
            "{}",
            answer.map_or_else(|status| format!("{:?}", status.code()), |_| "Ok".to_owned())
        );
    }
}
