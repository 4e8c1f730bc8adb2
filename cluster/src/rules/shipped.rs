//! The shipped rules, by profile, as rule files.

use super::{reader::read, rule::Rule};

/// A shipped rule file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Its name, as for `--rules`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Every profile.
pub const SHIPPED: [Shipped; 4] = [
    Shipped {
        name: "lsd",
        text: include_str!("shipped/lsd.toml"),
    },
    Shipped {
        name: "lsd-text",
        text: include_str!("shipped/lsd-text.toml"),
    },
    Shipped {
        name: "nvsentinel",
        text: include_str!("shipped/nvsentinel.toml"),
    },
    Shipped {
        name: "gpud",
        text: include_str!("shipped/gpud.toml"),
    },
];

/// The rules of this profile; `None` if there is none of that name.
///
/// # Panics
/// Never: a test parses every shipped file.
#[must_use]
pub fn shipped(name: &str) -> Option<Vec<Rule>> {
    let file = SHIPPED.iter().find(|file| file.name == name)?;
    Some(read(&format!("{name}.toml"), file.text).expect("the rules that ship are well formed"))
}
