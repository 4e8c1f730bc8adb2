//! What an operator does with a running monitor: reads `/metrics` and `/healthz`, and stops it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::ChildStderr;
use std::time::{Duration, Instant};

use crate::{Connector, LIMIT, Monitor, Node, fifo};

/// A monitor that listens on a free port.
struct Served {
    monitor: Monitor,
    port: u16,
    log: BufReader<ChildStderr>,
}

impl Node {
    fn served(&self, more: &[&str]) -> Served {
        let more = [&["--metrics-port", "0"], more].concat();
        let mut monitor = self.monitor(&more);
        let mut log = BufReader::new(monitor.0.stderr.take().unwrap());
        let line = line_with(&mut log, "metrics server is listening");
        let (_, port) = line.split_once("port=").unwrap();
        Served {
            monitor,
            port: port.trim().parse().unwrap(),
            log,
        }
    }
}

/// The next line of a log that contains a text.
fn line_with(log: &mut BufReader<ChildStderr>, part: &str) -> String {
    loop {
        let mut line = String::new();
        let length = log.read_line(&mut line).unwrap();
        assert!(length > 0, "the log ended without `{part}`");
        if line.contains(part) {
            return line;
        }
    }
}

impl Served {
    /// Status and body of an answer.
    fn ask(&self, method: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: node\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path)
    }

    /// Requests until the answer is as expected.
    fn get_until(&self, path: &str, holds: impl Fn(u16, &str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let (status, body) = self.get(path);
            if holds(status, &body) {
                return body;
            }
            assert!(began.elapsed() < LIMIT, "{path} stays {status}:\n{body}");
            std::thread::yield_now();
        }
    }
}

pub(crate) fn counts() {
    let node = Node::new(3);
    let connector = Connector::at(&node.path("connector.sock"));
    let served = node.served(&[]);
    connector.wait_for("Card 0000:12:00 (compute) healthy");
    node.set("mlx5_1", "1: DOWN\n", "3: Disabled\n");
    connector.wait_for("mlx5_1 port 1: state DOWN");
    let sent = "nic_health_monitor_health_events_sent_total{node=\"n1\",\
                check=\"InfiniBandStateCheck\",is_fatal=\"true\"} 1\n";
    let text = served.get_until("/metrics", |_, text| text.contains(sent));
    for line in [
        "# TYPE nic_health_monitor_health_events_sent_total counter\n",
        "nic_health_monitor_devices_discovered{node=\"n1\",check=\"InfiniBandStateCheck\"} 3\n",
        "nic_health_monitor_devices_monitored{node=\"n1\"} 3\n",
        "nic_health_monitor_state_check_errors_total{node=\"n1\",check=\"InfiniBandStateCheck\",\
         device=\"mlx5_1\",port=\"1\"} 1\n",
        "nvsentinel_health_events_publisher_sends_success_total{monitor=\"nic-health-monitor\"} 2\n",
        "nic_health_monitor_poll_cycle_duration_seconds_bucket{node=\"n1\",category=\"state\",le=\"+Inf\"}",
    ] {
        assert!(text.contains(line), "no {line}\n{text}");
    }
    assert!(!text.contains("nic_health_monitor_gids"), "{text}");
    assert_eq!(served.get("/healthz"), (200, "ok".to_owned()));
    assert_eq!(served.get("/readyz").0, 404);
    assert_eq!(served.get("/").0, 404);
    assert_eq!(served.ask("POST", "/metrics").0, 405);
    served.monitor.terminate();
}

/// NVSentinel's frozen loop: the connector's handler hangs, and the liveness check must detect it.
pub(crate) fn freezes() {
    let node = Node::new(1);
    let connector = Connector::at(&node.path("connector.sock"));
    let served = node.served(&[
        "--state-polling-interval",
        "300ms",
        "--publish-timeout",
        "60s",
    ]);
    let accepted = "sends_success_total{monitor=\"nic-health-monitor\"} 1\n";
    served.get_until("/metrics", |_, text| text.contains(accepted));
    assert_eq!(served.get("/healthz"), (200, "ok".to_owned()));
    connector.hold(true);
    node.set("mlx5_0", "1: DOWN\n", "3: Disabled\n");
    connector.wait_for("mlx5_0 port 1: state DOWN");
    let rendered = served.get_until("/healthz", |status, _| status == 503);
    assert!(
        rendered.starts_with("polling loop stale: last iteration "),
        "{rendered}"
    );
    assert!(rendered.ends_with("s ago, threshold 3s"), "{rendered}");
    assert_eq!(served.get("/metrics").0, 200);
    connector.hold(false);
    served.get_until("/healthz", |status, _| status == 200);
    served.monitor.terminate();
}

