//! What the monitor's side and the simulator's side call by one name: both may depend on this crate, and on nothing
//! else of each other.
//!
//! A term is a small `Copy` type. How a side reads or writes it in a file of its own (the kernel's `4: ACTIVE`, the
//! words of the scenario language) stays with that side. Start with [`Check`].

mod arm;
mod card;
mod check;
mod event_field;
mod link_layer;
mod report_verdict;
mod severity;

pub use arm::Arm;
pub use card::Card;
pub use check::{Check, CheckKind};
pub use event_field::EventField;
pub use link_layer::LinkLayer;
pub use report_verdict::ReportVerdict;
pub use severity::Severity;
