//! LinkDownReason: the reason numbers that ports send each other, and their texts in tools.
//!
//! The numbers are those of `include/rdma/opa_port_info.h` (`OPA_LINKDOWN_REASON_*`); the table of
//! "Link Down Reason", Cornelis, lacks 12 of them. `record.rs` decides which reason is used when.
//! Start at [`LinkDownReason`].

use std::fmt;

/// A reason for a link's going down; only defined numbers can be represented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkDownReason(u8);

/// The kind of a reason, by the headings of "Link Down Reason", Cornelis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// No reason.
    None,
    /// A bounce by this port after an error that its PortErrorAction includes.
    PortErrorAction,
    /// A bounce requested by this port's software or fabric manager.
    Intentional,
    /// Observed, not initiated: the neighbour went away without notice.
    Observed,
    /// The port went to Offline or Disabled; the low four bits are its OfflineDisabledReason.
    OfflineDisabled,
}

/// A row of the table of reasons.
struct Row {
    code: u8,
    symbol: &'static str,
    tool: &'static str,
    kernel: &'static str,
    group: Group,
}

const fn row(
    code: u8,
    symbol: &'static str,
    tool: &'static str,
    kernel: &'static str,
    group: Group,
) -> Row {
    Row {
        code,
        symbol,
        tool,
        kernel,
        group,
    }
}

use Group::{Intentional, Observed, OfflineDisabled, PortErrorAction};

