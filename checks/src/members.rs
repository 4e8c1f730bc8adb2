//! The text of an object, member by member, as `serde_json` prints it with indentation.
//!
//! A part whose text is known need not be printed again: it is put in as it is. Start at [`Members`].

use serde::Serialize;
use serde_json::ser::{Formatter as _, PrettyFormatter, Serializer};

/// Members of an object whose braces somebody else writes.
#[derive(Debug)]
pub(crate) struct Members {
    text: Vec<u8>,
    depth: usize,
}

/// The items of an array or object as text, in order; each begins with its first character.
pub(crate) type Items<'t> = dyn Iterator<Item = &'t [u8]> + 't;

impl Members {
    /// No member yet, of an object so many levels deep: 1 for the members of the outermost one.
    pub(crate) fn at(depth: usize) -> Members {
        Members::with_capacity(depth, 0)
    }

    /// As [`Members::at`], with room for so many bytes.
    pub(crate) fn with_capacity(depth: usize, bytes: usize) -> Members {
        Members {
            text: Vec::with_capacity(bytes),
            depth,
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

    /// A member that is an object of these members, each the text of one or more; none: no member.
    pub(crate) fn put_object(&mut self, name: &str, members: &mut Items<'_>) {
        self.put_items(name, [b'{', b'}'], members);
    }

    /// A member that is an array of these values; none: no member.
    pub(crate) fn put_array(&mut self, name: &str, values: &mut Items<'_>) {
        self.put_items(name, [b'[', b']'], values);
    }

    fn put_items(&mut self, name: &str, [opening, closing]: [u8; 2], items: &mut Items<'_>) {
        let mut items = items.peekable();
        if items.peek().is_none() {
            return;
        }
        self.name(name);
        self.text.push(opening);
        for (place, item) in items.enumerate() {
            if place > 0 {
                self.text.push(b',');
            }
            new_line(&mut self.text, self.depth + 1);
            self.text.extend_from_slice(item);
        }
        new_line(&mut self.text, self.depth);
        self.text.push(closing);
    }

    /// The members without braces, from the first character of the first one.
    pub(crate) fn text(self) -> Vec<u8> {
        self.text
    }

    /// The object in its braces; `{}` without a member.
    pub(crate) fn object(mut self) -> Vec<u8> {
        if self.text.is_empty() {
            return b"{}".to_vec();
        }
        let mut opening = vec![b'{'];
        new_line(&mut opening, self.depth);
        self.text.splice(..0, opening);
        new_line(&mut self.text, self.depth - 1);
        self.text.push(b'}');
        self.text
    }

    fn name(&mut self, name: &str) {
        if !self.text.is_empty() {
            self.text.push(b',');
            new_line(&mut self.text, self.depth);
        }
        print(&mut self.text, 0, &name);
        self.text.extend_from_slice(b": ");
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    type Inner = BTreeMap<String, Vec<Option<u8>>>;

    fn inner(sizes: std::ops::Range<usize>) -> impl Strategy<Value = Inner> {
        let values = prop::collection::vec(any::<Option<u8>>(), 0..3);
        prop::collection::btree_map(any::<String>(), values, sizes)
    }

    /// The same object by `serde_json` alone.
    fn check(members: Members, whole: &BTreeMap<String, Inner>) {
        let expected = serde_json::to_string_pretty(whole).unwrap();
        assert_eq!(String::from_utf8(members.object()).unwrap(), expected);
    }

    proptest! {
        #[test]
        fn an_object_told_by_members_reads_as_if_printed_at_once(
            whole in prop::collection::btree_map(any::<String>(), inner(0..3), 0..4),
        ) {
            let mut members = Members::at(1);
            for (name, value) in &whole {
                members.put(name, value);
            }
            check(members, &whole);
        }

        #[test]
        fn a_part_that_is_put_in_as_text_reads_as_if_printed_in_its_place(
            whole in prop::collection::btree_map(any::<String>(), inner(1..3), 0..4),
        ) {
            let mut members = Members::at(1);
            for (name, inner) in &whole {
                let texts = inner.iter().map(|(name, value)| {
                    let mut one = Members::at(2);
                    one.put(name, value);
                    one.text()
                });
                let texts: Vec<Vec<u8>> = texts.collect();
                members.put_object(name, &mut texts.iter().map(Vec::as_slice));
            }
            check(members, &whole);
        }
    }

    #[test]
    fn an_array_is_told_by_the_texts_of_its_values() {
        let mut members = Members::at(1);
        members.put_array("none", &mut std::iter::empty());
        members.put_array("two", &mut [b"1".as_slice(), b"2"].into_iter());
        let text = String::from_utf8(members.object()).unwrap();
        assert_eq!(text, "{\n  \"two\": [\n    1,\n    2\n  ]\n}");
    }
}
