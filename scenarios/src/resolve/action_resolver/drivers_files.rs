//! Whether the ports of a world have the file that a rule is about: drivers differ in their counters, in the length of
//! their GID tables, and in some files of a device. A file that no driver has is no matter of the world: the director
//! refuses it, and says what is there instead. Start at [`ActionResolver::has_file`].

use platforms::{CLASS_INFINIBAND, CounterFile, Counters, Driver, Port, Rdma};
use simfs::Pattern;

use super::ActionResolver;
use crate::error::Unfit;
use crate::resolved_world::{ResolvedNode, ResolvedPort};
use crate::story::FileRef;

/// A file below a device's folder that not every driver has.
#[derive(Clone, Copy, Debug)]
enum DriversFile<'f> {
    /// A file in `counters/`, or a pattern.
    Counter(&'f str),
    /// A file in `hw_counters/`, or a pattern.
    HwCounter(&'f str),
    /// The files of an entry of the GID table, by its index, or a pattern.
    Gid(&'f str),
    /// `hca_type`, `board_id` or `hw_rev`.
    OfDevice(&'f str),
}

impl ActionResolver<'_> {
    /// Checks that a port has this file at rest, if the drivers differ in it.
    ///
    /// # Errors
    /// [`Unfit::NotApplicable`] if only the driver of other ports has it.
    pub(super) fn has_file(&self, file: &FileRef) -> Result<(), Unfit> {
        let in_class = CLASS_INFINIBAND.split('/').count();
        let (path, text): (Vec<&str>, &str) = match file {
            FileRef::StateFile => return Ok(()),
            FileRef::Port(_, below) => (below.split('/').collect(), below.as_str()),
            FileRef::Device(_, _, below) => (below.split('/').collect(), below.as_str()),
            FileRef::Path(path) => (path.split('/').skip(in_class + 1).collect(), path.as_str()),
        };
        let is_of_port = matches!(file, FileRef::Port(..));
        let Some(meant) = DriversFile::of(&path, is_of_port) else {
            return Ok(());
        };
        let ports: Vec<&ResolvedPort> = self.bearers(file).collect();
        let has_it = ports.iter().any(|port| self.rest_has(port, meant));
        let mut drivers = ports
            .iter()
            .flat_map(|port| self.resolved.nodes[port.node].platform.drivers());
        if has_it || !drivers.any(|driver| meant.is_of(driver)) {
            return Ok(());
        }
        let reason = match ports[..] {
            [port] => format!("`{}` has no `{text}`", port.facts.device),
            _ => format!("no device of `{}` has `{text}`", self.resolved.world),
        };
        Err(Unfit::lacks(reason))
    }

    /// The ports whose folder, or whose device's folder, a file is in. A device that has its name only later is none.
    fn bearers(&self, file: &FileRef) -> impl Iterator<Item = &ResolvedPort> {
        let in_class = format!("{CLASS_INFINIBAND}/");
        let name = match file {
            FileRef::Path(path) => path
                .strip_prefix(&in_class)
                .and_then(|below| below.split('/').next())
                .map(Pattern::new),
            _ => None,
        };
        self.resolved.ports.iter().filter(move |port| {
            let (facts, node) = (&port.facts, &self.resolved.nodes[port.node].name);
            match file {
                FileRef::Port(slot, _) => {
                    slot.node == *node && slot.pci == facts.pci && slot.port == facts.port
                }
                FileRef::Device(of, pci, _) => of == node && *pci == facts.pci,
                FileRef::Path(_) => {
                    let name = name.as_ref();
                    name.is_some_and(|name| name.matches(facts.device.as_str()))
                }
                FileRef::StateFile => false,
            }
        })
    }

    fn rest_has(&self, port: &ResolvedPort, meant: DriversFile<'_>) -> bool {
        let ResolvedNode { machine, .. } = &self.resolved.nodes[port.node];
        let function = machine.functions.get(&port.facts.pci);
        let Some(rdma) = function.and_then(|function| function.rdma.as_ref()) else {
            return false;
        };
        let at_rest = rdma.ports.get(&port.facts.port);
        at_rest.is_some_and(|port| meant.is_at_rest(rdma, port))
    }
}

impl<'f> DriversFile<'f> {
    /// The file of these components below a port's folder, or below a device's; `None` if all drivers are alike in it.
    fn of(path: &[&'f str], is_of_port: bool) -> Option<Self> {
        match path {
            ["ports", _, below @ ..] if !is_of_port => Self::of(below, true),
            [name @ ("hca_type" | "board_id" | "hw_rev")] if !is_of_port => {
                Some(Self::OfDevice(name))
            }
            ["counters", name] if is_of_port => Some(Self::Counter(name)),
            ["hw_counters", name] if is_of_port => Some(Self::HwCounter(name)),
            ["gids", index] | ["gid_attrs", _, index] if is_of_port => Some(Self::Gid(index)),
            _ => None,
        }
    }

    fn is_at_rest(self, rdma: &Rdma, port: &Port) -> bool {
        let has = |counters: &Counters, name: &str| {
            let pattern = Pattern::new(name);
            counters.keys().any(|known| pattern.matches(known))
        };
        match self {
            Self::Counter(name) => has(&port.counters, name),
            Self::HwCounter(name) => has(&port.hw_counters, name),
            Self::Gid(index) => is_within(index, port.gid_table),
            Self::OfDevice("hca_type") => rdma.hca_type.is_some(),
            Self::OfDevice("board_id") => rdma.board_id.is_some(),
            Self::OfDevice(_) => rdma.hw_rev.is_some(),
        }
    }

    fn is_of(self, driver: &Driver) -> bool {
        let has = |files: &[CounterFile], name: &str| {
            let pattern = Pattern::new(name);
            files.iter().any(|file| pattern.matches(&file.name))
        };
        match self {
            Self::Counter(name) => has(&driver.counters, name),
            Self::HwCounter(name) => has(&driver.hw_counters, name),
            Self::Gid(index) => is_within(index, driver.gid_table),
            Self::OfDevice(_) => true,
        }
    }
}

/// Whether a table of this length has the entry; any entry is meant by a pattern.
fn is_within(index: &str, length: u16) -> bool {
    match index.parse::<u16>() {
        Ok(index) => index < length,
        Err(_) => index.contains('*') && length > 0,
    }
}
