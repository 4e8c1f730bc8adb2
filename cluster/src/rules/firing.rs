//! What a rule says, and the health event by which it says it.

use proto::{HealthEvent, ProcessingStrategy, RecommendedAction, VERSION};

use super::{group::Group, rule::Rule};
use crate::stamp::Stamp;

/// The agent of everything that the analyzer publishes.
pub const ANALYZER: &str = "health-events-analyzer";

/// What a rule has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FiringKind {
    /// What it looks for has happened.
    Fired,
    /// What it fired for is over.
    Cleared,
}

/// A rule that speaks.
#[derive(Clone, Debug, PartialEq)]
pub struct Firing {
    /// The rule.
    pub rule: String,
    /// When: the stamp of the event that made it, or of the tick.
    pub at: Stamp,
    /// What it says.
    pub kind: FiringKind,
    /// What the events share about which it speaks.
    pub group: Group,
    /// How many it counted: events, or different nodes, or firings that were held back; 1 for silence.
    pub count: usize,
    /// What it publishes.
    pub event: HealthEvent,
}

impl Firing {
    /// Fires for this event: everything is kept of it but agent, check, message, severity and action.
    pub(super) fn of(
        rule: &Rule,
        group: &Group,
        at: Stamp,
        count: usize,
        event: &HealthEvent,
    ) -> Self {
        let is_fatal = rule.action != RecommendedAction::None;
        let event = HealthEvent {
            version: VERSION,
            agent: ANALYZER.to_owned(),
            component_class: event.component_class.clone(),
            check_name: rule.name.clone(),
            is_fatal,
            is_healthy: false,
            message: rule.message.clone(),
            recommended_action: rule.action.into(),
            error_code: event.error_code.clone(),
            entities_impacted: event.entities_impacted.clone(),
            metadata: event.metadata.clone(),
            generated_timestamp: event.generated_timestamp,
            node_name: event.node_name.clone(),
            processing_strategy: ProcessingStrategy::ExecuteRemediation.into(),
            ..HealthEvent::default()
        };
        Self {
            rule: rule.name.clone(),
            at,
            kind: FiringKind::Fired,
            group: group.clone(),
            count,
            event,
        }
    }

    /// The same said by the clock: the event bears the tick's stamp.
    pub(super) fn by_the_clock(mut self) -> Self {
        self.event.generated_timestamp = Some(self.at.to_wire());
        self
    }

    /// The end of what this said.
    pub(super) fn cleared(mut self, at: Stamp) -> Self {
        self.at = at;
        self.kind = FiringKind::Cleared;
        self.event.is_fatal = false;
        self.event.is_healthy = true;
        self.event.set_recommended_action(RecommendedAction::None);
        self.event.message = format!("{}: over", self.rule);
        self.by_the_clock()
    }
}
