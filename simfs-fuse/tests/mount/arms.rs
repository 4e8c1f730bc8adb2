//! Both arms give the same result for arbitrary steps.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::Path,
};

use proptest::{collection::vec, prelude::*, sample::select, test_runner::Config};
use simfs::{
    Edit, Errno, Fs, MomentId, NodeKind, Op, OpMoment, OpSet, Refused, Rule, RuleId, SimTime, Spot,
    Turn, Verdict, When, Within,
};
use simfs_fuse::MomentAnswer;

use crate::support::{
    Setting, device, file, fuse_or_skip, in_memory, link, list, read, remove, two_devices,
};

#[derive(Clone, Debug)]
enum Step {
    List(&'static str),
    Read(&'static str),
    Save(&'static str, &'static str),
    Rename(&'static str, &'static str),
    Unlink(&'static str),
    MakeFolder(&'static str),
    RemoveFolder(&'static str),
    MakeNew(&'static str),
    Append(&'static str, &'static str),
    Cut(&'static str, u64),
    Stat(&'static str),
    ReadLink(&'static str),
    PollBegins,
    Moment(OpMoment),
    Edit(Vec<Edit>),
    Arm(Rule),
    Disarm(RuleId),
}

const PLACES: &[&str] = &[
    "",
    "class",
    "class/a",
    "class/a/state",
    "class/b/rate",
    "devices",
    "devices/b/state",
    "loop/x",
    "none",
];
const FILES: &[&str] = &[
    "var/state/x",
    "var/state/y",
    "var/state/sub/z",
    "class/a/state",
    "var/state/sub",
];

fn rules() -> impl Strategy<Value = Rule> {
    let ops = select(vec![
        OpSet::from(Op::Read),
        OpSet::from(Op::List),
        OpSet::CHANGES,
        OpSet::from(Op::ReadLink),
    ]);
    let pattern = select(vec![
        "class/a/state",
        "class",
        "**",
        "devices/*/state",
        "var/state/*",
        "class/a",
    ]);
    let when = select(vec![
        When::Always,
        When::Nth(1),
        When::Nth(2),
        When::FirstN(2),
        When::EveryNth(2),
    ]);
    let verdict = select(vec![
        Verdict::Fail(Errno::EIO),
        Verdict::Fail(Errno::EACCES),
        Verdict::Content(b"what\n".to_vec()),
        Verdict::Truncate(1),
        Verdict::Torn {
            first: b"1: D".to_vec(),
            at: 2,
        },
        Verdict::Vanish {
            paths: vec!["class/b".into(), "devices/b".into()],
            after_names: Some(1),
        },
        Verdict::ShortWrite(2),
    ]);
    (0..3u64, ops, pattern, when, verdict).prop_map(|(id, ops, pattern, when, verdict)| Rule {
        id: RuleId(id),
        ops,
        pattern: pattern.into(),
        when,
        verdict,
    })
}

fn moments() -> impl Strategy<Value = OpMoment> {
    let spot = || {
        let ops = select(vec![
            OpSet::from(Op::Read),
            OpSet::from(Op::List),
            OpSet::CHANGES,
        ]);
        (
            ops,
            select(vec!["class", "class/b/state", "**", "var/state/*"]),
        )
            .prop_map(|(ops, at)| Spot::new(ops, at))
    };
    let turn = prop_oneof![
        spot().prop_map(Turn::Before),
        spot().prop_map(Turn::After),
        (spot(), spot()).prop_map(|(after, before)| Turn::Between { after, before }),
    ];
    let within = select(vec![Within::Poll, Within::Drill]);
    (0..4u64, turn, 1..3u64, within).prop_map(|(id, turn, nth, within)| OpMoment {
        id: MomentId(id),
        turn,
        nth,
        within,
    })
}

/// The actions of a story at its moments.
fn story(fs: &mut Fs, moment: MomentId) {
    match moment {
        MomentId(0) => fs.apply(&[remove("class/b"), remove("devices/b")]),
        MomentId(1) => fs.apply(&device("b")),
        MomentId(2) => fs.apply(&[file("devices/b/state", "2: INIT\n")]),
        _ => fs.apply(&[remove("class"), file("var/state/other", "from the story")]),
    }
}

/// Repeats a call after each moment, once the story has continued.
fn again<T>(fs: &mut Fs, mut call: impl FnMut(&mut Fs) -> Result<T, Refused>) -> Result<T, i32> {
    loop {
        match call(fs) {
            Err(Refused::Moment(moment)) => story(fs, moment),
            ended => return in_memory(ended),
        }
    }
}

fn steps() -> impl Strategy<Value = Step> {
    let edits = select(vec![
        device("a"),
        device("b"),
        vec![remove("class/a"), remove("devices/a")],
        vec![remove("devices/b")],
        vec![remove("class")],
        vec![file("devices/a/state", "1: DOWN\n")],
        vec![link("class/a", "../devices/b")],
        vec![link("loop/x", "y"), link("loop/y", "x")],
        vec![file("var/state/x", "by the story")],
        vec![remove("var/state/sub")],
    ]);
    prop_oneof![
        3 => select(PLACES).prop_map(Step::List),
        6 => select(PLACES).prop_map(Step::Read),
        2 => select(FILES).prop_map(Step::Read),
        3 => (select(FILES), select(vec!["", "text", "longer text"])).prop_map(|(path, text)| Step::Save(path, text)),
        1 => (select(FILES), select(FILES)).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => select(FILES).prop_map(Step::Unlink),
        1 => select(FILES).prop_map(Step::MakeFolder),
        1 => select(FILES).prop_map(Step::RemoveFolder),
        1 => select(FILES).prop_map(Step::MakeNew),
        1 => (select(FILES), select(vec!["more", ""])).prop_map(|(path, text)| Step::Append(path, text)),
        1 => (select(FILES), 0..9u64).prop_map(|(path, len)| Step::Cut(path, len)),
        1 => select(PLACES).prop_map(Step::Stat),
        1 => select(PLACES).prop_map(Step::ReadLink),
        1 => Just(Step::PollBegins),
        2 => moments().prop_map(Step::Moment),
        5 => edits.prop_map(Step::Edit),
        3 => rules().prop_map(Step::Arm),
        1 => (0..3u64).prop_map(|id| Step::Disarm(RuleId(id))),
    ]
}

/// A process's result of a step.
fn on_mount(root: &Path, step: &Step) -> Result<String, i32> {
    let errno = |error: io::Error| error.raw_os_error().unwrap_or(0);
    let done = |result: io::Result<()>| result.map(|()| String::new()).map_err(errno);
    let open = |options: &mut OpenOptions, path: &str| options.open(root.join(path));
    match step {
        Step::List(path) => list(&root.join(path)).map(|names| names.join(" ")),
        // Opening a folder causes a listing, so a program that reads a folder lists it.
        Step::Read(path) if root.join(path).is_dir() => Ok("a folder".to_owned()),
        Step::Read(path) => read(&root.join(path)),
        Step::Save(path, text) => done(fs::write(root.join(path), text)),
        Step::Rename(from, to) => done(fs::rename(root.join(from), root.join(to))),
        Step::Unlink(path) => done(fs::remove_file(root.join(path))),
        Step::MakeFolder(path) => done(fs::create_dir(root.join(path))),
        Step::RemoveFolder(path) => done(fs::remove_dir(root.join(path))),
        Step::MakeNew(path) => {
            done(open(OpenOptions::new().write(true).create_new(true), path).map(drop))
        }
        Step::Append(path, text) => done(
            open(OpenOptions::new().append(true), path)
                .and_then(|mut file| file.write_all(text.as_bytes())),
        ),
        Step::Cut(path, len) => {
            done(open(OpenOptions::new().write(true), path).and_then(|file| file.set_len(*len)))
        }
        Step::Stat(path) => fs::metadata(root.join(path))
            .map(|data| data.is_dir().to_string())
            .map_err(errno),
        Step::ReadLink(path) => fs::read_link(root.join(path))
            .map(|target| target.to_str().unwrap().to_owned())
            .map_err(errno),
        _ => Ok(String::new()),
    }
}

/// A memory client's result of a step.
fn by_function(fs: &mut Fs, step: &Step) -> Result<String, i32> {
    let done = |result: Result<(), i32>| result.map(|()| String::new());
    let write_all = |fs: &mut Fs, path: &str, text: &str| {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            rest = &rest[again(fs, |fs| fs.write(path, rest))?..];
        }
        Ok(())
    };
    match step {
        Step::List(path) => again(fs, |fs| fs.list(path)).map(|names| names.join(" ")),
        Step::Read(path) if fs.stat(path) == Ok(NodeKind::Folder) => Ok("a folder".to_owned()),
        Step::Read(path) => {
            again(fs, |fs| fs.read(path)).map(|bytes| String::from_utf8(bytes).unwrap())
        }
        Step::Save(path, text) => {
            done(again(fs, |fs| fs.create(path)).and_then(|()| write_all(fs, path, text)))
        }
        Step::Rename(from, to) => done(again(fs, |fs| fs.rename(from, to))),
        Step::Unlink(path) => done(again(fs, |fs| fs.unlink(path))),
        Step::MakeFolder(path) => done(again(fs, |fs| fs.make_folder(path))),
        Step::RemoveFolder(path) => done(again(fs, |fs| fs.remove_folder(path))),
        Step::MakeNew(path) => done(again(fs, |fs| fs.create_new(path))),
        Step::Append(path, text) => {
            done(openable(fs, path).and_then(|()| write_all(fs, path, text)))
        }
        Step::Cut(path, len) => {
            done(openable(fs, path).and_then(|()| again(fs, |fs| fs.truncate(path, *len))))
        }
        Step::Stat(path) => fs
            .stat(path)
            .map(|kind| (kind == NodeKind::Folder).to_string())
            .map_err(|errno| errno.0),
        Step::ReadLink(path) => fs.read_link(path).map_err(|errno| errno.0),
        _ => Ok(String::new()),
    }
}

/// Whether a file can be opened for writing, which is not an operation of its own.
fn openable(fs: &mut Fs, path: &str) -> Result<(), i32> {
    match fs.stat(path).map_err(|errno| errno.0)? {
        NodeKind::Folder => Err(Errno::EISDIR.0),
        _ if !path.starts_with("var/state") => Err(Errno::EROFS.0),
        _ => Ok(()),
    }
}

fn notify(fs: &mut Fs, step: &Step) {
    match step {
        Step::Edit(edits) => fs.apply(edits),
        Step::Arm(rule) => fs.arm(rule.clone()),
        Step::Disarm(rule) => {
            fs.disarm(*rule);
        }
        Step::PollBegins => fs.poll_begins(fs.now()),
        Step::Moment(moment) => fs.arm_moment(moment.clone()),
        _ => {}
    }
}

proptest! {
    #![proptest_config(Config { cases: 128, failure_persistence: None, ..Config::default() })]

    #[test]
    fn any_script_gives_the_same_outcomes_and_the_same_trace_in_both_arms(steps in vec(steps(), 1..40)) {
        let mut memory = two_devices();
        let on_moment = Box::new(|fs: &mut Fs, moment| {
            story(fs, moment);
            MomentAnswer::Go
        });
        let setting = Setting { on_moment, ..Setting::default() };
        let Some(stage) = fuse_or_skip(memory.clone(), setting) else { return Ok(()) };
        for (at, step) in steps.iter().enumerate() {
            let now = SimTime::from_secs(at as u64);
            memory.set_now(now);
            notify(&mut memory, step);
            stage.server.with_fs(|fs| {
                fs.set_now(now);
                notify(fs, step);
            });
            prop_assert_eq!(on_mount(stage.server.mountpoint(), step), by_function(&mut memory, step), "step {}", at);
        }
        let trace: Vec<String> = memory.take_trace().iter().map(ToString::to_string).collect();
        prop_assert_eq!(stage.trace(), trace);
        prop_assert_eq!(stage.server.with_fs(|fs| fs.disk()), memory.disk());
    }
}
