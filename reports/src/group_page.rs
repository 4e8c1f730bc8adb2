//! The groups of a run as text for a terminal: one block a cause, two screens in all.
//!
//! If there are more causes than blocks, causes that differ in their finest facts only are told
//! together: first without the action, then without the layer, then without the role. What does not fit then has a line
//! each. Start at [`groups_page`].

use std::{collections::BTreeSet, fmt::Write as _};

use crate::{
    Cause, DrillName, DrillReport, Finding, RunReport, Style, counted,
    group::{Group, told},
    terminal::failure_lines,
};

/// The lines of all blocks: two screens of 50 lines. Chosen.
const PAGE_LINES: usize = 96;

/// The largest number of lines of a block.
const BLOCK_LINES_MAX: usize = 20;

/// The largest number of blocks: each has room for twelve lines, so that one can tell what was done before.
const BLOCKS_MAX: usize = 8;

/// The number of blocks if there are more causes, which are then told in a line each.
const BLOCKS_FEWER: usize = 6;

/// The largest number of causes that are told in a line. Chosen: what the lines leave that the blocks take less.
const FURTHER_MAX: usize = 22;

/// The largest number of causes that the search for a group names; with more it names the group's own. Chosen: as many fit
/// into two lines.
const CAUSES_MAX: usize = 4;

/// The findings of a run by cause, those that count as failures first; empty for a run without any.
/// `folder` is the run folder, as the user named it.
#[must_use]
pub fn groups_page(run: &RunReport, folder: &str, style: Style) -> String {
    let groups = fitting(&run.drills);
    let (red, excused): (Vec<Group>, Vec<Group>) =
        groups.into_iter().partition(|group| group.excuse.is_none());
    let mut page = String::new();
    let blocks = if red.len() > BLOCKS_MAX {
        BLOCKS_FEWER
    } else {
        red.len()
    };
    let lines = PAGE_LINES / blocks.clamp(1, BLOCKS_MAX);
    let lines = lines.min(if red.len() > BLOCKS_MAX {
        PAGE_LINES / BLOCKS_MAX
    } else {
        BLOCK_LINES_MAX
    });
    let (told, further) = red.split_at(blocks);
    for group in told {
        page += &block(group, &run.drills, (folder, lines), style);
    }
    page += &further_causes(further, folder);
    if !excused.is_empty() {
        let drills: BTreeSet<&DrillName> = excused.iter().flat_map(|group| &group.drills).collect();
        let causes = counted(excused.len() as u64, "known cause");
        let drills = counted(drills.len() as u64, "drill");
        writeln!(page, "{causes} in {drills}, which do not count:").expect(WRITES);
        for group in excused.iter().take(BLOCKS_MAX) {
            writeln!(page, "  {}: {}", group.headline, group.extent()).expect(WRITES);
        }
    }
    if run.summary.not_kept > 0 {
        let drills = counted(run.summary.not_kept, "failed drill");
        writeln!(
            page,
            "{drills} left no artifacts, because earlier ones of the same causes did; `--keep` keeps all"
        )
        .expect(WRITES);
    }
    page
}

/// The causes that have no block, in a line each; empty without any.
fn further_causes(groups: &[Group], folder: &str) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let mut text = format!("{}:\n", counted(groups.len() as u64, "further cause"));
    for group in groups.iter().take(FURTHER_MAX) {
        writeln!(text, "  {}: {}", group.headline, group.extent()).expect(WRITES);
    }
    if let Some(more) = groups
        .len()
        .checked_sub(FURTHER_MAX)
        .filter(|more| *more > 0)
    {
        writeln!(text, "  {more} more: {folder}/failed.txt").expect(WRITES);
    }
    text
}

/// The groups, coarse enough to be told in the blocks that there are.
pub(crate) fn fitting(drills: &[DrillReport]) -> Vec<Group> {
    let mut groups = told(drills, 0);
    for by in 1..=Cause::COARSEST {
        let red = groups.iter().filter(|group| group.excuse.is_none());
        if red.count() <= BLOCKS_MAX {
            break;
        }
        groups = told(drills, by);
    }
    groups
}

