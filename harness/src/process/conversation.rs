//! What was spoken on one connection to the connector, for a user whose monitor does not get through.
//!
//! It watches the bytes of both directions as they pass, and changes none: which protocol the client speaks, how many
//! requests it sends, and what the server refuses below the handler. Left out: what the handler answers. Start at
//! [`Conversation::describe`].

use std::{collections::BTreeSet, fmt::Write as _};

use super::authority::{END_STREAM, FRAME_HEADER, Frame, HEADERS, PREFACE};

/// How much of a frame's payload is kept, in bytes. Chosen: an error code and a line of text.
const KEPT: usize = 256;

/// How many refusals of one connection are kept. Chosen.
const REFUSALS: usize = 16;

/// The longest refusal that is kept, in characters. Chosen: a status with a path of usual length.
const REFUSAL_MAX: usize = 300;

/// How many bytes of an opening that is not HTTP/2 are shown. Chosen: a request line.
const SHOWN: usize = 60;

/// What is told of a connection that is ready and on which no call was begun.
pub(super) const NO_REQUEST: &str = "spoke HTTP/2 and sent no request";

/// The word before each thing that was refused on a connection.
pub(super) const REFUSED: &str = "refused: ";

const DATA: u8 = 0x0;
const RST_STREAM: u8 = 0x3;
const SETTINGS: u8 = 0x4;
/// The flag of settings that are acknowledged (RFC 9113, section 6.5).
const ACK: u8 = 0x1;
const GOAWAY: u8 = 0x7;

/// The names of error codes (RFC 9113, section 7), from 0.
const CODES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// One connection.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The first bytes of the client: a preface, or as many as are shown of something else.
    opening: Vec<u8>,
    client: FrameReader,
    server: FrameReader,
    requests: u64,
    /// The stream of the newest request.
    newest: u32,
    /// The streams of requests that are neither answered nor reset.
    open: BTreeSet<u32>,
    /// The most of those at once.
    most_open: usize,
    refusals: Vec<String>,
    /// Whether the client has acknowledged the server's settings.
    settled: bool,
    closed: bool,
}

impl Conversation {
    /// Takes bytes that the client sent.
    pub(super) fn client_sent(&mut self, bytes: &[u8]) {
        let missing = PREFACE.len().saturating_sub(self.opening.len());
        let (opening, rest) = bytes.split_at(missing.min(bytes.len()));
        self.opening.extend_from_slice(opening);
        if self.opening.len() < PREFACE.len() {
            return;
        }
        if !self.is_http2() {
            let room = SHOWN.saturating_sub(self.opening.len());
            self.opening
                .extend_from_slice(&rest[..room.min(rest.len())]);
            return;
        }
        let Self {
            client,
            requests,
            newest,
            open,
            most_open,
            settled,
            ..
        } = self;
        client.read(rest, |frame, _| match frame.kind {
            SETTINGS => *settled |= frame.flags & ACK != 0,
            // Trailers have the stream of their request, and a new request a higher one (RFC 9113, section 5.1.1).
            HEADERS if stream(frame) > *newest => {
                *newest = stream(frame);
                *requests += 1;
                open.insert(*newest);
                *most_open = open.len().max(*most_open);
            }
            RST_STREAM => {
                open.remove(&stream(frame));
            }
            _ => {}
        });
    }

    /// Takes bytes that the server sent.
    pub(super) fn server_sent(&mut self, bytes: &[u8]) {
        let mut refusals = Vec::new();
        let Self { server, open, .. } = self;
        server.read(bytes, |frame, payload| {
            let ends = [HEADERS, DATA].contains(&frame.kind) && frame.flags & END_STREAM != 0;
            if ends || frame.kind == RST_STREAM {
                open.remove(&stream(frame));
            }
            refusals.extend(refusal(frame.kind, payload));
        });
        refusals.into_iter().for_each(|what| self.refuse(what));
    }

    /// Whether the client can send requests: it has the server's settings, and the connection is open.
    pub(super) fn is_ready(&self) -> bool {
        self.settled && !self.closed
    }

    /// The client has closed its side.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Keeps a refusal.
    pub(super) fn refuse(&mut self, mut what: String) {
        if let Some((end, _)) = what.char_indices().nth(REFUSAL_MAX) {
            what.truncate(end);
            what.push('…');
        }
        if self.refusals.len() < REFUSALS {
            self.refusals.push(what);
        }
    }

    /// How many requests have no whole answer that was sent, and are not reset.
    pub(super) fn open_requests(&self) -> usize {
        self.open.len()
    }

    /// The most of them at once, with those that were refused for it.
    pub(super) fn most_open_requests(&self) -> usize {
        self.most_open
    }