/// All reasons. Number; symbol after `OPA_LINKDOWN_REASON_`; text of the fabric tools and the fabric
/// manager (`StlLinkDownReasonToText`); text of hfi1 in the kernel log (`link_down_reason_strs`);
/// kind.
///
/// `RCV_ERROR_n` is number n + 1; numbers up to 24 with a name of their own replace such entries.
#[rustfmt::skip]
const ROWS: [Row; 50] = [
    row(0, "NONE", "None", "None", Group::None),
    row(1, "RCV_ERROR_0", "Rcv Error 0", "Receive error 0", PortErrorAction),
    row(2, "BAD_PKT_LEN", "Bad Pkt Len", "Bad packet length", PortErrorAction),
    row(3, "PKT_TOO_LONG", "Pkt Too Long", "Packet too long", PortErrorAction),
    row(4, "PKT_TOO_SHORT", "Pkt Too Short", "Packet too short", PortErrorAction),
    row(5, "BAD_SLID", "Bad slid", "Bad SLID", PortErrorAction),
    row(6, "BAD_DLID", "Bad dlid", "Bad DLID", PortErrorAction),
    row(7, "BAD_L2", "Bad L2", "Bad L2", PortErrorAction),
    row(8, "BAD_SC", "Bad SC", "Bad SC", PortErrorAction),
    row(9, "RCV_ERROR_8", "Rcv Error 8", "Receive error 8", PortErrorAction),
    row(10, "BAD_MID_TAIL", "Bad Mid Tail", "Bad mid tail", PortErrorAction),
    row(11, "RCV_ERROR_10", "Rcv Error 10", "Receive error 10", PortErrorAction),
    row(12, "PREEMPT_ERROR", "Preempt Error", "Preempt error", PortErrorAction),
    row(13, "PREEMPT_VL15", "Preempt VL15", "Preempt vl15", PortErrorAction),
    row(14, "BAD_VL_MARKER", "Bad VL Marker", "Bad VL marker", PortErrorAction),
    row(15, "RCV_ERROR_14", "Rcv Error 14", "Receive error 14", PortErrorAction),
    row(16, "RCV_ERROR_15", "Rcv Error 15", "Receive error 15", PortErrorAction),
    row(17, "BAD_HEAD_DIST", "Bad Head Dist", "Bad head distance", PortErrorAction),
    row(18, "BAD_TAIL_DIST", "Bad Tail Dist", "Bad tail distance", PortErrorAction),
    row(19, "BAD_CTRL_DIST", "Bad Ctrl Dist", "Bad control distance", PortErrorAction),
    row(20, "BAD_CREDIT_ACK", "Bad Cred Ack", "Bad credit ack", PortErrorAction),
    row(21, "UNSUPPORTED_VL_MARKER", "Unsup VL Mrkr", "Unsupported VL marker", PortErrorAction),
    row(22, "BAD_PREEMPT", "Bad Preempt", "Bad preempt", PortErrorAction),
    row(23, "BAD_CONTROL_FLIT", "Bad Ctrl Flit", "Bad control flit", PortErrorAction),
    row(24, "EXCEED_MULTICAST_LIMIT", "Exc MC Limit", "Exceed multicast limit", PortErrorAction),
    row(25, "RCV_ERROR_24", "Rcv Error 24", "Receive error 24", PortErrorAction),
    row(26, "RCV_ERROR_25", "Rcv Error 25", "Receive error 25", PortErrorAction),
    row(27, "RCV_ERROR_26", "Rcv Error 26", "Receive error 26", PortErrorAction),
    row(28, "RCV_ERROR_27", "Rcv Error 27", "Receive error 27", PortErrorAction),
    row(29, "RCV_ERROR_28", "Rcv Error 28", "Receive error 28", PortErrorAction),
    row(30, "RCV_ERROR_29", "Rcv Error 29", "Receive error 29", PortErrorAction),
    row(31, "RCV_ERROR_30", "Rcv Error 30", "Receive error 30", PortErrorAction),
    row(32, "EXCESSIVE_BUFFER_OVERRUN", "Exc Buf OVR", "Excessive buffer overrun", PortErrorAction),
    row(33, "UNKNOWN", "Unknown", "Unknown", Intentional),
    row(35, "REBOOT", "Reboot", "Reboot", Intentional),
    row(36, "NEIGHBOR_UNKNOWN", "Neigh Unknown", "Neighbor unknown", Observed),
    row(39, "FM_BOUNCE", "FM Bounce", "FM bounce", Intentional),
    row(40, "SPEED_POLICY", "Speed Policy", "Speed policy", Intentional),
    row(41, "WIDTH_POLICY", "Width Policy", "Width policy", Intentional),
    row(49, "DISCONNECTED", "Disconnected", "Disconnected", OfflineDisabled),
    row(50, "LOCAL_MEDIA_NOT_INSTALLED", "No Loc Media", "Local media not installed", OfflineDisabled),
    row(51, "NOT_INSTALLED", "Not Installed", "Not installed", OfflineDisabled),
    row(52, "CHASSIS_CONFIG", "Chassis Conf", "Chassis config", OfflineDisabled),
    row(54, "END_TO_END_NOT_INSTALLED", "No End to End", "End to end not installed", OfflineDisabled),
    row(56, "POWER_POLICY", "Power Policy", "Power policy", OfflineDisabled),
    row(57, "LINKSPEED_POLICY", "Speed Policy", "Link speed policy", OfflineDisabled),
    row(58, "LINKWIDTH_POLICY", "Width_Policy", "Link width policy", OfflineDisabled),
    row(60, "SWITCH_MGMT", "Switch Mgmt", "Switch management", OfflineDisabled),
    row(61, "SMA_DISABLED", "SMA Disabled", "SMA disabled", OfflineDisabled),
    row(63, "TRANSIENT", "Transient", "Transient", OfflineDisabled),
];

/// The tools' text for an undefined number (`StlLinkDownReasonToText`).
pub(super) const UNDEFINED: &str = " ???? ";
/// The text of hfi1 for an undefined number (`link_down_reason_str`).
const INVALID: &str = "(invalid)";

impl LinkDownReason {
    /// No reason: nothing happened since the subnet manager cleared it.
    pub const NONE: Self = Self(0);
    /// A marker for a virtual lane that is not supported.
    pub(crate) const UNSUPPORTED_VL_MARKER: Self = Self(21);
    /// The receive buffer overran.
    pub const EXCESSIVE_BUFFER_OVERRUN: Self = Self(32);
    /// Intentional, without a specific reason.
    pub const UNKNOWN: Self = Self(33);
    /// A reboot, or a reset of the device.
    pub const REBOOT: Self = Self(35);
    /// Not taken down by this end, and the neighbour sent no reason.
    pub(crate) const NEIGHBOR_UNKNOWN: Self = Self(36);
    /// The fabric manager took the link from LinkUp to Polling.
    pub const FM_BOUNCE: Self = Self(39);
    /// The link lost lanes beyond the policy.
    pub(crate) const WIDTH_POLICY: Self = Self(41);
    /// No module in the port's connector.
    pub(crate) const LOCAL_MEDIA_NOT_INSTALLED: Self = Self(50);
    /// The module would draw too much power.
    pub const POWER_POLICY: Self = Self(56);
    /// Disabled by its user through the switch's own management.
    pub const SWITCH_MGMT: Self = Self(60);
    /// Disabled by its user through the subnet management agent.
    pub const SMA_DISABLED: Self = Self(61);
    /// The port went offline a moment ago.
    pub const TRANSIENT: Self = Self(63);

