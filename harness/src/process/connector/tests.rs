//! Calls of clients of other languages over raw HTTP/2: each is accepted, whatever its `:authority` is.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    thread,
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

/// A request up to its message.
fn request(stream: u8, authority: &str, path: &str) -> Vec<u8> {
    let block = [
        field(":method", "POST"),
        field(":scheme", "http"),
        field(":path", path),
        field(":authority", authority),
        field("content-type", "application/grpc"),
        field("te", "trailers"),
    ];
    frame(1, 4, stream, &block.concat())
}

/// A message of gRPC (gRPC over HTTP2, Length-Prefixed-Message).
fn message(bytes: &[u8]) -> Vec<u8> {
    let len = u32::try_from(bytes.len()).expect("a short message");
    [&[0], len.to_be_bytes().as_slice(), bytes].concat()
}

fn opened() -> Vec<u8> {
    [PREFACE, &frame(4, 0, 0, &[])].concat()
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const METHOD: &str = "/datamodels.PlatformConnector/HealthEventOccurredV1";

/// The authorities of grpc-go, whose connections pass verbatim, and of grpc-core, whose are rewritten.
const VERBATIM: &str = "localhost";
const REWRITTEN: &str = "tmp%2Fs.sock";

/// What a client and the connector saw of each other.
struct Served<T> {
    client: T,
    /// The number of events of each call that was received.
    calls: Vec<usize>,
    /// What was spoken on the connections.
    spoken: Vec<String>,
}

/// Runs a client against a connector that accepts every call.
fn serve<T: Send + 'static>(client: impl FnOnce(Client) -> T + Send + 'static) -> Served<T> {
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

    let (done, mut ended) = oneshot::channel();
    let client = thread::spawn(move || {
        let result = client(Client::connect(&path));
        done.send(()).expect("somebody waits");
        result
    });
    let mut calls = Vec::new();
    runtime.block_on(async {
        loop {
            tokio::select! {
                _ = &mut ended => return,
                event = events.recv() => match event.map(|event| event.what) {
                    Some(RuntimeEvent::Call { answer, reported, .. }) => {
                        calls.push(reported.observations.len());
                        // A client that has reset its request waits no more.
                        let _ = answer.send(Reaction::Accept);
                    }
                    other => panic!("{other:?}"),
                },
            }
        }
    });
    Served {
        client: client.join().expect("the client got whole frames"),
        calls,
        spoken: connector.connections(&node).into_keys().collect(),
    }
}

/// A client that speaks frames.
struct Client {
    stream: UnixStream,
    decoder: loona_hpack::Decoder<'static>,
    /// How many bytes of data may still be sent on stream 1 and on the connection.
    windows: [usize; 2],
}

/// A frame that a client understands.
enum Got {
    /// The status of a call.
    Status { stream: u8, status: String },
    /// A stream was reset with this code.
    Reset(u32),
    /// The server has closed the connection.
    Closed,
}

impl Client {
    fn connect(path: &Path) -> Self {
        Self {
            stream: UnixStream::connect(path).expect("it listens"),
            decoder: loona_hpack::Decoder::new(),
            // What every stream and connection begin with (RFC 9113, section 6.9.2).
            windows: [65_535; 2],
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("it reads");
    }

    /// Reads up to the end of a call, or of the connection.
    fn next(&mut self) -> Got {
        loop {
            if let Some(got) = self.frame() {
                return got;
            }
        }
    }

    fn frame(&mut self) -> Option<Got> {
        let mut head = [0; 9];
        if self.stream.read_exact(&mut head).is_err() {
            return Some(Got::Closed);
        }
        let len = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(len).expect("it fits")];
        self.stream.read_exact(&mut payload).expect("a whole frame");
        let (kind, flags, stream) = (head[3], head[4], head[8]);
        let code = || u32::from_be_bytes(*payload.first_chunk().expect("a number"));
        match kind {
            1 => {
                let fields = self.decoder.decode(&payload).expect("a block of RFC 7541");
                let mut fields = fields.into_iter();
                let (_, status) = fields.find(|(name, _)| name == b"grpc-status")?;
                let status = String::from_utf8(status).expect("text");
                return Some(Got::Status { stream, status });
            }
            3 => return Some(Got::Reset(code())),
            4 if flags & 1 == 0 => {
                for setting in payload.chunks(6) {
                    // SETTINGS_INITIAL_WINDOW_SIZE changes the windows of streams.
                    if let [0, 4, value @ ..] = setting {
                        let value = u32::from_be_bytes(*value.first_chunk().expect("a value"));
                        self.windows[0] = usize::try_from(value).expect("it fits");
                    }
                }
            }
            8 => {
                let more = usize::try_from(code()).expect("it fits");
                self.windows[usize::from(stream == 0)] += more;
            }
            _ => {}
        }
        None
    }

