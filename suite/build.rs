//! Rebuilds the crate when a file appears in, leaves or changes in an embedded folder.

#![expect(
    clippy::disallowed_macros,
    reason = "a build script instructs cargo by print"
)]

fn main() {
    for folder in ["clauses", "interview", "scenarios", "worlds"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
