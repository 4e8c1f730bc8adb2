//! Which cause is recognised from which trace of a monitor.

use rstest::rstest;

use super::*;

const LISTING: &str = "list sys/class/infiniband: 12";

/// The hints about a monitor that got the root and the socket unless `given` says otherwise.
fn hints(cause: ProbeCause, given: &str, output: &[&str], reads: &[&str], open: &[&str]) -> String {
    let owned = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| (*line).to_owned())
            .collect::<Vec<_>>()
    };
    let sighting = Sighting {
        words: vec!["monitor".to_owned(), given.to_owned()],
        root: "/stage/0".to_owned(),
        socket: "/stage/0.socket".to_owned(),
        open_files: owned(open),
        ..Sighting::default()
    };
    let evidence = Evidence {
        cause: &cause,
        output: &owned(output),
        reads: &owned(reads),
        connections: &[],
        sighting: &sighting,
        descriptor: &Descriptor::of_program("monitor"),
        checks: &["InfiniBandStateCheck"],
        limit: Duration::from_secs(10),
    };
    evidence.hints().join("\n")
}

fn hung(tick: u64) -> ProbeCause {
    let waiting_for = String::new();
    ProbeCause::Broken(Broken::Hung { tick, waiting_for })
}

fn ended(code: i32) -> ProbeCause {
    ProbeCause::Broken(Broken::Crashed {
        tick: 0,
        exit: Exit::Code(code),
        last_words: Vec::new(),
    })
}

const BOTH: &str = "/stage/0 /stage/0.socket";
const NEVER: ProbeCause = ProbeCause::NeverCalled { polls: 13 };

#[rstest]
#[case::host_files_open(hung(0), BOTH, &[], &[], &["/sys/class/net"], "it uses the host's `/sys/class/net`")]
#[case::host_files_in_its_words(
    ended(1), BOTH, &["open \"/sys/class/infiniband\": no such file"], &[], &[],
    "it uses the host's `/sys/class/infiniband`"
)]
#[case::no_root(hung(0), "/stage/1", &[], &[], &[], "nothing that it is given contains the path of its root")]
#[case::nothing_below_the_root(hung(0), BOTH, &[], &[], &[], "does it list its root's `sys/class/infiniband`")]
#[case::other_files(hung(0), BOTH, &[], &["read proc/net/route: 100"], &[], "but did not list")]
#[case::rare_polls(hung(3), BOTH, &[], &[LISTING], &[], "it must poll again within 10 s")]
#[case::another_socket(
    NEVER, BOTH, &["dial unix:///var/run/nvsentinel.sock: refused"], &[LISTING, "read a/state: 9"], &[],
    "its output names the socket `unix:///var/run/nvsentinel.sock`"
)]
#[case::no_socket(NEVER, "/stage/0", &[], &[LISTING], &[], "nothing that it is given contains the path of its socket")]
#[case::no_check(NEVER, BOTH, &[], &[LISTING], &[], "is a check left that it runs? The drill is about InfiniBandStateCheck")]
#[case::another_vendor(
    NEVER, BOTH, &[], &[LISTING, "read sys/devices/a/vendor: 7"], &[],
    "does it monitor cards of 0x15b3 (`vendors` of its descriptor)?"
)]
#[case::nothing_in_particular(
    NEVER, BOTH, &[], &[LISTING, "read a/ports/1/state: 9"], &[], "does it get the socket's path?"
)]
#[case::no_runtime(ended(127), BOTH, &["env: 'python9': No such file"], &[], &[], "exit code 127: a program was not found")]
fn a_common_cause_is_named(
    #[case] cause: ProbeCause,
    #[case] given: &str,
    #[case] output: &[&str],
    #[case] reads: &[&str],
    #[case] open: &[&str],
    #[case] expected: &str,
) {
    let hints = hints(cause, given, output, reads, open);
    assert!(hints.contains(expected), "{hints}");
    let first = hints.lines().next().unwrap_or_default();
    assert!(first.contains(expected), "not the likeliest: {hints}");
}

#[test]
fn a_path_below_the_root_is_not_the_hosts() {
    let output = ["cannot read {root}/sys/class/infiniband", "socket {socket}"];
    let hints = hints(ended(1), BOTH, &output, &[], &[]);
    assert_eq!(hints, "");
}
