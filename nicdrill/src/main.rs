//! The command: parses the command line, calls the crates that do the work, and ends with an exit
//! code that a script can act on.
//!
//! Start at [`arguments`], then [`mod@command`]. Results go to stdout, progress and messages to
//! stderr; a broken pipe ends the command quietly.

mod arguments;
mod command;
mod draft;
mod json_schema;
mod new_file;
mod pages;
mod settings;
mod terminal;

use std::{
    env,
    ffi::{OsStr, OsString},
    panic, process,
};

use checks::Variant;
use clap::Parser as _;
use reports::ExitCode;

use arguments::{
    Arguments, Command, LinkCommand, LnetCommand, MpibCommand, PlatformCommand, ReportCommand,
    WorldCommand,
};
use command::Stop;

/// A run makes and drops thousands of small worlds, on every core at once, and starts hundreds of
/// monitors that live for milliseconds: without huge pages the kernel need not clear 2 MiB for each.
///
/// Measured with `run port` (440 drills in two arms, two cores, profile `dev`, median of nine runs, in turn): 7.5 s of
/// CPU and 92 MiB at the peak; with the system's allocator 7.8 s and 374 MiB.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> process::ExitCode {
    if let Some(code) = harness::process::trial() {
        return code;
    }
    // The monitor is started many times in a run, so this skips the parsing of the command line.
    if env::args_os().nth(1).as_deref() == Some(OsStr::new("monitor")) {
        return monitor::run(env::args_os().skip(1), Variant::RIGHT);
    }
    #[cfg(feature = "zoo")]
    if env::args_os().nth(1).as_deref() == Some(OsStr::new("wrong-monitor")) {
        return command::wrong_monitor(env::args_os().skip(2));
    }
    let code = panic::catch_unwind(|| {
        let words = settings::with_profile(env::args_os().collect());
        let done = words.and_then(|words| command(Arguments::parse_from(&words).command, &words));
        done.unwrap_or_else(|stop| stop.report().into())
    });
    let code = code.unwrap_or_else(|_| ExitCode::InternalFault.into());
    let Some(error) = terminal::lost() else {
        return code;
    };
    terminal::log(&format!("error: stdout cannot be written: {error}"));
    match code == ExitCode::InternalFault.into() {
        true => code,
        false => ExitCode::ReportNotWritten.into(),
    }
}

/// Runs a command; `words` are those of the command line, with those of a profile.
fn command(command: Command, words: &[OsString]) -> Result<process::ExitCode, Stop> {
    match command {
        Command::Run(arguments) => return command::run(&arguments, words),
        Command::Show(arguments) => return command::show(&arguments),
        Command::Compare(arguments) => return command::compare(&arguments),
        Command::Shell(arguments) => return command::shell(&arguments),
        Command::Fit(arguments) => return command::fit(&arguments),
        Command::Rules(arguments) => return command::rules(&arguments),
        Command::Suite { command } => return command::suite(&command),
        #[cfg(feature = "zoo")]
        Command::Zoo(arguments) => return command::zoo(&arguments),
        Command::Check(arguments) => command::check(&arguments),
        Command::List(arguments) => command::list(&arguments),
        Command::Platform { command } => match command {
            PlatformCommand::List(folders) => command::platform_list(&folders),
            PlatformCommand::Show(one) => command::platform_show(&one),
            PlatformCommand::Check { what, monitor } => command::platform_check(&what, &monitor),
            PlatformCommand::Topo(one) => command::platform_topo(&one),
            PlatformCommand::New(arguments) => command::platform_new(&arguments),
            PlatformCommand::Capture(arguments) => command::platform_capture(&arguments),
        },
        Command::World { command } => match command {
            WorldCommand::List(folders) => command::world_list(&folders),
            WorldCommand::Show(one) => command::world_show(&one),
        },
        Command::Link {
            command: LinkCommand::Show(arguments),
        } => command::link_show(&arguments),
        Command::Lnet { command } => match command {
            LnetCommand::Show(arguments) => command::lnet_show(&arguments),
            LnetCommand::Import { file } => command::lnet_import(&file),
        },
        Command::Mpib {
            command: MpibCommand::Show(arguments),
        } => command::mpib_show(&arguments),
        Command::Explain(arguments) => command::explain(&arguments),
        Command::Replay(arguments) => command::replay(&arguments),
        Command::Mount(arguments) => command::mount(&arguments),
        Command::Monitor(_) => unreachable!("`monitor` is taken before the command line is read"),
        #[cfg(feature = "zoo")]
        Command::WrongMonitor(_) => {
            unreachable!("`wrong-monitor` is taken before the command line is read")
        }
        Command::Do(arguments) => command::do_command(&arguments),
        Command::Help { topic } => command::help(topic.as_deref()),
        Command::Schema { of } => command::schema(of),
        Command::Report {
            command: ReportCommand::Merge(arguments),
        } => command::report_merge(&arguments),
        Command::Completions { shell } => command::completions(shell),
        Command::Man { dir } => command::man(&dir),
        Command::Proto => command::proto(),
        Command::Init(arguments) => command::init(&arguments),
        Command::Accept(arguments) => command::accept(&arguments),
        Command::Record(arguments) => command::record(&arguments),
    }
    .map(Into::into)
}
