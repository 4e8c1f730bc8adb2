//! What a player hears of a monitor's output: lines of bounded length, of which a drill keeps a bounded number.
//!
//! How much of the output there is at all is bounded by `output.rs`. Start at [`Player::hear`].

use director::MonitorId;
use platforms::NodeName;
use reports::visible;

use super::Player;

/// How many bytes of output the log of a node keeps in one drill. Chosen: some thousand lines for each poll of a usual drill.
const LOG_MAX: usize = 8 * 1024 * 1024;

/// What a line costs in that log beside its bytes.
const LINE_COST: usize = 24;

/// How many bytes of output the end of a run says something by.
const OUTPUT_MAX: usize = 1024 * 1024;

/// How many bytes of a line count. Chosen: a line of JSON that a person can still read has a tenth of that.
const LINE_MAX: usize = 16 * 1024;

/// How many lines are understood at once: more than those of one poll may be (`budget.rs`).
const STATEMENTS_AT_ONCE: usize = 30_000;

impl Player<'_> {
    /// Processes the output of a monitor, line by line; with `at_end` also an incomplete last line.
    pub(super) fn hear(&mut self, node: &NodeName, monitor: MonitorId, at_end: bool) {
        let node_runtime = self
            .node_runtimes
            .get_mut(node)
            .expect("a monitor sits on a node of the story");
        let Some(instance) = node_runtime.instances.get_mut(&monitor) else {
            return;
        };
        let heard = instance.program.heard(at_end);
        let heard = String::from_utf8_lossy(&heard);
        let lines = heard.lines().map(shortened);
        let root = node_runtime.root.to_string_lossy();
        let lines = lines.map(|line| line.replace(&*root, "{root}"));
        let lines: Vec<String> = lines.collect();
        let runs = node_runtime.runs.get_mut(&monitor);
        if let Some(run) = runs.and_then(|runs| runs.run.as_mut()) {
            let room = OUTPUT_MAX.saturating_sub(run.output.len());
            let mut fit = 0;
            for line in &lines {
                fit += line.len() + 1;
                if fit > room {
                    break;
                }
                run.output.push_str(line);
                run.output.push('\n');
            }
        }
        let adapter = self.descriptor.adapter();
        let reported = lines.iter().filter_map(|line| adapter.line_says(line));
        for reported in reported.take(STATEMENTS_AT_ONCE) {
            self.budget.count(&reported);
            let call = reported.answered(true, "written".to_owned());
            node_runtime.tick.calls.push(call);
        }
        let log = &mut node_runtime.tick.log;
        for (at, line) in lines.iter().enumerate() {
            let line = printable(line);
            node_runtime.logged += line.len() + LINE_COST;
            if node_runtime.logged > LOG_MAX {
                let left_out: usize = lines[at..].iter().map(|line| line.len() + 1).sum();
                log.push(format!(
                    "nicdrill: {left_out} bytes of its output are left out, as more than {LOG_MAX} in a drill are"
                ));
                return;
            }
            log.push(line);
        }
    }
}

/// A line of bounded length, with what is left out of a longer one.
pub(super) fn shortened(line: &str) -> String {
    if line.len() <= LINE_MAX {
        return line.to_owned();
    }
    let kept = &line[..line.floor_char_boundary(LINE_MAX)];
    let left_out = line.len() - kept.len();
    format!("{kept} (nicdrill: {left_out} more bytes of this line are left out)")
}

/// A line with each character that cannot be seen, but for tabs, as the escape that all outputs have for it.
pub(super) fn printable(line: &str) -> String {
    let shown: Vec<_> = line.split('\t').map(visible).collect();
    shown.join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_between_two_characters_and_says_what_is_left_out() {
        let line = "é".repeat(LINE_MAX);
        let cut = shortened(&line);
        let left_out = format!(" (nicdrill: {LINE_MAX} more bytes of this line are left out)");
        assert_eq!(cut, "é".repeat(LINE_MAX / 2) + &left_out);
        let odd = format!("x{line}");
        assert!(shortened(&odd).starts_with(&odd[..LINE_MAX - 1]));
        assert_eq!(shortened("short"), "short");
        let longest = "x".repeat(LINE_MAX);
        assert_eq!(shortened(&longest), longest);
    }

    #[test]
    fn control_characters_of_a_line_are_told_as_escapes() {
        let line = "a\tb\u{1b}[2J\u{202e}\0";
        assert_eq!(printable(line), "a\tb\\u001b[2J\\u202e\\u0000");
    }
}
