//! The client in memory.

use rstest::rstest;
use simfs::{
    Edit, Errno, FileValue, Fs, MomentId, NodeKind, Op, OpMoment, OpSet, Refused, Rule, RuleId,
    SimTime, Spot, Stale, TreePath, Turn, Verdict, When, Within,
};

const STATE: &str = "sys/class/infiniband/mlx5_0/ports/1/state";
const DEVICE: &str = "sys/devices/pci0000:00/0000:17:00.0/infiniband/mlx5_0";

fn file(path: &str, text: &str) -> Edit {
    Edit::File {
        path: path.into(),
        value: FileValue::Bytes(text.as_bytes().to_vec()),
    }
}

fn link(path: &str, target: &str) -> Edit {
    Edit::Link {
        path: path.into(),
        target: target.to_owned(),
    }
}

fn node() -> Vec<Edit> {
    vec![
        file(&format!("{DEVICE}/ports/1/state"), "4: ACTIVE\n"),
        link(&format!("{DEVICE}/device"), "../.."),
        file("sys/devices/pci0000:00/0000:17:00.0/vendor", "0x15b3\n"),
        link(
            "sys/class/infiniband/mlx5_0",
            "../../devices/pci0000:00/0000:17:00.0/infiniband/mlx5_0",
        ),
    ]
}

fn fs() -> Fs {
    let mut fs = Fs::new();
    fs.alias_folder("sys/class/infiniband");
    fs.set_anchor("sys/class/infiniband");
    fs.set_writable("var/state");
    fs.apply(&node());
    fs
}

fn trace(fs: &mut Fs) -> Vec<String> {
    fs.take_trace().iter().map(ToString::to_string).collect()
}

fn errno<T: std::fmt::Debug>(result: Result<T, Refused>) -> Errno {
    match result {
        Err(Refused::Errno(errno)) => errno,
        other => panic!("expected an error, got {other:?}"),
    }
}

#[rstest]
#[case("sys/class/infiniband/mlx5_0/ports/1/state")]
#[case("/sys/class/infiniband/mlx5_0/ports/1/state")]
#[case("sys/class/infiniband/mlx5_0/device/infiniband/mlx5_0/ports/1/state")]
#[case("sys/devices/pci0000:00/0000:17:00.0/infiniband/mlx5_0/ports/1/state")]
fn whatever_the_path_a_file_is_named_by_its_class_link(#[case] path: &str) {
    let mut fs = fs();
    assert_eq!(fs.read(path).unwrap(), b"4: ACTIVE\n");
    assert_eq!(trace(&mut fs), [format!("read {STATE}: 10")]);
}

#[test]
fn dots_go_up_from_where_a_link_led() {
    let mut fs = fs();
    let vendor = "sys/class/infiniband/mlx5_0/../../vendor";
    assert_eq!(fs.read(vendor).unwrap(), b"0x15b3\n");
    assert_eq!(
        trace(&mut fs),
        ["read sys/devices/pci0000:00/0000:17:00.0/vendor: 7"]
    );
}

#[test]
fn the_first_alias_folder_wins_and_in_it_the_deepest_link() {
    let mut fs = fs();
    fs.alias_folder("sys/bus/pci/devices");
    fs.apply(&[
        link(
            "sys/bus/pci/devices/0000:17:00.0",
            "../../../devices/pci0000:00/0000:17:00.0",
        ),
        link("sys/bus/pci/devices/root", "../../../devices/pci0000:00"),
    ]);
    let vendor = "sys/devices/pci0000:00/0000:17:00.0/vendor";
    assert!(fs.read(vendor).is_ok());
    assert!(fs.read(STATE).is_ok());
    assert_eq!(
        trace(&mut fs),
        [
            "read sys/bus/pci/devices/0000:17:00.0/vendor: 7".to_owned(),
            format!("read {STATE}: 10")
        ]
    );
}

#[rstest]
#[case("sys/class/infiniband/mlx5_0", Errno::EISDIR)]
#[case("sys/class/infiniband/mlx5_1/ports", Errno::ENOENT)]
#[case("sys/class/infiniband/mlx5_0/ports/1/state/x", Errno::ENOTDIR)]
#[case("loop/x", Errno::ELOOP)]
fn a_read_that_cannot_be_is_refused_and_not_traced(#[case] path: &str, #[case] expected: Errno) {
    let mut fs = fs();
    fs.apply(&[link("loop/x", "y"), link("loop/y", "x")]);
    assert_eq!(errno(fs.read(path)), expected);
    assert_eq!(trace(&mut fs), [""; 0]);
}

