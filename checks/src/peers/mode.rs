//! How many active ports are expected of each card of a group.

use std::collections::BTreeMap;

/// The most frequent number of healthy ports; `None` for a group of one, a tie, or zero.
pub(crate) fn mode(counts: &[usize]) -> Option<usize> {
    if counts.len() < 2 {
        return None;
    }
    let mut tally: BTreeMap<usize, usize> = BTreeMap::new();
    for count in counts {
        *tally.entry(*count).or_default() += 1;
    }
    let most = tally.values().copied().max()?;
    let mut modes = tally.iter().filter(|(_, times)| **times == most);
    match (modes.next(), modes.next()) {
        (Some((0, _)), _) | (None, _) | (_, Some(_)) => None,
        (Some((mode, _)), None) => Some(*mode),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&[], None)]
    #[case(&[1], None)]
    #[case(&[1, 1], Some(1))]
    #[case(&[1, 0], None)]
    #[case(&[0, 0, 1], None)]
    #[case(&[2, 2, 1], Some(2))]
    #[case(&[2, 2, 1, 1], None)]
    #[case(&[2, 2, 2, 2, 2, 2, 2, 0], Some(2))]
    fn a_mode_is_evidence_only_when_it_is_one(
        #[case] counts: &[usize],
        #[case] want: Option<usize>,
    ) {
        assert_eq!(mode(counts), want);
    }

    proptest! {
        #[test]
        fn the_order_of_cards_is_no_evidence(mut counts in proptest::collection::vec(0_usize..3, 0..10)) {
            let before = mode(&counts);
            counts.reverse();
            prop_assert_eq!(mode(&counts), before);
        }
    }
}
