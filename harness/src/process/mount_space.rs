//! The mount namespace of a monitor: it holds the mount of the monitor's own node and no other, and it
//! marks every process that the monitor leaves behind.
//!
//! A process cannot leave a mount namespace by daemonising itself, whereas it leaves its process group
//! and its parent. So everything that a monitor has started is found by its namespace and killed, at
//! the latest at the end of the drill. A process with privileges can enter another namespace; it ends
//! with the run (`stage.rs`).
//!
//! Not here: the network namespace (`network.rs`). Start at [`MountView::spawn`].

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    panic,
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use nix::sched::{CloneFlags, setns, unshare};
use observe::{Exit, Size};
use rustix::{
    event::{PollFd, PollFlags, poll},
    fd::{AsFd as _, OwnedFd},
    fs::CWD,
    io::Errno,
    mount::{
        MountFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_remount, move_mount,
        open_tree, unmount,
    },
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, chdir, pidfd_open, pidfd_send_signal,
        waitid,
    },
    thread::gettid,
};

use super::{
    binds::{self, Bind},
    census,
    confinement::{self, Confinement},
    host_root::HostRoot,
    job_folder,
    pid_space::PidSpace,
    quiet, stage, usage,
};

/// The pause between two looks for processes that are ending.
const LOOK: Duration = Duration::from_micros(50);

/// Where processes are seen (`proc(5)`).
const PROC: &str = "/proc";

/// How a monitor sees its own processes there.
const READ_ONLY: MountFlags = MountFlags::BIND
    .union(MountFlags::RDONLY)
    .union(MountFlags::NOSUID)
    .union(MountFlags::NODEV)
    .union(MountFlags::NOEXEC);

/// What a monitor sees of the stage.
#[derive(Clone, Debug)]
pub(super) struct MountView {
    /// The folder of the stage, on which a file system is mounted.
    pub(super) stage: PathBuf,
    /// The folder of the monitor's node, below that of the stage: all that remains of it.
    pub(super) node: PathBuf,
    /// The tree that it finds over its host's files, if it does.
    pub(super) over_host: Option<HostRoot>,
    /// What it finds at other paths.
    pub(super) binds: Vec<Bind>,
    /// How it is confined, if it is.
    pub(super) confinement: Option<Confinement>,
    /// What each folder in memory that is its own can hold.
    pub(super) space: Size,
    /// The pid namespace in which it is started, if it has one: then it is confined.
    pub(super) pids: Option<Arc<PidSpace>>,
}

impl MountView {
    /// Starts a program in a new mount namespace.
    pub(super) fn spawn(&self, command: &mut Command) -> io::Result<(Child, MountSpace)> {
        // Threads of their own, because the present one mounts and unmounts on the stage. The one that makes the
        // namespace looks at the tree, which this process serves.
        thread::scope(|scope| {
            let (made, entered) = mpsc::channel();
            let (joined, left) = mpsc::channel::<()>();
            let make = move || {
                let own = simfs_fuse::leave_devices().and_then(|()| self.enter());
                let own = own.map(|()| format!("/proc/self/task/{}/ns/mnt", gettid()));
                // Nobody waits for it if the thread that starts the program could not be started.
                let _ = made.send(own);
                // The namespace ends with its last thread.
                let _ = left.recv();
            };
            let start = move || {
                let space = entered.recv().map_err(|_| {
                    io::Error::other(
                        "nicdrill's thread that makes the mount namespace of the monitor panicked",
                    )
                })??;
                let space = MountSpace::join(&space)?;
                drop(joined);
                if self.confinement.is_some() {
                    confinement::take_privileges().map_err(unconfined)?;
                }
                self.pids.as_deref().map_or(Ok(()), PidSpace::enter)?;
                stage::hear_faults()?;
                // The program inherits the namespaces and the CPUs of the thread that starts it.
                Ok((command.spawn()?, space))
            };
            let thread = |name: &str| thread::Builder::new().name(name.to_owned());
            thread("monitor-view").spawn_scoped(scope, make)?;
            thread("monitor-start")
                .spawn_scoped(scope, start)?
                .join()
                .unwrap_or_else(|panicked| panic::resume_unwind(panicked))
        })
    }

