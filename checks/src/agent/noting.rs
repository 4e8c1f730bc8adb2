//! Log records that are made once per cause. Start with [`Agent::log_once`].

use super::Agent;
use crate::log_record::{Level, LogRecord};
use crate::reading::severity;
use crate::snapshot::{Anchor, SeenPorts, SeenScope, Snapshot};

impl Agent {
    /// Logs each path that cannot be read once, and counts every failed read.
    pub(super) fn log_troubles(&mut self, snapshot: &mut Snapshot) {
        if snapshot.anchor == Anchor::Missing {
            let path = self.anchor().to_owned();
            let record = LogRecord::new(Level::Warn, "class folder is missing: the poll failed");
            self.log_once("anchor", record.with("path", path));
        }
        for (path, cause) in snapshot.troubles.drain(..) {
            self.metrics.unreadable(&cause.to_string());
            let record = LogRecord::new(Level::Warn, "cannot be read: the last known state stands");
            let record = record.with("path", &path).with("cause", cause);
            self.log_once(&path, record);
        }
        for record in std::mem::take(&mut snapshot.records) {
            let key = record.to_string();
            self.log_once(&key, record);
        }
    }

    /// Logs each unhealthy pair of states that gives no event on Ethernet, once, at level debug.
    pub(super) fn log_transients(&mut self, snapshot: &Snapshot) {
        for seen in &snapshot.devices {
            let SeenScope::In(_, SeenPorts::Listed(ports)) = &seen.scope else {
                continue;
            };
            for port in ports {
                let (Some(layer), Ok(reading)) = (port.layer, &port.reading) else {
                    continue;
                };
                if reading.is_healthy() || severity(layer, reading).is_some() {
                    continue;
                }
                let key = format!(
                    "transient {}/{} {}/{}",
                    seen.name, port.number, reading.state, reading.phys
                );
                let record = LogRecord::new(Level::Debug, "transient state: not reported")
                    .with("device", &seen.name)
                    .with("port", port.number)
                    .with("state", &reading.state)
                    .with("phys_state", &reading.phys);
                self.log_once(&key, record);
            }
        }
    }

    pub(super) fn log_once(&mut self, key: &str, record: LogRecord) {
        if !self.logged.contains(key) {
            self.logged.insert(key.to_owned());
            self.delivery.record(record);
        }
    }
}
