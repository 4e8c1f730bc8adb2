//! A connection to the connector that can be cut from outside, as a network or a dying server cuts
//! it: at once, without further data. What the client sends passes an [`AuthorityFilter`], and a [`Conversation`]
//! watches both directions.

use std::{
    io,
    net::Shutdown,
    os::{fd::AsFd as _, unix::net::UnixStream as StdStream},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
};

use platforms::NodeName;

use super::{authority::AuthorityFilter, conversation::Conversation};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::UnixStream,
};
use tonic::transport::server::Connected;

/// The server's end of a connection.
pub(super) struct Line {
    stream: UnixStream,
    tag: LineTag,
    /// The only lasting owner of the duplicate, so that the connection is closed with the line.
    _knife: Arc<StdStream>,
    filter: AuthorityFilter,
    /// Bytes that have passed the filter and are not read yet.
    passed: Vec<u8>,
}

/// How many bytes are read at once while the filter works. Chosen: an HTTP/2 frame of the usual limit.
const PIECE: usize = 16_384;

/// The peer of a connection, and a handle to cut it.
#[derive(Clone, Debug)]
pub(super) struct LineTag {
    pub(super) node: NodeName,
    /// The pid of the process at the other end.
    pub(super) pid: u32,
    /// A duplicate of the socket's descriptor, as long as the line lasts.
    knife: Weak<StdStream>,
    conversation: Arc<Mutex<Conversation>>,
    /// How many bytes have come on the lines of this node.
    received: Arc<AtomicU64>,
}

impl Line {
    /// Takes the server's end of a connection of a node; the bytes that come are added to `received`.
    pub(super) fn new(
        stream: UnixStream,
        node: NodeName,
        received: Arc<AtomicU64>,
    ) -> io::Result<Self> {
        let peer = stream
            .peer_cred()?
            .pid()
            .and_then(|pid| u32::try_from(pid).ok());
        let knife = Arc::new(StdStream::from(stream.as_fd().try_clone_to_owned()?));
        Ok(Self {
            stream,
            tag: LineTag {
                node,
                pid: peer.unwrap_or_default(),
                knife: Arc::downgrade(&knife),
                conversation: Arc::default(),
                received,
            },
            _knife: knife,
            filter: AuthorityFilter::default(),
            passed: Vec::new(),
        })
    }

    pub(super) fn tag(&self) -> &LineTag {
        &self.tag
    }
}

impl LineTag {
    /// Cuts the connection: the other end reads end of file and none of the data that was not sent
    /// yet. Nothing happens if the server has closed it already.
    pub(super) fn cut(&self) {
        if let Some(knife) = self.knife.upgrade() {
            // It fails only if the other end is closed already.
            let _ = knife.shutdown(Shutdown::Both);
        }
    }

    /// Whether the server has the connection still.
    pub(super) fn is_open(&self) -> bool {
        self.knife.strong_count() > 0
    }

    /// Bytes of the client; none at its end.
    fn received(&self, bytes: &[u8]) {
        let count = bytes.len() as u64;
        self.received.fetch_add(count, Ordering::Relaxed);
        match bytes {
            [] => self.conversation().close(),
            bytes => self.conversation().client_sent(bytes),
        }
    }

    /// What has been spoken so far.
    pub(super) fn conversation(&self) -> MutexGuard<'_, Conversation> {
        self.conversation
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connected for Line {
    type ConnectInfo = LineTag;

    fn connect_info(&self) -> LineTag {
        self.tag.clone()
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let line = &mut *self;
        while line.passed.is_empty() {
            if line.filter.is_verbatim() {
                let before = buf.filled().len();
                let has_room = buf.remaining() > 0;
                ready!(Pin::new(&mut line.stream).poll_read(cx, buf))?;
                if has_room {
                    line.tag.received(&buf.filled()[before..]);
                }
                return Poll::Ready(Ok(()));
            }
            let mut piece = [0; PIECE];
            let mut piece = ReadBuf::new(&mut piece);
            ready!(Pin::new(&mut line.stream).poll_read(cx, &mut piece))?;
            line.tag.received(piece.filled());
            if piece.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            if let Err(why) = line.filter.pass(piece.filled(), &mut line.passed) {
                line.tag
                    .conversation()
                    .refuse(format!("the connection: {why}"));
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
            }
        }
        let now = line.passed.len().min(buf.remaining());
        buf.put_slice(&line.passed[..now]);
        line.passed.drain(..now);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.tag.conversation().server_sent(&bytes[..sent]);
        Poll::Ready(Ok(sent))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, bufs))?;
        let mut rest = sent;
        let mut conversation = self.tag.conversation();
        for buf in bufs {
            let part = &buf[..buf.len().min(rest)];
            conversation.server_sent(part);
            rest -= part.len();
        }
        drop(conversation);
        Poll::Ready(Ok(sent))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
