//! An HTTP GET to a monitor, sent from inside its network namespace.

use std::{
    fs::{self, File},
    io,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    os::fd::AsFd as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use http_body_util::{BodyExt, Empty};
use hyper::{Request, body::Bytes, client::conn::http1, ext::on_informational, header::HOST};
use hyper_util::rt::TokioIo;
use observe::PageText;
use rustix::{
    process::Pid,
    thread::{LinkNameSpaceType, move_into_link_name_space},
};
use tokio::{
    runtime::{Handle, Runtime},
    sync::Notify,
    task::{JoinHandle, JoinSet},
};

/// The longest wait for an answer. Chosen: a monitor that takes longer counts as not answering.
const LIMIT: Duration = Duration::from_secs(5);

/// The largest head of an answer, in bytes, and the most fields in it. Chosen: a page of metrics has some five fields.
const HEAD_MAX: usize = 16 * 1024;
const FIELDS_MAX: usize = 100;

/// The most interim answers (RFC 9110, section 15.2) before the answer. Chosen: a server sends one or two.
const INTERIM_MAX: usize = 100;

/// Status and body of the answer to `GET path`. Without a page the body is not read, and is empty.
///
/// # Errors
/// If nothing listens, or no answer comes within the limit; of the kind `FileTooLarge`, with the bound, if the body is over
/// those of the page, or if interim answers come without end.
pub(super) fn get(
    runtime: &Runtime,
    (pid, port): (Pid, u16),
    path: &str,
    page: Option<PageText>,
) -> io::Result<(u16, String)> {
    let stream = connect(pid, port)?;
    runtime.block_on(async {
        tokio::time::timeout(LIMIT, exchange(stream, path.to_owned(), page))
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    })
}

/// Sends `GET path` and returns at once; `done` is called when the answer is there, or cannot come any more. How long
/// that may take is for the caller to decide. The errors are those of [`get`].
pub(super) fn ask(
    runtime: &Handle,
    (pid, port): (Pid, u16),
    (path, page): (String, PageText),
    done: impl FnOnce() + Send + 'static,
) -> JoinHandle<io::Result<(u16, String)>> {
    let stream = connect(pid, port);
    runtime.spawn(async move {
        let answer = match stream {
            Ok(stream) => exchange(stream, path, Some(page)).await,
            Err(error) => Err(error),
        };
        done();
        answer
    })
}

/// Whether something listens at a port.
pub(super) fn listens(pid: Pid, port: u16) -> bool {
    connect(pid, port).is_ok()
}

async fn exchange(
    stream: TcpStream,
    path: String,
    page: Option<PageText>,
) -> io::Result<(u16, String)> {
    let stream = TokioIo::new(tokio::net::TcpStream::from_std(stream)?);
    let (mut client, connection) = http1::Builder::new()
        .max_buf_size(HEAD_MAX)
        .max_headers(FIELDS_MAX)
        .handshake(stream)
        .await
        .map_err(io::Error::other)?;
    let mut request = Request::get(path)
        .header(HOST, "localhost")
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    let too_many = Arc::new(Notify::new());
    let (interim, told) = (AtomicUsize::new(0), Arc::clone(&too_many));
    on_informational(&mut request, move |_| {
        if interim.fetch_add(1, Ordering::Relaxed) == INTERIM_MAX {
            told.notify_one();
        }
    });
    // The connection task runs the exchange, and ends with it: whatever is dropped with this set ends.
    let mut carrying = JoinSet::new();
    carrying.spawn(connection);
    let answer = tokio::select! {
        answer = client.send_request(request) => answer.map_err(io::Error::other)?,
        () = too_many.notified() => {
            let what = format!("more than {INTERIM_MAX} interim answers (1xx) before it");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
    };
    let status = answer.status().as_u16();
    let Some(mut page) = page else {
        return Ok((status, String::new()));
    };
    let mut body = answer.into_body();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(io::Error::other)?;
        if let Some(bytes) = frame.data_ref() {
            let taken = page.push(bytes);
            taken.map_err(|what| io::Error::new(io::ErrorKind::FileTooLarge, what))?;
        }
    }
    Ok((status, page.take()))
}

/// Connects from a thread in the monitor's network namespace, if that differs from ours.
fn connect(pid: Pid, port: u16) -> io::Result<TcpStream> {
    let visit = || {
        let theirs = format!("/proc/{pid}/ns/net");
        if fs::read_link(&theirs)? != fs::read_link("/proc/thread-self/ns/net")? {
            let network = File::open(&theirs)?;
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
        }
        let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let stream = TcpStream::connect_timeout(&to, LIMIT)?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    };
    thread::scope(|scope| scope.spawn(visit).join()).unwrap_or_else(|_| {
        Err(io::Error::other(
            "nicdrill's thread that connects to the monitor panicked",
        ))
    })
}

#[cfg(test)]
mod tests;
