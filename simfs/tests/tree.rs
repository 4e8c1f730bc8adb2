//! Laws of the tree.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*, sample::select};
use simfs::{Edit, FileValue, NodeId, NodeKind, Stale, Tree, TreePath};

const PATHS: &[&str] = &["a", "a/b", "a/b/c", "a/d", "e", "e/f", "e/f/g", "h"];

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let path = || select(PATHS).prop_map(TreePath::new);
    let target = select(vec!["b", "../e", "../a/b", "/e/f", "h"]);
    let edit = prop_oneof![
        1 => path().prop_map(Edit::Folder),
        4 => (path(), 0..3u8).prop_map(|(path, byte)| Edit::File { path, value: FileValue::Bytes(vec![byte]) }),
        2 => (path(), target).prop_map(|(path, target)| Edit::Link { path, target: target.to_owned() }),
        1 => path().prop_map(Edit::Stream),
        1 => (path(), 0..3u8).prop_map(|(path, byte)| Edit::Append { path, bytes: vec![byte] }),
        3 => path().prop_map(Edit::Remove),
    ];
    vec(edit, 0..12)
}

/// A node of a model that does not number nodes.
#[derive(Clone, Debug, PartialEq)]
enum Thing {
    Folder,
    File(FileValue),
    Link(String),
    Stream(Vec<u8>),
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Model(BTreeMap<String, Thing>);

impl Model {
    fn remove(&mut self, path: &str) {
        let below = format!("{path}/");
        self.0.retain(|at, _| at != path && !at.starts_with(&below));
    }

    fn put(&mut self, path: &TreePath, thing: Thing) {
        if let Some(parent) = path.parent().filter(|parent| !parent.is_empty())
            && self.0.get(parent.as_str()) != Some(&Thing::Folder)
        {
            self.put(&parent, Thing::Folder);
        }
        let same_kind = self
            .0
            .get(path.as_str())
            .is_some_and(|old| std::mem::discriminant(old) == std::mem::discriminant(&thing));
        if !same_kind {
            self.remove(path);
        }
        self.0.insert(path.as_str().to_owned(), thing);
    }

    fn apply(&mut self, edit: &Edit) {
        match edit {
            Edit::Folder(path) => self.put(path, Thing::Folder),
            Edit::File { path, value } => self.put(path, Thing::File(value.clone())),
            Edit::Link { path, target } => self.put(path, Thing::Link(target.clone())),
            Edit::Stream(path) => self.append(path, &[]),
            Edit::Append { path, bytes } => self.append(path, bytes),
            Edit::Remove(path) => self.remove(path),
        }
    }

