//! Descriptor files: the shipped ones and a user's.
//!
//! The content of a descriptor is defined by [`Descriptor`]; [`cannot_play`] checks whether its
//! monitor can play a story. Start at [`read`].

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use director::{Log, Target};
use files::{About, FileError, Problem, yaml};
use observe::{Descriptor, Pace, Vocabulary, shipped_descriptors};
use reports::visible;
use scenarios::{FileMoment, FileRef, HangEnd, MonitorAction, RuleEffect, StepMoment, Story};

mod by_promise;

use crate::{
    alert_rules, counter_names,
    outages::Outages,
    read_files::{Library, text_of},
};

/// How many descriptors may import promises from one another. Chosen: more is a circle.
const IMPORTS_MAX: usize = 8;

/// Reads a descriptor, with the promises that it imports. `file` is the name that errors carry; a file that it
/// imports from is relative to it. A counter is known by the shipped drivers.
///
/// # Errors
/// If the text is not a descriptor of version 1, with the place of the mistake.
pub fn read(file: &str, text: &str) -> Result<Descriptor, FileError> {
    read_with(file, text, None, IMPORTS_MAX)
}

/// Reads a descriptor like [`read`]; a counter is known by the drivers and scenarios of a library.
///
/// # Errors
/// As those of [`read`].
pub(crate) fn read_for(file: &str, text: &str, library: &Library) -> Result<Descriptor, FileError> {
    read_with(file, text, Some(library), IMPORTS_MAX)
}

fn read_with(
    file: &str,
    text: &str,
    library: Option<&Library>,
    imports: usize,
) -> Result<Descriptor, FileError> {
    let mut descriptor: Descriptor =
        yaml::read(file, text).map_err(|error| advised(error, text))?;
    if let Some(problem) = problems(&descriptor, library).into_iter().next() {
        return Err(problem.located(file, text));
    }
    if descriptor.settable.is_none() && descriptor.flags == Vocabulary::Reference {
        descriptor.settable = shipped("reference").and_then(|reference| reference.settable);
    }
    if let Some(prometheus) = &descriptor.prometheus {
        descriptor.schedule = prometheus.schedule();
    }
    if let Some(like) = descriptor.promises.like.clone() {
        let base = imported(file, &like, library, imports);
        let base = base.map_err(|problem| problem.located(file, text))?;
        descriptor.promises = descriptor.promises.over(&base.promises);
    }
    Ok(descriptor)
}

/// Every mistake of a text that is to be a descriptor, with its place, also that a file which it names cannot be read; none
/// if it can be read with this library, apart from what is in its alert rules.
#[must_use]
pub fn mistakes(file: &str, text: &str, library: &Library) -> Vec<FileError> {
    let mistakes = files::mistakes(file, text, |descriptor: &Descriptor| {
        let mut every = problems(descriptor, Some(library));
        let like = descriptor.promises.like.as_ref();
        every.extend(like.and_then(|like| imported(file, like, Some(library), IMPORTS_MAX).err()));
        every.extend(of_its_rules(file, descriptor));
        every
    });
    let mistakes = mistakes.into_iter();
    mistakes.map(|error| advised(error, text)).collect()
}

/// What is wrong with a descriptor that can be read.
fn problems(descriptor: &Descriptor, library: Option<&Library>) -> Vec<Problem> {
    let config = [&descriptor.config, &descriptor.config_default];
    let config: String = config.into_iter().flatten().cloned().collect();
    let kinds = descriptor.promises.rows.keys();
    // It is told in every output, on a line of its own in some.
    let is_seen =
        visible(&descriptor.name) == descriptor.name.as_str() && !descriptor.name.contains('\n');
    let odd_name = (!is_seen).then(|| {
        let what = "`name` has a character that cannot be seen";
        Problem::at(
            ["name"],
            what,
            "write a word, such as the name of the program",
        )
    });
    let counters = counter_names::unknown(kinds, library, &config).into_iter();
    let counters = counters
        .map(|(kind, what, hint)| Problem::at(["promises", "rows", &kind.to_string()], what, hint));
    let own = descriptor.problems().into_iter();
    own.chain(odd_name).chain(counters).collect()
}

