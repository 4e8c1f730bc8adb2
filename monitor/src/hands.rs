//! Implements the agent's reads and clocks with real files.

use std::cell::Cell;
use std::time::Instant;

use checks::{Answer, Clocks, Hands, ReadError, Request, Settings};

use crate::clock;
use crate::reader::Reader;
use crate::stop::Stop;

/// Reads real files, each within `--read-timeout`.
#[derive(Debug)]
pub struct FileHands {
    reader: Reader,
    clock_path: Option<String>,
}

impl FileHands {
    /// Reads as the settings say, without a signal that interrupts them.
    #[must_use]
    pub fn new(settings: &Settings) -> FileHands {
        FileHands::until(settings, Stop::default())
    }

    pub(crate) fn until(settings: &Settings, stop: Stop) -> FileHands {
        FileHands {
            reader: Reader::new(settings.read_timeout, stop),
            clock_path: settings.paths.clock.clone(),
        }
    }

    /// Sets the folder whose listing begins a poll; it gets more time than a file.
    pub(crate) fn begin_polls_at(&mut self, anchor: &str) {
        self.reader.begin_polls_at(anchor);
    }

    /// Reads one whole file.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        match self.reader.fetch(&[Request::Read(path.to_owned())]).pop() {
            Some(Ok(Answer::Bytes(bytes))) => Ok(bytes),
            Some(Err(error)) => Err(error),
            _ => Err(ReadError::EIO),
        }
    }
}

impl Hands for FileHands {
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Answer, ReadError>> {
        self.reader.fetch(requests)
    }

    fn clocks(&self) -> Result<Clocks, ReadError> {
        match &self.clock_path {
            None => Ok(clock::system()),
            Some(path) => clock::parse(&self.read(path)?),
        }
    }
}

/// The hands of one poll, which note when it read the clocks.
#[derive(Debug)]
pub(crate) struct PollHands<'h> {
    hands: &'h FileHands,
    clocks_read: Cell<Instant>,
}

impl PollHands<'_> {
    /// Begins a poll.
    pub(crate) fn new(hands: &FileHands) -> PollHands<'_> {
        PollHands {
            hands,
            clocks_read: Cell::new(Instant::now()),
        }
    }

    /// When the clocks were read, just afterwards; the poll's beginning if they were not.
    pub(crate) fn clocks_read(&self) -> Instant {
        self.clocks_read.get()
    }
}

impl Hands for PollHands<'_> {
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Answer, ReadError>> {
        self.hands.fetch(requests)
    }

    fn clocks(&self) -> Result<Clocks, ReadError> {
        let clocks = self.hands.clocks()?;
        self.clocks_read.set(Instant::now());
        Ok(clocks)
    }
}