    /// What was spoken, as half a sentence whose subject is the connection.
    pub(super) fn describe(&self) -> String {
        let mut text = match (self.opening.as_slice(), self.requests) {
            ([], _) => "sent nothing".to_owned(),
            (opening, _) if is_http1(opening) => format!(
                "spoke HTTP/1.1 (`{}`); refused: gRPC is spoken over HTTP/2",
                first_line(opening)
            ),
            // A handshake record of TLS (RFC 8446, section 5.1).
            ([0x16, 0x03, ..], _) => {
                "spoke TLS; refused: the connector has none, use an insecure channel".to_owned()
            }
            (opening, _) if !self.is_http2() => {
                format!(
                    "sent `{}`; refused: this is not HTTP/2",
                    first_line(opening)
                )
            }
            (_, 0) => NO_REQUEST.to_owned(),
            (_, 1) => "spoke HTTP/2: 1 request".to_owned(),
            (_, requests) => format!("spoke HTTP/2: {requests} requests"),
        };
        match (self.requests, self.open.len()) {
            _ if !self.closed => {}
            (0, _) => text.push_str("; it was closed by the client"),
            (_, 0) => {}
            (_, 1) => text.push_str("; the client closed it before 1 answer"),
            (_, open) => write!(text, "; the client closed it before {open} answers")
                .expect("writing to a string cannot fail"),
        }
        for what in &self.refusals {
            write!(text, "; {REFUSED}{what}").expect("writing to a string cannot fail");
        }
        text
    }

    fn is_http2(&self) -> bool {
        let come = self.opening.len().min(PREFACE.len());
        self.opening[..come] == PREFACE[..come]
    }
}

/// The stream of a frame, without the reserved bit.
fn stream(frame: &Frame) -> u32 {
    u32::from_be_bytes(frame.stream) & 0x7fff_ffff
}

/// What a frame of the server refuses. NO_ERROR and CANCEL refuse nothing: h2 sends them for streams whose answer
/// is complete, or that the client has left.
fn refusal(kind: u8, payload: &[u8]) -> Option<String> {
    let (what, code, text) = match kind {
        RST_STREAM => ("a request, by RST_STREAM", payload.first_chunk()?, &[][..]),
        GOAWAY => {
            let (_, rest) = payload.split_first_chunk::<4>()?;
            let (code, text) = rest.split_first_chunk()?;
            ("the connection, by GOAWAY", code, text)
        }
        _ => return None,
    };
    let code = usize::try_from(u32::from_be_bytes(*code)).ok()?;
    let name = CODES.get(code).copied().unwrap_or("an unknown code");
    if ["NO_ERROR", "CANCEL"].contains(&name) {
        return None;
    }
    let text = match String::from_utf8_lossy(text).trim() {
        "" => String::new(),
        text => format!(" ({text})"),
    };
    Some(format!("{what} {name}{text}"))
}

fn is_http1(opening: &[u8]) -> bool {
    let methods = ["GET ", "POST ", "PUT ", "HEAD ", "OPTIONS ", "CONNECT "];
    methods
        .iter()
        .any(|method| opening.starts_with(method.as_bytes()))
}

fn first_line(bytes: &[u8]) -> String {
    let line = bytes.split(|byte| b"\r\n".contains(byte)).next();
    let line = line.unwrap_or_default();
    line[..line.len().min(SHOWN)].escape_ascii().to_string()
}

/// Reads frames in pieces of any length.
#[derive(Debug, Default)]
struct FrameReader {
    /// The header of the present frame, as far as it has come, and then what is kept of its payload.
    bytes: Vec<u8>,
    /// How many bytes of the payload are still to come, once the header is complete.
    to_come: Option<usize>,
}

impl FrameReader {
    fn read(&mut self, mut bytes: &[u8], mut each: impl FnMut(&Frame, &[u8])) {
        while !bytes.is_empty() || self.to_come == Some(0) {
            let Some(to_come) = self.to_come else {
                let missing = FRAME_HEADER - self.bytes.len();
                let (head, rest) = bytes.split_at(missing.min(bytes.len()));
                self.bytes.extend_from_slice(head);
                self.to_come = Frame::read(&self.bytes).map(|frame| frame.len);
                bytes = rest;
                continue;
            };
            let (payload, rest) = bytes.split_at(to_come.min(bytes.len()));
            let room = (FRAME_HEADER + KEPT).saturating_sub(self.bytes.len());
            self.bytes
                .extend_from_slice(&payload[..room.min(payload.len())]);
            self.to_come = Some(to_come - payload.len());
            bytes = rest;
            if self.to_come == Some(0) {
                let frame = Frame::read(&self.bytes).expect("its header is complete");
                each(&frame, &self.bytes[FRAME_HEADER..]);
                self.bytes.clear();
                self.to_come = None;
            }
        }
    }
}

#[cfg(test)]
mod tests;
