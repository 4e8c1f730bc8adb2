//! What a process sees on a real mount. Where this machine cannot mount, every test says so and
//! passes; with `NICDRILL_REQUIRE_FUSE=1` it fails instead.

mod gate;
mod support;
