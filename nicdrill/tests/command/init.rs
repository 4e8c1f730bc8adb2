//! `nicdrill init` writes a monitor that works, and nothing over what is there.
//!
//! The monitors are started by the gate's field part (`NICDRILL_FIELD=1`), as they need programs of other projects.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output},
};

use rstest::rstest;

use crate::scratch::{Scratch, can_play_processes};

const DRILL: &str = "port/cable-pulled@h100-oci";

/// The first drill of the bash monitor, whose promises are about states of InfiniBand ports.
const BASH_DRILL: &str = "port/cable-pulled@dgx-h100";

/// The drills of a refused, lost and missing connection on one server: stock clients of gRPC wait before they try again.
const CONNECTOR: &str = "connector --platform h100-oci";

/// The first true finding, if the monitor is to watch what the documents ask: it reports management NICs too.
const FOUND: &str = "port/cable-pulled@dgx-a100";

/// A folder `m` with the monitor.
fn with_monitor(language: &str) -> Scratch {
    let scratch = Scratch::new();
    let ran = scratch.run(&["init", "--lang", language, "m"]);
    assert_eq!(ran.code, 0, "{ran}");
    scratch
}

fn listed(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => names.extend(
                listed(&entry.path())
                    .iter()
                    .map(|below| format!("{name}/{below}")),
            ),
            false => names.push(name),
        }
    }
    names.sort();
    names
}

