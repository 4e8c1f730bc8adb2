//! What a descriptor promises less of than the documents ask, as a list: its weaker rows, and the kinds without a row. Start at
//! [`conceded_page`].

use std::fmt::Write as _;

use observe::promises::Concession;
use reports::counted;

/// How many of them are listed unless all are asked for. Chosen: what stands in front of the totals stays short.
const LISTED: usize = 3;

/// What the descriptor hides, kind by kind, each with a scenario that shows it; all of them, or the first few.
pub(crate) fn conceded_page(conceded: &[Concession], all: bool) -> String {
    let mut page = String::new();
    if conceded.is_empty() {
        return page;
    }
    let mut line = |text: &str| writeln!(page, "{text}").expect("writing to a string cannot fail");
    let rows = conceded.iter().filter(|it| it.has_row).count();
    let less = (rows > 0).then(|| {
        format!(
            "less than the documents ask in {}",
            counted(rows as u64, "row")
        )
    });
    let without = conceded.len() - rows;
    let nothing =
        (without > 0).then(|| format!("nothing about {}", counted(without as u64, "kind")));
    let both: Vec<String> = less.into_iter().chain(nothing).collect();
    line(&format!(
        "promised {}; `--against documents` judges by theirs",
        both.join(", and ")
    ));
    let listed = if all { conceded.len() } else { LISTED };
    for it in conceded.iter().take(listed) {
        line(&format!("  {it}"));
    }
    if let Some(more) = conceded.len().checked_sub(listed).filter(|more| *more > 0) {
        line(&format!("  and {more} more: `--not-judged` lists them"));
    }
    page
}

#[cfg(test)]
mod tests {
    use observe::promises::{Kind, Promises, Row};

    use super::*;

    /// Promises that are the documents' but for these rows.
    fn but_for(rows: &[(&str, Option<Row>)]) -> Vec<Concession> {
        let mut promises = Promises::default().by_documents();
        for (word, row) in rows {
            let kind = Kind::parse(word).expect("a kind");
            match row {
                Some(row) => drop(promises.rows.insert(kind, row.clone())),
                None => drop(promises.rows.remove(&kind)),
            }
        }
        promises.conceded()
    }

    #[test]
    fn few_rows_are_listed_unless_all_are_asked_for() {
        let silent =
            ["down", "polling", "gone_device", "card"].map(|word| (word, Some(Row::Silent)));
        let conceded = but_for(&silent);
        let expected = "\
promised less than the documents ask in 4 rows; `--against documents` judges by theirs
  down: not reported; `port/sleeping-and-phy-test` shows it
  polling: not reported; `port/cable-pulled` shows it
  gone_device: not reported; `device/vanishes-and-returns` shows it
  and 1 more: `--not-judged` lists them
";
        assert_eq!(conceded_page(&conceded, false), expected);
        let all = conceded_page(&conceded, true);
        assert!(
            all.ends_with("`card/one-card-down-at-start` shows it\n"),
            "{all}"
        );
        assert_eq!(conceded_page(&[], true), "");
    }

    #[test]
    fn kinds_without_a_row_are_counted_beside_the_rows() {
        let both = but_for(&[
            ("card", Some(Row::Silent)),
            ("hang", None),
            ("rename", None),
        ]);
        let expected = "\
promised less than the documents ask in 1 row, and nothing about 2 kinds; `--against documents` judges by theirs
  card: not reported; `card/one-card-down-at-start` shows it
  hang: no row, so that nothing is judged; `read/hangs-beyond-the-patience` shows it
  rename: no row, so that nothing is judged; `device/renamed-while-a-fault-stands` shows it
";
        assert_eq!(conceded_page(&both, false), expected);
        let one = conceded_page(&but_for(&[("hang", None)]), false);
        assert!(one.starts_with("promised nothing about 1 kind; "), "{one}");
    }
}
