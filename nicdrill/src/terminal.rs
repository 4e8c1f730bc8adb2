//! The terminal: where texts go, whether they are coloured, and a progress bar for long runs.
//!
//! This is the only file that writes to stdout and stderr and that uses `indicatif`.

use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
    sync::OnceLock,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reports::{DrillName, Style};

use crate::arguments::Color;

/// How long a run takes before it shows a bar. Chosen.
const PROGRESS_AFTER: Duration = Duration::from_secs(2);

/// The columns of a stdout that is no terminal. Chosen.
const COLUMNS: usize = 100;

/// Why a text did not get to stdout, such as on a full disk. A reader that has closed the pipe wants no more.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Why a text did not get to stdout, if one did not although somebody wants it.
pub(crate) fn lost() -> Option<&'static io::Error> {
    LOST.get()
}

/// Writes results to stdout.
#[derive(Debug)]
pub(crate) struct Terminal {
    style: Style,
    progress: Option<Progress>,
    /// Whether stdout took no more; further output is dropped.
    deaf: bool,
}

#[derive(Debug)]
struct Progress {
    bar: ProgressBar,
    began: std::time::Instant,
    /// How many drills failed.
    failed: u64,
}

impl Progress {
    /// The bar of a run with so many drills, which is hidden yet.
    fn of(drills: usize) -> Self {
        let bar = ProgressBar::with_draw_target(
            Some(u64::try_from(drills).expect("a count fits 64 bits")),
            ProgressDrawTarget::hidden(),
        );
        let style = ProgressStyle::with_template(
            "{bar:30} {pos} of {len} drills{prefix}, {elapsed}, {eta} left  {msg}",
        )
        .expect("the template is right");
        bar.set_style(style);
        Self {
            bar,
            began: std::time::Instant::now(),
            failed: 0,
        }
    }

    fn failed(&mut self) {
        self.failed += 1;
        self.bar.set_prefix(format!(", {} failed", self.failed));
    }

    fn awaits(&self, drill: &DrillName) {
        self.bar.set_message(drill.to_string());
    }
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

    /// Writes to stdout. A closed pipe is not an error; every other failure is kept for the end of the command.
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
        if let Err(error) = written {
            self.deaf = true;
            if error.kind() != io::ErrorKind::BrokenPipe {
                let _ = LOST.set(error);
            }
        }
    }

    /// Starts a bar on stderr, if that is a terminal; it is shown once the run takes long.
    pub(crate) fn begin(&mut self, drills: usize) {
        if !io::stderr().is_terminal() {
            return;
        }
        self.progress = Some(Progress::of(drills));
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
            progress.failed();
        }
    }

    /// Names the drill that is waited for on the bar.
    pub(crate) fn awaits(&mut self, drill: &DrillName) {
        if let Some(progress) = &self.progress {
            progress.awaits(drill);
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that keeps what is drawn.
    #[derive(Clone, Debug, Default)]
    struct Paper(Arc<Mutex<String>>);

    impl TermLike for Paper {
        fn width(&self) -> u16 {
            200
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().expect("one thread").push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().expect("one thread").clear();
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_bar_names_failures_the_time_that_is_left_and_the_drill_that_is_waited_for() {
        let paper = Paper::default();
        let mut progress = Progress::of(4);
        let target = ProgressDrawTarget::term_like(Box::new(paper.clone()));
        progress.bar.set_draw_target(target);
        progress.bar.inc(1);
        progress.failed();
        progress.awaits(&"port/cable-pulled@h100-oci".parse().expect("a drill"));
        let drawn = paper.0.lock().expect("one thread").clone();
        assert!(drawn.contains("1 of 4 drills, 1 failed, "), "{drawn}");
        assert!(
            drawn.contains(" left  port/cable-pulled@h100-oci"),
            "{drawn}"
        );
    }
}
