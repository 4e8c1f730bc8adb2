//! The committed types are what the generator writes for the contract. protox compiles it, so that no `protoc` is
//! needed on the machine.

#![expect(clippy::disallowed_methods, reason = "the generator writes a file")]

use std::{fs, path::Path};

const COMMITTED: &str = include_str!("../src/generated.rs");

/// The first line of the committed file, in place of the generator's own.
const HEAD: &str =
    "// @generated from proto/health_event.proto; tests/generated.rs says how it is written again.";

/// Client and server stubs are compiled only with the feature `rpc`.
const STUBS: &str = r#"#[cfg(feature = "rpc")]"#;

#[test]
fn the_committed_types_are_what_the_generator_writes() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let descriptors = protox::compile(["proto/health_event.proto"], ["proto"]).unwrap();
    tonic_prost_build::configure()
        .out_dir(folder)
        .client_mod_attribute(".", STUBS)
        .server_mod_attribute(".", STUBS)
        .btree_map(".")
        .type_attribute(".datamodels.Entity", "#[derive(PartialOrd, Ord)]")
        .type_attribute(
            ".datamodels.BehaviourOverrides",
            "#[derive(PartialOrd, Ord)]",
        )
        .type_attribute(".datamodels.OperationStatus", "#[derive(PartialOrd, Ord)]")
        .compile_fds(descriptors)
        .unwrap();
    let written = fs::read_to_string(folder.join("datamodels.rs")).unwrap();
    let (_, types) = written.split_once('\n').unwrap();
    let written = format!("{HEAD}\n{types}");
    let fresh = folder.join("generated.rs");
    fs::write(&fresh, &written).unwrap();
    assert!(
        COMMITTED == written,
        "the contract or the generator has changed: cp {} proto/src/generated.rs",
        fresh.display()
    );
}
