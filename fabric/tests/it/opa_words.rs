//! LinkInitReason: numbers and texts (`stl_sm_types.h` of the fabric tools).

use fabric::opa::LinkInitReason;
use rstest::rstest;

#[rstest]
#[case(LinkInitReason::NONE, 0, "None", 1)]
#[case(LinkInitReason::LINK_UP, 1, "LinkUp", 1)]
#[case(LinkInitReason::FLAPPING, 2, "Flapping", 2)]
#[case(LinkInitReason::OUT_OF_POLICY, 8, "Out of policy", 1)]
#[case(LinkInitReason::QUARANTINED, 9, "Quarantined", 1)]
#[case(LinkInitReason::INSUFFICIENT_CAPABILITY, 10, "Insuffic Cap", 1)]
fn a_reason_to_stay_in_init_has_a_number_and_a_word(
    #[case] reason: LinkInitReason,
    #[case] code: u8,
    #[case] text: &str,
    #[case] after_link_up: u8,
) {
    assert_eq!(LinkInitReason::by_code(code), Some(reason));
    assert_eq!(reason.code(), code);
    assert_eq!(
        (reason.tool_text(), reason.to_string()),
        (text, text.to_owned())
    );
    assert_eq!(reason.after_link_up().code(), after_link_up);
}

/// 2 to 7 persist when the link comes up again, all others are replaced by 1.
#[test]
fn the_numbers_without_a_word_are_unknown_and_some_of_them_stay() {
    for code in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
        let reason = LinkInitReason::by_code(code).expect("four bits");
        assert_eq!(reason.tool_text(), " ???? ");
        let stays = reason.after_link_up() == reason;
        assert_eq!(stays, code <= 7, "{code}");
    }
    assert_eq!(LinkInitReason::by_code(16), None);
}
