//! The type of a wrong monitor, and the macro for the rows of the tables.

use std::rc::Rc;

use checks::{Policy, Variant};

use crate::outputs::{Edit, edited};

/// Number of polls for which every wrong monitor is right in its story.
pub const RIGHT_POLLS: u64 = 20;

/// A wrong monitor.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// Its name on a command line: lower case, with hyphens.
    pub name: &'static str,
    /// The bug on which it is modelled.
    pub models: &'static str,
    /// A scenario, as YAML, in which it is right for [`RIGHT_POLLS`] polls and then wrong.
    pub story: &'static str,
    /// Its policy and its publisher.
    pub variant: Variant,
}

impl Mutant {
    pub(crate) const fn decides<P: Policy + Default + 'static>(
        name: &'static str,
        models: &'static str,
        story: &'static str,
    ) -> Mutant {
        let variant = Variant {
            policy: || Rc::new(P::default()),
            ..Variant::RIGHT
        };
        Mutant {
            name,
            models,
            story,
            variant,
        }
    }

    pub(crate) const fn sends<E: Edit + 'static>(
        name: &'static str,
        models: &'static str,
        story: &'static str,
    ) -> Mutant {
        let variant = Variant {
            publisher: edited::<E>,
            ..Variant::RIGHT
        };
        Mutant {
            name,
            models,
            story,
            variant,
        }
    }
}

/// A row of a table: the constructor (`decides` or `sends`), the type, the name, the bug. The story
/// is `zoo/stories/<name>.yaml`.
macro_rules! mutant {
    ($make:ident, $wrong:ty, $name:literal, $models:literal) => {
        $crate::mutant::Mutant::$make::<$wrong>(
            $name,
            $models,
            include_str!(concat!("../stories/", $name, ".yaml")),
        )
    };
}
pub(crate) use mutant;
