//! Every scenario of the suite on the platform of its golden trace, in memory: the right monitor is found
//! right and tells its golden trace, and what the judge says of a recording or a story that was altered is
//! kept in `snapshots/`.
//!
//! Each scenario meets one alteration, in turn; all of them are in [`ALTERATIONS`].

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "golden traces lie beside the suite as files; platforms are read once for all families"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
    sync::Arc,
    sync::LazyLock,
};

use director::{Log, Trees};
use fabric::Action;
use judge::{Judgement, golden_difference, judge, trace};
use memory::play_in_memory;
use observe::{Answers, Call, Descriptor, MonitorTick, Reads, Recording, Subject};
use platforms::{NodeName, Platforms};
use reports::Finding;
use rstest::rstest;
use scenarios::{AtRest, Expectation, StepAction, Story, World};
use terms::Severity;

static PLATFORMS: LazyLock<Platforms> = LazyLock::new(Platforms::shipped);

/// How many findings of one drill are kept, and how many lines of what came for each.
const FOUND_MAX: usize = 6;
const CAME_MAX: usize = 2;

type Alteration = fn(&mut Story, &mut Recording);

/// What is altered, before the judge sees it. First polls stay: their findings would be told before all others.
const ALTERATIONS: &[(&str, Alteration)] = &[
    ("every expectation is two polls later", |story, _| {
        for expectation in later(story) {
            expectation.window.from += 2;
            expectation.window.to += 2;
        }
    }),
    ("the monitor says and does nothing", |_, recording| {
        for instance in instances(recording) {
            let polls = instance.polls;
            *instance = MonitorTick {
                polls,
                ..MonitorTick::default()
            };
        }
    }),
    ("nothing is expected", |story, _| {
        story
            .expectations
            .retain(|expectation| expectation.window.from == 0)
    }),
    ("every call comes a poll late", |_, recording| {
        let mut late: BTreeMap<Arc<str>, Vec<Call>> = BTreeMap::new();
        for tick in recording.ticks.iter_mut().skip(1) {
            for (node, instance) in Arc::make_mut(&mut tick.monitors) {
                let calls = late.entry(Arc::clone(node)).or_default();
                std::mem::swap(calls, &mut Arc::make_mut(instance).calls);
            }
        }
    }),
    ("every third event is lost", |_, recording| {
        let mut nth = 0;
        for call in instances(recording).flat_map(|instance| &mut instance.calls) {
            call.observations.retain(|_| {
                nth += 1;
                nth % 3 != 0
            });
        }
    }),
    ("every call is made twice", |_, recording| {
        for instance in instances(recording) {
            let again = instance.calls.clone();
            instance.calls.extend(again);
        }
    }),
    (
        "healthy is non-fatal, non-fatal fatal, fatal healthy",
        |_, recording| {
            for call in instances(recording).flat_map(|instance| &mut instance.calls) {
                for event in &mut call.observations {
                    event.severity = match event.severity {
                        Severity::Healthy => Severity::NonFatal,
                        Severity::NonFatal => Severity::Fatal,
                        _ => Severity::Healthy,
                    };
                }
            }
        },
    ),
    ("no call is accepted", |_, recording| {
        for call in instances(recording).flat_map(|instance| &mut instance.calls) {
            call.accepted = false;
            call.answer = "UNAVAILABLE".to_owned();
        }
    }),
    ("a port's events are its device's", |_, recording| {
        for call in instances(recording).flat_map(|instance| &mut instance.calls) {
            for event in &mut call.observations {
                if let Subject::Port { device, .. } = &event.subject {
                    event.subject = Subject::Device(device.clone());
                }
            }
        }
    }),
    ("every expectation is for its first poll", |story, _| {
        for expectation in later(story) {
            expectation.window.to = expectation.window.from;
        }
    }),
    (
        "stamps are a second late, texts and codes are others",
        |_, recording| {
            for call in instances(recording).flat_map(|instance| &mut instance.calls) {
                for event in &mut call.observations {
                    event.stamped_ns = event.stamped_ns.map(|ns| ns + 1_000_000_000);
                    event.codes = event.codes.iter().map(|code| format!("{code}x")).collect();
                    event.text.insert(0, '~');
                }
            }
        },
    ),
    (
        "a poll is two, and tells and reads nothing",
        |_, recording| {
            for instance in instances(recording) {
                instance.polls *= 2;
                instance.log.clear();
                instance.reads = Reads::default();
                instance.answers = Answers::default();
                instance.exits.clear();
            }
        },
    ),
    ("expectations are turned end for end", |story, recording| {
        let last = recording.ticks.len() as u64;
        for expectation in later(story) {
            let window = expectation.window;
            expectation.window.from = last.saturating_sub(window.to);
            expectation.window.to = last.saturating_sub(window.from);
        }
    }),
];

/// What is expected after the first poll.
fn later(story: &mut Story) -> impl Iterator<Item = &mut Expectation> {
    let all = story.expectations.iter_mut();
    all.filter(|expectation| expectation.window.from > 0)
}

