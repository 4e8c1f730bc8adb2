//! A small monitor: it lists the devices, reads the state of each port, and calls the connector
//! with every line that changed.
//!
//! Modes: `plain`; `caller` calls in every poll; `twice` lists twice in a poll; `behind` calls from
//! a second thread, a while after the poll; `loops` polls from two threads; `states-and-counters` polls from two
//! threads, of which one reads states and lists once, and the other reads counters and lists twice; in
//! `counters-first` the other one starts first; `states-of-both` reads states in both, and names no check; in `paced` the thread
//! that reads counters sleeps for a second after each poll; `last-poll` ends after SIGTERM with its next poll; `last-word` ends a while after SIGTERM, with
//! a call; `stubborn` does not end after SIGTERM; `mute` never calls; `hang` never polls; `exit` ends at once; `page` serves
//! the state of the first port at `/metrics` and `/json`, a page without end at `/endless`, and at `/late` no page once the port is not active, of a port that it gets in place of the socket; `dripping`, `calling`
//! and `flooding` call without end in their first poll; `opening` keeps thousands of files open, `connecting` a hundred connections; `babbling` writes megabytes
//! in every poll; `removing` removes the connector's socket after its third poll; `stopped` is stopped by a signal for a while in its third poll, `stopped-spinning` never comes back from there; `waiting` waits in its poll for half a minute
//! at most until the connector's socket is there.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, TcpListener},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use proto::{HealthEvent, HealthEvents, platform_connector_client::PlatformConnectorClient};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
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
        "states-and-counters" | "counters-first" | "states-of-both" | "paced" => {
            let named = mode != "states-of-both";
            let states = Toy {
                checks: vec![if named { "InfiniBandStateCheck" } else { "" }],
                ..Toy::new("plain", class.clone(), socket)
            };
            let counters = Toy {
                checks: vec![
                    if named {
                        "InfiniBandDegradationCheck"
                    } else {
                        ""
                    };
                    2
                ],
                counter: named,
                ..Toy::new("plain", class, socket)
            };
            let mut both = [states, counters];
            if mode == "counters-first" {
                both.reverse();
            }
            let [mut first, mut second] = both;
            // The loop of the counters sleeps for a second, whatever the simulated time is.
            let pause = Duration::from_secs(u64::from(mode == "paced"));
            thread::spawn(move || {
                loop {
                    first.poll_each();
                }
            });
            // The second comes to the gate after the first.
            thread::sleep(Duration::from_millis(20));
            loop {
                second.poll_each();
                thread::sleep(pause);
            }
        }
        "last-poll" | "last-word" | "stubborn" => {
            let told = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&told)).unwrap();
            return Toy::new(mode, class, socket).until(&told);
        }
        "page" => return serve(&class, socket),
        "dripping" | "calling" | "flooding" => call_without_end(mode, &class, socket),
        "connecting" => keep_connected(&class, socket),
        "opening" => return keep_open(class, socket),
        "babbling" | "removing" | "stopped" | "stopped-spinning" => {
            return Toy::new(mode, class, socket).strangely();
        }
        _ => {}
    }
    Toy::new(mode, class, socket).forever()
}

/// Answers each request in a thread of its own.
fn serve(class: &Path, port: &str) -> ExitCode {
    let port: u16 = port.parse().unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    for stream in listener.incoming() {
        let (mut stream, class) = (stream.unwrap(), class.to_owned());
        thread::spawn(move || {
            let mut lines = BufReader::new(&stream).lines();
            // A connection without a request asks whether anybody listens.
            let Some(Ok(request)) = lines.next() else {
                return;
            };
            while lines
                .next()
                .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
            {}
            if request.starts_with("GET /endless ") {
                let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
                while sent.is_ok() {
                    sent = stream.write_all(&b"up 1\n".repeat(1000));
                }
                return;
            }
            let state = fs::read_to_string(class.join("mlx5_0/ports/1/state")).unwrap_or_default();
            let state = state.trim();
            if request.starts_with("GET /late ") && state != "4: ACTIVE" {
                let _ = stream
                    .write_all(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n");
                return;
            }
            let page = if request.starts_with("GET /json ") {
                format!(r#"{{"ports":[{{"device":"mlx5_0","port":1,"state":"{state}"}}]}}"#)
            } else {
                let up = u8::from(state == "4: ACTIVE");
                format!("up{{device=\"mlx5_0\",port=\"1\"}} {up}\n")
            };
            // Whoever asked may have given up.
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{page}",
                page.len()
            );
        });
    }
    ExitCode::SUCCESS
}

/// Begins a poll and calls for ever.
fn call_without_end(mode: &str, class: &Path, socket: &str) -> ! {
    let pause = Duration::from_millis(if mode == "dripping" { 50 } else { 0 });
    let events = if mode == "flooding" { 20_000 } else { 1 };
    let mut mouth = Mouth::new(socket);
    // Nobody sees this monitor's devices.
    drop(fs::read_dir(class));
    loop {
        mouth.say("", vec!["again".to_owned(); events]);
        thread::sleep(pause);
    }
}

/// Keeps more connections open than it may have, in its first poll.
fn keep_connected(class: &Path, socket: &str) -> ! {
    drop(fs::read_dir(class));
    let _open: Vec<UnixStream> = (0..110)
        .map(|_| UnixStream::connect(socket).unwrap())
        .collect();
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

/// Runs on two CPUs for ever.
fn spin() -> ! {
    thread::spawn(|| {
        loop {
            std::hint::spin_loop();
        }
    });
    loop {
        std::hint::spin_loop();
    }
}

/// Polls with thousands of open files.
fn keep_open(class: PathBuf, socket: &str) -> ExitCode {
    let most = getrlimit(Resource::Nofile).maximum;
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: most,
            maximum: most,
        },
    )
    .unwrap();
    let file = class.join("mlx5_0/ports/1/state");
    let _open: Vec<File> = (0..5000).map(|_| File::open(&file).unwrap()).collect();
    Toy::new("plain", class, socket).forever()
}

