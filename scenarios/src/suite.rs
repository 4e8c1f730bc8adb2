//! The scenarios that ship with nicdrill, as texts in the program.
//!
//! A test compares this list with the folder: a scenario that is not named here does not exist.

macro_rules! suite {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../suite/", $name)))),*]
    };
}

/// Every shipped scenario: its file below `suite/` and its text, in order of name.
#[must_use]
pub fn shipped() -> &'static [(&'static str, &'static str)] {
    suite![
        "device/gone-between-listing-and-read.yaml",
        "port/cable-pulled.yaml",
        "restart/dark-while-refused.yaml",
        "start/baseline.yaml",
    ]
}
