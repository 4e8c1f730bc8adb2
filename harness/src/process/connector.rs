//! The mock connector: a gRPC server on a unix socket that follows a [`ConnectorScript`].
//!
//! It decides nothing: it passes each call to the player and waits for the reaction, so that the
//! order of calls is exact. One server lasts as long as a job; sockets are opened and closed by the
//! script.
//!
//! [`ConnectorScript`]: director::ConnectorScript

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::{FileTypeExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use platforms::NodeName;
use proto::{
    HealthEvents,
    platform_connector_server::{PlatformConnector, PlatformConnectorServer},
};
use tokio::{
    net::UnixListener,
    runtime::Runtime,
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Code, Request, Response, Status, transport::Server};

use director::{Reaction, Socket};
use observe::platform_connector;

use super::{
    inbox::{EventSender, RuntimeEvent},
    line::{Line, LineTag},
    refused_calls::{Reached, RefusedCalls},
    transport::{SocketError, SocketTraffic, Transport},
};

/// The most connections to the socket of a node that are open at once. Chosen: the reference monitor has one.
pub(super) const CONNECTIONS_MAX: usize = 100;

/// The most calls of one connection, and of all to the socket of a node, that have begun and not ended. Chosen: RFC 9113,
/// section 6.5.2, recommends no less than 100 of a connection.
pub(super) const OPEN_CALLS_MAX: u16 = 1_000;

/// The longest list of header fields of a call, in bytes as RFC 9113, section 6.5.2, counts them. Chosen: twice what
/// "gRPC over HTTP2", Requests, suggests.
const HEADER_LIST_MAX: u32 = 16 * 1024;

/// How often the runtime looks for connections that have ended before one more than the most is refused: it has to be told
/// by the kernel, and the server to read the end. Chosen: several times the looks that this takes.
const LOOKS: usize = 16;

/// How many different things that were spoken on ended connections are kept for each node. Chosen.
const SPOKEN_MAX: usize = 100;

/// What is told of a file at the path of a socket that is not there yet.
const IN_THE_WAY: &str = "something was put where the socket is to be";

/// Where calls of each node are reported, and the root of the node's mount.
type Subscribers = Arc<Mutex<BTreeMap<NodeName, (EventSender, String)>>>;

/// The connectors of all nodes of a job's drill.
pub(super) struct Connector {
    lines: mpsc::UnboundedSender<io::Result<Line>>,
    subscribers: Subscribers,
    outlets: BTreeMap<NodeName, Outlet>,
}

/// The state of one socket path.
struct Outlet {
    path: PathBuf,
    stands: Socket,
    /// The inode of the socket, while it is there.
    inode: Option<u64>,
    accepting: Option<JoinHandle<()>>,
    lines: Arc<Mutex<Lines>>,
    /// How many bytes have come.
    received: Arc<AtomicU64>,
}

/// The connections to one socket path.
#[derive(Default)]
struct Lines {
    /// Those that are open, and some that have ended.
    tags: Vec<LineTag>,
    /// What was spoken on the others, each with its number.
    spoken: BTreeMap<String, u64>,
    /// How many were opened.
    opened: u64,
    /// The most that were open at once, with those that were refused for it.
    most: usize,
}

impl Lines {
    /// Whether one more connection may be opened.
    fn has_room(&mut self) -> bool {
        if self.tags.len() >= CONNECTIONS_MAX {
            let ended = self.tags.extract_if(.., |tag| !tag.is_open());
            let ended: Vec<LineTag> = ended.collect();
            ended.iter().for_each(|tag| self.keep(tag));
        }
        self.tags.len() < CONNECTIONS_MAX
    }

    /// Keeps what was spoken on a connection.
    fn keep(&mut self, tag: &LineTag) {
        let mut what = tag.conversation().describe();
        if self.spoken.len() >= SPOKEN_MAX && !self.spoken.contains_key(&what) {
            "spoke in yet other ways".clone_into(&mut what);
        }
        *self.spoken.entry(what).or_default() += 1;
    }
}

impl Connector {
    /// A connector without a socket.
    pub(super) fn start(runtime: &Runtime) -> Self {
        let (lines, incoming) = mpsc::unbounded_channel();
        let subscribers = Subscribers::default();
        let service = RefusedCalls(PlatformConnectorServer::new(Service {
            subscribers: Arc::clone(&subscribers),
        }));
        runtime.spawn(async move {
            // It ends with the runtime; a failed connection ends alone.
            let _ = Server::builder()
                .max_concurrent_streams(u32::from(OPEN_CALLS_MAX))
                .http2_max_header_list_size(HEADER_LIST_MAX)
                .serve_with_incoming(service, UnboundedReceiverStream::new(incoming))
                .await;
        });
        Self {
            lines,
            subscribers,
            outlets: BTreeMap::new(),
        }
    }
}

impl Transport for Connector {
    fn open(&mut self, node: &NodeName, path: &Path, root: &Path, sender: EventSender) {
        let root = root.to_string_lossy().into_owned();
        self.subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(node.clone(), (sender, root));
        let outlet = Outlet {
            path: path.to_owned(),
            stands: Socket::Absent,
            inode: None,
            accepting: None,
            lines: Arc::default(),
            received: Arc::default(),
        };
        self.outlets.insert(node.clone(), outlet);
    }

    /// Brings a node's socket into the given state. When nothing listens any more, every connection
    /// is closed.
    fn stand(
        &mut self,
        runtime: &Runtime,
        node: &NodeName,
        socket: Socket,
    ) -> Result<(), SocketError> {
        let outlet = self
            .outlets
            .get_mut(node)
            .expect("a node's socket is opened before it is changed");
        if outlet.stands == socket {
            return outlet.is_left_alone();
        }
        outlet.end(runtime)?;
        if socket != Socket::Absent {
            let listener = {
                let _inside = runtime.enter();
                UnixListener::bind(&outlet.path).map_err(|error| match error.kind() {
                    io::ErrorKind::AddrInUse => SocketError::Tampered(IN_THE_WAY),
                    _ => error.into(),
                })?
            };
            // One that is gone already has none, and the next look tells so.
            let made = fs::symlink_metadata(&outlet.path);
            outlet.inode = Some(made.map_or(0, |made| made.ino()));
            if socket == Socket::Listening {
                let accept = accept(
                    listener,
                    node.clone(),
                    self.lines.clone(),
                    Arc::clone(&outlet.lines),
                    Arc::clone(&outlet.received),
                );
                outlet.accepting = Some(runtime.spawn(accept));
            }
        }
        outlet.stands = socket;
        Ok(())
    }

    fn connections(&mut self, node: &NodeName) -> BTreeMap<String, u64> {
        let Some(outlet) = self.outlets.get(node) else {
            return BTreeMap::new();
        };
        let lines = outlet.lines();
        let mut spoken = lines.spoken.clone();
        for tag in &lines.tags {
            *spoken.entry(tag.conversation().describe()).or_default() += 1;
        }
        spoken
    }

    fn is_connected(&self, node: &NodeName) -> bool {
        self.outlets.get(node).is_some_and(|outlet| {
            let lines = outlet.lines();
            let mut tags = lines.tags.iter();
            tags.any(|tag| tag.conversation().is_ready())
        })
    }

    fn traffic(&self) -> SocketTraffic {
        let mut traffic = SocketTraffic::default();
        for outlet in self.outlets.values() {
            let lines = outlet.lines();
            let (mut calls, mut most) = (0, 0);
            for tag in lines.tags.iter().filter(|tag| tag.is_open()) {
                let conversation = tag.conversation();
                calls += conversation.open_requests();
                most = conversation.most_open_requests().max(most);
            }
            traffic.received += outlet.received.load(Ordering::Relaxed);
            traffic.opened += lines.opened;
            traffic.connections = traffic.connections.max(lines.most);
            traffic.calls = traffic.calls.max(calls).max(most);
        }
        traffic
    }

    fn close(&mut self, runtime: &Runtime) -> Result<(), SocketError> {
        self.subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        let mut closed = Ok(());
        while let Some((_, mut outlet)) = self.outlets.pop_first() {
            closed = closed.and(outlet.end(runtime));
        }
        closed
    }
}

impl Outlet {
    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that nobody has touched the socket since it was made.
    ///
    /// # Errors
    /// What was found in its place.
    fn is_left_alone(&self) -> Result<(), SocketError> {
        let found = match fs::symlink_metadata(&self.path) {
            // The number of a file that was removed may be given to another one.
            Ok(found) => Some((found.ino(), found.file_type().is_socket())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        match (self.inode, found) {
            (Some(_), None) => Err(SocketError::Tampered("the socket was removed or renamed")),
            (Some(own), Some(found)) if found != (own, true) => Err(SocketError::Tampered(
                "something else was put in the place of the socket",
            )),
            (None, Some(_)) => Err(SocketError::Tampered(IN_THE_WAY)),
            (Some(_), Some(_)) | (None, None) => Ok(()),
        }
    }

    fn end(&mut self, runtime: &Runtime) -> Result<(), SocketError> {
        if let Some(accepting) = self.accepting.take() {
            accepting.abort();
            // The listener is dropped with its task.
            let _ = runtime.block_on(accepting);
        }
        let mut lines = self.lines();
        for tag in std::mem::take(&mut lines.tags) {
            tag.cut();
            lines.keep(&tag);
        }
        drop(lines);
        let left_alone = self.is_left_alone();
        self.stands = Socket::Absent;
        if self.inode.take().is_some() && left_alone.is_ok() {
            fs::remove_file(&self.path)?;
        } else if left_alone.is_err() {
            // The next drill has the same folder. What cannot be removed is found there.
            let _ = fs::remove_file(&self.path).or_else(|_| fs::remove_dir_all(&self.path));
        }
        left_alone
    }
}

async fn accept(
    listener: UnixListener,
    node: NodeName,
    lines: mpsc::UnboundedSender<io::Result<Line>>,
    all: Arc<Mutex<Lines>>,
    received: Arc<AtomicU64>,
) {
    let locked = || all.lock().unwrap_or_else(PoisonError::into_inner);
    while let Ok((stream, _)) = listener.accept().await {
        for _ in 0..LOOKS {
            if locked().has_room() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let line = {
            let mut now = locked();
            now.opened += 1;
            if !now.has_room() {
                now.most = CONNECTIONS_MAX + 1;
                // It is closed at once.
                continue;
            }
            let Ok(line) = Line::new(stream, node.clone(), Arc::clone(&received)) else {
                continue;
            };
            now.tags.push(line.tag().clone());
            now.most = now.most.max(now.tags.len());
            line
        };
        if lines.send(Ok(line)).is_err() {
            return;
        }
    }
}

/// The gRPC service that receives calls.
struct Service {
    subscribers: Subscribers,
}

#[tonic::async_trait]
impl PlatformConnector for Service {
    async fn health_event_occurred_v1(
        &self,
        request: Request<HealthEvents>,
    ) -> Result<Response<()>, Status> {
        let line = request
            .extensions()
            .get::<LineTag>()
            .expect("every connection has a tag")
            .clone();
        if let Some(reached) = request.extensions().get::<Reached>() {
            reached.set();
        }
        let (answer, decided) = oneshot::channel();
        let sender = self
            .subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&line.node)
            .cloned();
        if let Some((sender, root)) = sender {
            let batch = below_root(request.into_inner(), &root);
            sender.report(RuntimeEvent::Call {
                reported: platform_connector::received(&batch),
                pid: line.pid,
                answer,
            });
        }
        match decided.await {
            Ok(Reaction::Accept) => Ok(Response::new(())),
            Ok(Reaction::Slow(after)) => {
                tokio::time::sleep(std::time::Duration::from_nanos(after.as_ns())).await;
                Ok(Response::new(()))
            }
            Ok(Reaction::Status(code)) => {
                Err(Status::new(Code::from_i32(code), "as the scenario asks"))
            }
            Ok(Reaction::Hang) => std::future::pending().await,
            Ok(Reaction::LoseReply | Reaction::Disconnect) => {
                line.cut();
                std::future::pending().await
            }
            Err(_) => Err(Status::unavailable("the drill is over")),
        }
    }
}

/// Rewrites paths in a batch as if the mount were the root of the machine, so that both arms record
/// the same.
fn below_root(mut batch: HealthEvents, root: &str) -> HealthEvents {
    for event in &mut batch.events {
        if event.message.contains(root) {
            event.message = event.message.replace(root, "");
        }
    }
    batch
}

#[cfg(test)]
mod tests;
