//! The stage of a run: private namespaces, so that every mount and every child ends with the run.
//!
//! The program starts itself a second time, as the first process of a pid namespace with its own
//! mount namespace, and the outer process waits. If either is killed, the kernel ends every process
//! inside, and with the last of them every mount. For users other than root, a user namespace permits
//! this. After SIGKILL of the outer process one empty folder remains until the next run (`stage_folder.rs`).
//!
//! Not here: what is mounted on the stage (`player.rs`) and the network (`network.rs`). Start at
//! [`enter`].

use std::{
    borrow::Cow,
    env,
    ffi::OsString,
    fs::{self, File},
    io::{self, PipeReader, Read as _, Write as _},
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        process::ExitStatusExt,
    },
    path::{Path, PathBuf},
    process::{self, Child, Command},
};

use super::{empty_input::empty_input, pid_space, stage_folder::StageFolder};
use crate::Interruption;
use nix::{
    sched::{CloneFlags, unshare},
    sys::signal::{SigSet, Signal as Fault},
};
use rustix::{
    io::Errno,
    mount::{MountFlags, MountPropagationFlags, mount, mount_change},
    process::{
        Pid, Signal, getegid, geteuid, getpid, kill_process, set_parent_process_death_signal,
    },
};
use signal_hook::{
    consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

/// The environment variable that marks the inner process: the outer process's pid, a blank, and the
/// folder of the stage.
pub(super) const MARK: &str = "NICDRILL_STAGE";

/// Environment variable for the inner process's allocator, if it is mimalloc: blocks above this many
/// KiB are returned to the kernel. A mount allocates 16 MiB for its requests (fuser, `read_buf.rs`)
/// and touches little of it; a block kept for the next mount would have to be cleared as a whole.
pub(super) const LARGE_BLOCKS: (&str, &str) = ("MIMALLOC_ARENA_MAX_OBJECT_SIZE", "8192");

/// The variable with the password of a run's store. Every process of a pid namespace can read the environment of the inner
/// one (`proc(5)`, `/proc/PID/environ`), so that one never has it: it gets the password through a pipe.
const PASSWORD: &str = "PGPASSWORD";

/// Set for an inner process that has the password on its standard input.
const HANDED: &str = "NICDRILL_HANDED";

/// The longest password that is handed to the inner process, in bytes: what a pipe holds without a reader (`pipe(7)`).
const PASSWORD_MAX: usize = 4096;

/// Variables that are for nicdrill alone: no program under test gets them. `PGPASSWORD` is the password of a run's store.
pub(super) const PRIVATE: [&str; 4] = [MARK, LARGE_BLOCKS.0, PASSWORD, HANDED];

/// The exit code of the outer process if the inner one cannot be started or was killed: the stage
/// could not be set (`reports::ExitCode`).
const NO_STAGE: u8 = 102;

/// The value of that variable in a process that only tries the namespaces.
const TRIAL: &str = "trial";

/// The file in the stage's folder that says that an early end was asked for before the inner process heard signals: the
/// number of the signal. The kernel drops a signal to the first process of a pid namespace that has no handler for it
/// (`pid_namespaces(7)`).
pub(super) const ASKED: &str = "asked";

/// Which of the two processes this is.
#[derive(Debug)]
pub enum Entered {
    /// The inner one, which plays the drills.
    Inside(Stage),
    /// The outer one: the run is over, and the program ends with this exit code.
    Outside(u8),
}

/// Why the process arm is not available. The program itself can continue.
#[derive(Debug, thiserror::Error)]
pub enum NoStage {
    /// `/dev/fuse` is missing, or this user may not open it.
    #[error("`/dev/fuse` cannot be opened: {0}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Fuse(io::Error),
    /// The kernel grants no private namespaces.
    #[error("private namespaces are refused: {0}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Namespaces(io::Error),
    /// A file system cannot be mounted.
    #[error("`{what}` cannot be mounted: {errno}\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Mount {
        /// Where.
        what: String,
        /// The cause.
        errno: Errno,
    },
    /// A file or folder that the stage needs is not available.
    #[error("the stage cannot be built: {0}")]
    Files(#[from] io::Error),
}

impl NoStage {
    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Fuse(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                "run as root, or let everybody open it: `chmod 666 /dev/fuse`".into()
            }
            Self::Fuse(..) => {
                "`modprobe fuse`; a container gets the device by `--device /dev/fuse`".into()
            }
            Self::Namespaces(..) => "run as root, or allow user namespaces: \
                `sysctl user.max_user_namespaces=10000`, on Debian also `kernel.unprivileged_userns_clone=1`, \
                on Ubuntu also `kernel.apparmor_restrict_unprivileged_userns=0`"
                .into(),
            Self::Mount { .. } => "run as root".into(),
            _ => return None,
        })
    }
}

/// Where drills are played as processes.
#[derive(Debug)]
pub struct Stage {
    base: PathBuf,
    interruption: Interruption,
    /// Only without namespaces: the folder is removed when this is dropped.
    open_folder: Option<StageFolder>,
}

