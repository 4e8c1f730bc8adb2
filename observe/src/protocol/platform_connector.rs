//! The adapter of the platform connector: converts calls with health events to observations.
//!
//! `contract.rs` checks what the protocol requires of every call. Source: NVSentinel,
//! `data-models/protobufs/health_event.proto`. Start at [`received`].

use proto::{Entity, HealthEvent, HealthEvents, Message as _, RecommendedAction};
use terms::Severity;

use crate::{Adapter, Call, Delivery, Facts, Medium, Observation, Subject};

mod contract;

pub(super) use contract::breaches;

pub(super) const FACTS: Facts = Facts {
    medium: Medium::Calls,
    part: None,
    silence: "the monitor polled {polls} times and never called the connector",
};

/// The adapter, which needs no part of a descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlatformConnector;

impl Adapter for PlatformConnector {}

/// The name of the field with a call's version.
const VERSION: &str = "version";

/// A call as received, before it is answered.
#[must_use]
pub fn received(batch: &HealthEvents) -> Delivery {
    Delivery {
        observations: batch.events.iter().map(observation).collect(),
        fields: vec![(VERSION.to_owned(), batch.version.to_string())],
    }
}

/// Decodes the health events of a call.
#[must_use]
pub fn batch(call: &Call) -> HealthEvents {
    HealthEvents {
        version: version(call),
        events: call.observations.iter().map(event).collect(),
    }
}

/// Decodes the health event of an observation that this adapter created.
///
/// # Panics
/// If another adapter created it.
#[must_use]
pub fn event(observation: &Observation) -> HealthEvent {
    HealthEvent::decode(observation.raw.as_slice()).expect("the adapter wrote these bytes")
}

/// Converts a health event to an observation.
#[must_use]
pub fn observation(event: &HealthEvent) -> Observation {
    let named = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Observation {
        node: named(&event.node_name),
        stamped_ns: stamped_ns(event),
        off_clock: false,
        check: named(&event.check_name),
        subject: subject(&event.entities_impacted),
        severity: match (event.is_fatal, event.is_healthy) {
            (true, false) => Severity::Fatal,
            (false, false) => Severity::NonFatal,
            (false, true) => Severity::Healthy,
            (true, true) => Severity::Unknown,
        },
        codes: event.error_code.clone(),
        text: event.message.clone(),
        fields: fields(event),
        raw: event.encode_to_vec(),
    }
}

fn version(call: &Call) -> u32 {
    let mut fields = call.fields.iter();
    let version = fields.find(|(name, _)| name == VERSION);
    version
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or_default()
}

/// Nanoseconds since 1970; `None` if the timestamp is missing or invalid.
fn stamped_ns(event: &HealthEvent) -> Option<u64> {
    let stamp = event.generated_timestamp.as_ref()?;
    let nanos = u64::try_from(stamp.nanos)
        .ok()
        .filter(|nanos| *nanos < 1_000_000_000)?;
    u64::try_from(stamp.seconds)
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(nanos)
}

/// A card is named by the PCI address that its functions share; device names contain no colon.
fn subject(entities: &[Entity]) -> Subject {
    let is = |entity: &Entity, kind: &str| entity.entity_type == kind;
    match entities {
        [] => Subject::Node,
        [nic] if is(nic, "NIC") && nic.entity_value.contains(':') => {
            Subject::Card(nic.entity_value.clone())
        }
        [nic] if is(nic, "NIC") => Subject::Device(nic.entity_value.clone()),
        [nic, port] if is(nic, "NIC") && is(port, "NICPort") => Subject::Port {
            device: nic.entity_value.clone(),
            port: port.entity_value.clone(),
        },
        others => Subject::Other(named(others).join(" ")),
    }
}

fn named(entities: &[Entity]) -> Vec<String> {
    let named = |entity: &Entity| format!("{}={}", entity.entity_type, entity.entity_value);
    entities.iter().map(named).collect()
}

