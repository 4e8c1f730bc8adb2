//! Lanes for a terminal: a row of columns for each, of equal width whatever the colours, the legend, and what happened
//! in order of time. Start at [`lanes_page`].

use std::fmt::Write as _;

use super::{Lane, Lanes, Mark, MarkKind, seconds};
use crate::Style;

/// The least number of columns of the time line. Chosen: a narrower picture shows nothing.
const COLUMNS_MIN: usize = 16;

/// The most columns of a tick. Chosen: marks of neighbouring polls still look like neighbours.
const COLUMNS_OF_TICK_MAX: usize = 4;

/// The most characters of the name of a lane; longer ones are cut.
const NAME_MAX: usize = 28;

/// The drill as a picture of at most this many columns, with a legend and its marks as text. A terminal that is narrower
/// than names and the shortest time line gets longer lines.
#[must_use]
pub fn lanes_page(lanes: &Lanes, width: usize, style: Style) -> String {
    let scale = Scale::of(lanes, width);
    let mut page = scale.ruler(lanes);
    for lane in &lanes.lanes {
        page += &scale.rows(lane, style);
    }
    if lanes.quiet_ports > 0 {
        let ports = crate::counted(lanes.quiet_ports as u64, "port");
        line(
            &mut page,
            &format!("{ports} without a row: nothing happened to them"),
        );
    }
    page.push('\n');
    let legend = lanes
        .kinds()
        .into_iter()
        .map(|kind| format!("{} {}", kind.sign(), kind.words()));
    let legend = ["_ well".to_owned(), "# not well".to_owned()]
        .into_iter()
        .chain(legend);
    page += &wrapped("marks: ", &legend.collect::<Vec<_>>(), width);
    page.push('\n');
    page += &told(lanes);
    page
}

/// How ticks become columns.
struct Scale {
    names: usize,
    ticks: usize,
    columns: usize,
}

impl Scale {
    fn of(lanes: &Lanes, width: usize) -> Self {
        let names = lanes.lanes.iter().map(|lane| name(lane).chars().count());
        let names = names.max().unwrap_or_default().max("time".len());
        let ticks = lanes.times_ms.len().max(1);
        let room = width.saturating_sub(names + 2).max(COLUMNS_MIN);
        Self {
            names,
            ticks,
            columns: room.min(ticks * COLUMNS_OF_TICK_MAX),
        }
    }

    /// The column of a tick: of its first one if it has several. Ticks after the last share its column.
    fn column(&self, tick: u64) -> usize {
        let tick = usize::try_from(tick).unwrap_or(usize::MAX);
        tick.min(self.ticks - 1) * self.columns / self.ticks
    }

    /// The line of times: one wherever it does not touch the one before.
    fn ruler(&self, lanes: &Lanes) -> String {
        let mut ruler = String::new();
        let (mut end, mut last) = (0, None);
        for (tick, ms) in (0..).zip(&lanes.times_ms) {
            let text = seconds(*ms);
            let column = self.column(tick);
            let is_free = last.is_none() || column > end + 1;
            if is_free && column + text.len() <= self.columns {
                let gap = column - ruler.len();
                ruler.push_str(&" ".repeat(gap));
                ruler.push_str(&text);
                (end, last) = (ruler.len(), Some(tick));
            }
        }
        let mut page = String::new();
        line(&mut page, &format!("{:<1$}  {ruler}", "time", self.names));
        page
    }

    /// The rows of a lane: one, and further ones for marks whose column is taken.
    fn rows(&self, lane: &Lane, style: Style) -> String {
        let mut first = vec![(' ', None); self.columns];
        for stretch in &lane.stretches {
            let from = self.column(stretch.from);
            let to = match usize::try_from(stretch.to) {
                Ok(last) if last + 1 < self.ticks => self.column(stretch.to + 1),
                _ => self.columns,
            };
            let sign = if stretch.is_well { '_' } else { '#' };
            // Of ticks that share a column, one that is not well is seen.
            for cell in &mut first[from..to.max(from + 1)] {
                if cell.0 != '#' {
                    cell.0 = sign;
                }
            }
        }
        let mut rows = vec![first];
        let mut marks: Vec<&Mark> = lane.marks.iter().collect();
        marks.sort_by_key(|mark| (mark.kind, mark.tick));
        for mark in marks {
            let column = self.column(mark.tick);
            let is_drawn = |row: &Vec<(char, Option<MarkKind>)>| row[column].1 == Some(mark.kind);
            if rows.iter().any(is_drawn) {
                continue;
            }
            let free = rows.iter().position(|row| row[column].1.is_none());
            let at = free.unwrap_or_else(|| {
                rows.push(vec![(' ', None); self.columns]);
                rows.len() - 1
            });
            rows[at][column] = (mark.kind.sign(), Some(mark.kind));
        }
        let mut text = String::new();
        for (at, row) in rows.iter().enumerate() {
            let head = if at == 0 { name(lane) } else { String::new() };
            let cells: String = row.iter().map(|cell| drawn(*cell, style)).collect();
            line(&mut text, &format!("{head:<0$}  {cells}", self.names));
        }
        text
    }
}

/// A cell with its colour.
fn drawn((sign, kind): (char, Option<MarkKind>), style: Style) -> String {
    let text = sign.to_string();
    match kind {
        Some(MarkKind::Wrong | MarkKind::Missed) => style.red(&text),
        Some(MarkKind::Met | MarkKind::Healthy) => style.green(&text),
        Some(MarkKind::NonFatal | MarkKind::NotJudged | MarkKind::Refused) => style.yellow(&text),
        Some(MarkKind::Fatal | MarkKind::Step | MarkKind::Exit) => style.bold(&text),
        None if sign == '#' => style.yellow(&text),
        _ => text,
    }
}

