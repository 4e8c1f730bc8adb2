//! Lists and masks of CPUs, as the kernel prints them.

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
    let ranges = list.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_cpus_becomes_the_kernels_mask() {
        assert_eq!(mask("0-3,33"), "00000002,0000000f");
        assert_eq!(mask(""), "00000000");
    }
}
