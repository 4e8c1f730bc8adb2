//! The state of an LNet interface.

use director::{Interface, Truth};
use lnet::{NiView, Recovery};
use reports::CauseKind;
use scenarios::{LnetIs, What, Window};

use super::fact::{Fact, FactKind, FactLane, Outcome, Scene, bounds, check, up_or_down};
use crate::altered::change::{Alteration, AlteredSubject, with};

/// It is so in one tick of the window.
pub(super) struct Lnet<'w>(pub(super) &'w LnetIs);

impl Fact for Lnet<'_> {
    fn kind(&self) -> FactKind {
        FactKind::of("LNet interface", CauseKind::Lnet)
    }

    fn lane(&self) -> FactLane<'_> {
        FactLane::Port(&self.0.slot)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        lnet(self.0, scene.expectation.window, scene.context.truth)
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        other_interface(subject, self.0)
    }
}

/// Checks an expectation of an LNet interface: it holds if it does in one tick of the window.
pub(super) fn lnet(is: &LnetIs, window: Window, truth: &Truth) -> Outcome {
    let interface = Interface::of(is);
    let ticks = (0_u64..).zip(&truth.ticks);
    let meant = ticks.filter(|(tick, _)| (window.from..=window.to).contains(tick));
    let seen: Vec<(u64, NiView)> = meant
        .filter_map(|(tick, all)| Some((tick, *all.interfaces.get(&interface)?)))
        .collect();
    let holds = seen.iter().any(|(_, ni)| {
        is.up.is_none_or(|up| up == ni.up)
            && is.fatal.is_none_or(|fatal| ni.fatal == Some(fatal))
            && is
                .health
                .as_ref()
                .is_none_or(|health| health.contains(&u64::from(ni.health)))
            && is.queued.is_none_or(|queued| queued == ni.recovery.queued)
            && is
                .pings
                .as_ref()
                .is_none_or(|pings| pings.contains(&u64::from(ni.recovery.ping_count)))
            && is
                .next_ping_s
                .is_none_or(|at| ni.recovery.queued && ni.recovery.next_ping_s == at)
    });
    check(
        holds,
        || {
            let parts = [
                is.up.map(|up| format!("status {}", up_or_down(up))),
                is.fatal
                    .map(|fatal| format!("fatal_error {}", u8::from(fatal))),
                is.health
                    .as_ref()
                    .map(|health| format!("health {}", bounds(health))),
                is.queued.map(|queued| recovery(queued).to_owned()),
                is.pings
                    .as_ref()
                    .map(|pings| format!("pings {}", bounds(pings))),
                is.next_ping_s.map(|at| format!("next ping at {at}s")),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            format!("an interface: {}", parts.join(", "))
        },
        || {
            let mut lines = Vec::new();
            let mut before = None;
            for (tick, ni) in &seen {
                if before.replace(*ni) != Some(*ni) {
                    let fatal = ni
                        .fatal
                        .map(|fatal| format!(", fatal_error {}", u8::from(fatal)));
                    let queue = ni.recovery.queued.then(|| {
                        let Recovery {
                            ping_count,
                            next_ping_s,
                            ..
                        } = ni.recovery;
                        format!(
                            ", {}, pings {ping_count}, next ping at {next_ping_s}s",
                            recovery(true)
                        )
                    });
                    lines.push(format!(
                        "poll {tick}: status {}{}, health {}{}",
                        up_or_down(ni.up),
                        fatal.unwrap_or_default(),
                        ni.health,
                        queue.unwrap_or_default()
                    ));
                }
            }
            if lines.is_empty() {
                lines.push(
                    "the workload has no interface on this port, or LNet is not loaded".to_owned(),
                );
            }
            lines
        },
    )
}

fn recovery(queued: bool) -> &'static str {
    if queued {
        "on the recovery queue"
    } else {
        "not on the recovery queue"
    }
}

fn other_interface(subject: &AlteredSubject<'_>, is: &LnetIs) -> Vec<Alteration> {
    let mut changes = Vec::new();
    let mut part = |name, is: LnetIs| changes.push((name, subject.line(What::Lnet(is))));
    if let Some(up) = is.up {
        let up = Some(!up);
        part("another status", with(is, |of| of.up = up));
    }
    if let Some(fatal) = is.fatal {
        let fatal = Some(!fatal);
        part("another fatal flag", with(is, |of| of.fatal = fatal));
    }
    if is.health.is_some() {
        // In a window it may have been anything that it can be.
        let health = Some(u64::from(::lnet::Health::MAX.value()) + 1..=u64::MAX);
        part("another health", with(is, |of| of.health = health));
    }
    if let Some(queued) = is.queued {
        let queued = Some(!queued);
        part("another queue", with(is, |of| of.queued = queued));
    }
    if is.pings.is_some() {
        // No drill pings so often.
        let pings = Some(u64::MAX..=u64::MAX);
        part("another count of pings", with(is, |of| of.pings = pings));
    }
    if is.next_ping_s.is_some() {
        let next = Some(u64::MAX);
        part("another next ping", with(is, |of| of.next_ping_s = next));
    }
    changes
}
