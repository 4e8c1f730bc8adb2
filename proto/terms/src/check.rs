//! The table of checks: every check of a NIC health monitor with its name, link layer, kind and default.
//!
//! The name of a check is written only here; other code looks it up and derives nothing from its
//! spelling. What a check reads and emits is up to the monitor. Start with [`Check`]; a further check is
//! a variant and a row.

use std::fmt;

use crate::LinkLayer;

/// One check of a NIC health monitor, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// State of InfiniBand ports.
    InfiniBandState,
    /// Counters of InfiniBand ports.
    InfiniBandDegradation,
    /// State of Ethernet (RoCE) ports.
    EthernetState,
    /// Counters of Ethernet (RoCE) ports.
    EthernetDegradation,
    /// Character devices of InfiniBand ports and devices.
    InfiniBandCharDevice,
}

/// What a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// States of ports, presence of devices and ports, and cards against their peers. Its events have no
    /// error code.
    State,
    /// Counters of ports. The only error code of its events is the counter's name.
    Degradation,
    /// Character devices. The only error code of its events is the kind of the device.
    CharDevice,
}

/// A row of the table.
#[derive(Debug)]
struct Row {
    check: Check,
    /// `checkName` in events, the type of the node condition, and the value for `--checks`.
    name: &'static str,
    layer: LinkLayer,
    kind: CheckKind,
    /// Whether it runs without `--checks`.
    by_default: bool,
}

/// Sources: "NIC Health Monitor: Link State Detection", section 12.1; NVSentinel, nic-health-monitor,
/// for `InfiniBandCharDeviceCheck`.
const TABLE: &[Row] = &[
    Row {
        check: Check::InfiniBandState,
        name: "InfiniBandStateCheck",
        layer: LinkLayer::InfiniBand,
        kind: CheckKind::State,
        by_default: true,
    },
    Row {
        check: Check::InfiniBandDegradation,
        name: "InfiniBandDegradationCheck",
        layer: LinkLayer::InfiniBand,
        kind: CheckKind::Degradation,
        by_default: true,
    },
    Row {
        check: Check::EthernetState,
        name: "EthernetStateCheck",
        layer: LinkLayer::Ethernet,
        kind: CheckKind::State,
        by_default: true,
    },
    Row {
        check: Check::EthernetDegradation,
        name: "EthernetDegradationCheck",
        layer: LinkLayer::Ethernet,
        kind: CheckKind::Degradation,
        by_default: true,
    },
    Row {
        check: Check::InfiniBandCharDevice,
        name: "InfiniBandCharDeviceCheck",
        layer: LinkLayer::InfiniBand,
        kind: CheckKind::CharDevice,
        by_default: false,
    },
];

impl Check {
    /// Every check, in the order of the table.
    pub const ALL: [Check; TABLE.len()] = {
        let mut all = [Check::InfiniBandState; TABLE.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = TABLE[at].check;
            at += 1;
        }
        all
    };

    /// Every name, in the order of the table.
    pub const NAMES: [&'static str; TABLE.len()] = {
        let mut names = [""; TABLE.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = TABLE[at].name;
            at += 1;
        }
        names
    };

    /// The names of the checks that run by default, separated by commas: the default of `--checks`.
    pub const DEFAULT_NAMES: &'static str = match std::str::from_utf8(&DEFAULTS.0) {
        Ok(text) => text.split_at(DEFAULTS.1).0,
        Err(_) => panic!("names are text"),
    };

    /// The check with this name; `None` for a name that is not in the table.
    #[must_use]
    pub fn parse(name: &str) -> Option<Check> {
        let row = TABLE.iter().find(|row| row.name == name);
        row.map(|row| row.check)
    }

    /// Each link layer has one check of states and one of counters.
    pub(crate) fn only(layer: LinkLayer, kind: CheckKind) -> Check {
        let row = TABLE
            .iter()
            .find(|row| row.layer == layer && row.kind == kind);
        row.expect("each link layer has such a check").check
    }

    /// The name in events, node conditions and `--checks`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The link layer of the ports that it monitors.
    #[must_use]
    pub fn layer(self) -> LinkLayer {
        self.row().layer
    }

    /// What it looks at.
    #[must_use]
    pub fn kind(self) -> CheckKind {
        self.row().kind
    }

    /// Whether it runs without `--checks`.
    #[must_use]
    pub fn is_default(self) -> bool {
        self.row().by_default
    }

    fn row(self) -> &'static Row {
        TABLE.get(self as usize).expect("every check has its row")
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The bytes of [`Check::DEFAULT_NAMES`] in a buffer that is large enough, and their number.
const DEFAULTS: ([u8; 64 * TABLE.len()], usize) = {
    let mut text = [0; 64 * TABLE.len()];
    let (mut length, mut at) = (0, 0);
    while at < TABLE.len() {
        let name = TABLE[at].name.as_bytes();
        if TABLE[at].by_default {
            if length > 0 {
                text[length] = b',';
                length += 1;
            }
            let mut of_name = 0;
            while of_name < name.len() {
                text[length] = name[of_name];
                (length, of_name) = (length + 1, of_name + 1);
            }
        }
        at += 1;
    }
    (text, length)
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_stands_at_its_own_row_and_is_found_by_its_name() {
        for check in Check::ALL {
            assert_eq!(check.row().check, check);
            assert_eq!(Check::parse(check.name()), Some(check));
        }
        assert_eq!(Check::NAMES.map(Check::parse), Check::ALL.map(Some));
        assert_eq!(Check::parse("InfinibandStateCheck"), None);
    }

    #[test]
    fn every_link_layer_has_one_check_of_states_and_one_of_counters() {
        for layer in LinkLayer::ALL {
            for kind in [CheckKind::State, CheckKind::Degradation] {
                let of_it = Check::ALL.into_iter();
                let of_it = of_it.filter(|check| check.layer() == layer && check.kind() == kind);
                assert_eq!(of_it.collect::<Vec<_>>(), [Check::only(layer, kind)]);
            }
        }
    }

    #[test]
    fn the_default_names_are_those_of_the_checks_that_run_by_default() {
        let defaults: Vec<&str> = Check::ALL
            .into_iter()
            .filter(|check| check.is_default())
            .map(Check::name)
            .collect();
        assert_eq!(Check::DEFAULT_NAMES, defaults.join(","));
        assert_eq!(
            Check::DEFAULT_NAMES,
            "InfiniBandStateCheck,InfiniBandDegradationCheck,EthernetStateCheck,EthernetDegradationCheck"
        );
    }
}
