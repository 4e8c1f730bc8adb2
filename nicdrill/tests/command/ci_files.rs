//! The files of `contrib/ci`, played as their systems would: what `nicdrill init` writes, beside a file, drilled by the file's own lines.
//!
//! The monitor is that of Python, which needs grpcio, so the gate's field part runs these tests. What the files look like to their
//! systems `tests/ci-files/run` checks.

use serde_json::Value;

use crate::{
    init::python_in_the_field,
    scratch::{Ran, Scratch},
};

const GITHUB: &str = include_str!("../../../contrib/ci/github.yml");
const GITLAB: &str = include_str!("../../../contrib/ci/gitlab.yml");
/// What `nicdrill init` writes.
const TEMPLATES: [&str; 4] = [
    include_str!("../../templates/bash/.github/workflows/nicdrill.yml"),
    include_str!("../../templates/go/.github/workflows/nicdrill.yml"),
    include_str!("../../templates/python/.github/workflows/nicdrill.yml"),
    include_str!("../../templates/rust/.github/workflows/nicdrill.yml"),
];
const JENKINS: &str = include_str!("../../../contrib/ci/Jenkinsfile");

/// Added to each `nicdrill run`, so that it is over within a minute: the first drill, and every story about the connector.
const SELECTION: &str = "port/cable-pulled connector --platform h100-oci";

/// How root is told that this is a pipeline: `sudo` drops the variable.
const KEEPS_CI: &str = "sudo env CI=true ";

/// The lines of a script that call the command.
fn calls(script: &str) -> Vec<String> {
    let lines = script.lines().map(str::trim);
    let lines = lines.map(|line| line.strip_prefix(KEEPS_CI).unwrap_or(line));
    let calls = lines.filter(|line| line.starts_with("nicdrill "));
    calls.map(str::to_owned).collect()
}

/// The only call of these scripts.
#[track_caller]
fn call<'s>(scripts: impl Iterator<Item = &'s str>) -> String {
    let calls: Vec<String> = scripts.flat_map(calls).collect();
    let [call] = &calls[..] else {
        panic!("one line calls the command: {calls:?}");
    };
    call.clone()
}

/// Plays a line in the folder of the monitor, as in a pipeline.
fn play(scratch: &Scratch, path: &str, variables: &str, line: &str) -> Ran {
    let added = match line.starts_with("nicdrill run ") {
        true => format!(" {SELECTION}"),
        false => String::new(),
    };
    let line = line.replacen("nicdrill", "\"$NICDRILL\"", 1);
    scratch.shell(&format!(
        "cd m && export CI=true PATH={path} {variables} && {line}{added}"
    ))
}

/// Checks that the report has the first drill and those about the connector, and that the monitor passed.
#[track_caller]
fn check(scratch: &Scratch, ran: &Ran) {
    assert_eq!(ran.code, 0, "{ran}");
    let report = scratch.text("m/nicdrill.xml");
    for story in ["cable-pulled", "refused-then-accepted"] {
        assert!(report.contains(story), "no {story}:\n{report}");
    }
}

#[test]
fn a_run_as_root_knows_that_it_is_one_of_a_pipeline() {
    let files = [GITHUB, GITLAB, JENKINS].into_iter().chain(TEMPLATES);
    let lines = files.flat_map(str::lines);
    let by_sudo = |line: &&str| line.contains("sudo ") && line.contains(" run ");
    let runs: Vec<&str> = lines.filter(by_sudo).collect();
    assert_eq!(runs.len(), 1 + TEMPLATES.len(), "{runs:?}");
    for line in runs {
        assert!(line.contains(KEEPS_CI), "{line}");
    }
}

#[test]
fn the_workflow_of_github_drills_the_monitor_in_four_shards() {
    let Some((scratch, path)) = python_in_the_field() else {
        return;
    };
    let file: Value = files::yaml::read("github.yml", GITHUB).unwrap();
    let of = |job: &str| {
        let steps = file["jobs"][job]["steps"].as_array().expect("steps");
        call(steps.iter().filter_map(|step| step["run"].as_str()))
    };
    let (drill, merge) = (of("drill"), of("merge"));
    let shards = &file["jobs"]["drill"]["strategy"]["matrix"]["shard"];
    let shards = shards.as_array().expect("a list");
    assert!(
        drill.contains(&format!("/{} ", shards.len())),
        "`{drill}` is one of {shards:?}"
    );
    for shard in shards {
        let line = drill.replace("${{ matrix.shard }}", &shard.to_string());
        let ran = play(&scratch, path, "", &line);
        assert!([0, 4].contains(&ran.code), "{ran}");
    }
    check(&scratch, &play(&scratch, path, "", &merge));
}

#[test]
fn the_pipeline_of_gitlab_drills_the_monitor_in_four_jobs() {
    let Some((scratch, path)) = python_in_the_field() else {
        return;
    };
    let file: Value = files::yaml::read("gitlab.yml", GITLAB).unwrap();
    let of = |job: &str| {
        let script = file[job]["script"].as_array().expect("a script");
        call(script.iter().filter_map(Value::as_str))
    };
    let (drill, merge) = (of("drill"), of("merge"));
    let jobs = file["drill"]["parallel"].as_u64().expect("a number");
    for job in 1..=jobs {
        let variables = format!("CI_NODE_INDEX={job} CI_NODE_TOTAL={jobs}");
        let ran = play(&scratch, path, &variables, &drill);
        assert!([0, 4].contains(&ran.code), "{ran}");
    }
    check(&scratch, &play(&scratch, path, "", &merge));
    assert!(scratch.path("m/quality.json").exists());
}

#[test]
fn the_jenkinsfile_drills_the_monitor() {
    let Some((scratch, path)) = python_in_the_field() else {
        return;
    };
    let mut steps = JENKINS.lines().map(str::trim);
    let line = steps.find_map(|line| line.strip_prefix("sh '")?.strip_suffix('\''));
    let line = line.expect("a step in a shell");
    check(&scratch, &play(&scratch, path, "", line));
}
