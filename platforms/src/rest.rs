//! Counter values on a machine at rest.
//!
//! Equal folders of counters are one copy for every port and every machine of a platform; a port whose
//! counter changes gets its own copy. Start at [`CountersAtRest`].

use std::collections::BTreeMap;

use crate::{CounterFile, CounterValue, Counters, Driver};

/// The counters of one driver's ports and interfaces at rest.
#[derive(Clone, Debug)]
pub(crate) struct CountersAtRest {
    pub(crate) counters: Counters,
    pub(crate) hw_counters: Counters,
    /// In an interface's `statistics/`.
    pub(crate) statistics: Counters,
}

impl CountersAtRest {
    /// The counters of each driver, by name. A captured value of a port's counter overrides the driver's.
    pub(crate) fn of(
        drivers: &BTreeMap<String, Driver>,
        captured: &BTreeMap<String, u64>,
    ) -> BTreeMap<String, Self> {
        let of_port = |files: &[CounterFile]| shown(files, captured);
        let of_driver = |driver: &Driver| Self {
            counters: of_port(&driver.counters),
            hw_counters: of_port(&driver.hw_counters),
            statistics: shown(&driver.statistics, &BTreeMap::new()),
        };
        let drivers = drivers.iter();
        drivers
            .map(|(name, driver)| (name.clone(), of_driver(driver)))
            .collect()
    }
}

fn shown(files: &[CounterFile], captured: &BTreeMap<String, u64>) -> Counters {
    let value = |file: &CounterFile| {
        let count = captured.get(&file.name).copied().unwrap_or(file.initial);
        (file.name.as_str().into(), CounterValue::Count(count))
    };
    files.iter().map(value).collect()
}
