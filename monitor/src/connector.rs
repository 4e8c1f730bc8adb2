//! One call at a time to the platform connector, over its unix socket.
//!
//! The channel connects when it is first needed and again after a failure, so the monitor starts
//! without a connector. Whether to try again is not decided here.

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

/// Publishes over the socket, and gives up as soon as the monitor is told to stop.
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

/// The way to the connector.
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

    /// Calls once.
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
            // A channel whose call hangs is not to be trusted with the next.
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

/// Only an absent socket is skipped; any other trouble is left to the call.
fn is_missing(socket: &str) -> bool {
    std::fs::metadata(socket).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// A status that was made on this side has a source: the connection failed. One from the other side
/// has none.
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
    // The stream ended without a word of the system: the other side went away.
    Outcome::Io(IoKind::Eof)
}