/// That the alert rules of a descriptor cannot be read, or do not have alerts of which it says what they mean. What is wrong
/// in the rules themselves is told of them.
fn of_its_rules(file: &str, descriptor: &Descriptor) -> Vec<Problem> {
    let Some(prometheus) = &descriptor.prometheus else {
        return Vec::new();
    };
    match text_of(&beside(file, &prometheus.rules)) {
        Err(error) => {
            let hint =
                "write the path of a rule file; a relative one starts at the descriptor's folder";
            vec![Problem::at(
                ["prometheus", "rules"],
                error.to_string(),
                hint,
            )]
        }
        Ok(text) => yaml::read(&prometheus.rules, &text).map_or_else(
            |_| Vec::new(),
            |rules| alert_rules::unknown(&descriptor.alerts, prometheus, &rules),
        ),
    }
}

/// The path of a file that is named in another one.
fn beside(file: &str, named: &str) -> PathBuf {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    folder.join(named)
}

/// The descriptor that promises are imported from: a shipped one by its name, or a file.
fn imported(
    file: &str,
    like: &str,
    library: Option<&Library>,
    imports: usize,
) -> Result<Descriptor, Problem> {
    base(file, like, library, imports).map_err(|what| {
        let hint = "write `like: reference`, or the path of another descriptor";
        Problem::at(["promises", "like"], what, hint)
    })
}

fn base(
    file: &str,
    like: &str,
    library: Option<&Library>,
    imports: usize,
) -> Result<Descriptor, String> {
    let Some(imports) = imports.checked_sub(1) else {
        return Err("`like` leads in a circle".to_owned());
    };
    let shipped = shipped_descriptors().find(|(file, _)| file.strip_suffix(".yaml") == Some(like));
    if let Some((file, text)) = shipped {
        return read_with(file, text, library, imports).map_err(|error| error.to_string());
    }
    let path = beside(file, like);
    let text = text_of(&path)
        .map_err(|error| format!("`like` names `{like}`, which cannot be read: {error}"))?;
    let name = path.display().to_string();
    read_with(&name, &text, library, imports).map_err(|error| error.to_string())
}

/// The error with what to write, where there is nothing that a descriptor needs.
fn advised(error: FileError, text: &str) -> FileError {
    if text.trim().is_empty() {
        return error.hint(
            "a descriptor needs at least `descriptor_version: 1`, `name` and `command`; `nicdrill init` writes one",
        );
    }
    match error.about.as_deref() {
        Some(About::MissingKey(key)) if key == "descriptor_version" => {
            error.hint("write `descriptor_version: 1`")
        }
        _ => error,
    }
}

/// The shipped descriptor of this name; `None` if there is none.
///
/// # Panics
/// If a shipped descriptor cannot be read, which a test excludes.
#[must_use]
pub fn shipped(name: &str) -> Option<Descriptor> {
    shipped_descriptors()
        .map(|(file, text)| read(file, text).expect("a shipped descriptor can be read"))
        .find(|descriptor| descriptor.name == name)
}

