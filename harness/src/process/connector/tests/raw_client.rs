//! A gRPC client that speaks frames, so that a test chooses each byte and when the connection ends.

use std::{
    io::{Read as _, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
pub(super) const METHOD: &str = "/datamodels.PlatformConnector/HealthEventOccurredV1";

/// How long an answer may take before a test fails. Chosen: far more than a busy machine needs.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest frame that every server accepts (RFC 9113, section 4.2).
const FRAME_MAX: usize = 16_384;

const END_STREAM: u8 = 1;
const ACK: u8 = 1;

/// The window that every stream and connection begins with (RFC 9113, section 6.9.2).
const FIRST_WINDOW: i64 = 65_535;

/// A literal field without indexing, both strings shorter than 127 bytes (RFC 7541, section 6.2.2).
fn field(name: &str, value: &str) -> Vec<u8> {
    let len = |text: &str| u8::try_from(text.len()).expect("a short text");
    [
        &[0, len(name)],
        name.as_bytes(),
        &[len(value)],
        value.as_bytes(),
    ]
    .concat()
}

/// A frame of a stream, or of the connection (RFC 9113, section 4.1).
pub(super) fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    assert!(payload.len() <= FRAME_MAX);
    let len = u32::try_from(payload.len()).expect("it is short");
    let head = [kind, flags, 0, 0, 0, stream];
    [&len.to_be_bytes()[1..], &head, payload].concat()
}

/// A request up to its message.
pub(super) fn request(stream: u8, authority: &str, path: &str) -> Vec<u8> {
    let block = [
        field(":method", "POST"),
        field(":scheme", "http"),
        field(":path", path),
        field(":authority", authority),
        field("content-type", "application/grpc"),
        field("te", "trailers"),
    ];
    frame(1, 4, stream, &block.concat())
}

/// A message of gRPC (gRPC over HTTP2, Length-Prefixed-Message).
pub(super) fn message(bytes: &[u8]) -> Vec<u8> {
    let len = u32::try_from(bytes.len()).expect("a short message");
    [&[0], len.to_be_bytes().as_slice(), bytes].concat()
}

/// The end of a request with this message.
pub(super) fn end(stream: u8, bytes: &[u8]) -> Vec<u8> {
    frame(0, END_STREAM, stream, &message(bytes))
}

/// The start of a connection.
pub(super) fn opened() -> Vec<u8> {
    [PREFACE, &frame(4, 0, 0, &[])].concat()
}

/// A whole call with an empty batch, on a connection of its own.
pub(super) fn one_call(authority: &str) -> Vec<u8> {
    [opened(), request(1, authority, METHOD), end(1, &[])].concat()
}

pub(super) struct RawClient {
    stream: UnixStream,
    decoder: loona_hpack::Decoder<'static>,
    /// How many bytes of data may still be sent on stream 1, and on the connection.
    windows: [i64; 2],
    /// The window with which a stream begins.
    first_window: i64,
}

/// What ends a call or a connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Got {
    /// The status of a call.
    Status { stream: u8, status: String },
    /// A stream was reset with this code.
    Reset(u32),
    /// The server has closed the connection.
    Closed,
}

impl RawClient {
    pub(super) fn connect(path: &Path) -> Self {
        let stream = UnixStream::connect(path).expect("it listens");
        let bounded = stream.set_read_timeout(Some(PATIENCE));
        bounded.expect("a socket has a timeout");
        Self {
            stream,
            decoder: loona_hpack::Decoder::new(),
            windows: [FIRST_WINDOW; 2],
            first_window: FIRST_WINDOW,
        }
    }

    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("it reads");
    }

    /// Closes a side of the connection, or both.
    pub(super) fn close(&self, how: Shutdown) {
        self.stream.shutdown(how).expect("it is open");
    }

    /// Reads up to the end of a call, or of the connection.
    pub(super) fn next(&mut self) -> Got {
        loop {
            if let Some(got) = self.frame() {
                return got;
            }
        }
    }

    /// The status of the next call that ends.
    pub(super) fn status(&mut self) -> (u8, String) {
        match self.next() {
            Got::Status { stream, status } => (stream, status),
            other => panic!("the call was not answered: {other:?}"),
        }
    }

    /// What ends until the server closes the connection.
    pub(super) fn rest(&mut self) -> Vec<Got> {
        let mut all = Vec::new();
        while all.last() != Some(&Got::Closed) {
            all.push(self.next());
        }
        all
    }

    /// Sends data on stream 1 as far as the windows allow, and waits for more room in between.
    pub(super) fn send_data(&mut self, data: &[u8]) {
        let mut pieces = data.chunks(FRAME_MAX).peekable();
        while let Some(piece) = pieces.next() {
            let len = i64::try_from(piece.len()).expect("it fits");
            while self.windows.iter().any(|window| *window < len) {
                assert_eq!(self.frame(), None, "the call ended early");
            }
            self.windows = self.windows.map(|window| window - len);
            let ends = if pieces.peek().is_none() {
                END_STREAM
            } else {
                0
            };
            self.send(&frame(0, ends, 1, piece));
        }
    }

    fn frame(&mut self) -> Option<Got> {
        let mut head = [0; 9];
        if let Err(error) = self.stream.read_exact(&mut head) {
            assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "no answer");
            return Some(Got::Closed);
        }
        let len = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(len).expect("it fits")];
        let read = self.stream.read_exact(&mut payload);
        read.expect("a whole frame");
        let (kind, flags, stream) = (head[3], head[4], head[8]);
        let number = || u32::from_be_bytes(*payload.first_chunk().expect("a number"));
        match kind {
            1 => {
                let fields = self.decoder.decode(&payload).expect("a block of RFC 7541");
                let mut fields = fields.into_iter();
                let (_, status) = fields.find(|(name, _)| name == b"grpc-status")?;
                let status = String::from_utf8(status).expect("text");
                return Some(Got::Status { stream, status });
            }
            3 => return Some(Got::Reset(number())),
            4 if flags & ACK == 0 => self.settings(&payload),
            8 => self.windows[usize::from(stream == 0)] += i64::from(number()),
            _ => {}
        }
        None
    }

    /// Obeys and acknowledges the server's settings. A changed SETTINGS_INITIAL_WINDOW_SIZE moves the windows of
    /// open streams by the difference (RFC 9113, section 6.9.2).
    fn settings(&mut self, payload: &[u8]) {
        for setting in payload.chunks(6) {
            if let [0, 4, value @ ..] = setting {
                let value = u32::from_be_bytes(*value.first_chunk().expect("a value"));
                self.windows[0] += i64::from(value) - self.first_window;
                self.first_window = i64::from(value);
            }
        }
        // A server that has given up reads it no more.
        let _ = self.stream.write_all(&frame(4, ACK, 0, &[]));
    }
}
