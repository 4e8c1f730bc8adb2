//! The terminal: where texts go, whether they are coloured, and a progress bar for long runs.
//!
//! This is the only file that writes to stdout and stderr and that uses `indicatif`.

use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
    sync::{Arc, Mutex, OnceLock, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reports::{DrillName, Style, quoted};

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
    lines: Option<Lines>,
    /// Whether stdout took no more; further output is dropped.
    deaf: bool,
}

/// How often a run tells where it is, if stderr is no terminal. Chosen: below the half minute after which people and CI
/// suspect that something hangs.
const TOLD_EVERY: Duration = Duration::from_secs(15);

#[derive(Debug)]
struct Progress {
    bar: ProgressBar,
    began: Instant,
    /// How many drills failed.
    failed: u64,
}

/// The lines that tell where a run is, for a stderr that is no terminal.
#[derive(Debug)]
struct Lines {
    count: Arc<Mutex<Count>>,
    /// Ends the lines when it is dropped.
    over: Option<mpsc::Sender<()>>,
    printer: Option<JoinHandle<()>>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    done: u64,
    of: u64,
    red: u64,
}

impl Lines {
    /// Tells a line each time so much time has passed.
    fn of(drills: u64, every: Duration, mut tell: impl FnMut(&str) + Send + 'static) -> Self {
        let count = Count {
            of: drills,
            ..Count::default()
        };
        let count = Arc::new(Mutex::new(count));
        let (over, is_over) = mpsc::channel::<()>();
        let counted = Arc::clone(&count);
        let printer = thread::spawn(move || {
            let began = Instant::now();
            while is_over.recv_timeout(every) == Err(mpsc::RecvTimeoutError::Timeout) {
                let Count { done, of, red } =
                    *counted.lock().unwrap_or_else(PoisonError::into_inner);
                let seconds = began.elapsed().as_secs();
                tell(&format!(
                    "{done} of {} done, {red} red, after {seconds} s",
                    reports::counted(of, "drill")
                ));
            }
        });
        Self {
            count,
            over: Some(over),
            printer: Some(printer),
        }
    }

    fn step(&self, is_red: bool) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        count.done += 1;
        count.red += u64::from(is_red);
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.over = None;
        if let Some(printer) = self.printer.take() {
            // A printer that panicked has printed so.
            drop(printer.join());
        }
    }
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
            began: Instant::now(),
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
            lines: None,
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

    /// Writes to stdout what people read: nothing foreign in it does anything to a terminal or a CI runner. A closed pipe is not
    /// an error; every other failure is kept for the end of the command.
    pub(crate) fn out(&mut self, text: &str) {
        self.verbatim(&self.style.safe(text));
    }

    /// Writes a text of nicdrill's own to stdout, for another program that reads it as it is.
    pub(crate) fn verbatim(&mut self, text: &str) {
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

    /// Starts a bar on stderr, if that is a terminal; it is shown once the run takes long. Elsewhere a line tells every 15 s
    /// where the run is, unless it is to be quiet.
    pub(crate) fn begin(&mut self, drills: usize, is_quiet: bool) {
        if io::stderr().is_terminal() {
            self.progress = Some(Progress::of(drills));
        } else if !is_quiet {
            let drills = u64::try_from(drills).expect("a count fits 64 bits");
            self.lines = Some(Lines::of(drills, TOLD_EVERY, log));
        }
    }

    /// Counts a drill that has ended.
    pub(crate) fn step(&mut self, is_red: bool) {
        if let Some(lines) = &self.lines {
            lines.step(is_red);
        }
        if let Some(progress) = &mut self.progress {
            if is_red {
                progress.failed();
            }
            if progress.bar.is_hidden() && progress.began.elapsed() >= PROGRESS_AFTER {
                progress.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            progress.bar.inc(1);
        }
    }

    /// Names the drill that is waited for on the bar.
    pub(crate) fn awaits(&mut self, drill: &DrillName) {
        if let Some(progress) = &self.progress {
            progress.awaits(drill);
        }
    }

    /// Removes the bar, and ends the lines.
    pub(crate) fn end(&mut self) {
        self.lines = None;
        if let Some(progress) = self.progress.take() {
            progress.bar.finish_and_clear();
        }
    }
}

/// Writes a message to stderr, with what it quotes as it is shown.
pub(crate) fn log(text: &str) {
    // If stderr cannot be written, the error cannot be reported either.
    drop(writeln!(io::stderr().lock(), "{}", quoted(text)));
}

#[cfg(test)]
mod tests {
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

    /// Whoever waits is told how far the run is, however long one drill takes.
    #[test]
    fn without_a_terminal_lines_tell_how_many_are_done_and_red() {
        let (told, hears) = mpsc::channel();
        let (may_go_on, goes_on) = mpsc::channel::<()>();
        let lines = Lines::of(4, Duration::from_millis(1), move |line| {
            told.send(line.to_owned()).expect("the test hears");
            // It ends without a word when the test is over.
            let _ = goes_on.recv();
        });
        let first = hears.recv().expect("a line is told");
        lines.step(false);
        lines.step(true);
        may_go_on.send(()).expect("the printer waits");
        let second = hears.recv().expect("a line is told");
        drop(may_go_on);
        drop(lines);
        assert!(
            first.starts_with("0 of 4 drills done, 0 red, after "),
            "{first}"
        );
        assert!(
            second.starts_with("2 of 4 drills done, 1 red, after "),
            "{second}"
        );
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
