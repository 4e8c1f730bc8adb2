//! Parameters: defaults, rejected values, and derived times.

use lnet::{Health, Lnd, LnetProfile, MsgStatus, NetName, Nid, NidPattern, Param};
use rstest::rstest;
use simfs::SimTime;

fn secs(span: SimTime) -> u64 {
    span.as_ms() / 1000
}

#[rstest]
#[case(LnetProfile::V2_17, 150, 49, 151)]
#[case(LnetProfile::V2_15, 50, 16, 151)]
#[case(LnetProfile::Hld, 150, 75, 150)]
fn a_profile_brings_its_timeouts(
    #[case] profile: LnetProfile,
    #[case] transaction: u32,
    #[case] lnd: u64,
    #[case] message: u64,
) {
    let params = profile.defaults();
    assert_eq!(params.get(Param::TransactionTimeout), transaction);
    assert_eq!(secs(params.lnd_timeout()), lnd);
    assert_eq!(secs(params.message_timeout(Lnd::O2ib)), message);
    assert_eq!(secs(params.message_timeout(Lnd::Sock)), message);
    assert_eq!(params.get(Param::HealthSensitivity), 100);
    assert_eq!(params.get(Param::RetryCount), 2);
    assert_eq!(params.get(Param::ResponseTracking), 3);
    assert_eq!(params.get(Param::MaxRecoveryPingInterval), 900);
}

#[test]
fn a_driver_without_a_timeout_gives_a_message_the_transaction_timeout() {
    let params = LnetProfile::V2_17.defaults();
    assert_eq!(secs(params.message_timeout(Lnd::Other)), 150);
}

#[rstest]
#[case(150, 2, 49)]
#[case(50, 2, 16)]
#[case(10, 2, 3)]
#[case(150, 0, 149)]
#[case(150, 3, 37)]
#[case(50, 0, 49)]
#[case(10, 9, 1)]
fn the_lnd_timeout_shares_the_transaction_among_all_tries(
    #[case] transaction: i64,
    #[case] retries: i64,
    #[case] expected: u64,
) {
    let mut params = LnetProfile::V2_17.defaults();
    params.set(Param::RetryCount, 0).unwrap();
    params.set(Param::TransactionTimeout, transaction).unwrap();
    params.set(Param::RetryCount, retries).unwrap();
    assert_eq!(secs(params.lnd_timeout()), expected);
}

#[rstest]
#[case(
    Param::HealthSensitivity,
    1001,
    "`health_sensitivity` cannot be 1001\nhint: 0 to 1000"
)]
#[case(
    Param::RetryCount,
    1001,
    "`retry_count` cannot be 1001\nhint: 0 to 1000"
)]
#[case(
    Param::RetryCount,
    151,
    "`retry_count` cannot be 151 with a `transaction_timeout` of 150 s\nhint: a retry needs a second at least"
)]
#[case(
    Param::TransactionTimeout,
    2,
    "`transaction_timeout` cannot be 2 s with a `retry_count` of 2\nhint: it must be greater than `retry_count`"
)]
#[case(
    Param::TransactionTimeout,
    0,
    "`transaction_timeout` cannot be 0\nhint: 1 to 2147483647"
)]
#[case(
    Param::MaxRecoveryPingInterval,
    0,
    "`max_recovery_ping_interval` cannot be 0\nhint: 1 to 2147483647"
)]
#[case(Param::ResponseTracking, -1, "`response_tracking` cannot be -1\nhint: 0 to 3")]
#[case(
    Param::ResponseTracking,
    4,
    "`response_tracking` cannot be 4\nhint: 0 to 3"
)]
fn a_refused_value_says_why_and_changes_nothing(
    #[case] param: Param,
    #[case] value: i64,
    #[case] rendered: &str,
) {
    let mut params = LnetProfile::V2_17.defaults();
    let before = params.clone();
    assert_eq!(params.set(param, value).unwrap_err().to_string(), rendered);
    assert_eq!(params, before);
}

#[test]
fn a_sensitivity_of_zero_forces_the_retries_to_zero_and_keeps_them_there() {
    let mut params = LnetProfile::V2_17.defaults();
    params.set(Param::HealthSensitivity, 0).unwrap();
    assert_eq!(params.get(Param::RetryCount), 0);
    let refused = params.set(Param::RetryCount, 1).unwrap_err().to_string();
    assert!(
        refused.contains("while `health_sensitivity` is 0"),
        "{refused}"
    );
    params.set(Param::HealthSensitivity, 100).unwrap();
    params.set(Param::RetryCount, 1).unwrap();
}

