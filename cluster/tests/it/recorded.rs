//! Recorded streams: every export format gives the same event.

use cluster::recorded::{
    CsvTable, LINE_MAX_BYTES, RecordError, RecordedCall, goes_on, is_open, read_documents,
    read_line, read_list, write_call,
};
use proptest::prelude::*;
use proto::HealthEvent;
use rstest::rstest;

use crate::words::reported;

/// The only event of a line.
fn read_one(line: &str) -> HealthEvent {
    let mut call = read_line(line).unwrap().unwrap();
    assert_eq!(call.events.len(), 1);
    call.events.remove(0)
}

const FAULT: &str = "fatal counter !link_downed NIC:mlx5_0 NICPort:1 @1.5 -- down";

/// MongoDB's export: lower-case names, zero values present, numbers for enumerations.
const MONGO: &str = r#"{"_id":{"$oid":"65"},"createdAt":{"$date":"2025-03-01T00:00:02Z"},"healthevent":{"version":1,"agent":"nic-health-monitor","componentclass":"NIC","checkname":"InfiniBandDegradationCheck","isfatal":true,"ishealthy":false,"message":"down","recommendedaction":25,"errorcode":["link_downed"],"entitiesimpacted":[{"entitytype":"NIC","entityvalue":"mlx5_0"},{"entitytype":"NICPort","entityvalue":"1"}],"metadata":{},"generatedtimestamp":{"seconds":{"$numberLong":"1740787201"},"nanos":500000000},"nodename":"node-1","quarantineoverrides":null,"drainoverrides":null,"processingstrategy":1,"id":"","customrecommendedaction":""},"healtheventstatus":{"nodequarantined":""}}"#;
/// PostgreSQL's export of a row: its own names outside, zero values omitted inside.
const POSTGRES: &str = r#"{"id":"b1","node_name":"node-1","event_type":"InfiniBandDegradationCheck","document":{"healthevent":{"version":1,"agent":"nic-health-monitor","componentClass":"NIC","checkName":"InfiniBandDegradationCheck","isFatal":true,"message":"down","recommendedAction":25,"errorCode":["link_downed"],"entitiesImpacted":[{"entityType":"NIC","entityValue":"mlx5_0"},{"entityType":"NICPort","entityValue":"1"}],"generatedTimestamp":{"seconds":1740787201,"nanos":500000000},"nodeName":"node-1","processingStrategy":1}}}"#;
/// The protocol's own JSON.
const PROTOCOL: &str = r#"{"version":1,"agent":"nic-health-monitor","componentClass":"NIC","checkName":"InfiniBandDegradationCheck","isFatal":true,"message":"down","recommendedAction":"REPLACE_VM","errorCode":["link_downed"],"entitiesImpacted":[{"entityType":"NIC","entityValue":"mlx5_0"},{"entityType":"NICPort","entityValue":"1"}],"generatedTimestamp":"2025-03-01T01:00:01.5+01:00","nodeName":"node-1","processingStrategy":"EXECUTE_REMEDIATION"}"#;

#[rstest]
#[case::mongo(MONGO)]
#[case::postgres(POSTGRES)]
#[case::protocol(PROTOCOL)]
fn a_store_exports_the_event_that_was_sent(#[case] line: &str) {
    assert_eq!(read_one(line), reported(FAULT));
}

