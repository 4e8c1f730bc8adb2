//! Deliberately wrong monitors: each differs from the right one by one branch.
//!
//! The agent asks the hooks (`zoo::hooks`) at the places where a wrong monitor would turn off. Without
//! the feature `zoo` every hook is a constant, and no species exists. With it, each species is one
//! file below `species/`: the bug it is modelled on, the story in which it is right for 20 polls, and
//! its branch. Adding one is that file, a line in the table (`zoo::species`), and a hook where none fits.

mod hooks;
#[cfg(feature = "zoo")]
mod species;

pub(crate) use hooks::Hooks;
#[cfg(feature = "zoo")]
pub use species::Species;