impl Stage {
    /// A stage without namespaces: mounts are visible to the whole machine, and their creator
    /// unmounts them.
    ///
    /// # Errors
    /// [`NoStage`] if `/dev/fuse` cannot be opened or a temporary folder cannot be created.
    pub fn here() -> Result<Self, NoStage> {
        open_fuse()?;
        let folder = StageFolder::make()?;
        Ok(Self {
            base: folder.path().to_owned(),
            interruption: Interruption::default(),
            open_folder: Some(folder),
        })
    }

    /// The folder for mounts, sockets and configuration files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.base
    }

    /// Whether it has a mount namespace and a pid namespace of its own.
    #[must_use]
    pub(crate) fn is_private(&self) -> bool {
        self.open_folder.is_none()
    }

    /// Whether a signal has asked for an early end of the run.
    #[must_use]
    pub fn interruption(&self) -> &Interruption {
        &self.interruption
    }
}

/// The process of this run that others see: the outer one, where there are two.
#[must_use]
pub(crate) fn run_pid() -> u32 {
    let mark = env::var(MARK).unwrap_or_default();
    let outer = mark
        .split_once(' ')
        .and_then(|(outer, _)| outer.parse().ok());
    outer.unwrap_or_else(process::id)
}

/// Sets the stage. It must be called before the program starts a thread, because the outer process
/// cannot start one afterwards. With `hands_password` the inner process gets what `PGPASSWORD` has on its standard input,
/// where [`password`] reads it.
///
/// # Errors
/// [`NoStage`]. Nothing has changed then, except the namespaces if the inner process reports the
/// error.
pub fn enter(hands_password: bool) -> Result<Entered, NoStage> {
    match mark_of_inner() {
        Some(mark) => inside(&mark).map(Entered::Inside),
        None => outside(hands_password),
    }
}

/// Whether this process was started by [`enter`], and has to call it.
#[must_use]
pub fn is_inner() -> bool {
    mark_of_inner().is_some()
}

fn mark_of_inner() -> Option<String> {
    env::var(MARK).ok().filter(|_| getpid() == Pid::INIT)
}

/// The value of `PGPASSWORD`: of the environment, or as the outer process handed it over. To be called once in a process.
#[must_use]
pub fn password() -> Option<OsString> {
    if env::var_os(HANDED).is_none() {
        return env::var_os(PASSWORD);
    }
    let mut password = Vec::new();
    let mut input = io::stdin().lock().take(PASSWORD_MAX as u64);
    // What cannot be read is a password that the server refuses.
    let _ = input.read_to_end(&mut password);
    Some(OsString::from_vec(password))
}

/// The reading end of a pipe that holds the password.
fn handed_password() -> io::Result<Option<PipeReader>> {
    let Some(password) = env::var_os(PASSWORD).filter(|password| !password.is_empty()) else {
        return Ok(None);
    };
    if password.len() > PASSWORD_MAX {
        let text = format!("`{PASSWORD}` is above {PASSWORD_MAX} bytes");
        return Err(io::Error::other(text));
    }
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(password.as_bytes())?;
    Ok(Some(reader))
}

fn outside(hands_password: bool) -> Result<Entered, NoStage> {
    open_fuse()?;
    let folder = StageFolder::make()?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGCHLD])?;
    let handed = if hands_password {
        handed_password()?
    } else {
        None
    };
    isolate()?;
    let inner = env::current_exe().and_then(|program| {
        let mark = format!("{} {}", getpid(), folder.path().display());
        let mut inner = Command::new(program);
        inner
            .args(env::args_os().skip(1))
            .env(MARK, mark)
            .env(LARGE_BLOCKS.0, LARGE_BLOCKS.1)
            .env_remove(PASSWORD);
        if let Some(reader) = handed {
            inner.env(HANDED, "1").stdin(reader);
        }
        inner.spawn()
    });
    let code = match inner {
        Ok(inner) => watch(inner, &mut signals, folder.path()),
        Err(_) => NO_STAGE,
    };
    Ok(Entered::Outside(code))
}

/// Unshares the pid namespace for the next child, and the user namespace if one is needed.
fn isolate() -> Result<(), NoStage> {
    if geteuid().is_root() {
        match unshare(CloneFlags::CLONE_NEWPID) {
            Ok(()) => return Ok(()),
            Err(nix::errno::Errno::EPERM) => {}
            Err(errno) => return Err(NoStage::Namespaces(errno.into())),
        }
    }
    try_user_namespace()?;
    enter_user_namespace()
}

/// Lets another process enter a user namespace. One that has entered it and cannot go on could not start a thread any more.
fn try_user_namespace() -> Result<(), NoStage> {
    let mut trial = Command::new(env::current_exe()?);
    let tried = trial.env(MARK, TRIAL).stdin(empty_input()?).output()?;
    if tried.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&tried.stdout).into_owned();
    Err(NoStage::Namespaces(io::Error::other(reason)))
}

