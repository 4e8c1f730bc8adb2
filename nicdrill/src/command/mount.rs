//! `nicdrill mount`: a sandbox that a person looks at and breaks by commands.

use std::{
    fs,
    io::{self, BufRead as _, IsTerminal as _},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use harness::sandbox::Sandbox;
use reports::ExitCode;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

use super::Stop;
use crate::{
    arguments::{Color, MountArguments},
    pages::platform as platform_pages,
    terminal::{Terminal, talk},
};

/// How often time passes in the sandbox while nobody says anything. Chosen: a tenth of a poll.
const BEAT: Duration = Duration::from_millis(100);

/// What comes from outside.
enum News {
    Line(String),
    /// No more lines come, or a signal did.
    End,
}

/// Mounts a platform and does commands from stdin until it ends or Ctrl-C comes.
pub(crate) fn mount(arguments: &MountArguments) -> Result<ExitCode, Stop> {
    let (platforms, _) = super::platform::read(&arguments.folders.platforms)?;
    let platform = platform_pages::find(&platforms, &arguments.platform).map_err(Stop::input)?;
    let stage_failed = |error: &dyn std::fmt::Display| Stop {
        code: ExitCode::StageNotSet,
        text: error.to_string(),
    };
    let (teller, news) = mpsc::channel();
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| stage_failed(&error))?;
    let made = !arguments.dir.exists();
    if made {
        fs::create_dir_all(&arguments.dir).map_err(|error| {
            stage_failed(&format!(
                "`{}` cannot be made: {error}",
                arguments.dir.display()
            ))
        })?;
    }
    let mut sandbox =
        Sandbox::mount(platform, &arguments.dir).map_err(|error| stage_failed(&error))?;
    let mut terminal = Terminal::new(Color::Never);
    terminal.out(&format!(
        "{} is mounted on {}\n",
        arguments.platform,
        arguments.dir.display()
    ));
    if io::stdin().is_terminal() {
        talk("commands are lines of `do:`, such as `cut: mlx5_3`, and `heal`; Ctrl-D ends");
    }
    let on_signal = teller.clone();
    let handle = signals.handle();
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            drop(on_signal.send(News::End));
        }
    });
    thread::spawn(move || {
        let lines = io::stdin().lock().lines().map_while(Result::ok);
        for line in lines {
            if teller.send(News::Line(line)).is_err() {
                return;
            }
        }
        drop(teller.send(News::End));
    });
    let began = Instant::now();
    loop {
        let news = news.recv_timeout(BEAT);
        sandbox.advance(began.elapsed());
        match news {
            Ok(News::Line(line)) => {
                let line = line.trim();
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                match sandbox.command(line) {
                    Ok(()) => terminal.out(&format!("done: {line}\n")),
                    Err(error) => talk(&format!("error: {error}")),
                }
            }
            Ok(News::End) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    handle.close();
    let ended = sandbox.unmount();
    if made {
        // The folder was ours; if something stands in it by now it stays.
        drop(fs::remove_dir(&arguments.dir));
    }
    ended.map_err(|error| stage_failed(&error))?;
    Ok(ExitCode::Success)
}