#[test]
fn listing_a_file_is_refused() {
    assert_eq!(errno(fs().list(STATE)), Errno::ENOTDIR);
}

#[test]
fn an_absent_anchor_is_traced_and_everything_else_that_is_absent_is_not() {
    let mut fs = fs();
    fs.apply(&[Edit::Remove("sys".into())]);
    assert_eq!(errno(fs.list("sys/class/infiniband")), Errno::ENOENT);
    assert_eq!(errno(fs.list("sys/class/net")), Errno::ENOENT);
    assert_eq!(errno(fs.read(STATE)), Errno::ENOENT);
    assert_eq!(fs.list("sys/class").unwrap(), [""; 0]);
    assert_eq!(
        trace(&mut fs),
        ["list sys/class/infiniband: ENOENT", "list sys/class: 0"]
    );
    fs.apply(&node());
    assert_eq!(fs.list("sys/class/infiniband").unwrap(), ["mlx5_0"]);
}

#[test]
fn a_path_that_led_nowhere_leads_somewhere_as_soon_as_it_can() {
    let mut fs = fs();
    assert_eq!(errno(fs.read("var/state/x")), Errno::ENOENT);
    fs.create("var/state/x").unwrap();
    assert!(fs.read("var/state/x").is_ok());
    fs.rename("var/state/x", "var/state/y").unwrap();
    assert_eq!(errno(fs.read("var/state/x")), Errno::ENOENT);
    assert!(fs.read("var/state/y").is_ok());
    assert_eq!(errno(fs.read("new")), Errno::ENOENT);
    fs.apply(&[file("new", "")]);
    assert!(fs.read("new").is_ok());
}

fn rule(ops: impl Into<OpSet>, pattern: &str, when: When, verdict: Verdict) -> Rule {
    Rule {
        id: RuleId(1),
        ops: ops.into(),
        pattern: pattern.into(),
        when,
        verdict,
    }
}

#[rstest]
#[case(STATE)]
#[case("sys/class/infiniband/*/ports/*/state")]
#[case("sys/devices/**/state")]
#[case("sys/devices/pci0000:00/0000:17:00.0/infiniband/mlx5_0/ports/1/state")]
#[case("sys/class/infiniband/mlx5_0/device/infiniband/mlx5_0/ports/1/state")]
fn a_rule_finds_a_file_by_every_name_it_has(#[case] pattern: &str) {
    let mut fs = fs();
    fs.arm(rule(
        Op::Read,
        pattern,
        When::Always,
        Verdict::Fail(Errno::EIO),
    ));
    assert_eq!(errno(fs.read(STATE)), Errno::EIO);
    assert_eq!(trace(&mut fs), [format!("read {STATE}: EIO")]);
}

#[test]
fn a_rule_follows_a_link_that_leads_elsewhere() {
    let mut fs = fs();
    fs.apply(&[file("sys/devices/other/ports/1/state", "1: DOWN\n")]);
    fs.arm(rule(
        Op::Read,
        STATE,
        When::Always,
        Verdict::Fail(Errno::EIO),
    ));
    assert!(fs.read("sys/devices/other/ports/1/state").is_ok());
    fs.apply(&[link("sys/class/infiniband/mlx5_0", "../../devices/other")]);
    assert_eq!(
        errno(fs.read("sys/devices/other/ports/1/state")),
        Errno::EIO
    );
}

#[test]
fn a_hang_is_told_with_its_rule_and_traced() {
    let mut fs = fs();
    fs.arm(rule(
        Op::Read,
        STATE,
        When::Nth(1),
        Verdict::Hang { killable: false },
    ));
    assert_eq!(
        fs.read(STATE),
        Err(Refused::Hangs {
            rule: RuleId(1),
            killable: false
        })
    );
    assert_eq!(fs.peek(STATE).unwrap(), b"4: ACTIVE\n");
    assert!(fs.read(STATE).is_ok());
    assert_eq!(
        trace(&mut fs),
        [format!("read {STATE}: hangs"), format!("read {STATE}: 10")]
    );
}

