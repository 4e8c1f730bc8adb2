//! The place of a value in a text that was read already, by the keys that lead to it. Start at [`located`].

use observe::Problem;
use platforms::yaml::{self, Node, Place, Value, YamlError};

/// The error of an invalid value in a text, with its place.
pub(crate) fn located(file: &str, text: &str, problem: Problem) -> YamlError {
    let Problem { keys, what, hint } = problem;
    YamlError::at(file, text, of_keys(file, text, &keys), what).hint(hint)
}

/// The place of the innermost of these keys, the outermost first; an item of a list is its number, from 0. If the last
/// ones are not there, it is the place of the last one that is; nowhere, if none is.
fn of_keys(file: &str, text: &str, keys: &[String]) -> Place {
    let mut place = Place::default();
    let Ok(mut node) = yaml::read::<Node>(file, text) else {
        return place;
    };
    for key in keys {
        let below = match node.value {
            Value::Map(pairs) => {
                let found = pairs.into_iter().find(|(known, _)| known.name == *key);
                found.map(|(known, node)| (known.place, node))
            }
            Value::List(items) => {
                let item = key.parse().ok().and_then(|at| items.into_iter().nth(at));
                item.map(|item| (item.place, item))
            }
            _ => None,
        };
        let Some((at, inner)) = below else { break };
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
        assert_eq!(of_keys("f", TEXT, &keys), Place { line, column });
    }
}
