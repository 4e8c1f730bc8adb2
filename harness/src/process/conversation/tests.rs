//! What is told of a connection, for each way in which a client does not get through.

use proptest::collection::vec;
use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    flagged(kind, 0, 1, payload)
}

fn flagged(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Frame::write(kind, flags, [0, 0, 0, stream], payload, &mut out);
    out
}

/// What is told after these bytes, which come in pieces of a length.
fn told(client: &[u8], server: &[u8], piece: usize) -> String {
    let mut conversation = Conversation::default();
    for piece in client.chunks(piece) {
        conversation.client_sent(piece);
    }
    for piece in server.chunks(piece) {
        conversation.server_sent(piece);
    }
    conversation.describe()
}

fn opened(frames: &[Vec<u8>]) -> Vec<u8> {
    [PREFACE.to_vec(), frames.concat()].concat()
}

#[rstest]
#[case::nothing(b"", "sent nothing")]
#[case::http_1(
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "spoke HTTP/1.1 (`GET /healthz HTTP/1.1`); refused: gRPC is spoken over HTTP/2"
)]
#[case::tls(
    b"\x16\x03\x01\x02\x00\x01",
    "spoke TLS; refused: the connector has none, use an insecure channel"
)]
#[case::json(
    b"{\"event\":1}\n",
    "sent `{\\\"event\\\":1}`; refused: this is not HTTP/2"
)]
#[case::a_preface_and_settings(&opened(&[frame(4, &[])]), "spoke HTTP/2 and sent no request")]
#[case::a_request(&opened(&[frame(4, &[]), frame(HEADERS, b"\x82")]), "spoke HTTP/2: 1 request")]
#[case::two_requests(
    &opened(&[frame(HEADERS, &[0; 900]), flagged(HEADERS, 0, 3, b"\x82")]),
    "spoke HTTP/2: 2 requests"
)]
#[case::a_request_with_trailers(
    &opened(&[frame(HEADERS, b"\x82"), flagged(HEADERS, END_STREAM, 1, b"\x82")]),
    "spoke HTTP/2: 1 request"
)]
fn the_protocol_of_a_client_is_told(#[case] client: &[u8], #[case] expected: &str) {
    for piece in [1, 5, 1000] {
        assert_eq!(told(client, b"", piece), expected);
    }
}

#[rstest]
#[case::a_reset_stream(frame(RST_STREAM, &[0, 0, 0, 1]), "a request, by RST_STREAM PROTOCOL_ERROR")]
#[case::a_connection_that_is_ended(
    frame(GOAWAY, b"\0\0\0\0\0\0\0\x0bcalm"),
    "the connection, by GOAWAY ENHANCE_YOUR_CALM (calm)"
)]
#[case::a_code_that_nobody_knows(frame(RST_STREAM, &[0, 0, 1, 0]), "a request, by RST_STREAM an unknown code")]
fn a_refusal_of_the_server_is_told(#[case] server: Vec<u8>, #[case] expected: &str) {
    let client = opened(&[frame(HEADERS, b"\x82")]);
    for piece in [1, 5, 1000] {
        let expected = format!("spoke HTTP/2: 1 request; refused: {expected}");
        assert_eq!(told(&client, &server, piece), expected);
    }
}

#[rstest]
#[case::the_end_of_a_stream(frame(RST_STREAM, &[0; 4]))]
#[case::a_stream_that_the_client_left(frame(RST_STREAM, &[0, 0, 0, 8]))]
#[case::a_graceful_end(frame(GOAWAY, &[0; 8]))]
#[case::an_answer(frame(HEADERS, b"\x88"))]
fn what_refuses_nothing_is_not_told(#[case] server: Vec<u8>) {
    let client = opened(&[frame(HEADERS, b"\x82")]);
    assert_eq!(told(&client, &server, 3), "spoke HTTP/2: 1 request");
}

#[test]
fn a_client_that_closes_before_any_request_is_told() {
    let mut conversation = Conversation::default();
    conversation.close();
    let told = conversation.describe();
    assert_eq!(told, "sent nothing; it was closed by the client");
}

