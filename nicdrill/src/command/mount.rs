//! `nicdrill mount`: an interactive sandbox with fault commands.

use std::{
    collections::VecDeque,
    fs,
    io::{self, BufRead as _, IsTerminal as _},
    os::unix::fs::FileTypeExt as _,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use harness::{on_interruption, sandbox::Sandbox};
use reports::ExitCode;

use super::{
    Stop,
    sandbox_line::SandboxLine,
    shell::{BEAT, answer},
};
use crate::{
    arguments::{Color, MountArguments},
    pages::platform_pages,
    terminal::{Terminal, log},
};

/// What is printed where a command can be typed.
const PROMPT: &str = "> ";

/// An input.
enum MountEvent {
    Line(String),
    EndOfInput,
    /// A signal, with the exit code of the command.
    Signal(ExitCode),
}

/// Mounts a platform and executes commands from stdin until its end, Ctrl-C or `umount`.
pub(crate) fn mount(arguments: &MountArguments) -> Result<ExitCode, Stop> {
    let (platforms, _) = super::platform::read(&arguments.folders.platforms)?;
    let platform = platform_pages::find(&platforms, &arguments.platform).map_err(Stop::input)?;
    let stage_failed =
        |error: &dyn std::fmt::Display| Stop::with(ExitCode::StageNotSet, error.to_string());
    let (sender, event) = mpsc::channel();
    let on_signal = sender.clone();
    let signals = on_interruption(move |code| {
        drop(on_signal.send(MountEvent::Signal(code)));
        false
    })
    .map_err(|error| stage_failed(&error))?;
    // A dead mount is there (ENOTCONN); it is removed by the new one.
    let made = matches!(arguments.dir.try_exists(), Ok(false));
    if made {
        fs::create_dir_all(&arguments.dir).map_err(|error| {
            stage_failed(&format!(
                "`{}` cannot be made: {error}",
                arguments.dir.display()
            ))
        })?;
    }
    // A folder that was created here goes at the end; it stays if it is not empty.
    let leave = || {
        if made {
            drop(fs::remove_dir(&arguments.dir));
        }
    };
    let mounted = Sandbox::mount(platform, &arguments.dir);
    if mounted.is_err() {
        leave();
    }
    let mut sandbox = mounted.map_err(|error| stage_failed(&error))?;
    let mut terminal = Terminal::new(Color::Never);
    terminal.out(&format!(
        "{} is mounted on {}\n",
        arguments.platform,
        arguments.dir.display()
    ));
    let is_terminal = io::stdin().is_terminal();
    // A closed stdin is `/dev/null` (Rust's runtime opens it), as that of a command in the background often is.
    let stdin = fs::metadata("/proc/self/fd/0");
    let is_nobody = !is_terminal && stdin.is_ok_and(|stdin| stdin.file_type().is_char_device());
    if is_terminal {
        log(
            "type `cut mlx5_0/1`, `flap mlx5_0/1 times 3`, `remove mlx5_2`, `status`, `undo`, `heal`; Ctrl-D ends",
        );
        log(
            "`help` lists all words, which are those of `nicdrill do`; a line of `do:`, such as `cut: mlx5_0`, is the same",
        );
        terminal.out(PROMPT);
    }
    thread::spawn(move || {
        // A line that is no text is refused as a word that nobody knows.
        let lines = io::stdin().lock().split(b'\n').map_while(Result::ok);
        let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
        for line in lines {
            if sender.send(MountEvent::Line(line)).is_err() {
                return;
            }
        }
        if is_nobody {
            log("nothing comes from stdin; Ctrl-C, SIGTERM or `umount` ends");
        } else {
            drop(sender.send(MountEvent::EndOfInput));
        }
    });
    let began = Instant::now();
    let mut code = ExitCode::Success;
    // What was typed while a `wait` lasts; `None` is the end of the input.
    let mut typed = VecDeque::new();
    let mut next_at = began;
    'mounted: loop {
        match event.recv_timeout(BEAT) {
            Ok(MountEvent::Line(line)) => typed.push_back(Some(line)),
            Ok(MountEvent::EndOfInput) => typed.push_back(None),
            Ok(MountEvent::Signal(with)) => {
                code = with;
                break;
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if !sandbox.is_mounted() {
            log(&format!("`{}` was unmounted", arguments.dir.display()));
            break;
        }
        sandbox.advance(began.elapsed());
        while Instant::now() >= next_at
            && let Some(line) = typed.pop_front()
        {
            let Some(line) = line else {
                break 'mounted;
            };
            match execute(&mut sandbox, &line) {
                Ok((text, wait)) => {
                    terminal.out(&text);
                    next_at = Instant::now() + wait;
                }
                Err(stop) => drop(stop.report()),
            }
            if is_terminal {
                terminal.out(PROMPT);
            }
        }
    }
    signals.close();
    let ended = sandbox.unmount();
    leave();
    ended.map_err(|error| stage_failed(&error))?;
    Ok(code)
}

/// Does what was typed: what is printed, and how long the next line waits. A line without words, and a comment, do
/// nothing.
fn execute(sandbox: &mut Sandbox, line: &str) -> Result<(String, Duration), Stop> {
    let mut wait = Duration::ZERO;
    let words: Vec<&str> = line.split_whitespace().collect();
    let text = match words.first() {
        None => String::new(),
        Some(first) if first.starts_with('#') => String::new(),
        Some(_) => SandboxLine::read(&words)?.execute(
            |request| {
                let answer = answer(sandbox, request);
                answer.map_err(|why| {
                    Stop::usage(why.to_string()).hint("`help` lists what can be done")
                })
            },
            |time| wait = time,
        )?,
    };
    Ok((text, wait))
}