    /// Sends data on stream 1 as far as the windows allow, and waits for more room in between.
    fn send_data(&mut self, data: &[u8]) {
        let mut pieces = data.chunks(100).peekable();
        while let Some(piece) = pieces.next() {
            while self.windows.iter().any(|window| *window < piece.len()) {
                assert!(self.frame().is_none(), "the call ended early");
            }
            self.windows = self.windows.map(|window| window - piece.len());
            let ends = u8::from(pieces.peek().is_none());
            self.send(&frame(0, ends, 1, piece));
        }
    }

    /// The status of the next call that ends.
    fn status(&mut self) -> (u8, String) {
        match self.next() {
            Got::Status { stream, status } => (stream, status),
            Got::Reset(code) => panic!("the stream was reset with {code}"),
            Got::Closed => panic!("the connection was closed"),
        }
    }
}

/// Sends bytes at once and returns the status of the call.
fn call(bytes: Vec<u8>) -> Served<(u8, String)> {
    serve(move |mut client| {
        client.send(&bytes);
        client.status()
    })
}

fn ok(stream: u8) -> (u8, String) {
    (stream, "0".to_owned())
}

#[rstest]
#[case::of_grpc_core(REWRITTEN)]
#[case::of_grpc_java("/tmp/s.sock")]
#[case::of_grpc_go(VERBATIM)]
fn a_client_is_answered_whatever_its_authority(#[case] authority: &str) {
    let empty = frame(0, 1, 1, &message(&[]));
    let served = call([opened(), request(1, authority, METHOD), empty].concat());
    assert_eq!(served.client, ok(1));
    assert_eq!(served.calls, [0]);
    assert_eq!(served.spoken, ["spoke HTTP/2: 1 request"]);
}

#[rstest]
fn a_call_that_comes_a_byte_at_a_time_is_answered(
    #[values(VERBATIM, REWRITTEN)] authority: &'static str,
) {
    let served = serve(move |mut client| {
        let empty = frame(0, 1, 1, &message(&[]));
        for byte in [opened(), request(1, authority, METHOD), empty].concat() {
            client.send(&[byte]);
        }
        client.status()
    });
    assert_eq!(served.client, ok(1));
    assert_eq!(served.calls, [0]);
}

#[rstest]
fn a_batch_of_more_than_a_mebibyte_arrives_whole(
    #[values(VERBATIM, REWRITTEN)] authority: &'static str,
) {
    const EVENTS: usize = 1_200;
    let event = proto::HealthEvent {
        message: "m".repeat(1_000),
        ..proto::HealthEvent::default()
    };
    let batch = HealthEvents {
        version: 1,
        events: vec![event; EVENTS],
    };
    let data = message(&proto::Message::encode_to_vec(&batch));
    assert!(data.len() > 1 << 20);
    let served = serve(move |mut client| {
        client.send(&[opened(), request(1, authority, METHOD)].concat());
        client.send_data(&data);
        client.status()
    });
    assert_eq!(served.client, ok(1));
    assert_eq!(served.calls, [EVENTS]);
}

#[rstest]
fn a_call_after_one_that_the_client_reset_is_answered(
    #[values(VERBATIM, REWRITTEN)] authority: &'static str,
) {
    const CANCEL: [u8; 4] = [0, 0, 0, 8];
    let start_of_a_message = frame(0, 0, 1, &message(&[0; 40])[..20]);
    let served = call(
        [
            opened(),
            request(1, authority, METHOD),
            start_of_a_message,
            frame(3, 0, 1, &CANCEL),
            request(3, authority, METHOD),
            frame(0, 1, 3, &message(&[])),
        ]
        .concat(),
    );
    assert_eq!(served.client, ok(3));
    assert_eq!(served.calls, [0]);
    assert_eq!(served.spoken, ["spoke HTTP/2: 2 requests"]);
}

