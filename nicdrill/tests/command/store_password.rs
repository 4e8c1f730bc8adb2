//! The password of a store: the ways by which it comes, and that it is shown nowhere.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use rstest::rstest;

use crate::{
    isolation::wrapper,
    postgres::{PASSWORD, Server},
    scratch::{Ran, Scratch, can_play_processes},
};

const DRILL: &str = "start/baseline@h100-oci";

/// A wrapped monitor that says what it and every process that it sees were given.
const CURIOUS: &str = "#!/bin/sh\n\
    cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n' >&2\n\
    exec \"$@\"\n";

/// How a user gives the password.
#[derive(Clone, Copy)]
enum Way {
    Environment,
    File,
    Toml,
}

/// All texts in a folder, of each file.
fn texts(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(texts(&path));
        } else {
            found.push(String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
        }
    }
    found
}

fn run(scratch: &Scratch, server: &Server, way: Way, password: &str, words: &[&str]) -> Ran {
    let url = server.url_of_address("postgres", "localhost");
    let mut words: Vec<&str> = ["run", DRILL].iter().chain(words).copied().collect();
    let mut env = Vec::new();
    let file = scratch.path("passwords").display().to_string();
    match way {
        Way::Environment => env.push(("PGPASSWORD", password)),
        Way::File => {
            scratch.file(
                "passwords",
                &format!("localhost:5432:postgres:postgres:{password}\n"),
            );
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            env.push(("PGPASSFILE", file.as_str()));
        }
        Way::Toml => {
            let user = format!("postgres:{password}");
            let url = server.url_of_address(&user, "localhost");
            scratch.file(
                "nicdrill.toml",
                &format!("store = \"{url}\"\nmonitor = \"reference\"\n"),
            );
        }
    }
    if !matches!(way, Way::Toml) {
        words.extend(["--store", &url]);
    }
    scratch.run_with(&words, &env)
}

/// Whether anything that a run printed or left shows the password.
fn shown(scratch: &Scratch, ran: &Ran, password: &str) -> bool {
    let mut all = texts(&scratch.path("nicdrill.out"));
    all.push(ran.to_string());
    all.iter().any(|text| text.contains(password))
}

#[rstest]
#[case::environment(Way::Environment)]
#[case::file(Way::File)]
#[case::toml(Way::Toml)]
fn a_password_opens_the_store_and_neither_it_nor_a_wrong_one_is_shown(#[case] way: Way) {
    if !can_play_processes() {
        return;
    }
    let Some(server) = Server::start_at_address(None) else {
        return;
    };
    let scratch = Scratch::new();
    let wrap = wrapper(&scratch, "curious", CURIOUS);
    let reports = "junit=nicdrill.out/junit.xml,json=nicdrill.out/report.json";
    let words = [
        "--arm", "both", "--keep", "--wrap", &wrap, "--report", reports,
    ];
    let ran = run(&scratch, &server, way, PASSWORD, &words);
    assert_eq!(ran.code, 0, "{ran}");
    let asked = "SELECT string_agg(asked::text, ' ') FROM nicdrill_runs";
    let asked: String = server.client().query_one(asked, &[]).unwrap().get(0);
    assert!(!asked.contains(PASSWORD), "{asked}");
    let seen = texts(&scratch.path("nicdrill.out"));
    assert!(
        seen.iter().any(|text| text.contains("PATH=")),
        "the monitor said what it was given"
    );
    assert!(!shown(&scratch, &ran, PASSWORD), "{ran}");

    let refused = run(&scratch, &server, way, "wrong-one", &["--arm", "memory"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused.err.contains("password authentication failed"),
        "{refused}"
    );
    assert!(!refused.to_string().contains("wrong-one"), "{refused}");
}

#[rstest]
#[case("postgres://ann:mellon@db.example/events")]
#[case("postgres:///events?host=/run/db&user=ann&password=mellon")]
fn a_password_on_the_command_line_is_refused_with_the_other_ways(#[case] url: &str) {
    let scratch = Scratch::new();
    let ran = scratch.run(&["run", DRILL, "--arm", "memory", "--store", url]);
    assert_eq!(ran.code, 2, "{ran}");
    for way in ["PGPASSWORD", "PGPASSFILE", "nicdrill.toml"] {
        assert!(ran.err.contains(way), "{ran}");
    }
    assert!(!ran.to_string().contains(PASSWORD), "{ran}");
    assert!(!scratch.path("nicdrill.out").exists());
}

#[test]
fn a_password_file_that_others_can_read_is_not_used() {
    let scratch = Scratch::new();
    scratch.file("passwords", "*:*:*:*:mellon\n");
    let file = scratch.path("passwords").display().to_string();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let url = "postgres:///events?host=/nowhere&user=ann";
    let words = ["run", DRILL, "--arm", "memory", "--store", url];
    let ran = scratch.run_with(&words, &[("PGPASSFILE", &file)]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("(mode 0644)"), "{ran}");
}
