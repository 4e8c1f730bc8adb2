//! What the reference monitor costs as a process on plain files: 18 devices, one Ethernet port each,
//! as on h100-oci, with two state checks and with the counter checks besides.
//!
//! Prints a table: CPU time per poll (user and system, all threads), peak resident memory, and the
//! time from the start of the process to its first call. Judges nothing. `NICDRILL=path` measures
//! that program's `monitor` command instead of this build.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use checks::Variant;
use proto::HealthEvents;
use proto::platform_connector_server::{PlatformConnector, PlatformConnectorServer};
use tonic::{Request, Response, Status};

/// As many as h100-oci has.
const DEVICES: u32 = 18;
/// Starts of which the median is taken.
const STARTS: usize = 21;
/// For how long polls are counted.
const SPAN: Duration = Duration::from_secs(4);
/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(30);

/// The counters that are watched by default, below a port's folder.
const COUNTERS: [&str; 10] = [
    "counters/link_downed",
    "counters/excessive_buffer_overrun_errors",
    "counters/local_link_integrity_errors",
    "hw_counters/rnr_nak_retry_err",
    "counters/symbol_error",
    "counters/link_error_recovery",
    "counters/port_rcv_errors",
    "hw_counters/local_ack_timeout_err",
    "counters/port_xmit_discards",
    "hw_counters/roce_slow_restart",
];

const TWO: &str = "InfiniBandStateCheck,EthernetStateCheck";
const FOUR: &str = "InfiniBandStateCheck,EthernetStateCheck,InfiniBandDegradationCheck,\
                    EthernetDegradationCheck";

fn put(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn build(root: &Path) {
    for folder in ["class/infiniband", "class/net"] {
        fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    for index in 0..DEVICES {
        let function = format!(
            "devices/pci0000:00/0000:{:02x}:00.{}",
            0x10 + index / 2,
            index % 2
        );
        let (name, interface) = (format!("mlx5_{index}"), format!("rdma{index}"));
        let base = format!("{function}/infiniband/{name}");
        let port = format!("{base}/ports/1");
        put(root, &format!("{port}/link_layer"), "Ethernet\n");
        put(root, &format!("{port}/state"), "4: ACTIVE\n");
        put(root, &format!("{port}/phys_state"), "5: LinkUp\n");
        for counter in COUNTERS {
            put(root, &format!("{port}/{counter}"), "0\n");
        }
        put(root, &format!("{base}/hca_type"), "MT4129\n");
        put(root, &format!("{function}/numa_node"), "0\n");
        let net = format!("{function}/net/{interface}");
        put(root, &format!("{net}/carrier_changes"), "1\n");
        let links = [
            ("../..".to_owned(), format!("{base}/device")),
            (format!("../../{base}"), format!("class/infiniband/{name}")),
            (format!("../../{net}"), format!("class/net/{interface}")),
        ];
        for (target, link) in links {
            symlink(target, root.join(link)).expect("a link");
        }
    }
    let folder = root.display();
    let config = format!(
        "sysClassInfinibandPath = '{folder}/class/infiniband'\nsysClassNetPath = '{folder}/class/net'"
    );
    put(root, "config.toml", &config);
    put(root, "boot_id", "b\n");
    let metadata = r#"{"gpus":[{"numa_node":0}],"nic_topology":{"x":["SYS"]}}"#;
    put(root, "metadata.json", metadata);
}

struct Accepting(Sender<Instant>);

#[tonic::async_trait]
impl PlatformConnector for Accepting {
    async fn health_event_occurred_v1(
        &self,
        _: Request<HealthEvents>,
    ) -> Result<Response<()>, Status> {
        let _ = self.0.send(Instant::now());
        Ok(Response::new(()))
    }
}

/// A connector that accepts, and when it was called.
fn connector(socket: PathBuf) -> Receiver<Instant> {
    let (sender, calls) = channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async move {
            let listener = tokio::net::UnixListener::bind(socket).expect("a socket");
            let incoming = tokio_stream::wrappers::UnixListenerStream::new(listener);
            let served = tonic::transport::Server::builder()
                .add_service(PlatformConnectorServer::new(Accepting(sender)))
                .serve_with_incoming(incoming);
            served.await.expect("a server");
        });
    });
    calls
}

/// A monitor that runs.
struct Monitor {
    child: Child,
    port: u16,
}

