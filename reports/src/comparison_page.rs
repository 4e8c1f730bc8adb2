//! A comparison of monitors as a table for the terminal. Start at [`comparison_page`].

use std::{collections::BTreeSet, fmt::Write as _};

use crate::{
    AlarmCount, ComparedMonitor, Comparison, Estimate, FaultCount, Spread, Style, Weighted, counted,
};

/// The title of what descriptors promise less of.
const CONCEDED: &str = "promises less than the documents ask";

/// Above how many kinds only their number is told. Chosen: what was found by drills stays most of the table.
const CONCEDED_MAX: usize = 8;

/// The comparison as text: a block for each question, a column for each monitor.
#[must_use]
pub fn comparison_page(comparison: &Comparison, style: Style) -> String {
    let played: Vec<&ComparedMonitor> = comparison
        .monitors
        .iter()
        .filter(|monitor| monitor.not_played.is_none())
        .collect();
    let mut page = String::new();
    let drills = comparison.drills.len();
    line(
        &mut page,
        &format!(
            "{drills} drill{}, judged by needs of {}; times are simulated: least/median/most",
            if drills == 1 { "" } else { "s" },
            comparison.needs
        ),
    );
    if !played.is_empty() {
        let table = Table::of(&played, comparison);
        page += &table.text(style);
    }
    for monitor in &comparison.monitors {
        if let Some(reason) = &monitor.not_played {
            let stop = style.red("STOP");
            line(&mut page, &format!("{stop}  {}: {reason}", monitor.name));
        }
        let left_out: u64 = monitor.left_out.values().sum();
        let most = monitor.left_out.iter().max_by_key(|(_, count)| **count);
        if let Some((reason, count)) = most {
            let name = &monitor.name;
            let text = format!(
                "left out: {left_out} scenario{} that {name} cannot play; {count}: {reason}",
                if left_out == 1 { "" } else { "s" }
            );
            line(&mut page, &text);
        }
    }
    let not_drilled: BTreeSet<&str> = played
        .iter()
        .filter_map(|monitor| monitor.weighted.as_ref())
        .flat_map(|weighted| weighted.not_drilled.iter().map(String::as_str))
        .collect();
    if !not_drilled.is_empty() {
        let kinds: Vec<&str> = not_drilled.into_iter().collect();
        let kinds = kinds.join(", ");
        line(
            &mut page,
            &format!("not drilled, so without a part in the estimates: {kinds}"),
        );
    }
    page
}

fn line(page: &mut String, text: &str) {
    writeln!(page, "{}", text.trim_end()).expect("writing to a string cannot fail");
}

/// Blocks of rows with one cell for each monitor.
pub(crate) struct Table {
    pub(crate) names: Vec<String>,
    pub(crate) blocks: Vec<Block>,
}

/// The rows of a question: a word, and a cell for each monitor.
pub(crate) struct Block {
    pub(crate) title: String,
    pub(crate) rows: Vec<(String, Vec<String>)>,
}

impl Table {
    /// The table of the monitors that were played; empty without any.
    pub(crate) fn of_all(comparison: &Comparison) -> Self {
        let played = comparison.monitors.iter();
        let played: Vec<&ComparedMonitor> = played.filter(|it| it.not_played.is_none()).collect();
        Self::of(&played, comparison)
    }

