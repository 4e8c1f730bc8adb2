//! The time that alert rules are given after healing. An alert ends at an evaluation, and one whose rule states times, or
//! reads back, goes on until these are over; a drill that ended before would blame it.
//!
//! Meanwhile scrapes are due at their interval alone. Start at [`Player::lingers`].

use scenarios::Heal;
use terms::Severity;

use super::{Play, Player, stage};
use crate::alert_rules::{self, EvaluationError};

/// Until when alert rules are given time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lingering {
    /// When the healing was over, in nanoseconds since the drill began.
    from_ns: u64,
    /// When the rules are asked next whether an alert stands.
    ask_ns: u64,
    /// When every alert must have ended.
    until_ns: u64,
}

impl Player<'_> {
    /// Whether the drill, whose healing is over, goes on because an alert may still end.
    ///
    /// # Errors
    /// If the rules cannot be evaluated.
    pub(super) fn lingers(&mut self) -> Play<bool> {
        let descriptor = self.descriptor;
        let Some(prometheus) = &descriptor.prometheus else {
            return Ok(false);
        };
        if prometheus.is_only_recorded || matches!(self.story.heal, Heal::Never { .. }) {
            return Ok(false);
        }
        let failed = |error: EvaluationError| stage(&error);
        let (now, tick_ns) = (self.now_ns(), self.story.ticks.interval().as_ns());
        let mut lingering = match self.lingering {
            Some(lingering) => lingering,
            None => {
                let (rules, prometheus) = alert_rules::rules_of(descriptor).map_err(failed)?;
                let every = prometheus.evaluation_interval;
                let scraped = prometheus.schedule().interval_ns(tick_ns);
                let after = |ns: u64| now.saturating_add(ns).saturating_add(scraped);
                Lingering {
                    from_ns: now,
                    ask_ns: after(rules.without_reading_back().lingering_ns(every)),
                    until_ns: after(rules.lingering_ns(every)),
                }
            }
        };
        let goes_on = if now >= lingering.until_ns {
            false
        } else if now < lingering.ask_ns {
            true
        } else {
            lingering.ask_ns = now.saturating_add(now - lingering.from_ns);
            let mut recording = self.recording(self.ticks.clone(), None, Vec::new());
            alert_rules::observe_alerts(descriptor, &mut recording, tick_ns).map_err(failed)?;
            self.story.monitors.iter().any(|node| {
                let said = observe::statement::statements(&recording, node.as_str());
                said.iter()
                    .any(|it| it.to.is_none() && it.severity != Severity::Healthy)
            })
        };
        self.lingering = Some(lingering);
        Ok(goes_on)
    }
}
