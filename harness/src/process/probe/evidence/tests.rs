//! Which cause is recognised from which trace of a monitor.

use std::time::Instant;

use observe::Protocol;

use super::{super::super::stops_page::check_table, *};

const LISTING: &str = "list sys/class/infiniband: 12";

/// The hints about a monitor that was given these words. If the last one is `tls`, it has reached its socket and spoken
/// TLS; if it is `silent`, it has reached it and called nothing; if it is `slow`, a poll takes 0.3 s; if it is `miscounted`, its
/// descriptor says another number of listings than was seen.
fn hints(
    (cause, speaks): (&ProbeCause, Protocol),
    given: &str,
    output: &[&str],
    reads: &[&str],
    open: &[&str],
) -> Vec<String> {
    let owned = |lines: &[&str]| {
        let lines = lines.iter().map(|line| (*line).to_owned());
        lines.collect::<Vec<_>>()
    };
    let start = Instant::now();
    let ends = (0..4).map(|tick| start + tick * Duration::from_millis(300));
    let sighting = Sighting {
        words: vec!["monitor".to_owned(), given.to_owned()],
        root: "/stage/0".to_owned(),
        socket: "/stage/0.socket".to_owned(),
        open_files: owned(open),
        ends: ends.filter(|_| given.ends_with("slow")).collect(),
        ..Sighting::default()
    };
    let mut descriptor = Descriptor::of_program("monitor");
    descriptor.speaks = speaks;
    let bound = ("/sys/bus".to_owned(), "{root}/sys/bus".to_owned());
    descriptor.binds.extend([bound]);
    let spoken = match given.rsplit(' ').next() {
        Some("tls") => Some("spoke TLS; refused: the connector has none, use an insecure channel"),
        Some("silent") => Some(NO_REQUEST),
        _ => None,
    };
    let spoken = spoken.map(|what| format!("1 connection to the socket of node-a: {what}"));
    let connections: Vec<String> = spoken.into_iter().collect();
    let run_ends = match (cause, speaks) {
        (ProbeCause::Broken(Broken::Crashed { exit, .. }), Protocol::ExitCode) => {
            vec![RunEnd::Exit(*exit); 13]
        }
        (ProbeCause::SaidNothing { .. }, Protocol::ExitCode) => {
            let exits = [2, 2, 3].map(|code| RunEnd::Exit(Exit::Code(code)));
            exits.into()
        }
        _ => Vec::new(),
    };
    let evidence = Evidence {
        cause,
        run_ends: &run_ends,
        output: &owned(output),
        reads: &owned(reads),
        connections: &connections,
        sighting: &sighting,
        descriptor: &descriptor,
        checks: &["InfiniBandStateCheck"],
        advice: given.ends_with("miscounted").then_some(MISCOUNTED),
        limit: Duration::from_secs(10),
    };
    evidence.hints()
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
const MISCOUNTED: &str = "its reads repeat after every 2 listings of `{root}/sys/class/infiniband`, and its descriptor makes 1 a poll";
const NEVER: ProbeCause = mute(Protocol::PlatformConnector);
const MUTE: ProbeCause = mute(Protocol::Lines);

const fn mute(by: Protocol) -> ProbeCause {
    ProbeCause::SaidNothing { polls: 13, by }
}

/// A trace of a monitor, and the hint that comes first.
struct Case {
    cause: ProbeCause,
    speaks: Protocol,
    given: &'static str,
    output: &'static [&'static str],
    reads: &'static [&'static str],
    open: &'static [&'static str],
    expected: &'static str,
}

