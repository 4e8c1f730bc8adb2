//! The plugin's parameters from its environment.

use mpib::{Environment, Mode, NcclResult, Parameters, Refusal};
use rstest::rstest;

#[track_caller]
fn check(name: &str, value: &str) -> Parameters {
    Parameters::read(&Environment::baseline().with(name, value)).expect("nothing is missing")
}

#[rstest]
#[case("", 24)]
#[case("abc", 24)]
#[case("0", 24)]
#[case("33", 24)]
#[case("-1", 24)]
#[case("64", 24)]
#[case("128", 24)]
#[case("0x18", 24)]
#[case("4294967320", 24)]
#[case("4294967312", 16)]
#[case("99999999999999999999", 24)]
#[case("32", 32)]
#[case("1", 1)]
#[case(" +16 bits", 16)]
#[case("020", 16)]
#[case("0x", 24)]
#[case("0xg", 24)]
fn a_prefix_is_read_as_strtoll_reads_it(#[case] text: &str, #[case] bits: u8) {
    let parameters = check("MPIB_ISLAND_PREFIX_LEN", text);
    assert_eq!(parameters.island_prefix.bits(), bits);
}

#[test]
fn an_environment_without_choices_has_the_documented_defaults() {
    let parameters = Parameters::read(&Environment::baseline()).expect("nothing is missing");
    assert_eq!(parameters.island_prefix.bits(), 24);
    assert!(!parameters.is_prefix_replaced);
    assert_eq!(parameters.sout_queue_pairs, 2);
    assert_eq!(parameters.sup_queue_pairs, 4);
    assert_eq!(parameters.cts_signal_interval, 128);
    assert_eq!(parameters.mode, Mode::Vanilla);
    assert_eq!(parameters.oob_interface, "eth0");
}

#[test]
fn a_replaced_prefix_is_told_apart_from_a_chosen_24() {
    assert!(check("MPIB_ISLAND_PREFIX_LEN", "0").is_prefix_replaced);
    assert!(!check("MPIB_ISLAND_PREFIX_LEN", "24").is_prefix_replaced);
}

#[test]
fn numbers_out_of_range_fall_back_and_0_queue_pairs_do_not() {
    assert_eq!(check("MPIB_SUP_QP", "0").sup_queue_pairs, 0);
    assert_eq!(check("MPIB_SUP_QP", "none").sup_queue_pairs, 0);
    assert_eq!(check("MPIB_SUP_QP", "").sup_queue_pairs, 4);
    assert_eq!(check("MPIB_SUP_QP", "-1").sup_queue_pairs, 4);
    assert_eq!(check("MPIB_SUP_QP", "127").sup_queue_pairs, 127);
    assert_eq!(check("MPIB_SOUT_QP", "128").sout_queue_pairs, 2);
    assert_eq!(
        check("MPIB_CTS_SIGNAL_INTERVAL", "0").cts_signal_interval,
        128
    );
    assert_eq!(
        check("MPIB_CTS_SIGNAL_INTERVAL", "7").cts_signal_interval,
        7
    );
    assert_eq!(check("MPIB_MODE", "1").mode, Mode::Advanced);
}

#[rstest]
fn a_missing_or_empty_name_is_invalid_usage(
    #[values("MPIB_HCA_SOUT", "MPIB_HCA_SUP", "MPIB_OOB_IF")] name: &'static str,
) {
    for environment in [
        Environment::baseline().without(name),
        Environment::baseline().with(name, ""),
    ] {
        let refusal = Parameters::read(&environment).expect_err("it is required");
        assert_eq!(refusal, Refusal::Missing { name });
        assert_eq!(refusal.result(), NcclResult::InvalidUsage);
    }
}
