//! Health events as one line each, for readable tables.

use cluster::Stamp;
use proto::{Entity, HealthEvent, HealthEvents, ProcessingStrategy, RecommendedAction};

/// 2025-03-01T00:00:00Z, the start of every stream in these tests.
pub(crate) const START: Stamp = Stamp::from_s(1_740_787_200);

/// This many seconds after the start.
pub(crate) fn at(s: f64) -> Stamp {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "milliseconds of a test's stamp"
    )]
    let ms = (s * 1000.0).round() as i64;
    Stamp::from_ns(START.as_ns() + ms * 1_000_000)
}

/// An event: `fatal|warning|healthy CHECK` and then any of `NIC:mlx5_0`, `NICPort:1`, `!code`,
/// `@seconds`, `node=n`, `agent=a`, `class=c`, `strategy=S`, `action=A`, and after `--` the message.
///
/// `state` and `counter` are the monitor's two InfiniBand checks. Without `--`, the message is the
/// reference monitor's for a fault of that kind.
pub(crate) fn reported(line: &str) -> HealthEvent {
    let (words, message) = line.split_once(" -- ").unwrap_or((line, "something"));
    let mut words = words.split_whitespace();
    let kind = words.next().expect("a line begins with its kind");
    let check = match words.next().expect("a line names its check") {
        "state" => "InfiniBandStateCheck",
        "counter" => "InfiniBandDegradationCheck",
        other => other,
    };
    let is_fatal = kind == "fatal";
    assert!(["fatal", "warning", "healthy"].contains(&kind), "{kind}");
    let mut event = HealthEvent {
        version: proto::VERSION,
        agent: "nic-health-monitor".to_owned(),
        component_class: "NIC".to_owned(),
        check_name: check.to_owned(),
        is_fatal,
        is_healthy: kind == "healthy",
        message: message.to_owned(),
        recommended_action: if is_fatal {
            RecommendedAction::ReplaceVm.into()
        } else {
            RecommendedAction::None.into()
        },
        generated_timestamp: Some(START.to_wire()),
        node_name: "node-1".to_owned(),
        processing_strategy: ProcessingStrategy::ExecuteRemediation.into(),
        ..HealthEvent::default()
    };
    for word in words {
        put(&mut event, word);
    }
    event
}

fn put(event: &mut HealthEvent, word: &str) {
    if let Some(code) = word.strip_prefix('!') {
        event.error_code.push(code.to_owned());
    } else if let Some(seconds) = word.strip_prefix('@') {
        let stamp = at(seconds.parse().expect("seconds after `@`"));
        event.generated_timestamp = Some(stamp.to_wire());
    } else if let Some((key, value)) = word.split_once('=') {
        let value = value.to_owned();
        match key {
            "node" => event.node_name = value,
            "agent" => event.agent = value,
            "class" => event.component_class = value,
            "strategy" => event.set_processing_strategy(
                ProcessingStrategy::from_str_name(&value).expect("a strategy"),
            ),
            "action" => event.set_recommended_action(
                RecommendedAction::from_str_name(&value).expect("an action"),
            ),
            _ => panic!("no key `{key}`"),
        }
    } else {
        let (kind, value) = word.split_once(':').expect("an entity is `TYPE:value`");
        event.entities_impacted.push(Entity {
            entity_type: kind.to_owned(),
            entity_value: value.to_owned(),
        });
    }
}

/// One call with these events.
pub(crate) fn batch(lines: &[&str]) -> HealthEvents {
    HealthEvents {
        version: proto::VERSION,
        events: lines.iter().map(|line| reported(line)).collect(),
    }
}
