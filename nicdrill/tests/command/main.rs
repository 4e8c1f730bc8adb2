//! The command through its binary, as used by people, scripts and other monitors.

mod another_make;
mod captured;
mod confine;
mod first_monitor;
mod help;
mod host_root;
mod init;
mod isolation;
mod made_up_vendor;
mod postgres;
mod processes;
mod protobuf;
mod record;
mod replay;
mod schema;
mod scratch;
mod store;
mod store_server;
mod vendor;
mod whole;
mod words;
