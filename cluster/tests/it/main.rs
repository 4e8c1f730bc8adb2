//! What a cluster makes of health events, told as short lines: see [`words::said`].

mod conditions;
mod kernel_log;
mod quarantine;
mod rules;
mod streams;
mod words;