impl Monitor {
    fn start(root: &Path, program: &(OsString, &str), checks: &str) -> Monitor {
        let _ = fs::remove_dir_all(root.join("run"));
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let file = |name: &str| root.join(name).display().to_string();
        let child = Command::new(&program.0)
            .arg(program.1)
            .arg("--node-name=n")
            .arg(format!("--checks={checks}"))
            .arg(format!("--config={}", file("config.toml")))
            .arg(format!("--metadata-path={}", file("metadata.json")))
            .arg(format!("--boot-id-path={}", file("boot_id")))
            .arg(format!("--proc-net-route-path={}", file("route")))
            .arg(format!("--state-file={}", file("run/state.json")))
            .arg(format!(
                "--platform-connector-socket=unix://{}",
                file("connector.sock")
            ))
            .arg(format!("--metrics-port={port}"))
            .args([
                "--state-polling-interval=1us",
                "--counter-polling-interval=1us",
            ])
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        Monitor { child, port }
    }

    /// Polls so far, of the check that is polled in all rows.
    fn polls(&self) -> u64 {
        let mut page = String::new();
        let asked = TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut stream| {
            stream.write_all(b"GET /metrics HTTP/1.0\r\nHost: n\r\nConnection: close\r\n\r\n")?;
            stream.read_to_string(&mut page)
        });
        asked.expect("the page of metrics");
        let name = "nic_health_monitor_poll_cycle_duration_seconds_count";
        let lines = page.lines().filter(|line| line.starts_with(name));
        let counts = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count"
        )]
        counts
            .map(|count| count as u64)
            .max()
            .expect("a count of polls")
    }

    /// CPU time of all threads (`/proc/PID/task/TID/schedstat`).
    fn cpu(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("its threads");
        let spent = tasks.flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(char::is_whitespace).next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(spent.sum())
    }

    /// Peak resident memory in kB (`VmHWM`).
    fn peak_kb(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it lives");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        number.expect("a number")
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One row: the checks, and what they cost.
fn row(root: &Path, program: &(OsString, &str), calls: &Receiver<Instant>, checks: &str) -> String {
    let mut starts_ms: Vec<f64> = Vec::new();
    for _ in 0..STARTS {
        while calls.try_recv().is_ok() {}
        let began = Instant::now();
        let monitor = Monitor::start(root, program, checks);
        let called = calls.recv_timeout(LIMIT).expect("a baseline");
        starts_ms.push(called.duration_since(began).as_secs_f64() * 1e3);
        drop(monitor);
    }
    starts_ms.sort_by(f64::total_cmp);
    let monitor = Monitor::start(root, program, checks);
    calls.recv_timeout(LIMIT).expect("a baseline");
    thread::sleep(SPAN / 8);
    let (polls, cpu) = (monitor.polls(), monitor.cpu());
    thread::sleep(SPAN);
    let (polls, cpu) = (monitor.polls() - polls, monitor.cpu() - cpu);
    // A fault and a recovery pass before the peak is read.
    for text in ["1: DOWN\n", "4: ACTIVE\n"] {
        while calls.try_recv().is_ok() {}
        let path = root.join("class/infiniband/mlx5_0/ports/1/state");
        fs::write(path.with_extension("new"), text).expect("a file");
        fs::rename(path.with_extension("new"), path).expect("a file");
        calls.recv_timeout(LIMIT).expect("an event");
    }
    let mut row = String::new();
    let of_poll_ms = cpu.as_secs_f64() * 1e3 / f64::from(u32::try_from(polls).unwrap_or(u32::MAX));
    let peak_mb = f64::from(u32::try_from(monitor.peak_kb()).unwrap_or(u32::MAX)) / 1024.0;
    write!(
        row,
        "{:>6} {of_poll_ms:>16.3} {polls:>8} {peak_mb:>13.1} {:>20.1}",
        checks.split(',').count(),
        starts_ms[STARTS / 2]
    )
    .expect("writing to a string cannot fail");
    row
}

#[expect(clippy::print_stdout, reason = "a bench prints its numbers")]
fn main() -> ExitCode {
    let mut args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|arg| arg == "--as-monitor") {
        args.remove(1);
        return monitor::run(args, Variant::RIGHT);
    }
    let program = match std::env::var_os("NICDRILL") {
        Some(path) => (path, "monitor"),
        None => (
            std::env::current_exe().expect("this program").into(),
            "--as-monitor",
        ),
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path();
    build(root);
    let calls = connector(root.join("connector.sock"));
    println!("checks  CPU a poll [ms]    polls  peak RSS [MB]  start to call [ms]");
    for checks in [TWO, FOUR] {
        println!("{}", row(root, &program, &calls, checks));
    }
    ExitCode::SUCCESS
}
