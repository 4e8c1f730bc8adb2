//! The findings of a run in groups, as the terminal tells them: what is wrong with the monitor, on the first screen.

use maud::{Markup, html};

use super::{anchor, command};
use crate::{
    Finding, Group, RunReport, Style, counted, group_page::fitting, terminal::failure_lines,
};

pub(super) fn findings(run: &RunReport) -> Markup {
    let groups = fitting(&run.drills);
    let (red, excused): (Vec<Group>, Vec<Group>) =
        groups.into_iter().partition(|group| group.excuse.is_none());
    html! {
        @if !red.is_empty() {
            section {
                h2 { "What is wrong: " (counted(red.len() as u64, "cause")) }
                p.hint { "Begin at the first: it is in the most drills. One mistake of a monitor often leads to several causes: mend it, and run again." }
                ol.groups { @for (place, group) in red.iter().enumerate() { (block(group, place == 0)) } }
            }
        }
        @if !excused.is_empty() {
            section {
                details {
                    summary { h2 { "Known, which does not count: " (counted(excused.len() as u64, "cause")) } }
                    ol.groups { @for group in &excused { (block(group, false)) } }
                }
            }
        }
    }
}

/// A cause; the one that is open shows its first drill at once.
fn block(group: &Group, is_open: bool) -> Markup {
    let first = &group.first;
    // The reads are told with the drill: here they would push the other causes off the screen.
    let finding = Finding {
        reads: Vec::new(),
        ..first.finding.clone()
    };
    let drills = counted(group.drills.len() as u64, "drill");
    html! {
        li {
            details open[is_open] {
                summary {
                    span.headline { (group.headline) }
                    " "
                    span.extent { (group.extent()) }
                }
                pre tabindex="0" { (failure_lines(&finding, Style::default()).join("\n")) }
                p { "In the scenario: " code { (first.place) } }
                p { "Repeat it: " (command(&first.repeat)) }
                p { "In full: " (command(&first.show)) }
                p { "Id, for " code { "known.toml" } ": " code { (first.id) } }
                @if group.drills.len() > 1 {
                    details {
                        summary { "All " (drills) }
                        ul.drills {
                            @for drill in &group.drills {
                                li { a href=(format!("#{}", anchor(drill))) { (drill) } }
                            }
                        }
                    }
                }
            }
            p.first { "First: " a href=(format!("#{}", anchor(&first.drill))) { (first.drill) } }
        }
    }
}