/// `row_to_json` over a text column, and `to_json(document::text)`.
#[test]
fn a_document_may_be_a_text_that_holds_json() {
    let text = |json: &str| serde_json::to_string(json).unwrap();
    for line in [
        format!(r#"{{"document":{}}}"#, text(PROTOCOL)),
        format!(r#"{{"healthevent":{}}}"#, text(PROTOCOL)),
        format!(r#"{{"document":{{"healthevent":{}}}}}"#, text(PROTOCOL)),
        text(PROTOCOL),
        text(MONGO),
    ] {
        assert_eq!(read_one(&line), reported(FAULT), "{line}");
    }
    let error = read_line(r#"{"document":"down"}"#).unwrap_err().to_string();
    assert!(
        error.contains("the text holds no JSON") && error.contains("mongoexport"),
        "{error}"
    );
}

fn read_all(
    read: impl FnOnce(&mut Vec<HealthEvent>) -> Result<(), RecordError>,
) -> Vec<HealthEvent> {
    let mut events = Vec::new();
    read(&mut events).unwrap();
    events
}

/// `mongoexport --jsonArray`, and with `--pretty`.
#[test]
fn a_list_and_documents_over_several_lines_are_read() {
    let list = format!("[{MONGO},\n{PROTOCOL}\n]\n");
    let read = read_all(|events| read_list(list.as_bytes(), |call| events.extend(call.events)));
    assert_eq!(read, [reported(FAULT), reported(FAULT)]);
    let value: serde_json::Value = serde_json::from_str(MONGO).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    assert!(goes_on(pretty.lines().next().unwrap()) && !goes_on(MONGO) && !goes_on("x"));
    let twice = format!("{pretty}\n{pretty}\n");
    let read =
        read_all(|events| read_documents(twice.as_bytes(), |call| events.extend(call.events)));
    assert_eq!(read, [reported(FAULT), reported(FAULT)]);
}

#[rstest]
#[case::a_wrong_document("[{\"a\":1}]", "document 1: the event has no `checkname`")]
#[case::no_object("[1]", "document 1: `the line` is 1, where an object is allowed")]
#[case::cut("[", "document 1: line 1, column 1: no JSON")]
#[case::something_after("[] x", "no JSON: trailing characters")]
fn a_wrong_document_of_a_list_is_named(#[case] list: &str, #[case] reported: &str) {
    let error = read_list(list.as_bytes(), |_| ()).unwrap_err().to_string();
    assert!(
        error.contains(reported) && error.contains("\nhint: "),
        "{error}"
    );
}

/// `psql --csv`, with and without the names of columns.
#[test]
fn a_table_of_psql_holds_documents_in_a_column() {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let record = format!("b1,\"two\nlines, \"\"quoted\"\"\",{}\r\n", quoted(PROTOCOL));
    let named = CsvTable::beginning_with("id,message,document\n").unwrap();
    assert!(named.has_header);
    assert_eq!(named.document(&record).unwrap(), PROTOCOL);
    assert!(is_open("b1,\"two\n") && !is_open(&record));
    let alone = CsvTable::beginning_with(&quoted(PROTOCOL)).unwrap();
    assert!(!alone.has_header);
    assert_eq!(alone.document(&quoted(PROTOCOL)).unwrap(), PROTOCOL);
    assert_eq!(CsvTable::beginning_with("id,message"), None);
    let error = named.document("b1").unwrap_err().to_string();
    assert!(
        error.contains("the record has 1 fields, and field 3 holds the event"),
        "{error}"
    );
}

/// What is refused is answered with what to run instead.
#[rstest]
#[case::an_event(
    r#"{"apiVersion":"v1","kind":"Event","reason":"x"}"#,
    "Kubernetes events",
    "mongoexport"
)]
#[case::a_list_of_events(
    r#"{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Event"}],"kind":"List"}"#,
    "Kubernetes events",
    "psql --csv"
)]
#[case::no_events(
    r#"{"apiVersion":"v1","items":[],"kind":"EventList"}"#,
    "Kubernetes events",
    "mongoexport"
)]
#[case::another_list(
    r#"{"items":[{"kind":"HealthEvent","spec":{}}],"kind":"List"}"#,
    "one list of objects",
    "jq -c '.items[]'"
)]
#[case::a_drawn_table(" id | document ", "no JSON", "psql --csv")]
fn an_export_that_cannot_be_read_is_refused_with_what_to_run(
    #[case] line: &str,
    #[case] reported: &str,
    #[case] hint: &str,
) {
    let error = read_line(line).unwrap_err();
    assert!(
        error.cause.contains(reported) && error.hint.contains(hint),
        "{error}"
    );
}

