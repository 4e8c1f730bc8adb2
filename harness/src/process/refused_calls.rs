//! Keeps the calls that gRPC refuses before they reach the handler: an unknown service or method, a message that
//! cannot be decoded, an encoding that is not supported. Start at [`RefusedCalls`].

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use tonic::{
    Code, Status,
    body::Body,
    codegen::{BoxFuture, Service, http},
};

use super::line::LineTag;

/// The only method of the connector.
const METHOD: &str = "/datamodels.PlatformConnector/HealthEventOccurredV1";

/// Set by the handler when a call has reached it.
#[derive(Clone, Debug, Default)]
pub(super) struct Reached(Arc<AtomicBool>);

impl Reached {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A service in front of another one.
#[derive(Clone, Debug)]
pub(super) struct RefusedCalls<S>(pub(super) S);

impl<S, B> Service<http::Request<B>> for RefusedCalls<S>
where
    S: Service<http::Request<B>, Response = http::Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<S::Response, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, mut request: http::Request<B>) -> Self::Future {
        let reached = Reached::default();
        request.extensions_mut().insert(reached.clone());
        let line = request.extensions().get::<LineTag>().cloned();
        let path = request.uri().path().to_owned();
        let answer = self.0.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            let status = Status::from_header_map(answer.headers());
            if let (Some(status), Some(line)) = (status, line)
                && status.code() != Code::Ok
                && !reached.0.load(Ordering::Relaxed)
            {
                line.conversation().refuse(refusal(&path, &status));
            }
            Ok(answer)
        })
    }
}

fn refusal(path: &str, status: &Status) -> String {
    if path == METHOD {
        return format!("a call: {}", status.message());
    }
    format!("a call of `{path}`; the connector has `{METHOD}` only")
}
