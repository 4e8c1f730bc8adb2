//! Why a program cannot be started, in more words than the kernel's error.
//!
//! `execve(2)` answers ENOENT for a missing program and for a missing interpreter alike.

use std::{env, fs, io, path::Path};

/// `execve(2)`: the file is in no format that the kernel can start.
const ENOEXEC: i32 = 8;

/// A sentence about a command line that could not be started.
pub(super) fn describe(words: &[String], error: &io::Error) -> String {
    let program = words.first().map_or("", String::as_str);
    let why = match error.kind() {
        io::ErrorKind::NotFound => missing(program),
        io::ErrorKind::PermissionDenied => format!("; is `{program}` executable (`chmod +x`)?"),
        _ if error.raw_os_error() == Some(ENOEXEC) => format!(
            "; a script needs a first line `#!…` that names its interpreter: does `{program}` have one?"
        ),
        _ => String::new(),
    };
    format!("`{}` cannot be started: {error}{why}", words.join(" "))
}

fn missing(program: &str) -> String {
    if !program.contains('/') {
        return format!("; no folder of `PATH` has `{program}`");
    }
    if !Path::new(program).exists() {
        let is_relative = Path::new(program).is_relative();
        return match env::current_dir() {
            Ok(here) if is_relative => format!(
                "; relative paths start at the folder in which nicdrill is started (`{}`)",
                here.display()
            ),
            _ => String::new(),
        };
    }
    match interpreter(program) {
        Some(interpreter) => format!(
            "; the first line of `{program}` names the interpreter `{interpreter}`, which is not there"
        ),
        None => format!("; `{program}` is there, but the loader that it needs is not"),
    }
}

/// The interpreter that a script's first line names; `None` if it is no script.
fn interpreter(program: &str) -> Option<String> {
    let bytes = fs::read(program).ok()?;
    let line = bytes
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = String::from_utf8_lossy(line);
    line.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::PermissionsExt as _, process::Command};

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::an_interpreter_that_is_not_there(
        "#!/opt/no/python9 -u\nprint()\n",
        0o755,
        "names the interpreter `/opt/no/python9`, which is not there"
    )]
    #[case::a_script_without_a_first_line("print()\n", 0o755, "does `{program}` have one?")]
    #[case::a_file_that_is_not_executable("#!/bin/sh\n", 0o644, "executable (`chmod +x`)?")]
    fn a_program_that_cannot_be_started_is_explained(
        #[case] text: &str,
        #[case] mode: u32,
        #[case] why: &str,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("monitor");
        // Another process writes it: a descriptor of this one may be in a child of another test, and the kernel starts no
        // program that somebody can write (ETXTBSY).
        let mut write = Command::new("sh");
        write
            .args(["-c", r#"printf %s "$1" >"$2""#, "sh", text])
            .arg(&path);
        assert!(write.status().unwrap().success());
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let program = path.to_string_lossy();
        check(&program, &why.replace("{program}", &program));
    }

    #[test]
    fn a_program_that_no_folder_has_is_explained() {
        check(
            "no-such-monitor",
            "no folder of `PATH` has `no-such-monitor`",
        );
    }

    #[test]
    fn a_relative_path_that_is_not_there_names_the_folder_from_which_it_starts() {
        let here = env::current_dir().unwrap();
        let why = format!("folder in which nicdrill is started (`{}`)", here.display());
        check("./no-such-monitor", &why);
    }

    fn check(program: &str, why: &str) {
        let error = Command::new(program)
            .spawn()
            .expect_err("it cannot be started");
        let told = describe(&[program.to_owned()], &error);
        assert!(told.ends_with(why), "{told}");
    }
}
