//! The output of the fabric tools, character by character, derived from their format strings.

use fabric::opa::{
    LinkDownErrorLog, LinkDownReason, LinkInitReason, Logical, OfflineDisabledReason, Pair,
    Physical, PortErrorAction, PortInfo, log_text, port_info_text, port_record_text, state_text,
};

fn reason(code: u8) -> LinkDownReason {
    LinkDownReason::by_code(code).expect("defined")
}

fn pair(local: u8, neighbour: u8) -> Pair {
    Pair {
        local: reason(local),
        neighbour: reason(neighbour),
    }
}

/// Port 5 of a switch, whose neighbour was bounced and is back in Init.
fn bounced() -> PortInfo {
    PortInfo {
        subnet: 0xfe80_0000_0000_0000,
        guid: 0x0011_7501_0100_0000,
        lid: 1,
        sm_lid: 1,
        port: 5,
        logical: Logical::Init,
        physical: Physical::LinkUp,
        offline: OfflineDisabledReason::NONE,
        init: LinkInitReason::LINK_UP,
        configured: false,
        neighbour_normal: false,
        pair: pair(0, 39),
    }
}

/// 2025-03-02T09:15:00Z.
const MORNING_S: u64 = 1_740_906_900;

#[test]
fn a_state_without_a_reason_stands_alone() {
    for (logical, text) in [(Logical::Init, "Init"), (Logical::Active, "Active")] {
        let info = PortInfo {
            logical,
            init: LinkInitReason::NONE,
            ..bounced()
        };
        assert_eq!(state_text(&info), text);
    }
}

#[test]
fn a_reason_bears_its_symbol() {
    assert_eq!(reason(1).symbol(), "RCV_ERROR_0");
    assert_eq!(LinkDownReason::SMA_DISABLED.symbol(), "SMA_DISABLED");
}

#[test]
fn an_error_that_takes_a_link_down_already_does_so_after_it_is_added() {
    let (all, error) = (PortErrorAction::EVERYTHING, reason(1));
    assert_eq!(all.and(error), all);
    assert!(all.bounces(error));
}

#[test]
fn a_record_has_the_ports_place_its_states_its_reasons_and_its_log() {
    let mut log = LinkDownErrorLog::default();
    log.read(pair(0, 39), MORNING_S);
    let expected = [
        "PortLID:       0x00000001        PortNum:   0x05 ( 5)",
        "LocalPort:     5                 PortState:        Init (LinkUp)",
        "PhysicalState: LinkUp        ",
        "OfflineDisabledReason: None          ",
        "IsSMConfigurationStarted: False  NeighborNormal: False",
        "BaseLID:       0x00000001        SMLID:            0x00000001",
        "LinkDownReason: None    NeighborLinkDownReason: FM Bounce",
        "LinkDownErrorLog:  0 (                None) Time: March 02, 09:15:00 AM ",
        "NeighborLinkDownErrorLog: 39 (           FM Bounce) Time: March 02, 09:15:00 AM",
        "",
    ];
    assert_eq!(port_record_text(&bounced(), &log), expected.join("\n"));
}

#[test]
fn a_host_reads_its_own_port_without_a_log() {
    let info = PortInfo {
        port: 1,
        logical: Logical::Down,
        physical: Physical::Offline,
        offline: OfflineDisabledReason::by_code(2).expect("defined"),
        lid: u32::MAX,
        init: LinkInitReason::NONE,
        configured: true,
        pair: pair(36, 0),
        ..bounced()
    };
    let expected = [
        "Subnet:   0xfe80000000000000       GUID: 0x0011750101000000",
        "LocalPort:     1                 PortState:        Down (Neigh Unknown)",
        "PhysicalState: Offline       ",
        "OfflineDisabledReason: No Loc Media  ",
        "IsSMConfigurationStarted: True   NeighborNormal: False",
        "BaseLID:       DontCare        SMLID:            0x00000001",
        "LinkDownReason: Neigh Unknown    NeighborLinkDownReason: None",
        "",
    ];
    assert_eq!(port_info_text(&info), expected.join("\n"));
}

#[test]
fn a_full_log_is_sixteen_lines_and_its_oldest_entry_comes_last() {
    let mut log = LinkDownErrorLog::default();
    for minute in 0..8 {
        log.read(pair(36, 0), MORNING_S + 60 * minute);
        log.armed();
    }
    let text = log_text(&log);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 16);
    assert_eq!(
        lines[0],
        "LinkDownErrorLog: 36 (       Neigh Unknown) Time: March 02, 09:16:00 AM "
    );
    assert_eq!(
        lines[15],
        "NeighborLinkDownErrorLog:  0 (                None) Time: March 02, 09:15:00 AM"
    );
}