/// `drills` are those of the run, `folder` and `lines` the run folder and the room of the block.
fn block(
    group: &Group,
    drills: &[DrillReport],
    (folder, lines): (&str, usize),
    style: Style,
) -> String {
    let first = &group.first;
    let mut head = format!("{}  {}", style.red("FAIL"), style.bold(&group.headline));
    write!(head, ": {}", group.extent()).expect(WRITES);
    let mut tail = vec![
        format!("  repeat it: {}", style.bold(&first.repeat)),
        format!("  in full: {}", first.show),
    ];
    if group.drills.len() > 1 {
        let cause = group.cause.to_string();
        let mut ids = group.ids.iter();
        let is_exact = ids.all(|id| id.rsplit_once('#').is_some_and(|(_, of)| of == cause));
        let mut causes = causes(group);
        if causes.len() > CAUSES_MAX {
            causes.truncate(1);
        }
        let found = matching(&causes, is_exact, drills);
        let of_it = group.drills.iter().filter(|drill| found.contains(drill));
        let of_it = of_it.count();
        let them = match of_it == group.drills.len() {
            true => "all of them".to_owned(),
            false => format!("{of_it} of them"),
        };
        let them = match found.len() - of_it {
            0 => them,
            // A finding that follows from another is told there.
            more => format!("{them}, and {more} where this follows from another cause"),
        };
        tail.push(if is_exact {
            format!("  {them}: grep ' {cause}$' {folder}/failed.txt")
        } else {
            // Of this cause, of those that it begins, and of what follows from it.
            let causes = causes.join("|");
            let causes = match causes.contains('|') {
                true => format!("({causes})"),
                false => causes,
            };
            format!("  {them}: grep -E ' {causes}(\\.|$)' {folder}/failed.txt")
        });
    }
    let of_first = drills.iter().find(|drill| drill.drill == first.drill);
    tail.extend(of_first.and_then(|drill| further_findings(drill, &first.finding)));
    let id = &first.id;
    let more = group.ids.len() - 1;
    tail.push(if more == 0 {
        format!("  id: {id}")
    } else {
        format!("  id: {id} and {more} more")
    });
    let room = lines.saturating_sub(2 + tail.len());
    let detail = details(&first.finding, room, style);
    let mut block = format!("{head}\n  first: {}, {}\n", first.drill, first.place);
    for line in detail.into_iter().chain(tail) {
        block += &line;
        block.push('\n');
    }
    block
}

/// What else is found in the drill that a group is told by: how many findings, and of which other causes.
fn further_findings(drill: &DrillReport, told: &Finding) -> Option<String> {
    let mut further: Vec<&Finding> = drill.findings.iter().collect();
    let at = further.iter().position(|finding| *finding == told)?;
    further.remove(at);
    if further.is_empty() {
        return None;
    }
    let count = counted(further.len() as u64, "further finding");
    let own = told.cause.coarser(Cause::COARSEST).headline();
    let mut others: Vec<String> = Vec::new();
    for finding in further {
        let cause = finding.cause.coarser(Cause::COARSEST).headline();
        if cause != own && !others.contains(&cause) {
            others.push(cause);
        }
    }
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" ({})", others.join("; ")),
    };
    Some(format!(
        "  {count} in this drill{others}: repeat it with `-v`"
    ))
}

/// The drills that the search for these causes finds in `failed.txt`.
fn matching<'d>(
    causes: &[String],
    is_exact: bool,
    drills: &'d [DrillReport],
) -> BTreeSet<&'d DrillName> {
    let is_one = |found: &str| {
        causes.iter().any(|cause| {
            let rest = found.strip_prefix(cause.as_str());
            rest.is_some_and(|rest| rest.is_empty() || !is_exact && rest.starts_with('.'))
        })
    };
    let counts = |finding: &Finding| finding.excuse.is_none() && is_one(&finding.cause.to_string());
    let found = drills.iter();
    let found = found.filter(|drill| drill.findings.iter().any(counts));
    found.map(|drill| &drill.drill).collect()
}

/// The cause of a group, and those of its findings that it does not begin.
fn causes(group: &Group) -> Vec<String> {
    let cause = group.cause.to_string();
    let of_ids = group.ids.iter().filter_map(|id| id.rsplit_once('#'));
    let others: BTreeSet<&str> = of_ids
        .map(|(_, of)| of)
        .filter(|of| *of != cause && !of.starts_with(&format!("{cause}.")))
        .collect();
    let others = others.into_iter().map(str::to_owned);
    std::iter::once(cause.clone()).chain(others).collect()
}

/// The lines of a finding, at most this many. If there is no room for all, its reads are left out, then what
/// is not the first of several, then the scenario's line, and then what was done before.
pub(crate) fn details(finding: &Finding, room: usize, style: Style) -> Vec<String> {
    let without_reads = Finding {
        reads: Vec::new(),
        ..finding.clone()
    };
    let first_of_each = Finding {
        before: finding.before.iter().rev().take(1).cloned().collect(),
        expected: finding.expected.iter().take(1).cloned().collect(),
        came: finding.came.iter().take(1).cloned().collect(),
        ..without_reads.clone()
    };
    let without_line = Finding {
        line: None,
        ..first_of_each.clone()
    };
    let without_before = Finding {
        before: Vec::new(),
        ..without_line.clone()
    };
    let mut lines = Vec::new();
    for shorter in [
        finding,
        &without_reads,
        &first_of_each,
        &without_line,
        &without_before,
    ] {
        lines = failure_lines(shorter, style);
        if lines.len() <= room {
            break;
        }
    }
    lines.truncate(room);
    lines
}

const WRITES: &str = "writing to a string cannot fail";
