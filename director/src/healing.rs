//! The end of a drill: after the story, the world heals and settles.

use scenarios::{Heal, Story};

use super::scene::Change;
use super::{Director, StageError};

/// How many ticks healing may take before it counts as failed. Chosen: an hour of polls; the
/// slowest walk of a link takes some ten seconds.
const HEALING_TICKS_MAX: u64 = 3600;

impl Director<'_> {
    /// Whether the tick that ended was the last one.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let ended = self.truth.ticks.len() as u64;
        match (&self.story.heal, self.settled_at) {
            (Heal::Never { .. }, _) => ended > self.last_story_tick,
            (Heal::Within { polls, every }, Some(settled)) => {
                ended > settled + u64::from(*polls) * every
            }
            (Heal::Within { .. }, None) => false,
        }
    }

    /// The tick in which healing began, if it did.
    #[must_use]
    pub fn healing_from(&self) -> Option<u64> {
        self.healing_from
    }

    /// The tick in which the healed world settled, if it did.
    #[must_use]
    pub fn settled_at(&self) -> Option<u64> {
        self.settled_at
    }

    /// Heals the world once the story is over.
    pub(super) fn heal(&mut self, tick: u64) -> Result<(), StageError> {
        if matches!(self.story.heal, Heal::Never { .. }) || tick <= self.last_story_tick {
            return Ok(());
        }
        let from = *self.healing_from.get_or_insert(tick);
        if from == tick {
            self.fabric.heal();
            self.reboots.clear();
            for scene in self.nodes.values_mut() {
                scene.connector.heal();
                scene.rules.clear();
                scene.awaited.clear();
                scene.moments.clear();
                scene.call_moments.clear();
                scene.changes.extend([Change::Mend, Change::Reappear(None)]);
                if let Some(instances) = &mut scene.instances {
                    instances.heal(tick, &self.story.flags, &self.story.config);
                }
            }
        }
        if self.settled_at.is_none() && self.fabric.settled() {
            self.settled_at = Some(tick);
            self.fabric.reset_counters();
        }
        if self.settled_at.is_none() && tick - from > HEALING_TICKS_MAX {
            return Err(StageError::NeverSettles(tick - from));
        }
        Ok(())
    }
}

/// The story's last tick: its end, or the end of the last window that begins before it.
pub(super) fn last_story_tick(story: &Story) -> u64 {
    let end = story.ticks.first_from(story.until);
    let windows = story
        .expectations
        .iter()
        .map(|expectation| expectation.window);
    let open = windows.filter(|window| window.from <= end && window.to <= end + HEALING_TICKS_MAX);
    open.map(|window| window.to).fold(end, u64::max)
}
