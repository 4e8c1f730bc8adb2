//! Connections: classification, clear-to-send, completions, requests, logs.

use std::net::Ipv4Addr;

use mpib::{
    Bytes, ConnectError, Environment, Hazard, HintSlot, Immediate, Isend, Mode, MpibProfile,
    NcclResult, Net, Parameters, Path, PathClass, Post, PostKind, Rail, RailMask, RailState,
    Receive, Refusal, Settings, ShareSource, Side, Speaker, SupBandwidth, Tag, Unregistered,
    eight_vms,
};
use rstest::rstest;

use crate::rig::{buffer, connect, done, eight, net_of, notify, send, vm};

const MIB: u64 = 1 << 20;

fn path(profile: MpibProfile, mode: &str, class: PathClass) -> Path {
    let environment = Environment::baseline().with("MPIB_MODE", mode);
    let parameters = Parameters::read(&environment).expect("nothing is missing");
    Path::new(profile, &parameters, class)
}

/// The rows are the table of `path.rs`: profile, mode, class, whether hints are read, rail of
/// clear-to-send, queue pairs on SUP.
#[rstest]
#[case(MpibProfile::Spec, "0", PathClass::Intra, true, Rail::Sup, 4)]
#[case(MpibProfile::Spec, "0", PathClass::Inter, false, Rail::Sout, 4)]
#[case(MpibProfile::G1, "1", PathClass::Intra, true, Rail::Sup, 4)]
#[case(MpibProfile::G1, "1", PathClass::Inter, false, Rail::Sout, 4)]
#[case(MpibProfile::G2, "0", PathClass::Intra, false, Rail::Sup, 4)]
#[case(MpibProfile::G2, "0", PathClass::Inter, false, Rail::Sout, 0)]
#[case(MpibProfile::G2, "1", PathClass::Intra, true, Rail::Sout, 4)]
#[case(MpibProfile::G2, "1", PathClass::Inter, true, Rail::Sout, 4)]
fn each_profile_treats_its_rails_as_the_table_says(
    #[case] profile: MpibProfile,
    #[case] mode: &str,
    #[case] class: PathClass,
    #[case] reads_hints: bool,
    #[case] cts_rail: Rail,
    #[case] sup_queue_pairs: u8,
) {
    let path = path(profile, mode, class);
    assert_eq!(path.share() == ShareSource::Agent, reads_hints);
    assert_eq!(path.cts_rail(), cts_rail);
    assert_eq!(path.queue_pairs().sup, sup_queue_pairs);
    assert_eq!(path.queue_pairs().sout, 2);
}

#[test]
fn the_mode_is_vanilla_unless_it_is_set() {
    let parameters = Parameters::read(&Environment::baseline()).expect("nothing is missing");
    assert_eq!(parameters.mode, Mode::Vanilla);
}

/// Two on SOUT and three on SUP, in one array.
#[test]
fn queue_pairs_of_a_rail_take_turns_by_the_head_of_the_ring() {
    let environment = Environment::baseline().with("MPIB_SUP_QP", "3");
    let parameters = Parameters::read(&environment).expect("nothing is missing");
    let path = Path::new(MpibProfile::G1, &parameters, PathClass::Intra);
    let turns = |rail| [0, 1, 2, 3].map(|head| path.queue_pair(rail, head));
    assert_eq!(turns(Rail::Sout), [0, 1, 0, 1].map(Some));
    assert_eq!(turns(Rail::Sup), [2, 3, 4, 2].map(Some));
    assert_eq!(path.cts_queue_pair(), Some(2));
}

#[test]
fn each_end_logs_its_own_view_and_its_start() {
    let mut net = eight(MpibProfile::G1);
    connect(&mut net, 1, 2);
    let lines: Vec<_> = net.logs().iter().skip(8).cloned().collect();
    assert_eq!(
        net.logs()[0].text,
        "NET/MPIB : Using [0]mlx5_0:SOUT [1]mlx5_1:SUP speed=200000; OOB eth0"
    );
    assert_eq!(lines.len(), 2);
    assert_eq!((lines[0].host, lines[0].speaker), (vm(1), Speaker::Connect));
    assert_eq!((lines[1].host, lines[1].speaker), (vm(2), Speaker::Accept));
    assert_eq!(
        lines[0].text,
        "NET/MPIB : Path classification: SUP (intra-island) hintActive=1 (sout_src=0x0a000101 sout_dst=0x0a000102)"
    );
    assert_eq!(
        lines[1].text,
        "NET/MPIB : Path classification: SUP (intra-island) hintActive=1 (sout_src=0x0a000102 sout_dst=0x0a000101)"
    );
}

