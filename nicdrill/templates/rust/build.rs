//! Compiles `health_event.proto` without `protoc`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=health_event.proto");
    let descriptors = protox::compile(["health_event.proto"], ["."])?;
    tonic_prost_build::configure().build_server(false).compile_fds(descriptors)?;
    Ok(())
}
