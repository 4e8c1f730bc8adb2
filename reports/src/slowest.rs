//! The drills that took longest. Start at [`slowest_page`].

use std::{cmp::Reverse, time::Duration};

use crate::{DrillName, DrillReport, RunReport, counted};

/// The drills that took longest, the slowest first, with their milliseconds; of equal ones the first by name.
///
/// A skipped drill, and one of a report without times, is left out.
#[must_use]
pub fn slowest(drills: &[DrillReport], count: usize) -> Vec<(&DrillName, u64)> {
    let timed = drills
        .iter()
        .filter_map(|drill| Some((&drill.drill, drill.wall.ms()?)));
    let mut timed: Vec<(&DrillName, u64)> = timed.collect();
    timed.sort_by_key(|(drill, ms)| (Reverse(*ms), *drill));
    timed.truncate(count);
    timed
}

/// These drills as text, a line for each; empty without any.
#[must_use]
pub fn slowest_page(run: &RunReport, count: usize) -> String {
    let slowest = slowest(&run.drills, count);
    if slowest.is_empty() {
        return String::new();
    }
    let drills = counted(slowest.len() as u64, "drill");
    let mut page = format!("slowest {drills}:\n");
    for (drill, ms) in slowest {
        page += &format!(
            "  {:>8.3} s  {drill}\n",
            Duration::from_millis(ms).as_secs_f64()
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use crate::{Judged, Outcome, Wall};

    use super::*;

    fn drill(name: &str, wall: Wall) -> DrillReport {
        DrillReport {
            drill: name.parse().unwrap(),
            outcome: Outcome::Passed,
            arms: Vec::new(),
            findings: Vec::new(),
            verdicts: Vec::new(),
            judged: Judged::default(),
            file: String::new(),
            repeat: String::new(),
            show: String::new(),
            wall,
        }
    }

    #[test]
    fn the_slowest_come_first_and_equal_ones_by_name() {
        let ms = |ms: u64| Wall::default().with("ms", ms);
        let run = RunReport {
            drills: vec![
                drill("port/b@p", ms(20)),
                drill("port/skipped@p", Wall::default()),
                drill("port/a@p", ms(20)),
                drill("port/slow@p", ms(12_345)),
                drill("port/quick@p", ms(1)),
            ],
            ..RunReport::default()
        };
        assert_eq!(
            slowest_page(&run, 3),
            "slowest 3 drills:\n    12.345 s  port/slow@p\n     0.020 s  port/a@p\n     0.020 s  port/b@p\n"
        );
        assert_eq!(slowest_page(&run, 0), "");
    }
}