/// What each monitor did in each tick after the first.
fn instances(recording: &mut Recording) -> impl Iterator<Item = &mut MonitorTick> {
    let ticks = recording.ticks.iter_mut().skip(1);
    ticks
        .flat_map(|tick| Arc::make_mut(&mut tick.monitors).values_mut())
        .map(Arc::make_mut)
}

/// The world of this name at rest: one of several nodes, or one node of a platform.
fn at_rest(name: &str) -> AtRest {
    if let Some(platform) = PLATFORMS.get(name) {
        return AtRest::new(&NodeName::from("node-a"), platform);
    }
    let mut worlds = suite::worlds().into_iter().map(|(file, text)| {
        World::read(file, text).unwrap_or_else(|error| panic!("{file}: {error}"))
    });
    let world = worlds.find(|world| world.name() == name);
    let world = world.unwrap_or_else(|| panic!("there is no world `{name}`"));
    AtRest::of_world(&world, &PLATFORMS).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The golden trace of a scenario, and the world that its second line names; `None` where only processes
/// are drilled.
fn golden(scenario: &str) -> Option<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suite/golden");
    let text = fs::read_to_string(folder.join(format!("{scenario}.txt"))).ok()?;
    let (_, world) = text.lines().nth(1)?.rsplit_once(", in ")?;
    let world = world.to_owned();
    Some((text, world))
}

/// The reference monitor.
fn reference() -> Descriptor {
    let shipped = observe::shipped_descriptors().find(|(file, _)| *file == "reference.yaml");
    let (file, text) = shipped.expect("the reference monitor ships");
    files::yaml::read(file, text).unwrap_or_else(|error| panic!("{error}"))
}

/// A finding in a few lines: what was wrong where and how often, its cause, what was expected, the first that
/// came, the last read.
fn rendered(finding: &Finding) -> String {
    let mut text = format!("- {}", finding.kind.words());
    if let Some(node) = &finding.node {
        let _ = write!(text, " on {node}");
    }
    if let Some(tick) = finding.tick {
        let _ = write!(text, " in poll {tick}");
    }
    if let Some(line) = &finding.line {
        let place = line
            .place
            .rsplit_once('/')
            .map_or(&*line.place, |(_, place)| place);
        let _ = write!(text, ", {place}");
    }
    if finding.times > 1 {
        let _ = write!(text, ", {} times", finding.times);
    }
    let _ = write!(text, "\n  cause: {}", finding.cause);
    for line in &finding.expected {
        let _ = write!(text, "\n  expected: {line}");
    }
    for line in finding.came.iter().take(CAME_MAX) {
        let _ = write!(
            text,
            "\n  came: {}",
            line.chars().take(160).collect::<String>()
        );
    }
    if let Some(more) = finding.came.len().checked_sub(CAME_MAX + 1) {
        let _ = write!(text, "\n  and {} more", more + 1);
    }
    if let Some(read) = finding.reads.last() {
        let count = finding.reads.len();
        let _ = write!(
            text,
            "\n  {count} reads, at last in poll {}: {}",
            read.poll, read.text
        );
    }
    text.push('\n');
    text
}

#[rstest]
#[case::boot("boot")]
#[case::card("card")]
#[case::chardev("chardev")]
#[case::cluster("cluster")]
#[case::connector("connector")]
#[case::counter_eth("counter-eth")]
#[case::counter("counter")]
#[case::device("device")]
#[case::fabric("fabric")]
#[case::host("host")]
#[case::joint("joint")]
#[case::link("link")]
#[case::lnet("lnet")]
#[case::mpib("mpib")]
#[case::ops("ops")]
#[case::port("port")]
#[case::read("read")]
#[case::reboot("reboot")]
#[case::restart("restart")]
#[case::roce("roce")]
#[case::role("role")]
#[case::start("start")]
#[case::statefile("statefile")]
#[case::vf("vf")]
fn a_family_tells_its_golden_traces_and_what_is_altered_in_it_is_found(#[case] family: &str) {
    let (reference, mut trees) = (reference(), Trees::default());
    let mut worlds: BTreeMap<String, AtRest> = BTreeMap::new();
    let mut found = String::new();
    for (file, text) in suite::scenarios() {
        let name = file.trim_end_matches(".yaml");
        let is_meant = file.split_once('/').is_some_and(|(of, _)| of == family);
        let Some((golden, world)) = golden(name).filter(|_| is_meant) else {
            continue;
        };
        let rest = worlds
            .entry(world)
            .or_insert_with_key(|world| at_rest(world));
        let scenario = scenarios::read(file, text).unwrap_or_else(|error| panic!("{error}"));
        let story = scenario.at_rest(rest);
        let mut story = story.unwrap_or_else(|unfit| panic!("{name}: {unfit}"));
        let played = play_in_memory(&story, &reference, None, &mut trees);
        let (truth, mut recording) = (played.truth, played.recording);
        let judged = judge(&story, &truth, &recording, &reference);
        assert_eq!(judged.findings, [], "{name}");
        assert_eq!(judged.judged.percent(), 100, "{name}: {:?}", judged.judged);
        assert_eq!(judged.judged.parts, BTreeMap::new(), "{name}");
        let difference = golden_difference(&golden, &trace(&story, &recording));
        assert_eq!(difference, None, "{name}");

        let (what, alter) = ALTERATIONS[place_of(name) % ALTERATIONS.len()];
        alter(&mut story, &mut recording);
        let Judgement { findings, judged } = judge(&story, &truth, &recording, &reference);
        let _ = writeln!(
            found,
            "\n# {name}: {what}\n{} findings, {} not judged",
            findings.len(),
            judged.not_judged.values().sum::<u64>()
        );
        // Of one kind about one line the first is enough.
        let mut kept = BTreeSet::new();
        let place = |finding: &Finding| finding.line.as_ref().map(|line| line.place.clone());
        let new = findings
            .iter()
            .filter(|finding| kept.insert((finding.kind.words(), place(finding))));
        found.extend(new.take(FOUND_MAX).map(rendered));
    }
    insta::assert_snapshot!(family, found);
}

