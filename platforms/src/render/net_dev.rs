//! `/proc/net/dev`: the table of interfaces with their statistics (`net/core/net-procfs.c`).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::{CounterValue, Counters, Function, Machine, NetDev, PciAddress};

/// The interfaces of a machine.
pub(super) struct NetDevices<'a>(pub(super) &'a Machine);

/// Whether the tables of two machines may differ, which differ in these functions only.
pub(super) fn differ(old: &Machine, new: &Machine, touched: &BTreeSet<PciAddress>) -> bool {
    let shown = |machine: &Machine, pci: &PciAddress| -> Vec<(String, u32, Counters)> {
        let functions = machine.functions.get(pci).into_iter();
        functions
            .flat_map(|function| visible(function))
            .map(|netdev| {
                (
                    netdev.name.clone(),
                    netdev.ifindex,
                    netdev.statistics.clone(),
                )
            })
            .collect()
    };
    let same = |pci: &PciAddress| shown(old, pci) == shown(new, pci);
    !touched.iter().all(same) || old.interfaces != new.interfaces
}

fn visible(function: &Function) -> &[NetDev] {
    match function.in_other_namespace {
        true => &[],
        false => &function.netdevs,
    }
}

impl NetDevices<'_> {
    /// The content of the file (`dev_seq_show`), in the order of the indices.
    pub(super) fn table(&self) -> String {
        let functions = self.0.functions.values();
        let mut netdevs: Vec<&NetDev> = functions.flat_map(|function| visible(function)).collect();
        netdevs.extend(self.0.interfaces.values().map(|netdev| &**netdev));
        netdevs.sort_by_key(|netdev| netdev.ifindex);
        let mut text = "Inter-|   Receive                                                |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs \
             drop fifo colls carrier compressed\n"
            .to_owned();
        for netdev in netdevs {
            row(netdev, &mut text);
        }
        text
    }
}

/// A row (`dev_seq_printf_stats`).
fn row(netdev: &NetDev, text: &mut String) {
    let of = |name: &str| match netdev.statistics.get(name) {
        Some(CounterValue::Count(count)) => *count,
        _ => 0,
    };
    let sum = |names: &[&str]| names.iter().map(|name| of(name)).fold(0, u64::wrapping_add);
    let _ = writeln!(
        text,
        "{:>6}: {:>7} {:>7} {:>4} {:>4} {:>4} {:>5} {:>10} {:>9} {:>8} {:>7} {:>4} {:>4} {:>4} {:>5} {:>7} {:>10}",
        netdev.name,
        of("rx_bytes"),
        of("rx_packets"),
        of("rx_errors"),
        sum(&["rx_dropped", "rx_missed_errors"]),
        of("rx_fifo_errors"),
        sum(&[
            "rx_length_errors",
            "rx_over_errors",
            "rx_crc_errors",
            "rx_frame_errors"
        ]),
        of("rx_compressed"),
        of("multicast"),
        of("tx_bytes"),
        of("tx_packets"),
        of("tx_errors"),
        of("tx_dropped"),
        of("tx_fifo_errors"),
        of("collisions"),
        sum(&[
            "tx_carrier_errors",
            "tx_aborted_errors",
            "tx_window_errors",
            "tx_heartbeat_errors"
        ]),
        of("tx_compressed"),
    );
}
