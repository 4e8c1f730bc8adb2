//! The process ids of a job's monitors: a pid namespace in which they see each other alone, below a first process that does
//! nothing but reap.
//!
//! A monitor is put into it by whoever starts it and stays a child of that, so that its end, its signals and its times are those of
//! any child. What it leaves behind becomes a child of the first process, which ignores all signals but those from outside.
//! Not here: the mount namespace, in which its `/proc` is that of this namespace (`mount_space.rs`). Start at [`PidSpace::make`].

use std::{
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Write as _},
    panic,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    thread,
};

use nix::{
    sched::{CloneFlags, setns, unshare},
    sys::signal::{SigSet, Signal},
};
use rustix::{
    mount::{MountFlags, mount},
    process::{WaitId, WaitIdOptions, waitid},
};

use super::empty_input::empty_input;

/// What the mark of a first process begins with; the path for its `/proc` follows. A program that starts itself with it calls
/// [`first`] before anything else.
pub(super) const FIRST: &str = "first ";

/// What a first process says once it reaps.
const READY: &str = "ready";

/// Such a namespace. It ends with this, and all its processes with it.
#[derive(Debug)]
pub(super) struct PidSpace {
    _first: First,
    namespace: File,
    proc: PathBuf,
}

/// The first process of a namespace, which is killed when this is dropped.
#[derive(Debug)]
struct First(Child);

impl PidSpace {
    /// Makes the namespace for a job, whose first process is this `program` with the variable `mark`. Its `/proc` is mounted
    /// at `proc`, which must be where nobody else sees it.
    ///
    /// # Errors
    /// What the kernel refuses, or what the first process says.
    pub(super) fn make(program: &str, mark: &str, proc: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&proc)?;
        let marked = format!("{FIRST}{}", proc.display());
        let start = || -> io::Result<Child> {
            unshare(CloneFlags::CLONE_NEWPID)?;
            let mut first = Command::new(program);
            first.env(mark, marked).stdin(empty_input()?);
            first.stdout(Stdio::piped()).spawn()
        };
        // A thread of its own, because whatever it starts is in the namespace.
        let started = thread::scope(|scope| scope.spawn(start).join());
        let mut first = First(started.unwrap_or_else(|panicked| panic::resume_unwind(panicked))?);
        let namespace = File::open(format!("/proc/{}/ns/pid", first.0.id()))?;
        let output = first.0.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut said = String::new();
        BufReader::new(output).read_line(&mut said)?;
        match said.trim_end() {
            READY => Ok(Self {
                _first: first,
                namespace,
                proc,
            }),
            error => Err(io::Error::other(error.to_owned())),
        }
    }

    /// Lets the calling thread start programs in the namespace, and no threads any more.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub(super) fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.namespace, CloneFlags::CLONE_NEWPID)?)
    }

    /// Where its `/proc` is mounted.
    pub(super) fn proc(&self) -> &Path {
        &self.proc
    }
}

impl Drop for First {
    fn drop(&mut self) {
        // It may have ended already. Whoever is left in the namespace ends with it, and only then it can be reaped; this
        // process does not wait for that.
        let _ = self.0.kill();
        let _ = self.0.try_wait();
    }
}

/// The first process of a namespace: mounts its `/proc` there, says so, and reaps until it is killed.
pub(super) fn first(proc: &str) -> ExitCode {
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let set_up = || -> io::Result<()> {
        // A signal that is blocked waits for ever, whoever sends it from within.
        SigSet::all().thread_block()?;
        Ok(mount("proc", proc, "proc", plain, c"")?)
    };
    let said = set_up().map_or_else(|error| error.to_string(), |()| READY.to_owned());
    let told = writeln!(io::stdout(), "{said}");
    if said != READY || told.is_err() {
        return ExitCode::FAILURE;
    }
    let ended = SigSet::from(Signal::SIGCHLD);
    let all = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    loop {
        // One that is interrupted is repeated.
        let _ = ended.wait();
        while let Ok(Some(_)) = waitid(WaitId::All, all) {}
    }
}
