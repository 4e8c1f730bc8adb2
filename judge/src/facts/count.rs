//! A counter of a workload.

use director::Truth;
use reports::CauseKind;
use scenarios::{CountIs, CounterOf, What, Window};

use super::fact::{Fact, FactKind, FactLane, Outcome, Scene, bounds, check, up_or_down};
use crate::altered::change::{Alteration, AlteredSubject, with};

/// It is so in one tick of the window.
pub(super) struct Count<'w>(pub(super) &'w CountIs);

impl Fact for Count<'_> {
    fn kind(&self) -> FactKind {
        FactKind::of("counter", CauseKind::Workload)
    }

    fn lane(&self) -> FactLane<'_> {
        FactLane::Workload(&self.0.counter.workload)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        count(self.0, scene.expectation.window, scene.context.truth)
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        // No drill counts so far.
        let other = with(self.0, |of| of.is = u64::MAX..=u64::MAX);
        vec![("another value", subject.line(What::Count(other)))]
    }
}

/// Checks an expectation of a counter: it holds if it does in one tick of the window.
pub(super) fn count(is: &CountIs, window: Window, truth: &Truth) -> Outcome {
    let CountIs { counter, is } = is;
    let name = counter.of.name();
    let ticks = (0_u64..).zip(&truth.ticks);
    let meant = ticks.filter(|(tick, _)| (window.from..=window.to).contains(tick));
    let seen: Vec<(u64, u64)> = meant
        .filter_map(|(tick, all)| Some((tick, *all.counters.get(counter)?)))
        .collect();
    check(
        seen.iter().any(|(_, value)| is.contains(value)),
        || {
            let edge = match &counter.of {
                CounterOf::Mpib(_, Some(to)) => format!(" to {to}"),
                _ => String::new(),
            };
            let is = match counter.of {
                CounterOf::LnetRoute(_) => up_or_down(is.contains(&1)).to_owned(),
                _ => bounds(is),
            };
            format!("{name} of {}{edge}: {is}", counter.node)
        },
        || {
            let mut lines = Vec::new();
            let mut before = None;
            for (tick, value) in &seen {
                if before.replace(value) != Some(value) {
                    let value = match counter.of {
                        CounterOf::LnetRoute(_) => up_or_down(*value == 1).to_owned(),
                        _ => value.to_string(),
                    };
                    lines.push(format!("poll {tick}: {name} {value}"));
                }
            }
            if lines.is_empty() {
                lines.push("the node is not on LNet, or LNet is not loaded".to_owned());
            }
            lines
        },
    )
}
