//! The output of a rule, and its health event.

use proto::{HealthEvent, ProcessingStrategy, RecommendedAction, VERSION};

use super::{group::Group, rule::Rule};
use crate::stamp::Stamp;

/// The agent of all events of the analyzer.
pub const ANALYZER: &str = "health-events-analyzer";

/// The kind of a rule's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FiringKind {
    /// The rule fired.
    Fired,
    /// The condition for which it fired is over.
    Cleared,
}

/// An output of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Firing {
    /// The name of the rule.
    pub rule: String,
    /// The timestamp of the event that caused it, or of the tick.
    pub at: Stamp,
    /// The kind.
    pub kind: FiringKind,
    /// The common values of the events that caused it.
    pub group: Group,
    /// The number that it counted: events, different nodes, or firings held back; 1 for silence.
    pub count: usize,
    /// The event that is published.
    pub event: HealthEvent,
}

impl Firing {
    /// The firing for this event, which is kept except for agent, check, message, severity and action.
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

    /// The same firing caused by the clock: the event gets the tick's timestamp.
    pub(super) fn by_the_clock(mut self) -> Self {
        self.event.generated_timestamp = Some(self.at.to_wire());
        self
    }

    /// The end of this firing.
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
