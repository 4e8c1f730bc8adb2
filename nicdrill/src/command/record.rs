//! `nicdrill record`: records what happens to a node's NICs as a scenario that can be replayed.
//!
//! It behaves like a monitor: it gets a root and lists the devices first, so that a drill's gate can
//! pace it. The file is complete after every snapshot with a change; expectations are added at the end.

use std::{
    path::Path,
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
};

use capture::{Incident, IncidentError, LiveRoot, see};
use harness::{on_interruption, read_files::text_of, run_folder::write_whole};
use reports::ExitCode;

use super::{Stop, capture::is_root, duration::duration, platform, select::is_path};
use crate::{arguments::RecordArguments, draft::draft, pages::platform_pages, terminal::log};

/// The pause between two snapshots with a drill's clock, whose gate sets the pace.
const GATED_PAUSE: Duration = Duration::from_millis(1);

/// Records until the time is over, a signal comes or the node reboots.
pub(crate) fn record(arguments: &RecordArguments) -> Result<ExitCode, Stop> {
    let length = arguments.length.as_deref().map(duration).transpose()?;
    let every = duration(&arguments.every)?;
    let mut folders = arguments.folders.platforms.clone();
    if is_path(&arguments.platform) {
        folders.push(arguments.platform.clone());
    }
    let (platforms, own) = platform::read(&folders)?;
    let name = match is_path(&arguments.platform) {
        true => own.first().ok_or_else(|| {
            Stop::usage(format!("there is no platform in `{}`", arguments.platform))
        })?,
        false => &arguments.platform,
    };
    let platform = platform_pages::find(&platforms, name).map_err(Stop::input)?;
    let out = arguments.out.as_path();
    let shown = out.display();
    if out.exists() {
        return Err(
            Stop::usage(format!("`{shown}` already exists")).hint("give another file by `--out`")
        );
    }
    is_root(&arguments.root)?;
    let ended = end().map_err(|error| Stop::usage(format!("signals cannot be heard: {error}")))?;
    let mut root = LiveRoot::new(&arguments.root, duration(&arguments.reading.read_limit)?);
    let mut clock = Clock::new(arguments.clock_path.as_deref());
    let mut incident = Incident::new(platform);
    let mut written = String::new();
    let mut interrupted = None;
    loop {
        let seen = see(&mut root);
        // A snapshot interrupted by a signal is incomplete.
        if seen.is_interrupted() {
            match ended.recv_timeout(every) {
                Err(RecvTimeoutError::Timeout) => continue,
                Ok(code) => {
                    interrupted = Some(code);
                    break;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let at = rounded(clock.since_the_first_look(), every);
        match incident.take(at, &seen) {
            Ok(()) => {}
            Err(IncidentError::Rebooted) => {
                log("the node was rebooted: the story ends before that");
                break;
            }
            Err(error) => return Err(Stop::input(error)),
        }
        let yaml = incident.yaml();
        if actions(&yaml) != actions(&written) {
            put(out, &yaml)?;
            written = yaml;
        }
        if length.is_some_and(|length| at >= length) {
            break;
        }
        let pause = match clock {
            Clock::File { .. } => GATED_PAUSE,
            Clock::System { .. } => every,
        };
        match ended.recv_timeout(pause) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(code) => {
                interrupted = Some(code);
                break;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let drafted = draft(&incident).map_err(Stop::input)?;
    put(out, &drafted.yaml)?;
    for unsaid in incident.unsaid() {
        log(&format!("not in the story: {unsaid}"));
    }
    for unexpected in &drafted.unexpected {
        log(&format!("not expected in the story: {unexpected}"));
    }
    if incident.is_quiet() {
        log("nothing happened");
    }
    log(&format!("{shown} is written; `nicdrill run` replays it"));
    Ok(interrupted.unwrap_or(ExitCode::Success))
}

/// Returns a channel that gets an exit code when a signal asks to end.
fn end() -> std::io::Result<mpsc::Receiver<ExitCode>> {
    let (sender, ended) = mpsc::channel();
    on_interruption(move |code| sender.send(code).is_ok())?;
    Ok(ended)
}

/// The content of the file without its end time, which changes with every snapshot.
fn actions(yaml: &str) -> &str {
    yaml.rsplit_once("until: ").map_or(yaml, |(above, _)| above)
}

fn put(out: &Path, yaml: &str) -> Result<(), Stop> {
    write_whole(out, yaml.as_bytes())
        .map_err(|error| Stop::usage(format!("`{}` cannot be written: {error}", out.display())))
}

/// Rounds to a multiple of the interval, so that a late snapshot counts as the scheduled one.
fn rounded(since: Duration, every: Duration) -> Duration {
    let looks = (since + every / 2).as_nanos() / every.as_nanos();
    every * u32::try_from(looks).unwrap_or(u32::MAX)
}

/// The source of the time.
enum Clock<'a> {
    /// The system's monotonic clock.
    System { first: Option<Instant> },
    /// The boot time in a drill's file, `<wall ns> <boot ns>`.
    File { path: &'a Path, first: Option<u64> },
}

impl<'a> Clock<'a> {
    fn new(path: Option<&'a Path>) -> Self {
        match path {
            None => Self::System { first: None },
            Some(path) => Self::File { path, first: None },
        }
    }

    /// Time since the first call; zero if the clock file cannot be read.
    fn since_the_first_look(&mut self) -> Duration {
        match self {
            Self::System { first } => first.get_or_insert_with(Instant::now).elapsed(),
            Self::File { path, first } => {
                let text = text_of(path).unwrap_or_default();
                let boot = text
                    .split_whitespace()
                    .nth(1)
                    .and_then(|ns| ns.parse().ok());
                let now = boot.or(*first).unwrap_or_default();
                Duration::from_nanos(now.saturating_sub(*first.get_or_insert(now)))
            }
        }
    }
}
