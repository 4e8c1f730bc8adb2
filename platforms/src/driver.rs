//! What a kernel driver shows of a port: files and their widths, faces of a link, log lines,
//! what survives what. Data, read from `drivers/*.yaml`; `fabric` plays it.
//!
//! It leaves out when anything happens: time is `fabric`'s. Start at [`Driver`].

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::provenance::Entry;
use crate::schema::{each_of, some_of};
use crate::source::Source;
use crate::{LinkLayer, PhysState, PlatformError, PortState};

/// A kernel driver as its files show it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A driver file of nicdrill")]
pub struct Driver {
    /// Version of this form; 1.
    pub driver_version: u32,
    /// Its name here, such as `mlx5-ib`.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// The kernel module behind a function's `driver` link, such as `mlx5_core`.
    pub kernel_driver: String,
    /// The layer its ports speak.
    pub layer: LinkLayer,
    /// What `link_layer` reads, where that is not the layer's name: `Unknown` of a fabric of its own.
    pub link_layer_text: Option<String>,
    /// How its ports remember why a link went down; as the specification says unless told.
    #[serde(default)]
    pub link_reasons: LinkReasons,
    /// Files of its devices that no other driver has, with what they read.
    #[serde(default)]
    pub device_files: BTreeMap<String, String>,
    /// Whether its devices have network interfaces beside the RDMA device; yes unless told.
    #[serde(default = "yes")]
    pub has_interfaces: bool,
    /// Whether its ports take management datagrams, by a `umad` device; yes unless told.
    #[serde(default = "yes")]
    pub has_umad: bool,
    /// PCI class of its functions, 24 bits.
    pub pci_class: u32,
    /// What `node_type` reads.
    pub node_type: String,
    /// Length of a port's GID table.
    pub gid_table: u16,
    /// Length of a port's partition key table.
    pub pkey_table: u16,
    /// Capability mask of a port.
    pub cap_mask: u32,
    /// ARP hardware type of its interfaces: 1 or 32.
    pub arp_type: u16,
    /// The interfaces' largest packet, bytes.
    pub mtu: u32,
    /// Files in `counters/`.
    pub counters: Vec<CounterFile>,
    /// Files in `hw_counters/`.
    pub hw_counters: Vec<CounterFile>,
    /// Files in an interface's `statistics/`.
    pub statistics: Vec<CounterFile>,
    /// What each condition of a link looks like.
    #[schemars(schema_with = "each_of::<LinkCondition, LinkView>")]
    pub views: BTreeMap<LinkCondition, LinkView>,
    /// Whether an interface that is administratively down takes its port with it.
    pub interface_down_takes_port: bool,
    /// Which counters count the data that a port carries; none unless said.
    #[serde(default)]
    pub traffic: Traffic,
    /// How counters move when something happens to a link.
    #[schemars(schema_with = "some_of::<LinkEvent, BTreeMap<String, u64>>")]
    pub moves: BTreeMap<LinkEvent, BTreeMap<String, u64>>,
    /// What the kernel log says when something happens; `{pci}`, `{device}`, `{netdev}` and
    /// `{fw_ver}` stand for what the function has.
    #[schemars(schema_with = "some_of::<LinkEvent, Vec<String>>")]
    pub log: BTreeMap<LinkEvent, Vec<String>>,
    /// How long things take, in milliseconds.
    #[schemars(schema_with = "each_of::<Duration, u64>")]
    pub timings_ms: BTreeMap<Duration, u64>,
    /// What survives what.
    #[schemars(schema_with = "each_of::<Restart, Keeps>")]
    pub keeps: BTreeMap<Restart, Keeps>,
    /// Where the values come from.
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
    /// By "Link Down Reason", Cornelis.
    #[default]
    Spec,
    /// As the kernel driver `hfi1` does (`chip.c`, `set_link_down_reason`).
    Hfi1,
}

/// A counter's file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CounterFile {
    /// The file's name.
    pub name: String,
    /// Width of the field behind it, bits, 1 to 64; it stops at its maximum.
    pub bits: u8,
    /// What it shows at rest.
    #[serde(default)]
    pub initial: u64,
}

