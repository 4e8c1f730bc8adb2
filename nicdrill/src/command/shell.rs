//! `nicdrill shell`: a program of the user's, by default a shell, to which the fake tree is the host's `/sys`.

use std::{
    env, io,
    os::unix::process::ExitStatusExt as _,
    process::{self, Command},
    sync::mpsc,
    time::{Duration, Instant},
};

use harness::sandbox::{
    Sandbox,
    control::{Answer, Asked, Control, NotDone, Request, SANDBOX},
};
use platforms::Platform;
use reports::ExitCode;

use super::{
    Stop,
    stage::{self, Here, Standing},
};
use crate::{arguments::ShellArguments, pages::platform_pages, terminal::log};

/// The interval at which time advances without commands. Chosen: a tenth of a poll.
pub(super) const BEAT: Duration = Duration::from_millis(100);

/// The shell where the user's environment names none.
const SHELL: &str = "/bin/sh";

/// Opens a shell on a platform; its exit code is the command's.
pub(crate) fn shell(arguments: &ShellArguments) -> Result<process::ExitCode, Stop> {
    let (platforms, _) = super::platform::read(&arguments.folders.platforms)?;
    let platform = platform_pages::find(&platforms, &arguments.platform).map_err(Stop::input)?;
    match stage::set(true) {
        Standing::Outside(code) => Ok(code.into()),
        Standing::Here(here) => inside(arguments, platform, &here).map(process::ExitCode::from),
    }
}

fn inside(arguments: &ShellArguments, platform: &Platform, here: &Here) -> Result<u8, Stop> {
    let failed =
        |error: &dyn std::fmt::Display| Stop::with(ExitCode::StageNotSet, error.to_string());
    let stage = here.stage.as_ref().map_err(|reason| failed(reason))?;
    let mut sandbox = Sandbox::on_stage(platform, stage).map_err(|error| failed(&error))?;
    let (sender, requests) = mpsc::channel::<Asked>();
    let name = format!(
        "{}-{}",
        platform.name().replace(':', "-"),
        suffix(stage.folder())
    );
    let control = Control::open(&name, move |asked| sender.send(asked).is_ok());
    let control = control.map_err(|error| failed(&error))?;
    let mut words = arguments.command.iter();
    let program = words.next().cloned().or_else(|| env::var_os("SHELL"));
    let mut command = Command::new(program.unwrap_or_else(|| SHELL.into()));
    command.args(words).env(SANDBOX, control.path());
    if arguments.command.is_empty() {
        log(&format!(
            "/sys is that of {}; this sandbox is `{name}`",
            platform.name()
        ));
        log(
            "`nicdrill do cut mlx5_0/1`, `nicdrill do help`, also from another terminal; `exit` ends it",
        );
    }
    let mut child = sandbox.start(stage, &mut command).map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        let text = format!("`{program}` cannot be started: {error}");
        match error.kind() {
            io::ErrorKind::NotFound => Stop::usage(text).hint("write a program after `--`"),
            _ => Stop::with(ExitCode::StageNotSet, text),
        }
    })?;
    let began = Instant::now();
    loop {
        let asked = requests.recv_timeout(BEAT).ok();
        sandbox.advance(began.elapsed());
        if let Some(asked) = asked {
            let answer = answer(&mut sandbox, &asked.request);
            asked.answer(answer);
        }
        if let Some(status) = child.try_wait().map_err(|error| failed(&error))? {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            let killed = status
                .signal()
                .and_then(|signal| u8::try_from(128 + signal).ok());
            return Ok(code.or(killed).unwrap_or(1));
        }
    }
}

/// What tells stages apart: the end of the folder's name.
fn suffix(folder: &std::path::Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.trim_start_matches("nicdrill-").to_owned()
}

/// What a sandbox answers to a request.
pub(super) fn answer(sandbox: &mut Sandbox, request: &Request) -> Answer {
    match request {
        Request::Do(text) => match text.as_str() {
            "status" => Ok(sandbox.status()),
            "undo" => match sandbox.undo()? {
                Some(line) => Ok(format!("undone: {line}\n")),
                None => Err(NotDone::NothingToUndo),
            },
            text => {
                sandbox.command(text)?;
                Ok(format!("done: {text}\n"))
            }
        },
        Request::Save => Ok(sandbox.saved()),
        Request::Names => Ok(sandbox.names().join("\n")),
    }
}
