//! The lines that an hfi1's driver writes to the kernel log about a link (`chip.c`).
//!
//! The rest of the crate decides when they are written. A port that follows the specification writes
//! none. Start at [`FirmwareReport`].

use std::fmt;

use super::reason::LinkDownReason;

/// What an hfi1's firmware (the 8051) reports about a link that went down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FirmwareReport {
    /// Code 0x0a: the link went down without notice.
    Unexpected,
    /// Code 0x0b: the neighbour sent this reason.
    Neighbour(LinkDownReason),
    /// Code 0x0c: the host requested it; the driver treats it as a link that went down without
    /// notice.
    HostRequested,
    /// Another code, which the driver does not know.
    Other(u8),
}

impl FirmwareReport {
    /// The report of this code; `None` for 0x0b, which says nothing without the neighbour's message.
    #[must_use]
    pub fn by_code(code: u8) -> Option<Self> {
        match code {
            0x0a => Some(Self::Unexpected),
            0x0b => None,
            0x0c => Some(Self::HostRequested),
            other => Some(Self::Other(other)),
        }
    }
}

impl fmt::Display for FirmwareReport {
    /// As the driver writes it to the log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Link down reason: ")?;
        match self {
            Self::Unexpected => f.write_str("Unexpected link down"),
            Self::Neighbour(reason) => {
                let code = reason.code();
                let text = LinkDownReason::kernel_text(code);
                write!(f, "Neighbor link down message {code}, {text}")
            }
            Self::HostRequested => f.write_str("Host requested link to go offline"),
            Self::Other(code) => write!(f, "Unknown reason {code:#x}"),
        }
    }
}

/// Lines about a link's state.
pub(crate) mod state_line {
    use super::super::{
        ErrorInfo, FirmwareReport, Lanes, LinkDownReason, LinkWidths, Logical, width::code,
    };

