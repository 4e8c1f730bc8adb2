//! The counters that can be watched: their files, severities and descriptions.
//!
//! The table is fixed: an operator cannot change path, severity or description (NVSentinel,
//! nic-health-monitor `pkg/config/config.go`). Widths of fields are the kernel's
//! (`drivers/infiniband/core/sysfs.c`, `PORT_PMA_ATTR`); hardware and interface counters have 64
//! bits.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::threshold::{Threshold, Unit, Watched};

/// The folder of a counter's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// `counters/` of the port.
    Port,
    /// `hw_counters/` of the port.
    Hardware,
    /// `statistics/` of the network interface.
    Statistics,
    /// The folder of the network interface itself (`carrier_changes`).
    Interface,
}

impl Place {
    /// Whether it belongs to the network interface; then only Ethernet ports have it.
    pub(crate) fn is_net(self) -> bool {
        matches!(self, Place::Statistics | Place::Interface)
    }

    /// The path below the folder of the port or interface: empty, or with a slash at its end.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Place::Port => "counters/",
            Place::Hardware => "hw_counters/",
            Place::Statistics => "statistics/",
            Place::Interface => "",
        }
    }
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Counter {
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    /// The name of the file in that folder.
    pub(crate) file: &'static str,
    pub(crate) is_fatal: bool,
    /// The largest value of the kernel's field.
    pub(crate) max: u64,
    pub(crate) description: &'static str,
}

const fn row(
    name: &'static str,
    place: Place,
    is_fatal: bool,
    bits: u32,
    description: &'static str,
) -> Counter {
    Counter {
        name,
        place,
        file: name,
        is_fatal,
        max: u64::MAX >> (64 - bits),
        description,
    }
}

const FATAL: bool = true;
const DEGRADING: bool = false;

/// Every counter, in the order of the names.
pub(crate) static TABLE: [Counter; 25] = [
    row(
        "carrier_changes",
        Place::Interface,
        DEGRADING,
        32,
        "Link instability - carrier state changes",
    ),
    row(
        "excessive_buffer_overrun_errors",
        Place::Port,
        FATAL,
        4,
        "HCA internal buffer overflow - lossless contract violated",
    ),
    row(
        "implied_nak_seq_err",
        Place::Hardware,
        DEGRADING,
        64,
        "Implied NAK sequence errors - retransmission pressure",
    ),
    row(
        "link_downed",
        Place::Port,
        FATAL,
        8,
        "Port Training State Machine failed - QP disconnect",
    ),
    row(
        "link_error_recovery",
        Place::Port,
        DEGRADING,
        8,
        "Link retraining events - micro-flapping",
    ),
    row(
        "local_ack_timeout_err",
        Place::Hardware,
        DEGRADING,
        64,
        "ACK timeout - potential fabric black hole",
    ),
    row(
        "local_link_integrity_errors",
        Place::Port,
        FATAL,
        4,
        "Physical errors exceed LocalPhyErrors hardware cap",
    ),
    row(
        "out_of_sequence",
        Place::Hardware,
        DEGRADING,
        64,
        "Fabric routing issues - out of sequence packets",
    ),
    row(
        "packet_seq_err",
        Place::Hardware,
        DEGRADING,
        64,
        "Packet sequence errors - retransmission pressure",
    ),
    row(
        "port_rcv_discards",
        Place::Port,
        DEGRADING,
        64,
        "RX discards due to congestion or buffer pressure",
    ),
    row(
        "port_rcv_errors",
        Place::Port,
        DEGRADING,
        16,
        "Malformed packets received",
    ),
    row(
        "port_rcv_remote_physical_errors",
        Place::Port,
        DEGRADING,
        16,
        "Remote physical-layer errors received on this port",
    ),
    row(
        "port_rcv_switch_relay_errors",
        Place::Port,
        DEGRADING,
        16,
        "Packets discarded because switch relay forwarding failed",
    ),
    row(
        "port_xmit_discards",
        Place::Port,
        DEGRADING,
        16,
        "TX discards due to congestion",
    ),
    row(
        "port_xmit_wait",
        Place::Port,
        DEGRADING,
        32,
        "TX wait ticks - congestion backpressure",
    ),
    row(
        "req_transport_retries_exceeded",
        Place::Hardware,
        FATAL,
        64,
        "Requester transport retry limit exceeded",
    ),
    row(
        "rnr_nak_retry_err",
        Place::Hardware,
        FATAL,
        64,
        "Receiver Not Ready NAK retry exhausted - connection severed",
    ),
    row(
        "roce_slow_restart",
        Place::Hardware,
        DEGRADING,
        64,
        "Victim flow oscillation",
    ),
    row(
        "rx_crc_errors",
        Place::Statistics,
        DEGRADING,
        64,
        "RX packets with CRC/FCS errors",
    ),
    row(
        "rx_errors",
        Place::Statistics,
        DEGRADING,
        64,
        "Aggregate RX packet errors",
    ),
    row(
        "rx_missed_errors",
        Place::Statistics,
        DEGRADING,
        64,
        "RX packets missed due to receive-side capacity pressure",
    ),
    row(
        "symbol_error",
        Place::Port,
        DEGRADING,
        16,
        "PHY bit errors before FEC - physical layer degradation",
    ),
    Counter {
        file: "symbol_error",
        ..row(
            "symbol_error_fatal",
            Place::Port,
            FATAL,
            16,
            "Symbol errors exceed IBTA BER threshold (10E-12) - link outside spec",
        )
    },
    row(
        "tx_carrier_errors",
        Place::Statistics,
        DEGRADING,
        64,
        "TX carrier-sense errors",
    ),
    row(
        "tx_errors",
        Place::Statistics,
        DEGRADING,
        64,
        "Aggregate TX packet errors",
    ),
];