    fn of(played: &[&ComparedMonitor], comparison: &Comparison) -> Self {
        let all = |of: fn(&ComparedMonitor) -> Vec<&str>| -> BTreeSet<String> {
            let words = played.iter().flat_map(|monitor| of(monitor));
            words.map(str::to_owned).collect()
        };
        let faults = all(|it| it.faults.keys().map(String::as_str).collect());
        let block = |title: &str,
                     kinds: &BTreeSet<String>,
                     cell: &dyn Fn(&ComparedMonitor, &str) -> String| {
            let row = |kind: &String| {
                let cells: Vec<String> = played.iter().map(|it| cell(it, kind)).collect();
                (kind.clone(), cells)
            };
            let rows = kinds.iter().map(row);
            let rows = rows.filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()));
            Block {
                title: title.to_owned(),
                rows: rows.collect(),
            }
        };
        let of_faults = |cell: fn(&FaultCount) -> String| {
            move |monitor: &ComparedMonitor, kind: &str| {
                monitor.faults.get(kind).map(cell).unwrap_or_default()
            }
        };
        let alarms = all(|it| it.false_alarms.keys().map(String::as_str).collect());
        let is_told = |kind: &String| {
            let of_kind = played.iter().filter_map(|it| it.false_alarms.get(kind));
            of_kind.map(|count| count.alarmed).sum::<u64>() > 0
        };
        let alarms: BTreeSet<String> = alarms.into_iter().filter(is_told).collect();
        let mut blocks = vec![
            block("noticed, and when", &faults, &of_faults(noticed)),
            block("taken back, and when", &faults, &of_faults(cleared)),
            block("false alarms on", &alarms, &|monitor, kind| {
                monitor
                    .false_alarms
                    .get(kind)
                    .map_or_else(String::new, false_alarms)
            }),
            block(
                "false alarms that stand to the end",
                &alarms,
                &|monitor, kind| {
                    let count = monitor.false_alarms.get(kind);
                    count.map_or_else(String::new, standing)
                },
            ),
            block("went blind to", &faults, &of_faults(blind)),
        ];
        for block in &mut blocks {
            for (word, _) in &mut block.rows {
                if word.is_empty() {
                    "(nothing)".clone_into(word);
                }
            }
        }
        let broken = played.iter().map(|it| match it.broken.len() {
            0 => String::new(),
            1 => "1 drill".to_owned(),
            several => format!("{several} drills"),
        });
        let broken: Vec<String> = broken.collect();
        if broken.iter().any(|cell| !cell.is_empty()) {
            blocks.push(Block {
                title: "crashed or hung in".to_owned(),
                rows: vec![(String::new(), broken)],
            });
        }
        let conceded = all(|it| it.conceded.keys().map(String::as_str).collect());
        let in_short = |monitor: &ComparedMonitor, kind: &str| {
            let conceded = monitor.conceded.get(kind);
            conceded.map_or_else(String::new, |it| it.in_short.clone())
        };
        blocks.push(match conceded.len() <= CONCEDED_MAX {
            true => block(CONCEDED, &conceded, &in_short),
            false => {
                let counts = played.iter().map(|it| match it.conceded.len() {
                    0 => String::new(),
                    kinds => counted(kinds as u64, "kind"),
                });
                Block {
                    title: format!("{CONCEDED}; `nicdrill run --monitor … --not-judged` lists it"),
                    rows: vec![(String::new(), counts.collect())],
                }
            }
        });
        if let Some(mix) = &comparison.mix {
            let row = |word: &str, of: fn(&Weighted) -> &Estimate| {
                let cells = played.iter().map(|it| {
                    let weighted = it.weighted.as_ref();
                    weighted.map_or_else(String::new, |it| estimate(of(it)))
                });
                (word.to_owned(), cells.collect())
            };
            blocks.push(Block {
                title: format!("per 1,000 nodes and month, by {mix}"),
                rows: vec![
                    row("false drains", |it| &it.false_drains),
                    row("missed faults", |it| &it.missed_faults),
                ],
            });
        }
        blocks.retain(|block| !block.rows.is_empty());
        Self {
            names: played.iter().map(|monitor| monitor.name.clone()).collect(),
            blocks,
        }
    }

    fn text(&self, style: Style) -> String {
        let width = |text: &str| text.chars().count();
        let rows = || self.blocks.iter().flat_map(|block| &block.rows);
        let first = rows().map(|(word, _)| width(word) + 2);
        let first = first.max().unwrap_or_default();
        // Only the title of the first block stands beside the names.
        let title = self.blocks.first().map(|block| width(&block.title));
        let first = first.max(title.unwrap_or_default());
        let columns: Vec<usize> = (0..self.names.len())
            .map(|at| {
                let cells = rows().map(|(_, cells)| width(&cells[at]));
                cells.fold(width(&self.names[at]), usize::max)
            })
            .collect();
        let joined = |word: &str, cells: &[String]| {
            let mut text = format!("{word:<first$}");
            for (cell, width) in cells.iter().zip(&columns) {
                write!(text, "  {cell:<width$}").expect("writing to a string cannot fail");
            }
            text.trim_end().to_owned()
        };
        let mut page = String::new();
        for (at, block) in self.blocks.iter().enumerate() {
            let head = if at == 0 {
                joined(&block.title, &self.names)
            } else {
                block.title.clone()
            };
            line(&mut page, &style.bold(&head));
            for (word, cells) in &block.rows {
                line(&mut page, &joined(&format!("  {word}"), cells));
            }
        }
        page
    }
}

