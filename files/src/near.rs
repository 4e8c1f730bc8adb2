//! The known word that a misspelt one most likely means.

/// Bytes of the longest word that is compared with what is known.
const LONGEST_MISSPELLING: usize = 256;

/// The candidate that a misspelt `word` most likely means; `None` if none is near.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST_MISSPELLING {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance * 3 <= candidate.chars().count().max(3))
        .min()
        .map(|(_, candidate)| candidate)
}