    /// Enters a new mount namespace. Like the stage's it gets what the host mounts and unmounts, and
    /// gives nothing back.
    fn enter(&self) -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWNS)?;
        let copy = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE;
        let own = open_tree(CWD, &self.node, copy)?;
        let pids = self.pids.as_ref();
        let proc = pids.map(|pids| binds::copied(pids.proc(), true));
        let proc = proc.transpose()?;
        // The mounts of the other nodes and of the other jobs go with it.
        unmount(&self.stage, UnmountFlags::DETACH)?;
        let confinement = self.confinement.as_ref();
        let kept = confinement.map(Confinement::close).transpose();
        let kept = kept.map_err(unconfined)?;
        // From here on this thread, which is not in that namespace, has no folder in `/proc`.
        if let Some(proc) = &proc {
            binds::attach(proc, Path::new(PROC))?;
            mount_remount(PROC, READ_ONLY, c"")?;
        }
        let plain = MountFlags::NOSUID | MountFlags::NODEV;
        let options = job_folder::options("0755", self.space)?;
        mount("nicdrill", &self.stage, "tmpfs", plain, &*options)?;
        fs::create_dir_all(&self.node)?;
        let whole = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        move_mount(&own, "", CWD, &self.node, whole)?;
        let confined = kept.is_some();
        if confined {
            fs::create_dir(temporary(&self.stage))?;
        }
        kept.map_or(Ok(()), |kept| kept.open(self.space))
            .map_err(unconfined)?;
        let scratch = self.stage.join("layer");
        if let Some(tree) = &self.over_host {
            tree.place(&self.stage.join("host"), &scratch)?;
        }
        binds::place(&self.binds, &scratch)
    }
}

/// The folder for temporary files of a monitor on a stage. It is gone with the monitor.
pub(super) fn temporary(stage: &Path) -> PathBuf {
    stage.join("tmp")
}

fn unconfined(error: io::Error) -> io::Error {
    let hint = "`confine: false` in its descriptor starts it unconfined";
    let text = format!("the monitor cannot be confined: {error}\nhint: {hint}");
    io::Error::new(error.kind(), text)
}

/// The mount namespace in which a monitor was started. While this exists, its number is not given to
/// another one.
#[derive(Debug)]
pub(super) struct MountSpace {
    _namespace: File,
    id: NamespaceId,
}

impl MountSpace {
    /// Lets the calling thread join a namespace, in the same working directory.
    fn join(there: &str) -> io::Result<Self> {
        let namespace = File::open(there)?;
        let metadata = namespace.metadata()?;
        // A folder that has been removed has no path.
        let work = env::current_dir();
        // A thread that shares its working directory with others cannot join (`setns(2)`).
        unshare(CloneFlags::CLONE_FS)?;
        setns(&namespace, CloneFlags::CLONE_NEWNS)?;
        work.map_or(Ok(()), chdir)?;
        Ok(Self {
            _namespace: namespace,
            id: (metadata.dev(), metadata.ino()),
        })
    }

    /// Kills every process in the namespace, once the monitor itself is reaped. They may take a while
    /// to end.
    pub(super) fn kill(&self) -> Vec<OwnedFd> {
        let mut killed = BTreeMap::new();
        loop {
            let before = killed.len();
            for (pid, process) in self.members() {
                let number = pid.as_raw_nonzero();
                if !killed.contains_key(&number)
                    && pidfd_send_signal(&process, Signal::KILL).is_ok()
                {
                    killed.insert(number, process);
                }
            }
            // Until no process is found that was started meanwhile.
            if killed.len() == before {
                return killed.into_values().collect();
            }
        }
    }

    /// Asks every process in the namespace to end, as a service manager asks those of a unit.
    pub(super) fn ask_to_end(&self) {
        for (_, process) in self.members() {
            // It may just have ended.
            let _ = pidfd_send_signal(&process, Signal::TERM);
        }
    }

    /// How many processes are in the namespace, and which of these two limits they are over, if they are.
    pub(super) fn over(&self, most_processes: u32, most_memory: Size) -> (usize, Option<String>) {
        let memory_of =
            |of: fn(Pid) -> u64, pids: &[Pid]| pids.iter().map(|pid| of(*pid)).sum::<u64>();
        let seems_over = |pids: &[Pid]| {
            pids.len() > most_processes as usize
                || memory_of(usage::private_kib, pids) > most_memory.0
        };
        let (lately, more) = census::lately_in(self.id);
        // What was started since may be as many processes as it likes, but not as much memory in so short a time.
        let may_be_many = lately.len().saturating_add(more) > most_processes as usize;
        if !lately.is_empty() && !may_be_many && !seems_over(&lately) {
            return (lately.len(), None);
        }
        // Only what seems too much is measured with care, and the end of a monitor is not told from an old count.
        let members: Vec<Pid> = self.members().into_iter().map(|(pid, _)| pid).collect();
        let count = members.len();
        if count > most_processes as usize {
            let what = format!("{count} processes, and the limit is {most_processes}");
            return (count, Some(what));
        }
        let is_over =
            seems_over(&members) && memory_of(usage::proportional_kib, &members) > most_memory.0;
        let what = || format!("more than {most_memory} of memory, which is the limit");
        (count, is_over.then(what))
    }

    /// How long the processes in the namespace have run, as [`usage::ran_ticks`] counts it.
    pub(super) fn ran_ticks(&self) -> u64 {
        let members = self.members().into_iter();
        members.map(|(pid, _)| usage::ran_ticks(pid)).sum()
    }