pub(crate) fn hangs_unseen() {
    let node = Node::new(2);
    let connector = Connector::at(&node.path("connector.sock"));
    let served = node.served(&["--read-timeout", "60s"]);
    connector.wait_for("Card 0000:11:00");
    fifo(&node.port("mlx5_0", "state"));
    // The poll waits for the read and does not end; the server answers nevertheless.
    served.get_until("/healthz", |status, _| status == 503);
    assert_eq!(served.get("/metrics").0, 200);
    assert!(served.monitor.terminate() < Duration::from_secs(1));
}

pub(crate) fn ends_in_call() {
    let node = Node::new(1);
    let connector = Connector::at(&node.path("connector.sock"));
    connector.hold(true);
    let monitor = node.monitor(&["--publish-timeout", "60s"]);
    connector.wait_for("mlx5_0 port 1: healthy");
    assert!(monitor.terminate() < Duration::from_secs(1));
}

pub(crate) fn ends_at_start() {
    let node = Node::new(1);
    fs::remove_file(node.path("metadata.json")).unwrap();
    fifo(&node.path("metadata.json"));
    let monitor = node.monitor(&["--read-timeout", "60s"]);
    let threads = format!("/proc/{}/task", monitor.0.id());
    let began = Instant::now();
    let reads = || {
        let names = fs::read_dir(&threads)
            .unwrap()
            .filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok());
        names.into_iter().any(|name| name.trim() == "reader")
    };
    while !reads() {
        assert!(began.elapsed() < LIMIT, "nothing is read");
        std::thread::yield_now();
    }
    assert!(monitor.terminate() < Duration::from_secs(1));
}

pub(crate) fn port_taken() {
    let node = Node::new(1);
    let taken = TcpListener::bind(("::", 0))
        .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))
        .unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let connector = Connector::at(&node.path("connector.sock"));
    let mut monitor = node.monitor(&["--metrics-port", &port]);
    let mut log = BufReader::new(monitor.0.stderr.take().unwrap());
    let line = line_with(
        &mut log,
        "Metrics server failed - continuing without metrics",
    );
    for part in ["ERROR", &format!("port={port}"), "in use", "--metrics-port"] {
        assert!(line.contains(part), "no {part}: {line}");
    }
    connector.wait_for("mlx5_0 port 1: healthy");
    assert!(monitor.terminate() < Duration::from_secs(1));
}

pub(crate) fn counts_gids() {
    let node = Node::new(1);
    let file = |path: &str, text: &str| crate::replace(&node.port("mlx5_0", path), text);
    file("link_layer", "Ethernet\n");
    file("gids/0", "fe80:0000:0000:0000:ba3f:d2ff:fec3:65c4\n");
    file("gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
    file("gid_attrs/types/0", "RoCE v2\n");
    file("gid_attrs/ndevs/0", "eth0\n");
    let connector = Connector::at(&node.path("connector.sock"));
    let mut served = node.served(&[]);
    connector.wait_for("RoCE port mlx5_0 port 1: healthy");
    let gids = |kind: &str, netdev: &str, count: u32| {
        format!(
            "nic_health_monitor_gids{{node=\"n1\",device=\"mlx5_0\",port=\"1\",type=\"{kind}\",\
             netdev=\"{netdev}\"}} {count}\n"
        )
    };
    let one = gids("RoCE v2", "eth0", 1);
    let text = served.get_until("/metrics", |_, text| text.contains(&one));
    assert!(text.contains(&gids("IB/RoCE v1", "", 0)), "{text}");
    // A table that hangs has no value and delays no client for longer.
    fifo(&node.port("mlx5_0", "gids/0"));
    served.get_until("/metrics", |_, text| {
        !text.contains("nic_health_monitor_gids")
    });
    assert_eq!(served.get("/healthz").0, 200);
    node.set("mlx5_0", "1: DOWN\n", "3: Disabled\n");
    connector.wait_for("RoCE port mlx5_0 port 1: state DOWN");
    line_with(&mut served.log, "state DOWN");
    assert!(served.monitor.terminate() < Duration::from_secs(1));
}

pub(crate) fn helps() {
    let node = Node::new(1);
    let output = node.command(&["--help"]).output().unwrap();
    assert!(output.status.success());
    let rendered = String::from_utf8_lossy(&output.stdout).into_owned();
    let page = include_str!("../../../docs/reference-monitor.md");
    let named = |text: &str| -> std::collections::BTreeSet<String> {
        let flags = text.split("--").skip(1);
        let is_flag = |c: char| c.is_ascii_lowercase() || c == '-';
        let names = flags.map(|rest| rest.chars().take_while(|c| is_flag(*c)).collect::<String>());
        names
            .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()) && name != "help")
            .collect()
    };
    let (_, own) = page
        .split_once("# The reference monitor, for its operator")
        .unwrap();
    assert_eq!(
        named(&rendered),
        named(&own.replace("<!--", "").replace("-->", ""))
    );
}