#[rstest]
#[case(MpibProfile::G1, PathClass::Intra)]
#[case(MpibProfile::G2, PathClass::Inter)]
fn the_second_generation_classifies_by_the_control_network(
    #[case] profile: MpibProfile,
    #[case] class: PathClass,
) {
    let mut hosts = eight_vms();
    hosts[1].oob = Ipv4Addr::new(192, 168, 7, 2);
    let mut net = net_of(profile, hosts);
    let connection = connect(&mut net, 1, 2);
    for side in [Side::Send, Side::Receive] {
        assert_eq!(net.path(connection, side).class(), Some(class));
    }
}

/// The value in the warning is read after it was replaced.
#[test]
fn the_warning_of_a_bad_prefix_prints_24() {
    let mut hosts = eight_vms();
    hosts[0].environment = Environment::baseline().with("MPIB_ISLAND_PREFIX_LEN", "0");
    let mut net = net_of(MpibProfile::G1, hosts);
    connect(&mut net, 1, 5);
    let warnings: Vec<_> = net
        .logs()
        .iter()
        .filter(|line| line.text.contains("Invalid MPIB_ISLAND_PREFIX_LEN"))
        .collect();
    assert_eq!(warnings.len(), 1, "the other end has a good one");
    assert_eq!(warnings[0].host, vm(1));
    assert!(warnings[0].text.contains("=24,"));
}

/// The ends are not checked for agreement: here the sender sees two islands and the receiver one.
#[test]
fn ends_with_different_prefixes_decide_alone() {
    let mut hosts = eight_vms();
    hosts[4].environment = Environment::baseline().with("MPIB_ISLAND_PREFIX_LEN", "16");
    let mut net = net_of(MpibProfile::G1, hosts);
    let connection = connect(&mut net, 1, 5);
    assert_eq!(
        net.path(connection, Side::Send).class(),
        Some(PathClass::Inter)
    );
    assert_eq!(
        net.path(connection, Side::Receive).class(),
        Some(PathClass::Intra)
    );
    net.irecv(connection, &[buffer(MIB)]).expect("it is alive");
    let rails: Vec<_> = net
        .posts()
        .iter()
        .map(|post| (post.kind, post.rail))
        .collect();
    assert_eq!(rails, [(PostKind::ClearToSend, Rail::Sup)]);
}

#[test]
fn messages_match_offered_buffers_by_tag_in_order() {
    let mut net = eight(MpibProfile::G1);
    let connection = connect(&mut net, 1, 2);
    let buffer = |tag| Receive {
        tag: Tag(tag),
        size_max: Bytes::new(256),
    };
    let first = net
        .irecv(connection, &[buffer(1), buffer(2)])
        .expect("alive");
    let second = net.irecv(connection, &[buffer(3)]).expect("alive");
    let mut isend = |tag| {
        net.isend(connection, Tag(tag), Bytes::new(128))
            .expect("alive")
    };
    assert_eq!(
        isend(3),
        Isend::CallAgain,
        "the group at the head comes first"
    );
    assert!(matches!(isend(2), Isend::Request(..)));
    assert_eq!(isend(2), Isend::CallAgain, "that buffer is taken");
    assert!(matches!(isend(1), Isend::Request(..)));
    assert!(matches!(isend(3), Isend::Request(..)));
    assert_eq!(isend(3), Isend::CallAgain, "nothing is offered");
    assert!(done(&mut net, first).is_some());
    assert!(done(&mut net, second).is_some());
    assert_eq!(
        net.test(second),
        Err(NcclResult::InternalError),
        "it is said once"
    );
}

#[test]
fn calls_out_of_range_are_refused() {
    let mut net = eight(MpibProfile::G1);
    let connection = connect(&mut net, 1, 2);
    let buffer = buffer(256);
    assert_eq!(net.irecv(connection, &[]), Err(NcclResult::InvalidUsage));
    assert_eq!(
        net.irecv(connection, &[buffer; 9]),
        Err(NcclResult::InvalidUsage)
    );
    for _ in 0..32 {
        net.irecv(connection, &[buffer; 8])
            .expect("room for 256 requests");
    }
    for _ in 32..256 {
        net.irecv(connection, &[buffer])
            .expect("room for 256 requests");
    }
    assert_eq!(
        net.irecv(connection, &[buffer]),
        Err(NcclResult::InternalError)
    );
    assert_eq!(
        net.isend(connection, Tag(1), Bytes::new(257)),
        Err(NcclResult::InvalidUsage)
    );
}

