//! What a process sees on a real mount. If this machine cannot mount, every test is skipped with a
//! message; with `NICDRILL_REQUIRE_FUSE=1` it fails instead.

mod arms;
mod descriptors;
mod ends;
mod gate;
mod hangs;
mod removal;
mod rules;
mod support;
mod values;
mod writing;
