//! Why a scenario fits none of some worlds, in one line. Start at [`lacking`].

use std::collections::BTreeMap;

use reports::counted;

/// What most of these worlds lack, and how many of how many lack it; `None` without a world.
///
/// Each is the name of a world and why the scenario does not fit it. Reasons that differ in the name of the world alone, or in how
/// much the world has of what is needed, are one.
pub(crate) fn lacking<'r>(unfit: impl IntoIterator<Item = (&'r str, &'r str)>) -> Option<String> {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut all: u64 = 0;
    for (world, reason) in unfit {
        let same = by_reason.entry(of_any_world(world, reason)).or_default();
        same.push(reason);
        all += 1;
    }
    // Of equals the first by name is told.
    let most = by_reason.into_iter().rev();
    let (of_any, reasons) = most.max_by_key(|(_, reasons)| reasons.len())?;
    let worlds = counted(all, "world");
    Some(match reasons.as_slice() {
        [reason] if all == 1 => format!("{reason}, in {worlds}"),
        [reason] => format!("{reason}, in 1 of {worlds}"),
        _ => format!("{of_any}, in {} of {worlds}", reasons.len()),
    })
}

/// A reason without the name of the world, and without how much that has.
fn of_any_world(world: &str, reason: &str) -> String {
    let name = format!("`{world}`");
    match reason.split_once(&format!(", {name} has ")) {
        Some((needed, _)) => format!("{needed}, which the world has not"),
        None => reason.replace(&name, "the world"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_differ_in_the_world_or_a_number_alone_are_one() {
        let few = "handle `victim` (nth: 99) needs 99 ports, `a` has 8";
        let fewer =
            "handle `victim` (nth: 99) needs 99 ports, `b` has 0: the monitor does not watch it";
        let other = "`c` is excepted";
        let told =
            "handle `victim` (nth: 99) needs 99 ports, which the world has not, in 2 of 3 worlds";
        let all = [("c", other), ("b", fewer), ("a", few)];
        assert_eq!(lacking(all).as_deref(), Some(told));
        assert_eq!(
            lacking([("c", other), ("d", "`d` is excepted")]).as_deref(),
            Some("the world is excepted, in 2 of 2 worlds")
        );
    }

    #[test]
    fn the_reason_of_one_world_names_it() {
        let few = "`compute_cards: >= 500` is asked for, `a` has 8";
        assert_eq!(lacking([("a", few)]), Some(format!("{few}, in 1 world")));
        let other = ("b", "`b` is excepted");
        assert_eq!(
            lacking([("a", few), other]),
            Some(format!("{few}, in 1 of 2 worlds"))
        );
        assert_eq!(lacking([]), None);
    }
}
