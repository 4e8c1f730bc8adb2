//! Patterns for single lines.
//!
//! A pattern is a sequence of texts that a line contains in this order, with anything between them,
//! which is equivalent to NVSentinel's regular expressions.

use super::{Functions, pci_address};

/// The name of the two-line pattern: a headline, and evidence below it.
pub(crate) const LOCKUP: &str = "mlx5_napi_soft_lockup";

/// One pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Its name; the event's error code.
    pub name: &'static str,
    /// Whether its event is fatal.
    pub is_fatal: bool,
    /// The alternatives, each a sequence of texts.
    texts: &'static [&'static [&'static str]],
    /// Whether it only matches lines whose PCI function is driven by `mlx5_core`.
    needs_nic: bool,
}

impl Pattern {
    const fn new(
        name: &'static str,
        is_fatal: bool,
        texts: &'static [&'static [&'static str]],
    ) -> Self {
        Self {
            name,
            is_fatal,
            texts,
            needs_nic: false,
        }
    }

    /// Whether it matches this line.
    #[must_use]
    pub fn matches(&self, line: &str, functions: &Functions) -> bool {
        let is_ours = || pci_address(line).is_some_and(|address| functions.contains_key(address));
        self.texts.iter().any(|texts| in_order(line, texts)) && (!self.needs_nic || is_ours())
    }
}

/// Whether the line contains these texts in this order.
fn in_order(line: &str, texts: &[&str]) -> bool {
    let mut rest = line;
    texts.iter().all(|text| match rest.find(text) {
        Some(at) => {
            rest = &rest[at + text.len()..];
            true
        }
        None => false,
    })
}

/// A set of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternSet {
    /// Deployed since 2026-07.
    Deployed,
    /// The first design, before 2026-05-08.
    First,
}

const WATCHDOG: &[&[&str]] = &[
    &[
        "NETDEV WATCHDOG",
        "mlx5_core",
        "transmit queue",
        "timed out",
    ],
    &[
        "mlx5_core",
        "NETDEV WATCHDOG",
        "transmit queue",
        "timed out",
    ],
];

const DEPLOYED: [Pattern; 10] = [
    Pattern::new(
        "cmd_exec_timeout",
        true,
        &[&[
            "mlx5_core",
            "timeout. Will cause a leak of a command resource",
        ]],
    ),
    Pattern::new(
        "health_poll_failed",
        true,
        &[&[
            "mlx5_core",
            "device's health compromised",
            "reached miss count",
        ]],
    ),
    Pattern::new(
        "unrecoverable_err",
        true,
        &[&["mlx5_core", "unrecoverable hardware error"]],
    ),
    Pattern::new("netdev_watchdog", false, WATCHDOG),
    Pattern::new(
        "mlx5_tx_timeout_detected",
        false,
        &[&["mlx5_core", "TX timeout detected"]],
    ),
    Pattern::new(
        "mlx5_rx_timeout_detected",
        false,
        &[&["mlx5_core", "RX timeout on channel"]],
    ),
    Pattern::new(
        "pci_power_insufficient",
        false,
        &[&["mlx5_core", "Detected insufficient power on the PCIe slot"]],
    ),
    Pattern::new(
        "port_module_high_temp",
        false,
        &[&["mlx5_core", "Port module event", "High Temperature"]],
    ),
    Pattern::new(
        "module_unplugged",
        false,
        &[&["mlx5_core", "Port module event", "Cable unplugged"]],
    ),
    Pattern::new(
        "access_reg_failed",
        false,
        &[&["mlx5_cmd_out_err", "ACCESS_REG", "failed"]],
    ),
];

const FIRST: [Pattern; 6] = [
    Pattern::new(
        "cmd_exec_timeout",
        true,
        &[&["mlx5_core", "cmd_exec timeout"]],
    ),
    Pattern::new(
        "health_poll_failed",
        true,
        &[&["mlx5_core", "health poll failed"]],
    ),
    Pattern::new(
        "unrecoverable_err",
        true,
        &[&["mlx5_core", "unrecoverable"]],
    ),
    Pattern::new(
        "module_absent",
        false,
        &[&["mlx5_core", "module", "absent"]],
    ),
    Pattern::new("netdev_watchdog", true, &[&["NETDEV WATCHDOG"]]),
    Pattern {
        needs_nic: true,
        ..Pattern::new("pcie_fatal", true, &[&["PCIe Bus Error", "Fatal"]])
    },
];

impl PatternSet {
    /// The single-line patterns, in the order in which they are tried.
    #[must_use]
    pub const fn patterns(self) -> &'static [Pattern] {
        match self {
            Self::Deployed => &DEPLOYED,
            Self::First => &FIRST,
        }
    }
}
