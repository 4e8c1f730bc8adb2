//! A run as workflow commands of GitHub Actions: an annotation for each group of findings. Start at
//! [`github_commands`]; [`crate::github_summary`] is the step summary.
//!
//! The form is GitHub Docs, "Workflow commands for GitHub Actions"; what is escaped, and how, is as in `escapeData` and
//! `escapeProperty` of GitHub's toolkit (`packages/core/src/command.ts`).

use std::collections::BTreeSet;

use crate::{
    DrillName, Group, RunReport, Style, as_output, counted,
    group_page::{details, fitting},
    repository::Repository,
    run_fault::RunFault,
};

/// How many annotations of one level GitHub shows of a step (GitHub Docs, "Workflow syntax": 10 errors, 10 warnings and 10
/// notices).
const SHOWN_MAX: usize = 10;

/// The largest number of lines that a finding has in an annotation. Chosen: GitHub shows few and folds the rest.
const DETAIL_LINES: usize = 12;

/// The run as workflow commands, one a line: `::error` for each group of findings, the most important first, and for what else
/// makes the run red; `::notice` for what is known and for the number of groups that GitHub would not show. Empty for a run without either.
///
/// `folder` is the run folder, as the user named it.
#[must_use]
pub fn github_commands(run: &RunReport, repository: &Repository, folder: &str) -> String {
    let (red, excused): (Vec<Group>, Vec<Group>) = fitting(&run.drills)
        .into_iter()
        .partition(|group| group.excuse.is_none());
    // That a run ended early stands before what it found until then.
    let (ended, others): (Vec<RunFault>, Vec<RunFault>) = RunFault::all(run)
        .into_iter()
        .partition(|fault| fault.name == RunFault::RUN);
    let of_run = |fault: &RunFault| of_run(fault, repository);
    let mut errors: Vec<String> = ended.iter().map(of_run).collect();
    let room = SHOWN_MAX - errors.len();
    errors.extend((red.iter()).map(|group| of_group("error", group, repository)));
    errors.extend(others.iter().map(of_run));
    let mut notices = Vec::new();
    if let Some(further) = red.get(room..).filter(|more| !more.is_empty()) {
        let drills: BTreeSet<&DrillName> = further.iter().flat_map(|group| &group.drills).collect();
        let title = format!(
            "{} in {}",
            counted(further.len() as u64, "further cause"),
            counted(drills.len() as u64, "drill")
        );
        let text =
            format!("GitHub shows {SHOWN_MAX} errors of a step; all are in {folder}/failed.txt");
        notices.push(command("notice", &[("title", title)], &text));
    }
    notices.extend(
        excused
            .iter()
            .map(|group| of_group("notice", group, repository)),
    );
    errors.truncate(SHOWN_MAX);
    notices.truncate(SHOWN_MAX);
    errors.into_iter().chain(notices).collect()
}

fn of_group(level: &str, group: &Group, repository: &Repository) -> String {
    let known = if group.excuse.is_some() {
        "known: "
    } else {
        ""
    };
    let first = &group.first;
    let mut lines = vec![format!("{}; first: {}", group.extent(), first.drill)];
    lines.extend(details(&first.finding, DETAIL_LINES, Style::default()));
    lines.push(format!("repeat it: {}", first.repeat));
    let mut properties = placed(&first.place, repository);
    properties.push(("title", format!("{known}{}", group.headline)));
    command(level, &properties, &lines.join("\n"))
}

fn of_run(fault: &RunFault, repository: &Repository) -> String {
    let mut properties = placed(&fault.place, repository);
    properties.push(("title", fault.title.clone()));
    command("error", &properties, &fault.text)
}

fn placed(place: &str, repository: &Repository) -> Vec<(&'static str, String)> {
    let Some(place) = repository.place(place) else {
        return Vec::new();
    };
    let mut properties = vec![
        ("file", place.path.to_owned()),
        ("line", place.line.to_string()),
    ];
    properties.extend(place.column.map(|column| ("col", column.to_string())));
    properties
}

/// One workflow command, with its newline.
fn command(level: &str, properties: &[(&str, String)], text: &str) -> String {
    let properties: Vec<String> = properties
        .iter()
        .map(|(name, value)| format!("{name}={}", escaped_property(value)))
        .collect();
    format!("::{level} {}::{}\n", properties.join(","), escaped(text))
}

fn escaped(text: &str) -> String {
    // A newline is one again where the annotation is shown.
    as_output(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_properties_are_escaped_as_githubs_toolkit_does() {
        let text = "50 %, a:b\nc";
        assert_eq!(
            command("error", &[("title", text.to_owned())], text),
            "::error title=50 %25%2C a%3Ab%0Ac::50 %25, a:b%0Ac\n"
        );
        let text = "a\u{1b}[31m\r\n::error::b ##[c";
        assert_eq!(
            command("error", &[], text),
            "::error ::a\\u001b[31m\\r%0A\\u003a:error::b #\\u0023[c\n"
        );
    }
}
