//! The page of the event contract names the checks of the table.

use std::fmt::Write as _;

use proto::{Check, CheckKind, Layer};

const PAGE: &str = include_str!("../../docs/events.md");

#[test]
fn the_table_of_checks_is_the_programs() {
    let mut table = String::from(
        "\n| check | link layer | reports | `errorCode` | runs by default |\n|---|---|---|---|---|\n",
    );
    for check in Check::ALL {
        let layer = match check.layer() {
            Layer::InfiniBand => "InfiniBand",
            Layer::Ethernet => "Ethernet (RoCE)",
        };
        let (reports, code) = match check.kind() {
            CheckKind::State => (
                "states of ports, presence of devices and ports, cards",
                "none",
            ),
            CheckKind::Degradation => ("counters of ports", "the counter's name"),
            CheckKind::CharDevice => ("character devices", "the device's kind"),
        };
        let runs = if check.is_default() { "yes" } else { "no" };
        writeln!(
            table,
            "| `{check}` | {layer} | {reports} | {code} | {runs} |"
        )
        .unwrap();
    }
    table.push('\n');
    let (_, rest) = PAGE.split_once("<!-- checks -->\n").unwrap();
    let (written, _) = rest.split_once("<!-- /checks -->").unwrap();
    assert_eq!(written, table, "docs/events.md has another table");
}

#[test]
fn the_method_and_every_field_of_an_event_are_named() {
    assert!(PAGE.contains(proto::METHOD_PATH.trim_start_matches('/')));
    let (_, message) = proto::TEXT.split_once("message HealthEvent {\n").unwrap();
    let (message, _) = message.split_once("\n}").unwrap();
    let fields = message
        .lines()
        .filter(|line| !line.trim().starts_with("//"));
    for field in fields {
        let (name, _) = field.split_once(" = ").unwrap();
        let name = name.split_whitespace().next_back().unwrap();
        assert!(PAGE.contains(&format!("`{name}`")), "{name}");
    }
}
