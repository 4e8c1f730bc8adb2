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
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
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
    transport::Transport,
};

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
    accepting: Option<JoinHandle<()>>,
    /// The connections since the socket was bound.
    tags: Arc<Mutex<Vec<LineTag>>>,
    /// What was spoken on the connections before that, each with its number.
    spoken: BTreeMap<String, u64>,
    /// How many bytes have come.
    received: Arc<AtomicU64>,
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
            accepting: None,
            tags: Arc::default(),
            spoken: BTreeMap::new(),
            received: Arc::default(),
        };
        self.outlets.insert(node.clone(), outlet);
    }

    /// Brings a node's socket into the given state. When nothing listens any more, every connection
    /// is closed.
    fn stand(&mut self, runtime: &Runtime, node: &NodeName, socket: Socket) -> io::Result<()> {
        let outlet = self
            .outlets
            .get_mut(node)
            .expect("a node's socket is opened before it is changed");
        if outlet.stands == socket {
            return Ok(());
        }
        outlet.end(runtime)?;
        if socket != Socket::Absent {
            let listener = {
                let _inside = runtime.enter();
                UnixListener::bind(&outlet.path)?
            };
            if socket == Socket::Listening {
                let accept = accept(
                    listener,
                    node.clone(),
                    self.lines.clone(),
                    Arc::clone(&outlet.tags),
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
        let mut spoken = outlet.spoken.clone();
        let tags = outlet.tags.lock().unwrap_or_else(PoisonError::into_inner);
        for tag in tags.iter() {
            *spoken.entry(tag.conversation().describe()).or_default() += 1;
        }
        spoken
    }

    fn is_connected(&self, node: &NodeName) -> bool {
        self.outlets.get(node).is_some_and(|outlet| {
            let tags = outlet.tags.lock().unwrap_or_else(PoisonError::into_inner);
            tags.iter().any(|tag| tag.conversation().is_ready())
        })
    }

    fn received(&self) -> u64 {
        let outlets = self.outlets.values();
        outlets
            .map(|outlet| outlet.received.load(Ordering::Relaxed))
            .sum()
    }

    fn close(&mut self, runtime: &Runtime) -> io::Result<()> {
        self.subscribers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        while let Some((_, mut outlet)) = self.outlets.pop_first() {
            outlet.end(runtime)?;
        }
        Ok(())
    }
}

impl Outlet {
    fn end(&mut self, runtime: &Runtime) -> io::Result<()> {
        if let Some(accepting) = self.accepting.take() {
            accepting.abort();
            // The listener is dropped with its task.
            let _ = runtime.block_on(accepting);
        }
        for tag in self
            .tags
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drain(..)
        {
            tag.cut();
            *self
                .spoken
                .entry(tag.conversation().describe())
                .or_default() += 1;
        }
        if self.stands != Socket::Absent {
            fs::remove_file(&self.path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    io::Error::other("the socket is gone: the monitor has removed or renamed it")
                }
                _ => error,
            })?;
            self.stands = Socket::Absent;
        }
        Ok(())
    }
}

async fn accept(
    listener: UnixListener,
    node: NodeName,
    lines: mpsc::UnboundedSender<io::Result<Line>>,
    tags: Arc<Mutex<Vec<LineTag>>>,
    received: Arc<AtomicU64>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let Ok(line) = Line::new(stream, node.clone(), Arc::clone(&received)) else {
            continue;
        };
        tags.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line.tag().clone());
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