    fn append(&mut self, path: &TreePath, more: &[u8]) {
        let mut bytes = match self.0.get(path.as_str()) {
            Some(Thing::Stream(bytes)) => bytes.clone(),
            _ => Vec::new(),
        };
        bytes.extend_from_slice(more);
        self.put(path, Thing::Stream(bytes));
    }
}

/// Everything in a tree, with the nodes.
fn walk(tree: &Tree, folder: NodeId, at: &TreePath, found: &mut BTreeMap<String, NodeId>) {
    for (name, child) in tree.children(folder) {
        let path = at.join(name);
        found.insert(path.as_str().to_owned(), child);
        walk(tree, child, &path, found);
    }
}

fn nodes(tree: &Tree) -> BTreeMap<String, NodeId> {
    let mut found = BTreeMap::new();
    walk(tree, NodeId::ROOT, &TreePath::default(), &mut found);
    found
}

fn seen(tree: &Tree) -> Model {
    let thing = |id: NodeId| match tree.kind(id).unwrap() {
        NodeKind::Folder => Thing::Folder,
        NodeKind::File => Thing::File(tree.value(id).unwrap().clone()),
        NodeKind::Link => Thing::Link(tree.target(id).unwrap().to_owned()),
        _ => Thing::Stream(Vec::new()),
    };
    Model(
        nodes(tree)
            .into_iter()
            .map(|(path, id)| (path, thing(id)))
            .collect(),
    )
}

/// The edits that build this model from an empty tree.
fn build(model: &Model) -> Vec<Edit> {
    let edit = |(path, thing): (&String, &Thing)| {
        let path = TreePath::new(path);
        match thing {
            Thing::Folder => Edit::Folder(path),
            Thing::File(value) => Edit::File {
                path,
                value: value.clone(),
            },
            Thing::Link(target) => Edit::Link {
                path,
                target: target.clone(),
            },
            Thing::Stream(bytes) => Edit::Append {
                path,
                bytes: bytes.clone(),
            },
        }
    };
    model.0.iter().map(edit).collect()
}

proptest! {
    #[test]
    fn any_edits_give_what_a_map_of_paths_would_give(sets in vec(edits(), 1..6)) {
        let (mut tree, mut model) = (Tree::new(), Model::default());
        for set in &sets {
            tree.apply(set);
            set.iter().for_each(|edit| model.apply(edit));
        }
        let mut fs = simfs::Fs::new();
        sets.iter().for_each(|set| fs.apply(set));
        let mut expected = model.clone();
        for (path, thing) in &mut expected.0 {
            if let Thing::Stream(bytes) = thing {
                let node = fs.tree().get(&TreePath::new(path)).unwrap();
                prop_assert_eq!(fs.bytes_of(node).unwrap(), &**bytes);
                bytes.clear();
            }
        }
        prop_assert_eq!(seen(&tree), expected);
        let mut fresh = Tree::new();
        fresh.apply(&build(&model));
        prop_assert_eq!(seen(&fresh), seen(&tree));
    }

    #[test]
    fn a_number_is_never_given_to_a_second_node(sets in vec(edits(), 1..8)) {
        let mut tree = Tree::new();
        let mut gone = BTreeSet::new();
        let mut live: BTreeMap<String, NodeId> = BTreeMap::new();
        for set in &sets {
            tree.apply(set);
            let now = nodes(&tree);
            let ids: BTreeSet<NodeId> = now.values().copied().collect();
            prop_assert_eq!(ids.len(), now.len());
            gone.extend(live.values().filter(|id| !ids.contains(id)));
            prop_assert!(ids.is_disjoint(&gone));
            prop_assert!(gone.iter().all(|id| tree.kind(*id).is_none()));
            prop_assert_eq!(tree.node_count(), now.len() + 1);
            live = now;
        }
    }

    #[test]
    fn what_was_removed_is_reached_by_no_path_and_no_link(set in edits(), path in select(PATHS)) {
        let mut tree = Tree::new();
        tree.apply(&set);
        let gone: BTreeSet<NodeId> = tree.get(&TreePath::new(path)).into_iter().collect();
        tree.apply(&[Edit::Remove(path.into())]);
        for at in nodes(&tree).keys() {
            if let Ok(node) = tree.resolve(at) {
                prop_assert!(!gone.contains(&node));
                prop_assert!(tree.kind(node).is_some());
            }
        }
        prop_assert!(tree.get(&TreePath::new(path)).is_none());
    }

    /// A kernel that invalidates exactly what it is told has no wrong entry.
    #[test]
    fn whoever_forgets_what_is_stale_holds_nothing_wrong(sets in vec(edits(), 2..6)) {
        let mut tree = Tree::new();
        let mut names: BTreeMap<(NodeId, Box<str>), NodeId> = BTreeMap::new();
        let mut links: BTreeMap<NodeId, String> = BTreeMap::new();
        for set in &sets {
            for stale in tree.apply(set) {
                match stale {
                    Stale::Entry { parent, name } => drop(names.remove(&(parent, name))),
                    Stale::Inode(node) => drop(links.remove(&node)),
                }
            }
            for ((parent, name), node) in &names {
                // A name below a folder that cannot be reached any more is never looked up.
                if tree.kind(*parent).is_some() {
                    prop_assert_eq!(tree.child(*parent, name), Some(*node));
                }
            }
            for (node, target) in links.iter().filter(|(node, _)| tree.kind(**node).is_some()) {
                prop_assert_eq!(tree.target(*node), Some(&**target));
            }
            for node in nodes(&tree).into_values() {
                let name = tree.path_of(node).unwrap().name().into();
                names.insert((tree.parent_of(node).unwrap(), name), node);
                if let Some(target) = tree.target(node) {
                    links.insert(node, target.to_owned());
                }
            }
        }
    }

    /// The cache of resolved paths never changes a result.
    #[test]
    fn a_path_that_was_walked_before_leads_where_it_leads_now(sets in vec(edits(), 1..6)) {
        let paths = ["a/b/../d", "h/f", "/e/f", "a//b", "a/b/.", "a/b/c/..", "x", "e/f/x", ""];
        let mut fs = simfs::Fs::new();
        fs.set_anchor("e/f/x");
        for set in &sets {
            fs.apply(set);
            for path in PATHS.iter().chain(&paths).chain(PATHS) {
                let now = fs.tree().resolve(path).map(|node| fs.tree().kind(node).unwrap());
                prop_assert_eq!(fs.stat(path), now, "{}", path);
            }
        }
    }

    #[test]
    fn a_path_in_normal_form_is_taken_as_it_is(parts in vec(select(vec!["a", "bc", ".", "..", "", ".d"]), 0..6)) {
        let text = parts.join("/");
        let path = TreePath::new(&text);
        prop_assert_eq!(&TreePath::from(text.clone()), &path);
        prop_assert_eq!(&TreePath::new(&format!("./{text}/")), &path);
        prop_assert_eq!(&TreePath::from(path.as_str()), &path);
    }

    #[test]
    fn bytes_that_change_leave_the_structure_alone(set in edits(), byte in any::<u8>()) {
        let mut tree = Tree::new();
        tree.apply(&set);
        let before = tree.structure();
        let files: Vec<Edit> = nodes(&tree)
            .into_iter()
            .filter(|(_, id)| tree.value(*id).is_some())
            .map(|(path, _)| Edit::File { path: TreePath::new(&path), value: FileValue::Bytes(vec![byte]) })
            .collect();
        prop_assert_eq!(tree.apply(&files), vec![]);
        prop_assert_eq!(tree.structure(), before);
    }
}

#[test]
fn a_node_keeps_its_number_while_it_lives() {
    let mut tree = Tree::new();
    let path = TreePath::new("a/b");
    let file = |byte| Edit::File {
        path: path.clone(),
        value: FileValue::Bytes(vec![byte]),
    };
    tree.apply(&[file(1)]);
    let first = tree.get(&path);
    tree.apply(&[file(2), Edit::Folder("a".into())]);
    assert_eq!(tree.get(&path), first);
    tree.apply(&[Edit::Remove("a".into()), file(2)]);
    assert!(tree.get(&path) > first);
}
