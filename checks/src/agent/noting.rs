//! What is noted once, however often it is seen. Start at [`Agent::note_once`].

use super::Agent;
use crate::note::{Level, Note};
use crate::reading::severity;
use crate::sight::{Anchor, SeenPorts, SeenScope, Sight};

impl Agent {
    /// Tells each path that cannot be read once, and counts every time.
    pub(super) fn note_troubles(&mut self, sight: &mut Sight) {
        if sight.anchor == Anchor::Missing {
            let path = self.anchor().to_owned();
            let note = Note::new(Level::Warn, "class folder is missing: the poll failed");
            self.note_once("anchor", note.with("path", path));
        }
        for (path, cause) in sight.troubles.drain(..) {
            self.figures.unreadable(&cause.to_string());
            let note = Note::new(Level::Warn, "cannot be read: the last known state stands");
            let note = note.with("path", &path).with("cause", cause);
            self.note_once(&path, note);
        }
        for note in std::mem::take(&mut sight.notes) {
            let key = note.to_string();
            self.note_once(&key, note);
        }
    }

    /// Tells the developer of each unhealthy pair that is no event on Ethernet, once.
    pub(super) fn note_transients(&mut self, sight: &Sight) {
        for seen in &sight.devices {
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
                let note = Note::new(Level::Debug, "transient state: not reported")
                    .with("device", &seen.name)
                    .with("port", port.number)
                    .with("state", &reading.state)
                    .with("phys_state", &reading.phys);
                self.note_once(&key, note);
            }
        }
    }

    pub(super) fn note_once(&mut self, key: &str, note: Note) {
        if !self.noted.contains(key) {
            self.noted.insert(key.to_owned());
            self.delivery.note(note);
        }
    }
}
