//! Descriptor files: the shipped ones and a user's.
//!
//! The content of a descriptor is defined by [`Descriptor`]; [`cannot_play`] checks whether its
//! monitor can play a story. Start at [`read`].

use std::{path::Path, time::Duration};

use observe::{Descriptor, Differences, Pace, Problem, Vocabulary, shipped_descriptors};
use platforms::yaml::{self, YamlError};
use scenarios::{
    FileMoment, FileRef, HangEnd, Moment, MonitorAction, RuleEffect, StepAction, Story,
};

use serde::Deserialize;

use crate::{
    counter_names,
    outages::Outages,
    place,
    read_files::{Library, text_of},
};

/// How many descriptors may import promises from one another. Chosen: more is a circle.
const IMPORTS_MAX: usize = 8;

/// Reads a descriptor, with the promises that it imports. `file` is the name that errors carry; a file that it
/// imports from is relative to it. A counter is known by the shipped drivers.
///
/// # Errors
/// If the text is not a descriptor of version 1, with the place of the mistake.
pub fn read(file: &str, text: &str) -> Result<Descriptor, YamlError> {
    read_with(file, text, None, IMPORTS_MAX)
}

/// Reads a descriptor like [`read`]; a counter is known by the drivers and scenarios of a library.
///
/// # Errors
/// As those of [`read`].
pub fn read_for(file: &str, text: &str, library: &Library) -> Result<Descriptor, YamlError> {
    read_with(file, text, Some(library), IMPORTS_MAX)
}

fn read_with(
    file: &str,
    text: &str,
    library: Option<&Library>,
    imports: usize,
) -> Result<Descriptor, YamlError> {
    let mut descriptor: Descriptor =
        yaml::read(file, text).map_err(|error| advised(error, file, text))?;
    let refused = |keys: &[String], what: String| {
        YamlError::at(file, text, place::of_keys(file, text, keys), what)
    };
    if let Some(Problem { keys, what, hint }) = descriptor.problem() {
        return Err(refused(&keys, what.into_owned()).hint(hint));
    }
    let config = [&descriptor.config, &descriptor.config_default];
    let config: String = config.into_iter().flatten().cloned().collect();
    let kinds = descriptor.promises.rows.keys();
    if let Some((kind, what, hint)) = counter_names::unknown(kinds, library, &config) {
        let keys = ["promises", "rows", &kind.to_string()].map(str::to_owned);
        return Err(refused(&keys, what).hint(hint));
    }
    if descriptor.settable.is_none() && descriptor.flags == Vocabulary::Reference {
        descriptor.settable = shipped("reference").and_then(|reference| reference.settable);
    }
    if let Some(prometheus) = &descriptor.prometheus {
        descriptor.schedule = prometheus.schedule();
    }
    if let Some(like) = descriptor.promises.like.clone() {
        let base = imported(file, &like, library, imports).map_err(|what| {
            refused(&["promises", "like"].map(str::to_owned), what)
                .hint("write `like: reference`, or the path of another descriptor")
        })?;
        descriptor.promises = descriptor.promises.over(&base.promises);
    }
    Ok(descriptor)
}

/// The descriptor that promises are imported from: a shipped one by its name, or a file.
fn imported(
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
    let beside = Path::new(file).parent().unwrap_or(Path::new("")).join(like);
    let text = text_of(&beside)
        .map_err(|error| format!("`like` names `{like}`, which cannot be read: {error}"))?;
    let name = beside.display().to_string();
    read_with(&name, &text, library, imports).map_err(|error| error.to_string())
}

