//! The place of a value in a text that was read already, by the keys that lead to it; and every mistake of a text, of its
//! words and of its values. Start at [`located`].

use observe::Problem;
use platforms::yaml::{self, Node, Place, Salvage, YamlError};
use serde::de::DeserializeOwned;

/// The error of an invalid value in a text, with its place.
pub(crate) fn located(file: &str, text: &str, problem: Problem) -> YamlError {
    within(&tree(file, text), file, text, problem)
}

/// The tree of a text that was read already.
fn tree(file: &str, text: &str) -> Node {
    yaml::tree(file, text).unwrap_or_default()
}

/// Every mistake of a text: of its words, and of the values of a `T`. Where words are wrong, the values without them are
/// judged, and a problem that may follow from what is left out is not told.
pub(crate) fn every<T: DeserializeOwned>(
    file: &str,
    text: &str,
    problems: impl FnOnce(&T) -> Vec<Problem>,
) -> Vec<YamlError> {
    let salvage = match yaml::salvage::<T>(file, text) {
        Ok(value) => {
            let problems = problems(&value);
            if problems.is_empty() {
                return Vec::new();
            }
            let root = tree(file, text);
            let problems = problems.into_iter();
            return problems
                .map(|problem| within(&root, file, text, problem))
                .collect();
        }
        Err(salvage) => *salvage,
    };
    let problems = salvage.value.as_ref().map(problems).unwrap_or_default();
    let own = problems
        .into_iter()
        .filter(|problem| is_own(problem, &salvage));
    let own: Vec<YamlError> = own
        .map(|problem| within(&salvage.rest, file, text, problem))
        .collect();
    let mut mistakes = salvage.mistakes;
    mistakes.extend(own);
    mistakes.sort_by_key(|mistake| mistake.place);
    mistakes
}

/// Whether nothing was left out on which this problem depends.
fn is_own<T>(problem: &Problem, salvage: &Salvage<T>) -> bool {
    let mut beside = problem.beside.iter();
    let part = &problem.keys[..problem.part];
    salvage.is_whole(&problem.keys)
        && (part.is_empty() || salvage.is_whole(part))
        && beside.all(|key| salvage.is_whole(&[(*key).to_owned()]))
}

/// The error of an invalid value in this tree of a text.
fn within(root: &Node, file: &str, text: &str, problem: Problem) -> YamlError {
    let place = of_keys(root, &problem.keys);
    YamlError::at(file, text, place, problem.what).hint(problem.hint)
}

/// The place of the innermost of these keys, the outermost first; an item of a list is its number, from 0. If the last
/// ones are not there, it is the place of the last one that is; nowhere, if none is.
fn of_keys(root: &Node, keys: &[String]) -> Place {
    let (mut place, mut node) = (Place::default(), root);
    for key in keys {
        let Some((at, inner)) = node.below(key) else {
            break;
        };
        (place, node) = (at, inner);
    }
    place
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TEXT: &str = "lines:\n  - { a: 1 }\n  - b: 2\n    c: { down: x, up: y }\ndown: z\n";

    #[rstest]
    #[case("down", 5, 1)]
    #[case("lines 0 a", 2, 7)]
    #[case("lines 1", 3, 5)]
    #[case("lines 1 c up", 4, 19)]
    #[case::the_last_that_is_there("lines 1 c left right", 4, 5)]
    #[case::nothing_is_there("up", 0, 0)]
    fn keys_lead_to_a_place(#[case] keys: &str, #[case] line: u32, #[case] column: u32) {
        let keys: Vec<String> = keys.split(' ').map(str::to_owned).collect();
        let root = yaml::read::<Node>("f", TEXT).unwrap();
        assert_eq!(of_keys(&root, &keys), Place { line, column });
    }
}
