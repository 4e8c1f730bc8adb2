//! Reads files without waiting for one longer than the limit.
//!
//! A separate thread carries out a batch, one request after the other. If a request takes longer
//! than the limit, its thread is left blocked in it, its path counts as *timed out* until the
//! request returns, and a new thread continues with the rest. So at most one read per path is
//! outstanding.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::mem::MaybeUninit;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use checks::{Answer, ReadError, Request};
use rustix::fs::{Mode, OFlags, RawDir, open};
use rustix::io::Errno;

use crate::stop::Stop;

/// The size of a page in bytes: the maximum length of a sysfs attribute.
const PAGE_BYTES: usize = 4096;
/// Stack size: enough for a read and a listing, so that blocked threads cost little.
const STACK_BYTES: usize = 64 * 1024;
/// The listing that begins a poll may take this many times the limit: without it the poll cannot
/// continue, so an early timeout gains nothing.
const ANCHOR_LIMITS: u32 = 5;
/// How often, at least, the signal to stop is checked while waiting.
const STOP_CHECK: Duration = Duration::from_millis(100);

type Fetched = Result<Answer, ReadError>;

/// A batch in progress.
#[derive(Debug)]
struct Batch {
    requests: Vec<Request>,
    progress: Mutex<Progress>,
    is_done: Condvar,
}

#[derive(Debug)]
struct Progress {
    answers: Vec<Fetched>,
    /// When the current request began.
    began: Instant,
    /// Left to its thread; its answers are no longer waited for.
    abandoned: bool,
}

/// Paths with a read that has not returned, with the number of threads that are blocked in each.
#[derive(Debug, Default)]
struct Hung(Mutex<BTreeMap<String, u32>>);

/// Carries out batches of requests.
#[derive(Debug)]
pub(crate) struct Reader {
    limit: Duration,
    stop: Stop,
    /// The folder whose listing begins a poll, as soon as it is known.
    anchor: Option<String>,
    hung: Arc<Hung>,
    worker: Mutex<Option<Sender<Arc<Batch>>>>,
}

impl Reader {
    pub(crate) fn new(limit: Duration, stop: Stop) -> Reader {
        Reader {
            limit,
            stop,
            anchor: None,
            hung: Arc::default(),
            worker: Mutex::new(None),
        }
    }

    /// Sets the folder whose listing begins a poll.
    pub(crate) fn begin_polls_at(&mut self, anchor: &str) {
        self.anchor = Some(anchor.to_owned());
    }

    fn limit(&self, requests: &[Request]) -> Duration {
        match requests {
            [Request::List(path)] if self.anchor.as_ref() == Some(path) => {
                self.limit * ANCHOR_LIMITS
            }
            _ => self.limit,
        }
    }

    /// One answer for each request, in order.
    pub(crate) fn fetch(&self, requests: &[Request]) -> Vec<Fetched> {
        let hung = self.hung.paths();
        let mut answers = Vec::with_capacity(requests.len());
        let mut rest = requests;
        while let Some(first) = rest.first() {
            if hung.contains(first.path()) {
                answers.push(Err(ReadError::TimedOut));
                rest = &rest[1..];
                continue;
            }
            let is_hung = |request: &Request| hung.contains(request.path());
            let end = rest.iter().position(is_hung).unwrap_or(rest.len());
            let (free, after) = rest.split_at(end);
            let before = answers.len();
            answers.extend(self.fetch_free(free));
            let done = answers.len() - before;
            rest = if done == free.len() {
                after
            } else {
                &rest[done..]
            };
        }
        answers
    }

