//! The server: a mount, its threads, and its end.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use fuser::{Config, MountOption};
use nix::{
    errno::Errno as SysErrno,
    mount::{MntFlags, umount2},
    sched::{CpuSet, sched_setaffinity},
    unistd::Pid,
};
use simfs::{Edit, Errno, Fs, SimTime};

use crate::{
    HoldId, Observer, Options, notify, request::Job, session::Session, shared::Shared, watch,
};

/// How long the end of a session is awaited once the mount has gone.
const END_LIMIT: Duration = Duration::from_secs(2);

/// Why a tree cannot be mounted, or its mount not be ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MountError {
    /// The folder to mount on is not there, or is no folder.
    #[error("cannot mount on `{0}`: no such folder")]
    NoFolder(PathBuf),
    /// What an earlier server left there cannot be taken away.
    #[error(
        "cannot take away the stale mount at `{mountpoint}`\nhint: `umount -l {mountpoint}` as its owner"
    )]
    Stale {
        /// The folder.
        mountpoint: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel does not let us mount.
    #[error(
        "cannot mount on `{mountpoint}`\nhint: `/dev/fuse` must open, and mounting needs root, a user namespace or `fusermount3`"
    )]
    Refused {
        /// The folder.
        mountpoint: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// No thread can be started, or none be put on the wanted CPU.
    #[error("cannot start the server's threads")]
    Thread(#[source] io::Error),
    /// The mount cannot be taken away.
    #[error("cannot unmount `{mountpoint}`")]
    Unmount {
        /// The folder.
        mountpoint: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The mount has gone from the folder, but a process still holds something on it.
    #[error(
        "`{0}` is unmounted, but a process still holds a file, folder or working directory there\nhint: end the process; the server ends with it"
    )]
    InUse(PathBuf),
}

/// A mounted tree. Dropping it lets go all that is held and unmounts it.
pub struct Server {
    shared: Arc<Shared>,
    mountpoint: PathBuf,
    mounted: bool,
    ended: mpsc::Receiver<()>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Mounts a file system on a folder. A mount whose server has died is taken away first.
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
            // fuser's own thread is started from here and stays on the same CPU.
            let _ = pinned.send(pin(cpu));
            // How a session ends says nothing that the unmounting does not.
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

    /// Where the tree is mounted.
    #[must_use]
    pub fn mountpoint(&self) -> &Path {
        &self.mountpoint
    }

    /// Lets a held request go on, against the tree as it is now; whether it was still held.
    pub fn release(&self, hold: HoldId) -> bool {
        self.shared.release(hold)
    }

    /// Ends a held request with an error; whether it was still held.
    pub fn answer(&self, hold: HoldId, errno: Errno) -> bool {
        self.shared.answer(hold, errno)
    }

    /// What is held now, oldest first.
    #[must_use]
    pub fn holds(&self) -> Vec<HoldId> {
        self.shared.holds().ids()
    }

    /// Sets the time and makes a set of edits visible at once; when it returns, no process meets
    /// what was before.
    pub fn edit(&self, now: SimTime, edits: &[Edit]) {
        self.with_fs(|fs| {
            fs.set_now(now);
            fs.apply(edits);
        });
    }

    /// Does anything to the file system; when it returns, the kernel has forgotten what is no
    /// longer so. Not to be called from [`Observer::moment`].
    pub fn with_fs<T>(&self, work: impl FnOnce(&mut Fs) -> T) -> T {
        self.shared.change(work)
    }

    /// Lets go all that is held, unmounts, and waits for the threads to end.
    ///
    /// # Errors
    /// [`MountError::Unmount`], and [`MountError::InUse`] if a process still holds something.
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
        // Without the notifying thread there is nobody to stop.
        let _ = self.shared.jobs.send(Job::Stop);
        unmounted?;
        if matches!(ended, Err(mpsc::RecvTimeoutError::Timeout)) {
            return Err(MountError::InUse(self.mountpoint.clone()));
        }
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so on its own.
            let _ = thread.join();
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nobody is left to be told; `unmount` is the way to hear of it.
        let _ = self.end();
    }
}

fn pin(cpu: Option<usize>) -> io::Result<()> {
    let Some(cpu) = cpu else { return Ok(()) };
    let mut set = CpuSet::new();
    set.set(cpu)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

/// Takes away a mount whose server has died: every use of it ends with ENOTCONN.
fn remove_stale(mountpoint: &Path) -> Result<(), MountError> {
    match mountpoint.metadata() {
        Err(error) if error.raw_os_error() == Some(SysErrno::ENOTCONN as i32) => detach(mountpoint)
            .map_err(|source| MountError::Stale {
                mountpoint: mountpoint.to_owned(),
                source,
            }),
        _ => Ok(()),
    }
}

/// Takes a mount out of the tree of folders, also while it is in use. One that has gone is fine.
fn detach(mountpoint: &Path) -> io::Result<()> {
    match umount2(mountpoint, MntFlags::MNT_DETACH) {
        Ok(()) | Err(SysErrno::EINVAL | SysErrno::ENOENT) => Ok(()),
        Err(SysErrno::EPERM) => {
            let status = Command::new("fusermount3")
                .args(["-u", "-z"])
                .arg(mountpoint)
                .status()?;
            if status.success() {
                Ok(())
            } else {
                Err(SysErrno::EPERM.into())
            }
        }
        Err(errno) => Err(errno.into()),
    }
}