#[test]
fn the_257th_open_send_is_refused() {
    let mut net = eight(MpibProfile::G1);
    let connection = connect(&mut net, 1, 5);
    let receive = buffer(128);
    for _ in 0..33 {
        net.irecv(connection, &[receive; 8]).expect("alive");
    }
    notify(&mut net, 1, 5, Rail::Sout, RailState::Down);
    for _ in 0..256 {
        let sent = net
            .isend(connection, Tag(1), Bytes::new(128))
            .expect("alive");
        assert!(matches!(sent, Isend::Request(..)));
    }
    assert_eq!(
        net.isend(connection, Tag(1), Bytes::new(128)),
        Err(NcclResult::InternalError)
    );
}

#[test]
fn a_send_is_open_until_its_own_completion() {
    let mut net = eight(MpibProfile::G1);
    let connection = connect(&mut net, 1, 2);
    let receive = buffer(128);
    for _ in 0..300 {
        net.irecv(connection, &[receive; 2]).expect("alive");
        for _ in 0..2 {
            let sent = net.isend(connection, Tag(1), Bytes::new(128));
            assert!(matches!(sent, Ok(Isend::Request(..))));
        }
    }
}

#[test]
fn each_part_announces_its_slot_of_a_ring_of_256() {
    let mut net = eight(MpibProfile::G1);
    let connection = connect(&mut net, 1, 2);
    for _ in 0..300 {
        send(&mut net, connection, 128);
    }
    let (data, clears): (Vec<&Post>, Vec<&Post>) = net
        .posts()
        .iter()
        .partition(|post| post.kind == PostKind::Data);
    let slots: Vec<Option<u8>> = data
        .iter()
        .map(|post| post.immediate.map(Immediate::slot))
        .collect();
    let ring: Vec<Option<u8>> = (0..=255).chain(0..44).map(Some).collect();
    assert_eq!(slots, ring);
    assert!(clears.iter().all(|post| post.immediate.is_none()));
}

#[test]
fn every_128th_clear_to_send_asks_for_a_completion() {
    let mut net = eight(MpibProfile::G1);
    let connection = connect(&mut net, 1, 2);
    for _ in 0..300 {
        let (_, sent, received) = send(&mut net, connection, 128);
        assert!(done(&mut net, sent).is_some() && done(&mut net, received).is_some());
    }
    let clears = net
        .posts()
        .iter()
        .filter(|post| post.kind == PostKind::ClearToSend);
    let signaled: Vec<usize> = clears
        .enumerate()
        .filter(|(_, post)| post.is_signaled)
        .map(|(index, _)| index + 1)
        .collect();
    assert_eq!(signaled, [128, 256]);
    assert!(
        net.posts()
            .iter()
            .all(|post| post.is_signaled || post.kind == PostKind::ClearToSend)
    );
}

#[rstest]
#[case(5, 3, 1 << 20, 5 | 3 << 8 | 8192 << 10)]
#[case(255, 2, 0, 255 | 2 << 8)]
#[case(0, 1, 129, 1 << 8 | 0x3F_FFFF << 10)]
fn immediate_data_is_slot_mask_and_size(
    #[case] slot: u8,
    #[case] mask: u8,
    #[case] size: u64,
    #[case] bits: u32,
) {
    let immediate = Immediate::new(slot, RailMask::from_bits(mask), Bytes::new(size));
    assert_eq!(immediate.bits(), bits);
    assert_eq!((immediate.slot(), immediate.mask().bits()), (slot, mask));
    let is_told = size.is_multiple_of(128);
    assert_eq!(immediate.size(), is_told.then(|| Bytes::new(size)));
}

#[test]
fn an_accepting_end_that_gets_no_slot_gives_the_other_slot_back() {
    let mut hosts = eight_vms();
    hosts[1].agent.kill();
    let mut net = net_of(MpibProfile::G1, hosts);
    let error = net
        .connect(vm(1), vm(2))
        .expect_err("no agent at the other end");
    let reason = Unregistered::NoAgent;
    assert_eq!(
        error,
        ConnectError::Unregistered {
            host: vm(2),
            reason
        }
    );
    assert_eq!(error.result(), NcclResult::SystemError);
    assert_eq!(
        net.agent_mut(vm(1)).users(0x0a00_0101, 0x0a00_0102),
        Some(0)
    );
}

#[test]
fn without_a_plugin_at_both_ends_nothing_is_connected() {
    let mut net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    net.init(vm(1)).expect("the plugin is accepted");
    let error = net.connect(vm(1), vm(2)).expect_err("no plugin there");
    assert_eq!(error, ConnectError::NotLoaded { host: vm(2) });
    assert_eq!(error.result(), NcclResult::InternalError);
}

