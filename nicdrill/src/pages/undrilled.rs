//! The scenarios of a user that no drill of a run is made of. Start at [`undrilled_page`].

use std::{collections::BTreeMap, fmt::Write as _};

use reports::counted;

/// How many of them are listed. Chosen: what stands in front of the totals stays short.
const LISTED: usize = 8;

/// The scenarios without a drill, by name, each with what most worlds lack for it: a note, of the first few.
pub(crate) fn undrilled_page(undrilled: &BTreeMap<String, String>) -> String {
    let mut page = String::new();
    if undrilled.is_empty() {
        return page;
    }
    let mut line = |text: &str| writeln!(page, "{text}").expect("writing to a string cannot fail");
    let verb = if undrilled.len() == 1 { "has" } else { "have" };
    let scenarios = counted(undrilled.len() as u64, "scenario");
    line(&format!("NOTE  {scenarios} {verb} no drill:"));
    for (scenario, lacking) in undrilled.iter().take(LISTED) {
        line(&format!("  {scenario}: {lacking}"));
    }
    if let Some(more) = undrilled.len().checked_sub(LISTED).filter(|more| *more > 0) {
        line(&format!(
            "  and {more} more: `nicdrill list` with the same names and flags lists them"
        ));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_scenarios_without_a_drill_are_listed_by_name() {
        assert_eq!(undrilled_page(&BTreeMap::new()), "");
        let of = |many: u64| {
            let named = (0..many).map(|nth| (format!("port/s{nth}"), "it lacks a port".to_owned()));
            undrilled_page(&named.collect())
        };
        assert_eq!(
            of(1),
            "NOTE  1 scenario has no drill:\n  port/s0: it lacks a port\n"
        );
        let page = of(10);
        assert!(
            page.starts_with("NOTE  10 scenarios have no drill:\n"),
            "{page}"
        );
        assert_eq!(page.lines().count(), 10, "{page}");
        assert!(page.contains("\n  and 2 more: "), "{page}");
    }
}
