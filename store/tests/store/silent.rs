//! A server that takes a connection and says nothing.

use std::{net::TcpListener, time::Duration};

use store::{Opening, Run, StoreError, StoreUrl};

/// The refusal of a store whose server never answers.
fn refusal(opening: Opening<'_>) -> (StoreError, String) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = format!("postgres://ann@{}/events", silent.local_addr().unwrap());
    let url: StoreUrl = store.parse().unwrap();
    let reached = url.reach(Run::now(7, Vec::new()), opening);
    (reached.err().expect("nobody answers"), store)
}

#[test]
fn a_server_that_never_answers_is_refused_when_its_time_is_over() {
    let (error, store) = refusal(Opening {
        at_most: Duration::from_millis(500),
        ..Opening::default()
    });
    let told = format!("the store `{store}` did not answer within 0.5 s\nhint: ");
    assert!(error.to_string().starts_with(&told), "{error}");
}

#[test]
fn a_signal_ends_the_wait_for_a_server() {
    let (error, store) = refusal(Opening {
        is_ended: &|| true,
        ..Opening::default()
    });
    assert_eq!(error, StoreError::Ended { store });
}
