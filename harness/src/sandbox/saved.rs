//! What was done in a sandbox, as a scenario. Start at [`story`].

use std::{collections::BTreeSet, fmt::Write as _};

use super::{Done, HEAL};

/// How long a saved story goes on after its last step, in seconds. Chosen: what was done last can be seen.
const AFTER: u64 = 30;

/// The commands that were done on a platform, as the text of a scenario file. Healing is not part of a scenario: it
/// mends every device.
pub(super) fn story(platform: &str, devices: &BTreeSet<String>, done: &[Done]) -> String {
    const WRITES: &str = "writing to a string cannot fail";
    let mut text = format!(
        "scenario: what was done in a sandbox\nwhy: saved by `nicdrill do --save`\nplatforms: [\"{platform}\"]\n"
    );
    let is_named = |device: &&String| {
        let words = |line: &str| {
            // By its name at the time it is no handle.
            let line = line.replace(&format!("name: {device},"), "");
            let mut words = line.split([' ', ',', '[', ']']);
            words.any(|word| word == device.as_str())
        };
        done.iter()
            .any(|done| done.line == HEAL || words(&done.line))
    };
    let named: Vec<&String> = devices.iter().filter(is_named).collect();
    if !named.is_empty() {
        text += "let:\n";
        for device in &named {
            writeln!(text, "  {device}: {{ device: {device}, count: all }}").expect(WRITES);
        }
    }
    // A scenario expects something; what a monitor has to report is for its author to add.
    text += "timeline:\n  - at: 0s\n    expect: [ { this_poll: baseline } ]\n";
    let mut last = None;
    for done in done {
        // What is done at once is done after the first poll.
        let at = (done.at.as_ns() / 1_000_000).max(1);
        if last != Some(at) {
            writeln!(text, "  - at: {at}ms\n    do:").expect(WRITES);
            last = Some(at);
        }
        if done.line == HEAL {
            for device in devices {
                writeln!(text, "      - {{ mend: {device} }}").expect(WRITES);
            }
        } else {
            let line = done.line.trim();
            let line = match line.starts_with('{') {
                true => line.to_owned(),
                false => format!("{{ {line} }}"),
            };
            writeln!(text, "      - {line}").expect(WRITES);
        }
    }
    let until = last.unwrap_or_default() / 1000 + AFTER;
    writeln!(text, "until: {until}s").expect(WRITES);
    text
}
