//! The pages that the command prints: one drill, links, LNet, platforms, help.
//!
//! Each takes what is to be shown and returns its text; none opens a file or a terminal.

mod drill;
pub(crate) mod help;
mod link;
mod lnet;
pub(crate) mod platform;
pub(crate) mod platform_check;

pub(crate) use drill::drill_page;
pub(crate) use link::link_page;
pub(crate) use lnet::{LnetAsked, lnet_page};
