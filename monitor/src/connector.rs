//! gRPC calls to the platform connector over its Unix socket, one at a time.
//!
//! The channel connects when it is first used, and again after a failure, so the monitor can start
//! without a connector. Whether to retry is decided by the agent.

use std::error::Error as _;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use checks::{IoKind, Outcome, Publisher, Settings};
use proto::HealthEvents;
use proto::platform_connector_client::PlatformConnectorClient;
use tokio::runtime::Runtime;
use tonic::transport::{Channel, Endpoint};

use crate::stop::Stop;

/// Publishes over the socket; gives up as soon as the monitor receives a signal to stop.
pub(crate) struct SocketPublisher {
    pub(crate) connector: Connector,
    pub(crate) runtime: Rc<Runtime>,
    pub(crate) stop: Stop,
}

impl Publisher for SocketPublisher {
    fn publish(&mut self, batch: HealthEvents) -> Option<Outcome> {
        let SocketPublisher {
            connector,
            runtime,
            stop,
        } = self;
        runtime.block_on(async {
            tokio::select! {
                biased;
                outcome = connector.publish(batch) => Some(outcome),
                () = stop.asked() => None,
            }
        })
    }
}

/// The connection to the connector.
#[derive(Debug)]
pub(crate) struct Connector {
    socket: String,
    timeout: Duration,
    client: Option<PlatformConnectorClient<Channel>>,
}

impl Connector {
    pub(crate) fn new(settings: &Settings) -> Connector {
        Connector {
            socket: settings.socket_path().to_owned(),
            timeout: settings.publish.timeout,
            client: None,
        }
    }

    /// Makes one call.
    pub(crate) async fn publish(&mut self, batch: HealthEvents) -> Outcome {
        if is_missing(&self.socket) {
            self.client = None;
            return Outcome::SocketMissing;
        }
        let mut client = match self.client.take() {
            Some(client) => client,
            None => match Endpoint::from_shared(format!("unix://{}", self.socket)) {
                Ok(endpoint) => PlatformConnectorClient::new(endpoint.connect_lazy()),
                Err(_) => return Outcome::Io(IoKind::Other),
            },
        };
        let call = client.health_event_occurred_v1(batch);
        match tokio::time::timeout(self.timeout, call).await {
            // A channel whose call hangs is not used for the next one.
            Err(_) => Outcome::TimedOut,
            Ok(Ok(_)) => {
                self.client = Some(client);
                Outcome::Accepted
            }
            Ok(Err(status)) => {
                let outcome = outcome_of(&status);
                if matches!(outcome, Outcome::Status { .. }) {
                    self.client = Some(client);
                }
                outcome
            }
        }
    }
}

/// Only a missing socket skips the call; any other error is returned by the call.
fn is_missing(socket: &str) -> bool {
    std::fs::metadata(socket).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// A status that was created on this side has a source, because the connection failed; one from the
/// other side has none.
fn outcome_of(status: &tonic::Status) -> Outcome {
    let mut source = status.source();
    if source.is_none() {
        return Outcome::Status {
            code: status.code().into(),
            message: status.message().to_owned(),
        };
    }
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Outcome::Io(match error.kind() {
                io::ErrorKind::UnexpectedEof => IoKind::Eof,
                io::ErrorKind::ConnectionReset => IoKind::Reset,
                io::ErrorKind::BrokenPipe => IoKind::BrokenPipe,
                io::ErrorKind::ConnectionRefused => IoKind::Refused,
                _ => IoKind::Other,
            });
        }
        source = error.source();
    }
    // The stream ended without an error of the system: the other side closed it.
    Outcome::Io(IoKind::Eof)
}
