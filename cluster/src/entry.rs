//! Entries of a node condition's message: their text, and which healthy events clear them.
//!
//! The platform connector stores conditions in the message only, so an entry is a text and is matched
//! as text. [`crate::message`] shortens messages that are too long.
//! Source: NVSentinel, platform-connectors, Kubernetes connector.

use proto::{HealthEvent, RecommendedAction};

/// Which entities of a healthy event an entry must contain to be cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityRule {
    /// Each of them (NVSentinel #1468, 2026-07-08, and later).
    All,
    /// Any of them: port 1 of one NIC clears port 1 of every other NIC.
    Any,
}

/// How a healthy event selects the entries that it clears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clearing {
    /// Which of its entities are required.
    pub entities: EntityRule,
    /// Whether its error codes, if any, restrict it to entries with one of them.
    pub codes_scope: bool,
}

impl Clearing {
    /// Since 2026-07-08: all entities, and one of the codes.
    pub const ALL: Self = Self {
        entities: EntityRule::All,
        codes_scope: true,
    };
    /// From 2026-05-12 to 2026-07-08: any entity, and one of the codes.
    pub const ANY_WITH_CODE: Self = Self {
        entities: EntityRule::Any,
        codes_scope: true,
    };
    /// Before 2026-05-12, when "NIC Health Monitor: Link State Detection" was written: any entity,
    /// whatever the codes.
    pub const ANY: Self = Self {
        entities: EntityRule::Any,
        codes_scope: false,
    };

    /// Whether this healthy event clears that entry of its check's condition. Without entities it
    /// clears every entry, whatever its codes.
    #[must_use]
    pub fn clears(self, healthy: &HealthEvent, entry: &str) -> bool {
        if healthy.entities_impacted.is_empty() {
            return true;
        }
        let mut entities = healthy
            .entities_impacted
            .iter()
            .map(|entity| token(&entity.entity_type, &entity.entity_value));
        let met = match self.entities {
            EntityRule::All => entities.all(|token| entry.contains(&token)),
            EntityRule::Any => entities.any(|token| entry.contains(&token)),
        };
        let mut codes = healthy.error_code.iter();
        let in_scope = !self.codes_scope
            || healthy.error_code.is_empty()
            || codes.any(|code| entry.contains(&token("ErrorCode", code)));
        met && in_scope
    }
}

/// `NIC:mlx5_1 `: the trailing space distinguishes `mlx5_1` from `mlx5_10`.
fn token(kind: &str, value: &str) -> String {
    format!("{kind}:{value} ")
}

/// The entry of an unhealthy event: codes, entities, message, recommended action. A `;` in the
/// message becomes `.`, because `;` terminates an entry.
#[must_use]
pub(crate) fn entry_of(event: &HealthEvent) -> String {
    let mut text = String::new();
    for code in &event.error_code {
        text += &token("ErrorCode", code);
    }
    for entity in &event.entities_impacted {
        text += &token(&entity.entity_type, &entity.entity_value);
    }
    text += &event.message.replace(';', ".");
    text += ACTION;
    text + action_name(event)
}

/// The text between the message and the action.
pub(crate) const ACTION: &str = " Recommended Action=";

/// The name of the action, such as `REPLACE_VM`; of a custom action its own name.
#[must_use]
pub(crate) fn action_name(event: &HealthEvent) -> &str {
    match event.recommended_action() {
        RecommendedAction::Custom => &event.custom_recommended_action,
        action => action.as_str_name(),
    }
}
