//! Lets gRPC clients connect whose `:authority` is not a lawful one.
//!
//! On a unix socket, grpc-core from 1.57 on (Python, C++, Ruby, PHP) sends the percent-encoded path of the socket as
//! `:authority`, and grpc-java sends the path. Neither is an authority of RFC 3986, section 3.2, and h2 answers such a
//! request with RST_STREAM before any handler. This filter stands in front of h2, on the way from the client to the
//! server, and replaces such an authority by `localhost`.
//!
//! The first header block decides. If its authority is lawful, or missing, the connection passes verbatim from then on.
//! Otherwise each header block is decoded (RFC 7541) and written back as literals without indexing, which need no
//! encoder state. All other frames pass verbatim. What is not HTTP/2 passes verbatim too, so that h2 answers it.
//!
//! The filter performs no I/O: bytes in, bytes out. Start at [`AuthorityFilter::pass`].

use std::borrow::Cow;

use hyper::http::uri::Authority;
use loona_hpack::Decoder;

/// The client's connection preface (RFC 9113, section 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The length of a frame's header in bytes (RFC 9113, section 4.1).
pub(super) const FRAME_HEADER: usize = 9;

/// The longest frame that is written: what every server accepts (RFC 9113, section 4.2).
const FRAME_MAX: usize = 16_384;

/// The longest header block that is kept, with the headers of its frames, and the longest list of fields that it may
/// decode to, in bytes. Chosen: several times what gRPC libraries send.
const BLOCK_MAX: usize = 65_536;

/// The size of the decoder's table that h2 grants unless it says otherwise (RFC 9113, section 6.5.2).
const TABLE_SIZE: usize = 4_096;

pub(super) const HEADERS: u8 = 0x1;
const CONTINUATION: u8 = 0x9;

pub(super) const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// The fields of a header block: name and value.
type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// Why a connection cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Malformed {
    /// The frames of a header block are not as RFC 9113, sections 6.2 and 6.10, have them.
    #[error("malformed frames of a header block")]
    Frames,
    /// The block is not one of RFC 7541, or is too long.
    #[error("malformed or oversized header block")]
    Block,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The preface is not complete.
    Preface,
    /// The first header block has not come.
    Undecided,
    /// Header blocks are written anew.
    Rewriting,
    /// Everything passes as it is.
    Verbatim,
}

/// The filter of one connection.
pub(super) struct AuthorityFilter {
    stage: Stage,
    decoder: Decoder<'static>,
    /// Bytes that have come and not passed: the start of a preface, of a frame's header, or of a header block.
    pending: Vec<u8>,
    /// How many bytes of the present frame still pass.
    passing: usize,
}

impl Default for AuthorityFilter {
    fn default() -> Self {
        let mut decoder = Decoder::new();
        decoder.set_max_allowed_table_size(TABLE_SIZE);
        Self {
            stage: Stage::Preface,
            decoder,
            pending: Vec::new(),
            passing: 0,
        }
    }
}

impl AuthorityFilter {
    /// Whether everything passes as it is from now on.
    pub(super) fn is_verbatim(&self) -> bool {
        self.stage == Stage::Verbatim
    }

    /// Takes bytes of the client, in pieces of any length, and appends to `out` what the server gets.
    ///
    /// # Errors
    /// [`Malformed`] if a header block that would be written anew cannot be read. The connection is then over.
    pub(super) fn pass(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
        self.pending.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_slice();
        while let Some(taken) = self.step(rest, out)? {
            rest = &rest[taken..];
        }
        self.pending = rest.to_vec();
        Ok(())
    }

