//! The terminal: where texts go, whether they are coloured, and a bar of progress for long runs.
//!
//! The only place that writes to stdout and stderr and that meets `indicatif`.

use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reports::Style;

use crate::arguments::Color;

/// How long a run may take before it shows a bar. Chosen: what is over sooner needs none.
const PROGRESS_AFTER: Duration = Duration::from_secs(2);

/// Where results go.
#[derive(Debug)]
pub(crate) struct Terminal {
    style: Style,
    progress: Option<Progress>,
    /// Nobody reads stdout any more; what is left goes nowhere.
    deaf: bool,
}

#[derive(Debug)]
struct Progress {
    bar: ProgressBar,
    began: std::time::Instant,
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

    /// The way texts are dressed.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Writes to stdout; a reader that went away is no error.
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

    /// Begins a bar on stderr, if that is a terminal; it is seen once the run takes long.
    pub(crate) fn begin(&mut self, drills: usize) {
        if !io::stderr().is_terminal() {
            return;
        }
        let bar = ProgressBar::with_draw_target(
            Some(u64::try_from(drills).expect("a count fits 64 bits")),
            ProgressDrawTarget::hidden(),
        );
        let style = ProgressStyle::with_template("{bar:30} {pos} of {len} drills, {elapsed}")
            .expect("the template is right");
        bar.set_style(style);
        self.progress = Some(Progress {
            bar,
            began: std::time::Instant::now(),
        });
    }

    /// One drill more.
    pub(crate) fn step(&mut self) {
        if let Some(progress) = &self.progress {
            if progress.bar.is_hidden() && progress.began.elapsed() >= PROGRESS_AFTER {
                progress.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            progress.bar.inc(1);
        }
    }

    /// The bar goes.
    pub(crate) fn end(&mut self) {
        if let Some(progress) = self.progress.take() {
            progress.bar.finish_and_clear();
        }
    }
}

/// Talk, to stderr.
pub(crate) fn log(text: &str) {
    // Where stderr cannot be written nobody can be told so.
    drop(writeln!(io::stderr().lock(), "{text}"));
}
