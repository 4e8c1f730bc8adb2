//! Calls of clients of other languages over raw HTTP/2: each is accepted, whatever its `:authority` is; and what the
//! connector tells of connections that do not get through.

use std::net::Shutdown;

use rstest::rstest;

use super::*;

mod fuzz;
mod raw_client;
mod served;
mod tampered;

use raw_client::{Got, METHOD, RawClient, end, frame, message, one_call, opened, request};
use served::{Behind, Served, serve, serve_after, serve_at};

/// The authorities of grpc-go, whose connections pass verbatim, and of grpc-core, whose are rewritten.
const VERBATIM: &str = "localhost";
const REWRITTEN: &str = "tmp%2Fs.sock";

/// The reset of a stream by its client (RFC 9113, section 7).
const CANCEL: [u8; 4] = [0, 0, 0, 8];

/// Sends bytes at once and returns the status of the call.
fn call(bytes: Vec<u8>) -> Served<(u8, String)> {
    serve(move |mut client: RawClient| {
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
    let served = call(one_call(authority));
    assert_eq!(served.client, ok(1));
    assert_eq!(served.calls, [0]);
    assert_eq!(served.spoken, ["spoke HTTP/2: 1 request"]);
}

#[rstest]
fn a_call_that_comes_a_byte_at_a_time_is_answered(
    #[values(VERBATIM, REWRITTEN)] authority: &'static str,
) {
    let served = serve(move |mut client| {
        for byte in one_call(authority) {
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
    let start_of_a_message = frame(0, 0, 1, &message(&[0; 40])[..20]);
    let served = call(
        [
            opened(),
            request(1, authority, METHOD),
            start_of_a_message,
            frame(3, 0, 1, &CANCEL),
            request(3, authority, METHOD),
            end(3, &[]),
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
    let messages = [7, 3, 1, 5].map(|stream| end(stream, &[]));
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

/// The bytes of a client that has closed its side before the server looks, and what comes of them. gRPC closes the
/// half of a stream (END_STREAM); who closes the half of a connection is given up by h2 as soon as it sees the end.
#[rstest]
#[case::before_any_byte(0)]
#[case::in_the_preface(10)]
#[case::after_the_preface(33)]
#[case::in_the_request(60)]
#[case::after_a_call(usize::MAX)]
fn a_connection_that_its_client_half_closes_is_as_with_h2_alone(
    #[values(VERBATIM, REWRITTEN)] authority: &'static str,
    #[case] sent: usize,
) {
    let half_closed = |behind, authority| {
        let mut bytes = one_call(authority);
        bytes.truncate(sent);
        let ahead = move |client: &mut RawClient| {
            client.send(&bytes);
            client.close(Shutdown::Write);
        };
        serve_after(behind, ahead, |mut client| client.rest())
    };
    let alone = half_closed(Behind::H2Alone, VERBATIM);
    let ours = half_closed(Behind::Connector, authority);
    assert_eq!(ours.client, alone.client);
    assert_eq!(ours.calls, alone.calls);
}

#[rstest]
fn a_client_that_half_closes_after_its_answer_is_closed(
    #[values(VERBATIM, REWRITTEN)] authority: &'static str,
) {
    let answered = |behind, authority| {
        let client = move |mut client: RawClient| {
            client.send(&one_call(authority));
            let status = client.status();
            client.close(Shutdown::Write);
            (status, client.rest())
        };
        serve_after(behind, |_| {}, client)
    };
    let alone = answered(Behind::H2Alone, VERBATIM);
    let ours = answered(Behind::Connector, authority);
    assert_eq!(alone.client, (ok(1), vec![Got::Closed]));
    assert_eq!(ours.client, alone.client);
    assert_eq!(ours.calls, alone.calls);
    assert_eq!(ours.spoken, ["spoke HTTP/2: 1 request"]);
}

#[rstest]
fn a_client_that_half_closes_before_its_answer_is_told(
    #[values(VERBATIM, REWRITTEN)] authority: &'static str,
) {
    let ahead = |client: &mut RawClient| {
        client.send(&one_call(authority));
        client.close(Shutdown::Write);
    };
    let served = serve_after(Behind::Connector, ahead, |mut client| client.rest());
    let told = "spoke HTTP/2: 1 request; the client closed it before 1 answer";
    assert_eq!(served.spoken, [told]);
}

#[rstest]
#[case::of_http_1(
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
    "spoke HTTP/1.1 (`GET / HTTP/1.1`); refused: gRPC is spoken over HTTP/2"
)]
#[case::of_tls(
    b"\x16\x03\x01\x00\x20\x01\x00\x00\x1c\x03\x03 and the rest of a client hello",
    "spoke TLS; refused: the connector has none, use an insecure channel"
)]
#[case::of_lines(
    b"{\"check\":\"EthernetStateCheck\"}\n",
    "sent `{\\\"check\\\":\\\"EthernetStateCheck\\\"}`; refused: this is not HTTP/2"
)]
#[case::of_three_bytes(b"hi\n", "sent `hi`; refused: this is not HTTP/2")]
fn a_client_of_another_protocol_reads_end_of_file_and_is_told_as_refused(
    #[case] bytes: &'static [u8],
    #[case] told: &str,
) {
    let served = serve(move |mut client| {
        client.send(bytes);
        client.rest()
    });
    assert_eq!(served.client, [Got::Closed]);
    assert_eq!(served.calls, [0; 0]);
    let [spoken] = served.spoken.as_slice() else {
        panic!("{:?}", served.spoken);
    };
    assert!(spoken.starts_with(told), "{spoken}");
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
    let served = call([opened(), request(1, VERBATIM, path), end(1, bytes)].concat());
    assert_eq!(served.client, (1, status.to_owned()));
    assert_eq!(served.calls, [0; 0]);
    assert!(served.spoken[0].contains(told), "{:?}", served.spoken);
}

/// A request whose second authority is unlawful goes through the filter verbatim, because the first was lawful.
#[test]
fn a_stream_that_h2_resets_is_told() {
    let bytes = [one_call(VERBATIM), request(3, REWRITTEN, METHOD)].concat();
    let served = serve(move |mut client| {
        client.send(&bytes);
        let mut got = [client.next(), client.next()];
        got.sort();
        got
    });
    let (stream, status) = ok(1);
    assert_eq!(
        served.client,
        [Got::Status { stream, status }, Got::Reset(1)]
    );
    let told = "spoke HTTP/2: 2 requests; refused: a request, by RST_STREAM PROTOCOL_ERROR";
    assert_eq!(served.spoken, [told]);
}

#[rstest]
#[case::a_byte(&[], "sent nothing; it was closed by the client")]
#[case::a_request(
    raw_client::PREFACE,
    "spoke HTTP/2 and sent no request; it was closed by the client"
)]
fn a_client_that_goes_before(#[case] sent: &[u8], #[case] told: &str) {
    let ahead = |client: &mut RawClient| {
        client.send(sent);
        client.close(Shutdown::Write);
    };
    let served = serve_after(Behind::Connector, ahead, |mut client| client.rest());
    assert_eq!(served.calls, [0; 0]);
    assert_eq!(served.spoken, [told]);
}