#[test]
fn a_verdict_that_does_not_fit_an_operation_passes_it_by_uncounted() {
    let mut fs = fs();
    fs.arm(rule(
        OpSet::ALL,
        "**",
        When::Nth(1),
        Verdict::Content(b"x".to_vec()),
    ));
    assert!(fs.list("sys/class/infiniband").is_ok());
    assert_eq!(fs.rule_count(RuleId(1)), Some(0));
    assert_eq!(fs.read(STATE).unwrap(), b"x");
    assert_eq!(fs.rule_count(RuleId(1)), Some(1));
}

#[test]
fn a_rule_disarmed_acts_no_more_and_armed_again_counts_anew() {
    let mut fs = fs();
    let nth = rule(Op::Read, STATE, When::Nth(2), Verdict::Fail(Errno::EIO));
    fs.arm(nth.clone());
    assert!(fs.read(STATE).is_ok());
    fs.arm(nth);
    assert!(fs.read(STATE).is_ok());
    assert_eq!(errno(fs.read(STATE)), Errno::EIO);
    assert!(fs.disarm(RuleId(1)));
    assert!(!fs.disarm(RuleId(1)));
    assert!(fs.read(STATE).is_ok());
}

#[test]
fn a_rule_on_a_link_breaks_every_path_through_it_and_only_while_it_acts() {
    let mut fs = fs();
    fs.watch_stale();
    fs.take_stale();
    let span = When::Between(SimTime::from_secs(1), SimTime::from_secs(2));
    fs.arm(rule(
        Op::ReadLink,
        "sys/class/infiniband/mlx5_0",
        span,
        Verdict::Fail(Errno::EIO),
    ));
    assert!(fs.read(STATE).is_ok());
    fs.poll_begins(SimTime::from_secs(1));
    let link = fs
        .tree()
        .get(&TreePath::new("sys/class/infiniband/mlx5_0"))
        .unwrap();
    assert_eq!(fs.take_stale(), [Stale::Inode(link)]);
    assert_eq!(errno(fs.read(STATE)), Errno::EIO);
    assert_eq!(fs.read_link("sys/class/infiniband/mlx5_0"), Err(Errno::EIO));
    fs.poll_begins(SimTime::from_secs(2));
    assert_eq!(fs.take_stale(), [Stale::Inode(link)]);
    assert!(fs.read(STATE).is_ok());
}

fn moment(turn: Turn, nth: u64, within: Within) -> OpMoment {
    OpMoment {
        id: MomentId(1),
        turn,
        nth,
        within,
    }
}

fn between() -> Turn {
    Turn::Between {
        after: Spot::new(Op::List, "sys/class/infiniband"),
        before: Spot::new(Op::Read, STATE),
    }
}

#[test]
fn a_device_goes_between_the_listing_and_the_read() {
    let mut fs = fs();
    fs.arm_moment(moment(between(), 1, Within::Poll));
    assert!(fs.read(STATE).is_ok());
    assert_eq!(fs.list("sys/class/infiniband").unwrap(), ["mlx5_0"]);
    assert_eq!(fs.read(STATE), Err(Refused::Moment(MomentId(1))));
    fs.apply(&[
        Edit::Remove("sys/class/infiniband/mlx5_0".into()),
        Edit::Remove(DEVICE.into()),
    ]);
    assert_eq!(errno(fs.read(STATE)), Errno::ENOENT);
    assert_eq!(
        trace(&mut fs),
        [
            format!("read {STATE}: 10"),
            "list sys/class/infiniband: 1".to_owned()
        ]
    );
}

#[test]
fn a_moment_within_a_poll_does_not_remember_the_poll_before() {
    let mut fs = fs();
    fs.arm_moment(moment(between(), 1, Within::Poll));
    assert!(fs.list("sys/class/infiniband").is_ok());
    fs.poll_begins(SimTime::from_secs(1));
    assert!(fs.read(STATE).is_ok());
}

#[test]
fn a_moment_within_a_drill_counts_on_from_poll_to_poll() {
    let mut fs = fs();
    fs.arm_moment(moment(
        Turn::Before(Spot::new(Op::Read, STATE)),
        3,
        Within::Drill,
    ));
    for poll in 0..2 {
        fs.poll_begins(SimTime::from_secs(poll));
        assert!(fs.read(STATE).is_ok());
    }
    fs.poll_begins(SimTime::from_secs(2));
    assert_eq!(fs.read(STATE), Err(Refused::Moment(MomentId(1))));
    assert!(fs.read(STATE).is_ok());
    assert!(fs.read(STATE).is_ok());
}

