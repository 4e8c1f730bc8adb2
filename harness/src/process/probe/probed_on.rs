//! The platform that a monitor was probed on, as its user has to know it: its name and what is to be monitored there.

use std::{collections::BTreeSet, fmt};

use platforms::{Platform, PortFacts};

/// As many devices are named, at most. Chosen: those of one server.
const NAMED_MAX: usize = 16;

/// A platform that a monitor was probed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbedOn {
    /// Its name.
    pub platform: String,
    /// The devices with a port that a monitor has to monitor, and that the probe cuts.
    pub devices: BTreeSet<String>,
}

impl ProbedOn {
    /// A platform as it is probed.
    #[must_use]
    pub fn of(platform: &Platform) -> Self {
        let ports = platform.ports();
        let devices = ports.iter().filter(|port| is_cut(port));
        Self {
            platform: platform.name(),
            devices: devices.map(|port| port.device.to_string()).collect(),
        }
    }
}

/// Whether the probe pulls a port's cable.
pub(super) fn is_cut(port: &PortFacts) -> bool {
    port.cabled && port.is_monitored()
}

/// `h100-oci` (to monitor: mlx5_0, mlx5_1).
impl fmt::Display for ProbedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<&str> = (self.devices.iter().map(String::as_str))
            .take(NAMED_MAX)
            .collect();
        let more = match self.devices.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        write!(
            f,
            "`{}` (to monitor: {}{more})",
            self.platform,
            named.join(", ")
        )
    }
}