/// Every mark in order of time, and the first state of each lane. Reads are a line each.
fn told(lanes: &Lanes) -> String {
    let mut page = String::new();
    for lane in &lanes.lanes {
        if let Some(first) = lane.stretches.first()
            && !first.is_well
        {
            line(&mut page, &format!("{lane} begins: {}", first.text));
        }
    }
    let marks = lanes
        .lanes
        .iter()
        .flat_map(|lane| lane.marks.iter().map(move |mark| (lane, mark)));
    let mut marks: Vec<(&Lane, &Mark)> = marks.collect();
    marks.sort_by_key(|(_, mark)| mark.tick);
    let mut before = None;
    for (lane, mark) in marks {
        if before.replace(mark.tick) != Some(mark.tick) {
            line(&mut page, &lanes.time(mark.tick));
        }
        let mut texts = mark.text.lines();
        let first = texts.next().unwrap_or_default();
        line(
            &mut page,
            &format!("  {} {lane}: {first}", mark.kind.sign()),
        );
        for text in texts {
            line(&mut page, &format!("      {text}"));
        }
    }
    page
}

fn name(lane: &Lane) -> String {
    let name = lane.to_string();
    if name.chars().count() <= NAME_MAX {
        return name;
    }
    let mut cut: String = name.chars().take(NAME_MAX - 1).collect();
    cut.push('…');
    cut
}

/// Words with commas between them, on lines of this width.
fn wrapped(head: &str, words: &[String], width: usize) -> String {
    let mut text = String::new();
    let mut row = head.to_owned();
    for (at, word) in words.iter().enumerate() {
        let word = match at + 1 == words.len() {
            true => word.clone(),
            false => format!("{word}, "),
        };
        let is_full = row.chars().count() + word.trim_end().chars().count() > width;
        if is_full && row.trim() != head.trim() && !row.trim().is_empty() {
            line(&mut text, &row);
            row = " ".repeat(head.len());
        }
        row += &word;
    }
    line(&mut text, &row);
    text
}

fn line(page: &mut String, text: &str) {
    writeln!(page, "{}", text.trim_end()).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{LaneOf, Stretch};

    fn mark(tick: u64, kind: MarkKind, text: &str) -> Mark {
        Mark {
            tick,
            since: None,
            kind,
            text: text.to_owned(),
        }
    }

    fn stretch(from: u64, to: u64, is_well: bool, text: &str) -> Stretch {
        Stretch {
            from,
            to,
            is_well,
            text: text.to_owned(),
        }
    }

    /// A port that is down for two of six polls, a fatal event that is late, and nothing when it is up again.
    fn example() -> Lanes {
        Lanes {
            times_ms: (0..6).map(|tick| tick * 1500).collect(),
            lanes: vec![
                Lane {
                    of: LaneOf::Port,
                    name: "mlx5_0/1".to_owned(),
                    stretches: vec![
                        stretch(0, 1, true, "ACTIVE"),
                        stretch(2, 3, false, "DOWN"),
                        stretch(4, 5, true, "ACTIVE"),
                    ],
                    marks: vec![
                        mark(2, MarkKind::Step, "disable victim"),
                        mark(2, MarkKind::Missed, "fatal victim\ncame: nothing"),
                        mark(3, MarkKind::Fatal, "fatal NIC=mlx5_0"),
                    ],
                },
                Lane {
                    of: LaneOf::Monitor,
                    name: String::new(),
                    stretches: Vec::new(),
                    marks: vec![mark(5, MarkKind::Exit, "exit code 3")],
                },
            ],
            quiet_ports: 7,
            ..Lanes::default()
        }
    }

    #[test]
    fn marks_stand_in_the_column_of_their_poll_and_stack_where_they_meet() {
        let page = lanes_page(&example(), 80, Style::default());
        assert_eq!(
            page,
            "\
time           0s  1.5s    4.5s    7.5s
port mlx5_0/1  ________✗###F###________
                       *
monitor                            E
7 ports without a row: nothing happened to them

marks: _ well, # not well, ✗ expectation missed, * step of the story,
       F said fatal, accepted, E the monitor ended

poll 2, 3s
  * port mlx5_0/1: disable victim
  ✗ port mlx5_0/1: fatal victim
      came: nothing
poll 3, 4.5s
  F port mlx5_0/1: fatal NIC=mlx5_0
poll 5, 7.5s
  E monitor: exit code 3
"
        );
    }

    /// The text without escape sequences.
    fn plain(text: &str) -> String {
        let mut parts = text.split('\u{1b}');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            text + part.split_once('m').map_or("", |(_, rest)| rest)
        })
    }

    proptest! {
        #[test]
        fn colours_move_nothing_and_no_row_is_wider_than_the_terminal(width in 40usize..200) {
            let page = lanes_page(&example(), width, Style::default());
            let coloured = lanes_page(&example(), width, Style { color: true });
            prop_assert_eq!(plain(&coloured), page.clone());
            let (picture, _) = page.split_once("\n\n").expect("the legend follows");
            for row in picture.lines() {
                prop_assert!(row.chars().count() <= width.max(47), "{}", row);
            }
        }
    }
}
