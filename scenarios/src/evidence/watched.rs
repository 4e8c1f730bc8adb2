//! Whether there is anything to watch: a story in which the monitor runs proves little where no port is monitored.

use super::cast::Cast;
use super::fact::{Fact, Topic};
use crate::resolved_world::ResolvedPort;
use crate::story::What;

/// `None` for a story in which the monitor must refuse to start: it does so on any machine.
pub(crate) fn fact(cast: &Cast<'_>) -> Option<Fact> {
    let refuses = |what: &What| matches!(what, What::Exit { code } if *code != 0);
    let mut expected = cast.story.expectations.iter();
    if expected.any(|expected| refuses(&expected.what)) {
        return None;
    }
    let ports = &cast.world.ports;
    let named = cast.named().next().map(|port| &ports[port]);
    let watched = ports.iter().filter(|port| port.is_usual()).count();
    Some(match (named, watched) {
        (Some(port), _) if !port.facts.is_of_vendor => Fact::holds(
            Topic::Watched,
            "a port of another make, which nobody watches",
        ),
        (_, 0) => Fact::lacks(Topic::Watched, "no port is watched there"),
        (Some(port), _) => Fact::holds(Topic::Watched, described(port)),
        (None, 1) => Fact::holds(Topic::Watched, "one port is watched"),
        (None, number) => Fact::holds(Topic::Watched, format!("{number} ports are watched")),
    })
}

/// Such as `compute port on InfiniBand`.
fn described(port: &ResolvedPort) -> String {
    let layer = port.facts.layer;
    if port.facts.is_vf {
        format!("virtual function on {layer}")
    } else {
        format!("{} port on {layer}", port.facts.role)
    }
}
