//! `nicdrill fit`: interviews a monitor by short drills, and writes a descriptor with the promises that it was seen to keep.

use std::{fs, path::Path, process};

use fit::{Drill, Wiring, WiringDrills, head_without_promises, page, wiring};
use harness::{
    descriptors,
    read_files::{self, Library},
    run_folder::write_whole,
    suite::{self, Interviewing, PlayError, Selected, Starting, interview},
};
use memory::Played;
use observe::{Broken, Descriptor, Drains, Promises, shipped_descriptors};
use reports::{DrillName, ExitCode, ProbeOutcome};
use scenarios::{Story, Unfit};

use super::{
    Stop,
    select::paths_and_names,
    stage::{self, Here, Standing},
};
use crate::{
    arguments::{Color, FitArguments},
    terminal::{Terminal, log},
};

/// Where the drills are played: InfiniBand and Ethernet, eight cards each, and devices of two ports.
const PLATFORMS: [&str; 3] = ["dgx-h100", "h100-oci", "dgx-a100:two-port"];

/// Where its scope is asked about too: with management ports on which the default route is not.
const SCOPE_PLATFORMS: [&str; 2] = ["dgx-a100", "gb300"];

/// The drill that asks about the scope.
const SCOPE: &str = "port/every-cable";

/// The drills that tell how a monitor runs: at rest with the state checks and with all, and with a fault.
const REST: &str = "start/rest";
const EVERY_CHECK: &str = "start/rest-all-checks";
const OTHER_CHECKS: &str = "start/other-checks";
const FAULT: &str = "port/disabled";

/// Interviews a monitor and writes its descriptor.
pub(crate) fn fit(arguments: &FitArguments) -> Result<process::ExitCode, Stop> {
    if let Some(out) = arguments.out.as_deref().filter(|_| !arguments.force)
        && fs::symlink_metadata(out).is_ok()
    {
        let text = format!("`{}` already exists", out.display());
        return Err(Stop::usage(text).hint("`--force` overwrites it"));
    }
    let folder = arguments.out.as_deref().and_then(Path::parent);
    if let Some(folder) = folder.filter(|it| !it.as_os_str().is_empty() && !it.is_dir()) {
        let text = format!("there is no folder `{}`", folder.display());
        return Err(Stop::usage(text).hint("`--out` names a file in a folder that exists"));
    }
    let (own, named) = paths_and_names(&arguments.platform);
    let library = Library::interview(&own).map_err(Stop::input)?;
    let descriptor = read_files::read_monitor(&arguments.monitor, &library).map_err(Stop::input)?;
    let asking = asking(&named, library, &descriptor)?;
    match stage::set(true) {
        Standing::Outside(code) => Ok(code.into()),
        Standing::Here(here) => asked(arguments, &descriptor, &asking, &here).map(Into::into),
    }
}

/// What is asked where.
struct Asking {
    library: Library,
    stories: Vec<Story>,
    /// Drills that this monitor cannot play, with the reason.
    unasked: Vec<String>,
}

fn asking(named: &[String], library: Library, descriptor: &Descriptor) -> Result<Asking, Stop> {
    let library = library.asked_of(descriptor);
    let mut worlds = named.to_vec();
    worlds.extend(library.own_platforms.iter().cloned());
    let mut scope_worlds: Vec<String> = Vec::new();
    if worlds.is_empty() {
        worlds = PLATFORMS.map(str::to_owned).into();
        scope_worlds = SCOPE_PLATFORMS.map(str::to_owned).into();
    }
    if let Some(unknown) = worlds
        .iter()
        .find(|name| library.platforms.get(name).is_none())
    {
        return Err(Stop::usage(format!("there is no platform `{unknown}`"))
            .hint("`nicdrill platform list` lists them"));
    }
    // What it is said to promise is asked too.
    let unpromised = Descriptor {
        promises: Promises::default(),
        ..descriptor.clone()
    };
    let mut stories = Vec::new();
    let mut unasked = Vec::new();
    for scenario in &library.scenarios {
        let mut reason = None;
        let mut is_asked = false;
        let further = scope_worlds.iter().filter(|_| scenario.name == SCOPE);
        for world in worlds.iter().chain(further) {
            let drill = DrillName {
                scenario: scenario.name.clone(),
                world: world.clone(),
            };
            match suite::story(&library, &drill) {
                Some(Ok(story)) => match descriptors::cannot_play(&unpromised, &story) {
                    None => {
                        is_asked = true;
                        stories.push(story);
                    }
                    Some(cannot) => reason = Some(cannot),
                },
                Some(Err(Unfit::NotApplicable { reason: unfit })) => {
                    reason.get_or_insert(unfit);
                }
                Some(Err(error)) => return Err(Stop::input(error)),
                None => {}
            }
        }
        if let (false, Some(reason)) = (is_asked, reason) {
            unasked.push(format!("{}: {reason}", scenario.name));
        }
    }
    if stories.is_empty() {
        return Err(
            Stop::usage("no drill of the interview fits these platforms")
                .hint("leave `--platform` out, or name one with four cards of compute ports"),
        );
    }
    Ok(Asking {
        library,
        stories,
        unasked,
    })
}

