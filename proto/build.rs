//! Compiles the wire with protox, so that no `protoc` is needed on the machine.
//!
//! Client and server stubs are generated only with the feature `rpc`.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a build script speaks with cargo by print and environment"
)]

use std::error::Error;

const PROTO: &str = "proto/health_event.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PROTO}");
    let rpc = std::env::var_os("CARGO_FEATURE_RPC").is_some();
    let descriptors = protox::compile([PROTO], ["proto"])?;
    tonic_prost_build::configure()
        .build_client(rpc)
        .build_server(rpc)
        .build_transport(rpc)
        .btree_map(".")
        .type_attribute(".datamodels.Entity", "#[derive(PartialOrd, Ord)]")
        .type_attribute(
            ".datamodels.BehaviourOverrides",
            "#[derive(PartialOrd, Ord)]",
        )
        .type_attribute(".datamodels.OperationStatus", "#[derive(PartialOrd, Ord)]")
        .compile_fds(descriptors)?;
    Ok(())
}