/// In the process that only tries whether it can enter a user namespace: tries it, and returns the exit code with which it
/// ends. In the first process of a namespace of monitors it reaps until that is killed. A program that calls [`enter`] calls
/// this before anything else.
#[must_use]
pub fn trial() -> Option<process::ExitCode> {
    let mark = env::var(MARK).ok()?;
    if let Some(proc) = mark.strip_prefix(pid_space::FIRST) {
        return Some(pid_space::first(proc));
    }
    if mark != TRIAL {
        return None;
    }
    let code = match enter_user_namespace() {
        Ok(()) => 0_u8,
        Err(NoStage::Namespaces(error) | NoStage::Files(error)) => {
            // Whoever started it reads the reason.
            let _ = write!(io::stdout(), "{error}");
            1
        }
        Err(_) => 1,
    };
    Some(code.into())
}

fn enter_user_namespace() -> Result<(), NoStage> {
    let (uid, gid) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWPID)
        .map_err(|errno| NoStage::Namespaces(errno.into()))?;
    // Without this the kernel lets only root write the next line (`user_namespaces(7)`).
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {gid} 1"))?;
    Ok(())
}

/// Forwards signals until the inner process has ended. A second signal ends it at once.
fn watch(mut inner: Child, signals: &mut Signals, folder: &Path) -> u8 {
    let pid = Pid::from_child(&inner);
    let mut asked = None;
    loop {
        // Checked without SIGCHLD too: it may have ended before the handler was installed.
        if let Ok(Some(status)) = inner.try_wait() {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            let killed = status
                .signal()
                .and_then(|signal| u8::try_from(128 + signal).ok());
            // A second signal kills it, but the first one says why.
            let asked = asked.and_then(|signal: i32| u8::try_from(128 + signal).ok());
            return code.or(asked).or(killed).unwrap_or(NO_STAGE);
        }
        for signal in signals.wait() {
            let passed_on = match signal {
                SIGCHLD => continue,
                _ if asked.is_some() => Signal::KILL,
                SIGINT => Signal::INT,
                SIGHUP => Signal::HUP,
                _ => Signal::TERM,
            };
            if asked.is_none() {
                asked = Some(signal);
                // Without it only a signal in the first second is lost.
                let _ = fs::write(folder.join(ASKED), signal.to_string());
            }
            // It may just have ended.
            let _ = kill_process(pid, passed_on);
        }
    }
}

/// The signals of faults. Rust's runtime has handlers for them, so that a monitor of root can send them to the first process
/// of its pid namespace, as it cannot send those that have none (`pid_namespaces(7)`). While they are blocked, one that is
/// sent waits for ever, and a fault ends the process nevertheless (`force_sig_info_to_task`, kernel/signal.c).
fn faults() -> SigSet {
    [Fault::SIGSEGV, Fault::SIGBUS].into_iter().collect()
}

/// Lets the calling thread start programs that get the signals of their faults: they inherit what is blocked.
///
/// # Errors
/// What the kernel refuses.
pub(super) fn hear_faults() -> io::Result<()> {
    Ok(faults().thread_unblock()?)
}

fn inside(mark: &str) -> Result<Stage, NoStage> {
    // Before any thread is there: each inherits it.
    faults().thread_block().map_err(io::Error::from)?;
    let gone = || io::Error::other("the process that started this one has gone");
    let (outer, base) = mark.split_once(' ').ok_or_else(gone)?;
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from)?;
    // It may have ended before that; `/proc` is still the one in which its pid counts.
    if !Path::new("/proc").join(outer).exists() {
        return Err(gone().into());
    }
    let interruption = Interruption::default();
    interruption.hear_from_outside()?;
    let asked = fs::read_to_string(Path::new(base).join(ASKED)).ok();
    if let Some(signal) = asked.and_then(|signal| signal.parse().ok()) {
        interruption.ask_by(signal);
    }
    unshare(CloneFlags::CLONE_NEWNS).map_err(|errno| NoStage::Namespaces(errno.into()))?;
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    let failed = |what: &str| {
        let what = what.to_owned();
        |errno| NoStage::Mount { what, errno }
    };
    // MS_SLAVE and not MS_PRIVATE: the host sees no mount of the stage in either case, but what the host
    // unmounts meanwhile also goes from here, so that a run keeps no device of the host busy.
    let slave = MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM;
    mount_change("/", slave).map_err(failed("/"))?;
    mount("proc", "/proc", "proc", plain | MountFlags::NOEXEC, c"").map_err(failed("/proc"))?;
    mount("nicdrill", base, "tmpfs", plain, c"mode=0755").map_err(failed(base))?;
    // What this process writes for a moment goes with the stage.
    let temporary = Path::new(base).join("temporary");
    fs::create_dir(&temporary)?;
    // It was not set before.
    let _ = tempfile::env::override_temp_dir(&temporary);
    Ok(Stage {
        base: base.into(),
        interruption,
        open_folder: None,
    })
}

fn open_fuse() -> Result<(), NoStage> {
    File::options()
        .read(true)
        .write(true)
        .open("/dev/fuse")
        .map_err(NoStage::Fuse)?;
    Ok(())
}
