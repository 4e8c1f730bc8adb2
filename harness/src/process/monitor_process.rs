//! A monitor process: a child that is started, whose output is collected, and that is always
//! reaped.
//!
//! It leads a process group of its own, so that a wrapper and the wrapped program end together and
//! a terminal's Ctrl-C does not reach it. Its output is collected without ever blocking it. Start
//! at [`MonitorProcess::start`].

use std::{
    io,
    os::{
        fd::OwnedFd,
        unix::process::{CommandExt as _, ExitStatusExt as _},
    },
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, Signal as SysSignal, WaitId, WaitIdOptions, getpgid, kill_process, kill_process_group,
    waitid,
};
use scenarios::Signal;
use tokio::{net::unix::pipe::Receiver, runtime::Runtime, task::JoinHandle};

use super::{
    empty_input::empty_input,
    inbox::{EventSender, RuntimeEvent},
    mount_space::{MountSpace, MountView},
    output::Output,
    pace::LOOKS,
    quiet,
    stage::PRIVATE,
};
use director::MonitorId;
use observe::{Exit, Size};

/// The stack size of a thread that only waits, in bytes.
const WATCH_STACK: usize = 64 * 1024;

/// How many bytes of a pipe are read at once, at least. A pipe holds 64 KiB, and no more than 1 MiB unless root has changed
/// it (`pipe(7)`).
const AT_ONCE: usize = 1024 * 1024;

/// How long the last thread of a monitor gets to leave `/proc`. Chosen: it takes some ten microseconds.
const LEAVING: Duration = Duration::from_micros(50);

/// The pause between two looks at what a monitor's processes use, at least.
const LOOKING: Duration = Duration::from_millis(20);

/// What to start.
#[derive(Debug)]
pub(super) struct Order {
    /// Program and arguments.
    pub(super) words: Vec<String>,
    /// Environment variables in addition to the inherited ones.
    pub(super) env: Vec<(String, String)>,
    /// The text of its configuration file, if it has one.
    pub(super) config: Option<String>,
    /// The texts of its own files.
    pub(super) files: Vec<String>,
    /// The port on which it serves metrics and health.
    pub(super) metrics_port: u16,
    /// Whether the program runs under a wrapper, which may write output when it ends.
    pub(super) wrapped: bool,
    /// Whether the program ends at once and leaves the monitor behind as a daemon.
    pub(super) daemon: bool,
    /// How many processes it may have at once, and how much memory they may have together; it needs a view of the stage
    /// for that.
    pub(super) most: (u32, Size),
    /// Its view of the stage; without one it sees the whole stage.
    pub(super) view: Option<MountView>,
}

/// A running monitor. Dropping it kills it.
pub(super) struct MonitorProcess {
    child: Child,
    space: Option<Arc<MountSpace>>,
    /// Its mount namespace if it is a daemon, by which its processes are known.
    daemon: Option<Arc<MountSpace>>,
    /// How the last process of a daemon ended.
    daemon_exit: Arc<OnceLock<Exit>>,
    /// What it may use, as in [`Order::most`].
    most: (u32, Size),
    excess: Arc<Excess>,
    /// Dropped with this, which ends the thread that looks at what it uses.
    _used: Option<mpsc::Sender<()>>,
    group: Pid,
    wrapped: bool,
    out: Tap,
    err: Tap,
    reaped: bool,
}

/// Why all processes of a monitor were killed, if they used too much.
#[derive(Debug, Default)]
struct Excess {
    what: OnceLock<String>,
    /// Whether its output says so.
    is_told: AtomicBool,
}

