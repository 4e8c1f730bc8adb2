//! Connections of each client library: what h2 refuses, and what passes through unchanged.

use proptest::collection::vec;
use proptest::prelude::*;
use rstest::rstest;

use super::*;

const DATA: u8 = 0x0;
const STREAM: [u8; 4] = [0, 0, 0, 1];

fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Frame::write(kind, flags, STREAM, payload, &mut out);
    out
}

/// The fields of a gRPC request.
fn request(authority: &[u8]) -> Fields {
    let fields: [(&[u8], &[u8]); 5] = [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (
            b":path",
            b"/datamodels.PlatformConnector/HealthEventOccurredV1",
        ),
        (b":authority", authority),
        (b"content-type", b"application/grpc"),
    ];
    fields
        .map(|(name, value)| (name.to_vec(), value.to_vec()))
        .to_vec()
}

fn encoded(fields: &Fields) -> Vec<u8> {
    let fields = fields.iter().map(|(name, value)| (&**name, &**value));
    loona_hpack::Encoder::new().encode(fields)
}

/// A connection up to and with a first request.
fn opened(block: &[u8]) -> Vec<u8> {
    [
        PREFACE,
        &frame(4, 0, &[]),
        &frame(HEADERS, END_HEADERS, block),
    ]
    .concat()
}

/// What the server gets of bytes that come in pieces of a length.
fn passed(bytes: &[u8], piece: usize) -> Result<Vec<u8>, Malformed> {
    let (mut filter, mut out) = (AuthorityFilter::default(), Vec::new());
    for piece in bytes.chunks(piece) {
        filter.pass(piece, &mut out)?;
    }
    Ok(out)
}

/// The fields of all blocks, as a server reads them, and the flags of their first frames.
fn read(bytes: &[u8]) -> Vec<(Fields, u8)> {
    let mut rest = bytes.strip_prefix(PREFACE).expect("a preface");
    let (mut decoder, mut blocks) = (Decoder::new(), Vec::new());
    while let Some(frame) = Frame::read(rest) {
        assert!(frame.len <= FRAME_MAX);
        let mut taken = FRAME_HEADER + frame.len;
        if frame.kind == HEADERS {
            let block = Block::read(rest).expect("a block").expect("a whole block");
            let mut fields = Fields::new();
            let keep = |name: Cow<'_, [u8]>, value: Cow<'_, [u8]>| {
                fields.push((name.to_vec(), value.to_vec()));
            };
            decoder
                .decode_with_cb(&block.fragment, keep)
                .expect("a block of RFC 7541");
            blocks.push((fields, frame.flags));
            taken = block.taken;
        }
        rest = &rest[taken..];
    }
    assert!(rest.is_empty());
    blocks
}

#[rstest]
#[case::of_grpc_core(b"tmp%2Fnicdrill%2Fnode-a.sock")]
#[case::of_grpc_java(b"/tmp/nicdrill/node-a.sock")]
#[case::that_is_empty(b"")]
#[case::that_is_no_text(b"\xff\xfe")]
fn an_unlawful_authority_becomes_localhost(#[case] authority: &[u8]) {
    let sent = opened(&encoded(&request(authority)));
    for piece in [1, 7, sent.len()] {
        let got = passed(&sent, piece).expect("it is well-formed");
        assert_eq!(read(&got), [(request(b"localhost"), END_HEADERS)]);
    }
}

#[rstest]
#[case::localhost(b"localhost")]
#[case::with_a_port(b"node-a:50051")]
#[case::an_address(b"[::1]:80")]
fn a_connection_with_a_lawful_authority_passes_verbatim(#[case] authority: &[u8]) {
    let mut sent = opened(&encoded(&request(authority)));
    sent.extend(frame(DATA, END_STREAM, b"a message"));
    sent.extend(frame(HEADERS, END_HEADERS, b"\xff\xff\xff\xff\xff"));
    for piece in [1, 7, sent.len()] {
        assert_eq!(passed(&sent, piece).as_ref(), Ok(&sent));
    }
}

#[test]
fn a_request_without_an_authority_passes_verbatim() {
    let mut fields = request(b"");
    fields.remove(3);
    let sent = opened(&encoded(&fields));
    assert_eq!(passed(&sent, 5).as_ref(), Ok(&sent));
}

#[rstest]
#[case::of_http_1(b"GET /healthz HTTP/1.1\r\n\r\n")]
#[case::of_no_protocol(b"PRI * HTTP/3")]
#[case::of_a_client_that_resets_at_once(PREFACE)]
fn what_has_no_header_block_passes_verbatim(#[case] sent: &[u8]) {
    assert_eq!(passed(sent, 3).as_deref(), Ok(sent));
}

