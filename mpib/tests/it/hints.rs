//! Shared memory, slots and their assignment.

use mpib::{
    Agent, AgentMessage, BadHints, FlowId, HINTS_MAGIC, HintMemory, HintReader, HintSlot,
    HintWriter, SupBandwidth, Unregistered,
};
use rstest::rstest;

const SLOT: HintSlot = HintSlot::new(3);

#[test]
fn the_memory_is_a_header_and_256_slots_of_16_bytes() {
    let mut memory = HintMemory::new();
    memory.assign(SLOT, 0x0a00_0101, 0x0a00_0102);
    memory.write(SLOT, SupBandwidth::new(9));
    let bytes = memory.bytes();
    assert_eq!(bytes.len(), 4112);
    assert_eq!(bytes[..8], [0x48, 0x49, 0x50, 0x4d, 0, 1, 0, 0]);
    // Slot 3: share 9, sequence 2 after one write, then the pair.
    assert_eq!(
        bytes[16 + 48..16 + 64],
        [9, 0, 0, 0, 2, 0, 0, 0, 1, 1, 0, 10, 2, 1, 0, 10]
    );
    assert_eq!(memory.pair(SLOT), (0x0a00_0101, 0x0a00_0102));
}

#[test]
fn a_reader_gets_the_last_share_and_spins_on_an_odd_sequence() {
    let mut memory = HintMemory::new();
    assert_eq!(memory.read(SLOT), Some(SupBandwidth::NONE));
    memory.write(SLOT, SupBandwidth::new(7));
    assert_eq!(memory.read(SLOT), Some(SupBandwidth::new(7)));

    let mut writer = HintWriter::new(SLOT, SupBandwidth::new(8));
    assert!(writer.step(&mut memory));
    assert_eq!(memory.read(SLOT), None, "the sequence is odd");
    assert!(writer.step(&mut memory));
    assert_eq!(
        memory.read(SLOT),
        None,
        "the share is there, the sequence still odd"
    );
    assert!(writer.step(&mut memory));
    assert_eq!(memory.read(SLOT), Some(SupBandwidth::new(8)));
    assert!(!writer.step(&mut memory), "a write has three stores");
}

/// The loop's `continue` compares with the round before, so an unchanged odd value ends it.
#[test]
fn a_reader_overtaken_by_a_stuck_writer_leaves_with_a_whole_share() {
    let mut memory = HintMemory::new();
    memory.write(SLOT, SupBandwidth::new(7));
    let mut reader = HintReader::new(SLOT);
    assert_eq!(reader.step(&memory), None, "the first sequence is even");
    HintWriter::new(SLOT, SupBandwidth::new(8)).step(&mut memory);
    assert_eq!(reader.step(&memory), None, "the share");
    assert_eq!(reader.step(&memory), None, "the second sequence is odd");
    assert_eq!(reader.step(&memory), Some(SupBandwidth::new(7)));
}

#[test]
fn memory_of_another_size_or_magic_is_refused() {
    let bytes = HintMemory::new().bytes().to_vec();
    assert!(HintMemory::map(&bytes).is_ok());
    assert_eq!(
        HintMemory::map(&bytes[..4111]),
        Err(BadHints::Size { found: 4111 })
    );
    let mut other = bytes;
    other[0] ^= 1;
    assert_eq!(
        HintMemory::map(&other),
        Err(BadHints::Magic {
            found: HINTS_MAGIC ^ 1
        })
    );
}

#[test]
fn ends_of_one_pair_share_a_slot_and_keep_it() {
    let mut agent = Agent::running(SupBandwidth::MAX);
    let (first, second) = (FlowId::new(7, 1), FlowId::new(7, 2));
    let slot = agent.register(first, 1, 2).expect("a free slot");
    assert_eq!(agent.register(second, 1, 2), Ok(slot));
    assert_eq!((agent.slots(), agent.users(1, 2)), (1, Some(2)));
    let other = agent
        .register(FlowId::new(7, 3), 2, 1)
        .expect("a free slot");
    assert_ne!(other, slot, "the pair is directed");

    assert_eq!(agent.deregister(first), Ok(()));
    assert_eq!(agent.deregister(first), Err(Unregistered::Invalid));
    assert_eq!(agent.deregister(second), Ok(()));
    assert_eq!((agent.slots(), agent.users(1, 2)), (2, Some(0)));
    assert_eq!(
        agent.register(first, 1, 2),
        Ok(slot),
        "the pair's slot is kept for it"
    );
}

