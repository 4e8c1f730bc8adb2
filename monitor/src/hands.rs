//! Implements the agent's reads and clocks with real files.

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
