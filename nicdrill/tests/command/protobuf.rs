//! `nicdrill proto` prints the contract that nicdrill itself is built from.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::process::Command;

use crate::scratch::Scratch;

fn printed() -> Scratch {
    let scratch = Scratch::new();
    let ran = scratch.shell("$NICDRILL proto > health_event.proto");
    assert_eq!(ran.code, 0, "{ran}");
    scratch
}

#[test]
fn the_contract_is_printed_byte_by_byte_and_compiles() {
    let scratch = printed();
    assert_eq!(scratch.text("health_event.proto"), proto::TEXT);
    let compiled =
        protox::compile([scratch.path("health_event.proto")], [scratch.path(".")]).unwrap();
    let file = compiled
        .file
        .iter()
        .find(|file| file.package() == "datamodels");
    let service = &file.unwrap().service[0];
    let method = format!(
        "/datamodels.{}/{}",
        service.name(),
        service.method[0].name()
    );
    assert_eq!(method, proto::METHOD_PATH);
}

#[test]
fn protoc_compiles_what_is_printed() {
    let scratch = printed();
    let mut protoc = Command::new("protoc");
    protoc
        .args(["--descriptor_set_out=out.pb", "health_event.proto"])
        .current_dir(scratch.path("."));
    match protoc.output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => println!("skipped: protoc cannot be started ({error})"),
    }
}