#[test]
fn a_moment_after_a_write_finds_it_done_and_does_not_do_it_twice() {
    let mut fs = fs();
    fs.arm_moment(moment(
        Turn::After(Spot::new(Op::Write, "var/state/*")),
        2,
        Within::Drill,
    ));
    fs.create("var/state/x").unwrap();
    assert_eq!(fs.write("var/state/x", b"one"), Ok(3));
    assert_eq!(
        fs.write("var/state/x", b"two"),
        Err(Refused::Moment(MomentId(1)))
    );
    assert_eq!(fs.disk().file("x"), Some(&b"onetwo"[..]));
    assert_eq!(fs.write("var/state/x", b"two"), Ok(3));
    assert_eq!(fs.disk().file("x"), Some(&b"onetwo"[..]));
    assert_eq!(trace(&mut fs).len(), 3);
}

#[test]
fn the_writable_folder_holds_a_bounded_number_of_bytes() {
    let full = Err(Refused::Errno(Errno::ENOSPC));
    let mut fs = fs();
    let two_mib = vec![b'x'; 2 << 20];
    for number in 0..8 {
        let path = format!("var/state/{number}");
        fs.create(&path).unwrap();
        assert_eq!(fs.write(&path, &two_mib), Ok(two_mib.len()));
        assert_eq!(fs.write(&path, b"x"), full, "a file is full");
    }
    fs.create("var/state/last").unwrap();
    assert_eq!(fs.write("var/state/last", b"x"), full, "the folder is full");
    assert_eq!(
        fs.truncate("var/state/last", 1).unwrap_err(),
        Refused::Errno(Errno::ENOSPC)
    );
    fs.truncate("var/state/0", 0).unwrap();
    assert_eq!(fs.write("var/state/last", b"x"), Ok(1));
}

#[test]
fn the_writable_folder_holds_a_bounded_number_of_files_and_folders() {
    let full = Err(Refused::Errno(Errno::ENOSPC));
    let mut fs = fs();
    for number in 0..1024 {
        let path = format!("var/state/{number}");
        match number % 2 {
            0 => fs.create(&path).unwrap(),
            _ => fs.make_folder(&path).unwrap(),
        }
    }
    assert_eq!(fs.create("var/state/more"), full);
    assert_eq!(fs.create("var/state/1/more"), full);
    assert_eq!(fs.make_folder("var/state/more"), full);
    fs.create("var/state/0").expect("it is there already");
}

#[test]
fn whoever_was_killed_at_a_moment_does_not_take_up_its_call_again() {
    let mut fs = fs();
    fs.arm_moment(moment(
        Turn::After(Spot::new(Op::Write, "var/state/x")),
        1,
        Within::Drill,
    ));
    fs.create("var/state/x").unwrap();
    assert_eq!(
        fs.write("var/state/x", b"one"),
        Err(Refused::Moment(MomentId(1)))
    );
    fs.abandon();
    assert_eq!(fs.write("var/state/x", b"one"), Ok(3));
    assert_eq!(fs.disk().file("x"), Some(&b"oneone"[..]));
}

#[test]
fn two_moments_at_one_operation_come_one_after_the_other() {
    let mut fs = fs();
    for id in [1, 2] {
        let turn = Turn::Before(Spot::new(Op::Read, STATE));
        fs.arm_moment(OpMoment {
            id: MomentId(id),
            turn,
            nth: 1,
            within: Within::Drill,
        });
    }
    assert_eq!(fs.read(STATE), Err(Refused::Moment(MomentId(1))));
    assert_eq!(fs.read(STATE), Err(Refused::Moment(MomentId(2))));
    assert!(fs.read(STATE).is_ok());
    assert_eq!(fs.op_counts().of(Op::Read), 1);
}

#[test]
fn a_disk_is_taken_and_given_back() {
    let mut old = fs();
    old.make_folder("var/state/sub").unwrap();
    old.create("var/state/sub/x").unwrap();
    old.write("var/state/sub/x", b"kept").unwrap();
    let mut new = fs();
    new.create("var/state/lost").unwrap();
    new.set_disk(&old.disk());
    assert_eq!(new.disk(), old.disk());
    assert_eq!(new.list("var/state").unwrap(), ["sub"]);
    assert_eq!(new.read("var/state/sub/x").unwrap(), b"kept");
    new.write("var/state/sub/x", b"!").unwrap();
    assert_eq!(new.disk().file("sub/x"), Some(&b"kept!"[..]));
}