    /// How many of the bytes were taken; `None` if more are needed.
    fn step(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Option<usize>, Malformed> {
        if bytes.is_empty() {
            return Ok(None);
        }
        if self.stage == Stage::Verbatim {
            out.extend_from_slice(bytes);
            return Ok(Some(bytes.len()));
        }
        if self.stage == Stage::Preface {
            let come = bytes.len().min(PREFACE.len());
            if bytes[..come] != PREFACE[..come] {
                self.stage = Stage::Verbatim;
                return Ok(Some(0));
            }
            if come < PREFACE.len() {
                return Ok(None);
            }
            self.stage = Stage::Undecided;
            out.extend_from_slice(PREFACE);
            return Ok(Some(PREFACE.len()));
        }
        if self.passing > 0 {
            let passing = self.passing.min(bytes.len());
            out.extend_from_slice(&bytes[..passing]);
            self.passing -= passing;
            return Ok(Some(passing));
        }
        let Some(frame) = Frame::read(bytes) else {
            return Ok(None);
        };
        if frame.kind != HEADERS {
            self.passing = FRAME_HEADER + frame.len;
            return Ok(Some(0));
        }
        match Block::read(bytes).and_then(|block| self.block(block, out)) {
            Err(_) if self.stage == Stage::Undecided => {
                self.stage = Stage::Verbatim;
                Ok(Some(0))
            }
            done => done,
        }
    }

    fn block(
        &mut self,
        block: Option<Block>,
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, Malformed> {
        let Some(block) = block else {
            return Ok(None);
        };
        let mut fields = self.decode(&block.fragment)?;
        let unlawful = |(name, value): &(Vec<u8>, Vec<u8>)| {
            name == b":authority" && Authority::try_from(value.as_slice()).is_err()
        };
        if self.stage == Stage::Undecided {
            if !fields.iter().any(unlawful) {
                self.stage = Stage::Verbatim;
                return Ok(Some(0));
            }
            self.stage = Stage::Rewriting;
        }
        for field in fields.iter_mut().filter(|field| unlawful(field)) {
            field.1 = b"localhost".to_vec();
        }
        block.write(&fields, out);
        Ok(Some(block.taken))
    }

    /// The fields of a block.
    fn decode(&mut self, fragment: &[u8]) -> Result<Fields, Malformed> {
        let mut fields = Fields::new();
        let mut size = 0_usize;
        let keep = |name: Cow<'_, [u8]>, value: Cow<'_, [u8]>| {
            size = size.saturating_add(name.len() + value.len());
            if size <= BLOCK_MAX {
                fields.push((name.into_owned(), value.into_owned()));
            }
        };
        self.decoder
            .decode_with_cb(fragment, keep)
            .map_err(|_| Malformed::Block)?;
        if size > BLOCK_MAX {
            return Err(Malformed::Block);
        }
        Ok(fields)
    }
}

/// A frame's header.
pub(super) struct Frame {
    /// The length of its payload in bytes.
    pub(super) len: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: [u8; 4],
}

impl Frame {
    /// `None` if it is not complete.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, kind, flags, stream @ ..] = bytes.first_chunk::<FRAME_HEADER>()?;
        let len = u32::from_be_bytes([0, *a, *b, *c]);
        Some(Self {
            len: usize::try_from(len).ok()?,
            kind: *kind,
            flags: *flags,
            stream: *stream,
        })
    }

    pub(super) fn write(kind: u8, flags: u8, stream: [u8; 4], payload: &[u8], out: &mut Vec<u8>) {
        let len = u32::try_from(payload.len()).expect("a frame has at most 16,384 bytes");
        out.extend_from_slice(&len.to_be_bytes()[1..]);
        out.extend_from_slice(&[kind, flags]);
        out.extend_from_slice(&stream);
        out.extend_from_slice(payload);
    }
}

/// A HEADERS frame with the CONTINUATION frames that belong to it.
struct Block {
    fragment: Vec<u8>,
    stream: [u8; 4],
    ends_stream: bool,
    /// The length of its frames.
    taken: usize,
}

impl Block {
    /// `None` if it is not complete.
    fn read(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut block = Self {
            fragment: Vec::new(),
            stream: [0; 4],
            ends_stream: false,
            taken: 0,
        };
        loop {
            let Some(frame) = Frame::read(&bytes[block.taken..]) else {
                return block.incomplete();
            };
            if frame.len > FRAME_MAX {
                return Err(Malformed::Frames);
            }
            if block.taken > 0 && (frame.kind != CONTINUATION || frame.stream != block.stream) {
                return Err(Malformed::Frames);
            }
            let from = block.taken + FRAME_HEADER;
            let Some(payload) = bytes.get(from..from + frame.len) else {
                return block.incomplete();
            };
            if block.taken == 0 {
                block.stream = frame.stream;
                block.ends_stream = frame.flags & END_STREAM != 0;
                block.fragment.extend_from_slice(first(&frame, payload)?);
            } else {
                block.fragment.extend_from_slice(payload);
            }
            block.taken = from + frame.len;
            if frame.flags & END_HEADERS != 0 {
                return Ok(Some(block));
            }
        }
    }

    fn incomplete(&self) -> Result<Option<Self>, Malformed> {
        if self.taken > BLOCK_MAX {
            return Err(Malformed::Block);
        }
        Ok(None)
    }

    fn write(&self, fields: &[(Vec<u8>, Vec<u8>)], out: &mut Vec<u8>) {
        let mut fragment = Vec::with_capacity(self.fragment.len() * 2);
        for (name, value) in fields {
            // A literal field without indexing, with a new name (RFC 7541, section 6.2.2).
            fragment.push(0);
            string(name, &mut fragment);
            string(value, &mut fragment);
        }
        let mut pieces = fragment.chunks(FRAME_MAX);
        let (mut kind, mut flags) = (HEADERS, if self.ends_stream { END_STREAM } else { 0 });
        let mut piece = pieces.next().unwrap_or_default();
        for next in pieces {
            Frame::write(kind, flags, self.stream, piece, out);
            (kind, flags) = (CONTINUATION, 0);
            piece = next;
        }
        Frame::write(kind, flags | END_HEADERS, self.stream, piece, out);
    }
}

/// The fragment in a HEADERS frame's payload, without priority and padding.
fn first<'p>(frame: &Frame, payload: &'p [u8]) -> Result<&'p [u8], Malformed> {
    let (padding, mut rest) = match payload.split_first() {
        Some((padding, rest)) if frame.flags & PADDED != 0 => (usize::from(*padding), rest),
        None if frame.flags & PADDED != 0 => return Err(Malformed::Frames),
        _ => (0, payload),
    };
    if frame.flags & PRIORITY != 0 {
        rest = rest.get(5..).ok_or(Malformed::Frames)?;
    }
    let end = rest.len().checked_sub(padding).ok_or(Malformed::Frames)?;
    Ok(&rest[..end])
}

/// Writes a string without Huffman coding (RFC 7541, sections 5.1 and 5.2).
fn string(bytes: &[u8], out: &mut Vec<u8>) {
    const PREFIX_MAX: usize = 0x7f;
    let low = |len: usize| u8::try_from(len & 0x7f).expect("seven bits");
    if bytes.len() < PREFIX_MAX {
        out.push(low(bytes.len()));
    } else {
        out.push(0x7f);
        let mut rest = bytes.len() - PREFIX_MAX;
        while rest > 0x7f {
            out.push(low(rest) | 0x80);
            rest >>= 7;
        }
        out.push(low(rest));
    }
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests;
