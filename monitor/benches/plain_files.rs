//! The reference monitor on plain files, 34 devices (18 PFs, 16 VFs), two state checks: time per
//! poll, time from start to first poll, polls per second in memory, and the peak memory of a whole
//! process with a connector that accepts. Prints numbers; judges nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Instant;

use std::collections::BTreeMap;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use checks::{Agent, Answer, Clocks, Flags, Hands, ReadError, Request, Start, Todo};
use monitor::FileHands;
use proto::HealthEvents;
use proto::platform_connector_server::{PlatformConnector, PlatformConnectorServer};
use tonic::{Response, Status};

const POLLS: u32 = 2000;

fn put(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn build(root: &Path) {
    fs::create_dir_all(root.join("class/infiniband")).expect("a folder");
    for index in 0..34_u32 {
        let name = format!("mlx5_{index}");
        let function = format!(
            "devices/pci0000:00/0000:{:02x}:00.{}",
            0x10 + index / 2,
            index % 2
        );
        let base = format!("{function}/infiniband/{name}");
        let is_vf = index >= 18;
        put(root, &format!("{base}/ports/1/link_layer"), "Ethernet\n");
        let (state, phys) = if is_vf {
            ("1: DOWN\n", "3: Disabled\n")
        } else {
            ("4: ACTIVE\n", "5: LinkUp\n")
        };
        put(root, &format!("{base}/ports/1/state"), state);
        put(root, &format!("{base}/ports/1/phys_state"), phys);
        put(root, &format!("{base}/hca_type"), "MT4129\n");
        put(root, &format!("{function}/numa_node"), "0\n");
        if is_vf {
            symlink("../0000:10:00.0", root.join(format!("{function}/physfn"))).expect("a link");
        }
        symlink("../..", root.join(format!("{base}/device"))).expect("a link");
        let entry = root.join(format!("class/infiniband/{name}"));
        symlink(format!("../../{base}"), entry).expect("a link");
    }
}

/// Answers learnt from real files, handed out from memory.
struct Memory(BTreeMap<Request, Result<Answer, ReadError>>);

impl Hands for Memory {
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Answer, ReadError>> {
        let one = |request| self.0.get(request).cloned();
        requests
            .iter()
            .map(|request| one(request).unwrap_or(Err(ReadError::ENOENT)))
            .collect()
    }

    fn clocks(&self) -> Result<Clocks, ReadError> {
        Ok(Clocks::default())
    }
}

/// Real files, and a record of what they told.
struct Recording<'a>(&'a FileHands, std::cell::RefCell<Memory>);

impl Hands for Recording<'_> {
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Answer, ReadError>> {
        let answers = self.0.fetch(requests);
        let told = requests.iter().cloned().zip(answers.iter().cloned());
        self.1.borrow_mut().0.extend(told);
        answers
    }

    fn clocks(&self) -> Result<Clocks, ReadError> {
        self.0.clocks()
    }
}

struct Accepting(std::sync::mpsc::Sender<usize>);

#[tonic::async_trait]
impl PlatformConnector for Accepting {
    async fn health_event_occurred_v1(
        &self,
        request: tonic::Request<HealthEvents>,
    ) -> Result<Response<()>, Status> {
        let _ = self.0.send(request.into_inner().events.len());
        Ok(Response::new(()))
    }
}

/// Peak resident memory of the whole monitor, this program started again.
fn peak_of_a_process(root: &Path) -> String {
    let file = |name: &str| root.join(name).display().to_string();
    let socket = file("connector.sock");
    let (sender, accepted) = std::sync::mpsc::channel();
    let listening = socket.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async move {
            let listener = tokio::net::UnixListener::bind(listening).expect("a socket");
            let incoming = tokio_stream::wrappers::UnixListenerStream::new(listener);
            let served = tonic::transport::Server::builder()
                .add_service(PlatformConnectorServer::new(Accepting(sender)))
                .serve_with_incoming(incoming);
            served.await.expect("a server");
        });
    });
    put(root, "boot_id", "b\n");
    put(root, "metadata.json", METADATA);
    put(root, "config.toml", &config(root));
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .arg("--as-monitor")
        .args(ARGS)
        .args([
            "--config",
            &file("config.toml"),
            "--metadata-path",
            &file("metadata.json"),
        ])
        .args([
            "--boot-id-path",
            &file("boot_id"),
            "--proc-net-route-path",
            &file("route"),
        ])
        .args([
            "--state-file",
            &file("run/state.json"),
            "--state-polling-interval",
            "1ms",
        ])
        .args(["--platform-connector-socket", &format!("unix://{socket}")])
        .stderr(Stdio::null())
        .spawn()
        .expect("this program runs");
    let events = accepted
        .recv_timeout(Duration::from_secs(30))
        .expect("a baseline");
    // Some hundred polls, and a fault that is handed over among them.
    replace_state(root, "1: DOWN\n");
    accepted
        .recv_timeout(Duration::from_secs(30))
        .expect("a fault");
    replace_state(root, "4: ACTIVE\n");
    accepted
        .recv_timeout(Duration::from_secs(30))
        .expect("a recovery");
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let _ = child.kill();
    let _ = child.wait();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    format!(
        "{} ({events} baseline events)",
        line.unwrap_or("unknown").trim()
    )
}

