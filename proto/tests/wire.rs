//! The bytes of one event, computed by hand from the field numbers of the contract.

use proto::{Entity, HealthEvent, HealthEvents, Message, ProcessingStrategy, RecommendedAction};

fn event() -> HealthEvent {
    HealthEvent {
        version: 1,
        agent: "nic".into(),
        component_class: "NIC".into(),
        check_name: "IB".into(),
        is_fatal: true,
        is_healthy: false,
        message: "m".into(),
        recommended_action: RecommendedAction::ReplaceVm.into(),
        error_code: vec!["e".into()],
        entities_impacted: vec![Entity {
            entity_type: "NIC".into(),
            entity_value: "a".into(),
        }],
        generated_timestamp: Some(proto::timestamp_from_ns(2_000_000_003)),
        node_name: "n".into(),
        processing_strategy: ProcessingStrategy::ExecuteRemediation.into(),
        ..HealthEvent::default()
    }
}

/// Each line is one field: (number << 3 | wire type), then the value.
const EVENT: &[u8] = &[
    0x08, 0x01, // 1 version
    0x12, 0x03, b'n', b'i', b'c', // 2 agent
    0x1a, 0x03, b'N', b'I', b'C', // 3 componentClass
    0x22, 0x02, b'I', b'B', // 4 checkName
    0x28, 0x01, // 5 isFatal; 6 isHealthy is false and absent
    0x3a, 0x01, b'm', // 7 message
    0x40, 0x19, // 8 recommendedAction, 25
    0x4a, 0x01, b'e', // 9 errorCode
    0x52, 0x08, 0x0a, 0x03, b'N', b'I', b'C', 0x12, 0x01, b'a', // 10 entitiesImpacted
    0x62, 0x04, 0x08, 0x02, 0x10, 0x03, // 12 generatedTimestamp, 2 s and 3 ns
    0x6a, 0x01, b'n', // 13 nodeName
    0x80, 0x01, 0x01, // 16 processingStrategy
];

#[test]
fn an_event_is_encoded_as_computed_by_hand() {
    assert_eq!(event().encode_to_vec(), EVENT);
}

#[test]
fn a_call_wraps_its_events_in_field_two() {
    let mut bytes = vec![0x08, 0x01, 0x12, u8::try_from(EVENT.len()).unwrap()];
    bytes.extend_from_slice(EVENT);
    let call = HealthEvents {
        version: proto::VERSION,
        events: vec![event()],
    };
    assert_eq!(call.encode_to_vec(), bytes);
    assert_eq!(HealthEvents::decode(bytes.as_slice()).unwrap(), call);
}

#[test]
fn every_recommended_action_has_its_number() {
    let numbers = [0, 2, 5, 6, 15, 24, 25, 26, 27, 99];
    for number in 0..=200 {
        assert_eq!(
            RecommendedAction::try_from(number).is_ok(),
            numbers.contains(&number),
            "{number}"
        );
    }
}

#[test]
fn a_field_of_a_later_version_is_passed_over() {
    let mut bytes = EVENT.to_vec();
    bytes.extend_from_slice(&[0xf8, 0x06, 0x07]); // field 111, varint 7
    assert_eq!(HealthEvent::decode(bytes.as_slice()).unwrap(), event());
}
