//! The command through its binary, as used by people, scripts and other monitors.

mod another_make;
mod captured;
mod first_monitor;
mod groups;
mod help;
mod init;
mod isolation;
mod known;
mod made_up_vendor;
mod output_page;
mod page;
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
