//! The places of the values in a platform's or driver's file, by path.
//!
//! Paths are those of [`crate::provenance`]: keys joined by `.`; a list's element is named by its
//! `name`, otherwise by its number from 0. The text is parsed a second time, without interpreting
//! it. Start at [`Places::of`] and [`Places::find`].

use files::{FileError, Key, Node, Place, YamlValue, yaml};

/// The values of a file with their places.
#[derive(Clone, Debug)]
pub(crate) struct Places(Node);

impl Places {
    /// The places in this text.
    pub(crate) fn of(file: &str, text: &str) -> Result<Self, FileError> {
        yaml::read(file, text).map(Self)
    }

    /// The places in this tree of a text.
    pub(crate) fn of_tree(tree: &Node) -> Self {
        Self(tree.clone())
    }

    /// The place of the value at `path`, if there is one.
    pub(crate) fn find(&self, path: &str) -> Option<Place> {
        self.at(path).map(|node| node.place)
    }

    /// Whether the value at `path` is this text, or a list that contains it.
    pub(crate) fn says(&self, path: &str, text: &str) -> bool {
        self.at(path).is_some_and(|node| match &node.value {
            YamlValue::List(list) => list.iter().any(|element| is_text(element, text)),
            _ => is_text(node, text),
        })
    }

    fn at(&self, path: &str) -> Option<&Node> {
        path.split('.').try_fold(&self.0, below)
    }
}

/// What is below this key, name or number of a value.
pub(crate) fn below<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    match &node.value {
        YamlValue::Map(pairs) => under(pairs, key),
        YamlValue::List(list) => {
            let named = list.iter().find(|element| is_named(element, key));
            named.or_else(|| list.get(key.parse::<usize>().ok()?))
        }
        _ => None,
    }
}

fn under<'a>(pairs: &'a [(Key, Node)], key: &str) -> Option<&'a Node> {
    let (_, node) = pairs.iter().find(|(known, _)| known.name == key)?;
    Some(node)
}

fn is_named(node: &Node, name: &str) -> bool {
    let YamlValue::Map(pairs) = &node.value else {
        return false;
    };
    under(pairs, "name").is_some_and(|own| is_text(own, name))
}

fn is_text(node: &Node, text: &str) -> bool {
    matches!(&node.value, YamlValue::Text(own) if own == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "gpus: { numa: [0, 1] }\ndevices:\n  - { name: mlx5_0, topo: PIX SYS }\n  - { name: mlx5_0, topo: SYS PIX }\n";

    fn check(path: &str, expected: Option<&str>) {
        let places = Places::of("p.yaml", TEXT).expect("it can be read");
        let found = places.find(path).map(|place| place.to_string());
        assert_eq!(found.as_deref(), expected, "{path}");
    }

    #[test]
    fn a_value_is_found_by_name_and_by_number() {
        check("gpus.numa", Some("1:15"));
        check("gpus.numa.1", Some("1:19"));
        check("devices.mlx5_0.topo", Some("3:27"));
        check("devices.1.topo", Some("4:27"));
        check("devices.mlx5_1", None);
        check("gpus.numa.1.more", None);
    }
}
