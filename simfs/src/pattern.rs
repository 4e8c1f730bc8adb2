//! Path patterns of rules and moments.

use std::fmt;

use crate::{Tree, TreePath};

/// A path in which `*` matches any text within a component, and a component `**` any number of
/// components, including none: `sys/class/infiniband/*/ports/1/state`, `sys/**/carrier`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern(TreePath);

impl Pattern {
    /// The pattern of this text, normalised like a [`TreePath`].
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(TreePath::new(text))
    }

    /// Whether it contains a `*`. A pattern without one denotes a single node, also through links.
    #[must_use]
    pub(crate) fn is_wild(&self) -> bool {
        self.0.contains('*')
    }

    /// Whether it matches this path as text.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        if !self.is_wild() {
            return *self.0 == *path;
        }
        let pattern: Vec<&str> = self.0.split('/').collect();
        let path: Vec<&str> = path.split('/').collect();
        components_match(&pattern, &path)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The names of the node of an operation, for matching.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) canonical: &'a str,
    pub(crate) shown: &'a str,
}

/// A pattern with a cache of the node it leads to, valid while no name changes.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    pattern: Pattern,
    led: Option<(u64, Option<TreePath>)>,
}

impl Matcher {
    pub(crate) fn new(pattern: Pattern) -> Self {
        Self { pattern, led: None }
    }

    /// Whether it matches the node: by text, or, without `*`, because the pattern leads to the node
    /// through links.
    pub(crate) fn matches(&mut self, tree: &Tree, place: &Place<'_>) -> bool {
        if self.pattern.matches(place.canonical) || self.pattern.matches(place.shown) {
            return true;
        }
        if self.pattern.is_wild() {
            return false;
        }
        let leads_to = match &self.led {
            Some((structure, path)) if *structure == tree.structure() => path,
            _ => {
                &self
                    .led
                    .insert((tree.structure(), leads_to(tree, &self.pattern.0)))
                    .1
            }
        };
        leads_to
            .as_ref()
            .is_some_and(|path| **path == *place.canonical)
    }
}

/// The canonical path for a path without `*`: its folder with links resolved, then its name, and if
/// that is a link, the link's target.
fn leads_to(tree: &Tree, path: &TreePath) -> Option<TreePath> {
    if let Ok(node) = tree.resolve(path) {
        return tree.path_of(node);
    }
    let folder = tree.resolve(&path.parent()?).ok()?;
    Some(tree.path_of(folder)?.join(path.name()))
}

fn components_match(pattern: &[&str], path: &[&str]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((&"**", rest)) => {
            (0..=path.len()).any(|skipped| components_match(rest, &path[skipped..]))
        }
        Some((first, rest)) => path.split_first().is_some_and(|(name, names)| {
            name_matches(first.as_bytes(), name.as_bytes()) && components_match(rest, names)
        }),
    }
}

/// Greedy matching with one step back: linear for common patterns.
fn name_matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p, n));
            p += 1;
        } else if p < pattern.len() && pattern[p] == name[n] {
            p += 1;
            n += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            p = at + 1;
            n = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("a/b", "a/b", true)]
    #[case("a/b", "a/b/c", false)]
    #[case("a/*/c", "a/b/c", true)]
    #[case("a/*/c", "a/b/b/c", false)]
    #[case("a/**/c", "a/c", true)]
    #[case("a/**/c", "a/b/b/c", true)]
    #[case("**/state", "x/y/state", true)]
    #[case("**", "x/y", true)]
    #[case("mlx5_*", "mlx5_10", true)]
    #[case("mlx5_*0", "mlx5_100", true)]
    #[case("mlx5_*0", "mlx5_101", false)]
    #[case("*", "a/b", false)]
    #[case("a*b*c", "aXbYbc", true)]
    fn a_star_stays_in_its_component_and_two_stars_cross(
        #[case] pattern: &str,
        #[case] path: &str,
        #[case] meant: bool,
    ) {
        assert_eq!(Pattern::new(pattern).matches(path), meant);
    }
}
