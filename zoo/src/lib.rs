//! Wrong monitors: each is the reference monitor with one changed decision or one changed output.
//!
//! A wrong decision is a `Policy`; a wrong output is a publisher (`outputs`) that alters
//! finished events. Each has a story: a scenario in which it is right for 20 polls and then wrong.
//! No crate of the reference monitor depends on this one.

mod cards;
mod char_devices;
mod counters;
mod delivery;
mod events;
mod lost;
mod mutant;
mod outputs;
mod ports;
mod presence;
mod reboot;
mod scope;
mod starting;

pub use mutant::{Mutant, RIGHT_POLLS};

/// Every wrong monitor, in order of name.
#[must_use]
pub fn mutants() -> Vec<Mutant> {
    let tables = [
        starting::MUTANTS,
        reboot::MUTANTS,
        scope::MUTANTS,
        presence::MUTANTS,
        ports::MUTANTS,
        cards::MUTANTS,
        counters::MUTANTS,
        char_devices::MUTANTS,
        delivery::MUTANTS,
        lost::MUTANTS,
        events::MUTANTS,
    ];
    let mut mutants = tables.concat();
    mutants.sort_unstable_by_key(|mutant| mutant.name);
    mutants
}

/// The wrong monitor with this name.
#[must_use]
pub fn find(name: &str) -> Option<Mutant> {
    mutants().into_iter().find(|mutant| mutant.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_wrong_monitors_share_a_name_and_each_is_found_by_it() {
        for pair in mutants().windows(2) {
            assert!(pair[0].name < pair[1].name, "{}", pair[1].name);
        }
        for mutant in mutants() {
            assert_eq!(
                find(mutant.name).map(|found| found.story),
                Some(mutant.story)
            );
        }
        assert!(find("unicorn").is_none());
    }
}
