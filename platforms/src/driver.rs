//! A kernel driver as data, read from `drivers/*.yaml`: its files and their widths, its views of a
//! link, its log lines, and what survives which restart.
//!
//! `fabric` applies it over time. Start at [`Driver`].

use std::collections::BTreeMap;
use std::sync::Arc;

use files::nearest;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::provenance::Entry;
use crate::schema::{each_of, some_of};
use crate::source::{Mistake, Source};
use crate::{LinkLayer, PhysState, PortFiles, PortState};

/// A kernel driver as seen in sysfs and the kernel log.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A driver file of nicdrill")]
pub struct Driver {
    /// Version of this format; 1.
    pub driver_version: u32,
    /// Its name in nicdrill, such as `mlx5-ib`.
    pub name: String,
    /// A one-sentence description.
    pub about: String,
    /// The kernel module behind a function's `driver` link, such as `mlx5_core`.
    pub kernel_driver: String,
    /// The link layer of its ports.
    pub layer: LinkLayer,
    /// The text of `link_layer`, if that is not the layer's name: `Unknown` for a fabric of its own
    /// kind.
    pub link_layer_text: Option<String>,
    /// How its ports remember why a link went down; by default as specified.
    #[serde(default)]
    pub link_reasons: LinkReasons,
    /// Files of its devices that no other driver has, with their content.
    #[serde(default)]
    pub device_files: BTreeMap<String, String>,
    /// Folders of its ports that no other driver has: the content of each file.
    #[serde(default)]
    pub port_files: PortFiles,
    /// Whether its devices have network interfaces beside the RDMA device; `true` by default.
    #[serde(default = "yes")]
    pub has_interfaces: bool,
    /// Whether its ports accept management datagrams, through a `umad` device; `true` by default.
    #[serde(default = "yes")]
    pub has_umad: bool,
    /// PCI class of its functions, 24 bits.
    pub pci_class: u32,
    /// The content of `node_type`.
    pub node_type: String,
    /// Length of a port's GID table.
    pub gid_table: u16,
    /// Length of a port's partition key table.
    pub pkey_table: u16,
    /// Capability mask of a port.
    pub cap_mask: u32,
    /// ARP hardware type of its interfaces: 1 or 32.
    pub arp_type: u16,
    /// The interfaces' largest packet, in bytes.
    pub mtu: u32,
    /// Files in `counters/`.
    pub counters: Vec<CounterFile>,
    /// Files in `hw_counters/`.
    pub hw_counters: Vec<CounterFile>,
    /// Files in an interface's `statistics/`.
    pub statistics: Vec<CounterFile>,
    /// The view of each condition of a link.
    #[schemars(schema_with = "each_of::<LinkCondition, LinkView>")]
    pub views: BTreeMap<LinkCondition, LinkView>,
    /// Whether setting an interface down takes its port down.
    pub interface_down_takes_port: bool,
    /// The counters that count the data that a port carries; none by default.
    #[serde(default)]
    pub traffic: TrafficCounters,
    /// How counters change on each event of a link.
    #[schemars(schema_with = "some_of::<LinkEvent, BTreeMap<String, u64>>")]
    pub moves: BTreeMap<LinkEvent, BTreeMap<String, u64>>,
    /// The lines of the kernel log for each event; `{pci}`, `{device}`, `{port}`, `{netdev}` and `{fw_ver}` are
    /// replaced by the values of the function and its port.
    #[schemars(schema_with = "some_of::<LinkEvent, Vec<String>>")]
    pub log: BTreeMap<LinkEvent, Vec<String>>,
    /// Durations, in milliseconds.
    #[schemars(schema_with = "each_of::<Duration, u64>")]
    pub timings_ms: BTreeMap<Duration, u64>,
    /// What survives each kind of restart.
    #[schemars(schema_with = "each_of::<Restart, Keeps>")]
    pub keeps: BTreeMap<Restart, Keeps>,
    /// The provenance of the values.
    pub provenance: Vec<Entry>,
    /// The file it was read from.
    #[serde(skip)]
    pub(crate) source: Arc<Source>,
}

