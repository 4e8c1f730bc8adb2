//! The arguments of the command line.
//!
//! [`mod@crate::command`] implements the commands.

mod check;
mod color;
mod compare;
mod fit;
mod list;
mod lnet;
mod numbers;
mod report;
mod rules;
mod sandbox_arguments;
mod suite;
mod world;

pub(crate) use check::CheckArguments;
pub(crate) use color::Color;
pub(crate) use compare::CompareArguments;
pub(crate) use fit::FitArguments;
pub(crate) use list::ListArguments;
pub(crate) use lnet::{LnetArguments, LnetCommand, Why};
pub(crate) use report::{MergeArguments, ReportCommand};
pub(crate) use rules::{RulesArguments, RulesCheckArguments, RulesCommand, RulesExportArguments};
pub(crate) use sandbox_arguments::{DoArguments, ShellArguments};
pub(crate) use suite::{SuiteCheckArguments, SuiteCommand};
pub(crate) use world::{OneWorld, WorldCommand, WorldFolders};

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

mod reporting;
mod telling;

pub(crate) use reporting::ReportArguments;
pub(crate) use telling::TellArguments;

use crate::pages::help_pages::{exit_codes, sandbox};

/// The version, with the commit from which the command was built.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("NICDRILL_COMMIT"),
    ")"
);

/// Drills NIC health monitors: serves a GPU node's NICs as a fake sysfs, breaks them on a script,
/// runs a real monitor against it, and checks the exact stream of health events that it sends.
#[derive(Debug, Parser)]
#[command(name = "nicdrill", version = VERSION, disable_help_subcommand = true, after_help = exit_codes())]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run drills; without a path or name, the built-in suite
    #[command(after_help = exit_codes())]
    Run(Box<RunArguments>),
    /// Check files of every kind, and print every mistake: scenarios, platforms, descriptors, rules …
    Check(CheckArguments),
    /// List what would run, what would not, and why
    List(ListArguments),
    /// Show one drill in full: timeline, events, reads
    Show(ShowArguments),
    /// Work with platforms: list, show, check, topo, new, capture
    Platform {
        #[command(subcommand)]
        command: PlatformCommand,
    },
    /// Work with worlds of several nodes: list, show
    World {
        #[command(subcommand)]
        command: WorldCommand,
    },
    /// Show both ends of a scenario's links
    Link {
        #[command(subcommand)]
        command: LinkCommand,
    },
    /// Show LNet's state in a scenario, or make a scenario of a node's LNet
    Lnet {
        #[command(subcommand)]
        command: LnetCommand,
    },
    /// Show a scenario's jobs over MPIB: rails and masks, or an outage on their queue pairs
    Mpib {
        #[command(subcommand)]
        command: MpibCommand,
    },
    /// Play the story of a fault, such as F13, and tell what each view of it shows
    Explain(ExplainArguments),
    /// Replay recorded health events through rules, conditions and quarantine
    Replay(ReplayArguments),
    /// Mount the fake tree of a platform, and apply faults by command
    Mount(MountArguments),
    /// Open a shell to which the fake tree of a platform is the host's `/sys`
    #[command(after_help = sandbox())]
    Shell(ShellArguments),
    /// Do something in a sandbox that runs, such as `cut mlx5_3/1`
    #[command(after_help = sandbox())]
    Do(DoArguments),
    /// Play the suite against every deliberately wrong monitor; each must be caught
    #[cfg(feature = "zoo")]
    Zoo(ZooArguments),
    /// Run the reference monitor (`nicdrill monitor --help` lists its flags)
    #[command(disable_help_flag = true)]
    Monitor(Rest),
    /// A monitor of the zoo: its name, then flags of the reference monitor
    #[cfg(feature = "zoo")]
    #[command(disable_help_flag = true, hide = true)]
    WrongMonitor(Rest),
    /// Explain a command, or a topic such as scenario, faults, descriptor, promises
    Help {
        /// A command, or one of: scenario, platform, faults, descriptor, promises, lines, needs, exit-codes
        topic: Option<String>,
    },
    /// The JSON Schema of a file, for an editor: scenario, descriptor, needs, mix, known …
    Schema {
        /// The kind of file
        #[arg(value_name = "profile|driver|descriptor|scenario|world|known|needs|mix")]
        of: SchemaOf,
    },
    /// Print the completions of a shell, for its folder of completions
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages, one for each command
    Man {
        /// The folder; it is created if it does not exist
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// Print the platform connector's `.proto`, for a monitor's messages
    Proto,
    /// Write a working monitor, its descriptor, the `.proto` and a CI file
    Init(InitArguments),
    /// Interview a monitor, and write the promises that its runs are judged by
    Fit(FitArguments),
    /// Play several monitors in the same drills, and compare what each notices
    Compare(CompareArguments),
    /// Drill Prometheus' alert rules: check what they notice, export tests for promtool
    Rules(RulesArguments),
    /// Work with scenarios: check that each of their expectations can fail
    Suite {
        #[command(subcommand)]
        command: SuiteCommand,
    },
    /// Work with the reports of runs: merge the shards of one
    Report {
        #[command(subcommand)]
        command: ReportCommand,
    },
    /// Accept the findings of the last run: writes entries to `known.toml`, after asking
    Accept(AcceptArguments),
    /// Record what happens to a node's NICs as a scenario that can be replayed
    Record(RecordArguments),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct InitArguments {
    /// The language of the monitor
    #[arg(long)]
    pub(crate) lang: Language,
    /// The folder; it is created if it does not exist, and no file in it is overwritten
    pub(crate) dir: PathBuf,
}

/// A language with a template of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    Python,
    Go,
    Rust,
    Bash,
}

