//! Sockets that somebody else removes or replaces.

use super::{super::*, *};

fn nothing(_: &Path) {}

fn removed(path: &Path) {
    fs::remove_file(path).expect("it is there");
}

fn replaced(path: &Path) {
    // Made before the other one is gone, so that it has another inode.
    let other = path.with_extension("other");
    fs::write(&other, "").expect("a folder");
    fs::rename(other, path).expect("a folder");
}

fn a_folder(path: &Path) {
    removed(path);
    fs::create_dir(path).expect("a folder");
}

fn a_file(path: &Path) {
    fs::write(path, "").expect("a folder");
}

/// A socket that is in a state, what is done at its path, and what is told when the script asks for a state.
#[rstest]
#[case(Socket::Listening, nothing, Socket::Listening, None)]
#[case(Socket::Listening, nothing, Socket::Absent, None)]
#[case(Socket::Absent, nothing, Socket::Listening, None)]
#[case(
    Socket::Listening,
    removed,
    Socket::Listening,
    Some("removed or renamed")
)]
#[case(Socket::Listening, removed, Socket::Absent, Some("removed or renamed"))]
#[case(Socket::Listening, replaced, Socket::Listening, Some("something else"))]
#[case(Socket::Listening, a_folder, Socket::Absent, Some("something else"))]
#[case(
    Socket::Absent,
    a_file,
    Socket::Absent,
    Some("where the socket is to be")
)]
#[case(
    Socket::Absent,
    a_file,
    Socket::Listening,
    Some("where the socket is to be")
)]
fn a_socket_that_is_not_left_alone_is_told(
    #[case] before: Socket,
    #[case] does: fn(&Path),
    #[case] after: Socket,
    #[case] told: Option<&str>,
) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.sock");
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_io().build().expect("a runtime");
    let (to, _events) = mpsc::unbounded_channel();
    let node = NodeName::from("node-a");
    let mut connector = Connector::start(&runtime);
    let sender = EventSender::new(node.clone(), to);
    connector.open(&node, &path, folder.path(), sender);
    let stood = connector.stand(&runtime, &node, before);
    stood.expect("the socket can be bound");
    does(&path);
    let stood = connector.stand(&runtime, &node, after);
    match (stood, told) {
        (Ok(()), None) => {}
        (Err(SocketError::Tampered(what)), Some(told)) => assert!(what.contains(told), "{what}"),
        other => panic!("{other:?}"),
    }
    // Whatever it was, nothing is left for the next drill.
    let closed = connector.close(&runtime);
    assert!(told.is_some() || closed.is_ok(), "{closed:?}");
    assert!(!path.exists());
}
