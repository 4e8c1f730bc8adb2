//! What is found about the reference monitor, about monitors that are wrong on purpose, and about recordings that were
//! altered as another monitor would have said it.

mod keys;
mod level;
mod played;
mod reference;