fn replace_state(root: &Path, text: &str) {
    let path = root.join("class/infiniband/mlx5_0/ports/1/state");
    let temporary = path.with_extension("new");
    fs::write(&temporary, text).expect("a file");
    fs::rename(temporary, path).expect("a file");
}

const ARGS: [&str; 2] = [
    "--node-name=n",
    "--checks=InfiniBandStateCheck,EthernetStateCheck",
];
const METADATA: &str = r#"{"gpus":[{"numa_node":0}],"nic_topology":{"x":["SYS"]}}"#;

fn config(root: &Path) -> String {
    format!(
        "sysClassInfinibandPath = '{}/class/infiniband'",
        root.display()
    )
}

fn drain(agent: &mut Agent) -> usize {
    let mut events = 0;
    loop {
        match agent.next() {
            Todo::Done => return events,
            Todo::Publish { batch, .. } => {
                events += batch.events.len();
                agent.published(&checks::Outcome::Accepted);
            }
            Todo::Save(_) => agent.saved(Ok(())),
            Todo::Note(_) | Todo::Wait(_) => {}
        }
    }
}

fn started(config: &str, flags: &Flags) -> Agent {
    let (settings, _) = flags.settings().expect("the flags are sound");
    let start = Start {
        settings,
        config: Ok(config.as_bytes()),
        metadata: Ok(METADATA.as_bytes()),
        route: Err(ReadError::ENOENT),
        boot_id: Ok(b"b"),
        state: Err(ReadError::ENOENT),
    };
    Agent::start(start).expect("the texts are sound").0
}

/// Milliseconds of each of many polls, shortest first.
fn times(agent: &mut Agent, hands: &dyn Hands) -> Vec<f64> {
    let mut times: Vec<f64> = (0..POLLS)
        .map(|_| {
            let began = Instant::now();
            let polled = agent.poll(hands);
            agent.take(polled);
            drain(agent);
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

#[expect(clippy::print_stdout, reason = "a bench prints its numbers")]
fn main() -> ExitCode {
    let mut args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|arg| arg == "--as-monitor") {
        args.remove(1);
        return monitor::run(args);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    build(folder.path());
    let config = config(folder.path());
    let began = Instant::now();
    let flags = Flags::from_args(ARGS).expect("the flags are of the table");
    let mut agent = started(&config, &flags);
    let hands = FileHands::new(agent.settings());
    let polled = agent.poll(&hands);
    let first_ms = began.elapsed().as_secs_f64() * 1e3;
    agent.take(polled);
    let events = drain(&mut agent);
    println!("start to first poll read: {first_ms:.2} ms; baseline events: {events}");
    let files = times(&mut agent, &hands);
    let at = |times: &[f64], share: usize| times[times.len() * share / 100];
    let (median, late) = (at(&files, 50), at(&files, 95));
    println!("one poll of 34 devices: median {median:.3} ms, 95 % {late:.3} ms");

    let recording = Recording(&hands, std::cell::RefCell::new(Memory(BTreeMap::new())));
    let mut agent = started(&config, &flags);
    let polled = agent.poll(&recording);
    agent.take(polled);
    drain(&mut agent);
    let memory = recording.1.into_inner();
    let steady = at(&times(&mut agent, &memory), 50);
    println!(
        "one poll in memory: median {:.1} us, {:.0} a second",
        steady * 1e3,
        1e3 / steady
    );
    println!(
        "peak memory of the process: {}",
        peak_of_a_process(folder.path())
    );
    ExitCode::SUCCESS
}