fn cases() -> [Case; 35] {
    let plain = |cause, expected| Case {
        speaks: match cause {
            ProbeCause::SaidNothing { by, .. } => by,
            _ => Protocol::PlatformConnector,
        },
        cause,
        given: BOTH,
        output: &[],
        reads: &[],
        open: &[],
        expected,
    };
    [
        Case {
            open: &["/sys/class/net"],
            ..plain(hung(0), "it uses the host's `/sys/class/net`")
        },
        Case {
            output: &["open \"/sys/class/infiniband\": no such file"],
            ..plain(ended(1), "it uses the host's `/sys/class/infiniband`")
        },
        Case {
            output: &["bind /tmp/own.sock: Read-only file system"],
            ..plain(ended(1), "it writes where it may not: ")
        },
        plain(
            ended(0),
            "exit code 0 without output: if it leaves a daemon behind",
        ),
        plain(MUTE, "it wrote nothing: "),
        Case {
            output: &["port 1 is fine"],
            ..plain(MUTE, "compare its last output with the patterns of `lines`")
        },
        plain(
            mute(Protocol::ExitCode),
            "takes for unknown, or asked Slurm for nothing: exit code 2 (2 times), exit code 3 (once); see its last output",
        ),
        Case {
            speaks: Protocol::ExitCode,
            output: &["Segmentation fault"],
            ..plain(
                ProbeCause::Broken(Broken::Crashed {
                    tick: 0,
                    exit: Exit::Signal(11),
                    last_words: Vec::new(),
                }),
                "run after run it crashed: ended by signal 11 (13 times); see its last output",
            )
        },
        Case {
            speaks: Protocol::ExitCode,
            output: &["sh: nothing: not found"],
            ..plain(
                ended(NOT_FOUND),
                "run after run it crashed: exit code 127 (13 times); see its last output",
            )
        },
        plain(
            mute(Protocol::Textfile),
            "does it write `*.prom` files into `{textfile_dir}`",
        ),
        plain(
            mute(Protocol::Scrape),
            "compare its page at `{metrics_port}` with its descriptor",
        ),
        plain(
            mute(Protocol::HttpJson),
            "compare its page at `{metrics_port}` with its descriptor",
        ),
        plain(
            mute(Protocol::PrometheusRules),
            "does it listen at `{metrics_port}`, and is the path of its page",
        ),
        Case {
            speaks: Protocol::ExitCode,
            ..plain(hung(0), "a run has to end")
        },
        Case {
            speaks: Protocol::Scrape,
            ..plain(hung(0), "pass `{metrics_port}` in its command")
        },
        Case {
            speaks: Protocol::PrometheusRules,
            ..plain(hung(0), "pass `{metrics_port}` in its command")
        },
        Case {
            reads: &[LISTING],
            ..plain(hung(4), "or it is stuck")
        },
        Case {
            given: "/stage/1",
            ..plain(
                hung(0),
                "nothing that it is given contains the path of its root",
            )
        },
        plain(hung(0), "does it list its root's `sys/class/infiniband`"),
        plain(
            hung(0),
            "it opened nothing below its root: is a check left that it runs?",
        ),
        Case {
            reads: &["read proc/net/route: 100"],
            ..plain(hung(0), "but did not list")
        },
        Case {
            reads: &[LISTING],
            ..plain(hung(3), "it must poll again within 10 s")
        },
        Case {
            reads: &[LISTING, "read a/ports/1/state: 9"],
            ..plain(hung(0), "it must poll again within 10 s")
        },
        Case {
            output: &["dial unix:///var/run/nvsentinel.sock: refused"],
            reads: &[LISTING, "read a/state: 9"],
            ..plain(
                NEVER,
                "its output names the socket `unix:///var/run/nvsentinel.sock`",
            )
        },
        Case {
            given: "/stage/0",
            reads: &[LISTING],
            ..plain(
                NEVER,
                "nothing that it is given contains the path of its socket",
            )
        },
        Case {
            reads: &[LISTING],
            ..plain(
                NEVER,
                "is a check left that it runs? The drill is about InfiniBandStateCheck",
            )
        },
        Case {
            reads: &[LISTING, "read sys/devices/a/vendor: 7"],
            ..plain(
                NEVER,
                "does it monitor cards of 0x15b3 (`vendors` of its descriptor)?",
            )
        },
        Case {
            reads: &[LISTING, "read a/ports/1/state: 9"],
            ..plain(NEVER, "does it get the socket's path?")
        },
        Case {
            reads: &[LISTING, "read a/ports/1/state: 9"],
            ..plain(
                NEVER,
                "it polls, and connected to no socket: is a check left that it runs?",
            )
        },
        Case {
            given: "/stage/0 /stage/0.socket silent",
            reads: &[LISTING, "read a/ports/1/counters/link_downed: 2"],
            ..plain(
                NEVER,
                "it reached the socket and called nothing: is a check left that it runs? The drill is about InfiniBandStateCheck (`{checks}`, in the environment `NICDRILL_CHECKS`)",
            )
        },
        plain(ended(127), "exit code 127: a program was not found"),
        plain(ended(126), "exit code 126: a program was found"),
        Case {
            given: "/stage/0 /stage/0.socket tls",
            reads: &[LISTING, "read a/ports/1/state: 9"],
            ..plain(NEVER, "it reached the socket, but no call arrived")
        },
        Case {
            given: "/stage/0 /stage/0.socket miscounted",
            reads: &[LISTING, "read a/ports/1/state: 9"],
            ..plain(NEVER, MISCOUNTED)
        },
        Case {
            given: "/stage/0 /stage/0.socket slow",
            reads: &[LISTING, "read a/ports/1/state: 9"],
            ..plain(
                NEVER,
                "its polls take 0.3 s of real time, and a drill of 50 polls 15 s",
            )
        },
    ]
}

impl Case {
    /// Whether another cause is likelier.
    fn comes_later(&self) -> bool {
        let later = [
            "it opened nothing",
            "does it get the socket's path?",
            MISCOUNTED,
        ];
        self.given.ends_with("slow") || later.iter().any(|of| self.expected.starts_with(of))
    }

    fn hints(&self) -> Vec<String> {
        let of = (&self.cause, self.speaks);
        hints(of, self.given, self.output, self.reads, self.open)
    }
}

#[test]
fn a_common_cause_is_named() {
    for case in cases() {
        let hints = case.hints();
        let first = hints.first().expect("a hint");
        assert!(
            first.contains(case.expected) || case.comes_later(),
            "not the likeliest: {hints:?}"
        );
        let named = hints.iter().any(|hint| hint.contains(case.expected));
        assert!(named, "{}: {hints:?}", case.expected);
    }
}

#[test]
fn the_page_lists_every_hint() {
    let hints: Vec<String> = cases().iter().flat_map(Case::hints).collect();
    check_table("hints", &hints);
}

#[test]
fn a_path_of_the_tree_is_not_the_hosts() {
    let output = [
        "cannot read {root}/sys/class/infiniband",
        "cannot read /sys/bus/pci/devices",
        "socket {socket}",
    ];
    let of = (&ended(1), Protocol::PlatformConnector);
    let hints = hints(of, BOTH, &output, &[], &[]);
    assert_eq!(hints, [""; 0]);
}
