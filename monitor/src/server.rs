//! `/metrics` and `/healthz` over HTTP, on a separate thread: they answer while a read hangs and
//! while a batch is retried.
//!
//! The port is bound at the start; everything else is created when the first client connects, so
//! that the start costs little. If the port cannot be bound, this is logged and the monitor runs
//! without it, as NVSentinel's does.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use checks::{Family, Settings};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use jiff::fmt::friendly::SpanPrinter;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinHandle;

use crate::exposition;
use crate::hands::FileHands;
use crate::shared_status::SharedStatus;

/// Stack size: enough for a reactor and a response.
const STACK_BYTES: usize = 512 * 1024;
/// Number of clients served at the same time; others wait.
const CLIENTS: usize = 16;
/// How long a client may take to send its request.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// How long an answer waits for GID tables; after that it has the previous values.
const GID_TIME: Duration = Duration::from_millis(500);

/// Listens; returns the port, which for 0 is a free one.
///
/// # Errors
///
/// The port cannot be bound, or the thread cannot be started.
pub(crate) fn listen(settings: &Settings, shared_status: Arc<SharedStatus>) -> io::Result<u16> {
    let listener = bind(settings.metrics_port)?;
    let port = listener.local_addr()?.port();
    let pages = Arc::new(Pages {
        shared_status,
        gids: Mutex::new(Gids::new(settings)),
    });
    thread::Builder::new()
        .name("metrics".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || serve(&listener, &pages))?;
    Ok(port)
}

/// Binds to every address, in both families if the host has both.
fn bind(port: u16) -> io::Result<TcpListener> {
    match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)) {
        Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))
        }
        bound => bound,
    }
}

/// Waits for the first client, and serves from then on. Without a reactor no client is served.
fn serve(listener: &TcpListener, pages: &Arc<Pages>) {
    let Ok((first, _)) = listener.accept() else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let (Ok(runtime), Ok(listener)) = (runtime, listener.try_clone()) else {
        return;
    };
    // The thread ends with the process.
    let _ = runtime.block_on(answer_all(first, listener, pages));
}

async fn answer_all(first: TcpStream, listener: TcpListener, pages: &Arc<Pages>) -> io::Result<()> {
    first.set_nonblocking(true)?;
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(CLIENTS));
    let mut client = tokio::net::TcpStream::from_std(first)?;
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let pages = Arc::clone(pages);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let pages = Arc::clone(&pages);
                async move { Ok::<_, std::convert::Infallible>(pages.answer(&request).await) }
            });
            // A client that disconnects is not an error of the monitor.
            let _ = http1::Builder::new()
                .keep_alive(false)
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_TIME)
                .serve_connection(TokioIo::new(client), service)
                .await;
            drop(place);
        });
        client = loop {
            match listener.accept().await {
                Ok((client, _)) => break client,
                // Out of descriptors, or the client gave up: the next accept may succeed.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        };
    }
}

/// Answers requests.
struct Pages {
    shared_status: Arc<SharedStatus>,
    gids: Mutex<Gids>,
}

impl Pages {
    async fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path();
        if !matches!(path, "/metrics" | "/healthz") {
            return plain(StatusCode::NOT_FOUND, "404 page not found\n".to_owned());
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let text = "only GET and HEAD are answered\n".to_owned();
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, text);
            let headers = response.headers_mut();
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        if path == "/healthz" {
            return match self.shared_status.stale() {
                None => plain(StatusCode::OK, "ok".to_owned()),
                Some(stale) => plain(
                    StatusCode::SERVICE_UNAVAILABLE,
                    format!(
                        "polling loop stale: last iteration {}s ago, threshold {}",
                        stale.since.as_secs(),
                        SpanPrinter::new().unsigned_duration_to_string(&stale.threshold)
                    ),
                ),
            };
        }
        let mut families = self.shared_status.families();
        families.extend(self.gids.lock().await.count(&self.shared_status).await);
        let mut response = plain(StatusCode::OK, exposition::text(&families));
        let format = HeaderValue::from_static(exposition::TEXT_FORMAT);
        response.headers_mut().insert(CONTENT_TYPE, format);
        response
    }
}

fn plain(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let format = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, format);
    response
}

/// Counts GID tables on request, with reads of its own: a read that hangs delays an answer by at
/// most half a second, and no poll.
struct Gids {
    hands: Arc<FileHands>,
    running: Option<JoinHandle<Family>>,
    last: Option<Family>,
}

impl Gids {
    fn new(settings: &Settings) -> Gids {
        Gids {
            hands: Arc::new(FileHands::new(settings)),
            running: None,
            last: None,
        }
    }

    async fn count(&mut self, shared_status: &SharedStatus) -> Option<Family> {
        let mut task = match self.running.take() {
            Some(task) => task,
            None => {
                let ports = shared_status.gid_ports();
                if ports.is_empty() {
                    self.last = None;
                    return None;
                }
                let hands = Arc::clone(&self.hands);
                tokio::task::spawn_blocking(move || ports.count(&*hands))
            }
        };
        match tokio::time::timeout(GID_TIME, &mut task).await {
            Ok(counted) => self.last = counted.ok(),
            Err(_) => self.running = Some(task),
        }
        self.last.clone()
    }
}
