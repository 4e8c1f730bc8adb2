//! What a story hands to the monitor: flags, and lines of its configuration file.
//!
//! A scenario is data, often somebody else's, and the monitor does what flags and configuration say. So neither can name
//! a file or a socket of the host: that is refused here, where the file and the line are known. Which of the other flags
//! a monitor accepts is stated by its descriptor (`observe::Settable`).

use files::Node;

use crate::context::Context;
use crate::kind::{Parsed, Plain, plain, string_form, text_form};

/// The flags by which nicdrill tells a monitor its files, sockets, ports and node ("NIC Health Monitor: Link State
/// Detection", section 12.1, and the reference monitor's `--clock-path`).
const OWNED: [&str; 9] = [
    "boot-id-path",
    "clock-path",
    "config",
    "metadata-path",
    "metrics-port",
    "node-name",
    "platform-connector-socket",
    "proc-net-route-path",
    "state-file",
];

/// The longest flag, in characters. Chosen: all checks by name fit twice.
const FLAG_CHARS_MAX: usize = 256;

/// The most text of a configuration, in bytes. Chosen: ten times the longest of the suite.
const CONFIG_BYTES_MAX: usize = 64 * 1024;

/// A flag: `--name` or `--name=value`, where the value is no path and no address.
pub(crate) const FLAG: Plain<String> = plain("a text", string_form, |context, node| {
    let flag = context.source.text(node, "a flag")?;
    let refused = |what: String, hint: &str| {
        Err(context.source.wrong(node.place, what).hint(hint.to_owned()))
    };
    let (name, value) = match flag.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (flag.as_str(), None),
    };
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    let Some(name) = name.strip_prefix("--").filter(|name| is_name(name)) else {
        return refused(
            format!("invalid flag `{}`", flag.escape_debug()),
            "write `--name=value`",
        );
    };
    if OWNED.contains(&name) {
        return refused(
            format!("`--{name}` is set by nicdrill, and by no story"),
            "a monitor's files, sockets, ports and node are those of the drill",
        );
    }
    if flag.len() > FLAG_CHARS_MAX {
        return refused(
            format!("the flag `--{name}` is too long"),
            "write 256 characters at most",
        );
    }
    let is_value = |c: char| c.is_ascii_alphanumeric() || "_-.,+".contains(c);
    if value.is_some_and(|value| value.is_empty() || !value.chars().all(is_value)) {
        return refused(
            format!("invalid value of the flag `{}`", flag.escape_debug()),
            "letters, digits and `_ - . , +` are allowed; a story names no path and no address",
        );
    }
    Ok(flag)
});

/// Lines of a configuration file that name no path and no address.
pub(crate) const CONFIG: Plain<String> = plain("lines of TOML", text_form, config);

fn config(context: &Context<'_>, node: &Node) -> Parsed<String> {
    let text = context.source.any_text(node, "lines of TOML")?;
    let refused = |what: String, hint: &str| {
        Err(context.source.wrong(node.place, what).hint(hint.to_owned()))
    };
    if text.len() > CONFIG_BYTES_MAX {
        return refused(
            format!("`config` has {} bytes", text.len()),
            "write 65536 bytes at most",
        );
    }
    for (line, number) in text.lines().zip(1..) {
        if let Some(what) = leads_out(line) {
            return refused(
                format!("line {number} of `config` has {what}"),
                "a story names no path and no address: the descriptor of the monitor does. \
                 A path inside a port's folder, such as `counters/link_downed`, is allowed",
            );
        }
    }
    Ok(text)
}

/// What in a line could name something outside the drill. Names inside a folder, `a/b`, do not; what an escape stands
/// for is not seen in the text, so escapes of characters are not allowed either.
fn leads_out(line: &str) -> Option<&'static str> {
    let mut before = ' ';
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        match c {
            '\\' if after == '\\' => {
                chars.next();
            }
            '\\' if after.is_ascii_digit() || "xuUN".contains(after) => {
                return Some("a character written as an escape");
            }
            '.' if after == '.' && !is_of_name(before) && ends_step(chars.clone().nth(1)) => {
                return Some("a step to the folder above, `..`");
            }
            '/' if !is_of_name(before) => return Some("a path from the root, `/`"),
            ':' if after == '/' => return Some("an address, `:/`"),
            '~' if after == '/' => return Some("a home folder, `~/`"),
            '\0' => return Some("a NUL character"),
            _ => {}
        }
        before = c;
    }
    (line.contains("unix:") || line.contains("unix-abstract:")).then_some("an address, `unix:`")
}

/// Whether the character behind `..` ends a step of a path.
fn ends_step(next: Option<char>) -> bool {
    next.is_none_or(|c| "/\"'` ,]".contains(c))
}

/// Whether a character can end a name, so that a `/` behind it leads into a folder of this name.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_-".contains(c)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::leads_out;

    #[rstest]
    #[case("path = \"/etc/passwd\"", "a path from the root")]
    #[case("path = '/etc'", "a path from the root")]
    #[case("path = \"counters/../../x\"", "a step to the folder above")]
    #[case("path = \"..\"", "a step to the folder above")]
    #[case("path = \"./..//x\"", "a path from the root")]
    #[case("path = \"a//x\"", "a path from the root")]
    #[case("socket = \"unix:x\"", "an address")]
    #[case("url = \"http://h\"", "an address")]
    #[case(r#"path = "\u002fetc""#, "a character written as an escape")]
    #[case(r#"path = "\x2fetc""#, "a character written as an escape")]
    #[case(r#"path = "\057etc""#, "a character written as an escape")]
    #[case(r#"path = "\/etc""#, "a path from the root")]
    #[case("path = \"~/x\"", "a home folder")]
    #[case("# nothing /here", "a path from the root")]
    fn a_line_that_leads_out_of_the_drill_is_told(#[case] line: &str, #[case] what: &str) {
        let told = leads_out(line).expect("it is refused");
        assert!(told.starts_with(what), "{told}");
    }

    #[rstest]
    #[case("path = \"counters/port_xmit_packets\"")]
    #[case("nicExclusionRegex = \"^veth.*,^docker.*,^br-.*,^lo$\"")]
    #[case("nicInclusionRegexOverride = \"^mlx5_1$,^mlx5_(1[89]|2[0-9])$\"")]
    #[case(r#"regex = "mlx5_\\d+""#)]
    #[case("regex = \"^..._[0-9]..$\"")]
    #[case("threshold = 0.5")]
    #[case("description = \"not a file: a word\"")]
    fn other_lines_are_not_touched(#[case] line: &str) {
        assert_eq!(leads_out(line), None);
    }
}
