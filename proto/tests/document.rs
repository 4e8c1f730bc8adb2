//! The page of the event contract names the method and the fields of the wire format.

const PAGE: &str = include_str!("../../docs/events.md");

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
