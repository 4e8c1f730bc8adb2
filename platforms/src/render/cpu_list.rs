//! Lists and masks of CPUs, as the kernel prints them.

use std::ops::RangeInclusive;

/// A list of CPUs (`0-3,8`) as a mask in the kernel's notation: words of 32 bits, the highest first
/// (`%*pb`).
pub(super) fn mask(list: &str) -> String {
    let mut words: Vec<u32> = vec![0];
    for cpu in cpus_of(list) {
        let word = usize::from(cpu / 32);
        words.resize(words.len().max(word + 1), 0);
        words[word] |= 1 << (cpu % 32);
    }
    let words: Vec<String> = words
        .iter()
        .rev()
        .map(|word| format!("{word:08x}"))
        .collect();
    words.join(",")
}

/// The numbers of a list (`0-3,8`). What is not a range of numbers is left out.
pub(crate) fn cpus_of(list: &str) -> impl Iterator<Item = u16> {
    list.split(',').filter_map(range).flatten()
}

/// The first part of a list that is no range of numbers with its smaller number first; none of an empty list.
pub(crate) fn unlike_a_range(list: &str) -> Option<&str> {
    let mut parts = list.split(',').filter(|_| !list.is_empty());
    parts.find(|part| range(part).is_none_or(|range| range.is_empty()))
}

fn range(part: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_cpus_becomes_the_kernels_mask() {
        assert_eq!(mask("0-3,33"), "00000002,0000000f");
        assert_eq!(mask(""), "00000000");
    }

    #[test]
    fn what_is_no_range_of_a_list_is_found() {
        assert_eq!(unlike_a_range("0-3,8"), None);
        assert_eq!(unlike_a_range(""), None);
        assert_eq!(unlike_a_range("0,3-1"), Some("3-1"));
        assert_eq!(unlike_a_range("0-3,"), Some(""));
        assert_eq!(unlike_a_range("0-70000"), Some("0-70000"));
    }
}
