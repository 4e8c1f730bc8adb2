//! The server: a mount, its threads, and its end.

use std::{
    borrow::Cow,
    io,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use fuser::{Config, MountOption};
use rustix::{
    io::Errno as SysErrno,
    mount::{UnmountFlags, unmount},
    thread::{CpuSet, sched_setaffinity},
};
use simfs::{Edit, Errno, Fs, SimTime};

use crate::{
    HoldId, Observer, Options, notify, request::Job, session::Session, shared::Shared, watch,
};

/// How long the server waits for the end of a session after the unmount.
const END_LIMIT: Duration = Duration::from_secs(2);

const REFUSED_HINT: &str =
    "`/dev/fuse` must open, and mounting needs root, a user namespace or `fusermount3`";
const IN_USE_HINT: &str = "end the process; the server ends with it";

fn stale_hint(mountpoint: &Path) -> String {
    format!("`umount -l {}` as its owner", mountpoint.display())
}

/// Why a tree cannot be mounted or unmounted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// The folder to mount on does not exist, or is not a folder.
    #[error("cannot mount on `{0}`: no such folder")]
    NoFolder(PathBuf),
    /// The mount of an earlier server cannot be removed.
    #[error("cannot remove the stale mount at `{mountpoint}`\nhint: {}", stale_hint(.mountpoint))]
    Stale {
        /// The folder.
        mountpoint: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel rejects the mount.
    #[error("cannot mount on `{mountpoint}`\nhint: {REFUSED_HINT}")]
    Refused {
        /// The folder.
        mountpoint: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// A thread cannot be started, or not be pinned to its CPU.
    #[error("cannot start the server's threads")]
    Thread(#[source] io::Error),
    /// The mount cannot be removed.
    #[error("cannot unmount `{mountpoint}`")]
    Unmount {
        /// The folder.
        mountpoint: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The mount is detached, but a process still uses it.
    #[error(
        "`{0}` is unmounted, but a process still holds a file, folder or working directory there\nhint: {IN_USE_HINT}"
    )]
    InUse(PathBuf),
}

impl MountError {
    /// A hint; `None` if there is none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Stale { mountpoint, .. } => Some(stale_hint(mountpoint).into()),
            Self::Refused { .. } => Some(REFUSED_HINT.into()),
            Self::InUse(_) => Some(IN_USE_HINT.into()),
            Self::NoFolder(_) | Self::Thread(_) | Self::Unmount { .. } => None,
        }
    }
}

/// A mounted tree. Dropping it releases all held requests and unmounts it.
pub struct Server {
    shared: Arc<Shared>,
    mountpoint: PathBuf,
    mounted: bool,
    ended: mpsc::Receiver<()>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Mounts a file system on a folder, after removing a mount whose server has died.
    ///
    /// # Errors
    /// [`MountError`].
    pub fn mount(
        fs: Arc<Mutex<Fs>>,
        mountpoint: &Path,
        options: Options,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, MountError> {
        remove_stale(mountpoint)?;
        let mountpoint = mountpoint
            .canonicalize()
            .map_err(|_| MountError::NoFolder(mountpoint.to_owned()))?;
        if !mountpoint.is_dir() {
            return Err(MountError::NoFolder(mountpoint));
        }
        let cpu = options.cpu;
        let (jobs, todo) = mpsc::channel();
        let shared = Arc::new(Shared::new(fs, observer, options, jobs));
        shared.fs().watch_stale();
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("simfs".to_owned()),
            MountOption::NoSuid,
            MountOption::NoDev,
            MountOption::NoExec,
        ];
        let session = fuser::Session::new(Session(Arc::clone(&shared)), &mountpoint, &config)
            .map_err(|source| MountError::Refused {
                mountpoint: mountpoint.clone(),
                source,
            })?;
        let notifier = session.notifier();
        let (end, ended) = mpsc::channel();
        let mut server = Self {
            shared,
            mountpoint,
            mounted: true,
            ended,
            threads: Vec::new(),
        };
        let (pinned, pin_failed) = mpsc::channel();
        let pinned_too = pinned.clone();
        server.spawn("simfs-session", move |_| {
            // fuser starts its own thread from here, which stays on the same CPU.
            let _ = pinned.send(pin(cpu));
            // The result of a session adds nothing to that of the unmount.
            let _ = session.run();
            let _ = end.send(());
        })?;
        server.spawn("simfs-notify", move |shared| {
            let _ = pinned_too.send(pin(cpu));
            notify::run(shared, &todo, &notifier);
        })?;
        server.spawn("simfs-watch", watch::run)?;
        for _ in 0..2 {
            pin_failed
                .recv()
                .unwrap_or(Ok(()))
                .map_err(MountError::Thread)?;
        }
        Ok(server)
    }

