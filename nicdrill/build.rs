//! Says from which commit the command was built: `nicdrill --version` prints it.
//!
//! `NICDRILL_COMMIT` is taken if it is set, by a packager who builds without the repository. A development build asks
//! nobody, so that a commit rebuilds nothing.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-env-changed=NICDRILL_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let is_development = env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    let commit = match env::var("NICDRILL_COMMIT") {
        Ok(commit) => commit,
        Err(_) if is_development => "development build".to_owned(),
        Err(_) => {
            println!("cargo::rerun-if-changed=../.git/logs/HEAD");
            head().unwrap_or_else(|| "unknown commit".to_owned())
        }
    };
    println!("cargo::rustc-env=NICDRILL_COMMIT={commit}");
}

/// The commit that is checked out, with its date; `None` without git or a repository.
fn head() -> Option<String> {
    let mut git = Command::new("git");
    let output = git
        .args(["log", "-1", "--abbrev=12", "--format=%h, %cs"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
