//! Random bytes on the connector's socket: damaged HTTP/2, gRPC and protobuf. Each connection ends, and a right client is still
//! answered.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use prost::Message as _;
use test_support::mutation::{self, Mutation};

use super::{
    METHOD, REWRITTEN, RawClient, VERBATIM, end, frame, message, one_call, opened, request,
    served::serve_at,
};

/// How long a connection may take to end. Chosen: far more than a busy machine needs.
const PATIENCE: Duration = Duration::from_secs(30);

/// After so many damaged connections a right client calls.
const BETWEEN: u64 = 250;

/// One server takes so many connections.
const CONNECTIONS: u64 = 10_000;

fn batch() -> Vec<u8> {
    let event = proto::HealthEvent {
        agent: "nic-health-monitor".to_owned(),
        message: "Port mlx5_0 port 1: state DOWN".to_owned(),
        error_code: vec!["link_downed".to_owned()],
        ..proto::HealthEvent::default()
    };
    let batch = proto::HealthEvents {
        version: 1,
        events: vec![event; 3],
    };
    batch.encode_to_vec()
}

/// What right clients send, of which the inputs are made.
fn conversations() -> Vec<Vec<u8>> {
    let batch = batch();
    let whole = |authority| [opened(), request(1, authority, METHOD), end(1, &batch)].concat();
    let cut = frame(0, 0, 1, &message(&batch)[..20]);
    let rest = frame(0, 1, 1, &message(&batch)[20..]);
    vec![
        whole(VERBATIM),
        whole(REWRITTEN),
        [opened(), request(1, VERBATIM, METHOD), cut, rest].concat(),
        // SETTINGS, PING, WINDOW_UPDATE and RST_STREAM (RFC 9113, section 6).
        [
            opened(),
            frame(4, 0, 0, &[0, 4, 0, 1, 0, 0]),
            frame(6, 0, 0, &[1; 8]),
            frame(8, 0, 0, &[0, 0, 1, 0]),
            request(1, REWRITTEN, METHOD),
            frame(3, 0, 1, &[0, 0, 0, 8]),
        ]
        .concat(),
    ]
}

/// Sends an input, and waits for the server to end the connection.
fn sent(path: &Path, input: &[u8]) -> std::io::Result<()> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut ignored = [0; 4096];
    let whole = stream
        .write_all(input)
        .and_then(|()| stream.shutdown(Shutdown::Write));
    let ended = match whole {
        Ok(()) => loop {
            match stream.read(&mut ignored) {
                Ok(0) => break Ok(()),
                Ok(_) => {}
                Err(error) => break Err(error),
            }
        },
        refused => refused,
    };
    match ended {
        // The server has closed it first.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
            ) =>
        {
            Ok(())
        }
        ended => ended,
    }
}

#[test]
fn a_connector_survives_what_is_sent_to_it() {
    let conversations = conversations();
    let mut left = mutation::count();
    let mut seed = mutation::seed();
    while left > 0 {
        let now = left.min(CONNECTIONS);
        let conversations = conversations.clone();
        let served = serve_at(move |path: PathBuf| {
            let mut inputs = Mutation::of(conversations.iter().collect(), seed);
            for number in 0..now {
                let input = inputs.next_input();
                let ended = sent(&path, &input);
                assert!(
                    ended.is_ok(),
                    "input {number} of seed {seed}: {ended:?}: {input:?}"
                );
                if number % BETWEEN == 0 {
                    let mut right = RawClient::connect(&path);
                    right.send(&one_call(VERBATIM));
                    assert_eq!(
                        right.status(),
                        (1, "0".to_owned()),
                        "after input {number} of seed {seed}"
                    );
                }
            }
        });
        let right = usize::try_from(now.div_ceil(BETWEEN)).expect("it is small");
        assert!(
            served.calls.len() > right,
            "no damaged call was taken for one"
        );
        (left, seed) = (left - now, seed + 1);
    }
}
