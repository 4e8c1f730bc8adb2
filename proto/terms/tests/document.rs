//! The page of the event contract names the checks of the table.

use std::fmt::Write as _;

use terms::{Check, CheckKind, LinkLayer};

const PAGE: &str = include_str!("../../../docs/events.md");

#[test]
fn the_table_of_checks_is_the_programs() {
    let mut table = String::from(
        "\n| check | link layer | reports | `errorCode` | runs by default |\n|---|---|---|---|---|\n",
    );
    for check in Check::ALL {
        let layer = match check.layer() {
            LinkLayer::InfiniBand => "InfiniBand",
            LinkLayer::Ethernet => "Ethernet (RoCE)",
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