/// A kind of file with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    Profile,
    Driver,
    /// A monitor under test
    Descriptor,
    Scenario,
    World,
    /// Known deviations
    Known,
    /// What a site needs
    Needs,
    /// How often faults happen
    Mix,
}

/// All remaining arguments.
#[derive(Debug, Args)]
pub(crate) struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) rest: Vec<OsString>,
}

/// Arguments that select drills.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Which drills")]
pub(crate) struct SelectArguments {
    /// Scenario files or folders, or names: a family (`port`), a scenario (`port/cable-pulled`), a
    /// drill (`port/cable-pulled@h100-oci`, `./mine.yaml@h100-oci`); `*` and `?` are wildcards
    #[arg(value_name = "PATH|NAME")]
    pub(crate) what: Vec<String>,
    /// The arm to play in [default: both for a monitor that can be played in memory, else process]
    #[arg(long, value_name = "memory|process|both")]
    pub(crate) arm: Option<Arms>,
    /// Only what failed in the previous run (`failed.txt` in the run folder)
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only drills that match this expression: names, `platform(x)`, `family(x)`, `covers(x)`, and/or/not
    #[arg(long, value_name = "EXPR")]
    pub(crate) filter: Option<String>,
    /// Every applicable pair in both arms, instead of a selection in the process arm
    #[arg(long)]
    pub(crate) full: bool,
    /// The monitor: a descriptor's name or file, or a program [default: reference]
    #[arg(long, value_name = "DESCRIPTOR|PROGRAM")]
    pub(crate) monitor: Option<String>,
    /// Judge by the documents' rows, instead of those that the monitor promises
    #[arg(long, value_name = "documents")]
    pub(crate) against: Option<Against>,
    /// Only on these platforms: `name` (all its variants), `name:` (none of them), `name:variant`, or a
    /// folder or file of your own, also `FILE:variant`
    #[arg(long, value_name = "P,..", value_delimiter = ',')]
    pub(crate) platform: Vec<String>,
    /// Leave out drills that need more real time as a process than this, such as `2m`; the list of drills tells how much each
    /// needs
    #[arg(long, value_name = "TIME")]
    pub(crate) real_time_at_most: Option<String>,
    /// Only the K-th of N parts of the drills, from 1; `index:I/N` counts from 0. `report merge` joins them
    #[arg(long, value_name = "K/N")]
    pub(crate) shard: Option<String>,
    /// The run folder [default: nicdrill.out]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Whose rows a monitor is judged by instead of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Against {
    Documents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Arms {
    Memory,
    Process,
    Both,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) select: SelectArguments,
    #[command(flatten)]
    pub(crate) how: HowArguments,
    #[command(flatten)]
    pub(crate) reporting: ReportArguments,
}

