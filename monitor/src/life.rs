//! The main loop of the process: start, poll, publish, save, stop.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use checks::{Agent, Level, LogRecord, Publisher, Refusal, Settings, Start, Todo, Variant};
use tokio::runtime::Runtime;

use crate::cli::{self, Line, Unusable};
use crate::connector::{Connector, SocketPublisher};
use crate::disk;
use crate::hands::{FileHands, PollHands};
use crate::log::Log;
use crate::server;
use crate::shared_status::SharedStatus;
use crate::stop::Stop;

/// Runs until a signal to stop, or refuses to start.
pub(crate) fn live(args: impl IntoIterator<Item = OsString>, variant: Variant) -> ExitCode {
    let line = match cli::parse(args) {
        Ok(line) => line,
        Err(Unusable::Refused(refusal)) => return refuse(&refusal),
        Err(Unusable::Clap(error)) => {
            // Help is not an error; a broken pipe is ignored.
            let _ = error.print();
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    match start_and_live(&line, variant) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => refuse(&refusal),
    }
}

/// Prints the refusal in one line on stderr, and returns its exit code.
fn refuse(refusal: &Refusal) -> ExitCode {
    let _ = writeln!(std::io::stderr().lock(), "{refusal}");
    ExitCode::from(refusal.code)
}

fn start_and_live(line: &Line, variant: Variant) -> Result<(), Refusal> {
    let (settings, records) = line.flags.clone().settings()?;
    let log = Log::new(settings.log_format, settings.log_level);
    for record in &records {
        log.record(record);
    }
    let stop = Stop::on_signals().map_err(|error| fault("signals cannot be caught", &error))?;
    let mut hands = FileHands::until(&settings, stop.clone());
    let (agent, records) = match start(&settings, &hands, variant) {
        // A signal while the start waits for a file: the content no longer matters.
        Err(_) if stop.is_asked() => return Ok(()),
        started => started?,
    };
    hands.begin_polls_at(agent.anchor());
    for record in &records {
        log.record(record);
    }
    if line.check_config {
        let _ = writeln!(std::io::stdout().lock(), "configuration is valid");
        return Ok(());
    }
    if line.explain {
        let _ = std::io::stdout()
            .lock()
            .write_all(agent.explain(&hands).as_bytes());
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| fault("no runtime can be had", &error))?;
    let runtime = Rc::new(runtime);
    let publisher = (variant.publisher)(Box::new(SocketPublisher {
        connector: Connector::new(&settings),
        runtime: Rc::clone(&runtime),
        stop: stop.clone(),
    }));
    let shared_status = Arc::new(SharedStatus::new(&agent));
    log.record(&listen(&settings, &shared_status));
    Life {
        agent,
        shared_status,
        hands,
        publisher,
        stop,
        log,
        runtime,
    }
    .run();
    Ok(())
}

/// Binds the port for `/metrics` and `/healthz`, and returns the result as a log record; on failure
/// the monitor runs without it (NVSentinel, nic-health-monitor).
fn listen(settings: &Settings, shared_status: &Arc<SharedStatus>) -> LogRecord {
    match server::listen(settings, Arc::clone(shared_status)) {
        Ok(port) => LogRecord::new(Level::Info, "metrics server is listening").with("port", port),
        Err(error) => {
            let text = "Metrics server failed - continuing without metrics";
            LogRecord::new(Level::Error, text)
                .with("port", settings.metrics_port)
                .with("cause", error)
                .with("hint", "choose a free port with --metrics-port")
        }
    }
}

/// An error of the system that prevents the start.
fn fault(what: &str, error: &std::io::Error) -> Refusal {
    Refusal::new(format!("{what}: {error}"))
}

fn start(
    settings: &Settings,
    hands: &FileHands,
    variant: Variant,
) -> Result<(Agent, Vec<LogRecord>), Refusal> {
    let paths = &settings.paths;
    let config = hands.read(&paths.config);
    let metadata = hands.read(&paths.metadata);
    let route = hands.read(&paths.route);
    let boot_id = hands.read(&paths.boot_id);
    let state = hands.read(&paths.state_file);
    let start = Start {
        settings: settings.clone(),
        config: config.as_deref().map_err(|error| *error),
        metadata: metadata.as_deref().map_err(|error| *error),
        route: route.as_deref().map_err(|error| *error),
        boot_id: boot_id.as_deref().map_err(|error| *error),
        state: state.as_deref().map_err(|error| *error),
    };
    Agent::start_with(start, (variant.policy)())
}

struct Life {
    agent: Agent,
    shared_status: Arc<SharedStatus>,
    hands: FileHands,
    publisher: Box<dyn Publisher>,
    stop: Stop,
    log: Log,
    runtime: Rc<Runtime>,
}

impl Life {
    fn run(mut self) {
        let started = LogRecord::new(Level::Info, "monitor is running")
            .with("node", &self.agent.settings().node_name);
        self.log.record(&started);
        while !self.stop.is_asked() {
            let began = Instant::now();
            let hands = PollHands::new(&self.hands);
            let polled = self.agent.poll(&hands);
            let clocks_read = hands.clocks_read();
            if self.stop.is_asked() {
                // A poll that was interrupted by the signal is not used.
                break;
            }
            self.agent.take(polled);
            self.drain();
            self.agent.took(began.elapsed());
            self.shared_status.polled(&self.agent);
            let due = clocks_read + self.agent.until_next_poll();
            self.sleep(due.saturating_duration_since(Instant::now()));
        }
        self.agent.stop();
        self.drain();
        self.log
            .record(&LogRecord::new(Level::Info, "monitor is stopped"));
    }

    /// Carries out what the agent requests, until it requests nothing.
    fn drain(&mut self) {
        loop {
            match self.agent.next() {
                Todo::Done => return,
                Todo::LogRecord(record) => self.log.record(&record),
                Todo::Save(steps) => {
                    let result = disk::save(&steps);
                    self.agent.saved(result);
                }
                Todo::Wait(span) => {
                    self.shared_status.retries_after(span, &self.agent);
                    if !self.sleep(span) {
                        self.agent.stop();
                    }
                }
                Todo::Publish { batch, .. } => {
                    self.shared_status.publishes();
                    match self.publisher.publish(batch) {
                        Some(outcome) => self.agent.published(&outcome),
                        None => self.agent.stop(),
                    }
                }
            }
        }
    }

    /// Sleeps; returns `false` if the monitor received a signal to stop before the end.
    ///
    /// A timer has a resolution of one millisecond and rounds up (`tokio::time::sleep`), so no
    /// timer is used for a poll that is already due: the reactor's other tasks run once, and that
    /// is all.
    fn sleep(&self, span: Duration) -> bool {
        let over = async {
            if span.is_zero() {
                tokio::task::yield_now().await;
            } else {
                tokio::time::sleep(span).await;
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                () = self.stop.asked() => false,
                () = over => true,
            }
        })
    }
}