/// A number that follows from a name alone, so that a new scenario changes what is altered in no other.
fn place_of(name: &str) -> usize {
    let add = |sum: usize, byte: u8| sum.wrapping_mul(31).wrapping_add(usize::from(byte));
    name.bytes().fold(0, add)
}

/// The kinds are a closed list: a promise about one of them covers whatever the suite asks.
#[test]
fn every_demand_of_the_suite_is_of_a_kind() {
    let (reference, mut trees) = (reference(), Trees::default());
    let mut worlds: BTreeMap<String, AtRest> = BTreeMap::new();
    let mut without = String::new();
    for (file, text) in suite::scenarios() {
        let name = file.trim_end_matches(".yaml");
        let Some((_, world)) = golden(name) else {
            continue;
        };
        let rest = worlds
            .entry(world)
            .or_insert_with_key(|world| at_rest(world));
        let scenario = scenarios::read(file, text).unwrap_or_else(|error| panic!("{error}"));
        let story = scenario.at_rest(rest);
        let story = story.unwrap_or_else(|unfit| panic!("{name}: {unfit}"));
        let played = play_in_memory(&story, &reference, None, &mut trees);
        for asked in judge::asked(&story, &played.truth, &played.recording, &reference) {
            let is_fault = !asked.line.starts_with("healthy");
            if asked.condition.is_none() && (is_fault || asked.episode.is_none()) {
                let _ = writeln!(without, "{}: {}", asked.place, asked.line);
            }
        }
    }
    assert_eq!(without, "");
}

/// What makes no fault: repairs, clocks, pauses, reports of errors, and what only a workload meets. Some of these
/// make a fault with other values.
const NO_FAULTS: [&str; 21] = [
    "AssignVf",
    "CharDevice",
    "ClearReasons",
    "ClockStep",
    "ErrorAction",
    "ErrorRegisters",
    "Interface",
    "Load",
    "Mend",
    "Module",
    "Operstate",
    "Overheat",
    "Pause",
    "Release",
    "Restore",
    "RestorePort",
    "ReturnToNamespace",
    "Set",
    "SwitchPower",
    "Unrule",
    "WidthPolicy",
];

#[test]
fn every_fault_of_the_suite_is_of_a_kind() {
    let mut without = BTreeSet::new();
    for (file, text) in suite::scenarios() {
        let scenario = scenarios::read(file, text).unwrap_or_else(|error| panic!("{error}"));
        let mut platforms = PLATFORMS.iter().map(|(name, _)| name.to_owned());
        let world = scenario.world().map(str::to_owned);
        let found = match world {
            Some(world) => scenario.at_rest(&at_rest(&world)).ok(),
            None => platforms.find_map(|name| scenario.at_rest(&at_rest(&name)).ok()),
        };
        let story = found.unwrap_or_else(|| panic!("{file} fits no platform"));
        let log = Log::foreseen(&story);
        for (action, act) in story.actions().zip(&log.acts) {
            if judge::kinds_of(&act.what).is_empty() {
                without.insert(verb(action));
            }
        }
    }
    let without: Vec<String> = without.into_iter().collect();
    assert_eq!(without, NO_FAULTS);
}

/// The variant of an action.
fn verb(action: &StepAction) -> String {
    let words = match action {
        StepAction::World(Action::Port(_, action)) => format!("{action:?}"),
        StepAction::World(Action::Ports(_, action)) => format!("{action:?}"),
        StepAction::World(Action::Device(_, action)) => format!("{action:?}"),
        StepAction::World(Action::Node(_, action)) => format!("{action:?}"),
        StepAction::Monitor(_, action) => format!("{action:?}"),
        other => format!("{other:?}"),
    };
    let word = words.split(|c: char| !c.is_alphanumeric()).next();
    word.unwrap_or_default().to_owned()
}
