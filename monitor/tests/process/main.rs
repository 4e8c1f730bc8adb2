//! The whole monitor as a process: plain files, a real socket, real signals.
//!
//! Run without the test harness, because the program under test is this one, started again with
//! `--as-monitor`.

mod operator;

use std::fs;
use std::io::BufRead as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use checks::Variant;
use libtest_mimic::{Arguments, Trial};
use proto::platform_connector_server::{PlatformConnector, PlatformConnectorServer};
use proto::{HealthEvent, HealthEvents};
use tonic::{Request, Response, Status};

/// Longer than anything here takes; a test that waits for it has failed.
const LIMIT: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let mut args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|arg| arg == "--as-monitor") {
        args.remove(1);
        return monitor::run(args, Variant::RIGHT);
    }
    let cases: [(&str, fn()); 15] = [
        ("a_port_that_goes_down_reaches_the_connector", reaches),
        (
            "a_connector_that_comes_late_gets_what_still_holds",
            comes_late,
        ),
        ("sigterm_ends_within_a_second_in_mid_retry", ends_in_retry),
        ("a_read_that_hangs_blinds_nothing_else", hangs),
        ("a_restart_remembers_what_was_said", remembers),
        ("what_cannot_be_is_refused_with_one_line", refuses),
        ("explain_and_check_config_end_by_themselves", explains),
        ("metrics_tell_what_was_counted", operator::counts),
        ("a_loop_that_is_frozen_is_not_healthy", operator::freezes),
        ("a_read_that_hangs_stalls_no_answer", operator::hangs_unseen),
        (
            "sigterm_ends_within_a_second_in_a_call",
            operator::ends_in_call,
        ),
        (
            "sigterm_ends_within_a_second_at_start",
            operator::ends_at_start,
        ),
        (
            "a_port_that_is_taken_is_lived_without",
            operator::port_taken,
        ),
        ("the_help_text_is_the_page_of_flags", operator::helps),
        ("gids_are_counted_and_may_hang", operator::counts_gids),
    ];
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let trials = cases.into_iter().map(|(name, case)| {
        Trial::test(name, move || {
            case();
            Ok(())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// A node in a temporary folder.
struct Node {
    folder: tempfile::TempDir,
}

impl Node {
    fn new(devices: u32) -> Node {
        let node = Node {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(node.path("class/infiniband")).unwrap();
        for index in 0..devices {
            let name = format!("mlx5_{index}");
            let function = format!("devices/pci0000:00/0000:{:02x}:00.0", 0x10 + index);
            let base = format!("{function}/infiniband/{name}");
            node.put(&format!("{base}/ports/1/link_layer"), "InfiniBand\n");
            node.put(&format!("{base}/hca_type"), "MT4129\n");
            node.put(&format!("{function}/numa_node"), "0\n");
            symlink("../..", node.path(&format!("{base}/device"))).unwrap();
            let entry = node.path(&format!("class/infiniband/{name}"));
            symlink(format!("../../{base}"), entry).unwrap();
            node.set(&name, "4: ACTIVE\n", "5: LinkUp\n");
        }
        node.put("boot_id", "boot-1\n");
        let metadata = r#"{"gpus":[{"numa_node":0}],"nic_topology":{"x":["SYS"]}}"#;
        node.put("metadata.json", metadata);
        let config = format!(
            "sysClassInfinibandPath = '{0}/class/infiniband'\nsysClassNetPath = '{0}/class/net'\n",
            node.folder.path().display()
        );
        node.put("config.toml", &config);
        node
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces a file whole, as sysfs does: a reader never gets half of it.
    fn put(&self, name: &str, text: &str) {
        replace(&self.path(name), text);
    }

    fn port(&self, device: &str, file: &str) -> PathBuf {
        self.path(&format!("class/infiniband/{device}/ports/1/{file}"))
    }

    fn set(&self, device: &str, state: &str, phys: &str) {
        replace(&self.port(device, "phys_state"), phys);
        replace(&self.port(device, "state"), state);
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let file = |name: &str| self.path(name).display().to_string();
        let socket = format!("unix://{}", file("connector.sock"));
        command
            .arg("--as-monitor")
            .args(["--checks", "InfiniBandStateCheck,EthernetStateCheck"])
            .args(["--node-name", "n1"])
            .args(["--config", &file("config.toml")])
            .args(["--metadata-path", &file("metadata.json")])
            .args(["--boot-id-path", &file("boot_id")])
            .args(["--proc-net-route-path", &file("route")])
            .args(["--state-file", &file("run/state.json")])
            .args(["--state-polling-interval", "5ms"])
            .args(["--publish-backoff", "5ms"])
            .args(["--read-timeout", "200ms"])
            .args(["--platform-connector-socket", &socket])
            .args(more)
            .stderr(Stdio::piped())
            .stdout(Stdio::piped());
        command
    }

    fn monitor(&self, more: &[&str]) -> Monitor {
        Monitor(self.command(more).spawn().unwrap())
    }
}

/// Puts a FIFO there.
fn fifo(path: &Path) {
    let temporary = path.with_extension("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &temporary, rustix::fs::Mode::RWXU).unwrap();
    fs::rename(temporary, path).unwrap();
}

fn replace(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let temporary = path.with_extension("new");
    fs::write(&temporary, text).unwrap();
    fs::rename(temporary, path).unwrap();
}

/// The process; killed when this value is dropped.
struct Monitor(Child);

impl Monitor {
    /// Sends it a signal to stop; returns how long it took.
    fn terminate(mut self) -> Duration {
        let began = Instant::now();
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let status = self.0.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{status}");
        began.elapsed()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A connector that passes on what it receives.
struct Connector {
    events: Receiver<HealthEvent>,
    held: tokio::sync::watch::Sender<bool>,
    _stop: tokio::sync::oneshot::Sender<()>,
}

struct Service(
    mpsc::Sender<HealthEvent>,
    tokio::sync::watch::Receiver<bool>,
);

#[tonic::async_trait]
impl PlatformConnector for Service {
    async fn health_event_occurred_v1(
        &self,
        request: Request<HealthEvents>,
    ) -> Result<Response<()>, Status> {
        for event in request.into_inner().events {
            let _ = self.0.send(event);
        }
        let mut held = self.1.clone();
        // The receiver of held calls is gone: no call is held any more.
        let _ = held.wait_for(|held| !held).await;
        Ok(Response::new(()))
    }
}

impl Connector {
    fn at(socket: &Path) -> Connector {
        let (events, received) = mpsc::channel();
        let (held, is_held) = tokio::sync::watch::channel(false);
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let socket = socket.to_owned();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::UnixListener::bind(&socket).unwrap();
                let incoming = tokio_stream::wrappers::UnixListenerStream::new(listener);
                let served = tonic::transport::Server::builder()
                    .add_service(PlatformConnectorServer::new(Service(events, is_held)))
                    .serve_with_incoming(incoming);
                tokio::select! {
                    served = served => served.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        Connector {
            events: received,
            held,
            _stop: stop,
        }
    }

    /// Calls are received and get no answer, until they are let go.
    fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    fn event(&self) -> HealthEvent {
        self.events
            .recv_timeout(LIMIT)
            .expect("an event within the limit")
    }

    /// Waits for an event with that text and returns it.
    fn wait_for(&self, part: &str) -> HealthEvent {
        loop {
            let event = self.event();
            if event.message.contains(part) {
                return event;
            }
        }
    }
}

fn reaches() {
    let node = Node::new(3);
    let connector = Connector::at(&node.path("connector.sock"));
    let monitor = node.monitor(&[]);
    connector.wait_for("Card 0000:12:00 (compute) healthy");
    node.set("mlx5_1", "1: DOWN\n", "3: Disabled\n");
    let event = connector.wait_for("mlx5_1 port 1: state DOWN, phys_state Disabled");
    assert!(event.is_fatal && !event.is_healthy);
    assert_eq!(event.node_name, "n1");
    assert_eq!(event.check_name, "InfiniBandStateCheck");
    node.set("mlx5_1", "4: ACTIVE\n", "5: LinkUp\n");
    assert!(connector.wait_for("mlx5_1 port 1: healthy").is_healthy);
    assert!(monitor.terminate() < Duration::from_secs(1));
}

fn comes_late() {
    let node = Node::new(1);
    let monitor = node.monitor(&["--log-format", "json"]);
    // The state file shows that the monitor polls without a connector.
    let began = Instant::now();
    while !node.path("run/state.json").exists() {
        assert!(began.elapsed() < LIMIT, "no state file");
        std::thread::yield_now();
    }
    let connector = Connector::at(&node.path("connector.sock"));
    assert!(connector.wait_for("mlx5_0 port 1: healthy").is_healthy);
    assert!(monitor.terminate() < Duration::from_secs(1));
}

fn ends_in_retry() {
    let node = Node::new(1);
    // A socket without a listener: refused, and retried.
    drop(std::os::unix::net::UnixListener::bind(node.path("connector.sock")).unwrap());
    let mut monitor = node.monitor(&["--publish-backoff", "60s", "--log-level", "debug"]);
    let stderr = monitor.0.stderr.take().unwrap();
    let mut lines = std::io::BufReader::new(stderr).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("publish is tried again")));
    assert!(monitor.terminate() < Duration::from_secs(1));
}

/// A FIFO without a writer hangs in `open`, as a file of a dying device hangs in `read`.
fn hangs() {
    let node = Node::new(3);
    let connector = Connector::at(&node.path("connector.sock"));
    let monitor = node.monitor(&[]);
    connector.wait_for("Card 0000:12:00 (compute) healthy");
    fifo(&node.port("mlx5_0", "state"));
    node.set("mlx5_2", "1: DOWN\n", "3: Disabled\n");
    let event = connector.wait_for("port 1: state DOWN");
    assert!(event.message.starts_with("Port mlx5_2 port 1"), "{event:?}");
    assert!(monitor.terminate() < Duration::from_secs(1));
}

fn remembers() {
    let node = Node::new(3);
    let connector = Connector::at(&node.path("connector.sock"));
    let monitor = node.monitor(&[]);
    connector.wait_for("Card 0000:12:00 (compute) healthy");
    node.set("mlx5_1", "1: DOWN\n", "3: Disabled\n");
    connector.wait_for("mlx5_1 port 1: state DOWN");
    monitor.terminate();
    node.set("mlx5_1", "4: ACTIVE\n", "5: LinkUp\n");
    let monitor = node.monitor(&[]);
    let event = connector.wait_for("mlx5_1 port 1: healthy");
    assert!(event.is_healthy);
    monitor.terminate();
    assert!(
        connector.events.try_recv().is_err(),
        "no baseline in the same boot"
    );
}

fn refuses() {
    let node = Node::new(1);
    let check = |more: &[&str], code: i32, part: &str| {
        let output = node.command(more).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(part), "{said}");
    };
    check(
        &["--metadata-path", "/nowhere/m.json"],
        1,
        "/nowhere/m.json",
    );
    check(&["--escalate-after", "soon"], 1, "--escalate-after `soon`");
    check(&["--no-such-flag"], 2, "--no-such-flag");
    node.put("config.toml", "nicExclusionRegex = '['\n");
    check(&[], 1, "config.toml");
}

fn explains() {
    let node = Node::new(2);
    let output = node.command(&["--explain"]).output().unwrap();
    let rendered = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success());
    assert!(
        rendered.contains("mlx5_1: monitored as compute"),
        "{rendered}"
    );
    let output = node.command(&["--check-config"]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"configuration is valid\n");
    node.put("config.toml", "sysClassInfinibandPath = 7\n");
    let output = node.command(&["--check-config"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
}
