//! The cluster's reaction to health events, written as short lines: see [`words::reported`].

mod conditions;
mod kernel_log;
mod quarantine;
mod recorded;
mod rule_files;
mod rules;
mod streams;
mod words;