    /// Answers up to and including the first request that times out.
    fn fetch_free(&self, requests: &[Request]) -> Vec<Fetched> {
        let batch = Arc::new(Batch {
            requests: requests.to_vec(),
            progress: Mutex::new(Progress {
                answers: Vec::with_capacity(requests.len()),
                began: Instant::now(),
                abandoned: false,
            }),
            is_done: Condvar::new(),
        });
        if !self.hand_over(&batch) {
            // No thread could be created: nothing was read.
            const EAGAIN: i32 = 11;
            return vec![Err(ReadError::Errno(EAGAIN)); requests.len()];
        }
        let limit = self.limit(requests);
        let mut progress = lock(&batch.progress);
        loop {
            if progress.answers.len() == requests.len() {
                return std::mem::take(&mut progress.answers);
            }
            let spent = progress.began.elapsed();
            if spent >= limit || self.stop.is_asked() {
                break;
            }
            let wait = (limit - spent).min(STOP_CHECK);
            let woken = batch.is_done.wait_timeout(progress, wait);
            progress = woken.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        progress.abandoned = true;
        let mut answers = std::mem::take(&mut progress.answers);
        if let Some(request) = requests.get(answers.len()) {
            self.hung.add(request.path());
        }
        answers.push(Err(ReadError::TimedOut));
        *lock(&self.worker) = None;
        if self.stop.is_asked() {
            answers.resize(requests.len(), Err(ReadError::TimedOut));
        }
        answers
    }

    /// Gives the batch to an idle thread, or to a new one.
    fn hand_over(&self, batch: &Arc<Batch>) -> bool {
        let mut worker = lock(&self.worker);
        if let Some(sender) = &*worker
            && sender.send(Arc::clone(batch)).is_ok()
        {
            return true;
        }
        let (sender, batches) = mpsc::channel::<Arc<Batch>>();
        let hung = Arc::clone(&self.hung);
        let started = thread::Builder::new()
            .name("reader".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                for batch in batches {
                    if !carry_out(&batch, &hung) {
                        return;
                    }
                }
            });
        if started.is_err() || sender.send(Arc::clone(batch)).is_err() {
            return false;
        }
        *worker = Some(sender);
        true
    }
}

impl Hung {
    fn paths(&self) -> BTreeSet<String> {
        lock(&self.0).keys().cloned().collect()
    }

    fn add(&self, path: &str) {
        *lock(&self.0).entry(path.to_owned()).or_default() += 1;
    }

    fn remove(&self, path: &str) {
        let mut paths = lock(&self.0);
        if let Some(count) = paths.get_mut(path) {
            *count -= 1;
            if *count == 0 {
                paths.remove(path);
            }
        }
    }
}

/// Carries out a batch; returns `false` if the batch was abandoned, and with it this thread.
fn carry_out(batch: &Batch, hung: &Hung) -> bool {
    for request in &batch.requests {
        let answer = fetch_one(request);
        let mut progress = lock(&batch.progress);
        if progress.abandoned {
            hung.remove(request.path());
            return false;
        }
        progress.answers.push(answer);
        progress.began = Instant::now();
    }
    batch.is_done.notify_one();
    true
}

fn fetch_one(request: &Request) -> Fetched {
    let answer = match request {
        Request::List(path) => names_in(path).map(Answer::Names),
        Request::Read(path) => read(path).map(Answer::Bytes),
        Request::ReadLink(path) => {
            fs::read_link(path).map(|target| Answer::Target(target.to_string_lossy().into_owned()))
        }
    };
    answer.map_err(|error| error_of(&error))
}

/// The names in a folder, in the kernel's order, without `.` and `..`.
///
/// Without the `fstat` of `opendir(3)`, and as with a file without a further call only to find the end: sysfs fills the
/// space that it is given (`kernfs_fop_readdir`, `fs/kernfs/dir.c`), and FUSE at least a page of it (`fuse_readdir_uncached`,
/// `fs/fuse/readdir.c`). So names that take less than half a page are the last ones.
fn names_in(path: &str) -> io::Result<Vec<String>> {
    let folder = open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut space = [MaybeUninit::<u8>::uninit(); 2 * PAGE_BYTES];
    let mut entries = RawDir::new(folder, &mut space);
    let mut names = Vec::new();
    let mut taken = 0;
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Err(Errno::INTR) => continue,
            entry => entry?,
        };
        let name = entry.file_name().to_bytes();
        taken += size_in_listing(name.len());
        if !matches!(name, b"." | b"..") {
            names.push(String::from_utf8_lossy(name).into_owned());
        }
        if entries.is_buffer_empty() {
            if taken < PAGE_BYTES / 2 {
                break;
            }
            taken = 0;
        }
    }
    Ok(names)
}

/// How many bytes a name of this length takes in a listing (`getdents(2)`, `struct linux_dirent64`).
fn size_in_listing(name: usize) -> usize {
    const HEAD: usize = 19;
    (HEAD + name + 1).next_multiple_of(8)
}