struct Toy {
    mode: String,
    class: PathBuf,
    mouth: Mouth,
    behind: Option<mpsc::Sender<Vec<String>>>,
    known: BTreeMap<String, String>,
    /// What a loop lists for; its calls name the first. An empty text names none.
    checks: Vec<&'static str>,
    /// Whether it reads a counter of each port, not its state.
    counter: bool,
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
                    mouth.say("", lines);
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
            checks: vec![""],
            counter: false,
        }
    }

    /// Polls as its mode says.
    fn strangely(mut self) -> ExitCode {
        for poll in 1.. {
            self.poll();
            if self.mode == "babbling" {
                for _ in 0..40_000 {
                    eprintln!("there is nothing to be said about this, and so it is said again");
                }
            } else if self.mode == "removing" {
                if poll == 3 {
                    fs::remove_file(&self.mouth.socket).unwrap();
                }
            } else if poll == 3 {
                let myself = std::process::id().to_string();
                let stop = "kill -STOP $0; sleep 0.3; kill -CONT $0";
                let stopping = Command::new("sh").args(["-c", stop, &myself]).status();
                assert!(stopping.unwrap().success());
                if self.mode == "stopped-spinning" {
                    spin();
                }
            }
        }
        ExitCode::SUCCESS
    }

    /// Polls until it is told to end, and once more.
    fn until(mut self, told: &AtomicBool) -> ExitCode {
        while !told.load(Ordering::SeqCst) || self.mode == "stubborn" {
            self.poll();
            if self.mode == "last-word" && told.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(300));
                self.mouth.say("", vec!["goodbye".to_owned()]);
            }
        }
        ExitCode::SUCCESS
    }

    /// A poll of a loop that lists for each of its checks, and then publishes.
    fn poll_each(&mut self) {
        let now = self.checks.iter().map(|_| self.look()).last().unwrap();
        let changed = now
            .iter()
            .filter(|(port, state)| self.known.get(*port) != Some(*state));
        let mut lines: Vec<String> = changed
            .map(|(port, state)| format!("{port} {state}"))
            .collect();
        if self.known.is_empty() {
            lines = vec![format!("{} ports", now.len())];
        }
        if !lines.is_empty() {
            self.mouth.say(self.checks[0], lines);
        }
        self.known = now;
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
            None if self.mode == "waiting" => self.mouth.say_when_it_is_there(lines),
            Some(behind) => behind.send(lines).unwrap(),
            None => self.mouth.say("", lines),
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
                let file = if self.counter {
                    "counters/link_downed"
                } else {
                    "state"
                };
                match fs::read_to_string(ports.join(&port).join(file)) {
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
    socket: PathBuf,
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
            socket: PathBuf::from(socket),
            runtime,
            client: PlatformConnectorClient::new(channel),
        }
    }

    /// Looks every 20 ms whether the socket is there, for half a minute.
    fn say_when_it_is_there(&mut self, lines: Vec<String>) {
        let mut looks = 0..1500;
        while !self.socket.exists() && looks.next().is_some() {
            thread::sleep(Duration::from_millis(20));
        }
        self.say("", lines);
    }

    fn say(&mut self, check: &str, lines: Vec<String>) {
        let event = |message| HealthEvent {
            message,
            check_name: check.to_owned(),
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
