//! The bytes of a message on each rail.

use mpib::{Bytes, MpibProfile, PathClass, Rail, RailMask, Split, SupBandwidth};
use rstest::rstest;

const MIB: u64 = 1 << 20;
const NEARLY: u32 = (1 << 24) - 1;

fn split(profile: MpibProfile, class: PathClass, share: u32, size: u64) -> (u64, u64, u8) {
    let split = Split::new(profile, class, SupBandwidth::new(share), Bytes::new(size));
    (
        split.on(Rail::Sup).get(),
        split.on(Rail::Sout).get(),
        split.mask().bits(),
    )
}

/// Checks SUP's bytes in the first generation; the rest and the mask follow from it.
#[track_caller]
fn check(size: u64, share: u32, sup: u64) {
    let mask = u8::from(sup < size || size == 0) | (u8::from(sup > 0) << 1);
    assert_eq!(
        split(MpibProfile::G1, PathClass::Intra, share, size),
        (sup, size - sup, mask),
        "{size} bytes with a hint of {share}"
    );
}

/// The columns are the hints UINT32_MAX (and 2^24), 2^24 − 1, 9, 3, 1 and 0.
#[rstest]
#[case(0, [0, 0, 0, 0, 0, 0])]
#[case(1, [0, 0, 0, 0, 0, 0])]
#[case(8, [0, 0, 0, 0, 0, 0])]
#[case(127, [0, 0, 0, 0, 0, 0])]
#[case(128, [128, 0, 0, 0, 0, 0])]
#[case(129, [128, 128, 0, 0, 0, 0])]
#[case(1000, [896, 896, 896, 640, 384, 0])]
#[case(4096, [4096, 3968, 3584, 3072, 2048, 0])]
#[case(MIB, [1_048_576, 1_048_448, 943_616, 786_432, 524_288, 0])]
#[case(MIB + 1, [1_048_576, 1_048_576, 943_616, 786_432, 524_288, 0])]
#[case(16_777_217, [16_777_216, 16_777_088, 15_099_392, 12_582_912, 8_388_608, 0])]
fn the_first_generation_splits_as_the_table_says(#[case] size: u64, #[case] sup: [u64; 6]) {
    for (share, sup) in [u32::MAX, NEARLY, 9, 3, 1, 0].into_iter().zip(sup) {
        check(size, share, sup);
    }
    check(size, 1 << 24, sup[0]);
}

#[rstest]
#[case(2, 699_008)]
#[case(127, 1_040_384)]
#[case(1023, 1_047_552)]
fn a_mebibyte_splits_as_the_list_says(#[case] share: u32, #[case] sup: u64) {
    check(MIB, share, sup);
}

/// So "more hint, never less SUP" only holds up to 2^24.
#[test]
fn the_ratio_is_not_monotone_beyond_2_to_the_24() {
    check(MIB, 1 << 24, MIB);
    check(MIB, 16_777_218, MIB - 128);
    check(MIB, 16_777_219, MIB);
    for share in [33_554_431, 33_554_432, 50_000_001, u32::MAX - 1] {
        check(MIB, share, MIB);
    }
}

/// 2^25 − 1 rounds to 2^25 in single precision; the parts still add up.
#[test]
fn a_size_that_rounds_up_is_not_exceeded() {
    check((1 << 25) - 1, u32::MAX, (1 << 25) - 128);
}

#[rstest]
#[case(0, 0)]
#[case(1, 1024)]
#[case(256, 262_144)]
#[case(512, 524_288)]
#[case(1023, 1_047_552)]
#[case(1024, MIB)]
#[case(1025, MIB)]
#[case(u32::MAX, MIB)]
fn the_second_generation_splits_in_1024ths(#[case] share: u32, #[case] sup: u64) {
    let mask = u8::from(sup < MIB) | (u8::from(sup > 0) << 1);
    assert_eq!(
        split(MpibProfile::G2, PathClass::Intra, share, MIB),
        (sup, MIB - sup, mask)
    );
}

#[test]
fn in_the_document_a_message_has_one_rail_and_all_its_bytes() {
    for share in [0, 1, 9, NEARLY, u32::MAX] {
        for size in [1, 8, 127, 128, 129, 1000, MIB + 1] {
            assert_eq!(
                split(MpibProfile::Spec, PathClass::Intra, share, size),
                (size, 0, 2)
            );
            assert_eq!(
                split(MpibProfile::Spec, PathClass::Inter, share, size),
                (0, size, 1)
            );
        }
        assert_eq!(
            split(MpibProfile::Spec, PathClass::Intra, share, 0),
            (0, 0, 1)
        );
    }
}

#[test]
fn sout_leads_where_it_takes_part() {
    assert_eq!(RailMask::from_bits(3).leader(), Some(Rail::Sout));
    assert_eq!(RailMask::SOUT.leader(), Some(Rail::Sout));
    assert_eq!(RailMask::SUP.leader(), Some(Rail::Sup));
    assert_eq!(RailMask::NONE.leader(), None);
}

#[test]
fn profiles_and_bytes_are_told_as_they_are_written() {
    let names =
        [MpibProfile::Spec, MpibProfile::G1, MpibProfile::G2].map(|profile| profile.to_string());
    assert_eq!(names, ["spec", "g1", "g2"]);
    assert_eq!(Bytes::new(4096).to_string(), "4096");
}

#[test]
fn a_rail_is_in_a_set_once() {
    for rail in Rail::BOTH {
        let one = RailMask::NONE.with(rail);
        assert!(one.has(rail));
        assert_eq!(one.with(rail), one);
    }
}