#[rstest]
#[case::of_all(&[], "spoke HTTP/2: 3 requests; the client closed it before 3 answers")]
#[case::but_one(
    &[flagged(HEADERS, END_STREAM, 1, b"\x88"), flagged(HEADERS, 0, 3, b"\x88"), flagged(DATA, END_STREAM, 3, b"")],
    "spoke HTTP/2: 3 requests; the client closed it before 1 answer"
)]
#[case::of_none(
    &[1, 3, 5].map(|stream| flagged(HEADERS, END_STREAM, stream, b"\x88")),
    "spoke HTTP/2: 3 requests"
)]
fn a_client_that_closes_before_an_answer_is_told(
    #[case] answers: &[Vec<u8>],
    #[case] expected: &str,
) {
    let mut conversation = Conversation::default();
    let requests = [1, 3, 5].map(|stream| flagged(HEADERS, END_STREAM, stream, b"\x82"));
    conversation.client_sent(&opened(&requests));
    conversation.server_sent(&answers.concat());
    conversation.close();
    assert_eq!(conversation.describe(), expected);
}

#[test]
fn a_request_that_its_client_reset_waits_for_no_answer() {
    let mut conversation = Conversation::default();
    let frames = [frame(HEADERS, b"\x82"), frame(RST_STREAM, &[0, 0, 0, 8])];
    conversation.client_sent(&opened(&frames));
    conversation.close();
    assert_eq!(conversation.describe(), "spoke HTTP/2: 1 request");
}

#[test]
fn a_request_is_open_until_its_answer_is_sent_whole() {
    let mut conversation = Conversation::default();
    let requests = [1, 3, 5].map(|stream| flagged(HEADERS, END_STREAM, stream, b"\x82"));
    conversation.client_sent(&opened(&requests));
    assert_eq!(conversation.open_requests(), 3);
    conversation.server_sent(&flagged(HEADERS, 0, 3, b"\x88"));
    assert_eq!(conversation.open_requests(), 3);
    conversation.server_sent(&flagged(DATA, END_STREAM, 3, b""));
    assert_eq!(conversation.open_requests(), 2);
    conversation.server_sent(&frame(RST_STREAM, &[0, 0, 0, 7]));
    assert_eq!(conversation.open_requests(), 1);
    assert_eq!(conversation.most_open_requests(), 3);
}

#[test]
fn of_a_long_refusal_the_beginning_is_told() {
    let mut conversation = Conversation::default();
    conversation.refuse("ä".repeat(REFUSAL_MAX));
    conversation.refuse("ä".repeat(REFUSAL_MAX + 1));
    let kept = "ä".repeat(REFUSAL_MAX);
    assert_eq!(conversation.refusals, [kept.clone(), kept + "…"]);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_and_pieces_do_not_matter(
        head in prop_oneof![Just(Vec::new()), Just(PREFACE.to_vec())],
        client in vec(any::<u8>(), 0..200),
        server in vec((0..12_u8, vec(any::<u8>(), 0..20)), 0..6),
        rest in vec(any::<u8>(), 0..40),
        piece in 1..30_usize,
    ) {
        let client = [head, client].concat();
        let frames = server.iter().map(|(kind, payload)| frame(*kind, payload));
        let server = [frames.collect::<Vec<_>>().concat(), rest].concat();
        let whole = told(&client, &server, client.len().max(server.len()).max(1));
        prop_assert_eq!(told(&client, &server, piece), whole);
    }
}

#[rstest]
#[case::before_it_has_the_settings(&[frame(SETTINGS, &[])], false)]
#[case::with_the_settings(&[frame(SETTINGS, &[]), flagged(SETTINGS, ACK, 0, &[])], true)]
fn a_client_is_ready_once_it_acknowledges_the_settings(
    #[case] frames: &[Vec<u8>],
    #[case] expected: bool,
) {
    let mut conversation = Conversation::default();
    conversation.client_sent(&opened(frames));
    assert_eq!(conversation.is_ready(), expected);
    conversation.close();
    assert!(!conversation.is_ready());
}