/// Arguments that control a run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "How they are run")]
pub(crate) struct HowArguments {
    /// Succeed although every selected drill was skipped
    #[arg(long)]
    pub(crate) allow_skips: bool,
    /// Begin no drill after this time, such as `60s`; what failed or changed since the run before comes first
    #[arg(long, value_name = "TIME", conflicts_with_all = ["shard", "repeat"])]
    pub(crate) budget: Option<String>,
    /// End a drill that takes longer than this as one that hangs, such as `30s`: from 1s to 1h; in the process arm
    #[arg(long, value_name = "TIME")]
    pub(crate) drill_limit: Option<String>,
    /// Stop at the first failure
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Drills at once [default: one for each allowed CPU]
    #[arg(long, value_name = "N", value_parser = numbers::at_once)]
    pub(crate) jobs: Option<usize>,
    /// Keep the artifacts of every drill (story, reads, events, log, state file), not only of a failed one
    #[arg(long)]
    pub(crate) keep: bool,
    /// Do not pin jobs to CPUs
    #[arg(long)]
    pub(crate) no_pin: bool,
    /// Run everything N times and compare the repeats; at most 10000
    #[arg(long, value_name = "N", value_parser = numbers::repeats)]
    pub(crate) repeat: Option<u64>,
    /// Take the flags of `[profile.NAME]` in nicdrill.toml too; those given here take precedence
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Fail if this arm is not available
    #[arg(long, value_name = "process")]
    pub(crate) require: Option<Required>,
    /// Judge by what a site needs, as this file states it, instead of what the monitor promises; `example` is
    /// the one of the docs
    #[arg(long, value_name = "FILE")]
    pub(crate) needs: Option<String>,
    /// The order of the drills: 0 as listed, otherwise shuffled with this seed
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = numbers::seed)]
    pub(crate) seed: u64,
    /// Start the monitor under this command, such as `strace -f`
    #[arg(long, value_name = "CMD")]
    pub(crate) wrap: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Required {
    Process,
}

