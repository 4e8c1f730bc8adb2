//! Acceptance cases of both ends of a link: every row of `cases.yaml` is a test with its name, and a
//! second test shows that each of its expectations can fail.

mod case;
mod observe;
mod play;

use libtest_mimic::{Arguments, Failed, Trial};

/// The cases; one file, so that expectations can be compared with the documents.
const CASES: &str = include_str!("cases.yaml");

/// The required acceptance cases of the link model. The tree of an Omni-Path device, OP-31, is tested
/// in `platforms`.
const IDS: &[u8] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16, 17, 19, 21, 22, 23, 24, 25, 26, 28, 29, 30, 32,
];

fn every_case_is_played(rows: &[case::Row]) -> Result<(), Failed> {
    let is_played = |id: &str| rows.iter().any(|row| row.name.get(..5) == Some(id));
    let ids = IDS.iter().map(|id| format!("OP-{id:02}"));
    let missing: Vec<String> = ids.filter(|id| !is_played(id)).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("nothing plays {}", missing.join(", ")).into())
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
    let index = Trial::test("every case is played", move || every_case_is_played(&named));
    let trials = holds.chain(can_fail).chain([index]).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
