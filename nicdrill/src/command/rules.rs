//! `nicdrill rules`: drills Prometheus' alert rules.

mod table;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process,
};

use harness::{
    alert_rules::{self, PROMTOOL, Phases, Scraped},
    check::FileKind,
    descriptors,
    read_files::{self, Library},
    run_folder::write_whole,
    suite::{self, Ask, Interviewing, Starting, interview, select},
};
use memory::Played;
use observe::{
    Descriptor, Needs, Recording,
    promises::{Granularity, Kind, KindOf},
};
use reports::ExitCode;
use scenarios::Story;

use super::{
    Stop,
    select::{paths_and_names, platforms_in},
    stage::{self, Here, Standing},
};
use crate::{
    arguments::{Color, RulesArguments, RulesCheckArguments, RulesCommand, RulesExportArguments},
    terminal::{Terminal, log},
};
use table::{Phase, Table};

/// The example of the docs.
const RULES: &str = include_str!("../../../docs/alerts.yaml");

/// The example's descriptor.
const DESCRIPTOR: &str = include_str!("../../../docs/alert-rules.yaml");

/// How the example is named on the command line.
const EXAMPLE: &str = "example";

/// What is played if nothing is named.
const FAMILIES: [&str; 7] = [
    "port", "device", "card", "counter", "link", "read", "restart",
];

/// How many phases of the evaluation are told apart.
const PHASES: u64 = 8;

/// Carries out a command about alert rules.
pub(crate) fn rules(arguments: &RulesArguments) -> Result<process::ExitCode, Stop> {
    match &arguments.command {
        RulesCommand::Check(arguments) => check(arguments),
        RulesCommand::Export(arguments) => export(arguments),
    }
}

/// The monitor: the descriptor with these rules. Its drills only record what is scraped.
fn monitor(rules: &str, descriptor: Option<&str>) -> Result<Descriptor, Stop> {
    let mut read = match descriptor {
        None => descriptors::read("alert-rules.yaml", DESCRIPTOR).map_err(Stop::input)?,
        Some(file) => {
            let library = Library::read(&[], &[]).map_err(Stop::input)?;
            read_files::read_monitor(file, &library).map_err(Stop::input)?
        }
    };
    let name = read.name.clone();
    let Some(prometheus) = &mut read.prometheus else {
        return Err(
            Stop::usage(format!("`{name}` does not speak by alert rules"))
                .hint("`--descriptor` names a descriptor with `speaks: prometheus-rules`"),
        );
    };
    prometheus.rules = rules.to_owned();
    prometheus.rules_text = match rules {
        EXAMPLE => RULES.to_owned(),
        file => {
            let text = read_files::text_of(Path::new(file)).map_err(Stop::input)?;
            let wanted =
                read_files::is_wanted(file, &text, "file of alert rules", &[FileKind::AlertRules]);
            wanted.map_err(Stop::input)?;
            text
        }
    };
    prometheus.is_only_recorded = true;
    alert_rules::rules_of(&read).map_err(|error| Stop::usage(error.to_string()))?;
    Ok(read)
}

/// The stories that are asked for and can be played.
fn stories(
    (paths, names): (&[PathBuf], Vec<String>),
    platforms: &[String],
    descriptor: &Descriptor,
) -> Result<Vec<Story>, Stop> {
    let (own, named) = paths_and_names(platforms);
    let library = Library::read(paths, &own).map_err(Stop::input)?;
    let library = library.watched_by(descriptor);
    let own = platforms_in(&own, &library)?;
    let platforms = named.into_iter().chain(own).collect();
    let ask = Ask {
        names,
        platforms,
        full: true,
        ..Ask::default()
    };
    let selected = select(&library, descriptor, &ask).map_err(Stop::input)?;
    let stories = selected.drills.iter().map(|planned| {
        let story = suite::story(&library, &planned.drill);
        story.expect("a drill that was selected is in the library")
    });
    let stories: Result<Vec<Story>, _> = stories.collect();
    let stories = stories.map_err(Stop::input)?;
    if stories.is_empty() {
        return Err(Stop::with(ExitCode::NothingJudged, "no drill was selected"));
    }
    Ok(stories)
}

fn stopped(error: &dyn fmt::Display) -> Stop {
    Stop::with(ExitCode::StageNotSet, error.to_string())
}

/// Plays stories.
fn play(
    stories: &[Story],
    descriptor: &Descriptor,
    here: &Here,
    jobs: Option<usize>,
) -> Result<Vec<Played>, Stop> {
    let stage = here.stage.as_ref().map_err(|reason| stopped(&reason))?;
    let starting = Starting {
        pin: true,
        tell: Some(log),
        ..Starting::default()
    };
    let how = Interviewing {
        jobs,
        starting: &starting,
        stage,
        interruption: &here.interruption,
    };
    let all: Vec<&Story> = stories.iter().collect();
    interview(&all, descriptor, &how, |_| ()).map_err(|error| here.stopped(&error))
}

