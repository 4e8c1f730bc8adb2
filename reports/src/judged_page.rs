//! How much of a run was judged, as text: the last line, and the reasons of what was not.

use std::{collections::BTreeMap, fmt::Write as _};

use crate::{BROKE_OFF, DrillReport, Judged, JudgedBy, LeftOut, RunReport, Style, Summary};

/// The last line of a run: `judged N of M expectations (P %)`, of what if not of all, by what if not by promises, and why if
/// none was. Promises are advised where they help: of a drill that broke off, and without any drill, they judge nothing.
#[must_use]
pub fn judged_line(summary: &Summary, by: &JudgedBy) -> String {
    let judged = &summary.judged;
    if summary.not_reached > 0 && summary.drills == 0 {
        return format!("{judged}: no drill was played");
    }
    let counts = match summary.not_reached {
        0 => judged.to_string(),
        _ => format!("{judged}, of the drills that were played"),
    };
    let mut reasons = judged.not_judged.keys();
    let rows_help = judged.not_judged.is_empty() || reasons.any(|reason| reason != BROKE_OFF);
    let advice = |text: String| if rows_help { text } else { String::new() };
    match by {
        JudgedBy::Promises if judged.is_nothing() => {
            let reasons: Vec<&str> = judged.not_judged.keys().map(String::as_str).collect();
            let reasons = reasons.join(", ");
            let advice = advice(
                "; write rows, or the keys of `wire` that are named, about what was drilled under `promises:` of the \
                 monitor's descriptor, `nicdrill fit` proposes them"
                    .to_owned(),
            );
            format!("{counts}: {reasons}{advice}")
        }
        JudgedBy::Promises => counts,
        JudgedBy::Laws { monitor } => {
            let advice = advice(format!(
                "; `nicdrill fit {monitor}` proposes `promises:` for its descriptor"
            ));
            format!(
                "{counts}: the monitor promises nothing, so it is judged by the laws alone{advice}"
            )
        }
        JudgedBy::Documents => format!("{counts}, judged by the documents' rows"),
        JudgedBy::Needs { file } => format!("{counts}, judged by needs of {file}"),
    }
}

/// The lines about an expectation of a drill that was not judged.
pub(crate) fn left_out_lines(left_out: &LeftOut) -> String {
    let LeftOut {
        line,
        reason,
        count,
    } = left_out;
    let times = match count {
        1 => String::new(),
        _ => format!(" ({count} times)"),
    };
    let head = format!("  not judged: {}: {reason}{times}\n", line.place);
    let text = line.text.lines().map(|text| format!("      | {text}\n"));
    std::iter::once(head).chain(text).collect()
}

/// Why expectations, and parts of them, were not judged: how many, for which reason, and in which drill first.
#[must_use]
pub fn not_judged_page(run: &RunReport, style: Style) -> String {
    let Judged {
        not_judged, parts, ..
    } = &run.summary.judged;
    if not_judged.is_empty() && parts.is_empty() {
        return "every expectation was judged as a whole\n".to_owned();
    }
    let mut page = table(run, style, "not judged", not_judged, |judged| {
        &judged.not_judged
    });
    page += &table(run, style, "judged but for", parts, |judged| &judged.parts);
    page
}

/// A table of reasons, the most frequent first; empty without any.
fn table(
    run: &RunReport,
    style: Style,
    title: &str,
    counts: &BTreeMap<String, u64>,
    of: fn(&Judged) -> &BTreeMap<String, u64>,
) -> String {
    if counts.is_empty() {
        return String::new();
    }
    let mut rows: Vec<(&String, u64)> = counts
        .iter()
        .map(|(reason, count)| (reason, *count))
        .collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let width = counts.keys().map(|reason| reason.chars().count()).max();
    let width = width.unwrap_or_default().max(title.len());
    let head = format!("  count  {title:<width$}  first drill");
    let mut page = style.bold(&head) + "\n";
    for (reason, count) in rows {
        let has = |drill: &&DrillReport| of(&drill.judged).contains_key(reason);
        let first = run.drills.iter().find(has);
        let first = first.map_or_else(String::new, |drill| drill.drill.to_string());
        let line = format!("{count:>7}  {reason:<width$}  {first}");
        writeln!(page, "{}", line.trim_end()).expect("writing to a string cannot fail");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged_line(judged: &Judged, by: &JudgedBy) -> String {
        let summary = Summary {
            judged: judged.clone(),
            ..Summary::default()
        };
        super::judged_line(&summary, by)
    }

    #[test]
    fn a_run_that_judged_nothing_says_what_is_not_promised_and_where_to_write_it() {
        let mut judged = Judged::default();
        judged.leave_out("no promise about `disabled`");
        judged.leave_out("no promise about `wire.first_poll`");
        assert_eq!(
            judged_line(&judged, &JudgedBy::Promises),
            "judged 0 of 2 expectations (0 %): no promise about `disabled`, no promise about `wire.first_poll`; write rows, \
             or the keys of `wire` that are named, about what was drilled under `promises:` of the monitor's descriptor, \
             `nicdrill fit` proposes them"
        );
    }

    #[test]
    fn for_what_was_not_judged_because_its_drill_broke_off_no_rows_are_advised() {
        let mut judged = Judged::default();
        judged.leave_out(BROKE_OFF);
        let laws = JudgedBy::Laws {
            monitor: "./mine".to_owned(),
        };
        for by in [JudgedBy::Promises, laws] {
            let alone = judged_line(&judged, &by);
            assert!(!alone.contains("nicdrill fit"), "{alone}");
            let mut both = judged.clone();
            both.leave_out("no promise about `card`");
            let both = judged_line(&both, &by);
            assert!(both.contains("nicdrill fit"), "{both}");
        }
        assert_eq!(
            judged_line(&judged, &JudgedBy::Promises),
            "judged 0 of 1 expectation (0 %): the drill broke off"
        );
    }

    #[test]
    fn a_run_that_is_not_judged_by_promises_says_by_what() {
        let mut judged = Judged::default();
        judged.leave_out("no promise about `card`");
        judged.judge();
        let line = |by| judged_line(&judged, &by);
        assert_eq!(
            line(JudgedBy::Promises),
            "judged 1 of 2 expectations (50 %)"
        );
        let monitor = "./mine".to_owned();
        assert_eq!(
            line(JudgedBy::Laws { monitor }),
            "judged 1 of 2 expectations (50 %): the monitor promises nothing, so it is judged by the laws alone; \
             `nicdrill fit ./mine` proposes `promises:` for its descriptor"
        );
        let file = "needs.yaml".to_owned();
        assert_eq!(
            line(JudgedBy::Needs { file }),
            "judged 1 of 2 expectations (50 %), judged by needs of needs.yaml"
        );
    }

    #[test]
    fn a_run_that_ended_early_says_of_what_it_judged() {
        let laws = JudgedBy::Laws {
            monitor: "./mine".to_owned(),
        };
        let mut summary = Summary {
            not_reached: 3,
            ..Summary::default()
        };
        // Whatever it is judged by, there is nothing to advise before the first drill.
        for by in [&JudgedBy::Promises, &laws, &JudgedBy::Documents] {
            let told = super::judged_line(&summary, by);
            assert_eq!(told, "judged 0 of 0 expectations: no drill was played");
        }
        summary.drills = 1;
        summary.judged.judge();
        let told = super::judged_line(&summary, &laws);
        let begin = "judged 1 of 1 expectation (100 %), of the drills that were played: the monitor promises nothing";
        assert!(told.starts_with(begin), "{told}");
    }
}
