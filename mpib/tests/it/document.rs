//! The tests of "Baseline: Isolated Path Separation", section 7, played on its eight machines.
//!
//! 7.2's "no SOUT post" holds in `spec` only: in the first generation an 8-byte message goes over SOUT.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use mpib::{
    Bytes, IslandPrefix, Job, JobTraffic, MpibProfile, Net, PathClass, PostKind, Rail, Settings,
    eight_vms, ring,
};
use rstest::rstest;

use crate::rig::{connect, eight, send, vm};

#[test]
fn section_2_1_has_two_islands_of_four() {
    let hosts = eight_vms();
    for (index, host) in (1_u8..).zip(&hosts) {
        let island = if index <= 4 { 1 } else { 2 };
        assert_eq!(host.name.as_str(), format!("vm{index}"));
        let sout = Ipv4Addr::new(10, 0, island, index).to_bits();
        let sup = Ipv4Addr::new(10, 9, island, index).to_bits();
        assert_eq!(host.nics.sout.gid.ipv4_bits(), sout);
        assert_eq!(host.nics.sup.gid.ipv4_bits(), sup);
    }
    assert_eq!(hosts.len(), 8);
}

#[rstest]
#[case([10, 0, 1, 4], true)]
#[case([10, 0, 2, 5], false)]
#[case([10, 0, 1, 1], true)]
fn section_7_1_tells_islands_apart(#[case] other: [u8; 4], #[case] is_same: bool) {
    let first = Ipv4Addr::new(10, 0, 1, 1).to_bits();
    let class = IslandPrefix::DEFAULT.class(first, Ipv4Addr::from(other).to_bits());
    assert_eq!(class == PathClass::Intra, is_same);
}

/// Plays 7.2 between vm1 and another host, with sizes from 8 bytes to 128 MiB, doubling; compares the
/// logs of both ends and the number of data posts by rail.
#[track_caller]
fn check(profile: MpibProfile, other: u16, logs: [&str; 2], data_posts: [usize; 2]) {
    let mut net = eight(profile);
    let connection = connect(&mut net, 1, other);
    for power in 3..=27 {
        send(&mut net, connection, 1 << power);
    }
    let lines: Vec<_> = net.logs().iter().skip(8).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!([lines[0].text.as_str(), &lines[1].text], logs);
    assert_eq!([lines[0].host, lines[1].host], [vm(1), vm(other)]);
    let on = |rail| {
        let data = net
            .posts()
            .iter()
            .filter(|post| post.kind == PostKind::Data);
        data.filter(|post| post.rail == rail).count()
    };
    assert_eq!([on(Rail::Sout), on(Rail::Sup)], data_posts);
}

const INTRA: [&str; 2] = [
    "NET/MPIB : Path classification: SUP (intra-island) hintActive=1 (sout_src=0x0a000101 sout_dst=0x0a000102)",
    "NET/MPIB : Path classification: SUP (intra-island) hintActive=1 (sout_src=0x0a000102 sout_dst=0x0a000101)",
];
const INTER: [&str; 2] = [
    "NET/MPIB : Path classification: SOUT (inter-island) hintActive=0 (sout_src=0x0a000101 sout_dst=0x0a000205)",
    "NET/MPIB : Path classification: SOUT (inter-island) hintActive=0 (sout_src=0x0a000205 sout_dst=0x0a000101)",
];

#[test]
fn section_7_2_puts_an_island_on_sup() {
    check(MpibProfile::Spec, 2, INTRA, [0, 25]);
}

/// 8, 16, 32 and 64 bytes are less than a grain.
#[test]
fn section_7_2_cannot_hold_in_the_first_generation() {
    check(MpibProfile::G1, 2, INTRA, [4, 21]);
}

#[rstest]
fn section_7_2_puts_islands_apart_on_sout(
    #[values(MpibProfile::Spec, MpibProfile::G1)] profile: MpibProfile,
) {
    check(profile, 5, INTER, [25, 0]);
}

/// The ring of 7.3: vm1, vm2, vm5, vm6 and back.
fn ring_of_7_3(profile: MpibProfile) -> Job {
    let net = Net::new(eight_vms(), Settings::new(profile));
    let edges = ring(&[vm(1), vm(2), vm(5), vm(6)]);
    let traffic = JobTraffic::steady().of(Bytes::from_mib(1024));
    let mut job = Job::start(net, &edges, traffic);
    job.advance(simfs::SimTime::from_secs(1));
    job
}

#[rstest]
fn section_7_3_alternates_sup_and_sout(
    #[values(MpibProfile::Spec, MpibProfile::G1)] profile: MpibProfile,
) {
    let job = ring_of_7_3(profile);
    let mut rails: BTreeMap<_, Vec<Rail>> = BTreeMap::new();
    for post in job.net().posts() {
        rails.entry(post.connection).or_default().push(post.rail);
    }
    let used: Vec<_> = rails.into_values().collect();
    assert_eq!(used.len(), 4);
    for (rails, expected) in used
        .iter()
        .zip([Rail::Sup, Rail::Sout, Rail::Sup, Rail::Sout])
    {
        assert!(
            rails.iter().all(|rail| *rail == expected),
            "clear-to-send as well"
        );
        assert_eq!(rails.len(), 22, "eleven beats of two posts");
    }
}

#[rstest]
fn section_7_4_moves_each_nic_for_its_own_pairs_only(
    #[values(MpibProfile::Spec, MpibProfile::G1)] profile: MpibProfile,
) {
    let job = ring_of_7_3(profile);
    let data = 11 * (1 << 30);
    let clear = 11 * 64;
    let bytes = |host, rail| {
        let nic = job.net().nic(vm(host), rail);
        (nic.sent.get(), nic.received.get())
    };
    // vm1 and vm5 send inside their island and receive from the other; vm2 and vm6 the reverse.
    for host in [1, 5] {
        assert_eq!(bytes(host, Rail::Sup), (data, clear));
        assert_eq!(bytes(host, Rail::Sout), (clear, data));
    }
    for host in [2, 6] {
        assert_eq!(bytes(host, Rail::Sup), (clear, data));
        assert_eq!(bytes(host, Rail::Sout), (data, clear));
    }
    for host in [3, 4, 7, 8] {
        for rail in Rail::BOTH {
            assert_eq!(bytes(host, rail), (0, 0));
        }
    }
}
