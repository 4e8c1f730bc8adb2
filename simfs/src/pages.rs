//! A table by node number, in pages that clones share until either changes an entry.
//!
//! A drill clones a tree of thousands of nodes and changes some dozens of them. Start at [`Pages`].

use std::sync::Arc;

/// The number of entries of a page. Chosen: a clone counts one reference for each page, and a change copies one page.
const PAGE: usize = 64;

/// A table from small numbers to values that are cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Pages<T> {
    pages: Vec<Arc<[Option<T>; PAGE]>>,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { pages: Vec::new() }
    }
}

impl<T> Pages<T> {
    /// The entry of this number, if there is one.
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.pages.get(index / PAGE)?[index % PAGE].as_ref()
    }

    /// The entries with their numbers, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let slots = self.pages.iter().flat_map(|page| page.iter());
        let slots = slots.enumerate();
        slots.filter_map(|(index, slot)| Some((index, slot.as_ref()?)))
    }
}

impl<T: Clone> Pages<T> {
    /// The entry of this number, to be changed.
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.get(index)?;
        Arc::make_mut(&mut self.pages[index / PAGE])[index % PAGE].as_mut()
    }

    /// Sets the entry of this number.
    pub(crate) fn set(&mut self, index: usize, value: T) {
        while self.pages.len() <= index / PAGE {
            self.pages.push(Arc::new([const { None }; PAGE]));
        }
        Arc::make_mut(&mut self.pages[index / PAGE])[index % PAGE] = Some(value);
    }

    /// Removes the entry of this number.
    pub(crate) fn take(&mut self, index: usize) -> Option<T> {
        self.get(index)?;
        Arc::make_mut(&mut self.pages[index / PAGE])[index % PAGE].take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(pages: &Pages<u32>) -> Vec<(usize, u32)> {
        pages.iter().map(|(index, value)| (index, *value)).collect()
    }

    #[test]
    fn a_clone_keeps_its_entries_when_the_original_changes() {
        let mut original = Pages::default();
        original.set(0, 10);
        original.set(PAGE, 20);
        original.set(3 * PAGE + 1, 30);
        let clone = original.clone();
        *original.get_mut(PAGE).unwrap() = 21;
        assert_eq!(original.take(0), Some(10));
        original.set(1, 11);
        assert_eq!(entries(&clone), [(0, 10), (PAGE, 20), (3 * PAGE + 1, 30)]);
        assert_eq!(
            entries(&original),
            [(1, 11), (PAGE, 21), (3 * PAGE + 1, 30)]
        );
    }

    #[test]
    fn a_number_that_was_never_set_has_no_entry() {
        let mut pages = Pages::<u32>::default();
        pages.set(PAGE + 1, 1);
        for index in [0, PAGE, PAGE + 2, 5 * PAGE] {
            assert_eq!(pages.get(index), None);
            assert_eq!(pages.get_mut(index), None);
            assert_eq!(pages.take(index), None);
        }
    }
}
