//! A working folder for one test: an empty folder, and the command in it.
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::{
    fmt, fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The command.
pub(crate) const NICDRILL: &str = env!("CARGO_BIN_EXE_nicdrill");

/// An empty folder, removed at the end.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    /// A fresh one.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file in it.
    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// Writes a program in it.
    pub(crate) fn program(&self, name: &str, text: &str) {
        self.file(name, text);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(name), executable).expect("a program");
    }

    /// Reads a file in it.
    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs the command in it.
    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, &[])
    }

    /// Runs the command in it with these variables.
    pub(crate) fn run_with(&self, words: &[&str], env: &[(&str, &str)]) -> Ran {
        let mut command = command(Path::new(NICDRILL), self.folder.path());
        command.args(words).envs(env.iter().copied());
        Ran::of(&command.output().expect("the command starts"))
    }

    /// Runs a line of shell in it, in which `$NICDRILL` is the command.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let mut command = command(Path::new("/bin/sh"), self.folder.path());
        command.args(["-c", line]).env("NICDRILL", NICDRILL);
        Ran::of(&command.output().expect("a shell"))
    }
}

/// Whether the process arm is available on this machine; if it is required but not available, the
/// test fails.
pub(crate) fn can_play_processes() -> bool {
    match fs::File::options().read(true).write(true).open("/dev/fuse") {
        Ok(_) => true,
        Err(error) => {
            assert!(
                std::env::var_os("NICDRILL_REQUIRE_FUSE").is_none(),
                "/dev/fuse is required: {error}"
            );
            println!("skipped: /dev/fuse cannot be opened ({error})");
            false
        }
    }
}

/// Whether tests run as root.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// The path of an example program.
pub(crate) fn example(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("a test has a file");
    let built = here
        .parent()
        .and_then(Path::parent)
        .expect("tests lie in `deps`");
    let path = built.join("examples").join(name);
    assert!(
        path.exists(),
        "{} is missing; `cargo build --examples` makes it",
        path.display()
    );
    path
}

/// A program in a folder, without what the environment says of the pipeline that the tests run in.
pub(crate) fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env_remove("CI")
        .env_remove("CI_PROJECT_DIR")
        .env_remove("GITHUB_STEP_SUMMARY")
        .env_remove("GITHUB_WORKSPACE")
        .env_remove("NO_COLOR");
    command
}

/// The result of a command.
pub(crate) struct Ran {
    /// Its exit code; -1 if a signal ended it.
    pub(crate) code: i32,
    /// What it wrote to stdout.
    pub(crate) out: String,
    /// What it wrote to stderr.
    pub(crate) err: String,
}

impl Ran {
    /// The result of a command that has ended.
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "exit code {}\n--- stdout\n{}--- stderr\n{}",
            self.code, self.out, self.err
        )
    }
}

/// The text of the reference monitor's descriptor.
pub(crate) fn reference_descriptor() -> &'static str {
    let mut shipped = observe::shipped_descriptors();
    let reference = shipped.find_map(|(file, text)| (file == "reference.yaml").then_some(text));
    reference.expect("it is shipped")
}
