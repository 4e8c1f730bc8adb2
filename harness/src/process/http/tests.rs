//! What is read of a server that answers with more than it should.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
};

use rustix::process::getpid;

use super::*;

/// What comes of a request to a server that answers with these bytes, so often or until nobody reads them.
fn asked(answer: &'static [u8], times: usize) -> io::Result<(u16, String)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let read = stream.read(&mut [0; 1024]).unwrap();
        assert!(read > 0);
        let mut sent = (0..times).map(|_| stream.write_all(answer));
        let _ = sent.find(Result::is_err);
        // Whoever asked has it, or has gone.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_io().enable_time().build().unwrap();
    let got = get(&runtime, (getpid(), port), "/metrics", None);
    drop(runtime);
    server.join().unwrap();
    got
}

#[test]
fn an_answer_behind_some_interim_ones_is_read() {
    let got = asked(b"HTTP/1.1 100 Continue\r\n\r\n", 10);
    assert_eq!(got.unwrap().0, 200);
}

#[test]
fn interim_answers_without_end_are_over_a_bound() {
    let error = asked(b"HTTP/1.1 100 Continue\r\n\r\n", usize::MAX).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    let told = "more than 100 interim answers (1xx) before it";
    assert_eq!(error.to_string(), told);
}
