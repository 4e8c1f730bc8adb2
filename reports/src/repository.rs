//! Where a run's files are in the repository that a CI system shows. Start at [`Repository`].

use std::collections::BTreeMap;

/// The files of a run that are in a repository: by their names in the report, their paths from its root.
///
/// What is built in, such as a scenario of the shipped suite, has no path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    /// The paths, with `/` between folders.
    pub paths: BTreeMap<String, String>,
}

/// A place in a file of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryPlace<'r> {
    /// The file's path from the root.
    pub(crate) path: &'r str,
    /// The line, from 1.
    pub(crate) line: u64,
    /// The column, from 1; `None` if only the line is known.
    pub(crate) column: Option<u64>,
}

impl Repository {
    /// The place of `file:line:column`, `file:line` or `file`; `None` if the file is not in the repository.
    pub(crate) fn place(&self, place: &str) -> Option<RepositoryPlace<'_>> {
        let (file, numbers) = split(place);
        Some(RepositoryPlace {
            path: self.paths.get(file)?,
            line: numbers.first().copied().unwrap_or(1),
            column: numbers.get(1).copied(),
        })
    }
}

/// The file of a place, and its line and column as far as it has them.
pub(crate) fn split(place: &str) -> (&str, Vec<u64>) {
    let mut file = place;
    let mut numbers = Vec::new();
    while numbers.len() < 2
        && let Some((before, last)) = file.rsplit_once(':')
        && let Ok(number) = last.parse()
    {
        numbers.insert(0, number);
        file = before;
    }
    (file, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> Repository {
        let path = |name: &str| (name.to_owned(), format!("drills/{name}"));
        Repository {
            paths: ["port/cut.yaml", "odd:name.yaml"].map(path).into(),
        }
    }

    #[test]
    fn a_place_has_the_line_and_the_column_that_it_names() {
        let repository = repository();
        for (place, path, line, column) in [
            ("port/cut.yaml:18:9", "drills/port/cut.yaml", 18, Some(9)),
            ("port/cut.yaml:18", "drills/port/cut.yaml", 18, None),
            ("port/cut.yaml", "drills/port/cut.yaml", 1, None),
            ("odd:name.yaml:3:1", "drills/odd:name.yaml", 3, Some(1)),
        ] {
            let expected = RepositoryPlace { path, line, column };
            assert_eq!(repository.place(place), Some(expected), "{place}");
        }
    }

    #[test]
    fn a_built_in_scenario_has_no_place() {
        assert_eq!(repository().place("start/baseline.yaml:3:1"), None);
    }
}
