//! What a port's firmware reports of a link that went down without a reason.

use fabric::{Fabric, PortAction, Side, opa::FirmwareReport};
use platforms::SlotRef;
use rstest::rstest;

use crate::room::{act, node, slot, states, to_ms, world};

fn reported(platform: &str, report: FirmwareReport) -> (Fabric, SlotRef) {
    let mut world = world(platform);
    let slot = slot(&world, 0);
    act(
        &mut world,
        PortAction::FirmwareReport { report }.on(slot.clone()),
    );
    (world, slot)
}

fn pairs(world: &Fabric, slot: &SlotRef) -> [(u8, u8); 2] {
    Side::BOTH.map(|side| {
        let record = world.end(slot, side).and_then(|end| end.record);
        record.expect("on").shown().codes()
    })
}

/// The codes are those of the driver's `handle_link_down`.
#[rstest]
#[case(FirmwareReport::Unexpected, "Unexpected link down")]
#[case(FirmwareReport::HostRequested, "Host requested link to go offline")]
#[case(FirmwareReport::Other(0x33), "Unknown reason 0x33")]
fn an_hfi1_writes_the_report_and_records_36(#[case] report: FirmwareReport, #[case] text: &str) {
    let (mut world, slot) = reported("opa-cn5000", report);
    let log = world.kernel_log(&node()).iter();
    let log: Vec<&str> = log
        .filter_map(|line| line.text.split_once("hfi1_0: ").map(|(_, text)| text))
        .collect();
    let expected = [
        "8051: Link down",
        &format!("Link down reason: {text}"),
        "set_link_state: current ACTIVE, new OFFLINE ",
    ];
    assert_eq!(log, expected);
    assert_eq!(pairs(&world, &slot), [(36, 0), (36, 0)]);
    to_ms(&mut world, 1_000);
    assert_eq!(states(&world, &slot), "ACTIVE/LinkUp");
}

#[test]
fn another_driver_writes_no_report_and_both_ends_record_the_same() {
    let (world, slot) = reported("dgx-a100", FirmwareReport::Other(0x33));
    assert_eq!(pairs(&world, &slot), [(36, 0), (36, 0)]);
    let log = world.kernel_log(&node()).iter();
    assert_eq!(log.filter(|line| line.text.contains("reason")).count(), 0);
}