/// Why this monitor cannot play this story; `None` if it can.
#[must_use]
pub fn cannot_play(descriptor: &Descriptor, story: &Story) -> Option<String> {
    let name = &descriptor.name;
    let log = Log::foreseen(story);
    let (flags, configured) = settings(story, &log);
    if descriptor.settable.is_none() && !flags.is_empty() {
        let flags = flags.join(" ");
        return Some(format!("`{name}` does not know the flags `{flags}`"));
    }
    let mut refused = flags
        .iter()
        .filter_map(|flag| descriptor.refuses_flag(flag));
    if let Some(reason) = refused.next() {
        return Some(format!("`{name}` {reason}"));
    }
    if !descriptor.has_config() && configured {
        return Some(format!("`{name}` has no configuration file"));
    }
    if descriptor.state_file == Vocabulary::Own && touches_state_file(&log) {
        return Some(format!("`{name}` keeps its state in a file of its own"));
    }
    if !descriptor.speaks.has_connector() && touches_connector(story, &log) {
        return Some(format!("`{name}` calls no connector"));
    }
    if descriptor.pace() != Pace::Gate && story.steps.iter().any(|step| step.moment.is_some()) {
        return Some(format!(
            "`{name}` is run or asked, so that nothing can be done in the middle of its poll"
        ));
    }
    if !descriptor.is_told_state_file() && waits_for_state_file(story, &log) {
        return Some(format!(
            "`{name}` is not told where its state file is to be"
        ));
    }
    let gives_up = RuleEffect::Hang {
        killable: true,
        until: HangEnd::GivenUp,
    };
    let mut rules = log.reads.iter().map(|ruled| &ruled.rule);
    if !descriptor.is_given_up() && rules.any(|rule| rule.effect == gives_up) {
        return Some(format!("`{name}` gives up no read that hangs"));
    }
    if let Some(reason) = by_promise::otherwise(descriptor, story, &log) {
        return Some(format!("`{name}` {reason}"));
    }
    let outages = Outages::of(story);
    if let (true, Some(at)) = (descriptor.needs_socket, outages.blind_start) {
        return Some(format!(
            "`{name}` needs the connector when it starts, and nothing listens at {at}"
        ));
    }
    let waits = outages.waits(&descriptor.real_time);
    if let Some(at_most) = descriptor.real_time.at_most
        && waits > at_most.0
    {
        return Some(format!(
            "`{name}` may wait {} s of real time, because the connector refuses in {} polls; \
             `real_time` allows {at_most}",
            waits.as_secs(),
            outages.refused + outages.missing
        ));
    }
    descriptor.unattributable(
        &descriptor.switched_on(&story.checks.names(), &story.config),
        Duration::from_nanos(story.ticks.interval().as_ns()),
    )
}

/// Whether a story changes the state file by itself.
fn touches_state_file(log: &Log) -> bool {
    let mut acts = log.acts.iter();
    acts.any(|act| matches!(act.on, Target::StateFile(_)))
}

/// Whether a story changes how a connector answers, or does something at a call.
fn touches_connector(story: &Story, log: &Log) -> bool {
    let mut acts = log.acts.iter();
    let mut moments = story.steps.iter().filter_map(|step| step.moment.as_ref());
    acts.any(|act| matches!(act.on, Target::Connector(_)))
        || moments.any(|moment| moment.call.is_some())
}

/// Whether a story has a rule on the state file, or does something when it is written.
fn waits_for_state_file(story: &Story, log: &Log) -> bool {
    let is_it = |file: &FileMoment| file.file == FileRef::StateFile;
    let at_it = |moment: &StepMoment| {
        let mut files = moment.before.iter().chain(&moment.after);
        files.any(is_it)
    };
    let mut rules = log.reads.iter().map(|ruled| &ruled.rule);
    let mut moments = story.steps.iter().filter_map(|step| step.moment.as_ref());
    moments.any(at_it) || rules.any(|rule| rule.file == FileRef::StateFile)
}

/// The flags that a story gives to a monitor, at its start or later, and whether it has lines for its
/// configuration file.
fn settings<'s>(story: &'s Story, log: &'s Log) -> (Vec<&'s str>, bool) {
    let mut flags: Vec<&str> = story.flags.iter().map(String::as_str).collect();
    let mut configured = !story.config.trim().is_empty();
    for (_, _, action) in log.monitors() {
        let later = match action {
            MonitorAction::Restart { flags, config, .. } => {
                configured |= config.is_some();
                flags
            }
            MonitorAction::Start { flags } => flags,
            MonitorAction::Stop { .. } | MonitorAction::Pause { .. } => continue,
        };
        flags.extend(later.iter().map(String::as_str));
    }
    (flags, configured)
}

#[cfg(test)]
mod tests;