impl CounterFile {
    /// The largest number the field holds. IBTA counters stop there (IBTA 16.1.3.5).
    #[must_use]
    pub fn max(&self) -> u64 {
        1_u64
            .checked_shl(u32::from(self.bits))
            .map_or(u64::MAX, |beyond| beyond - 1)
    }
}

/// Which counters in `counters/` count the data that a port carries, both ways.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Those that count words of 4 bytes (IBTA 16.1.4.4, PortXmitData).
    pub words: Vec<String>,
    /// Those that count packets.
    pub packets: Vec<String>,
}

/// What a link is in, whatever a driver shows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkCondition {
    /// Carrying traffic.
    Active,
    /// Carrying traffic no more, mending itself.
    Recovery,
    /// Configured by the subnet manager, not yet active.
    Armed,
    /// Physically up, waiting for the subnet manager.
    Init,
    /// Physically training with its partner.
    Training,
    /// Looking for a partner: no cable, or a dead one.
    Polling,
    /// Switched off by an operator or by the subnet manager.
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

/// What a port and its interface show in a condition.
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
    /// Whether the rate is still shown; otherwise it falls back to `40 Gb/sec (4X QDR)`.
    pub rate: bool,
}

/// Something that happens to a link and leaves marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkEvent {
    /// It left `Active`.
    Down,
    /// It came to `Active`.
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
    /// A PCI error was found.
    PciError,
    /// The driver recovered from it.
    PciRecovered,
}

/// Something that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Duration {
    /// From a partner's signal to a link that is physically up.
    Training,
    /// From a port's coming up to the subnet manager's sweep that it asked for.
    TrapToSweep,
    /// Between the subnet manager's own sweeps.
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
}

/// Something that starts a device anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// The driver is unloaded and loaded again.
    DriverReload,
    /// The card's firmware is reset.
    FirmwareReset,
    /// The function is taken off the bus and found again.
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
        let files = self
            .counters
            .iter()
            .chain(&self.hw_counters)
            .chain(&self.statistics);
        files.into_iter().find(|file| file.name == name)
    }

    /// What a link in this condition looks like.
    #[must_use]
    pub fn view(&self, condition: LinkCondition) -> &LinkView {
        self.views
            .get(&condition)
            .expect("a driver that was read has a face for every condition")
    }

    /// Whether everything that is asked of a driver is there.
    pub(crate) fn complete(&self) -> Result<(), PlatformError> {
        let view = LinkCondition::ALL
            .iter()
            .find(|it| !self.views.contains_key(it));
        let duration = Duration::ALL
            .iter()
            .find(|it| !self.timings_ms.contains_key(it));
        let restart = Restart::ALL.iter().find(|it| !self.keeps.contains_key(it));
        let lists = [
            ("counters", &self.counters),
            ("hw_counters", &self.hw_counters),
            ("statistics", &self.statistics),
        ];
        let mut listed = lists
            .iter()
            .flat_map(|(list, files)| files.iter().map(move |file| (list, file)));
        let width = listed.find(|(_, file)| !(1..=64).contains(&file.bits));
        let Traffic { words, packets } = &self.traffic;
        let mut moved = self.moves.values().flat_map(BTreeMap::keys);
        let is_lost = |name: &&String| self.counter(name).is_none();
        let moved = moved.find(is_lost);
        let counting = words.iter().chain(packets).find(is_lost);
        let lacks = |path: &str, missing: String| {
            let what = format!("driver `{}` says nothing about `{missing}`", self.name);
            let hint = "every condition needs a face, every duration a value, every restart its `keeps`, every counter that moves its file";
            Err(self.source.wrong(path, what).hint(hint).into())
        };
        if let Some(condition) = view {
            lacks("faces", format!("{condition:?}"))
        } else if let Some(duration) = duration {
            lacks("timings_ms", format!("{duration:?}"))
        } else if let Some(restart) = restart {
            lacks("keeps", format!("{restart:?}"))
        } else if let Some((list, file)) = width {
            let path = format!("{list}.{}.bits", file.name);
            lacks(
                &path,
                format!("a width of `{}` from 1 to 64 bits", file.name),
            )
        } else if let Some(name) = moved {
            lacks("moves", name.clone())
        } else if let Some(name) = counting {
            lacks("traffic", name.clone())
        } else {
            Ok(())
        }
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
