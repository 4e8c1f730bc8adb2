//! Helpers of the tests: a net of the document's eight machines, and one message from end to end.

use mpib::{
    Bytes, ConnectionId, Host, HostId, Isend, MpibProfile, Net, Progress, Rail, RailChange,
    RailMask, RailState, Receive, RequestId, Settings, Tag, eight_vms,
};
use simfs::SimTime;

/// A net with started plugins.
pub(crate) fn net_of(profile: MpibProfile, hosts: Vec<Host>) -> Net {
    let mut net = Net::new(hosts, Settings::new(profile));
    for host in net.hosts() {
        net.init(host).expect("the plugin is accepted");
    }
    net
}

/// The eight machines, with started plugins.
pub(crate) fn eight(profile: MpibProfile) -> Net {
    net_of(profile, eight_vms())
}

/// `vm1` to `vm8`.
pub(crate) fn vm(number: u16) -> HostId {
    HostId::new(number - 1)
}

pub(crate) fn connect(net: &mut Net, from: u16, to: u16) -> ConnectionId {
    net.connect(vm(from), vm(to)).expect("the ends connect")
}

/// A buffer for a message of this many bytes with tag 1.
pub(crate) fn buffer(size: u64) -> Receive {
    Receive {
        tag: Tag(1),
        size_max: Bytes::new(size),
    }
}

/// Offers one buffer and sends a message into it; returns the mask and both requests.
pub(crate) fn send(
    net: &mut Net,
    connection: ConnectionId,
    size: u64,
) -> (RailMask, RequestId, RequestId) {
    let received = net.irecv(connection, &[buffer(size)]).expect("it is alive");
    let sent = net.isend(connection, Tag(1), Bytes::new(size));
    match sent.expect("it is alive") {
        Isend::Request(sent, mask) => (mask, sent, received),
        other => panic!("the message was not sent: {other:?}"),
    }
}

/// The time at which the request was done; `None` while it is pending.
pub(crate) fn done(net: &mut Net, request: RequestId) -> Option<SimTime> {
    match net.test(request).expect("the connection is alive") {
        Progress::Done(at) => Some(at),
        Progress::Pending => None,
    }
}

pub(crate) fn notify(net: &mut Net, at_ms: u64, host: u16, rail: Rail, state: RailState) {
    net.notify(RailChange {
        at: SimTime::from_ms(at_ms),
        host: vm(host),
        rail,
        state,
    });
}