/// A whole file. A sysfs attribute is returned whole by the first read. A file of records leaves
/// less space than one record needs before its end (`seq_read_iter`, `fs/seq_file.c`), so if half a
/// page is left free, that is the end too; one more read only to find the end would cost as much as
/// the first.
fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut page = [0_u8; PAGE_BYTES];
    let mut bytes = Vec::new();
    loop {
        match file.read(&mut page) {
            Ok(count) => {
                bytes.extend_from_slice(&page[..count]);
                if count < PAGE_BYTES / 2 {
                    return Ok(bytes);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The kernel's number of an error; `EIO` for an error without one.
pub(crate) fn error_of(error: &io::Error) -> ReadError {
    error
        .raw_os_error()
        .map_or(ReadError::EIO, ReadError::Errno)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn reader(limit: Duration) -> Reader {
        Reader::new(limit, Stop::default())
    }

    #[test]
    fn answers_come_in_order_with_the_kernels_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| format!("{}/{name}", folder.path().display());
        fs::write(path("state"), "4: ACTIVE\n").unwrap();
        std::os::unix::fs::symlink("../devices/x", path("link")).unwrap();
        let answers = reader(Duration::from_secs(5)).fetch(&[
            Request::Read(path("state")),
            Request::ReadLink(path("link")),
            Request::ReadLink(path("state")),
            Request::Read(path("absent")),
            Request::List(path("state")),
            Request::List(path("")),
        ]);
        assert_eq!(answers[0], Ok(Answer::Bytes(b"4: ACTIVE\n".to_vec())));
        assert_eq!(answers[1], Ok(Answer::Target("../devices/x".to_owned())));
        assert_eq!(answers[2], Err(ReadError::EINVAL));
        assert_eq!(answers[3], Err(ReadError::ENOENT));
        assert_eq!(answers[4], Err(ReadError::ENOTDIR));
        let Ok(Answer::Names(mut names)) = answers[5].clone() else {
            panic!("a listing");
        };
        names.sort();
        assert_eq!(names, ["link", "state"]);
    }

    #[test]
    fn a_long_file_comes_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = format!("{}/long", folder.path().display());
        let long = "x".repeat(3 * PAGE_BYTES + 7);
        fs::write(&path, &long).unwrap();
        assert_eq!(read(&path).unwrap(), long.into_bytes());
    }

    #[test]
    fn a_long_listing_comes_whole() {
        let folder = tempfile::tempdir().unwrap();
        // Up to 7 pages, so that the last names begin at many places of the space for them.
        for last in 0..1000 {
            let name = format!("{last}-{}", "x".repeat(last % 7));
            fs::write(folder.path().join(name), "").unwrap();
            if last % 50 == 0 {
                let path = folder.path().display().to_string();
                assert_eq!(names_in(&path).unwrap().len(), last + 1);
            }
        }
    }

    /// A FIFO without a writer blocks in `open`, as a file of a dying device blocks in `read`.
    #[test]
    fn a_path_that_hangs_is_asked_once_until_it_answers() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| format!("{}/{name}", folder.path().display());
        let fifo = path("fifo");
        rustix::fs::mkfifoat(rustix::fs::CWD, fifo.as_str(), Mode::RWXU).unwrap();
        fs::write(path("file"), "x").unwrap();
        let reader = reader(Duration::from_millis(50));
        let requests = [
            Request::Read(path("file")),
            Request::Read(path("fifo")),
            Request::Read(path("file")),
            Request::Read(path("fifo")),
        ];
        let file = || Ok(Answer::Bytes(b"x".to_vec()));
        let hung = || Err(ReadError::TimedOut);
        assert_eq!(reader.fetch(&requests), [file(), hung(), file(), hung()]);
        let began = Instant::now();
        assert_eq!(reader.fetch(&requests), [file(), hung(), file(), hung()]);
        assert!(
            began.elapsed() < Duration::from_millis(50),
            "not asked again"
        );

        let mut writer = File::options().write(true).open(path("fifo")).unwrap();
        writer.write_all(b"late").unwrap();
        drop(writer);
        while !reader.hung.paths().is_empty() {
            thread::yield_now();
        }
        assert_eq!(reader.fetch(&requests[..1]), [file()]);
        assert_eq!(reader.fetch(&requests[1..2]), [hung()], "asked anew");
        drop(File::options().write(true).open(path("fifo")).unwrap());
    }
}