/// The second request is five indices of the table that the first one filled, the newest field first.
#[test]
fn each_request_of_a_connection_is_written_anew() {
    let mut first = Vec::new();
    for (name, value) in request(b"tmp%2Fa.sock") {
        // A literal with incremental indexing, with a new name (RFC 7541, section 6.2.1).
        first.push(0x40);
        string(&name, &mut first);
        string(&value, &mut first);
    }
    let second = [66, 65, 64, 63, 62].map(|index| 0x80 | index);
    let mut sent = opened(&first);
    sent.extend(frame(DATA, END_STREAM, b"a message"));
    sent.extend(frame(HEADERS, END_HEADERS | END_STREAM, &second));
    let got = passed(&sent, 11).expect("it is well-formed");
    let expected = request(b"localhost");
    assert_eq!(
        read(&got),
        [
            (expected.clone(), END_HEADERS),
            (expected, END_HEADERS | END_STREAM)
        ]
    );
    let message = frame(DATA, END_STREAM, b"a message");
    assert!(got.windows(message.len()).any(|part| part == message));
}

#[test]
fn a_block_may_be_padded_have_a_priority_and_be_continued() {
    let block = encoded(&request(b"a%2Fb"));
    let (start, end) = block.split_at(4);
    let mut payload = vec![3, 0, 0, 0, 0, 16];
    payload.extend_from_slice(start);
    payload.extend_from_slice(&[0; 3]);
    let sent = [
        PREFACE,
        &frame(HEADERS, PADDED | PRIORITY | END_STREAM, &payload),
        &frame(CONTINUATION, END_HEADERS, end),
    ]
    .concat();
    let got = passed(&sent, 2).expect("it is well-formed");
    assert_eq!(
        read(&got),
        [(request(b"localhost"), END_HEADERS | END_STREAM)]
    );
}

#[test]
fn a_long_block_is_written_in_frames_that_every_server_accepts() {
    let mut fields = request(b"a%2Fb");
    fields.push((b"x-long".to_vec(), vec![b'a'; 40_000]));
    let block = encoded(&fields);
    let mut sent = [PREFACE, &frame(HEADERS, 0, &block[..FRAME_MAX])].concat();
    let mut pieces = block[FRAME_MAX..].chunks(FRAME_MAX).peekable();
    while let Some(piece) = pieces.next() {
        let flags = if pieces.peek().is_none() {
            END_HEADERS
        } else {
            0
        };
        sent.extend(frame(CONTINUATION, flags, piece));
    }
    let got = passed(&sent, 1000).expect("it is well-formed");
    fields[3].1 = b"localhost".to_vec();
    assert_eq!(read(&got), [(fields, 0)]);
}

#[rstest]
#[case::that_is_no_hpack(&[frame(HEADERS, END_HEADERS, b"\xff\xff\xff\xff\xff")], Malformed::Block)]
#[case::with_another_frame_inside(&[frame(HEADERS, 0, b"\0"), frame(DATA, 0, b"")], Malformed::Frames)]
#[case::with_more_padding_than_bytes(&[frame(HEADERS, END_HEADERS | PADDED, b"\x09\0")], Malformed::Frames)]
fn a_block_that_cannot_be_read_ends_a_rewritten_connection(
    #[case] frames: &[Vec<u8>],
    #[case] why: Malformed,
) {
    let mut sent = opened(&encoded(&request(b"a%2Fb")));
    sent.extend(frames.concat());
    assert_eq!(passed(&sent, 4), Err(why));
}

/// Such a block would decode to 60 MB: each byte is an index of a field of 4 KB.
#[test]
fn a_block_that_decodes_to_more_than_the_limit_is_refused() {
    let mut fields = request(b"a%2Fb");
    fields.push((b"x-long".to_vec(), vec![b'a'; 3_900]));
    let mut sent = opened(&encoded(&fields));
    let newest = 0x80 | 62;
    sent.extend(frame(HEADERS, END_HEADERS, &[newest; 15_000]));
    assert_eq!(passed(&sent, 4096), Err(Malformed::Block));
}

proptest! {
    #[test]
    fn no_bytes_make_the_filter_panic_and_pieces_do_not_matter(
        head in prop_oneof![
            Just(Vec::new()),
            Just(PREFACE.to_vec()),
            Just(opened(&encoded(&request(b"a%2Fb")))),
        ],
        frames in vec((0..12_u8, any::<u8>(), vec(any::<u8>(), 0..60)), 0..6),
        rest in vec(any::<u8>(), 0..40),
        piece in 1..50_usize,
    ) {
        let mut sent = head;
        sent.extend(frames.iter().flat_map(|(kind, flags, payload)| frame(*kind, *flags, payload)));
        sent.extend(rest);
        let whole = passed(&sent, sent.len().max(1));
        prop_assert_eq!(passed(&sent, piece), whole);
    }
}