#[test]
fn the_257th_pair_finds_no_slot_even_when_others_are_unused() {
    let mut agent = Agent::running(SupBandwidth::MAX);
    for counter in 0..256 {
        let flow = FlowId::new(1, counter);
        agent
            .register(flow, 1, u32::from(counter))
            .expect("a free slot");
        agent.deregister(flow).expect("registered");
    }
    let last = FlowId::new(1, 256);
    assert_eq!(agent.register(last, 1, 256), Err(Unregistered::NoFreeSlots));
    assert_eq!(agent.slots(), 256);
    assert!(
        agent.register(last, 1, 255).is_ok(),
        "a known pair is served"
    );
}

#[test]
fn a_dead_agent_serves_nobody_but_its_hints_are_read() {
    let mut agent = Agent::running(SupBandwidth::MAX);
    let slot = agent
        .register(FlowId::new(1, 1), 1, 2)
        .expect("a free slot");
    assert_eq!(agent.read(slot), Some(SupBandwidth::MAX));
    assert!(agent.write(1, 2, SupBandwidth::new(3)));
    assert!(!agent.write(1, 9, SupBandwidth::new(3)), "no such pair");
    agent.kill();
    assert_eq!(agent.read(slot), Some(SupBandwidth::new(3)));
    assert!(!agent.write(1, 2, SupBandwidth::new(4)));
    assert_eq!(
        agent.register(FlowId::new(1, 2), 1, 2),
        Err(Unregistered::NoAgent)
    );
    assert_eq!(
        agent.deregister(FlowId::new(1, 1)),
        Err(Unregistered::NoAgent)
    );
}

#[test]
fn an_agent_killed_in_a_write_leaves_that_slot_alone_unreadable() {
    let mut agent = Agent::running(SupBandwidth::MAX);
    let stuck = agent
        .register(FlowId::new(1, 1), 1, 2)
        .expect("a free slot");
    let other = agent
        .register(FlowId::new(1, 2), 1, 3)
        .expect("a free slot");
    assert!(agent.kill_while_writing(1, 2));
    assert_eq!(agent.read(stuck), None);
    assert_eq!(agent.read(other), Some(SupBandwidth::MAX));
    assert!(!agent.kill_while_writing(1, 3), "it is dead already");
}

#[rstest]
fn a_slot_has_its_number(#[values(0, 1, 255)] number: u8) {
    assert_eq!(HintSlot::new(number).number(), number);
}

#[rstest]
#[case(Unregistered::NoAgent, None)]
#[case(Unregistered::NoFreeSlots, Some(1))]
#[case(Unregistered::Invalid, Some(2))]
fn a_refusal_has_its_status(#[case] refusal: Unregistered, #[case] status: Option<u32>) {
    assert_eq!(refusal.status(), status);
}

#[rstest]
#[case(0, 1, 0x0000_0001)]
#[case(4242, 7, 0x1092_0007)]
#[case(u16::MAX, u16::MAX, u32::MAX)]
fn a_flow_is_named_by_process_and_counter(
    #[case] pid: u16,
    #[case] counter: u16,
    #[case] number: u32,
) {
    assert_eq!(FlowId::new(pid, counter).get(), number);
}

#[rstest]
#[case(AgentMessage::Register, 1, Some(28))]
#[case(AgentMessage::Deregister, 2, Some(12))]
#[case(AgentMessage::Response, 128, None)]
fn a_message_to_the_agent_has_its_kind_and_size(
    #[case] message: AgentMessage,
    #[case] kind: u32,
    #[case] size_bytes: Option<usize>,
) {
    assert_eq!((message.kind(), message.size_bytes()), (kind, size_bytes));
    assert_eq!(HINTS_MAGIC, 0x4D50_4948);
}