    /// Whether a process in the namespace runs, or would if it had a CPU.
    pub(super) fn runs(&self) -> bool {
        let mut members = self.members().into_iter();
        members.any(|(pid, _)| quiet::stir(pid).runs)
    }

    /// The process in the namespace with the lowest number; `None` if there is none.
    pub(super) fn first(&self) -> Option<Pid> {
        let members = self.members().into_iter().map(|(pid, _)| pid);
        members.min_by_key(|pid| pid.as_raw_nonzero())
    }

    /// Waits until no process is left in the namespace; returns how the last one ended that could be
    /// reaped.
    pub(super) fn outlive(&self) -> Option<Exit> {
        let mut last = None;
        loop {
            let members = self.survivors();
            if members.is_empty() {
                return last;
            }
            let mut ends: Vec<_> = members
                .iter()
                .map(|(_, process)| PollFd::new(process, PollFlags::IN))
                .collect();
            // A descriptor of a process becomes readable when the process ends (`pidfd_open(2)`).
            // An interrupted wait is repeated.
            let _ = poll(&mut ends, None);
            for (_, process) in &members {
                let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
                // A process whose parent has ended is a child of this one, as in `is_gone`.
                if let Ok(Some(status)) = waitid(WaitId::PidFd(process.as_fd()), ended) {
                    let code = status.exit_status().map(Exit::Code);
                    let signal = status.terminating_signal().map(Exit::Signal);
                    last = code.or(signal).or(last);
                }
            }
        }
    }

    /// The processes in the namespace; none only if none is left. A process that ends while it is looked at may have
    /// started another one after the folder of processes was read, as a daemon does that forks twice. So none is left
    /// when no further process has ended since the look before.
    fn survivors(&self) -> Vec<(Pid, OwnedFd)> {
        let mut known = BTreeSet::new();
        loop {
            let listed = processes();
            let members = self.among(&listed);
            let ended: BTreeSet<i32> = listed
                .into_iter()
                .filter(|pid| has_ended(*pid))
                .map(|pid| pid.as_raw_nonzero().get())
                .collect();
            if !members.is_empty() || ended.is_subset(&known) {
                return members;
            }
            known = ended;
        }
    }

    /// The processes in the namespace. A descriptor names its process, also if the number is given to
    /// another one.
    fn members(&self) -> Vec<(Pid, OwnedFd)> {
        self.among(&processes())
    }

    /// Those of these processes that are in the namespace.
    fn among(&self, listed: &[Pid]) -> Vec<(Pid, OwnedFd)> {
        let opened = |pid: &Pid| Some((*pid, pidfd_open(*pid, PidfdFlags::empty()).ok()?));
        let found = listed.iter().filter_map(opened);
        found.filter(|(pid, _)| self.has(*pid)).collect()
    }

    /// Kills every process in the namespace and waits until it has ended; `false` if that takes longer
    /// than the limit. The mount must have been taken away, because a killed process waits for the
    /// answer of its read.
    pub(super) fn clear(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        loop {
            let mut left = self.kill();
            if left.is_empty() {
                return true;
            }
            while !left.is_empty() {
                if begun.elapsed() >= limit {
                    return false;
                }
                left.retain(|process| !is_gone(process));
                thread::sleep(LOOK);
            }
        }
    }

    /// Whether a process is in the namespace.
    pub(super) fn has(&self, pid: Pid) -> bool {
        namespace_of(pid) == Some(self.id)
    }
}

/// What distinguishes a mount namespace from others: the device and the inode of its file in `/proc` (`namespaces(7)`).
pub(super) type NamespaceId = (u64, u64);

/// The mount namespace of a process; `None` if it has ended, or may not be looked at.
pub(super) fn namespace_of(pid: Pid) -> Option<NamespaceId> {
    let its = fs::metadata(format!("/proc/{}/ns/mnt", pid.as_raw_nonzero())).ok()?;
    Some((its.dev(), its.ino()))
}

/// Whether a process that was listed has ended since, or had ended before: it has no namespace any more.
fn has_ended(pid: Pid) -> bool {
    fs::metadata(format!("/proc/{}/ns/mnt", pid.as_raw_nonzero()))
        .is_err_and(|error| error.kind() != io::ErrorKind::PermissionDenied)
}

/// Whether a killed process has ended. A process whose parent has ended is a child of this one, the
/// first of its pid namespace, and is reaped here.
fn is_gone(process: &OwnedFd) -> bool {
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    match waitid(WaitId::PidFd(process.as_fd()), ended) {
        Ok(status) => status.is_some(),
        Err(_) => pidfd_send_signal(process, Signal::KILL) == Err(Errno::SRCH),
    }
}

pub(super) fn processes() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries
        .filter_map(number)
        .filter_map(Pid::from_raw)
        .collect()
}
