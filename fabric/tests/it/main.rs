//! The facts about links in motion, told through the public door only.

mod devices;
mod ends;
mod ends_manners;
mod ends_text;
mod ends_words;
mod ends_world;
mod figures;
mod hosts;
mod kmsg;
mod laws;
mod port_info;
mod reasons;
mod reasons_laws;
mod registration;
mod room;
mod walks;
