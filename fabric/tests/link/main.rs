//! Acceptance cases of both ends of a link: every row of `cases.yaml` is a test by its name, and a
//! second test shows that each of its expectations can fail.

mod case;
mod observe;
mod play;

use libtest_mimic::{Arguments, Failed, Trial};

/// The cases; one file, so that what is expected can be read beside the documents.
const CASES: &str = include_str!("cases.yaml");

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
    let trials = holds.chain(can_fail).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
