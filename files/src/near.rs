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

/// Whether the nearest candidate is meant, as the beginning of a hint: ``did you mean `eth`? ``; nothing if none is near.
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(word, candidates);
    near.map_or_else(String::new, |near| format!("did you mean `{near}`? "))
}