#[test]
fn a_folder_named_writable_stays_so_when_the_story_makes_it_anew() {
    let mut fs = fs();
    fs.apply(&[Edit::Remove("var".into())]);
    assert_eq!(errno(fs.create("var/state/x")), Errno::ENOENT);
    fs.apply(&[file("var/state/x", "")]);
    assert_eq!(fs.write("var/state/x", b"1"), Ok(1));
}

#[test]
fn outside_the_writable_folder_nothing_changes_and_nothing_is_traced() {
    let mut fs = fs();
    assert_eq!(errno(fs.create("sys/new")), Errno::EROFS);
    assert_eq!(errno(fs.write(STATE, b"x")), Errno::EROFS);
    assert_eq!(errno(fs.unlink(STATE)), Errno::EROFS);
    assert_eq!(errno(fs.make_folder("var/new")), Errno::EROFS);
    assert_eq!(errno(fs.remove_folder("var/state")), Errno::EROFS);
    fs.create("var/state/x").unwrap();
    assert_eq!(errno(fs.rename("var/state/x", "var/x")), Errno::EROFS);
    assert_eq!(trace(&mut fs), ["create var/state/x: 0"]);
}

#[test]
fn operations_are_counted_by_poll_also_when_not_traced() {
    let mut fs = fs();
    fs.set_tracing(false);
    fs.poll_begins(SimTime::ZERO);
    fs.read(STATE).unwrap();
    fs.read(STATE).unwrap();
    fs.list("sys/class/infiniband").unwrap();
    assert_eq!(
        (fs.op_counts().of(Op::Read), fs.op_counts().total()),
        (2, 3)
    );
    fs.poll_begins(SimTime::ZERO);
    assert_eq!(fs.op_counts().total(), 0);
    assert_eq!(fs.take_trace(), []);
}

#[test]
fn attributes_are_those_of_sysfs_and_in_the_writable_folder_those_of_a_disk() {
    let mut fs = fs();
    fs.create("var/state/x").unwrap();
    fs.write("var/state/x", b"four").unwrap();
    let attr = |path: &str| {
        fs.attr(fs.tree().get(&TreePath::new(path)).unwrap())
            .unwrap()
    };
    let state = attr(&format!("{DEVICE}/ports/1/state"));
    assert_eq!(
        (state.kind, state.len, state.mode, state.writable),
        (NodeKind::File, 4096, 0o444, false)
    );
    let saved = attr("var/state/x");
    assert_eq!(
        (saved.kind, saved.len, saved.mode, saved.writable),
        (NodeKind::File, 4, 0o644, true)
    );
}

#[test]
fn a_file_has_the_mode_of_its_name_and_a_folder_a_link_from_each_folder_in_it() {
    let mut fs = fs();
    fs.set_named_modes([("state", 0o644)]);
    fs.set_mtime(7);
    let attr = |path: &str| {
        let node = fs.tree().get(&TreePath::new(path)).unwrap();
        fs.attr(node).unwrap()
    };
    let state = attr(&format!("{DEVICE}/ports/1/state"));
    assert_eq!((state.mode, state.links, state.mtime_ns), (0o644, 1, 7));
    let ports = attr(&format!("{DEVICE}/ports"));
    assert_eq!((ports.mode, ports.links), (0o755, 3));
    let vendor = attr("sys/devices/pci0000:00/0000:17:00.0/vendor");
    assert_eq!(vendor.mode, 0o444);
}

#[test]
fn a_write_to_an_attribute_that_can_be_written_is_refused_or_answered_by_a_rule() {
    let mut fs = fs();
    fs.set_named_modes([("state", 0o644)]);
    assert_eq!(errno(fs.write(STATE, b"x")), Errno::EROFS);
    let verdict = Verdict::Fail(Errno::EIO);
    fs.arm(rule(Op::Write, STATE, When::Always, verdict));
    assert_eq!(errno(fs.write(STATE, b"x")), Errno::EIO);
    let shown = [
        format!("write {STATE}: EROFS"),
        format!("write {STATE}: EIO"),
    ];
    assert_eq!(trace(&mut fs), shown);
    assert_eq!(fs.read(STATE).unwrap(), b"4: ACTIVE\n");
}