fn noticed(count: &FaultCount) -> String {
    if count.faults == 0 {
        return String::new();
    }
    let mut parts = vec![of(count.in_time + count.late, count.faults)];
    parts.extend(count.noticed_after_ms.map(spread));
    let mut cell = parts.join("  ");
    more(&mut cell, count.late, "late");
    more(&mut cell, count.never, "never");
    more(&mut cell, count.too_short, "short");
    cell
}

fn cleared(count: &FaultCount) -> String {
    let all = count.cleared_in_time + count.cleared_late + count.cleared_never;
    match count.in_time + count.late {
        0 => return String::new(),
        noticed if all == 0 => return format!("{noticed} not over, or too short to tell"),
        _ => {}
    }
    let mut parts = vec![of(count.cleared_in_time + count.cleared_late, all)];
    parts.extend(count.cleared_after_ms.map(spread));
    let mut cell = parts.join("  ");
    more(&mut cell, count.cleared_late, "late");
    more(&mut cell, count.cleared_never, "never");
    cell
}

fn false_alarms(count: &AlarmCount) -> String {
    of(count.alarmed, count.happened)
}

/// Of those that alarmed; nothing if none stands.
fn standing(count: &AlarmCount) -> String {
    match count.standing {
        0 => String::new(),
        standing => of(standing, count.alarmed),
    }
}

fn blind(count: &FaultCount) -> String {
    let after = count.blind_after.iter();
    let after: Vec<String> = after
        .map(|(kind, count)| format!("{count} after {kind}"))
        .collect();
    after.join(", ")
}

/// `2 of 7`.
fn of(count: u64, all: u64) -> String {
    format!("{count} of {all}")
}

fn more(cell: &mut String, count: u64, word: &str) {
    if count > 0 {
        write!(cell, ", {count} {word}").expect("writing to a string cannot fail");
    }
}

/// `0/1.5/31 s`.
fn spread(spread: Spread) -> String {
    let seconds = |ms: u64| {
        let text = format!("{}.{:03}", ms / 1000, ms % 1000);
        let text = text.trim_end_matches('0');
        text.trim_end_matches('.').to_owned()
    };
    let Spread {
        least,
        median,
        most,
    } = spread;
    format!("{}/{}/{} s", seconds(least), seconds(median), seconds(most))
}