/// The twelve counters that are watched if the configuration lists none, in the order of
/// NVSentinel's chart.
pub(crate) const DEFAULTS: [(&str, Threshold); 12] = [
    ("link_downed", Threshold::Delta(0.0)),
    ("excessive_buffer_overrun_errors", Threshold::Delta(0.0)),
    ("local_link_integrity_errors", Threshold::Delta(0.0)),
    ("rnr_nak_retry_err", Threshold::Delta(0.0)),
    ("symbol_error", Threshold::Velocity(10.0, Unit::Second)),
    ("symbol_error_fatal", Threshold::Velocity(120.0, Unit::Hour)),
    (
        "link_error_recovery",
        Threshold::Velocity(5.0, Unit::Minute),
    ),
    ("port_rcv_errors", Threshold::Velocity(10.0, Unit::Second)),
    (
        "local_ack_timeout_err",
        Threshold::Velocity(1.0, Unit::Second),
    ),
    (
        "port_xmit_discards",
        Threshold::Velocity(100.0, Unit::Second),
    ),
    ("roce_slow_restart", Threshold::Velocity(10.0, Unit::Second)),
    ("carrier_changes", Threshold::Delta(2.0)),
];

/// The defaults as watched counters.
pub(crate) fn defaults() -> Vec<Watched> {
    let watched = |(name, threshold): (&str, Threshold)| {
        Some(Watched {
            id: CounterId::parse(name)?,
            threshold,
        })
    };
    DEFAULTS.into_iter().filter_map(watched).collect()
}

/// A counter of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct CounterId(u8);

impl CounterId {
    /// The counter of that name.
    pub(crate) fn parse(name: &str) -> Option<CounterId> {
        let index = TABLE
            .binary_search_by(|counter| counter.name.cmp(name))
            .ok()?;
        u8::try_from(index).ok().map(CounterId)
    }

    pub(crate) fn row(self) -> &'static Counter {
        &TABLE[usize::from(self.0)]
    }

    /// Its name, which is also the error code of its events.
    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }
}

impl TryFrom<String> for CounterId {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        CounterId::parse(&name).ok_or_else(|| format!("`{name}` is no counter"))
    }
}

impl Serialize for CounterId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl From<CounterId> for String {
    fn from(id: CounterId) -> String {
        id.name().to_owned()
    }
}

impl fmt::Debug for CounterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for CounterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_its_names_and_every_name_is_found() {
        assert!(TABLE.is_sorted_by(|left, right| left.name < right.name));
        for counter in &TABLE {
            let id = CounterId::parse(counter.name).unwrap();
            assert_eq!(id.name(), counter.name);
            assert_eq!(CounterId::try_from(String::from(id)), Ok(id));
            assert_eq!(format!("{id:?} {id}"), format!("{0} {0}", counter.name));
        }
        assert_eq!(CounterId::parse("collisions"), None);
    }

    #[test]
    fn six_counters_are_fatal_and_all_defaults_are_in_the_table() {
        let fatal: Vec<&str> = TABLE
            .iter()
            .filter(|c| c.is_fatal)
            .map(|c| c.name)
            .collect();
        assert_eq!(
            fatal,
            [
                "excessive_buffer_overrun_errors",
                "link_downed",
                "local_link_integrity_errors",
                "req_transport_retries_exceeded",
                "rnr_nak_retry_err",
                "symbol_error_fatal",
            ]
        );
        assert_eq!(defaults().len(), 12);
    }

    #[test]
    fn two_counters_share_one_file_and_no_other_file_is_named_otherwise() {
        let renamed: Vec<(&str, &str)> = TABLE
            .iter()
            .filter(|c| c.file != c.name)
            .map(|c| (c.name, c.file))
            .collect();
        assert_eq!(renamed, [("symbol_error_fatal", "symbol_error")]);
    }

    #[test]
    fn a_field_is_as_wide_as_the_kernels() {
        let max = |name| CounterId::parse(name).unwrap().row().max;
        assert_eq!(max("local_link_integrity_errors"), 15);
        assert_eq!(max("link_downed"), 255);
        assert_eq!(max("symbol_error"), 65_535);
        assert_eq!(max("port_xmit_wait"), 4_294_967_295);
        assert_eq!(max("rnr_nak_retry_err"), u64::MAX);
    }
}
