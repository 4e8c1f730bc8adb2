//! Laws over arbitrary scripts.