    /// The firmware lost the link.
    pub(crate) const LINK_DOWN: &str = "8051: Link down";
    /// The firmware reports that a lane died.
    pub(crate) const DOWNGRADE: &str = "8051: Link width downgrade";
    /// An error included in PortErrorAction takes the link down, as the function that found it says: overruns are counted
    /// by a timer, other errors come by an interrupt.
    pub(crate) fn bounce(reason: LinkDownReason) -> &'static str {
        if reason == LinkDownReason::EXCESSIVE_BUFFER_OVERRUN {
            "update_rcverr_timer: PortErrorAction bounce"
        } else {
            "handle_dcc_err: PortErrorAction bounce"
        }
    }

    /// The device is too hot: its driver freezes it (`handle_temp_err`), and does not thaw it again
    /// (`start_freeze_handling`).
    pub(crate) const TOO_HOT: [&str; 2] = [
        "Critical temperature reached! Forcing device into freeze mode!",
        "Aborted freeze recovery. Please REBOOT system",
    ];
    /// The module would draw too much power (`qual_power`, platform.c).
    pub(crate) const POWER: &str = "qual_power: Port disabled due to system power restrictions";

    /// The words for the numbers in the register of flit errors (`fm_config_txt`).
    const FLIT_ERRORS: [(u8, &str); 8] = [
        (0, "BadHeadDist: Distance violation between two head flits"),
        (1, "BadTailDist: Distance violation between two tail flits"),
        (
            2,
            "BadCtrlDist: Distance violation between two credit control flits",
        ),
        (3, "BadCrdAck: Credits return for unsupported VL"),
        (4, "UnsupportedVLMarker: Received VL Marker"),
        (5, "BadPreempt: Exceeded the preemption nesting level"),
        (6, "BadControlFlit: Received unsupported control flit"),
        (
            8,
            "UnsupportedVLMarker: Received VL Marker for unconfigured or disabled VL",
        ),
    ];

    /// The words for the numbers in the register of packet errors (`port_rcv_txt`).
    const PACKET_ERRORS: [(u8, &str); 10] = [
        (1, "BadPktLen: Illegal PktLen"),
        (2, "PktLenTooLong: Packet longer than PktLen"),
        (3, "PktLenTooShort: Packet shorter than PktLen"),
        (
            4,
            "BadSLID: Illegal SLID (0, using multicast as SLID, does not include security validation of SLID)",
        ),
        (5, "BadDLID: Illegal DLID (0, doesn't match HFI)"),
        (6, "BadL2: Illegal L2 opcode"),
        (7, "BadSC: Unsupported SC"),
        (9, "BadRC: Illegal RC"),
        (11, "PreemptError: Preempting with same VL"),
        (12, "PreemptVL15: Preempting a VL15 packet"),
    ];

    /// The lines for a link in this state that went down: by the port itself (`None`), or as its
    /// firmware reports.
    pub(crate) fn went_down(before: Logical, report: Option<FirmwareReport>) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(report) = report {
            lines.push(LINK_DOWN.to_owned());
            lines.push(report.to_string());
        }
        let before = before.to_string().to_uppercase();
        lines.push(format!("set_link_state: current {before}, new OFFLINE "));
        lines
    }

    /// The line for a module that was inserted or removed.
    pub(crate) fn module(there: bool) -> &'static str {
        if there {
            "QSFP module inserted"
        } else {
            "QSFP module removed"
        }
    }

    /// The lines for the errors in both registers, flit errors first.
    pub(crate) fn errors(info: ErrorInfo) -> impl Iterator<Item = String> {
        let flit = info
            .fm_config
            .map(|number| error("fmconfig", number, &FLIT_ERRORS));
        let packet = info
            .receive
            .map(|number| error("PortRcv", number, &PACKET_ERRORS));
        flit.into_iter().chain(packet)
    }

    /// The line for an error in a register. That of a packet error goes on with the packet's headers, which nobody states
    /// here.
    fn error(register: &str, info: u8, words: &[(u8, &str)]) -> String {
        let known = words.iter().find(|(number, _)| *number == info);
        let text = known.map_or_else(|| format!("reserved{info}"), |(_, text)| (*text).to_owned());
        format!("DCC Error: {register} error: {text}")
    }

    /// The lines for a width that these do not allow (`apply_link_downgrade_policy`).
    pub(crate) fn too_narrow(lanes: Lanes, allowed: LinkWidths) -> [String; 2] {
        let active = format!(
            "tx active {:#x}, rx active {:#x}",
            code(lanes.sends),
            code(lanes.receives)
        );
        if allowed == LinkWidths::NONE {
            let first = "Link downgrade is disabled and link has downgraded, downing link";
            [
                first.to_owned(),
                format!("  original {:#x}, {active}", code(lanes.full)),
            ]
        } else {
            let first = "Link is outside of downgrade allowed, downing link";
            [
                first.to_owned(),
                format!("  enabled {:#x}, {active}", allowed.code()),
            ]
        }
    }

    /// The line for a rejected change of a Set(PortInfo).
    pub(crate) fn refused(from: &str, to: &str) -> String {
        format!("invalid physical state transition {from} -> {to}")
    }
}

#[cfg(test)]
mod tests {
    use super::{FirmwareReport, state_line::went_down};
    use crate::opa::{LinkDownReason, Logical};

    #[test]
    fn what_the_firmware_says_is_told_by_its_words() {
        let texts = [
            (FirmwareReport::Unexpected, "Unexpected link down"),
            (
                FirmwareReport::HostRequested,
                "Host requested link to go offline",
            ),
            (FirmwareReport::Other(0x33), "Unknown reason 0x33"),
        ];
        for (report, text) in texts {
            assert_eq!(report.to_string(), format!("Link down reason: {text}"));
        }
    }

    #[test]
    fn a_code_of_the_firmware_is_a_report_unless_it_needs_the_neighbours_message() {
        let report = FirmwareReport::by_code;
        assert_eq!(report(0x0a), Some(FirmwareReport::Unexpected));
        assert_eq!(report(0x0b), None);
        assert_eq!(report(0x0c), Some(FirmwareReport::HostRequested));
        assert_eq!(report(0xff), Some(FirmwareReport::Other(0xff)));
    }

    #[test]
    fn a_link_lost_by_its_neighbour_is_three_lines() {
        let bounce = FirmwareReport::Neighbour(LinkDownReason::FM_BOUNCE);
        assert_eq!(
            went_down(Logical::Active, Some(bounce)),
            [
                "8051: Link down",
                "Link down reason: Neighbor link down message 39, FM bounce",
                "set_link_state: current ACTIVE, new OFFLINE ",
            ]
        );
        assert_eq!(
            went_down(Logical::Init, None),
            ["set_link_state: current INIT, new OFFLINE "]
        );
    }
}