const fn yes() -> bool {
    true
}

/// How ports remember why their link went down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkReasons {
    /// As specified in "Link Down Reason", Cornelis.
    #[default]
    Spec,
    /// As implemented by the kernel driver `hfi1` (`chip.c`, `set_link_down_reason`).
    Hfi1,
}

/// A counter's file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CounterFile {
    /// The file's name.
    pub name: String,
    /// Width of its field in bits, 1 to 64; it saturates at its maximum.
    pub bits: u8,
    /// Its value at rest.
    #[serde(default)]
    pub initial: u64,
}

impl CounterFile {
    /// The largest value of the field. IBTA counters saturate there (IBTA 16.1.3.5).
    #[must_use]
    pub fn max(&self) -> u64 {
        1_u64
            .checked_shl(u32::from(self.bits))
            .map_or(u64::MAX, |beyond| beyond - 1)
    }
}

/// The counters that count the data that a port carries, in both directions. A name with `xmit`, `tx` or `send` is about
/// what it sends, any other about what it receives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficCounters {
    /// Those that count words of 4 bytes (IBTA 16.1.4.4, PortXmitData).
    #[serde(default)]
    pub words: Vec<String>,
    /// Those that count bytes.
    #[serde(default)]
    pub bytes: Vec<String>,
    /// Those that count packets.
    #[serde(default)]
    pub packets: Vec<String>,
}

impl TrafficCounters {
    /// All of them.
    pub fn counters(&self) -> impl Iterator<Item = &String> {
        self.words.iter().chain(&self.bytes).chain(&self.packets)
    }

    /// Whether a counter is about what a port sends, by its name.
    #[must_use]
    pub fn is_of_sender(name: &str) -> bool {
        let mut words = name.split('_');
        words.any(|word| ["xmit", "tx", "send"].contains(&word))
    }
}

/// The condition of a link, independently of a driver's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkCondition {
    /// Carrying traffic.
    Active,
    /// Not carrying traffic, in error recovery.
    Recovery,
    /// Configured by the subnet manager, not yet active.
    Armed,
    /// Physically up, waiting for the subnet manager.
    Init,
    /// Physically training with its partner.
    Training,
    /// Searching for a partner: the cable is missing or dead.
    Polling,
    /// Disabled by an operator or by the subnet manager.
    Disabled,
    /// Asleep.
    Sleep,
    /// In a physical test.
    PhyTest,
}

impl LinkCondition {
    /// Every condition.
    pub const ALL: &[Self] = &[
        Self::Active,
        Self::Recovery,
        Self::Armed,
        Self::Init,
        Self::Training,
        Self::Polling,
        Self::Disabled,
        Self::Sleep,
        Self::PhyTest,
    ];

    /// Its key in a driver's file.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Recovery => "recovery",
            Self::Armed => "armed",
            Self::Init => "init",
            Self::Training => "training",
            Self::Polling => "polling",
            Self::Disabled => "disabled",
            Self::Sleep => "sleep",
            Self::PhyTest => "phy_test",
        }
    }
}

/// The view of a port and its interface in a condition.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkView {
    /// The port's `state`.
    pub state: PortState,
    /// The port's `phys_state`.
    pub phys_state: PhysState,
    /// The interface's `operstate`, while it is administratively up.
    pub operstate: String,
    /// The interface's carrier.
    pub carrier: bool,
    /// Whether the rate is still shown; otherwise it is `40 Gb/sec (4X QDR)`.
    pub rate: bool,
}

