//! What a user may have meant by a name that does not exist: known names, and files. Start at [`names`].

use std::{fs, path::Path};

use files::nearest;

/// How many names are told. Chosen.
const NAMES_MAX: usize = 3;

/// The shortest part of a name by which names are found that contain it. Chosen.
const PART_MIN: usize = 3;

/// The known names that a misspelt one most likely means, the likeliest first: those of which it is the last part, as
/// `cable-pulled` is of `port/cable-pulled`; else the one nearest in spelling; else those whose last part is; else the first
/// ones that contain it.
#[must_use]
pub fn names<'k>(word: &str, known: &[&'k str]) -> Vec<&'k str> {
    let last = |name: &'k str| name.rsplit('/').next().unwrap_or(name);
    let all = || known.iter().copied();
    let of_part =
        |part: &str| -> Vec<&'k str> { all().filter(|name| last(name) == part).collect() };
    let mut found = of_part(word);
    if found.is_empty() {
        found = match (nearest(word, all()), nearest(word, all().map(last))) {
            (Some(near), _) => vec![near],
            (None, Some(part)) => of_part(part),
            (None, None) if word.len() < PART_MIN => Vec::new(),
            (None, None) => all().filter(|name| name.contains(word)).collect(),
        };
    }
    found.dedup();
    found.truncate(NAMES_MAX);
    found
}

/// These names as texts quote them.
pub(crate) fn quoted(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("`{name}`")).collect()
}

/// A question about these names; `None` if there are none.
#[must_use]
pub fn did_you_mean(names: &[&str]) -> Option<String> {
    let quoted = quoted(names);
    let (last, before) = quoted.split_last()?;
    Some(match before {
        [] => format!("did you mean {last}?"),
        _ => format!("did you mean {} or {last}?", before.join(", ")),
    })
}

/// A question about the folders and `.yaml` files beside a file that does not exist; `None` if none has a name that is
/// near. Their ending is no part of the name, and names of one or two letters are near to nothing.
#[must_use]
pub fn files(path: &Path) -> Option<String> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let entries = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        let is_ours = name.ends_with(".yaml") || name.ends_with(".yml") || entry.path().is_dir();
        (is_ours && !name.starts_with('.')).then_some(name)
    });
    let mut entries: Vec<String> = entries.collect();
    entries.sort();
    let stem = |name: &str| {
        let of_yaml = [".yaml", ".yml"].map(|end| name.strip_suffix(end));
        of_yaml.into_iter().flatten().next().unwrap_or(name).len()
    };
    let name = path.file_name()?.to_str()?;
    let asked = &name[..stem(name)];
    if asked.chars().count() < PART_MIN {
        return None;
    }
    let known: Vec<&str> = entries.iter().map(|name| &name[..stem(name)]).collect();
    let near = names(asked, &known);
    let near: Vec<String> = entries
        .iter()
        .filter(|name| near.contains(&&name[..stem(name)]))
        .map(|name| folder.map_or(name.to_owned(), |of| of.join(name).display().to_string()))
        .collect();
    let near: Vec<&str> = near.iter().map(String::as_str).collect();
    did_you_mean(&near)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const KNOWN: [&str; 5] = [
        "port/cable-pulled",
        "port/polling",
        "h100-oci",
        "h100-oci:vfs",
        "link/cable-pulled",
    ];

    #[rstest]
    #[case::a_slip("port/cable-puled", &["port/cable-pulled"])]
    #[case::without_the_family("cable-pulled", &["port/cable-pulled", "link/cable-pulled"])]
    #[case::a_slip_without_the_family("cable-puled", &["port/cable-pulled", "link/cable-pulled"])]
    #[case::a_part("h100", &["h100-oci", "h100-oci:vfs"])]
    #[case::too_short_a_part("h1", &[])]
    #[case::something_else("weather", &[])]
    fn a_name_is_near(#[case] word: &str, #[case] near: &[&str]) {
        assert_eq!(names(word, &KNOWN), near);
    }

    #[rstest]
    #[case(&[], None)]
    #[case(&["a"], Some("did you mean `a`?"))]
    #[case(&["a", "b", "c"], Some("did you mean `a`, `b` or `c`?"))]
    fn names_are_asked_about(#[case] names: &[&str], #[case] question: Option<&str>) {
        assert_eq!(did_you_mean(names).as_deref(), question);
    }

    #[test]
    fn only_files_that_nicdrill_reads_are_near() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["monitor.yaml", "monitor.yam", "monitor.py"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let asked = folder.path().join("monitr.yaml");
        let meant = folder.path().join("monitor.yaml");
        assert_eq!(
            files(&asked),
            Some(format!("did you mean `{}`?", meant.display()))
        );
        assert_eq!(files(&folder.path().join("weather")), None);
        fs::write(folder.path().join("n.yaml"), "").unwrap();
        fs::write(folder.path().join("one.yaml"), "").unwrap();
        for far in ["d.yaml", "mon.yml", "own.yaml"] {
            let near = files(&folder.path().join(far)).unwrap_or_default();
            assert!(
                !near.contains("n.yaml") && !near.contains("one.yaml"),
                "{far}: {near}"
            );
        }
        assert_eq!(files(Path::new("/no/such/folder/a.yaml")), None);
    }
}
