//! The rows of a descriptor that are weaker than the documents ask, as a list. Start at [`conceded_page`].

use std::fmt::Write as _;

use observe::promises::Concession;

/// How many rows are listed unless all are asked for. Chosen: what stands in front of the totals stays short.
const LISTED: usize = 3;

/// What the descriptor's rows hide, row by row, each with a scenario that shows it; all of them, or the first few.
pub(crate) fn conceded_page(conceded: &[Concession], all: bool) -> String {
    let mut page = String::new();
    if conceded.is_empty() {
        return page;
    }
    let mut line = |text: &str| writeln!(page, "{text}").expect("writing to a string cannot fail");
    let rows = match conceded.len() {
        1 => "1 row".to_owned(),
        several => format!("{several} rows"),
    };
    line(&format!(
        "promised less than the documents ask in {rows}; `--against documents` judges by theirs"
    ));
    let listed = if all { conceded.len() } else { LISTED };
    for row in conceded.iter().take(listed) {
        line(&format!("  {row}"));
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

    #[test]
    fn few_rows_are_listed_unless_all_are_asked_for() {
        let kinds = ["down", "polling", "gone_device", "card"];
        let rows = kinds.map(|word| (Kind::parse(word).expect("a kind"), Row::Silent));
        let promises = Promises {
            rows: rows.into(),
            ..Promises::default()
        };
        let conceded = promises.conceded();
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
}