#[rstest]
fn calls_at_the_same_time_on_one_connection_are_all_answered(
    #[values(VERBATIM, REWRITTEN)] authority: &'static str,
) {
    let streams = [1, 3, 5, 7];
    let requests = streams.map(|stream| request(stream, authority, METHOD));
    let messages = [7, 3, 1, 5].map(|stream| frame(0, 1, stream, &message(&[])));
    let bytes = [opened(), requests.concat(), messages.concat()].concat();
    let served = serve(move |mut client| {
        client.send(&bytes);
        let mut answered = streams.map(|_| client.status());
        answered.sort();
        answered
    });
    assert_eq!(served.client, streams.map(ok));
    assert_eq!(served.calls, [0; 4]);
}

/// The call arrives. h2 gives up a connection whose client has closed its side, so that there need be no answer.
#[rstest]
fn a_call_of_a_client_that_closes_its_side_arrives(
    #[values(VERBATIM, REWRITTEN)] authority: &'static str,
) {
    let empty = frame(0, 1, 1, &message(&[]));
    let bytes = [opened(), request(1, authority, METHOD), empty].concat();
    let served = serve(move |mut client| {
        client.send(&bytes);
        let closed = client.stream.shutdown(std::net::Shutdown::Write);
        closed.expect("it is open");
        while !matches!(client.next(), Got::Closed) {}
    });
    assert_eq!(served.calls, [0]);
}

#[rstest]
#[case::of_http_1(
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "spoke HTTP/1.1 (`GET / HTTP/1.1`)"
)]
#[case::of_tls(
    b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03\x03aaaaaaaaaaaaaaaaaaaaa",
    "spoke TLS"
)]
#[case::of_no_protocol(b"{\"check\":\"EthernetStateCheck\"}\n", "is not HTTP/2")]
fn a_client_that_speaks_another_protocol_is_refused_and_told(
    #[case] bytes: &'static [u8],
    #[case] told: &str,
) {
    let served = serve(move |mut client| {
        client.send(bytes);
        let closed = client.stream.shutdown(std::net::Shutdown::Write);
        closed.expect("it is open");
        while !matches!(client.next(), Got::Closed) {}
    });
    assert_eq!(served.calls, [0; 0]);
    let [spoken] = served.spoken.as_slice() else {
        panic!("{:?}", served.spoken);
    };
    assert!(spoken.contains(told), "{spoken}");
}

#[rstest]
#[case::an_unknown_method("/datamodels.PlatformConnector/Report", &[], "12", "the connector has `/datamodels")]
#[case::an_unknown_service("/acme.Health/Report", &[], "12", "a call of `/acme.Health/Report`")]
#[case::a_message_that_is_none(
    METHOD,
    b"\xff\xff\xff",
    "13",
    "refused: a call: failed to decode Protobuf message"
)]
fn a_call_that_does_not_reach_the_handler_is_told(
    #[case] path: &str,
    #[case] bytes: &[u8],
    #[case] status: &str,
    #[case] told: &str,
) {
    let sent = frame(0, 1, 1, &message(bytes));
    let served = call([opened(), request(1, VERBATIM, path), sent].concat());
    assert_eq!(served.client, (1, status.to_owned()));
    assert_eq!(served.calls, [0; 0]);
    assert!(served.spoken[0].contains(told), "{:?}", served.spoken);
}

/// A request whose second authority is unlawful goes through the filter verbatim, because the first was lawful.
#[test]
fn a_stream_that_h2_resets_is_told() {
    let first = [request(1, VERBATIM, METHOD), frame(0, 1, 1, &message(&[]))];
    let bytes = [opened(), first.concat(), request(3, REWRITTEN, METHOD)].concat();
    let served = serve(move |mut client| {
        client.send(&bytes);
        loop {
            match client.next() {
                Got::Reset(code) => return code,
                Got::Status { .. } => {}
                Got::Closed => panic!("the connection was closed"),
            }
        }
    });
    assert_eq!(served.client, 1);
    let told = "spoke HTTP/2: 2 requests; refused: a request, by RST_STREAM PROTOCOL_ERROR";
    assert_eq!(served.spoken, [told]);
}

#[test]
fn a_client_that_goes_before_any_request_is_told() {
    let served = serve(|client| {
        client
            .stream
            .shutdown(std::net::Shutdown::Both)
            .expect("it is open");
    });
    assert_eq!(served.calls, [0; 0]);
    assert!(
        served
            .spoken
            .iter()
            .all(|spoken| spoken.starts_with("sent nothing"))
    );
}
