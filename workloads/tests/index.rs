//! Every acceptance case and every invariant of the models is shown by a test.
//!
//! What there must be is listed here; what there is stands in the cases' files, and in the names of
//! the laws.

use rstest::rstest;

const LNET: &[u8] = &[
    1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 19, 20, 21, 22, 24, 25, 27, 28, 29, 30, 31,
    32, 33, 34, 35,
];
const MPIB: &[u8] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 30,
    31, 33, 34, 35,
];

#[rstest]
#[case::lnet("LN", LNET, include_str!("lnet/cases.yaml"))]
#[case::mpib("MP", MPIB, include_str!("mpib/cases.yaml"))]
fn every_case_has_its_row(#[case] model: &str, #[case] ids: &[u8], #[case] rows: &str) {
    let keys = rows.lines().map(|line| line.trim_start_matches(['-', ' ']));
    let names: Vec<&str> = keys.filter_map(|key| key.strip_prefix("case: ")).collect();
    let cases = ids.iter().map(|id| format!("{model}-{id:02}"));
    let missing: Vec<String> = cases
        .filter(|case| !names.iter().any(|name| name.get(..5) == Some(case)))
        .collect();
    assert_eq!(missing, <[String; 0]>::default());
}

#[rstest]
#[case::lnet("pl", 17, &[include_str!("lnet/laws.rs")])]
#[case::mpib("pm", 13, &[include_str!("mpib/laws.rs"), include_str!("mpib/story_laws.rs")])]
fn every_invariant_is_a_law(#[case] model: &str, #[case] laws: u8, #[case] sources: &[&str]) {
    let lines = || sources.iter().flat_map(|source| source.lines());
    let tests = || lines().filter_map(|line| line.trim_start().strip_prefix("fn "));
    let is_law = |law: &String| {
        tests().any(|name| {
            let mut words = name.split(['_', '(']);
            words.any(|word| word == law)
        })
    };
    let missing: Vec<String> = (1..=laws)
        .map(|law| format!("{model}{law}"))
        .filter(|law| !is_law(law))
        .collect();
    assert_eq!(missing, <[String; 0]>::default());
}
