//! What an hfi1's driver writes to the kernel's log about a link (`chip.c`).
//!
//! A port that behaves by the document writes nothing. It leaves out when the lines are written (the
//! fabric's). Start at [`FirmwareReport`].

use std::fmt;

use super::reason::LinkDownReason;

/// What an hfi1's firmware (the 8051) says of a link that went down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FirmwareReport {
    /// Code 0x0a: the link went without a word.
    Unexpected,
    /// Code 0x0b: the neighbour said why.
    Neighbour(LinkDownReason),
    /// Code 0x0c: the host asked for it; the driver takes it for a link that went without a word.
    HostRequested,
    /// Another code, which the driver does not know.
    Other(u8),
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
    use super::super::{ErrorInfo, FirmwareReport, LinkDownReason, Logical};

    /// The firmware lost the link.
    pub(crate) const LINK_DOWN: &str = "8051: Link down";
    /// An error that PortErrorAction names takes the link down.
    pub(crate) const BOUNCE: &str = "PortErrorAction bounce";
    /// The module would draw too much.
    pub(crate) const POWER: &str = "Port disabled due to system power restrictions";

    /// What is written when a link that was in this state went down: by the port itself, or as its
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

    /// A module was put in, or taken out.
    pub(crate) fn module(there: bool) -> &'static str {
        if there {
            "QSFP module inserted"
        } else {
            "QSFP module removed"
        }
    }

    /// The errors in both registers, of flits first.
    pub(crate) fn errors(info: ErrorInfo) -> impl Iterator<Item = String> {
        let flit = info.fm_config.map(|number| error("fmconfig", number, 17));
        let packet = info.receive.map(|number| error("PortRcv", number, 1));
        flit.into_iter().chain(packet)
    }

    /// An error in a register; what the driver says of each is not kept here, so the reason's own
    /// text stands for it, and the number for an error without one.
    fn error(register: &str, info: u8, first: u8) -> String {
        let reason = info.checked_add(first).and_then(LinkDownReason::by_code);
        let text = reason.map_or_else(
            || format!("reserved{info}"),
            |reason| LinkDownReason::kernel_text(reason.code()).to_owned(),
        );
        format!("DCC Error: {register} error: {text}")
    }

    /// A change that a Set(PortInfo) asked for in vain.
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
