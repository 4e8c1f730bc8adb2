//! The calls of a recording as the platform connector received them, for modification.

use std::sync::Arc;

use observe::{Call, Descriptor, MonitorTick, Recording, platform_connector, shipped_descriptors};
use proto::{HealthEvent, HealthEvents};

/// A call in its protocol's form; changes are written to the recording when it is dropped.
pub(crate) struct Wire<'r> {
    call: &'r mut Call,
    pub(crate) version: u32,
    pub(crate) events: Vec<HealthEvent>,
    pub(crate) accepted: bool,
    pub(crate) answer: String,
}

impl<'r> Wire<'r> {
    fn of(call: &'r mut Call) -> Self {
        let HealthEvents { version, events } = platform_connector::batch(call);
        Self {
            version,
            events,
            accepted: call.accepted,
            answer: call.answer.clone(),
            call,
        }
    }
}

impl Drop for Wire<'_> {
    fn drop(&mut self) {
        let (version, events) = (self.version, std::mem::take(&mut self.events));
        let answer = std::mem::take(&mut self.answer);
        let batch = HealthEvents { version, events };
        *self.call = platform_connector::received(&batch).answered(self.accepted, answer);
    }
}

/// The calls of a recording, in order.
pub(crate) fn calls(recording: &mut Recording) -> Vec<Wire<'_>> {
    let ticks = recording.ticks.iter_mut();
    let monitors = ticks.flat_map(|tick| Arc::make_mut(&mut tick.monitors).values_mut());
    let calls = monitors.flat_map(|monitor| &mut Arc::make_mut(monitor).calls);
    calls.map(Wire::of).collect()
}

/// What the monitor of a node did in a tick.
pub(crate) fn monitor<'r>(
    recording: &'r mut Recording,
    tick: usize,
    node: &str,
) -> &'r mut MonitorTick {
    let monitors = Arc::make_mut(&mut recording.ticks[tick].monitors);
    Arc::make_mut(monitors.get_mut(node).expect("the node has a monitor"))
}

/// The reference monitor.
pub(crate) fn reference() -> Descriptor {
    let shipped = shipped_descriptors().find(|(file, _)| *file == "reference.yaml");
    let (file, text) = shipped.expect("the reference monitor ships");
    files::yaml::read(file, text).unwrap_or_else(|error| panic!("{error}"))
}