/// Arguments that select one drill.
#[derive(Clone, Debug, Args)]
pub(crate) struct OneDrill {
    /// The drill, as `scenario@platform` or `./mine.yaml@platform`; a scenario alone is shown on its first platform
    #[arg(value_name = "DRILL", index = 1)]
    pub(crate) drill: String,
    /// Further scenario files or folders to find it in
    #[arg(long, value_name = "PATH")]
    pub(crate) scenarios: Vec<String>,
    /// Further platform files or folders to find it in
    #[arg(long, value_name = "PATH")]
    pub(crate) platforms: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ShowArguments {
    /// The arm to play in [default: memory for a monitor that can be played there]
    #[arg(long, value_name = "memory|process")]
    pub(crate) arm: Option<Arms>,
    /// The monitor: a descriptor's name or file, or a program [default: reference]
    #[arg(long, value_name = "DESCRIPTOR|PROGRAM")]
    pub(crate) monitor: Option<String>,
    /// Judge by the documents' rows, instead of those that the monitor promises
    #[arg(long, value_name = "documents", conflicts_with = "needs")]
    pub(crate) against: Option<Against>,
    /// Judge by what a site needs, as this file states it, instead of what the monitor promises; `example` is
    /// the one of the docs
    #[arg(long, value_name = "FILE")]
    pub(crate) needs: Option<String>,
    /// Draw it: a row for each port, device, monitor and so on, with time from left to right
    #[arg(long)]
    pub(crate) lanes: bool,
    /// Draw the reads too
    #[arg(long, requires = "lanes")]
    pub(crate) reads: bool,
    /// The width of the picture in columns [default: that of the terminal, else 100]
    #[arg(long, value_name = "N", requires = "lanes")]
    pub(crate) width: Option<usize>,
    /// Colours
    #[arg(long, value_name = "WHEN", default_value = "auto", requires = "lanes")]
    pub(crate) color: Color,
    #[command(flatten)]
    pub(crate) which: OneDrill,
}

/// What `nicdrill link show` accepts: a port is of no summary, and of no switch.
const LINK_SHOW: &str = "nicdrill link show [OPTIONS] <DRILL> [PORT]
       nicdrill link show [OPTIONS] <DRILL> [PORT] --fm-log
       nicdrill link show [OPTIONS] <DRILL> [PORT] --dmesg
       nicdrill link show [OPTIONS] <DRILL> --summary
       nicdrill link show [OPTIONS] <DRILL> --switch <SWITCH>";

#[derive(Debug, Subcommand)]
pub(crate) enum LinkCommand {
    /// Print the link lines of Omni-Path's tools at one time of a scenario: of a node's own port those of
    /// `opaportinfo`, and of both ends those of `opasaquery -o portinfo -vvv`, if a subnet manager answers. Ports of other drivers
    /// than `hfi1` are shown in the same format, and a note says so
    #[command(override_usage = LINK_SHOW)]
    Show(LinkArguments),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct LinkArguments {
    /// A port, as `mlx5_0` or `mlx5_0/2`, in a world of several nodes `vm1/mlx5_0` [default: every port of which either end shows a reason or has a log entry]
    #[arg(value_name = "PORT", index = 2)]
    pub(crate) port: Option<String>,
    /// Instead: which links are not active, were down, are slow or count errors; both ends' reasons, their age, and who took it down
    #[arg(long, group = "link_view", conflicts_with = "port")]
    pub(crate) summary: bool,
    /// Instead: every port of a switch, such as `leaf-3`
    #[arg(
        long,
        value_name = "SWITCH",
        group = "link_view",
        conflicts_with = "port"
    )]
    pub(crate) switch: Option<String>,
    /// Instead: what the fabric manager wrote to the system's log about hosts that came and went, of PORT's link or of all
    #[arg(long, group = "link_view")]
    pub(crate) fm_log: bool,
    /// Instead: the kernel log, of PORT's node or of every node
    #[arg(long, group = "link_view")]
    pub(crate) dmesg: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The time, such as `10s` [default: the story's end]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    #[command(flatten)]
    pub(crate) which: OneDrill,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The fault, such as `F13`, or the name of a scenario [default: list the faults, each with its story]
    #[arg(value_name = "FAULT")]
    pub(crate) fault: Option<String>,
    /// Scenario files or folders instead of the built-in suite
    #[arg(long, value_name = "PATH")]
    pub(crate) scenarios: Vec<String>,
    /// Further platform files or folders
    #[arg(long, value_name = "PATH")]
    pub(crate) platforms: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MpibCommand {
    /// Print, at one time, how each connection is classified, which rails carry it, the bytes on them,
    /// hints and hazards
    Show(MpibArguments),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct MpibArguments {
    /// Print what happened instead: log lines, asynchronous events, and the lost posts of each queue pair with
    /// their retries and completion status, in order
    #[arg(long)]
    pub(crate) timeline: bool,
    /// A job over MPIB [default: every one]
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The time, such as `10s` [default: the story's end]
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    #[command(flatten)]
    pub(crate) which: OneDrill,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlatformCommand {
    /// List every platform and variant, one per line
    List(PlatformFolders),
    /// Show one platform: its devices, roles and cables
    Show(OnePlatform),
    /// Parse, render and classify: compare what a monitor would find with the declarations
    Check {
        /// Platform files or folders [default: the shipped platforms]
        #[arg(value_name = "PATH|NAME")]
        what: Vec<String>,
        /// The monitor for which the scenarios that apply are counted: a descriptor's name or file
        #[arg(long, value_name = "DESCRIPTOR", default_value = "reference")]
        monitor: String,
    },
    /// What `nvidia-smi topo -m` prints on a platform; or, for a file with such a text (`-` for standard input), its
    /// `gpu_metadata.json`
    Topo(OnePlatform),
    /// Start a platform's file: a copy of another one, with a comment on each key; or a driver's
    New(NewArguments),
    /// Write a platform's file from a live node, or from a dump of its sysfs
    Capture(CaptureArguments),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct NewArguments {
    /// Its name, such as `acme-h100`
    pub(crate) name: String,
    /// Start a driver's file instead: what a card's driver shows in each condition of a link
    #[arg(long)]
    pub(crate) driver: bool,
    /// The platform to copy, or with `--driver` the driver, such as `bnxt_re` [default: h100-oci, mlx5-eth]
    #[arg(long, value_name = "PLATFORM|DRIVER")]
    pub(crate) from: Option<String>,
    /// The file to write, `-` for standard output [default: NAME.yaml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) folders: PlatformFolders,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CaptureArguments {
    /// The node's root folder
    #[arg(
        long,
        value_name = "DIR",
        default_value = "/",
        conflicts_with = "from_dump"
    )]
    pub(crate) root: PathBuf,
    /// The file to write, `-` for standard output [default: NAME.yaml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The platform's name
    #[arg(long, value_name = "NAME", default_value = "my-node")]
    pub(crate) name: String,
    /// What `nvidia-smi topo -m` printed on the node, or with GPUs of AMD the text of `rocm-smi --showtopo` or
    /// `amd-smi topology` [default: ask nvidia-smi, where the root is `/`]
    #[arg(long, value_name = "FILE")]
    pub(crate) topo: Option<PathBuf>,
    /// Read counters too; each read is a query to the card's firmware
    #[arg(long)]
    pub(crate) counters: bool,
    /// Keep GUIDs, hardware addresses, serial numbers and the host's name as they are: the file is
    /// then about this one node
    #[arg(long)]
    pub(crate) keep_identifiers: bool,
    /// A dump instead of a node: a line `path = text` for each file, or a JSON map of paths and texts
    #[arg(long, value_name = "FILE")]
    pub(crate) from_dump: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) folders: PlatformFolders,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct PlatformFolders {
    /// Further platform files or folders
    #[arg(long, value_name = "PATH")]
    pub(crate) platforms: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct OnePlatform {
    /// `name` or `name:variant`, or a file of your own
    pub(crate) platform: String,
    #[command(flatten)]
    pub(crate) folders: PlatformFolders,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct MountArguments {
    /// `name` or `name:variant`
    pub(crate) platform: String,
    /// The folder to mount on; it is created if it does not exist
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) folders: PlatformFolders,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RecordArguments {
    /// The node's platform: a name, or a file such as `platform capture` writes
    #[arg(long, value_name = "PLATFORM|FILE")]
    pub(crate) platform: String,
    /// The node's root folder
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub(crate) root: PathBuf,
    /// How long to record, such as `1h` [default: until SIGINT or SIGTERM]
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) length: Option<String>,
    /// The interval between snapshots: a poll of the story
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) every: String,
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "incident.yaml")]
    pub(crate) out: PathBuf,
    /// A file with the time, `<wall ns> <boot ns>`, such as a drill's `nicdrill/clock` [default: the
    /// system's clock]
    #[arg(long, value_name = "FILE")]
    pub(crate) clock_path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) folders: PlatformFolders,
}

/// How a live node is read.
#[derive(Clone, Debug, Args)]
pub(crate) struct Reading {
    /// The longest wait for one file, which then counts as unreadable
    #[arg(long, value_name = "TIME", default_value = "2s")]
    pub(crate) read_limit: String,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The recorded events: one call or one event per line, as JSON
    pub(crate) events: PathBuf,
    /// The rules: a file that ends in `.toml`, or lsd, lsd-text, nvsentinel, gpud
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: String,
    /// A file with the cabling of switches and ports, for rules across nodes
    #[arg(long, value_name = "FILE")]
    pub(crate) world: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct AcceptArguments {
    /// Only findings with these ids, as a run prints them; `*` and `?` are wildcards [default: all]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Why they are accepted
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// A link for people
    #[arg(long, value_name = "URL")]
    pub(crate) link: Option<String>,
    /// The last day on which they are accepted, such as 2027-01-31
    #[arg(long, value_name = "DATE")]
    pub(crate) expires: Option<String>,
    /// The file to write to
    #[arg(long, value_name = "FILE", default_value = "known.toml")]
    pub(crate) known: PathBuf,
    /// The run folder [default: nicdrill.out]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

#[cfg(feature = "zoo")]
#[derive(Clone, Debug, Args)]
pub(crate) struct ZooArguments {
    /// List the wrong monitors and what each is modelled on
    #[arg(long)]
    pub(crate) list: bool,
    /// Only these
    #[arg(long = "only", value_name = "NAME,..", value_delimiter = ',')]
    pub(crate) mutants: Vec<String>,
    /// Drills at once [default: one for each allowed CPU]
    #[arg(long, value_name = "N", value_parser = numbers::at_once)]
    pub(crate) jobs: Option<usize>,
    #[command(flatten)]
    pub(crate) select: SelectArguments,
}