#[test]
fn a_call_is_read_as_it_was_written() {
    let events = vec![reported("healthy state @1 -- all well"), reported(FAULT)];
    let line = write_call(RecordedCall {
        events: &events,
        accepted: true,
    });
    assert!(!line.contains('\n'));
    assert_eq!(read_line(&line).unwrap().unwrap().events, events);
}

#[test]
fn a_call_that_was_not_accepted_did_not_happen() {
    let events = [reported(FAULT)];
    let line = write_call(RecordedCall {
        events: &events,
        accepted: false,
    });
    assert_eq!(read_line(&line).unwrap(), None);
}

#[test]
fn an_empty_line_is_none() {
    assert_eq!(read_line("").unwrap(), None);
    assert_eq!(read_line(" \r\n").unwrap(), None);
}

#[rstest]
#[case::no_json("{\"a\":", "column 5: no JSON")]
#[case::a_list("[]", "`the line` is [], where an object is allowed")]
#[case::events_are_no_list("{\"events\":1}", "`events` is 1, where a list is allowed")]
#[case::no_check("{\"nodeName\":\"n\"}", "the event has no `checkname`")]
#[case::no_node(
    "{\"checkName\":\"c\",\"generatedTimestamp\":{\"seconds\":1}}",
    "the event has no `nodename`"
)]
#[case::no_stamp("{\"checkName\":\"c\",\"nodeName\":\"n\"}", "no `generatedTimestamp`")]
#[case::a_runs_own_event("{\"event\":\"drill-passed\"}", "about a run, not a health event")]
fn another_line_is_refused(#[case] line: &str, #[case] reported: &str) {
    let error = read_line(line).unwrap_err().to_string();
    assert!(
        error.contains(reported) && error.contains("\nhint: "),
        "{error}"
    );
}

#[rstest]
#[case(
    "\"isFatal\":true",
    "\"isFatal\":\"yes\"",
    "`isfatal` is \"yes\", where `true` or `false` is allowed"
)]
#[case(
    "\"REPLACE_VM\"",
    "\"REBOOT\"",
    "`recommendedaction` is \"REBOOT\", where a name or number"
)]
#[case("\"REPLACE_VM\"", "3", "there is no action 3")]
#[case("\"EXECUTE_REMEDIATION\"", "9", "no strategy 9")]
#[case(
    "\"2025-03-01T01:00:01.5+01:00\"",
    "\"noon\"",
    "`generatedtimestamp` is \"noon\", where an instant"
)]
#[case(
    "\"2025-03-01T01:00:01.5+01:00\"",
    "{\"seconds\":1,\"nanos\":-1}",
    "where an instant"
)]
#[case("\"2025-03-01T01:00:01.5+01:00\"", "7", "where an instant")]
#[case(
    "[\"link_downed\"]",
    "[1]",
    "`errorcode` is 1, where a list of texts is allowed"
)]
#[case("\"entityType\":\"NIC\",", "", "an entity has no `entitytype`")]
#[case(
    "\"message\":\"down\"",
    "\"message\":{}",
    "`message` is {}, where a text is allowed"
)]
fn a_wrong_field_is_named(#[case] right: &str, #[case] wrong: &str, #[case] rendered: &str) {
    let error = read_line(&PROTOCOL.replacen(right, wrong, 1))
        .unwrap_err()
        .to_string();
    assert!(error.contains(rendered), "{error}");
}

#[test]
fn a_line_over_the_limit_is_refused() {
    let line = format!("\"{}\"", "x".repeat(LINE_MAX_BYTES));
    let error = read_line(&line).unwrap_err().to_string();
    assert!(error.contains("1048578 bytes, at most 1048576"), "{error}");
}

proptest! {
    #[test]
    fn no_line_makes_the_reader_fall_over(line in ".{0,200}") {
        let _ = read_line(&line);
    }

    #[test]
    fn any_text_survives_a_line(message in ".{0,80}", value in ".{0,20}") {
        let mut event = reported(FAULT);
        event.message = message;
        event.entities_impacted[0].entity_value = value;
        let events = [event];
        let line = write_call(RecordedCall { events: &events, accepted: true });
        prop_assert_eq!(read_line(&line).unwrap().unwrap().events, events.to_vec());
    }
}
