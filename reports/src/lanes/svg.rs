//! Lanes as a picture of an HTML page: a row for each, with stretches as bars and marks as signs that tell their text when
//! they are pointed at or focused. Its size is in units of its own; the page scrolls it where it is narrow. Start at
//! [`lanes_svg`].

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{Lane, Lanes, Mark, MarkKind, seconds};

/// The height of a row, and the distance of rows of marks.
const ROW: usize = 18;

/// The width of the column of names.
const NAMES: usize = 170;

/// The width of the time line. Chosen: with the names it fits a desk.
const TIME: usize = 760;

/// The width of a character of the ruler.
const CHARACTER: usize = 8;

/// The most characters of a name.
const NAME_MAX: usize = 24;

/// The lanes as SVG, with this name for who cannot see it.
pub(crate) fn lanes_svg(lanes: &Lanes, name: &str) -> Markup {
    let plot = Plot {
        ticks: lanes.times_ms.len().max(1),
    };
    let rows: Vec<Row<'_>> = lanes.lanes.iter().map(|lane| plot.row(lane)).collect();
    let height = ROW + rows.iter().map(Row::height).sum::<usize>() + 4;
    let mut top = ROW;
    let mut placed = Vec::new();
    for row in rows {
        let height = row.height();
        placed.push((top, row));
        top += height;
    }
    let size = format!("0 0 {} {height}", NAMES + TIME);
    html! {
        svg.lanes viewBox=(size) width=(NAMES + TIME) height=(height) role="img" aria-label=(name) {
            @for (x, text) in plot.ruler(lanes) {
                line.grid x1=(x) x2=(x) y1=(ROW - 4) y2=(height) {}
                text.time x=(x) y=(ROW - 6) { (text) }
            }
            @for (top, row) in &placed {
                (row.drawn(*top, lanes, &plot))
            }
        }
    }
}

/// Where ticks are.
struct Plot {
    ticks: usize,
}

/// A lane with its marks on rows, so that none hides another.
struct Row<'a> {
    lane: &'a Lane,
    marks: Vec<(usize, &'a Mark, Vec<&'a Mark>)>,
    rows: usize,
}

impl Plot {
    fn x(&self, tick: u64) -> usize {
        let tick = usize::try_from(tick).unwrap_or(usize::MAX).min(self.ticks);
        NAMES + tick * TIME / self.ticks
    }

    /// The middle of a tick.
    fn middle(&self, tick: u64) -> usize {
        let last = (self.ticks as u64).saturating_sub(1);
        let tick = tick.min(last);
        usize::midpoint(self.x(tick), self.x(tick + 1))
    }

    fn ruler(&self, lanes: &Lanes) -> Vec<(usize, String)> {
        let mut end = 0;
        let mut ruler = Vec::new();
        for (tick, ms) in (0..).zip(&lanes.times_ms) {
            let (x, text) = (self.x(tick), seconds(*ms));
            let width = text.len() * CHARACTER;
            if x >= end && x + width <= NAMES + TIME {
                end = x + width + 2 * CHARACTER;
                ruler.push((x, text));
            }
        }
        ruler
    }

    /// The marks of a lane: those of one kind that would touch are one sign, and different ones stand below each other.
    fn row<'a>(&self, lane: &'a Lane) -> Row<'a> {
        let mut taken: Vec<BTreeMap<MarkKind, (usize, usize)>> = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        let mut marks: Vec<(usize, &Mark, Vec<&Mark>)> = Vec::new();
        let mut reads: Vec<&Mark> = Vec::new();
        for mark in &lane.marks {
            if mark.kind == MarkKind::Read {
                reads.push(mark);
                continue;
            }
            let x = self.middle(mark.tick);
            let same = taken.iter().find_map(|row| row.get(&mark.kind));
            if let Some((at, place)) = same
                && x < at + ROW / 2
            {
                marks[*place].2.push(mark);
                continue;
            }
            let free = ends.iter().position(|end| *end <= x);
            let row = free.unwrap_or_else(|| {
                ends.push(0);
                taken.push(BTreeMap::new());
                ends.len() - 1
            });
            ends[row] = x + ROW - 2;
            for other in &mut taken {
                other.remove(&mark.kind);
            }
            taken[row].insert(mark.kind, (x, marks.len()));
            marks.push((row, mark, vec![mark]));
        }
        marks.extend(reads.into_iter().map(|mark| (0, mark, vec![mark])));
        Row {
            lane,
            marks,
            rows: ends.len().max(1),
        }
    }
}

impl Row<'_> {
    const fn height(&self) -> usize {
        self.rows * ROW + 4
    }

    fn drawn(&self, top: usize, lanes: &Lanes, plot: &Plot) -> Markup {
        let lane = self.lane;
        let name = lane.to_string();
        let short: String = name.chars().take(NAME_MAX).collect();
        html! {
            g.lane {
                text.name x="0" y=(top + ROW - 5) { (short) @if short != name { "…" } title { (name) } }
                @for stretch in &lane.stretches {
                    @let x = plot.x(stretch.from);
                    rect.stretch.well[stretch.is_well].unwell[!stretch.is_well]
                        x=(x) y=(top + 2) width=(plot.x(stretch.to + 1) - x) height=(self.height() - 4) {
                        title { (stretch.text) ", " (lanes.time(stretch.from)) " to " (lanes.time(stretch.to)) }
                    }
                }
                @for (row, mark, all) in &self.marks {
                    @let y = top + row * ROW;
                    @if mark.kind == MarkKind::Read {
                        @let x = plot.middle(mark.tick);
                        line.read x1=(x) x2=(x) y1=(top + self.height() - 7) y2=(top + self.height() - 2) {
                            title { (lanes.time(mark.tick)) ": " (mark.text) }
                        }
                    } @else {
                        g class=(format!("mark {}", mark.kind.class())) {
                            title {
                                (lanes.time(mark.tick)) ": " (mark.kind.words())
                                @for mark in all { "\n" (mark.text) }
                            }
                            @if let Some(since) = mark.since {
                                line.window x1=(plot.middle(since)) x2=(plot.middle(mark.tick)) y1=(y + ROW - 3) y2=(y + ROW - 3) {}
                            }
                            circle cx=(plot.middle(mark.tick)) cy=(y + ROW / 2 + 2) r="7" {}
                            text x=(plot.middle(mark.tick)) y=(y + ROW / 2 + 6) { (mark.kind.sign()) }
                        }
                    }
                }
            }
        }
    }
}