#[rstest]
#[case::python("python", &["monitor.py"], "python3 -m grpc_tools.protoc")]
#[case::go("go", &["go.mod", "main.go", "message.go"], "go build -o my-monitor .")]
#[case::rust("rust", &["Cargo.toml", "build.rs", "src/main.rs"], "cargo build")]
fn a_monitor_is_written_with_all_that_a_drill_needs(
    #[case] language: &str,
    #[case] own: &[&str],
    #[case] command: &str,
) {
    let scratch = Scratch::new();
    let ran = scratch.run(&["init", "--lang", language, "deep/m"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("\nnext:\n  cd deep/m\n  "), "{ran}");
    assert!(ran.out.contains(command), "{ran}");
    assert!(
        ran.out.contains(&format!("nicdrill run {DRILL}\n")),
        "{ran}"
    );
    let mut all = vec![
        ".github/workflows/nicdrill.yml",
        "health_event.proto",
        "monitor.yaml",
        "nicdrill.md",
        "nicdrill.toml",
    ];
    all.extend(own);
    all.sort_unstable();
    assert_eq!(listed(&scratch.path("deep/m")), all);
    for file in all {
        assert!(ran.out.contains(&format!("wrote deep/m/{file}\n")), "{ran}");
    }
    assert_eq!(scratch.text("deep/m/health_event.proto"), proto::TEXT);
    let descriptor = scratch.text("deep/m/monitor.yaml");
    let descriptor = harness::descriptors::read("monitor.yaml", &descriptor).unwrap();
    // It reads no counters, so its first poll says nothing of them.
    let told = descriptor.promises.wire.unwrap().baselines.unwrap();
    assert!(told.ports && !told.devices && !told.cards && !told.counters);
    let ci = scratch.text("deep/m/.github/workflows/nicdrill.yml");
    let ci: serde_json::Value = files::yaml::read("nicdrill.yml", &ci).unwrap();
    let steps = ci["jobs"]["drill"]["steps"].as_array().unwrap();
    let mut lines = steps.iter().filter_map(|step| step["run"].as_str());
    assert!(lines.any(|line| line.contains("nicdrill\" run ")), "{ci}");
}

#[test]
fn a_file_that_is_there_stays_and_nothing_is_written_beside_it() {
    let scratch = Scratch::new();
    scratch.file("m/monitor.yaml", "mine");
    scratch.file("m/other", "mine too");
    let ran = scratch.run(&["init", "--lang", "python", "m"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err
            .contains("error: `m/monitor.yaml` already exists\nhint: "),
        "{ran}"
    );
    assert_eq!(listed(&scratch.path("m")), ["monitor.yaml", "other"]);
    assert_eq!(scratch.text("m/monitor.yaml"), "mine");

    let elsewhere = scratch.run(&["init", "--lang", "rust", "m/other"]);
    assert_eq!(elsewhere.code, 2, "{elsewhere}");
    assert!(elsewhere.err.contains("m/other/"), "{elsewhere}");
    assert_eq!(scratch.text("m/other"), "mine too");
}

#[test]
fn an_unknown_language_is_refused_by_name() {
    let ran = Scratch::new().run(&["init", "--lang", "cobol", "m"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err
            .contains("[possible values: python, go, rust, bash]"),
        "{ran}"
    );
}

#[test]
fn a_script_can_be_executed_and_a_text_cannot() {
    let scratch = with_monitor("python");
    let is_script = |file: &str| {
        let mode = fs::metadata(scratch.path(file))
            .unwrap()
            .permissions()
            .mode();
        mode & 0o100 != 0
    };
    assert!(is_script("m/monitor.py"));
    assert!(!is_script("m/monitor.yaml"));
}

/// A script that only writes lines needs nothing that this machine lacks.
#[test]
fn the_bash_monitor_is_written_and_passes_its_first_drill() {
    let scratch = with_monitor("bash");
    let names = [
        ".github/workflows/nicdrill.yml",
        "monitor.sh",
        "monitor.yaml",
        "nicdrill.md",
        "nicdrill.toml",
    ];
    assert_eq!(listed(&scratch.path("m")), names);
    if !can_play_processes() {
        return;
    }
    let guide = scratch.text("m/nicdrill.md");
    assert!(
        guide.contains(&format!("nicdrill run {BASH_DRILL}\n")),
        "{guide}"
    );
    let run = |drill: &str| scratch.shell(&format!("cd m && \"$NICDRILL\" run {drill}"));
    let ran = run(BASH_DRILL);
    assert_eq!(ran.code, 0, "{ran}");
    // The fault and its end; nothing is promised about the first poll.
    assert!(ran.out.contains("judged 2 of 3 expectations"), "{ran}");
    // Shown in the arm in which it can be played.
    let ran = scratch.shell(&format!(
        "cd m && \"$NICDRILL\" show --monitor monitor.yaml {BASH_DRILL}"
    ));
    assert_eq!(ran.code, 0, "{ran}");
    // It says nothing more of a name that is not listed any more, which is judged once something is promised about names.
    let ran = run("device/renamed-while-a-fault-stands@dgx-h100");
    assert!(!ran.out.contains("no alarm about"), "{ran}");
    let descriptor = scratch.text("m/monitor.yaml");
    let promising = descriptor.replace("    first_poll:", "    rename: usual\n    first_poll:");
    assert_ne!(promising, descriptor);
    scratch.file("m/monitor.yaml", &promising);
    let ran = run("device/renamed-while-a-fault-stands@dgx-h100");
    assert_eq!(ran.code, 100, "{ran}");
    assert!(
        ran.out.contains("no alarm about NIC=mlx5_3, mlx5_42"),
        "{ran}"
    );
}

/// A folder with the monitor, if the field part runs and this machine has the program that the monitor needs.
fn in_the_field(language: &str, need: &str) -> Option<Scratch> {
    if env::var_os("NICDRILL_FIELD").is_none_or(|value| value != "1") {
        println!("skipped: the gate's field part runs it (NICDRILL_FIELD=1)");
        return None;
    }
    if !can_play_processes() {
        return None;
    }
    let mut found = Command::new("sh");
    found.args(["-c", need]);
    let output = found.output().expect("a shell");
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        println!("skipped: `{need}` fails: {}", why.trim());
        return None;
    }
    Some(with_monitor(language))
}

#[test]
fn the_bash_monitor_passes_what_its_page_says_to_run() {
    let Some(scratch) = in_the_field("bash", "bash --version") else {
        return;
    };
    let guide = scratch.text("m/nicdrill.md");
    let commands = guide
        .lines()
        .filter(|line| line.starts_with("nicdrill run "));
    let commands: Vec<String> = commands
        .map(|line| line.replacen("nicdrill", "\"$NICDRILL\"", 1))
        .collect();
    assert!(
        commands.iter().any(|line| line.ends_with(" connector")),
        "{guide}"
    );
    for command in commands {
        let ran = scratch.shell(&format!("cd m && {command}"));
        assert_eq!(ran.code, 0, "{ran}");
    }
}

fn build(command: &mut Command, scratch: &Scratch) {
    let output: Output = command.current_dir(scratch.path("m")).output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The monitor passes its first drill and those about the connector, and is truthfully told what it lacks for the scope of the
/// documents.
fn reaches_its_first_finding(scratch: &Scratch, path: &str) {
    let run = |drill| scratch.shell(&format!("cd m && PATH={path} \"$NICDRILL\" run {drill}"));
    let ran = run(DRILL);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = run(CONNECTOR);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = run(FOUND);
    assert_eq!(ran.code, 0, "{ran}");
    scratch.shell("sed -i '/^  scope:/d' m/monitor.yaml");
    let ran = run(FOUND);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(ran.out.contains("healthy NIC=mlx5_10 NICPort=1"), "{ran}");
    assert_eq!(
        scratch.text("m/nicdrill.out/failed.txt"),
        format!("{FOUND} unexpected.healthy.port.unmonitored.ethernet\n")
    );
}

/// The folder of a Python monitor that is ready to run, and the `PATH` to run it with: that of this test if its Python
/// has grpcio and its tools, as a virtual environment has, or else that of Debian's packages.
pub(crate) fn python_in_the_field() -> Option<(Scratch, &'static str)> {
    const TOOLS: &str = "python3 -c 'import grpc, grpc_tools.protoc'";
    const PACKAGES: &str = "/usr/bin/python3 -c 'import grpc' && protoc --version";
    let mut tools = Command::new("sh");
    let tools = tools.args(["-c", TOOLS]).output().expect("a shell");
    let (need, compiler, path) = match tools.status.success() {
        true => (TOOLS, "python3 -m grpc_tools.protoc -I.", "$PATH"),
        false => (PACKAGES, "protoc", "/usr/bin:$PATH"),
    };
    let scratch = in_the_field("python", need)?;
    let mut compile = Command::new("sh");
    let line = format!("{compiler} --python_out=. health_event.proto");
    build(compile.args(["-c", &line]), &scratch);
    Some((scratch, path))
}

#[test]
fn the_python_monitor_reaches_its_first_finding() {
    if let Some((scratch, path)) = python_in_the_field() {
        reaches_its_first_finding(&scratch, path);
    }
}

/// With Debian's packages, which lie in a GOPATH.
#[test]
fn the_go_monitor_reaches_its_first_finding() {
    const PACKAGES: &str = "/usr/share/gocode";
    let Some(scratch) = in_the_field("go", "go version") else {
        return;
    };
    if !Path::new(PACKAGES)
        .join("src/google.golang.org/grpc")
        .exists()
    {
        println!("skipped: `golang-google-grpc-dev` is not installed");
        return;
    }
    let mut go = Command::new("go");
    go.args(["build", "-o", "my-monitor", "."]);
    go.env("GO111MODULE", "off").env("GOPATH", PACKAGES);
    build(&mut go, &scratch);
    reaches_its_first_finding(&scratch, "$PATH");
}

/// With the versions of this workspace's lock file, so that a later one cannot break the gate.
#[test]
fn the_rust_monitor_reaches_its_first_finding() {
    let Some(scratch) = in_the_field("rust", "cargo --version") else {
        return;
    };
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    fs::copy(lock, scratch.path("m/Cargo.lock")).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("init-rust");
    let mut cargo = Command::new("cargo");
    cargo
        .args(["build", "--quiet"])
        .env("CARGO_TARGET_DIR", &target);
    build(&mut cargo, &scratch);
    let place = scratch.path("m/target/debug");
    fs::create_dir_all(&place).unwrap();
    fs::copy(target.join("debug/my-monitor"), place.join("my-monitor")).unwrap();
    reaches_its_first_finding(&scratch, "$PATH");
}
