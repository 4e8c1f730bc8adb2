//! The kernel log as a stream in the tree.

use fabric::{Fabric, Kmsg, NodeAction, PortAction, RebootPlan, Side, StickAt};
use platforms::LinkLayer::Ethernet;
use rstest::rstest;
use simfs::Fs;

use crate::room::{act, node, slot, to_ms, world_of};

const PATH: &str = "dev/kmsg";

fn text(fs: &mut Fs) -> String {
    let bytes = fs.peek(PATH).expect("the stream is there");
    String::from_utf8(bytes.to_vec()).expect("a log is text")
}

#[test]
fn every_line_is_a_record_with_its_number_and_the_microseconds_since_boot() {
    let mut world = world_of(Ethernet);
    let (victim, node) = (slot(&world, 0), node());
    let booted_us = world.machine(&node).expect("it is there").clock.boot_ns / 1000;
    let (mut kmsg, mut fs) = (Kmsg::default(), Fs::new());
    fs.apply(&kmsg.edits(&world, &node));
    assert_eq!(text(&mut fs), "");
    to_ms(&mut world, 1_500);
    act(&mut world, PortAction::Cut.on(victim));
    fs.apply(&kmsg.edits(&world, &node));
    let log = text(&mut fs);
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), world.kernel_log(&node).len());
    for (number, (record, line)) in lines.iter().zip(world.kernel_log(&node)).enumerate() {
        let us = booted_us + 1_500_000;
        assert_eq!(*record, format!("6,{number},{us},-;{}", line.text));
    }
    assert!(log.contains("Link down"), "{log}");
    assert_eq!(kmsg.edits(&world, &node), [], "nothing happened since");
}

#[test]
fn what_was_read_stays_and_more_comes_behind_it() {
    let mut world = world_of(Ethernet);
    let (victim, node) = (slot(&world, 0), node());
    let (mut kmsg, mut fs) = (Kmsg::default(), Fs::new());
    act(&mut world, PortAction::Cut.on(victim.clone()));
    fs.apply(&kmsg.edits(&world, &node));
    let before = text(&mut fs);
    to_ms(&mut world, 5_000);
    act(&mut world, PortAction::Mend.on(victim));
    to_ms(&mut world, 6_000);
    fs.apply(&kmsg.edits(&world, &node));
    let after = text(&mut fs);
    assert!(
        after.starts_with(&before) && after.len() > before.len(),
        "{after}"
    );
}

/// The number of lines in the log that contain this text.
fn lines(world: &Fabric, part: &str) -> usize {
    let log = world.kernel_log(&node()).iter();
    log.filter(|line| line.text.contains(part)).count()
}

#[rstest]
#[case(Side::Here, 1)]
#[case(Side::There, 0)]
fn the_log_tells_of_the_nodes_own_module_only(#[case] side: Side, #[case] rendered: usize) {
    let mut world = world_of(Ethernet);
    let slot = slot(&world, 0);
    let there = false;
    act(&mut world, PortAction::Module { side, there }.on(slot));
    assert_eq!(lines(&world, "Cable unplugged"), rendered);
    assert_eq!(lines(&world, "Link down"), 1, "the link went either way");
}

#[test]
fn a_link_that_recovered_was_never_down_and_does_not_come_up() {
    let mut world = world_of(Ethernet);
    let slot = slot(&world, 0);
    let at = StickAt::Recovery;
    act(&mut world, PortAction::Stick { at }.on(slot.clone()));
    to_ms(&mut world, 2_000);
    act(&mut world, PortAction::Mend.on(slot));
    to_ms(&mut world, 5_000);
    assert_eq!(
        (lines(&world, "Link down"), lines(&world, "Link up")),
        (0, 0)
    );
}

#[test]
fn a_reboot_begins_another_log() {
    let mut world = world_of(Ethernet);
    let (victim, node) = (slot(&world, 0), node());
    let (mut kmsg, mut fs) = (Kmsg::default(), Fs::new());
    act(&mut world, PortAction::Cut.on(victim));
    fs.apply(&kmsg.edits(&world, &node));
    assert_ne!(text(&mut fs), "");
    to_ms(&mut world, 9_000);
    let plan = RebootPlan::default();
    act(&mut world, NodeAction::Reboot { plan }.on(node.clone()));
    fs.apply(&kmsg.edits(&world, &node));
    let lines = world.kernel_log(&node).len();
    assert_eq!(text(&mut fs).lines().count(), lines);
    assert!(!text(&mut fs).contains("Link down"), "{}", text(&mut fs));
}