#[test]
fn only_the_design_has_a_maximum_of_five_retries() {
    let mut design = LnetProfile::Hld.defaults();
    assert!(design.set(Param::RetryCount, 6).is_err());
    design.set(Param::RetryCount, 5).unwrap();
    LnetProfile::V2_17
        .defaults()
        .set(Param::RetryCount, 6)
        .unwrap();
}

#[rstest]
#[case(900, &[1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 1923, 2823])]
#[case(4, &[1, 3, 7, 11, 15, 19])]
#[case(1, &[1, 2, 3, 4])]
fn unanswered_pings_back_off_to_the_longest_interval(#[case] most: i64, #[case] times: &[u64]) {
    let mut params = LnetProfile::V2_17.defaults();
    params.set(Param::MaxRecoveryPingInterval, most).unwrap();
    let mut at = 0;
    let mut pings = Vec::new();
    for sent in 0..u32::try_from(times.len()).unwrap() {
        at += params.recovery_ping_gap_s(sent);
        pings.push(at);
    }
    assert_eq!(pings, times);
}

#[rstest]
#[case(100, &[900], &[1000])]
#[case(300, &[700, 400, 100, 0], &[300, 600, 900, 1000])]
#[case(1000, &[0], &[1000])]
#[case(0, &[1000], &[1000])]
fn health_falls_and_rises_by_steps_within_its_bounds(
    #[case] step: u16,
    #[case] down: &[u16],
    #[case] up: &[u16],
) {
    let mut health = Health::MAX;
    for &expected in down {
        health = health.lowered(step);
        assert_eq!(health.value(), expected);
    }
    for &expected in up {
        health = health.raised(step);
        assert_eq!(health.value(), expected);
    }
    assert_eq!(Health::new(950).raised(100), Health::MAX);
}

#[test]
fn every_status_has_a_name_of_its_own_and_is_read_back() {
    for (number, status) in MsgStatus::ALL.into_iter().enumerate() {
        assert_eq!(status.number(), number);
        assert_eq!(status.name().parse::<MsgStatus>().unwrap(), status);
    }
    assert!("local_sulk".parse::<MsgStatus>().is_err());
}

#[test]
fn names_of_nets_and_nids_are_read_and_patterns_match_them() {
    let nid: Nid = "10.0.1.1@o2ib".parse().unwrap();
    assert_eq!(nid.to_string(), "10.0.1.1@o2ib");
    assert_eq!("10.0.1.1@o2ib0".parse::<Nid>().unwrap(), nid);
    assert_ne!("10.0.1.1@o2ib10".parse::<Nid>().unwrap(), nid);
    assert_eq!(nid.net().lnd(), Lnd::O2ib);
    assert_eq!("tcp3".parse::<NetName>().unwrap().lnd(), Lnd::Sock);
    assert_eq!("gni".parse::<NetName>().unwrap().lnd(), Lnd::Other);
    for (pattern, fits) in [
        ("*", true),
        ("*@o2ib", true),
        ("*@tcp", false),
        ("10.0.1.2@o2ib", false),
    ] {
        assert_eq!(
            pattern.parse::<NidPattern>().unwrap().fits(&nid),
            fits,
            "{pattern}"
        );
    }
    for wrong in ["10.0.1.1", "@o2ib", "*@o2ib", "a@O2IB", "a@"] {
        assert!(wrong.parse::<Nid>().is_err(), "{wrong}");
    }
}

/// The number of a net has sixteen bits, and may have zeros in front.
#[test]
fn a_net_has_a_number_of_sixteen_bits() {
    let read = |text: &str| text.parse::<NetName>();
    assert_eq!(read("o2ib007").unwrap().to_string(), "o2ib7");
    assert_eq!(read("tcp65535").unwrap().to_string(), "tcp65535");
    assert!(read("tcp65536").is_err());
}

#[test]
fn an_interface_has_the_address_of_one_host() {
    for (nid, expected) in [
        ("10.0.1.1@o2ib", true),
        ("192.168.0.1@tcp", true),
        ("fd00::1@tcp", true),
        ("27@gni", true),
        ("300.1.1.1@o2ib", false),
        ("10.0.0@o2ib", false),
        ("10.0.0.1.1@o2ib", false),
        ("foo@tcp", false),
        ("0.0.0.0@tcp", false),
        ("224.0.0.1@tcp", false),
        ("255.255.255.255@o2ib", false),
    ] {
        let read: Nid = nid.parse().unwrap();
        assert_eq!(read.is_of_an_interface(), expected, "{nid}");
    }
}
