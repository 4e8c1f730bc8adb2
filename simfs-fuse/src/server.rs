//! The server: a mount, its threads, and its end.

use std::{
    borrow::Cow,
    fs, io, mem,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, mpsc},
    thread::{self, JoinHandle},
};

use fuser::{Config, MountOption, SessionUnmounter};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, fstatfs, open, statx},
    io::Errno as SysErrno,
    mount::{OpenTreeFlags, UnmountFlags, open_tree, unmount},
    thread::{CpuSet, sched_setaffinity},
};
use simfs::{Edit, Errno, Fs, SimTime};

use crate::{
    HoldId, Observer, Options, leave_devices, notify, request::Job, session::Session,
    shared::Shared, watch,
};

const REFUSED_HINT: &str =
    "`/dev/fuse` must open, and mounting needs root, a user namespace or `fusermount3`";

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
}

impl MountError {
    /// A hint; `None` if there is none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Stale { mountpoint, .. } => Some(stale_hint(mountpoint).into()),
            Self::Refused { .. } => Some(REFUSED_HINT.into()),
            Self::NoFolder(_) | Self::Thread(_) | Self::Unmount { .. } => None,
        }
    }
}

/// A mounted tree. Dropping it releases all held requests and unmounts it.
///
/// The end waits for no other process. Whoever still has a file, a working directory or a copy of the
/// mount (every new mount namespace has one) gets ENOTCONN from then on: the kernel ends a connection
/// once `/dev/fuse` is closed (`fuse_dev_release`, `fs/fuse/dev.c`).
pub struct Server {
    shared: Arc<Shared>,
    mountpoint: PathBuf,
    /// The root of the mount, by which the session is reached whatever is mounted over it; `None` if the
    /// mount must not be busy and this user cannot copy it, and once the server has ended.
    root: Option<OwnedFd>,
    /// The device of the file system, as in `/proc/self/mountinfo`.
    device: String,
    ended: bool,
    unmounter: SessionUnmounter,
    session: Option<JoinHandle<()>>,
    helpers: Vec<JoinHandle<()>>,
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
        let (cpu, removable) = (options.cpu, options.removable);
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
        let refused = |source| MountError::Refused {
            mountpoint: mountpoint.clone(),
            source,
        };
        let mut session = fuser::Session::new(Session(Arc::clone(&shared)), &mountpoint, &config)
            .map_err(refused)?;
        let root = if removable {
            // A copy of the mount that is at no path keeps its file system, and no path busy.
            let copy = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            open_tree(CWD, &mountpoint, copy).ok()
        } else {
            Some(open_root(&mountpoint).map_err(|errno| refused(errno.into()))?)
        };
        let notifier = session.notifier();
        let mut server = Self {
            shared,
            root,
            device: String::new(),
            ended: false,
            unmounter: session.unmount_callable(),
            mountpoint,
            session: None,
            helpers: Vec::new(),
        };
        let (pinned, pin_failed) = mpsc::channel();
        let pinned_too = pinned.clone();
        let session = server.spawn("simfs-session", move |_| {
            // fuser starts its own thread from here, which stays on the same CPU.
            let _ = pinned.send(pin(cpu));
            // Its result says how it ended, which `end` decides.
            let _ = session.run();
        })?;
        server.session = Some(session);
        let helper = server.spawn("simfs-notify", move |shared| {
            let _ = pinned_too.send(pin(cpu));
            notify::run(shared, &todo, &notifier);
        })?;
        server.helpers.push(helper);
        let helper = server.spawn("simfs-watch", watch::run)?;
        server.helpers.push(helper);
        for _ in 0..2 {
            pin_failed
                .recv()
                .unwrap_or(Ok(()))
                .map_err(MountError::Thread)?;
        }
        if removable {
            // The kernel answers itself; nothing is asked of the session.
            let cached = AtFlags::STATX_DONT_SYNC;
            let root = statx(CWD, &server.mountpoint, cached, StatxFlags::empty());
            let root = root.map_err(|errno| MountError::Refused {
                mountpoint: server.mountpoint.clone(),
                source: errno.into(),
            })?;
            server.device = format!("{}:{}", root.stx_dev_major, root.stx_dev_minor);
        }
        Ok(server)
    }

    /// The folder of the mount.
    #[must_use]
    pub fn mountpoint(&self) -> &Path {
        &self.mountpoint
    }

    /// Whether the tree of a removable mount is still mounted somewhere in this mount namespace.
    #[must_use]
    pub fn is_mounted(&self) -> bool {
        // Without `/proc` nobody can tell.
        fs::read_to_string("/proc/self/mountinfo").map_or(true, |mounts| {
            let mut devices = mounts.lines().filter_map(|line| line.split(' ').nth(2));
            devices.any(|device| device == self.device)
        })
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

    /// How many files and folders are open.
    #[must_use]
    pub fn open_files(&self) -> usize {
        self.shared.handles().count()
    }

    /// Returns once every request that came before is answered or held: the kernel hands requests over in their
    /// order, and this one is the last. The number says how many operations on files and folders there were so far.
    /// Must not be called from [`Observer::moment`].
    pub fn settle(&self) -> u64 {
        if let Some(root) = &self.root {
            // A server that has ended has nothing to answer.
            apart(|| {
                let asked = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
                statx(root, "", asked, StatxFlags::TYPE).map(drop)
            });
        }
        self.shared.taken_in()
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

    /// Releases all held requests, unmounts, and closes the connection to the kernel.
    ///
    /// # Errors
    /// [`MountError::Unmount`]: the folder still has the mount, whose every use fails with ENOTCONN.
    pub fn unmount(mut self) -> Result<(), MountError> {
        self.end()
    }

    fn spawn(
        &self,
        name: &str,
        work: impl FnOnce(&Arc<Shared>) + Send + 'static,
    ) -> Result<JoinHandle<()>, MountError> {
        let shared = Arc::clone(&self.shared);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work(&shared))
            .map_err(MountError::Thread)
    }

    fn end(&mut self) -> Result<(), MountError> {
        if mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        let root = self.root.take();
        let root = root.or_else(|| {
            let there = self.is_mounted().then(|| open_root(&self.mountpoint));
            there.and_then(Result::ok)
        });
        self.shared.close();
        // Without the notifying thread there is nothing to stop. It ends before the session, because an
        // invalidation may wait in the kernel until the session has answered a request.
        let _ = self.shared.jobs.send(Job::Stop);
        // A thread that panicked has reported so itself.
        let join = |thread: JoinHandle<()>| drop(thread.join());
        self.helpers.drain(..).for_each(join);
        // fuser unmounts only what nobody uses; afterwards it does not unmount again, and drops its
        // descriptor of the device.
        let removed = !self.device.is_empty() && !self.is_mounted();
        let unmounted = match self.unmounter.unmount() {
            Ok(()) => Ok(()),
            Err(_) if removed => Ok(()),
            Err(_) => detach(&self.mountpoint).map_err(|source| MountError::Unmount {
                mountpoint: self.mountpoint.clone(),
                source,
            }),
        };
        // The session's thread waits in the kernel for a request, so it gets one: after the end of the
        // helpers it is the one on which the session ends, and with it the last descriptor of the device.
        // An error means that the connection has ended already.
        let reached = root.as_ref().map(|root| apart(|| fstatfs(root).map(drop)));
        drop(root);
        // One that cannot be reached, because the tree was unmounted while somebody was in it, ends with the
        // program.
        let session = self.session.take();
        let session = session.filter(|session| reached.is_some() || session.is_finished());
        session.into_iter().for_each(join);
        unmounted
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Errors cannot be reported here; `unmount` returns them.
        let _ = self.end();
    }
}

/// Asks the session for something, in a thread that may wait for it.
fn apart(ask: impl FnOnce() -> Result<(), SysErrno> + Send) {
    thread::scope(|scope| {
        let asked = scope.spawn(|| leave_devices().map(|()| ask()));
        // A thread that panicked has reported so itself.
        drop(asked.join());
    });
}

fn open_root(mountpoint: &Path) -> Result<OwnedFd, SysErrno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(mountpoint, flags, Mode::empty())
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
