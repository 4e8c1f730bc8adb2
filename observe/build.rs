//! Rebuilds the crate when a file appears in, leaves or changes in the embedded folder.

#![expect(
    clippy::disallowed_macros,
    reason = "a build script instructs cargo by print"
)]

fn main() {
    println!("cargo::rerun-if-changed=descriptors");
}