fn check(arguments: &RulesCheckArguments) -> Result<process::ExitCode, Stop> {
    let descriptor = monitor(&arguments.rules, arguments.descriptor.as_deref())?;
    let (paths, mut names) = paths_and_names(&arguments.what);
    if paths.is_empty() && names.is_empty() {
        names = FAMILIES.map(str::to_owned).into();
    }
    let stories = stories((&paths, names), &arguments.platform, &descriptor)?;
    let here = match stage::set(true) {
        Standing::Outside(code) => return Ok(code.into()),
        Standing::Here(here) => here,
    };
    let played = play(&stories, &descriptor, &here, arguments.jobs)?;
    let (rules, prometheus) =
        alert_rules::rules_of(&descriptor).map_err(|error| stopped(&error))?;
    let scraped: Vec<Scraped> = stories
        .iter()
        .zip(&played)
        .map(|(story, played)| {
            Scraped::of(
                &played.recording,
                prometheus,
                story.ticks.interval().as_ns(),
            )
        })
        .collect();
    let phases = Phases::Spread(PHASES);
    let evaluated = alert_rules::evaluate(&rules, prometheus, &scraped, phases)
        .map_err(|error| stopped(&error))?;
    let needs = [Granularity::Port, Granularity::Node].map(everything);
    let mut table = Table::default();
    for ((story, played), phases) in stories.iter().zip(&played).zip(&evaluated) {
        let noticed = phases.iter().map(|evaluated| {
            let mut recording = played.recording.clone();
            watched(&mut recording);
            let unnamed = alert_rules::say(&descriptor, &mut recording, evaluated);
            let [port, node] = [&needs[0], &needs[1]]
                .map(|needs| judge::noticed(story, &played.truth, &recording, &descriptor, needs));
            Phase {
                port,
                node,
                unnamed,
            }
        });
        let noticed: Vec<_> = noticed.collect();
        table.take(story, &played.recording, &noticed);
    }
    let mut terminal = Terminal::new(Color::Never);
    terminal.out(&table.page(arguments.verbose));
    let code = if table.broke_off() > 0 {
        ExitCode::CrashedOrHung
    } else {
        ExitCode::Success
    };
    if code != ExitCode::Success {
        log(&format!("exit code {code}: {}", code.meaning()));
    }
    Ok(code.into())
}

/// Counts every tick as a poll: rules are asked about all faults, also those between two scrapes, which a counter or a
/// later page may tell of.
fn watched(recording: &mut Recording) {
    for tick in &mut recording.ticks {
        let nodes: Vec<_> = tick.monitors.keys().cloned().collect();
        for node in nodes {
            let mut monitor = (*tick.monitors[&node]).clone();
            monitor.polls = monitor.polls.max(1);
            tick.insert(node, monitor.into());
        }
    }
}

/// Needs that ask about every kind of fault, whenever it is noticed.
fn everything(granularity: Granularity) -> Needs {
    let kinds = Kind::words().filter(|(word, of, _)| *of != KindOf::Episode && *word != "persists");
    let kinds: serde_json::Map<String, serde_json::Value> = kinds
        .filter_map(|(word, ..)| Kind::parse(word))
        .map(|kind| {
            (
                kind.to_string(),
                serde_json::json!({ "noticed": "within 24h" }),
            )
        })
        .chain([(
            "counter.*".to_owned(),
            serde_json::json!({ "noticed": "within 24h" }),
        )])
        .collect();
    let needs = serde_json::json!({ "needs_version": 1, "kinds": kinds });
    let needs: Needs = serde_json::from_value(needs).expect("needs of every kind");
    Needs {
        granularity,
        ..needs
    }
}

fn export(arguments: &RulesExportArguments) -> Result<process::ExitCode, Stop> {
    let descriptor = monitor(&arguments.rules, arguments.descriptor.as_deref())?;
    let Some((_, world)) = arguments.drill.rsplit_once('@') else {
        return Err(Stop::usage(format!("`{}` names no drill", arguments.drill))
            .hint("a drill is `family/scenario@platform`; `nicdrill list --drills` lists them"));
    };
    let what = (
        arguments.scenarios.as_slice(),
        vec![arguments.drill.clone()],
    );
    let stories = stories(what, &[world.to_owned()], &descriptor)?;
    let here = match stage::set(true) {
        Standing::Outside(code) => return Ok(code.into()),
        Standing::Here(here) => here,
    };
    let played = play(&stories, &descriptor, &here, Some(1))?;
    let (Some(story), Some(played)) = (stories.first(), played.first()) else {
        return Err(Stop::with(ExitCode::NothingJudged, "no drill was played"));
    };
    let not_written = |text: String| Stop::with(ExitCode::ReportNotWritten, text);
    let folder = arguments
        .out
        .parent()
        .filter(|it| !it.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let at = match arguments.rules.as_str() {
        EXAMPLE => {
            let at = folder.join("alerts.yaml");
            if !at.exists() {
                fs::write(&at, RULES).map_err(|error| {
                    not_written(format!("`{}` cannot be written: {error}", at.display()))
                })?;
                log(&format!("wrote {}", at.display()));
            }
            at
        }
        file => PathBuf::from(file),
    };
    let canonical = |path: &Path| {
        fs::canonicalize(path)
            .map_err(|error| not_written(format!("`{}` cannot be found: {error}", path.display())))
    };
    let (at, folder) = (canonical(&at)?, canonical(folder)?);
    let rules_at = at
        .strip_prefix(&folder)
        .unwrap_or(&at)
        .display()
        .to_string();
    let (_, prometheus) = alert_rules::rules_of(&descriptor).map_err(|error| stopped(&error))?;
    let scraped = Scraped::of(
        &played.recording,
        prometheus,
        story.ticks.interval().as_ns(),
    );
    let head = format!(
        "`{PROMTOOL} test rules`: what nicdrill scraped in {}, and what fires by it",
        arguments.drill
    );
    let text = alert_rules::export(&head, &rules_at, &descriptor, &scraped)
        .map_err(|error| stopped(&error))?;
    write_whole(&arguments.out, text.as_bytes()).map_err(|error| {
        not_written(format!(
            "`{}` cannot be written: {error}",
            arguments.out.display()
        ))
    })?;
    log(&format!("wrote {}", arguments.out.display()));
    Ok(ExitCode::Success.into())
}