    /// The folder of the mount.
    #[must_use]
    pub fn mountpoint(&self) -> &Path {
        &self.mountpoint
    }

    /// Releases a held request, which continues against the present tree; returns whether it was
    /// held.
    pub fn release(&self, hold: HoldId) -> bool {
        self.shared.release(hold)
    }

    /// Ends a held request with an error; returns whether it was held.
    pub fn answer(&self, hold: HoldId, errno: Errno) -> bool {
        self.shared.answer(hold, errno)
    }

    /// The held requests, oldest first.
    #[must_use]
    pub fn holds(&self) -> Vec<HoldId> {
        self.shared.holds().ids()
    }

    /// Sets the time and applies a set of edits; once this returns, no process sees the old state.
    pub fn edit(&self, now: SimTime, edits: &[Edit]) {
        self.with_fs(|fs| {
            fs.set_now(now);
            fs.apply(edits);
        });
    }

    /// Changes the file system; once this returns, the kernel has invalidated outdated entries.
    /// Must not be called from [`Observer::moment`].
    pub fn with_fs<T>(&self, work: impl FnOnce(&mut Fs) -> T) -> T {
        self.shared.change(work)
    }

    /// Releases all held requests, unmounts, and waits for the threads to end.
    ///
    /// # Errors
    /// [`MountError::Unmount`], and [`MountError::InUse`] if a process still uses the mount.
    pub fn unmount(mut self) -> Result<(), MountError> {
        self.end()
    }

    fn spawn(
        &mut self,
        name: &str,
        work: impl FnOnce(&Arc<Shared>) + Send + 'static,
    ) -> Result<(), MountError> {
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work(&shared))
            .map_err(MountError::Thread)?;
        self.threads.push(thread);
        Ok(())
    }

    fn end(&mut self) -> Result<(), MountError> {
        if !std::mem::replace(&mut self.mounted, false) {
            return Ok(());
        }
        self.shared.close();
        let unmounted = detach(&self.mountpoint).map_err(|source| MountError::Unmount {
            mountpoint: self.mountpoint.clone(),
            source,
        });
        let ended = self.ended.recv_timeout(END_LIMIT);
        // Without the notifying thread there is nothing to stop.
        let _ = self.shared.jobs.send(Job::Stop);
        unmounted?;
        if matches!(ended, Err(mpsc::RecvTimeoutError::Timeout)) {
            return Err(MountError::InUse(self.mountpoint.clone()));
        }
        for thread in self.threads.drain(..) {
            // A thread that panicked has reported so itself.
            let _ = thread.join();
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Errors cannot be reported here; `unmount` returns them.
        let _ = self.end();
    }
}

fn pin(cpu: Option<usize>) -> io::Result<()> {
    let Some(cpu) = cpu else { return Ok(()) };
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

/// Removes a mount whose server has died: every use of it fails with ENOTCONN.
fn remove_stale(mountpoint: &Path) -> Result<(), MountError> {
    match mountpoint.metadata() {
        Err(error) if error.raw_os_error() == Some(SysErrno::NOTCONN.raw_os_error()) => {
            detach(mountpoint).map_err(|source| MountError::Stale {
                mountpoint: mountpoint.to_owned(),
                source,
            })
        }
        _ => Ok(()),
    }
}

/// Detaches a mount, even while it is in use. A missing mount is not an error.
fn detach(mountpoint: &Path) -> io::Result<()> {
    match unmount(mountpoint, UnmountFlags::DETACH) {
        Ok(()) | Err(SysErrno::INVAL | SysErrno::NOENT) => Ok(()),
        Err(SysErrno::PERM) => {
            let status = Command::new("fusermount3")
                .args(["-u", "-z"])
                .arg(mountpoint)
                .status()?;
            if status.success() {
                Ok(())
            } else {
                Err(SysErrno::PERM.into())
            }
        }
        Err(errno) => Err(errno.into()),
    }
}
