//! A mount for a test: its tree, its observer, and its end.

use std::{
    fs,
    io::{Read, Write},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant},
};

use simfs::{Edit, Errno, FileValue, Fs, MomentId, Refused, RuleId, SimTime, TreePath};
use simfs_fuse::{HoldId, MomentAnswer, MountError, Observer, Options, Server};

/// How long a test waits for something that must happen. It is a limit, not a pause.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// A call of the observer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Gate(HoldId, u32),
    Hung(HoldId, u32, RuleId, String),
    Moment(MomentId),
    Stuck(HoldId),
    Killed(HoldId),
}

type OnMoment = Box<dyn FnMut(&mut Fs, MomentId) -> MomentAnswer + Send>;

struct Witness {
    seen: mpsc::Sender<Seen>,
    on_moment: Mutex<OnMoment>,
}

impl Witness {
    fn say(&self, seen: Seen) {
        let _ = self.seen.send(seen);
    }
}

impl Observer for Witness {
    fn gate(&self, hold: HoldId, pid: u32) {
        self.say(Seen::Gate(hold, pid));
    }

    fn hung(&self, hold: HoldId, pid: u32, rule: RuleId, path: &str) {
        self.say(Seen::Hung(hold, pid, rule, path.to_owned()));
    }

    fn moment(&self, fs: &mut Fs, moment: MomentId, _: u32) -> MomentAnswer {
        self.say(Seen::Moment(moment));
        (self.on_moment.lock().unwrap())(fs, moment)
    }

    fn stuck(&self, hold: HoldId, _: u32) {
        self.say(Seen::Stuck(hold));
    }

    fn killed(&self, hold: HoldId, _: u32) {
        self.say(Seen::Killed(hold));
    }
}

/// A mounted tree, unmounted when dropped, also on a panic.
pub(crate) struct Stage {
    pub(crate) server: Server,
    seen: mpsc::Receiver<Seen>,
    _folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.server.mountpoint().join(path)
    }

    pub(crate) fn edit(&self, edits: &[Edit]) {
        self.server.edit(SimTime::ZERO, edits);
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen
            .recv_timeout(LIMIT)
            .expect("the observer must be told in time")
    }

    /// Releases every listing of the anchor that waits now or comes until `work` is done.
    pub(crate) fn gate(&self) -> HoldId {
        match self.seen() {
            Seen::Gate(hold, _) => hold,
            other => panic!("expected a gate, was told {other:?}"),
        }
    }

    pub(crate) fn hung(&self) -> HoldId {
        match self.seen() {
            Seen::Hung(hold, ..) => hold,
            other => panic!("expected a hang, was told {other:?}"),
        }
    }

    pub(crate) fn trace(&self) -> Vec<String> {
        self.server
            .with_fs(|fs| fs.take_trace().iter().map(ToString::to_string).collect())
    }
}

/// Settings of a test's mount.
pub(crate) struct Setting {
    pub(crate) options: Options,
    pub(crate) on_moment: OnMoment,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            options: Options {
                gate: false,
                ..Options::default()
            },
            on_moment: Box::new(|_, _| MomentAnswer::Go),
        }
    }
}

/// Mounts a file system; `None`, with a message, if this machine cannot.
pub(crate) fn fuse_or_skip(fs: Fs, setting: Setting) -> Option<Stage> {
    let folder = tempfile::tempdir().unwrap();
    let (notify, seen) = mpsc::channel();
    let witness = Arc::new(Witness {
        seen: notify,
        on_moment: Mutex::new(setting.on_moment),
    });
    match Server::mount(
        Arc::new(Mutex::new(fs)),
        folder.path(),
        setting.options,
        witness,
    ) {
        Ok(server) => Some(Stage {
            server,
            seen,
            _folder: folder,
        }),
        Err(MountError::Refused { source, .. })
            if std::env::var("NICDRILL_REQUIRE_FUSE").as_deref() != Ok("1") =>
        {
            let _ = writeln!(std::io::stderr(), "skipped: cannot mount: {source}");
            None
        }
        Err(error) => panic!("cannot mount: {error:?}"),
    }
}

pub(crate) fn file(path: &str, text: &str) -> Edit {
    Edit::File {
        path: path.into(),
        value: FileValue::Bytes(text.as_bytes().to_vec()),
    }
}

pub(crate) fn link(path: &str, target: &str) -> Edit {
    Edit::Link {
        path: path.into(),
        target: target.to_owned(),
    }
}

pub(crate) fn remove(path: &str) -> Edit {
    Edit::Remove(TreePath::new(path))
}

/// A device in a class: a folder below `devices`, and a link to it.
pub(crate) fn device(name: &str) -> Vec<Edit> {
    vec![
        file(&format!("devices/{name}/state"), "4: ACTIVE\n"),
        file(&format!("devices/{name}/rate"), "400 Gb/sec (4X NDR)\n"),
        link(&format!("class/{name}"), &format!("../devices/{name}")),
    ]
}

/// Two devices in a class, and a writable folder.
pub(crate) fn two_devices() -> Fs {
    let mut fs = Fs::new();
    fs.alias_folder("class");
    fs.set_writable("var/state");
    fs.set_anchor("class");
    fs.apply(&[device("a"), device("b")].concat());
    fs
}

pub(crate) fn read(path: &Path) -> Result<String, i32> {
    fs::read_to_string(path).map_err(|error| error.raw_os_error().unwrap_or(0))
}

/// The names in a folder, in the order in which they come.
pub(crate) fn list(path: &Path) -> Result<Vec<String>, i32> {
    let errno = |error: std::io::Error| error.raw_os_error().unwrap_or(0);
    let names = fs::read_dir(path).map_err(errno)?;
    names
        .map(|entry| Ok(entry.map_err(errno)?.file_name().into_string().unwrap()))
        .collect()
}

/// The result of a memory client in the same form.
pub(crate) fn in_memory<T>(result: Result<T, Refused>) -> Result<T, i32> {
    result.map_err(|refused| match refused {
        Refused::Errno(Errno(number)) => number,
        other => panic!("expected an outcome, got {other:?}"),
    })
}

/// A child process that is killed when dropped.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn cat(path: &Path) -> Self {
        let child = Command::new("cat")
            .arg(path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Waits for the end of the process; returns whether it succeeded, and its output.
    pub(crate) fn end(mut self) -> (bool, String) {
        let mut text = String::new();
        self.0
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        (self.0.wait().unwrap().success(), text)
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
    }

    pub(crate) fn ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// The time until the process ends.
    pub(crate) fn ends_within(&mut self, limit: Duration) -> Duration {
        let start = Instant::now();
        while !self.ended() {
            assert!(start.elapsed() < limit, "the process still lives");
            std::thread::yield_now();
        }
        start.elapsed()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A path through an open descriptor of this process.
pub(crate) fn below_descriptor(folder: &impl AsRawFd, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd()))
}
