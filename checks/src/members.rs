//! The text of an object, member by member, as `serde_json` prints it with indentation.
//!
//! A part whose text is known need not be printed again: it is put in as it is. Start at
//! [`Members::of_file`].

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::ser::{Formatter as _, PrettyFormatter, Serializer};

/// The members, or values, that have been put between two brackets so far.
#[derive(Debug, Clone)]
pub(crate) struct Members {
    text: Vec<u8>,
    /// How deep they lie: 1 between the outermost brackets.
    depth: usize,
    /// Where the first one begins.
    start: usize,
}

impl Members {
    /// The outermost object, in room that is there; what was in it is gone.
    pub(crate) fn of_file(mut text: Vec<u8>) -> Members {
        text.clear();
        text.push(b'{');
        Members {
            text,
            depth: 1,
            start: 1,
        }
    }

    /// Members of the outermost object that are told apart from it, to be put into it when it is told
    /// ([`Members::put_all`]).
    pub(crate) const fn part() -> Members {
        Members {
            text: Vec::new(),
            depth: 1,
            start: 0,
        }
    }

    /// All members of a part.
    pub(crate) fn put_all(&mut self, part: &Members) {
        if part.text.len() > part.start {
            self.separate();
            self.text.extend_from_slice(&part.text);
        }
    }

    /// A member with its value.
    pub(crate) fn put(&mut self, name: &str, value: &impl Serialize) {
        self.name(name);
        print(&mut self.text, self.depth, value);
    }

    /// A member unless it is to be left out.
    pub(crate) fn put_unless(&mut self, is_left_out: bool, name: &str, value: &impl Serialize) {
        if !is_left_out {
            self.put(name, value);
        }
    }

    /// A list, left out when it is empty.
    pub(crate) fn put_list(&mut self, name: &str, list: &[impl Serialize]) {
        self.put_unless(list.is_empty(), name, &list);
    }

    /// A map, left out when it is empty.
    pub(crate) fn put_map(&mut self, name: &str, map: &BTreeMap<String, impl Serialize>) {
        self.put_unless(map.is_empty(), name, map);
    }

    /// A member whose value's text is known, as printed so deep.
    pub(crate) fn put_text(&mut self, name: &str, value: &[u8]) {
        self.name(name);
        self.text.extend_from_slice(value);
    }

    /// A member that is an object, with the members that `fill` puts into it.
    pub(crate) fn put_object(&mut self, name: &str, fill: impl FnOnce(&mut Members)) {
        self.name(name);
        self.brackets([b'{', b'}'], fill);
    }

    /// A member that is an array, with the values that `fill` puts into it.
    pub(crate) fn put_array(&mut self, name: &str, fill: impl FnOnce(&mut Members)) {
        self.name(name);
        self.brackets([b'[', b']'], fill);
    }

    /// A value of an array that is an object, with the members that `fill` puts into it.
    pub(crate) fn item_object(&mut self, fill: impl FnOnce(&mut Members)) {
        self.next();
        self.brackets([b'{', b'}'], fill);
    }

    /// The whole outermost object.
    pub(crate) fn object(mut self) -> Vec<u8> {
        self.close(b'}');
        self.text
    }

    fn brackets(&mut self, [opening, closing]: [u8; 2], fill: impl FnOnce(&mut Members)) {
        let mut text = std::mem::take(&mut self.text);
        text.push(opening);
        let mut inner = Members {
            start: text.len(),
            text,
            depth: self.depth + 1,
        };
        fill(&mut inner);
        inner.close(closing);
        self.text = inner.text;
    }

    fn close(&mut self, closing: u8) {
        if self.text.len() > self.start {
            new_line(&mut self.text, self.depth - 1);
        }
        self.text.push(closing);
    }

    fn name(&mut self, name: &str) {
        self.next();
        print(&mut self.text, 0, name);
        self.text.extend_from_slice(b": ");
    }

    fn next(&mut self) {
        self.separate();
        new_line(&mut self.text, self.depth);
    }

    fn separate(&mut self) {
        if self.text.len() > self.start {
            self.text.push(b',');
        }
    }
}

fn new_line(text: &mut Vec<u8>, depth: usize) {
    text.push(b'\n');
    (0..depth).for_each(|_| text.extend_from_slice(b"  "));
}

/// Appends a value so many levels deep. A key of a map must be text.
pub(crate) fn print(text: &mut Vec<u8>, depth: usize, value: &(impl Serialize + ?Sized)) {
    let mut formatter = PrettyFormatter::new();
    for _ in 0..depth {
        let mut nowhere = [0_u8; 1];
        let opened = formatter.begin_object(&mut nowhere.as_mut_slice());
        opened.expect("a brace has room in a byte");
    }
    let printed = value.serialize(&mut Serializer::with_formatter(text, formatter));
    printed.expect("every key is text");
}

/// Is a member left out that is `false` where it is not there?
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to the member"
)]
pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}

/// Is a member left out that is 0 where it is not there?
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to the member"
)]
pub(crate) fn is_zero(value: &u32) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Inner = BTreeMap<String, Vec<Option<u8>>>;

    fn inner() -> impl Strategy<Value = Inner> {
        let values = prop::collection::vec(any::<Option<u8>>(), 0..3);
        prop::collection::btree_map(any::<String>(), values, 0..3)
    }

    /// The same by `serde_json` alone.
    fn check(members: Members, whole: &impl Serialize) {
        let expected = serde_json::to_string_pretty(whole).unwrap();
        assert_eq!(String::from_utf8(members.object()).unwrap(), expected);
    }

    proptest! {
        #[test]
        fn an_object_told_by_members_reads_as_if_printed_at_once(
            whole in prop::collection::btree_map(any::<String>(), inner(), 0..4),
        ) {
            let mut members = Members::of_file(Vec::new());
            for (name, value) in &whole {
                members.put(name, value);
            }
            check(members, &whole);
        }

        #[test]
        fn a_part_that_is_put_in_as_text_reads_as_if_printed_in_its_place(
            whole in prop::collection::btree_map(any::<String>(), inner(), 0..4),
        ) {
            let mut members = Members::of_file(Vec::new());
            for (name, inner) in &whole {
                members.put_object(name, |members| {
                    for (name, value) in inner {
                        let mut text = Vec::new();
                        print(&mut text, 2, value);
                        members.put_text(name, &text);
                    }
                });
            }
            check(members, &whole);
        }

        #[test]
        fn members_that_are_told_apart_read_as_if_put_one_by_one(
            whole in prop::collection::btree_map(any::<String>(), inner(), 0..4),
            apart in 0..5_usize,
        ) {
            let mut members = Members::of_file(Vec::new());
            let mut part = Members::part();
            for (place, (name, value)) in whole.iter().enumerate() {
                if place < apart { &mut members } else { &mut part }.put(name, value);
            }
            members.put_all(&part);
            check(members, &whole);
        }

        #[test]
        fn an_array_of_objects_reads_as_if_printed_at_once(
            whole in prop::collection::btree_map(
                any::<String>(),
                prop::collection::vec(inner(), 0..3),
                0..3,
            ),
        ) {
            let mut members = Members::of_file(Vec::new());
            for (name, items) in &whole {
                members.put_array(name, |array| {
                    for item in items {
                        array.item_object(|members| {
                            for (name, value) in item {
                                members.put(name, value);
                            }
                        });
                    }
                });
            }
            check(members, &whole);
        }
    }
}
