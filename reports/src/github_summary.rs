//! A run as the step summary of GitHub Actions, in GitHub Flavored Markdown. Start at [`github_summary`].

use std::fmt::Write as _;

use crate::{
    ExitCode, Group, ProbeOutcome, RunReport, Summary, as_output, group_page::fitting, judged_line,
    terminal::not_drilled, visible,
};

/// The largest summary of a step, in bytes (GitHub Docs, "Workflow commands", "Adding a job summary": 1 MiB).
pub const GITHUB_SUMMARY_MAX: usize = 1024 * 1024;

/// What is kept for the line that says how many rows were left out.
const LAST_LINE: usize = 80;

const WRITES: &str = "writing to a string cannot fail";

/// The run in Markdown, at most `room` bytes: totals, findings by cause, and what was not judged and why. Rows that do not
/// fit are counted.
#[must_use]
pub fn github_summary(run: &RunReport, room: usize) -> String {
    let mut page = Page {
        text: String::new(),
        room,
        left_out: 0,
    };
    let code = run.exit_code.unwrap_or(ExitCode::InternalFault);
    let word = if code == ExitCode::Success {
        "✅"
    } else {
        "❌"
    };
    page.push(&format!(
        "## {word} nicdrill: {}\n\nExit code {code}: {}.\n\n",
        code_span(&run.plan.monitor),
        plain(code.meaning())
    ));
    if let Some(ProbeOutcome::Failed { reason, exit_code }) = &run.probe {
        page.push(&format!(
            "The monitor {}: {}\n\n",
            not_drilled(*exit_code),
            plain(reason)
        ));
    }
    page.totals(&run.summary);
    let judged = judged_line(&run.summary, &run.plan.judged_by);
    page.push(&format!("\n{}\n", plain(&judged)));
    let (red, excused): (Vec<Group>, Vec<Group>) = fitting(&run.drills)
        .into_iter()
        .partition(|group| group.excuse.is_none());
    page.groups("Findings", &red);
    page.groups("Known, which do not count", &excused);
    if let Some(excuses) = &run.excuses {
        let lines = excuses
            .no_longer
            .iter()
            .map(|line| ("no longer occurs", line));
        let lines = lines.chain(excuses.expired.iter().map(|line| ("expired", line)));
        page.table(
            "Entries of known deviations that must go",
            ["", "entry"],
            lines.map(|(why, line)| [why.to_owned(), plain(line)]),
        );
    }
    let not_judged = run.summary.judged.not_judged.iter();
    page.table(
        "Not judged",
        ["expectations", "why"],
        not_judged.map(|(reason, count)| [count.to_string(), plain(reason)]),
    );
    let parts = run.summary.judged.parts.iter();
    page.table(
        "Judged in part",
        ["expectations", "but for"],
        parts.map(|(reason, count)| [count.to_string(), plain(reason)]),
    );
    page.end()
}

/// A text that has a limit.
struct Page {
    text: String,
    room: usize,
    left_out: u64,
}

impl Page {
    /// Adds a text if it fits.
    fn push(&mut self, text: &str) {
        if self.left_out == 0 && self.text.len() + text.len() + LAST_LINE <= self.room {
            self.text += text;
        } else {
            self.left_out += 1;
        }
    }

    fn totals(&mut self, summary: &Summary) {
        let Summary {
            drills,
            passed,
            known,
            failed,
            skipped,
            not_reached,
            not_applicable,
            ..
        } = *summary;
        let mut table = String::from("| drills | |\n|---|---:|\n");
        for (words, count, is_always) in [
            ("ended", drills, true),
            ("passed", passed, true),
            ("failed", failed, true),
            ("known", known, false),
            ("skipped", skipped, false),
            ("not reached", not_reached, false),
            ("not applicable", not_applicable, false),
        ] {
            if is_always || count > 0 {
                writeln!(table, "| {words} | {count} |").expect(WRITES);
            }
        }
        for (words, arm) in [("memory", summary.memory), ("process", summary.process)] {
            if arm.planned > 0 {
                let (run, planned) = (arm.run, arm.planned);
                writeln!(table, "| {words} arm | {run} of {planned} run |").expect(WRITES);
            }
        }
        self.push(&table);
        if let Some(reason) = &summary.process_skipped {
            self.push(&format!(
                "\nThe process arm was skipped: {}\n",
                plain(reason)
            ));
        }
    }

    fn groups(&mut self, title: &str, groups: &[Group]) {
        let rows = groups.iter().map(|group| {
            [
                plain(&group.headline),
                group.drills.len().to_string(),
                group.platforms.to_string(),
                code_span(&group.first.place),
                code_span(&group.first.repeat),
            ]
        });
        self.table(
            title,
            ["cause", "drills", "platforms", "first at", "repeat it"],
            rows,
        );
    }

    /// A table with a heading; nothing without rows.
    fn table<const N: usize>(
        &mut self,
        title: &str,
        columns: [&str; N],
        rows: impl Iterator<Item = [String; N]>,
    ) {
        let mut rows = rows.peekable();
        if rows.peek().is_none() {
            return;
        }
        let line = "|---".repeat(N);
        self.push(&format!(
            "\n### {title}\n\n| {} |\n{line}|\n",
            columns.join(" | ")
        ));
        for row in rows {
            self.push(&format!("| {} |\n", row.join(" | ")));
        }
    }

    fn end(mut self) -> String {
        if self.left_out > 0 {
            let line = format!("\n{} further rows do not fit\n", self.left_out);
            if self.text.len() + line.len() <= self.room {
                self.text += &line;
            }
        }
        self.text
    }
}

/// A text without meaning for Markdown, in one line.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for char in visible(text).chars() {
        match char {
            '\n' => plain += "<br>",
            '<' => plain += "&lt;",
            '>' => plain += "&gt;",
            '&' => plain += "&amp;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => {
                plain.push('\\');
                plain.push(char);
            }
            _ => plain.push(char),
        }
    }
    plain
}

/// A text as code, in a cell of a table: a bar there ends the cell unless it is escaped.
fn code_span(text: &str) -> String {
    let runs = text.split(|char| char != '`').map(str::len).max();
    let fence = "`".repeat(runs.unwrap_or_default() + 1);
    let space = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    let text = as_output(&text.replace('\n', " ")).replace('|', "\\|");
    format!("{fence}{space}{text}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_end_a_cell_or_begin_markup() {
        assert_eq!(plain("a|b *c* <d>\ne"), "a\\|b \\*c\\* &lt;d&gt;<br>e");
        assert_eq!(code_span("a|b"), "`a\\|b`");
        assert_eq!(code_span("say `a`"), "`` say `a` ``");
    }

    #[test]
    fn what_does_not_fit_is_counted_and_no_row_is_cut() {
        let mut run = RunReport::default();
        for reason in 0..50 {
            let reason = format!("no promise about `kind{reason}`");
            run.summary.judged.not_judged.insert(reason, 1);
        }
        let whole = github_summary(&run, GITHUB_SUMMARY_MAX);
        assert!(!whole.contains("do not fit"), "{whole}");
        for room in (0..whole.len()).step_by(7) {
            let text = github_summary(&run, room);
            assert!(text.len() <= room);
            let rows = text.lines().filter(|line| line.starts_with('|'));
            assert!(rows.clone().all(|row| row.ends_with('|')), "{text}");
        }
        let part = github_summary(&run, whole.len() / 2);
        assert!(part.contains("further rows do not fit"), "{part}");
    }
}
