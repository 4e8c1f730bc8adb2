//! Whether a descriptor counts the listings of a poll rightly, seen from the reads of the probe. Start at [`advice`].
//!
//! Left out: monitors with `loops` or with concurrent ones, whose listings have no fixed order.

use std::collections::BTreeSet;

use observe::{Descriptor, MonitorTick, Pace, PollUnit};

/// The operation with which a poll begins.
const LISTING: &str = "list sys/class/infiniband";

/// The first tick that counts: the first polls of a process may read more, and the pulled cables change what is read.
const SETTLED: usize = 4;

/// The largest number of listings of a poll that is looked for. Chosen: a check lists at most twice.
const LISTINGS_MAX: usize = 10;

/// What to write into the descriptor of a monitor that runs this many checks, if its reads repeat after another number of
/// listings than the descriptor says.
pub(super) fn advice(
    ticks: &[&MonitorTick],
    descriptor: &Descriptor,
    checks: usize,
) -> Option<String> {
    let polls = descriptor.pace() == Pace::Gate;
    if !polls || !descriptor.loops.is_empty() || descriptor.concurrent {
        return None;
    }
    let said = descriptor.listings(checks);
    let seen = period(ticks).filter(|seen| *seen != said)?;
    let write = match descriptor.poll_unit {
        PollUnit::Whole => format!("write `listings_per_poll: {seen}`"),
        PollUnit::Check => format!("write `listings_per_poll: {seen}` and no `poll_unit`"),
    };
    let listings = if seen == 1 { "listing" } else { "listings" };
    Some(format!(
        "its reads repeat after every {seen} {listings} of `{{root}}/sys/class/infiniband`, and its descriptor makes {said} a poll: {write}"
    ))
}

/// After how many listings the files repeat that are read, if that makes a poll; `None` if they do not repeat.
fn period(ticks: &[&MonitorTick]) -> Option<u32> {
    let operations = ticks
        .iter()
        .skip(SETTLED)
        .flat_map(|tick| tick.reads.iter());
    let mut shares: Vec<Vec<&str>> = Vec::new();
    for operation in operations {
        let (operation, _) = operation.split_once(": ").unwrap_or((operation, ""));
        if operation == LISTING {
            shares.push(Vec::new());
        }
        shares.last_mut()?.push(operation);
    }
    let repeats = |period: &usize| shares.iter().zip(&shares[*period..]).all(|(a, b)| a == b);
    let limit = LISTINGS_MAX.min(shares.len() / 2);
    let period = (1..=limit).find(repeats)?;
    let states = |share: &Vec<&'_ str>| -> BTreeSet<String> {
        let states = share.iter().filter(|of| of.ends_with("/state"));
        states.map(|of| (*of).to_owned()).collect()
    };
    let read: Vec<BTreeSet<String>> = shares[..period].iter().map(states).collect();
    // Polls that read the same states are whole, whatever else some of them read.
    match read.windows(2).all(|pair| pair[0] == pair[1]) {
        true if read[0].is_empty() => None,
        true => Some(1),
        false => u32::try_from(period).ok(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ALL: &str = "read a/ports/1/state";
    const OTHER: &str = "read b/ports/1/state";
    const COUNTER: &str = "read a/ports/1/counters/x";

    /// What is advised of listings that are followed by these reads, in turn.
    fn advised(said: u32, shares: &[&[&str]]) -> Option<String> {
        let mut next = shares.iter().cycle();
        let tick = |_| {
            let mut lines = Vec::new();
            for _ in 0..said {
                lines.push(format!("{LISTING}: 12").into());
                let share = next.next().expect("a cycle has no end");
                lines.extend(share.iter().map(|of| format!("{of}: 8").into()));
            }
            MonitorTick {
                reads: lines.into(),
                ..MonitorTick::default()
            }
        };
        let ticks: Vec<MonitorTick> = (0..13).map(tick).collect();
        let ticks: Vec<&MonitorTick> = ticks.iter().collect();
        let mut descriptor = Descriptor::of_program("m");
        descriptor.listings_per_poll = said;
        advice(&ticks, &descriptor, 2)
    }

    #[rstest]
    #[case::one(1, &[&[ALL][..]])]
    #[case::two(2, &[&[ALL][..], &[OTHER]])]
    #[case::counters_in_every_third_poll(1, &[&[ALL][..], &[ALL], &[ALL, COUNTER]])]
    #[case::no_state_is_read(2, &[&[COUNTER][..]])]
    #[case::nothing_repeats(1, &[&[ALL][..], &[OTHER], &[ALL], &[OTHER], &[ALL], &[OTHER], &[ALL], &[OTHER], &[COUNTER]])]
    fn what_fits_the_descriptor_needs_no_advice(#[case] said: u32, #[case] shares: &[&[&str]]) {
        assert_eq!(advised(said, shares), None);
    }

    #[rstest]
    #[case::one_of_two(1, &[&[ALL][..], &[OTHER]], "after every 2 listings", "makes 1 a poll: write `listings_per_poll: 2`")]
    #[case::a_check_that_finds_no_port(1, &[&[ALL][..], &[]], "after every 2 listings", "write `listings_per_poll: 2`")]
    #[case::two_for_one(2, &[&[ALL][..]], "after every 1 listing ", "makes 2 a poll: write `listings_per_poll: 1`")]
    #[case::three_for_two(3, &[&[ALL][..], &[OTHER]], "after every 2 listings", "makes 3 a poll: write `listings_per_poll: 2`")]
    fn another_number_is_told(
        #[case] said: u32,
        #[case] shares: &[&[&str]],
        #[case] seen: &str,
        #[case] write: &str,
    ) {
        let advice = advised(said, shares).expect("an advice");
        assert!(advice.contains(seen) && advice.ends_with(write), "{advice}");
    }

    #[test]
    fn a_poll_by_check_is_told_of_its_unit() {
        let lines = [LISTING, ALL, LISTING, ALL].map(|of| format!("{of}: 8").into());
        let tick = MonitorTick {
            reads: lines.to_vec().into(),
            ..MonitorTick::default()
        };
        let mut descriptor = Descriptor::of_program("m");
        descriptor.poll_unit = PollUnit::Check;
        let advice = advice(&[&tick; 13], &descriptor, 2).expect("an advice");
        assert!(
            advice.ends_with("write `listings_per_poll: 1` and no `poll_unit`"),
            "{advice}"
        );
    }
}
