//! A list of tests for test programs that have their own `main`. Tests run one after another;
//! without `/dev/fuse` they are skipped with a message, and fail if it is required.

#![expect(clippy::print_stdout, reason = "a list of tests says what it skips")]

use std::{env, process::ExitCode};

use harness::process::Stage;
use libtest_mimic::{Arguments, Trial};
use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountPropagationFlags, mount_change};

/// Runs the tests selected on the command line.
pub fn run(tests: &[(&'static str, fn())]) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    if !arguments.list {
        mount_apart();
    }
    if !arguments.list
        && let Err(reason) = Stage::here()
    {
        assert!(
            env::var_os("NICDRILL_REQUIRE_FUSE").is_none_or(|required| required != "1"),
            "{reason}"
        );
        println!("skipped: {reason}");
        return ExitCode::SUCCESS;
    }
    let trials = tests.iter().map(|&(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// Takes a mount namespace of the program's own, so that the mounts of a test that is killed end with it. Only root may; for
/// others a mount stays visible, and its creator unmounts it.
fn mount_apart() {
    if unshare(CloneFlags::CLONE_NEWNS).is_ok() {
        let slave = MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM;
        mount_change("/", slave).expect("root can keep its mounts to itself");
    }
}
