//! Starts Prometheus' own engine. Start at [`run`].

use std::{
    fs,
    os::unix::process::ExitStatusExt as _,
    process::{Command, Stdio},
};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::PromtoolError;

/// The number of SIGKILL (`signal(7)`).
const KILL: i32 = 9;

/// The program, of the Debian package `prometheus`.
pub const PROMTOOL: &str = "promtool";

/// How long one start may run on CPUs, in seconds. Chosen: 32 drills of a file of usual rules take less than one.
const CPU_MAX_S: u64 = 60;

/// How promtool ended.
#[derive(Debug)]
pub(super) struct Answer {
    /// Whether it ended with 0.
    pub(super) is_success: bool,
    /// What it wrote to its error output.
    pub(super) said: String,
}

/// Runs promtool in a folder of its own that has these files, by name and text, and in which it puts its own.
///
/// # Errors
/// If the files cannot be written, it cannot be started, or it takes more than a minute on CPUs.
pub(super) fn run(arguments: &[&str], files: &[(&str, &String)]) -> Result<Answer, PromtoolError> {
    run_for(CPU_MAX_S, arguments, files)
}

fn run_for(
    most_s: u64,
    arguments: &[&str],
    files: &[(&str, &String)],
) -> Result<Answer, PromtoolError> {
    let folder = tempfile::tempdir().map_err(PromtoolError::Files)?;
    for (name, text) in files {
        fs::write(folder.path().join(name), text).map_err(PromtoolError::Files)?;
    }
    let mut command = Command::new(PROMTOOL);
    let command = command.args(arguments).current_dir(folder.path());
    // Its databases: one that is killed leaves them.
    let command = command.env("TMPDIR", folder.path());
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let child = command
        .stderr(Stdio::piped())
        .spawn()
        .map_err(PromtoolError::NotStarted)?;
    // At the hard limit the kernel kills it (`getrlimit(2)`).
    let most = Rlimit {
        current: Some(most_s),
        maximum: Some(most_s),
    };
    // It fails if promtool has ended already.
    let _ = prlimit(Some(Pid::from_child(&child)), Resource::Cpu, most);
    let output = child
        .wait_with_output()
        .map_err(PromtoolError::NotStarted)?;
    if output.status.signal() == Some(KILL) {
        return Err(PromtoolError::Killed { most_s });
    }
    Ok(Answer {
        is_success: output.status.success(),
        said: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An annotation that asks for all series, and for each of them again, six times: 64 million queries.
    #[test]
    fn a_rule_that_is_too_expensive_ends_with_its_bound() {
        if Command::new(PROMTOOL).arg("--version").output().is_err() {
            return;
        }
        let annotation = r#"{{ range query \"up\" }}"#.repeat(6) + &"{{ end }}".repeat(6);
        let rules = format!(
            r#"{{"groups":[{{"name":"g","rules":[{{"alert":"a","expr":"up > 0","annotations":{{"d":"{annotation}"}}}}]}}]}}"#
        );
        let series =
            (0..20).map(|nth| format!(r#"{{"series":"up{{i=\"{nth}\"}}","values":"1x10"}}"#));
        let series = series.collect::<Vec<_>>().join(",");
        let tests = format!(
            r#"{{"rule_files":["rules.json"],"evaluation_interval":"1s","tests":[{{"interval":"1s","input_series":[{series}],"alert_rule_test":[{{"eval_time":"10s","alertname":"a"}}]}}]}}"#
        );
        let files = [("rules.json", &rules), ("tests.json", &tests)];
        let error = run_for(1, &["test", "rules", "tests.json"], &files).unwrap_err();
        assert!(
            matches!(error, PromtoolError::Killed { most_s: 1 }),
            "{error}"
        );
    }
}