fn asked(
    arguments: &FitArguments,
    descriptor: &Descriptor,
    asking: &Asking,
    here: &Here,
) -> Result<ExitCode, Stop> {
    let stage = match &here.stage {
        Ok(stage) => stage,
        Err(reason) => return Err(Stop::with(ExitCode::StageNotSet, reason.to_string())),
    };
    let starting = Starting {
        pin: true,
        tell: Some(log),
        ..Starting::default()
    };
    let probed = starting.probe(stage, &asking.library, descriptor, &selected(asking));
    if let ProbeOutcome::Failed { reason, exit_code } = probed.outcome {
        log(&format!("STOP  {}: {reason}", descriptor.name));
        return Ok(here.exit_code(exit_code));
    }
    let how = Interviewing {
        jobs: arguments.jobs,
        starting: &starting,
        stage,
        interruption: &here.interruption,
    };
    let stopped = |error: PlayError| here.stopped(&error);
    log("asking how it polls");
    let wiring = wired(asking, descriptor, &how).map_err(stopped)?;
    let stories: Vec<&Story> = asking.stories.iter().collect();
    let number = stories.len();
    let told = |place: usize| {
        let story = stories[place];
        log(&format!(
            "{} of {number}: {}@{}",
            place + 1,
            story.name,
            story.world
        ));
    };
    let mut played = interview(&stories, &wiring.descriptor, &how, told).map_err(stopped)?;
    again_alone(&stories, &mut played, &wiring.descriptor, &how).map_err(stopped)?;
    let drills: Vec<Drill<'_>> = stories.iter().zip(&played).map(drill).collect();
    let mut fitted = fit::fit(&wiring.descriptor, &drills);
    fitted.unasked.extend(asking.unasked.iter().cloned());
    let head = head(&arguments.monitor, descriptor, &wiring)?;
    let text = page(&head, &wiring, &fitted);
    // What is written must be read again.
    descriptors::read("the descriptor that was found", &text)
        .map_err(|error| Stop::with(ExitCode::InternalFault, error.to_string()))?;
    match &arguments.out {
        None => Terminal::new(Color::Never).out(&text),
        Some(out) => {
            write_whole(out, text.as_bytes()).map_err(|error| {
                let text = format!("`{}` cannot be written: {error}", out.display());
                Stop::with(ExitCode::ReportNotWritten, text)
            })?;
            log(&format!("wrote {}", out.display()));
        }
    }
    let count = |mark: fit::Mark| fitted.rows.values().filter(|row| row.mark == mark).count();
    log(&format!(
        "{} rows: {} observed, {} weaker than the reference, {} suspect",
        fitted.rows.len(),
        count(fit::Mark::Observed),
        count(fit::Mark::Weaker),
        count(fit::Mark::Suspect),
    ));
    for conceded in fitted.promises.conceded() {
        log(&format!("weaker: {conceded}"));
    }
    let suspect = fitted.rows.iter();
    let suspect = suspect.filter(|(_, row)| row.mark == fit::Mark::Suspect);
    for (kind, row) in suspect {
        match row.evidence.first() {
            Some(evidence) => log(&format!("suspect: {kind}: {evidence}")),
            None => log(&format!("suspect: {kind}")),
        }
    }
    Ok(ExitCode::Success)
}

