//! What a process sees on a real mount. Where this machine cannot mount, every test says so and
//! passes; with `NICDRILL_REQUIRE_FUSE=1` it fails instead.

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
