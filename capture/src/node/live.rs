//! A root folder on disk, with a time limit on every read.
//!
//! A read of sysfs that hangs in the kernel cannot be ended from outside. Its thread is abandoned
//! and replaced, and the file counts as unreadable.

use std::{
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

use super::{Guest, Unread};

/// The largest number of bytes read from one file: sysfs returns a page, a route table can be
/// longer.
const MOST_BYTES: u64 = 1024 * 1024;

/// A node's file system below a folder.
#[derive(Debug)]
pub struct LiveRoot {
    root: PathBuf,
    limit: Duration,
    worker: Option<Worker>,
}

#[derive(Debug)]
struct Worker {
    asks: Sender<PathBuf>,
    answers: Receiver<io::Result<Vec<u8>>>,
}

impl LiveRoot {
    /// The node below `root`; no read takes longer than `limit`.
    #[must_use]
    pub fn new(root: &Path, limit: Duration) -> Self {
        Self {
            root: root.to_owned(),
            limit,
            worker: None,
        }
    }

    fn bounded(&mut self, path: PathBuf) -> io::Result<Vec<u8>> {
        let worker = self.worker.take().unwrap_or_else(Worker::start);
        worker
            .asks
            .send(path)
            .map_err(|_| io::Error::other("the reading thread has ended"))?;
        match worker.answers.recv_timeout(self.limit) {
            Ok(answer) => {
                self.worker = Some(worker);
                answer
            }
            Err(RecvTimeoutError::Timeout) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no answer within {} ms", self.limit.as_millis()),
            )),
            Err(RecvTimeoutError::Disconnected) => {
                Err(io::Error::other("the reading thread has ended"))
            }
        }
    }
}

impl Worker {
    fn start() -> Self {
        let (asks, asked) = channel::<PathBuf>();
        let (answer, answers) = channel();
        thread::spawn(move || {
            for path in asked {
                if answer.send(read(&path)).is_err() {
                    break;
                }
            }
        });
        Self { asks, answers }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?
        .take(MOST_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

fn answered<T>(answer: io::Result<T>) -> Option<Result<T, Unread>> {
    match answer {
        Ok(answer) => Some(Ok(answer)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(Unread {
            cause: error.to_string(),
            errno: error.raw_os_error().map(simfs::Errno),
        })),
    }
}

impl Guest for LiveRoot {
    fn list(&mut self, folder: &str) -> Option<Result<Vec<String>, Unread>> {
        answered(names(&self.root.join(folder)))
    }

    fn read(&mut self, file: &str) -> Option<Result<String, Unread>> {
        let read = self.bounded(self.root.join(file));
        answered(read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn link(&mut self, path: &str) -> Option<String> {
        let target = fs::read_link(self.root.join(path)).ok()?;
        target.into_os_string().into_string().ok()
    }
}