/// An event of a link that changes counters or is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkEvent {
    /// It left `Active`.
    Down,
    /// It reached `Active`.
    Up,
    /// The cable was pulled.
    CablePulled,
    /// The cable was put in.
    CablePlugged,
    /// It went into recovery.
    Recovery,
    /// The function fell off the bus.
    Removed,
    /// The function was probed.
    Probed,
    /// A PCI error was detected.
    PciError,
    /// The driver recovered from it.
    PciRecovered,
}

impl LinkEvent {
    /// Its key in a driver's file.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
            Self::CablePulled => "cable_pulled",
            Self::CablePlugged => "cable_plugged",
            Self::Recovery => "recovery",
            Self::Removed => "removed",
            Self::Probed => "probed",
            Self::PciError => "pci_error",
            Self::PciRecovered => "pci_recovered",
        }
    }
}

/// A process that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Duration {
    /// From a partner's signal to a link that is physically up.
    Training,
    /// From a port's coming up to the sweep of the subnet manager that it requested.
    TrapToSweep,
    /// The interval of the subnet manager's own sweeps.
    Sweep,
    /// From `ARMED` to `ACTIVE`.
    Arming,
    /// From a PCI error to recovery.
    PciRecovery,
    /// From a firmware reset to the card's return.
    FirmwareReset,
}

impl Duration {
    /// Every duration.
    pub const ALL: &[Self] = &[
        Self::Training,
        Self::TrapToSweep,
        Self::Sweep,
        Self::Arming,
        Self::PciRecovery,
        Self::FirmwareReset,
    ];

    /// Its key in a driver's file.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::TrapToSweep => "trap_to_sweep",
            Self::Sweep => "sweep",
            Self::Arming => "arming",
            Self::PciRecovery => "pci_recovery",
            Self::FirmwareReset => "firmware_reset",
        }
    }
}

/// A restart of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// The driver is unloaded and loaded again.
    DriverReload,
    /// The card's firmware is reset.
    FirmwareReset,
    /// The function is removed from the bus and probed again.
    Rescan,
    /// The host reboots.
    Reboot,
}

impl Restart {
    /// Every restart.
    pub const ALL: &[Self] = &[
        Self::DriverReload,
        Self::FirmwareReset,
        Self::Rescan,
        Self::Reboot,
    ];

    /// Its key in a driver's file.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::DriverReload => "driver_reload",
            Self::FirmwareReset => "firmware_reset",
            Self::Rescan => "rescan",
            Self::Reboot => "reboot",
        }
    }
}

/// What a port keeps over a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Keeps {
    /// The counters in `counters/`.
    pub counters: bool,
    /// The counters in `hw_counters/`.
    pub hw_counters: bool,
    /// The interface: its index, carrier counts and statistics.
    pub netdev: bool,
    /// The RDMA device's name.
    pub name: bool,
}