impl MonitorProcess {
    /// Starts a monitor; its end is reported to `sender`.
    pub(super) fn start(
        runtime: &Runtime,
        order: &Order,
        sender: EventSender,
        monitor: MonitorId,
    ) -> io::Result<Self> {
        let (program, arguments) = order
            .words
            .split_first()
            .ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        for name in PRIVATE {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .envs(order.env.iter().map(|(name, value)| (name, value)))
            .stdin(empty_input()?)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let (mut child, space) = match &order.view {
            None => (command.spawn()?, None),
            Some(view) => {
                let (child, space) = view.spawn(&mut command)?;
                (child, Some(Arc::new(space)))
            }
        };
        let daemon = space.clone().filter(|_| order.daemon);
        let daemon_exit = Arc::<OnceLock<Exit>>::default();
        let excess = Arc::<Excess>::default();
        let limited = space.clone();
        let (outlived, exit) = (daemon.clone(), Arc::clone(&daemon_exit));
        let group = Pid::from_child(&child);
        let pipes = (child.stdout.take(), child.stderr.take());
        let instance = || -> io::Result<(Tap, Tap, Option<mpsc::Sender<()>>)> {
            let _inside = runtime.enter();
            let (Some(out), Some(err)) = pipes else {
                return Err(io::ErrorKind::BrokenPipe.into());
            };
            let watch = move || {
                // The child stays a zombie until it is reaped, so its pid is not reused. An error
                // means that it was reaped already.
                let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                let _ = waitid(WaitId::Pid(group), ended);
                // Its last thread wakes this one before it has left `/proc` (`release_task`, kernel/exit.c), and gets the
                // CPU of both back for that. Otherwise whoever reaps the process waits for it in a loop in the kernel
                // (`shrink_dcache_parent`, fs/dcache.c), for as long as a thread may run at a time: milliseconds.
                thread::sleep(LEAVING);
                if let Some(last) = outlived.and_then(|space| space.outlive()) {
                    // It is set here only.
                    let _ = exit.set(last);
                }
                sender.report(RuntimeEvent::Ended { monitor });
            };
            thread::Builder::new()
                .name("monitor".to_owned())
                .stack_size(WATCH_STACK)
                .spawn(watch)?;
            let mut used = None;
            let most = order.most;
            if let Some(space) = limited {
                let excess = Arc::clone(&excess);
                let (keeps, over) = mpsc::channel();
                thread::Builder::new()
                    .name("monitor-use".to_owned())
                    .stack_size(WATCH_STACK)
                    .spawn(move || watch_use(&space, most, &over, &excess))?;
                used = Some(keeps);
            }
            let out = Tap::new(runtime, out.into())?;
            Ok((out, Tap::new(runtime, err.into())?, used))
        };
        match instance() {
            Ok((out, err, used)) => Ok(Self {
                child,
                space,
                daemon,
                daemon_exit,
                most: order.most,
                excess,
                _used: used,
                group,
                wrapped: order.wrapped,
                out,
                err,
                reaped: false,
            }),
            Err(error) => {
                // Its output cannot be read, so it is killed.
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Whether a thread belongs to this monitor or to a process that it started.
    pub(super) fn is(&self, tid: u32) -> bool {
        let tid = i32::try_from(tid).ok().and_then(Pid::from_raw);
        tid.is_some_and(|tid| match &self.daemon {
            Some(space) => space.has(tid),
            None => getpgid(Some(tid)) == Ok(self.group),
        })
    }

    /// Sends a signal: SIGTERM to the program itself, SIGKILL to its whole process group; to a daemon
    /// both go to all its processes.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(space) = &self.daemon {
            match signal {
                Signal::Term => space.ask_to_end(),
                Signal::Kill => drop(space.kill()),
            }
            return;
        }
        // It may have ended already; it is not reaped yet, so its pid is not reused.
        let _ = match signal {
            Signal::Term if !self.wrapped => kill_process(self.group, SysSignal::TERM),
            Signal::Term => kill_process_group(self.group, SysSignal::TERM),
            Signal::Kill => kill_process_group(self.group, SysSignal::KILL),
        };
    }

    /// Kills what is left of its process group and of its mount namespace, reaps it, and returns how it
    /// ended.
    pub(super) fn reap(&mut self) -> io::Result<Exit> {
        self.signal(Signal::Kill);
        let status = self.child.wait()?;
        self.reaped = true;
        // Their ends are waited for when the mount is taken away.
        drop(self.space.as_ref().map(|space| space.kill()));
        if let Some(exit) = self.daemon_exit.get() {
            return Ok(*exit);
        }
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or_default()),
        })
    }

    /// Whether it, or a process that it has started, runs or would if it had a CPU.
    pub(super) fn runs(&self) -> bool {
        quiet::stir(self.pid()).runs || self.space.as_ref().is_some_and(|space| space.runs())
    }

    /// Whether it needs time to write output when it ends.
    pub(super) fn ends_gently(&self) -> bool {
        self.wrapped
    }

    /// The complete lines written since the previous call, to stdout and then to stderr, which has the last words of a
    /// program that fails; with `at_end` also an incomplete last line.
    pub(super) fn heard(&self, at_end: bool) -> Vec<u8> {
        let mut heard = self.out.take(at_end);
        heard.extend(self.err.take(at_end));
        if let Some(what) = self.excess()
            && !self.excess.is_told.swap(true, Ordering::Relaxed)
        {
            heard.extend(format!("nicdrill: {what}; all are killed\n").into_bytes());
        }
        heard
    }

    /// How many bytes it has written to its output so far.
    pub(super) fn written(&self) -> u64 {
        self.out.come() + self.err.come()
    }

    /// Why all its processes were killed, if they used more than they may.
    pub(super) fn excess(&self) -> Option<&str> {
        self.excess.what.get().map(String::as_str)
    }

    /// Looks now at what its processes use, and kills them all if that is too much; returns why they were killed, if they were.
    /// At the end of a poll and of a run it finds what stands then, whenever the thread looked last.
    pub(super) fn look_at_use(&self) -> Option<&str> {
        if self.excess().is_none()
            && let Some(space) = &self.space
            && let (_, Some(what)) = space.over(self.most.0, self.most.1)
        {
            // The thread may have seen it meanwhile.
            let _ = self.excess.what.set(what);
            space.kill();
        }
        self.excess()
    }

    /// Its mount namespace, if it has one of its own.
    pub(super) fn space(&self) -> Option<Arc<MountSpace>> {
        self.space.clone()
    }

    /// Its pid; of a daemon the lowest one.
    pub(super) fn pid(&self) -> Pid {
        let daemon = self.daemon.as_ref().and_then(|space| space.first());
        daemon.unwrap_or(self.group)
    }
}