#[test]
fn a_rail_that_is_not_up_cannot_be_connected() {
    let mut net = eight(MpibProfile::G1);
    notify(&mut net, 1, 5, Rail::Sup, RailState::Down);
    let (host, rail) = (vm(5), Rail::Sup);
    assert_eq!(
        net.connect(vm(1), vm(5)),
        Err(ConnectError::RailNotUp { host, rail })
    );
    let mut net = eight(MpibProfile::G2);
    notify(&mut net, 1, 5, Rail::Sup, RailState::Down);
    assert!(
        net.connect(vm(1), vm(5)).is_ok(),
        "it makes no queue pairs there"
    );
}

#[test]
fn a_hint_reaches_the_next_send_only() {
    let mut net = eight(MpibProfile::G1);
    let connection = connect(&mut net, 1, 2);
    let hint = |net: &mut Net, share| {
        let agent = net.agent_mut(vm(1));
        assert!(agent.write(0x0a00_0101, 0x0a00_0102, SupBandwidth::new(share)));
    };
    let mut masks = Vec::new();
    for share in [0, u32::MAX, 1] {
        hint(&mut net, share);
        masks.push(send(&mut net, connection, MIB).0.bits());
    }
    assert_eq!(masks, [1, 2, 3]);
    assert_eq!(net.hint_reads(vm(1)), 3);
    assert_eq!(net.hint_reads(vm(2)), 0, "the receiver reads no hint");
}

/// Without queue pairs on SOUT, entry 0 of the array is SUP's; without any there is no entry.
#[test]
fn clear_to_send_takes_what_queue_pairs_there_are() {
    let path = |sout, sup| {
        let environment = Environment::baseline()
            .with("MPIB_SOUT_QP", sout)
            .with("MPIB_SUP_QP", sup);
        let parameters = Parameters::read(&environment).expect("nothing is missing");
        [PathClass::Intra, PathClass::Inter]
            .map(|class| Path::new(MpibProfile::G1, &parameters, class))
            .map(|path| (path.cts_rail(), path.cts_queue_pair()))
    };
    assert_eq!(path("0", "4"), [(Rail::Sup, Some(0)); 2]);
    assert_eq!(path("2", "0"), [(Rail::Sout, Some(0)); 2]);
    assert_eq!(path("0", "0"), [(Rail::Sout, None); 2]);
}

#[test]
fn without_any_queue_pair_nobody_is_cleared_to_send() {
    let mut hosts = eight_vms();
    for host in &mut hosts {
        host.environment = Environment::baseline()
            .with("MPIB_SOUT_QP", "0")
            .with("MPIB_SUP_QP", "0");
    }
    let mut net = net_of(MpibProfile::G1, hosts);
    let connection = connect(&mut net, 1, 5);
    let receive = buffer(MIB);
    net.irecv(connection, &[receive]).expect("alive");
    assert_eq!(
        net.isend(connection, Tag(1), Bytes::new(MIB)),
        Ok(Isend::CallAgain)
    );
    let rail = Rail::Sout;
    assert_eq!(net.hazards(), [Hazard::NothingPosted { connection, rail }]);
}

#[test]
fn a_device_that_the_environment_misnames_is_refused() {
    let mut hosts = eight_vms();
    hosts[0].environment = Environment::baseline().with("MPIB_HCA_SUP", "mlx5_0");
    let mut net = Net::new(hosts, Settings::new(MpibProfile::G1));
    let device = "mlx5_0".into();
    assert_eq!(net.init(vm(1)), Err(Refusal::NoDevice { device }));
    assert!(net.logs().is_empty());
    let host = vm(1);
    assert_eq!(
        net.connect(host, vm(2)),
        Err(ConnectError::NotLoaded { host })
    );
}

#[test]
fn a_rail_without_queue_pairs_is_a_hazard() {
    let mut hosts = eight_vms();
    for host in &mut hosts {
        host.environment = Environment::baseline().with("MPIB_SUP_QP", "0");
    }
    let mut net = net_of(MpibProfile::G2, hosts);
    let connection = connect(&mut net, 1, 2);
    let (mask, sent, received) = send(&mut net, connection, MIB);
    let rail = Rail::Sup;
    assert_eq!(mask, RailMask::SUP);
    assert_eq!(net.hazards(), [Hazard::NothingPosted { connection, rail }]);
    assert!(done(&mut net, sent).is_some());
    assert!(done(&mut net, received).is_none());
}

/// A host's agent gives out its slots in order, one for each directed pair.
#[test]
fn an_end_knows_its_slot_of_the_shared_memory() {
    let mut net = eight(MpibProfile::G1);
    let [first, second] = [2, 3].map(|to| connect(&mut net, 1, to));
    let slot = |net: &Net, connection, side| net.slot(connection, side).map(HintSlot::number);
    let send = [first, second].map(|connection| slot(&net, connection, Side::Send));
    assert_eq!(send, [Some(0), Some(1)]);
    assert_eq!(slot(&net, second, Side::Receive), Some(0));
}
