//! A file as far as it can be read, and whether what is wrong with the rest of it is a mistake of its own. Start at
//! [`Part::of`].

use files::{
    FileError,
    yaml::{Salvage, salvage_beside},
};
use serde::de::DeserializeOwned;

use crate::ProblemKind;
use crate::check::Finding;
use crate::places::below;
use crate::problem::Needs;
use crate::source::{Mistake, Source};

/// What could be read of a file.
pub(super) struct Part<T> {
    /// The file.
    pub(super) source: Source,
    /// Its value without what is wrong; `None` if nothing can be read without it.
    pub(super) value: Option<T>,
    /// The mistakes in its words.
    pub(super) mistakes: Vec<FileError>,
    /// What is left out.
    pub(super) gaps: Gaps<T>,
}

/// What is left out of a file.
pub(super) struct Gaps<T>(Option<Salvage<T>>);

impl<T: DeserializeOwned> Part<T> {
    /// Reads a file; `stand_ins` has a value for each key of the outermost level that it must have.
    pub(super) fn of(file: &str, text: &str, stand_ins: &str) -> Self {
        let mut source = Source::new(file, text);
        let (value, mistakes, gaps) = match salvage_beside::<T>(file, text, stand_ins) {
            Ok(value) => (Some(value), Vec::new(), None),
            Err(mut salvage) => {
                source.rest = Some(salvage.rest.clone());
                let mistakes = std::mem::take(&mut salvage.mistakes);
                (salvage.value.take(), mistakes, Some(*salvage))
            }
        };
        Self {
            source,
            value,
            mistakes,
            gaps: Gaps(gaps),
        }
    }
}

impl<T> Gaps<T> {
    /// Whether nothing is left out.
    pub(super) const fn are_none(&self) -> bool {
        self.0.is_none()
    }

    /// Whether nothing is left out of the value at this path, or of the nearest one around it if that is not there. A key of
    /// the outermost level that is not there may be one that could not be read.
    pub(super) fn spare(&self, path: &str) -> bool {
        let Some(salvage) = &self.0 else { return true };
        let mut keys = path.split('.');
        let outermost = keys.next().and_then(|key| below(&salvage.rest, key));
        let Some(mut node) = outermost else {
            return !salvage.lacks_keys();
        };
        for key in keys {
            match below(node, key) {
                Some(inner) => node = inner,
                None => break,
            }
        }
        !salvage.lacks_part(node)
    }

    /// Whether a mistake is one of its own. A variant is one as a whole.
    pub(super) fn spare_mistake(&self, mistake: &Mistake, variant: Option<&str>) -> bool {
        let mut needs = mistake.needs.iter();
        self.spare(&mistake.path) && needs.all(|key| self.spare(key)) && self.spare_variant(variant)
    }

    /// Whether a finding is one of its own. A variant, a device and an item are one as a whole.
    pub(super) fn spare_finding(&self, finding: &Finding, variant: Option<&str>) -> bool {
        let spare_all = |keys: &[&str]| keys.iter().all(|key| self.spare(key));
        let (outermost, rest) = finding.path.split_once('.').unwrap_or((&finding.path, ""));
        let spares_needs = match finding.problem.problem.needs() {
            Needs::Keys(keys) | Needs::Machine(keys) => spare_all(keys),
            Needs::All => self.are_none(),
        };
        let is_of_whole_key = matches!(finding.problem.problem, ProblemKind::NoProvenance(_));
        let item = match rest.split('.').next() {
            Some(item) if !item.is_empty() && !is_of_whole_key => format!("{outermost}.{item}"),
            _ => outermost.to_owned(),
        };
        spares_needs && self.spare(&item) && self.spare_variant(variant)
    }

    fn spare_variant(&self, variant: Option<&str>) -> bool {
        variant.is_none_or(|variant| self.spare(&format!("variants.{variant}")))
    }
}