/// `1.20 (0.60 to 2.40, by slow)`.
fn estimate(estimate: &Estimate) -> String {
    let Estimate {
        value,
        least,
        most,
        depends_on,
    } = estimate;
    match depends_on {
        None => "0".to_owned(),
        Some(kind) => {
            let decimals = if *value < 10.0 { 2 } else { 0 };
            format!("{value:.decimals$} ({least:.decimals$} to {most:.decimals$}, by {kind})")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ComparedMonitor, Conceded, DrillName};

    fn drill() -> DrillName {
        "port/example@dgx-h100".parse().expect("a drill's name")
    }

    #[test]
    fn what_is_promised_less_in_many_kinds_is_told_by_their_number() {
        let monitor = |name: &str, kinds: usize| ComparedMonitor {
            name: name.to_owned(),
            conceded: (0..kinds)
                .map(|kind| {
                    let milder = Conceded {
                        in_short: "milder".to_owned(),
                        ..Conceded::default()
                    };
                    (format!("kind-{kind}"), milder)
                })
                .collect(),
            ..ComparedMonitor::default()
        };
        let of = |most: usize| {
            let comparison = Comparison {
                needs: "example".to_owned(),
                drills: vec![drill()],
                monitors: vec![monitor("one", most), monitor("two", 1)],
                ..Comparison::default()
            };
            comparison_page(&comparison, Style::default())
        };
        let listed = of(CONCEDED_MAX);
        assert_eq!(listed.matches("  kind-").count(), CONCEDED_MAX, "{listed}");
        let counted = of(CONCEDED_MAX + 1);
        assert!(!counted.contains("kind-"), "{counted}");
        let lists = "; `nicdrill run --monitor … --not-judged` lists it";
        assert!(counted.contains(lists), "{counted}");
        let row = counted.lines().last().unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells, ["9", "kinds", "1", "kind"], "{counted}");
    }

    #[test]
    fn a_table_has_a_block_for_each_question_and_a_column_for_each_monitor() {
        let polling = FaultCount {
            faults: 5,
            in_time: 3,
            late: 1,
            never: 1,
            noticed_after_ms: Spread::of(vec![0, 1000, 1500, 90_000]),
            cleared_in_time: 3,
            cleared_never: 1,
            cleared_after_ms: Spread::of(vec![0, 1000, 1000]),
            blind_after: [("unreadable".to_owned(), 1)].into(),
            ..FaultCount::default()
        };
        let idle = FaultCount {
            faults: 5,
            never: 4,
            too_short: 1,
            ..FaultCount::default()
        };
        let alarms = |alarmed| AlarmCount {
            happened: 7,
            alarmed,
            standing: alarmed / 2,
            ..AlarmCount::default()
        };
        let not_over = FaultCount {
            faults: 2,
            in_time: 2,
            ..FaultCount::default()
        };
        let monitor = |name: &str, count: FaultCount, nothing, reboot| ComparedMonitor {
            name: name.to_owned(),
            faults: [
                ("polling".to_owned(), count),
                ("slow".to_owned(), not_over.clone()),
            ]
            .into(),
            false_alarms: [
                (String::new(), alarms(nothing)),
                ("reboot".to_owned(), alarms(reboot)),
                ("slow".to_owned(), alarms(0)),
            ]
            .into(),
            weighted: Some(Weighted {
                false_drains: Estimate::of(&[("reboot".to_owned(), 0.5)]),
                missed_faults: Estimate::default(),
                not_drilled: vec!["sm_gone".to_owned()],
            }),
            ..ComparedMonitor::default()
        };
        let mut second = monitor("idle", idle, 0, 2);
        second.broken = vec![drill()];
        let milder = Conceded {
            in_short: "milder".to_owned(),
            ..Conceded::default()
        };
        second.conceded = [("polling".to_owned(), milder)].into();
        let comparison = Comparison {
            needs: "example".to_owned(),
            mix: Some("mix.yaml".to_owned()),
            drills: vec![drill()],
            monitors: vec![
                monitor("reference", polling, 1, 0),
                second,
                ComparedMonitor {
                    name: "absent".to_owned(),
                    not_played: Some("it ended by itself".to_owned()),
                    left_out: [("no port is watched".to_owned(), 3)].into(),
                    ..ComparedMonitor::default()
                },
            ],
        };
        insta::assert_snapshot!(comparison_page(&comparison, Style::default()), @"
        1 drill, judged by needs of example; times are simulated: least/median/most
        noticed, and when  reference                          idle
          polling          4 of 5  0/1/90 s, 1 late, 1 never  0 of 5, 4 never, 1 short
          slow             2 of 2                             2 of 2
        taken back, and when
          polling          3 of 4  0/1/1 s, 1 never
          slow             2 not over, or too short to tell   2 not over, or too short to tell
        false alarms on
          (nothing)        1 of 7                             0 of 7
          reboot           0 of 7                             2 of 7
        false alarms that stand to the end
          reboot                                              1 of 2
        went blind to
          polling          1 after unreadable
        crashed or hung in
                                                              1 drill
        promises less than the documents ask
          polling                                             milder
        per 1,000 nodes and month, by mix.yaml
          false drains     0.50 (0.25 to 1.00, by reboot)     0.50 (0.25 to 1.00, by reboot)
          missed faults    0                                  0
        STOP  absent: it ended by itself
        left out: 3 scenarios that absent cannot play; 3: no port is watched
        not drilled, so without a part in the estimates: sm_gone
        ");
    }
}