/// Plays again, one at a time, what could not be played beside others. What cannot be played then either would leave rows and
/// scope to the drills that could, so that nothing is learnt.
fn again_alone(
    stories: &[&Story],
    played: &mut [Played],
    descriptor: &Descriptor,
    how: &Interviewing<'_>,
) -> Result<(), PlayError> {
    let alone = Interviewing {
        jobs: Some(1),
        ..*how
    };
    for (story, played) in stories.iter().zip(played) {
        let Some(Broken::Stage { .. }) = &played.recording.broken else {
            continue;
        };
        let mut again = interview(&[story], descriptor, &alone, |_| ())?;
        *played = again.pop().expect("one drill was played");
        if let Some(Broken::Stage { cause }) = &played.recording.broken {
            return Err(PlayError::Stage {
                drill: drill_name(story),
                cause: format!(
                    "{cause}; nothing is learnt from a part of the drills: play them when the machine has less to do, \
                     with `--jobs 1` if that is never"
                ),
            });
        }
    }
    Ok(())
}

/// The drills as a selection, for the probe.
fn selected(asking: &Asking) -> Selected {
    Selected::of_processes(asking.stories.iter().map(drill_name))
}

fn drill_name(story: &Story) -> DrillName {
    DrillName {
        scenario: story.name.clone(),
        world: story.world.clone(),
    }
}

fn drill<'d>((story, played): (&&'d Story, &'d Played)) -> Drill<'d> {
    Drill {
        story,
        truth: &played.truth,
        recording: &played.recording,
    }
}

/// Finds out how a monitor polls.
fn wired(
    asking: &Asking,
    descriptor: &Descriptor,
    how: &Interviewing<'_>,
) -> Result<Wiring, PlayError> {
    let nothing = || Wiring {
        descriptor: descriptor.clone(),
        lines: Vec::new(),
    };
    let story = |name: &str| asking.stories.iter().find(|story| story.name == name);
    let names = [REST, EVERY_CHECK, OTHER_CHECKS, FAULT];
    let Some(stories) = names
        .map(story)
        .into_iter()
        .collect::<Option<Vec<&Story>>>()
    else {
        return Ok(nothing());
    };
    let quiet = Descriptor {
        drains: Drains::Quiet,
        ..descriptor.clone()
    };
    let last = &stories[stories.len() - 1..];
    let mut gate = interview(&stories, descriptor, how, |_| ())?;
    again_alone(&stories, &mut gate, descriptor, how)?;
    let mut drained = interview(last, &quiet, how, |_| ())?;
    again_alone(last, &mut drained, &quiet, how)?;
    let drills: Vec<Drill<'_>> = stories.iter().zip(&gate).map(drill).collect();
    let drained: Vec<Drill<'_>> = last.iter().zip(&drained).map(drill).collect();
    let ([rest, every_check, other_checks, fault], [fault_quiet]) = (&drills[..], &drained[..])
    else {
        return Ok(nothing());
    };
    let drills = WiringDrills {
        rest,
        every_check,
        other_checks,
        fault,
        fault_quiet,
    };
    Ok(wiring(descriptor, &drills))
}

/// What stands above the promises: the monitor's own descriptor, or one for a program.
fn head(asked: &str, descriptor: &Descriptor, wiring: &Wiring) -> Result<String, Stop> {
    let found: Vec<&str> = wiring
        .lines
        .iter()
        .filter_map(|(line, _)| line.split(':').next())
        .collect();
    let shipped = shipped_descriptors().find(|(file, _)| file.strip_suffix(".yaml") == Some(asked));
    if let Some((_, text)) = shipped {
        return Ok(head_without_promises(text, &found));
    }
    if asked.ends_with(".yaml") || asked.ends_with(".yml") {
        let text = read_files::text_of(Path::new(asked)).map_err(Stop::input)?;
        return Ok(head_without_promises(&text, &found));
    }
    let name = Path::new(asked).file_name().unwrap_or_default();
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut lines = vec![
        "descriptor_version: 1".to_owned(),
        format!("name: {}", quoted(&name.to_string_lossy())),
    ];
    let command: Vec<String> = descriptor.command.iter().map(|word| quoted(word)).collect();
    lines.push(format!("command: [{}]", command.join(", ")));
    lines.push("env:".to_owned());
    let env = descriptor.env.iter();
    lines.extend(env.map(|(name, value)| format!("  {name}: {}", quoted(value))));
    lines.push(format!("needs_socket: {}", descriptor.needs_socket));
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_monitor_is_asked_on_a_machine_without_a_matrix_too() {
        let unknown = Descriptor::of_program("unknown");
        let named = "mi300x".to_owned();
        let library = Library::interview(&[]).unwrap();
        let Ok(asking) = asking(&[named], library, &unknown) else {
            panic!("no drill of the interview fits `mi300x`");
        };
        let asked = asking.stories.len();
        assert!(asked > 20, "{asked}: {:?}", asking.unasked);
    }
}
