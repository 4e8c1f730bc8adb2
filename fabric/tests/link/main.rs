//! Acceptance cases of both ends of a link: every row of `cases.yaml` is a test by its name, and a
//! second test shows that each of its expectations can fail.

mod case;
mod observe;
mod play;

use libtest_mimic::{Arguments, Failed, Trial};

/// The cases; one file, so that what is expected can be read beside the documents.
const CASES: &str = include_str!("cases.yaml");

/// The acceptance cases of the link model that there must be. The tree of an Omni-Path device, OP-31,
/// is the platforms' to show.
const IDS: &[u8] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16, 17, 19, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31,
    32,
];

/// The invariants of the link model, PO1 to this, each named in a comment above the law that holds it.
const LAWS: u8 = 17;

fn every_case_and_every_invariant_is_shown(rows: &[case::Row]) -> Result<(), Failed> {
    let tree = include_str!("../../../platforms/tests/tree.rs");
    let laws = include_str!("../it/ends.rs");
    let is_shown = |id: &u8| {
        let case = format!("OP-{id:02}");
        let is_row = |row: &case::Row| row.name.get(..5) == Some(&case);
        rows.iter().any(is_row) || tree.contains(&format!("case {case} "))
    };
    let cases = IDS.iter().filter(|id| !is_shown(id));
    let cases = cases.map(|id| format!("OP-{id:02}"));
    let words = || laws.split(|mark: char| !mark.is_alphanumeric());
    let invariants = (1..=LAWS).map(|law| format!("PO{law}"));
    let invariants = invariants.filter(|law| !words().any(|word| word == law));
    let missing: Vec<String> = cases.chain(invariants).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("nothing shows {}", missing.join(", ")).into())
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let rows = case::read(CASES).unwrap_or_else(|error| panic!("`cases.yaml`: {error}"));
    let holds = rows.iter().cloned().map(|row| {
        Trial::test(row.name.clone(), move || {
            play::play(&row).map(drop).map_err(Failed::from)
        })
    });
    let can_fail = rows.iter().cloned().map(|row| {
        Trial::test(format!("{} (altered)", row.name), move || {
            play::each_alteration_fails(&row).map_err(Failed::from)
        })
    });
    let named = rows.clone();
    let index = Trial::test("every case and every invariant is shown", move || {
        every_case_and_every_invariant_is_shown(&named)
    });
    let trials = holds.chain(can_fail).chain([index]).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
