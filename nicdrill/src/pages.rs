//! The pages that the command prints: one drill, one fault in all views, links, LNet, MPIB, platforms, worlds, help.
//!
//! Each takes data and returns text; none opens a file or a terminal.

pub(crate) mod conceded;
mod document;
mod drill;
mod explain;
pub(crate) mod help_pages;
mod json;
mod link;
mod lnet;
mod mpib;
pub(crate) mod platform_check;
pub(crate) mod platform_pages;
mod suite_check;
pub(crate) mod undrilled;
pub(crate) mod world_pages;

pub(crate) use drill::drill_page;
pub(crate) use explain::explain_page;
pub(crate) use link::{LinkView, link_page};
pub(crate) use lnet::{LnetAsked, imported, lnet_page, over_page, trace_page};
pub(crate) use mpib::{MpibAsked, mpib_page};
pub(crate) use suite_check::suite_check_page;
