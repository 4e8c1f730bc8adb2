//! Keeps the calls that gRPC refuses before they reach the handler: an unknown service or method, a message that
//! cannot be decoded, an encoding that is not supported. Start at [`RefusedCalls`].
//!
//! Left out: a call whose client left before its end. gRPC answers it too, but nobody reads the answer.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use tonic::{
    Code, Status,
    body::Body,
    codegen::{BoxFuture, Service, http},
};

use super::line::LineTag;

/// The only method of the connector.
const METHOD: &str = "/datamodels.PlatformConnector/HealthEventOccurredV1";

/// A fact about a call that its handler or its body tells.
#[derive(Clone, Debug, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Set by the handler when a call has reached it.
#[derive(Clone, Debug, Default)]
pub(super) struct Reached(Flag);

impl Reached {
    pub(super) fn set(&self) {
        self.0.set();
    }
}

/// A service in front of another one.
#[derive(Clone, Debug)]
pub(super) struct RefusedCalls<S>(pub(super) S);

impl<S> Service<http::Request<Body>> for RefusedCalls<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<S::Response, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (reached, left) = (Reached::default(), Flag::default());
        let mut request = request.map(|body| {
            let left = left.clone();
            Body::new(WatchedBody { body, left })
        });
        request.extensions_mut().insert(reached.clone());
        let line = request.extensions().get::<LineTag>().cloned();
        let path = request.uri().path().to_owned();
        let answer = self.0.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            let status = Status::from_header_map(answer.headers());
            if let (Some(status), Some(line)) = (status, line)
                && status.code() != Code::Ok
                && !reached.0.is_set()
                && !left.is_set()
            {
                line.conversation().refuse(refusal(&path, &status));
            }
            Ok(answer)
        })
    }
}

/// The body of a request, which tells whether its client left before its end.
struct WatchedBody {
    body: Body,
    left: Flag,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = Status;

    /// A stream that its client reset ends as one that is complete, but is not at the end of its stream.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(_)) => {}
            None if self.body.is_end_stream() => {}
            None | Some(Err(_)) => self.left.set(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What is told of a call that gRPC refused with this status.
pub(super) fn refusal(path: &str, status: &Status) -> String {
    if path == METHOD {
        return format!("a call: {}", status.message());
    }
    format!("a call of `{path}`; the connector has `{METHOD}` only")
}