    /// The reason of this number; `None` for a reserved one.
    #[must_use]
    pub fn by_code(code: u8) -> Option<Self> {
        find(code).map(|row| Self(row.code))
    }

    /// Every reason, [`Self::NONE`] first, by number.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| Self(row.code))
    }

    /// Its number, 0 to 63.
    #[must_use]
    pub fn code(self) -> u8 {
        self.0
    }

    /// The end of its symbol, after `OPA_LINKDOWN_REASON_`.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        self.row().symbol
    }

    /// Its kind.
    #[must_use]
    pub fn group(self) -> Group {
        self.row().group
    }

    /// Whether it is a reason other than [`Self::NONE`].
    #[must_use]
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }

    /// Whether it can be sent to a neighbour: every reason except none and the five that "Link Down
    /// Reason", Cornelis, names as never used for NeighborLinkDownReason.
    #[must_use]
    pub fn may_be_neighbours(self) -> bool {
        ![0, 36, 49, 50, 51, 54].contains(&self.0)
    }

    /// Whether the port stays down until the reason is released: it went to Offline or Disabled, and
    /// not only for a moment.
    #[must_use]
    pub fn holds(self) -> bool {
        self.group() == OfflineDisabled && self != Self::TRANSIENT
    }

    /// The text of every fabric tool for a number, at most 13 characters.
    ///
    /// Numbers 40 and 57 have the same text; 41 and 58 differ by an underscore only.
    #[must_use]
    pub fn tool_text(code: u8) -> &'static str {
        find(code).map_or(UNDEFINED, |row| row.tool)
    }

    /// The text of hfi1 in the kernel log for a number.
    #[must_use]
    pub(crate) fn kernel_text(code: u8) -> &'static str {
        find(code).map_or(INVALID, |row| row.kernel)
    }

    fn row(self) -> &'static Row {
        find(self.0).expect("a reason is made of a defined number only")
    }
}

fn find(code: u8) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.code == code)
}

impl fmt::Display for LinkDownReason {
    /// As the fabric tools print it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.row().tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_50_reasons_in_order_and_each_is_found_by_its_number() {
        assert!(ROWS.windows(2).all(|pair| pair[0].code < pair[1].code));
        for reason in LinkDownReason::all() {
            assert_eq!(LinkDownReason::by_code(reason.code()), Some(reason));
        }
        for reserved in [34, 37, 38, 42, 48, 53, 55, 59, 62, 64, 255] {
            assert_eq!(LinkDownReason::by_code(reserved), None, "{reserved}");
            assert_eq!(LinkDownReason::kernel_text(reserved), "(invalid)");
        }
    }

    #[test]
    fn a_generic_receive_error_is_one_above_its_number() {
        let generic = ROWS.iter().filter_map(|row| {
            let number = row.symbol.strip_prefix("RCV_ERROR_")?;
            Some((row, number.parse::<u8>().expect("a number")))
        });
        let mut seen = 0;
        for (row, number) in generic {
            assert_eq!(row.code, number + 1);
            assert_eq!(row.tool, format!("Rcv Error {number}"));
            assert_eq!(row.kernel, format!("Receive error {number}"));
            seen += 1;
        }
        assert_eq!(seen, 12, "as many as the published table lacks");
    }

    #[test]
    fn no_tool_text_is_longer_than_its_column() {
        assert!(ROWS.iter().all(|row| row.tool.len() <= 13));
    }

    #[test]
    fn two_texts_are_traps() {
        let text = LinkDownReason::tool_text;
        assert_eq!(text(40), text(57));
        assert_eq!([text(41), text(58)], ["Width Policy", "Width_Policy"]);
        assert_eq!(text(34), " ???? ");
    }

    #[test]
    fn forty_four_reasons_can_be_told_to_a_neighbour() {
        let rendered = LinkDownReason::all().filter(|reason| reason.may_be_neighbours());
        assert_eq!(rendered.count(), 44);
    }
}