/// The error with what to write instead, where a key of earlier versions stands or nothing that a descriptor needs.
fn advised(error: YamlError, file: &str, text: &str) -> YamlError {
    /// The key that promises replaced.
    #[derive(Deserialize)]
    struct Earlier {
        differences: Differences,
    }
    if text.trim().is_empty() {
        return error.hint(
            "a descriptor needs at least `descriptor_version: 1`, `name` and `command`; `nicdrill init` writes one",
        );
    }
    match error.what.as_str() {
        "key `descriptor_version` is missing" => error.hint("write `descriptor_version: 1`"),
        "unknown key `differences`" => match yaml::read::<Earlier>(file, text) {
            Ok(earlier) => YamlError {
                what:
                    "`differences` is a key of earlier versions: a monitor states what it promises"
                        .to_owned(),
                ..error
            }
            .hint(format!("write {}", earlier.differences.as_promises())),
            Err(within) => within,
        },
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
    let (flags, configured) = settings(story);
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
    if descriptor.state_file == Vocabulary::Own && touches_state_file(story) {
        return Some(format!("`{name}` keeps its state in a file of its own"));
    }
    if !descriptor.speaks.has_connector() && touches_connector(story) {
        return Some(format!("`{name}` calls no connector"));
    }
    if descriptor.pace() != Pace::Gate && story.steps.iter().any(|step| step.moment.is_some()) {
        return Some(format!(
            "`{name}` is run or asked, so that nothing can be done in the middle of its poll"
        ));
    }
    if !descriptor.is_told_state_file() && waits_for_state_file(story) {
        return Some(format!(
            "`{name}` is not told where its state file is to be"
        ));
    }
    let hangs = |action: &StepAction| {
        let gives_up = RuleEffect::Hang {
            killable: true,
            until: HangEnd::GivenUp,
        };
        matches!(action, StepAction::Rule(rule) if rule.effect == gives_up)
    };
    if !descriptor.is_given_up() && story.actions().any(hangs) {
        return Some(format!("`{name}` gives up no read that hangs"));
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
fn touches_state_file(story: &Story) -> bool {
    let mut actions = story.actions();
    actions.any(|action| matches!(action, StepAction::StateFile(..)))
}

/// Whether a story changes how a connector answers, or does something at a call.
fn touches_connector(story: &Story) -> bool {
    let mut actions = story.actions();
    let mut moments = story.steps.iter().filter_map(|step| step.moment.as_ref());
    actions.any(|action| matches!(action, StepAction::Connector(..)))
        || moments.any(|moment| moment.call.is_some())
}

/// Whether a story has a rule on the state file, or does something when it is written.
fn waits_for_state_file(story: &Story) -> bool {
    let is_it = |file: &FileMoment| file.file == FileRef::StateFile;
    let at_it = |moment: &Moment| {
        let mut files = moment.before.iter().chain(&moment.after);
        files.any(is_it)
    };
    let has_rule = |action: &StepAction| matches!(action, StepAction::Rule(rule) if rule.file == FileRef::StateFile);
    let mut moments = story.steps.iter().filter_map(|step| step.moment.as_ref());
    moments.any(at_it) || story.actions().any(has_rule)
}

/// The flags that a story gives to a monitor, at its start or later, and whether it has lines for its
/// configuration file.
fn settings(story: &Story) -> (Vec<&str>, bool) {
    let mut flags: Vec<&str> = story.flags.iter().map(String::as_str).collect();
    let mut configured = !story.config.trim().is_empty();
    for action in story.actions() {
        let later = match action {
            StepAction::Monitor(_, MonitorAction::Restart { flags, config, .. }) => {
                configured |= config.is_some();
                flags
            }
            StepAction::Monitor(_, MonitorAction::Start { flags }) => flags,
            _ => continue,
        };
        flags.extend(later.iter().map(String::as_str));
    }
    (flags, configured)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use observe::Filling;
    use scenarios::ChecksRun;

    use super::*;

    #[test]
    fn every_shipped_descriptor_is_read_and_found_by_its_name() {
        for (file, text) in shipped_descriptors() {
            let descriptor = read(file, text).unwrap();
            assert_eq!(shipped(&descriptor.name), Some(descriptor));
        }
    }

    #[test]
    fn a_descriptor_without_what_it_needs_at_least_is_told_so() {
        let hint = |text| read("m.yaml", text).unwrap_err().hint.unwrap();
        assert!(hint("").contains("`descriptor_version: 1`, `name` and `command`"));
        assert_eq!(
            hint("name: m\ntitle: a monitor\ncommand: [./m]\n"),
            "write `descriptor_version: 1`"
        );
    }

    #[test]
    fn a_poll_has_as_many_listings_as_its_checks_make() {
        let checks = ChecksRun::State.names().len();
        let listings = |name: &str| shipped(name).unwrap().listings(checks);
        assert_eq!(listings("reference"), 1);
        assert_eq!(listings("nvsentinel"), 2);
    }

    #[test]
    fn everything_in_braces_is_filled_in() {
        let filling = Filling {
            this: "/bin/n",
            root: "/r",
            state_file: "/r/state.json",
            socket: "/s",
            config: "/c",
            files: "/f",
            node: "n-1",
            metrics_port: 1,
            textfile_dir: "/t",
            checks: &ChecksRun::State.names(),
        };
        for (file, text) in shipped_descriptors() {
            let descriptor = read(file, text).unwrap();
            for text in descriptor.command.iter().chain(&descriptor.config) {
                let filled = filling.fill(text);
                assert!(!filled.contains('{'), "{filled}");
            }
        }
    }

    #[test]
    fn texts_and_metrics_may_be_listed() {
        let with = |more: &str| {
            let head = "descriptor_version: 1\nname: a\ncommand: [b]\n";
            read("d.yaml", &format!("{head}{more}\n")).unwrap()
        };
        assert_eq!(with("texts: reference").texts, Vocabulary::Reference.into());
        let texts = with("texts: { events: reference, logs: [ panicked ] }").texts;
        assert_eq!(texts.events, Vocabulary::Reference);
        assert!(texts.logs.has("panicked") && !texts.logs.has("route"));
        let page = with("metrics: { path: /m, names: [ a_seconds, b ] }")
            .metrics
            .unwrap();
        assert_eq!(page.path, "/m");
        assert!(page.has("b") && page.has("a_seconds_count") && !page.has("c"));
        assert!(with("metrics: /m").metrics.unwrap().has("c"));
    }

    #[test]
    fn the_key_that_promises_replaced_is_refused_with_the_promises_to_write() {
        let head = "descriptor_version: 1\nname: a\ncommand: [b]\n";
        let refused = |more: &str| {
            read("d.yaml", &format!("{head}{more}\n"))
                .unwrap_err()
                .to_string()
        };
        let debounced = refused("differences: { disappearance_polls: 3, baseline_devices: false }");
        assert!(debounced.contains("d.yaml:4"), "{debounced}");
        let promises = "write `promises: { like: reference, rows: { gone_device: { after: 2 polls } }, wire: { baselines: { devices: false } } }`";
        assert!(debounced.contains(promises), "{debounced}");
        let both = refused("differences: { disappearance_polls: 3, baseline_device: false }");
        assert!(both.contains("d.yaml:4:40: unknown key"), "{both}");
        let misspelt = refused("diferences: {}");
        assert!(!misspelt.contains("differences"), "{misspelt}");
        let row = refused("promises: { rows: { down: { when: every_poll } } }");
        assert!(row.contains("d.yaml:4:29: "), "{row}");
        assert!(
            row.contains("the row of `down`: `when` is for `card` only"),
            "{row}"
        );
    }

    #[test]
    fn promises_are_imported_from_a_shipped_descriptor_or_a_file_beside() {
        use observe::promises::{Kind, Lasting, Row};
        let folder = tempfile::tempdir().unwrap();
        let head = "descriptor_version: 1\nname: a\ncommand: [b]\n";
        let write = |name: &str, more: &str| {
            let path = folder.path().join(name);
            fs::write(&path, format!("{head}promises: {more}\n")).unwrap();
            path.display().to_string()
        };
        let of = |path: &str| read(path, &fs::read_to_string(path).unwrap());
        let row = |descriptor: &Descriptor, kind: &str| {
            let kind = Kind::parse(kind).unwrap();
            descriptor.promises.row(&kind, None)
        };
        write(
            "base.yaml",
            "{ like: reference, rows: { gone_device: { after: 2 polls } } }",
        );
        let own = of(&write(
            "own.yaml",
            "{ like: base.yaml, rows: { card: silent } }",
        ))
        .unwrap();
        assert_eq!(row(&own, "card"), Some(Row::Silent));
        assert_eq!(row(&own, "flap"), Some(Row::Usual));
        let Some(Row::Says(gone)) = row(&own, "gone_device") else {
            panic!("it is a map");
        };
        assert_eq!(gone.after, Some(Lasting::Polls(2)));
        let error = of(&write("lost.yaml", "{ like: nowhere.yaml }"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("`nowhere.yaml`, which cannot be read"),
            "{error}"
        );
        let circle = of(&write("circle.yaml", "{ like: circle.yaml }"))
            .unwrap_err()
            .to_string();
        assert!(circle.contains("`like` leads in a circle"), "{circle}");
    }

    fn check(drill: &str, change: impl FnOnce(&mut Descriptor), reason: Option<&str>) {
        let library = Library::read(&[], &[]).unwrap();
        let (scenario, world) = drill.split_once('@').unwrap();
        let drill = reports::DrillName {
            scenario: scenario.to_owned(),
            world: world.to_owned(),
        };
        let story = crate::suite::story(&library, &drill).unwrap().unwrap();
        let mut descriptor = Descriptor::of_program("m");
        change(&mut descriptor);
        assert_eq!(cannot_play(&descriptor, &story).as_deref(), reason);
    }

    #[test]
    fn a_story_without_a_listening_socket_at_a_start_needs_a_monitor_that_does_not_need_it() {
        let drill = "connector/socket-absent-at-start@h100-oci";
        check(drill, |own| own.needs_socket = false, None);
        check(
            drill,
            |own| own.needs_socket = true,
            Some("`m` needs the connector when it starts, and nothing listens at 0s"),
        );
        check(
            "connector/nobody-listens@h100-oci",
            |own| own.needs_socket = true,
            None,
        );
    }

    #[test]
    fn a_monitor_that_writes_lines_plays_no_story_about_calls() {
        let reason = Some("`m` calls no connector");
        let lines = |own: &mut Descriptor| own.speaks = observe::Protocol::Lines;
        check("connector/nobody-listens@h100-oci", lines, reason);
        check("connector/killed-between-two-calls@dgx-h100", lines, reason);
        check("port/cable-pulled@h100-oci", lines, None);
    }

    #[test]
    fn in_a_run_there_is_no_moment_at_which_something_is_done() {
        let drill = "device/ports-folder-empty-for-a-poll@dgx-a100:two-port";
        check(drill, |own| own.speaks = observe::Protocol::Lines, None);
        let reason = "`m` is run or asked, so that nothing can be done in the middle of its poll";
        let runs = |own: &mut Descriptor| own.speaks = observe::Protocol::ExitCode;
        check(drill, runs, Some(reason));
    }

    /// The connector refuses in the polls from 5 s to 11 s.
    #[test]
    fn a_story_that_needs_more_real_time_than_is_allowed_does_not_apply() {
        let drill = "connector/nobody-listens@h100-oci";
        let span = |text| observe::Span::parse(text);
        check(drill, |own| own.real_time.backoff = span("17s"), None);
        let allowed = |at_most: &'static str| {
            move |own: &mut Descriptor| {
                (own.real_time.backoff, own.real_time.at_most) = (span("17s"), span(at_most));
            }
        };
        check(drill, allowed("119s"), None);
        check(
            drill,
            allowed("118s"),
            Some(
                "`m` may wait 119 s of real time, because the connector refuses in 7 polls; \
                 `real_time` allows 118 s",
            ),
        );
        check("port/cable-pulled@h100-oci", allowed("1s"), None);
    }

    /// No socket is there in the eight polls before 8 s; what the monitor waits for then has a key of its own.
    #[test]
    fn polls_without_a_socket_wait_as_long_as_is_stated_for_them() {
        let drill = "connector/socket-absent-at-start@h100-oci";
        let with = |missing: Option<&'static str>, at_most: &'static str| {
            move |own: &mut Descriptor| {
                own.needs_socket = false;
                own.real_time = observe::RealTime {
                    interval: None,
                    backoff: observe::Span::parse("17s"),
                    missing_socket: missing.and_then(observe::Span::parse),
                    at_most: observe::Span::parse(at_most),
                };
            }
        };
        check(drill, with(Some("2s"), "16s"), None);
        let told = "`m` may wait 16 s of real time, because the connector refuses in 8 polls; `real_time` allows 15 s";
        check(drill, with(Some("2s"), "15s"), Some(told));
        let told = "`m` may wait 136 s of real time, because the connector refuses in 8 polls; `real_time` allows 135 s";
        check(drill, with(None, "135s"), Some(told));
    }

    #[test]
    fn lines_and_flags_of_a_restart_need_a_monitor_that_takes_them() {
        let drill = "counter/disabled-while-latched@h100-oci";
        let text = "[a]\nb = 1\n".to_owned();
        check(drill, |own| own.config_default = Some(text), None);
        check(drill, |_| (), Some("`m` has no configuration file"));
    }

    #[test]
    fn a_descriptor_that_cannot_be_is_refused_with_its_place() {
        let refused = |text: &str| read("d.yaml", text).unwrap_err().to_string();
        assert!(refused("descriptor_version: 2\nname: a\ncommand: [b]\n").contains("d.yaml:1"));
        assert!(refused("descriptor_version: 1\nname: a\ncommand: []\n").contains("d.yaml:3"));
        assert!(
            refused("descriptor_version: 1\nname: a\ncommand: [b]\nclok: own\n").contains("clock")
        );
        let loops = |more: &str| {
            let states = "{ checks: [InfiniBandStateCheck, EthernetStateCheck] }";
            refused(&format!(
                "descriptor_version: 1\nname: a\ncommand: [b]\nloops: [{states}{more}"
            ))
        };
        let alike = loops(", { checks: [InfiniBandCharDeviceCheck], interval: 5 }]\n");
        assert!(alike.contains("invalid span of time `5`"), "{alike}");
        let alike = loops(", { checks: [InfiniBandStateCheck] }]\n");
        assert!(alike.contains("d.yaml:4"), "{alike}");
        assert!(alike.contains("two loops run the same check"), "{alike}");
        let with = |more: &str| {
            let head = "descriptor_version: 1\nname: a\ncommand: [b]\n";
            refused(&format!("{head}{more}\n"))
        };
        let unknown = with("env: { A: '{rot}' }");
        assert!(unknown.contains("d.yaml:4"), "{unknown}");
        assert!(
            unknown.contains("the placeholder `{rot}`, which does not exist"),
            "{unknown}"
        );
        assert!(
            unknown.contains("`{{rot}}` stands for `{rot}`"),
            "{unknown}"
        );
        let yaml = with("config_default: 'a: 1'");
        assert!(yaml.contains("`config_default` is not TOML"), "{yaml}");
        let outside = with("files: { ../a: '' }");
        assert!(
            outside.contains("a path that is not in their folder"),
            "{outside}"
        );
        let exact = with("clock: file\nclock_tolerance: 2s");
        assert!(
            exact.contains("for a monitor with its own clock"),
            "{exact}"
        );
        let texts = with("texts: theirs");
        assert!(
            texts.contains("theirs") && texts.contains("reference"),
            "{texts}"
        );
        let texts = with("texts: { event: own }");
        assert!(texts.contains("event"), "{texts}");
        let both = loops("]\nconcurrent: true\n");
        assert!(both.contains("`loops` cannot be combined"), "{both}");
    }
}
