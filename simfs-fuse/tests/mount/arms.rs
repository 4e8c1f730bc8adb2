//! Both arms tell the same story, whatever is done.

use std::{fs, path::Path};

use proptest::{collection::vec, prelude::*, sample::select, test_runner::Config};
use simfs::{Edit, Errno, Fs, Op, OpSet, Rule, RuleId, SimTime, Verdict, When};

use crate::support::{Setting, device, file, fuse_or_skip, in_memory, link, list, read, remove, two_devices};

#[derive(Clone, Debug)]
enum Step {
    List(&'static str),
    Read(&'static str),
    Save(&'static str, &'static str),
    Rename(&'static str, &'static str),
    Unlink(&'static str),
    MakeFolder(&'static str),
    Edit(Vec<Edit>),
    Arm(Rule),
    Disarm(RuleId),
}

const PLACES: &[&str] =
    &["", "class", "class/a", "class/a/state", "class/b/rate", "devices", "devices/b/state", "loop/x", "none"];
const FILES: &[&str] = &["var/state/x", "var/state/y", "var/state/sub/z", "class/a/state", "var/state/sub"];

fn rules() -> impl Strategy<Value = Rule> {
    let ops = select(vec![OpSet::from(Op::Read), OpSet::from(Op::List), OpSet::CHANGES, OpSet::from(Op::ReadLink)]);
    let pattern = select(vec!["class/a/state", "class", "**", "devices/*/state", "var/state/*", "class/a"]);
    let when = select(vec![When::Always, When::Nth(1), When::Nth(2), When::FirstN(2), When::EveryNth(2)]);
    let verdict = select(vec![
        Verdict::Fail(Errno::EIO),
        Verdict::Fail(Errno::EACCES),
        Verdict::Content(b"what\n".to_vec()),
        Verdict::Truncate(1),
        Verdict::Torn { first: b"1: D".to_vec(), at: 2 },
        Verdict::Vanish { paths: vec!["class/b".into(), "devices/b".into()], after_names: Some(1) },
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
        5 => edits.prop_map(Step::Edit),
        3 => rules().prop_map(Step::Arm),
        1 => (0..3u64).prop_map(|id| Step::Disarm(RuleId(id))),
    ]
}

/// What a process sees of a step.
fn on_mount(root: &Path, step: &Step) -> Result<String, i32> {
    let errno = |error: std::io::Error| error.raw_os_error().unwrap_or(0);
    let done = |result: std::io::Result<()>| result.map(|()| String::new()).map_err(errno);
    match step {
        Step::List(path) => list(&root.join(path)).map(|names| names.join(" ")),
        // A descriptor of a folder is opened by a listing, so a program that reads one lists it.
        Step::Read(path) if root.join(path).is_dir() => Ok("a folder".to_owned()),
        Step::Read(path) => read(&root.join(path)),
        Step::Save(path, text) => done(fs::write(root.join(path), text)),
        Step::Rename(from, to) => done(fs::rename(root.join(from), root.join(to))),
        Step::Unlink(path) => done(fs::remove_file(root.join(path))),
        Step::MakeFolder(path) => done(fs::create_dir(root.join(path))),
        Step::Edit(_) | Step::Arm(_) | Step::Disarm(_) => Ok(String::new()),
    }
}

/// What a reader in memory sees of a step.
fn by_function(fs: &mut Fs, step: &Step) -> Result<String, i32> {
    let done = |result| in_memory(result).map(|()| String::new());
    match step {
        Step::List(path) => in_memory(fs.list(path)).map(|names| names.join(" ")),
        Step::Read(path) if fs.stat(path) == Ok(simfs::NodeKind::Folder) => Ok("a folder".to_owned()),
        Step::Read(path) => in_memory(fs.read(path)).map(|bytes| String::from_utf8(bytes).unwrap()),
        Step::Save(path, text) => in_memory(fs.create(path)).and_then(|()| {
            let mut rest = text.as_bytes();
            while !rest.is_empty() {
                rest = &rest[in_memory(fs.write(path, rest))?..];
            }
            Ok(String::new())
        }),
        Step::Rename(from, to) => done(fs.rename(from, to)),
        Step::Unlink(path) => done(fs.unlink(path)),
        Step::MakeFolder(path) => done(fs.make_folder(path)),
        Step::Edit(_) | Step::Arm(_) | Step::Disarm(_) => Ok(String::new()),
    }
}

fn tell(fs: &mut Fs, step: &Step) {
    match step {
        Step::Edit(edits) => fs.apply(edits),
        Step::Arm(rule) => fs.arm(rule.clone()),
        Step::Disarm(rule) => {
            fs.disarm(*rule);
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(Config { cases: 1500, ..Config::default() })]

    #[test]
    fn any_script_gives_the_same_outcomes_and_the_same_trace_in_both_arms(steps in vec(steps(), 1..40)) {
        let mut memory = two_devices();
        let Some(stage) = fuse_or_skip(memory.clone(), Setting::default()) else { return Ok(()) };
        for (at, step) in steps.iter().enumerate() {
            let now = SimTime::from_secs(at as u64);
            memory.set_now(now);
            tell(&mut memory, step);
            stage.server.with_fs(|fs| {
                fs.set_now(now);
                tell(fs, step);
            });
            prop_assert_eq!(on_mount(stage.server.mountpoint(), step), by_function(&mut memory, step), "step {}", at);
        }
        let trace: Vec<String> = memory.take_trace().iter().map(ToString::to_string).collect();
        prop_assert_eq!(stage.trace(), trace);
        prop_assert_eq!(stage.server.with_fs(|fs| fs.disk()), memory.disk());
    }
}