impl Drop for MonitorProcess {
    fn drop(&mut self) {
        if !self.reaped {
            // A child that cannot be reaped is not ours any more.
            let _ = self.reap();
        }
    }
}

/// Kills all processes of a monitor once they use more than they may, until it has ended or nobody cares any more. The
/// kernel's limit on processes (`RLIMIT_NPROC`) does not serve: it counts all of a user, and does not bind root. It has none
/// on the memory of several processes without a cgroup.
fn watch_use(
    space: &MountSpace,
    (most_processes, most_memory): (u32, Size),
    over: &mpsc::Receiver<()>,
    excess: &Excess,
) {
    let mut pause = LOOKING;
    while over.recv_timeout(pause) == Err(mpsc::RecvTimeoutError::Timeout) {
        let began = Instant::now();
        let (count, what) = space.over(most_processes, most_memory);
        if let Some(what) = what {
            // It is set here only.
            let _ = excess.what.set(what);
            space.kill();
            return;
        }
        if count == 0 {
            return;
        }
        pause = LOOKING.max(LOOKS.pause_after(began));
    }
}

/// One output pipe of a child, read as it fills.
struct Tap {
    pipe: Arc<Pipe>,
    emptying: JoinHandle<()>,
}

struct Pipe {
    fd: Receiver,
    output: Mutex<Output>,
}

impl Tap {
    fn new(runtime: &Runtime, fd: OwnedFd) -> io::Result<Self> {
        let fd = Receiver::from_owned_fd(fd)?;
        let pipe = Arc::new(Pipe {
            fd,
            output: Mutex::default(),
        });
        let emptied = Arc::clone(&pipe);
        let emptying = runtime.spawn(async move {
            while emptied.fd.readable().await.is_ok() && !emptied.empty_when_ready() {
                // A program that always writes must not keep the reactor from everything else.
                tokio::task::yield_now().await;
            }
        });
        Ok(Self { pipe, emptying })
    }

    fn come(&self) -> u64 {
        self.pipe.output().come()
    }

    fn take(&self, at_end: bool) -> Vec<u8> {
        self.pipe.empty();
        self.pipe.output().take(at_end)
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.emptying.abort();
    }
}

impl Pipe {
    /// Reads until the reactor has to wait for more, or much has come; returns whether the pipe is at its end.
    fn empty_when_ready(&self) -> bool {
        self.empty_by(|piece| self.fd.try_read(piece))
    }

    /// Reads everything that was available at the call, whether or not the reactor has noticed it.
    fn empty(&self) {
        self.empty_by(|piece| Ok(rustix::io::read(&self.fd, piece)?));
    }

    fn empty_by(&self, read: impl Fn(&mut [u8]) -> io::Result<usize>) -> bool {
        let mut piece = [0; 4096];
        let mut output = self.output();
        let mut come = 0;
        while come < AT_ONCE {
            match read(&mut piece) {
                Ok(0) => return true,
                Ok(len) => {
                    output.extend(&piece[..len]);
                    come += len;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
            }
        }
        false
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
