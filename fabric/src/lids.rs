//! Which local identifiers of a world are for whom: hosts, subnet managers, switches.
//!
//! `cabling.rs` gives them away. Start at [`next_host`].

use std::collections::BTreeSet;

/// The subnet manager's at the world's start: the first one, as on platforms at rest.
pub(crate) const SUBNET_MANAGER: u16 = 1;

/// The last that a host is given. Chosen.
pub(crate) const LAST_HOST: u16 = 0xb001;

/// The highest of one port (IBTA volume 1, 4.1.3); a world's switches count down from here.
pub(crate) const HIGHEST: u16 = 0xbfff;

/// That of the nth subnet manager, from 1: those that take over count up behind the hosts.
pub(crate) fn of_manager(number: u16) -> u16 {
    match number {
        1 => SUBNET_MANAGER,
        later => LAST_HOST.saturating_add(later - 1),
    }
}

/// A new host's: the one after the highest that is taken, or the lowest free one if that is not a host's
/// any more.
pub(crate) fn next_host(taken: &BTreeSet<u16>) -> u16 {
    let first = SUBNET_MANAGER + 1;
    let highest = taken.last().map_or(first, |lid| lid.saturating_add(1));
    let mut lids = (highest.max(first)..=LAST_HOST).chain(first..=LAST_HOST);
    lids.find(|lid| !taken.contains(lid)).unwrap_or(LAST_HOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_host_has_the_next_identifier_and_never_one_of_a_manager_or_a_switch() {
        let next = |taken: &[u16]| next_host(&taken.iter().copied().collect());
        assert_eq!(next(&[]), 2);
        assert_eq!(next(&[0, 7]), 8, "a port without one has 0");
        assert_eq!(next(&[2, 3, LAST_HOST]), 4);
    }

    #[test]
    fn managers_that_take_over_count_up_behind_the_hosts() {
        assert_eq!([1, 2, 3].map(of_manager), [1, 0xb002, 0xb003]);
    }
}