impl Driver {
    /// The file of this name in `counters/`, `hw_counters/` or `statistics/`.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<&CounterFile> {
        self.counter_files().find(|file| file.name == name)
    }

    /// The files in `counters/`, `hw_counters/` and `statistics/`.
    pub fn counter_files(&self) -> impl Iterator<Item = &CounterFile> {
        let files = self.counters.iter().chain(&self.hw_counters);
        files.chain(&self.statistics)
    }

    /// The view of a link in this condition.
    #[must_use]
    pub fn view(&self, condition: LinkCondition) -> &LinkView {
        self.views
            .get(&condition)
            .expect("a driver that was read has a face for every condition")
    }

    /// What it does not say, although a machine or a story needs it.
    pub(crate) fn complete(&self) -> Vec<Mistake> {
        let mut gaps = self.lacking_entries();
        gaps.extend(self.widths());
        gaps.extend(self.lacking_counters());
        gaps
    }

    /// Conditions without a view, durations without a value, restarts without what they keep.
    fn lacking_entries(&self) -> Vec<Mistake> {
        let lacks = |(list, needs, key): (&str, _, &'static str), hint: String| Mistake {
            path: list.to_owned(),
            about: (key, list.to_owned()),
            needs,
            error: self
                .source
                .wrong(
                    list,
                    format!("driver `{}` says nothing about `{key}`", self.name),
                )
                .hint(hint),
        };
        let mut gaps = Vec::new();
        let views = LinkCondition::ALL.iter();
        for condition in views.filter(|it| !self.views.contains_key(it)) {
            let key = condition.key();
            let hint = format!(
                "every condition of a link has a view: write `{key}: {{ state: …, phys_state: …, operstate: …, carrier: …, rate: … }}`"
            );
            gaps.push(lacks(("views", &["views"], key), hint));
        }
        let timings = Duration::ALL.iter();
        for duration in timings.filter(|it| !self.timings_ms.contains_key(it)) {
            let key = duration.key();
            let hint = format!("every duration has a value: write `{key}:` and the milliseconds");
            gaps.push(lacks(("timings_ms", &["timings_ms"], key), hint));
        }
        let keeps = Restart::ALL.iter();
        for restart in keeps.filter(|it| !self.keeps.contains_key(it)) {
            let key = restart.key();
            let hint = format!(
                "every restart keeps something or nothing: write `{key}: {{ counters: …, hw_counters: …, netdev: …, name: … }}`, each `true` or `false`"
            );
            gaps.push(lacks(("keeps", &["keeps"], key), hint));
        }
        gaps
    }

    /// Counters whose field no integer has.
    fn widths(&self) -> impl Iterator<Item = Mistake> {
        let lists = [
            ("counters", &self.counters),
            ("hw_counters", &self.hw_counters),
            ("statistics", &self.statistics),
        ];
        let files = lists.into_iter().flat_map(|(list, files)| {
            let files = files.iter().enumerate();
            files.map(move |(number, file)| (format!("{list}.{number}.bits"), file))
        });
        let wrong = files.filter(|(_, file)| !(1..=64).contains(&file.bits));
        wrong.map(|(path, CounterFile { name, bits, .. })| {
            let what = format!("counter `{name}` has a field of {bits} bits");
            Mistake {
                about: ("bits", name.clone()),
                needs: &[],
                error: self
                    .source
                    .wrong(&path, what)
                    .hint("a field has from 1 to 64 bits"),
                path,
            }
        })
    }

    /// Counters that are named and have no file.
    fn lacking_counters(&self) -> impl Iterator<Item = Mistake> {
        let moves = self.moves.iter().flat_map(|(event, moves)| {
            let path = |name: &String| format!("moves.{}.{name}", event.key());
            moves.keys().map(move |name| (path(name), name))
        });
        let TrafficCounters {
            words,
            bytes,
            packets,
        } = &self.traffic;
        let traffic = [("words", words), ("bytes", bytes), ("packets", packets)];
        let traffic = traffic.into_iter().flat_map(|(key, names)| {
            let names = names.iter().enumerate();
            names.map(move |(number, name)| (format!("traffic.{key}.{number}"), name))
        });
        let named = moves.chain(traffic);
        let lost = named.filter(|(_, name)| self.counter(name).is_none());
        lost.map(|(path, name)| {
            let known = self.counter_files().map(|file| file.name.as_str());
            let hint = match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "add its file to `counters`, `hw_counters` or `statistics`".to_owned(),
            };
            let key = path.split('.').next().unwrap_or_default();
            let what = format!(
                "`{key}` names counter `{name}`, of which driver `{}` has no file",
                self.name
            );
            Mistake {
                about: ("counter", name.clone()),
                needs: &["counters", "hw_counters", "statistics"],
                error: self.source.wrong(&path, what).hint(hint),
                path,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_stops_at_the_end_of_its_field() {
        let max = |bits| {
            CounterFile {
                name: String::new(),
                bits,
                initial: 0,
            }
            .max()
        };
        assert_eq!(
            [max(4), max(8), max(16), max(64)],
            [15, 255, 65535, u64::MAX]
        );
    }
}
