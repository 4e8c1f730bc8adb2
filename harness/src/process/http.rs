//! An HTTP GET to a monitor, sent from inside its network namespace.

use std::{
    fs::{self, File},
    io,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    os::fd::AsFd as _,
    thread,
    time::Duration,
};

use http_body_util::{BodyExt, Empty};
use hyper::{Request, body::Bytes, client::conn::http1, header::HOST};
use hyper_util::rt::TokioIo;
use rustix::{
    process::Pid,
    thread::{LinkNameSpaceType, move_into_link_name_space},
};
use tokio::{
    runtime::{Handle, Runtime},
    task::JoinHandle,
};

/// The longest wait for an answer. Chosen: a monitor that takes longer counts as not answering.
const LIMIT: Duration = Duration::from_secs(5);

/// Status and body of the answer to `GET path`.
///
/// # Errors
/// If nothing listens, or no answer comes within the limit.
pub(super) fn get(runtime: &Runtime, pid: Pid, port: u16, path: &str) -> io::Result<(u16, String)> {
    let stream = connect(pid, port)?;
    runtime.block_on(async {
        tokio::time::timeout(LIMIT, exchange(stream, path.to_owned()))
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    })
}

/// Sends `GET path` and returns at once; `done` is called when the answer is there, or cannot come any more. How long
/// that may take is for the caller to decide.
pub(super) fn ask(
    runtime: &Handle,
    (pid, port): (Pid, u16),
    path: String,
    done: impl FnOnce() + Send + 'static,
) -> JoinHandle<io::Result<(u16, String)>> {
    let stream = connect(pid, port);
    runtime.spawn(async move {
        let answer = match stream {
            Ok(stream) => exchange(stream, path).await,
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

async fn exchange(stream: TcpStream, path: String) -> io::Result<(u16, String)> {
    let stream = TokioIo::new(tokio::net::TcpStream::from_std(stream)?);
    let (mut client, connection) = http1::handshake(stream).await.map_err(io::Error::other)?;
    let request = Request::get(path)
        .header(HOST, "localhost")
        .body(Empty::<Bytes>::new())
        .map_err(io::Error::other)?;
    // The connection task runs the exchange and ends with it.
    let carrying = tokio::spawn(connection);
    let answer = client
        .send_request(request)
        .await
        .map_err(io::Error::other)?;
    let status = answer.status().as_u16();
    let body = answer
        .into_body()
        .collect()
        .await
        .map_err(io::Error::other)?;
    carrying.abort();
    let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    Ok((status, text))
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
    thread::scope(|scope| scope.spawn(visit).join())
        .unwrap_or_else(|_| Err(io::Error::other("the visiting thread panicked")))
}
