//! Tests of the public interface.

mod cabling;
mod devices;
mod downgrade;
mod figures;
mod firmware_reports;
mod hints;
mod hosts;
mod kmsg;
mod laws;
mod managers;
mod opa_ends;
mod opa_text;
mod opa_words;
mod overheated;
mod overruns;
mod port_info;
mod reasons;
mod reasons_laws;
mod reasons_world;
mod registration;
mod room;
mod single_node;
mod walks;
