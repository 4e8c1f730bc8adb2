//! How a sandbox is reached from other processes: a socket in a folder that only its user can enter. Start at
//! [`Control::open`] for the sandbox's side and [`ask`] for the other one.
//!
//! A request is one line of JSON, and so is the answer; then the connection ends.

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    os::unix::{
        fs::{DirBuilderExt as _, MetadataExt as _},
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::Duration,
};

use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::SandboxError;

/// The environment variable with the path of the socket, inside a sandbox.
pub const SANDBOX: &str = "NICDRILL_SANDBOX";

/// How long a client of the socket may take to write its request. Chosen.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest request, in bytes. Chosen: a command line has a few hundred.
const REQUEST_BYTES_MAX: u64 = 1 << 20;

/// What is asked of a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// To do a command, as it is typed.
    Do(String),
    /// What was done, as a scenario.
    Save,
    /// The names that a command may have: devices and ports.
    Names,
}

/// What a sandbox answers.
pub type Answer = Result<String, NotDone>;

/// Why a sandbox did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NotDone {
    /// The command is wrong, or cannot be done: the text of the [`SandboxError`].
    #[error("{0}")]
    Refused(String),
    /// There is nothing to undo.
    #[error("nothing was done")]
    NothingToUndo,
    /// It ended meanwhile.
    #[error("the sandbox ended")]
    Ended,
}

impl From<SandboxError> for NotDone {
    fn from(error: SandboxError) -> Self {
        Self::Refused(error.to_string())
    }
}

/// A request of another process, and where its answer goes.
#[derive(Debug)]
pub struct Asked {
    /// The request.
    pub request: Request,
    answer: Sender<Answer>,
}

impl Asked {
    /// Answers. A client that does not wait any more hears nothing.
    pub fn answer(self, answer: Answer) {
        let _ = self.answer.send(answer);
    }
}

/// The socket of a sandbox. It is removed when this is dropped.
#[derive(Debug)]
pub struct Control {
    path: PathBuf,
}

impl Control {
    /// Opens a socket with this name; requests go to `to`.
    ///
    /// # Errors
    /// If the folder is not the user's own, or the socket cannot be made.
    pub fn open(name: &str, to: impl Fn(Asked) -> bool + Send + 'static) -> io::Result<Self> {
        let path = folder()?.join(format!("{name}.sock"));
        let listener = UnixListener::bind(&path)?;
        let serve = move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                let Ok(request) = read(&stream) else { continue };
                let (answer, answered) = channel();
                if !to(Asked { request, answer }) {
                    return;
                }
                // One that cannot be told has gone.
                let _ = tell(stream, &answered);
            }
        };
        thread::Builder::new()
            .name("sandbox-control".to_owned())
            .spawn(serve)?;
        Ok(Self { path })
    }

    /// The path of the socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // It may have been removed by its user.
        let _ = fs::remove_file(&self.path);
    }
}

fn read(stream: &UnixStream) -> io::Result<Request> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(REQUEST_BYTES_MAX)).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

fn tell(mut stream: UnixStream, answer: &Receiver<Answer>) -> io::Result<()> {
    let answer = answer.recv().unwrap_or(Err(NotDone::Ended));
    writeln!(stream, "{}", serde_json::to_string(&answer)?)
}

/// Asks the sandbox at a socket.
///
/// # Errors
/// If nobody listens there.
pub fn ask(socket: &Path, request: &Request) -> io::Result<Answer> {
    let mut stream = UnixStream::connect(socket)?;
    writeln!(stream, "{}", serde_json::to_string(request)?)?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// The sandboxes of this user that run, by name; sockets that a killed one left behind are removed.
///
/// # Errors
/// If the folder is not the user's own.
pub fn running() -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder()?)? {
        let path = entry?.path();
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
            continue;
        };
        match UnixStream::connect(&path) {
            Ok(_) => found.push((name.to_owned(), path.clone())),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                let _ = fs::remove_file(&path);
            }
            Err(_) => {}
        }
    }
    found.sort();
    Ok(found)
}

/// The folder of this user's sockets, which nobody else can enter.
fn folder() -> io::Result<PathBuf> {
    own(env::temp_dir().join(format!("nicdrill-of-{}", user())))
}

/// The folder itself, made if it is missing.
fn own(folder: PathBuf) -> io::Result<PathBuf> {
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let its = fs::symlink_metadata(&folder)?;
    let is_own = its.is_dir() && its.uid() == geteuid().as_raw() && its.mode() & 0o077 == 0;
    if is_own {
        return Ok(folder);
    }
    let text = format!(
        "`{}` is not a folder that only you can enter",
        folder.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

/// The user outside of the namespaces of a stage (`user_namespaces(7)`): there every user is root.
fn user() -> u32 {
    let inside = geteuid().as_raw();
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let outside = map.lines().find_map(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u32>);
        let (first, base, count) = (
            numbers.next()?.ok()?,
            numbers.next()?.ok()?,
            numbers.next()?.ok()?,
        );
        let offset = inside.checked_sub(first).filter(|offset| *offset < count)?;
        base.checked_add(offset)
    });
    outside.unwrap_or(inside)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn the_folder_of_the_sockets_is_its_users_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let path = own(scratch.path().join("new")).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let link = scratch.path().join("link");
        symlink(&path, &link).unwrap();
        let open = scratch.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o711)).unwrap();
        for other in [link, open] {
            let told = own(other).unwrap_err().to_string();
            assert!(
                told.contains("not a folder that only you can enter"),
                "{told}"
            );
        }
    }

    #[test]
    fn a_sandbox_is_found_and_answers_until_it_ends() {
        let name = format!("test-{}", std::process::id());
        let echo = |asked: Asked| {
            let answer = match &asked.request {
                Request::Save => Err(NotDone::Refused("not now".to_owned())),
                request => Ok(format!("{request:?}")),
            };
            asked.answer(answer);
            true
        };
        let control = Control::open(&name, echo).unwrap();
        let is_found = || running().unwrap().iter().any(|(found, _)| *found == name);
        assert!(is_found());
        let answer = ask(control.path(), &Request::Do("cut mlx5_3/1".to_owned()));
        assert_eq!(answer.unwrap(), Ok("Do(\"cut mlx5_3/1\")".to_owned()));
        let refused = ask(control.path(), &Request::Save).unwrap();
        assert_eq!(refused, Err(NotDone::Refused("not now".to_owned())));
        drop(control);
        assert!(!is_found());
    }
}
