//! Calls of clients of other languages over raw HTTP/2: each is accepted, whatever its `:authority` is.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    thread,
    time::Duration,
};

use rstest::rstest;

use super::*;

/// A literal field without indexing, both strings shorter than 127 bytes (RFC 7541, section 6.2.2).
fn field(name: &str, value: &str) -> Vec<u8> {
    let len = |text: &str| u8::try_from(text.len()).expect("a short text");
    [
        &[0, len(name)],
        name.as_bytes(),
        &[len(value)],
        value.as_bytes(),
    ]
    .concat()
}

/// A frame of stream 1, or of the connection (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let len = u8::try_from(payload.len()).expect("a short frame");
    [&[0, 0, len, kind, flags, 0, 0, 0, stream], payload].concat()
}

/// Runs a client against a connector that accepts every call, and returns what the client returns.
fn serve<T: Send + 'static>(client: impl FnOnce(&Path) -> T + Send + 'static) -> T {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.sock");
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_io().enable_time().build();
    let runtime = runtime.expect("a runtime");
    let (to, mut events) = mpsc::unbounded_channel();
    let node = NodeName::from("node-a");
    let sender = EventSender::new(node.clone(), to);
    let mut connector = Connector::start(&runtime);
    connector.open(&node, &path, folder.path(), sender);
    let stood = connector.stand(&runtime, &node, Socket::Listening);
    stood.expect("the socket can be bound");

    // The client's end of the channel is dropped when the client ends, also when it fails.
    let (running, mut ended) = oneshot::channel::<()>();
    let client = thread::spawn(move || {
        let _running = running;
        client(&path)
    });
    runtime.block_on(async {
        loop {
            tokio::select! {
                _ = &mut ended => return,
                event = events.recv() => match event.map(|event| event.what) {
                    Some(RuntimeEvent::Call { answer, .. }) => {
                        answer.send(Reaction::Accept).expect("the call waits");
                    }
                    other => panic!("{other:?}"),
                },
            }
        }
    });
    client.join().expect("the client got what it waits for")
}

/// Sends an empty batch as a client with this authority, and returns the fields of the last header block of the
/// answer; or the error code with which the stream was reset.
fn call(authority: &str) -> Result<Vec<(String, String)>, u32> {
    let block = [
        field(":method", "POST"),
        field(":scheme", "http"),
        field(
            ":path",
            "/datamodels.PlatformConnector/HealthEventOccurredV1",
        ),
        field(":authority", authority),
        field("content-type", "application/grpc"),
        field("te", "trailers"),
    ];
    let sent = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &[]),
        frame(1, 4, 1, &block.concat()),
        frame(0, 1, 1, &[0; 5]),
    ];
    serve(move |path| exchange(path, &sent.concat()))
}

/// Sends these bytes, and reads up to the end of stream 1.
fn exchange(path: &Path, sent: &[u8]) -> Result<Vec<(String, String)>, u32> {
    let mut stream = UnixStream::connect(path).expect("it listens");
    stream.write_all(sent).expect("it reads");
    let mut decoder = loona_hpack::Decoder::new();
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).expect("a frame");
        let len = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(len).expect("it fits")];
        stream.read_exact(&mut payload).expect("a whole frame");
        let (kind, flags) = (head[3], head[4]);
        match kind {
            1 => {
                let fields = decoder.decode(&payload).expect("a block of RFC 7541");
                if flags & 1 == 1 {
                    let text = |bytes| String::from_utf8(bytes).expect("text");
                    let fields = fields.into_iter();
                    return Ok(fields.map(|(n, v)| (text(n), text(v))).collect());
                }
            }
            3 => return Err(u32::from_be_bytes(*payload.first_chunk().expect("a code"))),
            _ => {}
        }
    }
}

#[rstest]
#[case::of_grpc_core("tmp%2Fs.sock")]
#[case::of_grpc_java("/tmp/s.sock")]
#[case::of_grpc_go("localhost")]
fn a_client_is_answered_whatever_its_authority(#[case] authority: &str) {
    let fields = call(authority).expect("the stream is not reset");
    let status = fields.iter().find(|(name, _)| name == "grpc-status");
    assert_eq!(status.map(|(_, status)| status.as_str()), Some("0"));
}

#[rstest]
#[case::http_1(b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")]
#[case::a_tls_record(
    b"\x16\x03\x01\x00\x20\x01\x00\x00\x1c\x03\x03 and the rest of a client hello"
)]
#[case::noise(b"\0\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")]
fn a_client_that_does_not_speak_http_2_reads_end_of_file(#[case] sent: &'static [u8]) {
    let ended = serve(move |path| {
        let mut stream = UnixStream::connect(path).expect("it listens");
        let bound = stream.set_read_timeout(Some(Duration::from_secs(20)));
        bound.expect("a socket has a timeout");
        stream.write_all(sent).expect("it reads");
        match stream.read_to_end(&mut Vec::new()) {
            // What a close with unread data gives (Linux, unix(7)).
            Err(why) if why.kind() == io::ErrorKind::ConnectionReset => Ok(()),
            ended => ended.map(drop),
        }
    });
    ended.expect("the connector closes the connection");
}
