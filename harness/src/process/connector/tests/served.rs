//! A client and what stands behind the socket, on one runtime.

use std::{
    path::{Path, PathBuf},
    thread,
};

use tokio::{net::UnixStream, sync::mpsc::UnboundedSender};

use super::{super::*, raw_client::RawClient};

/// What stands behind the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    Connector,
    /// h2 alone, by the same gRPC library: nothing of ours touches the bytes.
    H2Alone,
}

/// What a client and a server saw of each other.
pub(super) struct Served<T> {
    /// What the client returned.
    pub(super) client: T,
    /// The number of events of each call that was received.
    pub(super) calls: Vec<usize>,
    /// What was spoken on the connections, as far as the server knows.
    pub(super) spoken: Vec<String>,
}

/// Runs a client against a connector that accepts every call.
pub(super) fn serve<T: Send + 'static>(
    client: impl FnOnce(RawClient) -> T + Send + 'static,
) -> Served<T> {
    serve_after(Behind::Connector, |_| {}, client)
}

/// Runs a client that makes its own connections to the socket at a path, against a connector that accepts every call.
pub(super) fn serve_at<T: Send + 'static>(
    client: impl FnOnce(PathBuf) -> T + Send + 'static,
) -> Served<T> {
    serve_on(Behind::Connector, |path| {
        let path = path.to_owned();
        move || client(path)
    })
}

/// Runs a client against a server that accepts every call. What it does in `ahead` is done before the server sees
/// its connection.
pub(super) fn serve_after<T: Send + 'static>(
    behind: Behind,
    ahead: impl FnOnce(&mut RawClient),
    client: impl FnOnce(RawClient) -> T + Send + 'static,
) -> Served<T> {
    serve_on(behind, |path| {
        let mut raw = RawClient::connect(path);
        ahead(&mut raw);
        move || client(raw)
    })
}

/// Runs a client, which is made when the socket is there, against a server that accepts every call.
fn serve_on<T: Send + 'static, C: FnOnce() -> T + Send + 'static>(
    behind: Behind,
    make: impl FnOnce(&Path) -> C,
) -> Served<T> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.sock");
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_io().enable_time().build();
    let runtime = runtime.expect("a runtime");
    let (to, mut events) = mpsc::unbounded_channel();
    let node = NodeName::from("node-a");
    let sender = EventSender::new(node.clone(), to);
    let mut connector = Connector::start(&runtime);
    match behind {
        Behind::Connector => {
            connector.open(&node, &path, folder.path(), sender.clone());
            let stood = connector.stand(&runtime, &node, Socket::Listening);
            stood.expect("the socket can be bound");
        }
        Behind::H2Alone => h2_alone(&runtime, &path, Handler(sender.clone())),
    }

    let client = make(&path);
    // The client's end of the channel is dropped when the client ends, also when it fails.
    let (running, mut ended) = oneshot::channel::<()>();
    let client = thread::spawn(move || {
        let _running = running;
        client()
    });
    let mut calls = Vec::new();
    runtime.block_on(async {
        loop {
            tokio::select! {
                // Calls first, so that none is left when the client has ended.
                biased;
                event = events.recv() => match event.map(|event| event.what) {
                    Some(RuntimeEvent::Call { answer, reported, .. }) => {
                        calls.push(reported.observations.len());
                        // A client that has reset its request waits no more.
                        let _ = answer.send(Reaction::Accept);
                    }
                    other => panic!("{other:?}"),
                },
                _ = &mut ended => return,
            }
        }
    });
    // The channel of events lasts until here.
    drop(sender);
    Served {
        client: client.join().expect("the client got what it waits for"),
        calls,
        spoken: connector.connections(&node).into_keys().collect(),
    }
}

/// Passes calls on as the connector does, and waits for the answer.
struct Handler(EventSender);

#[tonic::async_trait]
impl PlatformConnector for Handler {
    async fn health_event_occurred_v1(
        &self,
        request: Request<HealthEvents>,
    ) -> Result<Response<()>, Status> {
        let (answer, decided) = oneshot::channel();
        self.0.report(RuntimeEvent::Call {
            reported: platform_connector::received(&request.into_inner()),
            pid: 0,
            answer,
        });
        match decided.await {
            Ok(Reaction::Accept) => Ok(Response::new(())),
            other => panic!("{other:?}"),
        }
    }
}

fn h2_alone(runtime: &Runtime, path: &Path, handler: Handler) {
    let (streams, incoming) = mpsc::unbounded_channel();
    let listener = {
        let _inside = runtime.enter();
        UnixListener::bind(path).expect("the socket can be bound")
    };
    runtime.spawn(accept_all(listener, streams));
    let service = PlatformConnectorServer::new(handler);
    runtime.spawn(async move {
        let _ = Server::builder()
            .serve_with_incoming(service, UnboundedReceiverStream::new(incoming))
            .await;
    });
}

async fn accept_all(listener: UnixListener, streams: UnboundedSender<io::Result<UnixStream>>) {
    while let Ok((stream, _)) = listener.accept().await {
        if streams.send(Ok(stream)).is_err() {
            return;
        }
    }
}
