//! The terminal: where texts go, whether they are coloured, and a progress bar for long runs.
//!
//! This is the only file that writes to stdout and stderr and that uses `indicatif`.

use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reports::{DrillName, Style};

use crate::arguments::Color;

/// How long a run takes before it shows a bar. Chosen.
const PROGRESS_AFTER: Duration = Duration::from_secs(2);

/// The columns of a stdout that is no terminal. Chosen.
const COLUMNS: usize = 100;

/// Writes results to stdout.
#[derive(Debug)]
pub(crate) struct Terminal {
    style: Style,
    progress: Option<Progress>,
    /// Whether stdout is closed; further output is dropped.
    deaf: bool,
}

#[derive(Debug)]
struct Progress {
    bar: ProgressBar,
    began: std::time::Instant,
    /// How many drills failed.
    failed: u64,
}

impl Terminal {
    pub(crate) fn new(color: Color) -> Self {
        let color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none(),
        };
        Self {
            style: Style { color },
            progress: None,
            deaf: false,
        }
    }

    /// The style for texts.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// The number of columns of stdout; 100 where it is no terminal.
    pub(crate) fn columns(&self) -> usize {
        terminal_size::terminal_size_of(io::stdout())
            .map_or(COLUMNS, |(width, _)| usize::from(width.0))
    }

    /// Writes to stdout; a closed pipe is not an error.
    pub(crate) fn out(&mut self, text: &str) {
        if self.deaf {
            return;
        }
        let write = || {
            let mut stdout = io::stdout().lock();
            stdout
                .write_all(text.as_bytes())
                .and_then(|()| stdout.flush())
        };
        let written = match &self.progress {
            Some(progress) => progress.bar.suspend(write),
            None => write(),
        };
        self.deaf = written.is_err();
    }

    /// Starts a bar on stderr, if that is a terminal; it is shown once the run takes long.
    pub(crate) fn begin(&mut self, drills: usize) {
        if !io::stderr().is_terminal() {
            return;
        }
        let bar = ProgressBar::with_draw_target(
            Some(u64::try_from(drills).expect("a count fits 64 bits")),
            ProgressDrawTarget::hidden(),
        );
        let style = ProgressStyle::with_template(
            "{bar:30} {pos} of {len} drills{prefix}, {elapsed}, {eta} left  {msg}",
        )
        .expect("the template is right");
        bar.set_style(style);
        self.progress = Some(Progress {
            bar,
            began: std::time::Instant::now(),
            failed: 0,
        });
    }

    /// Advances the bar by one drill.
    pub(crate) fn step(&mut self) {
        if let Some(progress) = &self.progress {
            if progress.bar.is_hidden() && progress.began.elapsed() >= PROGRESS_AFTER {
                progress.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            progress.bar.inc(1);
        }
    }

    /// Counts a failed drill on the bar.
    pub(crate) fn failed(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.failed += 1;
            let failed = progress.failed;
            progress.bar.set_prefix(format!(", {failed} failed"));
        }
    }

    /// Names the drill that is waited for on the bar.
    pub(crate) fn awaits(&mut self, drill: &DrillName) {
        if let Some(progress) = &self.progress {
            progress.bar.set_message(drill.to_string());
        }
    }

    /// Removes the bar.
    pub(crate) fn end(&mut self) {
        if let Some(progress) = self.progress.take() {
            progress.bar.finish_and_clear();
        }
    }
}

/// Writes a message to stderr.
pub(crate) fn log(text: &str) {
    // If stderr cannot be written, the error cannot be reported either.
    drop(writeln!(io::stderr().lock(), "{text}"));
}
