//! What a cluster makes of health events, told as short lines: see [`words::said`].

mod conditions;
mod kernel_log;
mod quarantine;
mod recorded;
mod rule_files;
mod rules;
mod streams;
mod words;
