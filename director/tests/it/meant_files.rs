//! What an action is about is there at its time, or the story says that it appears; and a rule stays with its hardware.

use director::{FreezeError, Stage, Trees, freeze_at};
use platforms::NodeName;
use rstest::rstest;
use scenarios::Story;
use simfs::{Errno, Fs, Refused};

use crate::stage::rendered;

fn steps(actions: &str) -> String {
    format!(
        "timeline:\n  - {{ at: 2s, do: [ {actions} ], expect: [ {{ nothing: null, within: 0 polls }} ] }}\nuntil: 6s\n"
    )
}

#[track_caller]
fn refused(actions: &str, what: &str, hint: &str) {
    let story = rendered(&steps(actions));
    let Err(FreezeError::Stage(error)) = freeze_at(&story, None) else {
        panic!("`{actions}` is accepted");
    };
    let text = error.to_string();
    assert!(text.starts_with("port/example.yaml:6:5: "), "{text}");
    let (told, hinted) = text.split_once("\nhint: ").expect("it has a hint");
    assert!(told.contains(what), "{told}");
    assert!(hinted.contains(hint), "{hinted}");
}

#[rstest]
#[case::no_such_file(
    "{ read: victim/stat, fail: EIO }",
    "mlx5_0/ports/1` has no `stat`",
    "did you mean `state`?"
)]
#[case::no_such_device_file(
    "{ read: device of victim/nothing, fail: EIO }",
    "mlx5_0` has no `nothing`",
    "there is: "
)]
#[case::no_such_path(
    "{ read: class/net/nobody/speed, content: x }",
    "`sys/class/net` has no `nobody`",
    "there is: "
)]
#[case::nothing_of_a_pattern(
    "{ read: \"class/infiniband/*/ports/9/state\", fail: EIO }",
    "has no `9`",
    "did you mean `1`?"
)]
#[case::nothing_at_any_depth(
    "{ read: \"sys/**/no_such\", fail: EIO }",
    "has no `**/no_such`",
    "appears: later"
)]
#[case::vanishes(
    "{ read: victim/stat, vanish: true }",
    "has no `stat`",
    "did you mean `state`?"
)]
#[case::a_file_is_listed(
    "{ list: victim/state, fail: EIO }",
    "is a file, which is not listed",
    "write `read`"
)]
#[case::a_folder_is_read(
    "{ read: class/infiniband, fail: EIO }",
    "is a folder, which is not read",
    "write `list`"
)]
#[case::written_where_nobody_can(
    "{ write: var/nothing, fail: ENOSPC }",
    "`var` has no `nothing`",
    "there is: "
)]
#[case::gone_before(
    "{ remove: victim }, { read: victim/state, fail: EIO }",
    "its device or port is gone",
    "before what removes it"
)]
#[case::port_gone_before(
    "{ remove_port: victim }, { read: victim/state, fail: EIO }",
    "its device or port is gone",
    "appears: later"
)]
#[case::never_appears(
    "{ read: victim/stat, fail: EIO, appears: later }",
    "ports/1/stat` never appears",
    "bring it back"
)]
#[case::no_rule(
    "{ no_rule: victim/state }",
    "there is no rule to remove",
    "rules are `read`"
)]
#[case::counter_of_a_gone_device(
    "{ remove: victim }, { counter: victim, name: symbol_error, add: 1 }",
    "it is off the bus",
    "restore it first"
)]
fn an_action_about_nothing_is_refused(
    #[case] actions: &str,
    #[case] what: &str,
    #[case] hint: &str,
) {
    refused(actions, what, hint);
}

#[rstest]
#[case::there("{ read: victim/state, fail: EIO }")]
#[case::a_pattern("{ read: \"class/net/*/operstate\", fail: EIO }")]
#[case::through_a_link("{ read: device of victim/device/numa_node, fail: EIO }")]
#[case::the_monitors_own("{ write: state_file, fail: ENOSPC }, { read: state_file, fail: EIO }")]
#[case::removed_in_the_same_step_but_later("{ read: victim/state, fail: EIO }, { remove: victim }")]
#[case::comes_in_the_same_step(
    "{ rename: device of victim, to: mlx5_77 }, { read: class/infiniband/mlx5_77/fw_ver, fail: EIO }"
)]
#[case::removed("{ read: victim/state, fail: EIO }, { no_rule: victim/state }")]
fn an_action_about_something_is_played(#[case] actions: &str) {
    let story = rendered(&steps(actions));
    freeze_at(&story, None).expect("the story can be played");
}

#[test]
fn a_file_that_is_said_to_appear_appears() {
    let story = rendered(
        "timeline:
  - { at: 1s, do: [ { remove: victim }, { read: victim/state, fail: EIO, appears: later } ], expect: [ { fatal: device of victim } ] }
  - { at: 3s, do: [ { restore: victim } ], expect: [ { healthy: device of victim } ] }
until: 20s
",
    );
    freeze_at(&story, None).expect("the story can be played");
}

/// What a reader gets of these files at the end of a story.
fn read_at_the_end(story: &Story, ticks: u64, paths: &[&str]) -> Vec<Result<(), Refused>> {
    let mut stage = Stage::set(story, &mut Trees::default()).expect("the story can be played");
    let node = NodeName::from("node-a");
    let mut files: Fs = stage.files.remove(&node).expect("it has a monitor");
    for _ in 0..=ticks {
        stage.director.tick().expect("the story can be played");
        stage
            .director
            .show(&node, &mut files)
            .expect("it can be shown");
        stage.director.end_tick(|_| true);
    }
    let read = |path: &&str| {
        files
            .read(&format!("sys/class/infiniband/{path}"))
            .map(|_| ())
    };
    paths.iter().map(read).collect()
}

#[test]
fn a_rule_on_a_device_follows_its_name() {
    let story = rendered(
        "timeline:
  - { at: 1s, do: [ { read: victim/state, fail: EIO } ], expect: [ { nothing: null, within: 0 polls } ] }
  - { at: 3s, do: [ { rename: device of victim, to: mlx5_77 }, { rename: device of other, to: mlx5_0 } ], expect: [ { nothing: null, within: 0 polls } ] }
until: 6s
",
    );
    let read = read_at_the_end(
        &story,
        4,
        &["mlx5_77/ports/1/state", "mlx5_0/ports/1/state"],
    );
    assert_eq!(read, [Err(Refused::Errno(Errno::EIO)), Ok(())]);
}

#[test]
fn a_device_that_is_probed_again_comes_under_the_name_that_it_is_given() {
    let story = rendered(
        "timeline:
  - { at: 1s, do: [ { remove: victim } ], expect: [ { fatal: device of victim } ] }
  - { at: 3s, do: [ { restore: victim }, { rename: device of victim, to: mlx5_77 } ], expect: [ { nothing: null, within: 0 polls } ] }
until: 9s
",
    );
    let read = read_at_the_end(
        &story,
        9,
        &["mlx5_77/ports/1/state", "mlx5_0/ports/1/state"],
    );
    assert_eq!(read, [Ok(()), Err(Refused::Errno(Errno::ENOENT))]);
}