#[rstest]
fn a_call_that_ends_without_a_message_is_told(
    #[values(VERBATIM, REWRITTEN)] authority: &'static str,
) {
    let empty = frame(0, 1, 1, &[]);
    let served = call([opened(), request(1, authority, METHOD), empty].concat());
    let told = "spoke HTTP/2: 1 request; refused: a call: Missing request message.";
    assert_eq!(served.spoken, [told]);
}

#[test]
fn a_connection_above_the_most_is_closed_and_one_after_an_end_is_served() {
    let served = serve_at(|path: PathBuf| {
        let connected = |_| RawClient::connect(&path);
        let mut open: Vec<RawClient> = (0..CONNECTIONS_MAX).map(connected).collect();
        let refused = RawClient::connect(&path).rest();
        drop(open.pop());
        let mut last = RawClient::connect(&path);
        last.send(&one_call(VERBATIM));
        (refused, last.status())
    });
    assert_eq!(served.client, (vec![Got::Closed], ok(1)));
    assert_eq!(served.calls, [0]);
}

/// A stream above SETTINGS_MAX_CONCURRENT_STREAMS may be refused (RFC 9113, section 5.1.2).
#[test]
fn a_request_above_the_most_that_may_be_open_is_refused() {
    const REFUSED_STREAM: u32 = 7;
    let requests = (0..=u32::from(OPEN_CALLS_MAX)).flat_map(|number| {
        let mut frame = request(1, VERBATIM, METHOD);
        // The stream of a frame (RFC 9113, section 4.1).
        frame[5..9].copy_from_slice(&(2 * number + 1).to_be_bytes());
        frame
    });
    let bytes: Vec<u8> = opened().into_iter().chain(requests).collect();
    let served = serve(move |mut client| {
        client.send(&bytes);
        client.next()
    });
    assert_eq!(served.client, Got::Reset(REFUSED_STREAM));
    assert_eq!(served.calls, [0; 0]);
    let [spoken] = served.spoken.as_slice() else {
        panic!("{:?}", served.spoken);
    };
    assert!(
        spoken.starts_with("spoke HTTP/2: 1001 requests"),
        "{spoken}"
    );
}
