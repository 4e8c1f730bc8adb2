//! Which addresses share an island.

use std::net::Ipv4Addr;

use mpib::{Gid, IslandPrefix, PathClass};
use rstest::rstest;

fn same(local: &str, remote: &str, prefix: i32) -> bool {
    let bits = |text: &str| text.parse::<Ipv4Addr>().expect("an address").to_bits();
    IslandPrefix::new(prefix).class(bits(local), bits(remote)) == PathClass::Intra
}

/// Checks that exactly the prefix lengths in `splits` (out of 1 to 32) separate the pair.
#[track_caller]
fn check(local: &str, remote: &str, splits: std::ops::RangeInclusive<i32>) {
    for prefix in 1..=32 {
        assert_eq!(
            same(local, remote, prefix),
            !splits.contains(&prefix),
            "{local} and {remote} at /{prefix}"
        );
    }
}

#[test]
fn a_prefix_parts_two_addresses_from_their_first_differing_bit_on() {
    check("10.0.1.1", "10.0.1.4", 30..=32);
    check("10.0.1.1", "10.0.2.5", 23..=32);
    check("10.0.0.1", "10.0.3.1", 23..=32);
    check("10.0.3.1", "10.0.4.1", 22..=32);
}

#[rstest]
#[case("10.0.1.2", "10.0.1.3", 31, true)]
#[case("10.0.1.1", "10.0.1.2", 31, false)]
#[case("10.0.1.4", "10.0.1.7", 30, true)]
#[case("10.0.1.3", "10.0.1.4", 30, false)]
#[case("10.0.0.1", "10.0.3.1", 22, true)]
#[case("10.0.3.1", "10.0.4.1", 22, false)]
fn the_pairs_of_the_table_are_parted_as_it_says(
    #[case] local: &str,
    #[case] remote: &str,
    #[case] prefix: i32,
    #[case] expected: bool,
) {
    assert_eq!(same(local, remote, prefix), expected);
}

#[rstest]
fn a_prefix_outside_1_to_32_is_24(
    #[values(i32::MIN, -1, 0, 33, 64, 128, 256 + 8, i32::MAX)] prefix: i32,
) {
    assert_eq!(IslandPrefix::new(prefix).bits(), 24);
    assert!(!same("10.0.1.1", "10.0.2.5", prefix));
    assert!(same("10.0.1.1", "10.0.1.4", prefix));
}

#[test]
fn a_class_carries_the_two_cached_fields_of_a_connection() {
    assert!(PathClass::Intra.is_hint_active());
    assert_eq!(PathClass::Intra.path_sup_bandwidth(), u32::MAX);
    assert!(!PathClass::Inter.is_hint_active());
    assert_eq!(PathClass::Inter.path_sup_bandwidth(), 0);
}

/// Two GIDs without an address are both 0, hence one island; one of them compares as 0 with an
/// address.
#[test]
fn a_gid_without_an_ipv4_address_counts_as_0() {
    let plain = Gid::new("fe80::1".parse().expect("an address"));
    assert_eq!(plain.to_string(), "fe80::1");
    let mapped = Gid::of_ipv4(Ipv4Addr::new(10, 0, 1, 1));
    let zero_net = Gid::of_ipv4(Ipv4Addr::new(0, 0, 0, 9));
    let class = |a: Gid, b: Gid| IslandPrefix::DEFAULT.class(a.ipv4_bits(), b.ipv4_bits());
    assert!(!plain.is_ipv4());
    assert_eq!(class(plain, plain), PathClass::Intra);
    assert_eq!(class(plain, mapped), PathClass::Inter);
    assert_eq!(class(plain, zero_net), PathClass::Intra);
    assert_eq!(mapped.ipv4_bits(), 0x0a00_0101);
}
