//! `docs/stops.md` lists what is printed of a monitor that cannot be drilled, and nothing else.

use observe::{Broken, Exit, Protocol};
use reports::ExitCode;
use tonic::Status;

use super::{
    authority::{END_STREAM, Frame, HEADERS, Malformed, PREFACE},
    conversation::Conversation,
    probe::{ProbeCause, ProbeFailure, ProbedOn},
    refused_calls::refusal,
};

const PAGE: &str = include_str!("../../../docs/stops.md");

/// The cells of each row of a table of the page.
fn rows(table: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = PAGE
        .split_once(&format!("<!-- {table} -->"))
        .expect("the page has the table");
    let (rows, _) = rest
        .split_once(&format!("<!-- /{table} -->"))
        .expect("the table has an end");
    let rows = rows.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect()
}

/// Whether a pattern, in which `…` stands for any words, describes a text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The first row of a table that describes each text.
fn described(table: &str, texts: &[String]) -> Vec<Vec<&'static str>> {
    let rows = rows(table);
    let patterns: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    let first = |text: &String| {
        let at = patterns.iter().position(|pattern| fits(pattern, text));
        at.unwrap_or_else(|| panic!("docs/stops.md does not list: {text}"))
    };
    let found: Vec<usize> = texts.iter().map(first).collect();
    for (at, pattern) in patterns.iter().enumerate() {
        assert!(found.contains(&at), "nothing prints: {pattern}");
    }
    found.into_iter().map(|at| rows[at].clone()).collect()
}

/// Checks that a table of the page describes each of these texts, and that each of its rows describes one.
pub(super) fn check_table(table: &str, texts: &[String]) {
    described(table, texts);
}

/// Each cause. A new one does not compile until it is here.
fn causes() -> Vec<ProbeCause> {
    let hung = |waiting_for: &str| {
        let waiting_for = waiting_for.to_owned();
        ProbeCause::Broken(Broken::Hung {
            tick: 0,
            waiting_for,
        })
    };
    let ended = |exit| {
        ProbeCause::Broken(Broken::Crashed {
            tick: 3,
            exit,
            last_words: Vec::new(),
        })
    };
    let stage = |cause: &str| {
        let cause = cause.to_owned();
        ProbeCause::Broken(Broken::Stage { cause })
    };
    let said_nothing = |by| ProbeCause::SaidNothing { polls: 13, by };
    let mut all = vec![
        hung("its first listing of `{root}/sys/class/infiniband`"),
        hung("its next listing of `{root}/sys/class/infiniband`"),
        hung("the end of its run"),
        hung("it to listen at port 2112 of 127.0.0.1"),
        hung("its answer to a scrape"),
        ended(Exit::Code(1)),
        ended(Exit::Signal(9)),
        ProbeCause::Broken(Broken::Excess {
            tick: 1,
            what: "it made more than 10000 calls".to_owned(),
        }),
        ProbeCause::Broken(Broken::StuckInKernel { tick: 2 }),
        ProbeCause::Broken(Broken::SocketTampered {
            tick: 1,
            what: "it was removed or renamed".to_owned(),
        }),
        stage("`monitor` cannot be started: No such file or directory (os error 2)"),
        stage(
            "the machine stalls: nicdrill stood still for 4.0 s, and so it was in each of 4 plays",
        ),
        stage("`/dev/fuse` cannot be opened: Permission denied (os error 13)"),
        ProbeCause::Broken(Broken::Interrupted),
    ];
    all.extend(Protocol::ALL.map(said_nothing));
    for cause in &all {
        match cause {
            ProbeCause::Broken(
                Broken::Hung { .. }
                | Broken::Crashed {
                    exit: Exit::Code(_) | Exit::Signal(_),
                    ..
                }
                | Broken::Excess { .. }
                | Broken::StuckInKernel { .. }
                | Broken::SocketTampered { .. }
                | Broken::Interrupted
                | Broken::Stage { .. },
            )
            | ProbeCause::SaidNothing { .. } => {}
        }
    }
    all
}

#[test]
fn the_page_lists_every_stop_line_with_its_exit_code() {
    let failures = causes().into_iter().map(|cause| ProbeFailure {
        cause,
        on: ProbedOn::default(),
        also_on: Vec::new(),
        output: Vec::new(),
        reads: Vec::new(),
        connections: Vec::new(),
        open_files: Vec::new(),
        hints: Vec::new(),
        files: Vec::new(),
    });
    let failures: Vec<ProbeFailure> = failures.collect();
    let headline = |failure: &ProbeFailure| {
        let text = failure.to_string();
        text.lines().next().expect("a line").to_owned()
    };
    let lines: Vec<String> = failures.iter().map(headline).collect();
    for (row, failure) in described("stops", &lines).iter().zip(&failures) {
        assert_eq!(row[1], failure.exit_code().to_string(), "{}", row[0]);
    }
}

#[test]
fn the_page_lists_every_exit_code() {
    let codes = rows("exit codes");
    let listed: Vec<[&str; 2]> = codes.iter().map(|row| [row[0], row[1]]).collect();
    let mut all = ExitCode::BY_RANK;
    all.sort_by_key(|code| code.code());
    let all = all.map(|code| [code.to_string(), code.meaning().to_owned()]);
    assert_eq!(listed, all);
}

#[test]
fn the_page_lists_what_is_told_of_a_connection() {
    let told = |client: &[u8], server: &[u8], closed: bool, refused: Option<String>| {
        let mut conversation = Conversation::default();
        conversation.client_sent(client);
        conversation.server_sent(server);
        refused
            .into_iter()
            .for_each(|what| conversation.refuse(what));
        if closed {
            conversation.close();
        }
        conversation.describe()
    };
    let frame = |kind, flags, payload: &[u8]| {
        let mut out = Vec::new();
        Frame::write(kind, flags, [0, 0, 0, 1], payload, &mut out);
        out
    };
    let call = [PREFACE, &frame(HEADERS, END_STREAM, b"\x82")].concat();
    let reset = frame(3, 0, &[0, 0, 0, 1]);
    let goaway = frame(7, 0, b"\0\0\0\0\0\0\0\x0bcalm");
    let malformed = format!("the connection: {}", Malformed::Block);
    let unknown = refusal("/acme.Health/Report", &Status::unimplemented(""));
    let method = "/datamodels.PlatformConnector/HealthEventOccurredV1";
    let undecoded = refusal(method, &Status::internal("failed to decode"));
    let all = [
        told(b"", b"", false, None),
        told(b"GET / HTTP/1.1\r\n\r\n", b"", false, None),
        told(b"\x16\x03\x01\x02\x00\x01", b"", false, None),
        told(b"{}\n", b"", false, None),
        told(PREFACE, b"", false, None),
        told(PREFACE, b"", true, None),
        told(&call, b"", true, None),
        told(&call, &reset, false, None),
        told(&call, &goaway, false, None),
        told(&call, b"", false, Some(malformed)),
        told(&call, b"", false, Some(unknown)),
        told(&call, b"", false, Some(undecoded)),
    ];
    let parts = all.iter().flat_map(|text| text.split("; "));
    let parts: Vec<String> = parts.map(str::to_owned).collect();
    check_table("connections", &parts);
}
