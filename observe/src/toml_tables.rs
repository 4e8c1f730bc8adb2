//! The default configuration of a monitor, of which a story replaces what it sets itself.
//!
//! A table that is written twice ends a program that reads TOML ("Defining a table more than once is invalid",
//! TOML 1.0.0, "Table"), so a default that a story sets too is left out.

use toml::{Table, Value};

/// The error of a text that is not TOML; `None` if it is TOML.
pub(crate) fn problem(text: &str) -> Option<String> {
    let error = text.parse::<Table>().err()?;
    Some(error.message().to_owned())
}

/// A story's lines, with those defaults around them that they do not set: values before them, because these
/// belong to the document's root, and tables after them.
pub(crate) fn with_defaults(default: &str, story: &str) -> String {
    // A default that is not TOML is refused when the descriptor is read. Lines of a story may be wrong on
    // purpose; then they replace nothing.
    let mut default: Table = default.parse().unwrap_or_default();
    let set: Table = story.parse().unwrap_or_default();
    default.retain(|key, _| !set.contains_key(key));
    let is_table = |value: &Value| match value {
        Value::Table(_) => true,
        Value::Array(items) => items.iter().any(Value::is_table),
        _ => false,
    };
    let (tables, values): (Table, Table) =
        default.into_iter().partition(|(_, value)| is_table(value));
    // A story's last line may lack its end.
    let end = if story.is_empty() || story.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{values}{story}{end}{tables}")
}

/// Whether the value at a key with dots is `true` in a story's lines over those defaults.
pub(crate) fn is_true(default: &str, story: &str, key: &str) -> bool {
    let of = |text: &str| -> Option<Value> {
        let table: Table = text.parse().ok()?;
        let (first, rest) = key.split_once('.').unwrap_or((key, ""));
        let names = rest.split('.').filter(|name| !name.is_empty());
        let first = table.get(first)?.clone();
        Some(names.fold(first, |value, name| {
            value.get(name).cloned().unwrap_or(Value::Boolean(false))
        }))
    };
    of(story).or_else(|| of(default)) == Some(Value::Boolean(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(default: &str, story: &str, expected: &str) {
        let text = with_defaults(default, story);
        assert_eq!(text, expected);
        text.parse::<Table>().unwrap();
    }

    #[test]
    fn a_key_is_true_if_the_story_says_so_and_else_if_the_default_does() {
        let default = "[detection]\nenabled = true\n";
        let key = "detection.enabled";
        assert!(is_true(default, "", key));
        assert!(is_true(default, "other = 1\n", key));
        assert!(is_true("", "[detection]\nenabled = true\n", key));
        assert!(!is_true(default, "[detection]\nenabled = false\n", key));
        // The story's table replaces the default one.
        assert!(!is_true(default, "[detection]\nother = 1\n", key));
        assert!(!is_true("", "", key));
        assert!(is_true("on = true\n", "", "on"));
    }

    #[test]
    fn a_table_of_the_story_replaces_the_default_one() {
        check(
            "[counterDetection]\nenabled = true\n",
            "[counterDetection]\nenabled = false\n",
            "[counterDetection]\nenabled = false\n",
        );
    }

    #[test]
    fn a_story_without_a_last_end_of_line_is_on_lines_of_its_own() {
        check("[own]\ny = 2\n", "x = 1", "x = 1\n[own]\ny = 2\n");
    }

    #[test]
    fn values_stand_before_a_storys_tables_and_tables_behind() {
        check(
            "[[list]]\nname = \"a\"\n[other]\nb = 1\n",
            "x = 1\n[own]\ny = 2\n",
            "x = 1\n[own]\ny = 2\n[[list]]\nname = \"a\"\n\n[other]\nb = 1\n",
        );
        check(
            "level = \"info\"\n",
            "[own]\ny = 2\n",
            "level = \"info\"\n[own]\ny = 2\n",
        );
    }

    #[test]
    fn what_is_not_toml_is_told() {
        assert_eq!(problem("a = 1"), None);
        assert!(problem("a: 1").is_some());
        assert!(problem("[a]\n[a]\n").is_some());
    }
}