/// All fields that an observation has no member for, without empty ones.
fn fields(event: &HealthEvent) -> Vec<(String, String)> {
    let action = RecommendedAction::try_from(event.recommended_action).map_or_else(
        |_| event.recommended_action.to_string(),
        |action| action.as_str_name().to_owned(),
    );
    let overrides = |rendered: &Option<proto::BehaviourOverrides>| {
        rendered.map_or_else(String::new, |rendered| format!("{rendered:?}"))
    };
    let fixed = [
        ("version", event.version.to_string()),
        ("agent", event.agent.clone()),
        ("componentClass", event.component_class.clone()),
        ("recommendedAction", action),
        ("processingStrategy", event.processing_strategy.to_string()),
        ("entities", named(&event.entities_impacted).join(" ")),
        ("id", event.id.clone()),
        (
            "customRecommendedAction",
            event.custom_recommended_action.clone(),
        ),
        (
            "quarantineOverrides",
            overrides(&event.quarantine_overrides),
        ),
        ("drainOverrides", overrides(&event.drain_overrides)),
    ];
    let fixed = fixed
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    let metadata = event.metadata.iter();
    let metadata = metadata.map(|(name, value)| (format!("metadata.{name}"), value.clone()));
    fixed
        .chain(metadata)
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(entity_type: &str, entity_value: &str) -> Entity {
        Entity {
            entity_type: entity_type.to_owned(),
            entity_value: entity_value.to_owned(),
        }
    }

    fn check(entities: &[Entity], rendered: Subject) {
        assert_eq!(subject(entities), rendered);
    }

    #[test]
    fn a_subject_is_told_by_its_entities() {
        let nic = || entity("NIC", "mlx5_0");
        check(&[], Subject::Node);
        check(&[nic()], Subject::Device("mlx5_0".to_owned()));
        check(
            &[entity("NIC", "0000:19:00")],
            Subject::Card("0000:19:00".to_owned()),
        );
        check(
            &[nic(), entity("NICPort", "1")],
            Subject::Port {
                device: "mlx5_0".to_owned(),
                port: "1".to_owned(),
            },
        );
        check(
            &[entity("NICPort", "1"), nic()],
            Subject::Other("NICPort=1 NIC=mlx5_0".to_owned()),
        );
    }

    #[test]
    fn a_call_gives_back_the_events_that_it_was_made_of() {
        let event = HealthEvent {
            version: 1,
            check_name: "EthernetStateCheck".to_owned(),
            is_fatal: true,
            entities_impacted: vec![entity("NIC", "mlx5_0")],
            metadata: [("a".to_owned(), "b".to_owned())].into(),
            generated_timestamp: Some(proto::timestamp_from_ns(7)),
            ..HealthEvent::default()
        };
        let sent = HealthEvents {
            version: 3,
            events: vec![event],
        };
        let call = received(&sent).answered(true, "accepted".to_owned());
        assert_eq!(batch(&call), sent);
        let [observation] = call.observations.as_slice() else {
            panic!("one event is one observation");
        };
        assert_eq!(observation.stamped_ns, Some(7));
        assert_eq!(observation.severity, Severity::Fatal);
        let field = ("metadata.a".to_owned(), "b".to_owned());
        assert!(observation.fields.contains(&field));
    }

    #[test]
    fn a_time_that_cannot_be_is_none() {
        let stamped = |seconds, nanos| {
            let generated_timestamp = Some(proto::Timestamp { seconds, nanos });
            stamped_ns(&HealthEvent {
                generated_timestamp,
                ..HealthEvent::default()
            })
        };
        assert_eq!(stamped(1, 5), Some(1_000_000_005));
        assert_eq!(stamped(1, 999_999_999), Some(1_999_999_999));
        assert_eq!(stamped(1, 1_000_000_000), None);
        assert_eq!(stamped(1, -1), None);
        assert_eq!(stamped(-1, 0), None);
        assert_eq!(stamped(i64::MAX, 0), None);
        assert_eq!(stamped_ns(&HealthEvent::default()), None);
    }
}
