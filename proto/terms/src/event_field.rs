//! The fields of a health event and of the call that carries it.

/// A field of an event, or of a call, as a finding names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventField {
    /// `version` of an event or of the call.
    Version,
    /// `agent`.
    Agent,
    /// `componentClass`.
    ComponentClass,
    /// `nodeName`.
    NodeName,
    /// `checkName`.
    CheckName,
    /// `isFatal` and `isHealthy`.
    Severity,
    /// `processingStrategy`.
    Strategy,
    /// `recommendedAction`.
    Action,
    /// `errorCode`.
    ErrorCode,
    /// `entitiesImpacted`.
    Entities,
    /// `message`.
    Message,
    /// `generatedTimestamp`.
    Timestamp,
    /// A field that a monitor leaves empty.
    Extra,
    /// The events of the call: there are none, or they are of several checks.
    Batch,
}

impl EventField {
    /// Every field, in order.
    pub const ALL: [Self; 14] = [
        Self::Version,
        Self::Agent,
        Self::ComponentClass,
        Self::NodeName,
        Self::CheckName,
        Self::Severity,
        Self::Strategy,
        Self::Action,
        Self::ErrorCode,
        Self::Entities,
        Self::Message,
        Self::Timestamp,
        Self::Extra,
        Self::Batch,
    ];

    /// Its word in a cause's name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Agent => "agent",
            Self::ComponentClass => "component-class",
            Self::NodeName => "node-name",
            Self::CheckName => "check-name",
            Self::Severity => "severity",
            Self::Strategy => "processing-strategy",
            Self::Action => "recommended-action",
            Self::ErrorCode => "error-code",
            Self::Entities => "entities",
            Self::Message => "message",
            Self::Timestamp => "timestamp",
            Self::Extra => "extra",
            Self::Batch => "batch",
        }
    }
}
