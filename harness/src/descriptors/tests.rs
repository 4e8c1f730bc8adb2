//! What a descriptor may hold, and which stories its monitor can play.

use std::fs;

use observe::{Filling, Messages};
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
    assert_eq!(texts.events, Messages::Reference);
    assert!(texts.logs.has("panicked") && !texts.logs.has("route"));
    let texts = with("texts: { events: { except: [ healthy on port ] } }").texts;
    let healthy = "Counter link_downed healthy on port {device} port {port}";
    assert!(!texts.events.has(healthy) && texts.events.has("NIC {device} disappeared"));
    assert!(!texts.logs.has("panicked"));
    let page = with("metrics: { path: /m, names: [ a_seconds, b ] }")
        .metrics
        .unwrap();
    assert_eq!(page.path, "/m");
    assert!(page.has("b") && page.has("a_seconds_count") && !page.has("c"));
    assert!(with("metrics: /m").metrics.unwrap().has("c"));
}

#[test]
fn a_row_that_cannot_be_is_refused_at_its_place() {
    let head = "descriptor_version: 1\nname: a\ncommand: [b]\n";
    let refused = |more: &str| {
        read("d.yaml", &format!("{head}{more}\n"))
            .unwrap_err()
            .to_string()
    };
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

/// A row that takes what the documents refuse makes the stories about the refusal not apply, and no others.
#[test]
fn a_story_about_what_is_taken_otherwise_by_promise_does_not_apply() {
    let promising = |promises: &'static str| {
        move |own: &mut Descriptor| own.promises = yaml::read("p.yaml", promises).unwrap()
    };
    let levels = "start/unknown-topology-level@dgx-a100";
    let any = "rows: { metadata: { levels: any } }";
    let told = "`m` takes levels of the topology that nobody knows";
    check(levels, promising(any), Some(told));
    let known = "rows: { metadata: { levels: known } }";
    check(levels, promising(known), None);
    check("start/metadata-malformed@dgx-h100", promising(any), None);
    let numa = "role/numa-unknown-is-management@dgx-h100";
    let near = "scope: { near_gpu: true }";
    let told = "`m` watches devices beside a GPU whatever their NUMA node is";
    check(numa, promising(near), Some(told));
    check(numa, promising("scope: { near_gpu: false }"), None);
    check(
        "role/numa-unreadable-is-not-unknown@dgx-h100",
        promising(near),
        None,
    );
}

#[test]
fn a_flag_that_nicdrill_fills_in_is_never_settable() {
    let head = "descriptor_version: 1\nname: a\ncommand: [ b, '--state={state_file}', '--checks={checks}' ]\n";
    let with = |more: &str| read("d.yaml", &format!("{head}settable: {{ {more} }}\n"));
    let told = with("level: word, state: word").unwrap_err().to_string();
    assert!(told.contains("d.yaml:4"), "{told}");
    assert!(
        told.contains("`--state` is filled in by nicdrill"),
        "{told}"
    );
    let told = with("--level: word").unwrap_err().to_string();
    assert!(told.contains("`--level` is no name of a flag"), "{told}");
    let told = with("level: path").unwrap_err().to_string();
    assert!(told.contains("d.yaml:4"), "{told}");
    with("level: word, checks: words").unwrap();
}

#[test]
fn the_flags_of_the_reference_monitor_are_settable_where_they_are_accepted() {
    let head = "descriptor_version: 1\nname: a\ncommand: [b]\n";
    let of = |more: &str| read("d.yaml", &format!("{head}{more}\n")).unwrap();
    let reference = shipped("reference").unwrap();
    assert_eq!(of("flags: reference").settable, reference.settable);
    assert_eq!(of("flags: own").settable, None);
    let own = of("flags: own\nsettable: { log-level: word }");
    assert_eq!(own.refuses_flag("--log-level=debug"), None);
    assert!(own.refuses_flag("--read-timeout=1s").is_some());
}

#[test]
fn a_story_with_a_flag_that_is_not_settable_cannot_be_played() {
    let drill = "port/patience-is-a-flag@dgx-h100";
    let settable = |text: &str| {
        let head = "descriptor_version: 1\nname: a\ncommand: [b]\n";
        read("d.yaml", &format!("{head}settable: {text}\n"))
            .unwrap()
            .settable
    };
    check(
        drill,
        |_| (),
        Some("`m` does not know the flags `--escalate-after=5s`"),
    );
    let listed = settable("{ escalate-after: duration }");
    check(drill, |own| own.settable = listed, None);
    let other = settable("{ log-level: word }");
    let told = "`m` lets no story set the flag `--escalate-after` (`settable` of its descriptor)";
    check(drill, |own| own.settable = other, Some(told));
    let number = settable("{ escalate-after: number }");
    let told = "`m` takes a number with `--escalate-after`, and not `--escalate-after=5s`";
    check(drill, |own| own.settable = number, Some(told));
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
    assert!(refused("descriptor_version: 1\nname: a\ncommand: [b]\nclok: own\n").contains("clock"));
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
    for none in ["[]", "[ \"\" ]"] {
        let texts = with(&format!("texts: {{ events: {{ except: {none} }} }}"));
        assert!(texts.contains("`except` names no text"), "{texts}");
    }
    let both = loops("]\nconcurrent: true\n");
    assert!(both.contains("`loops` cannot be combined"), "{both}");
}
