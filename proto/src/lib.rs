//! The wire of the platform connector, and the table of checks: messages always, client and server
//! stubs behind the feature `rpc`.
//!
//! The contract is `proto/health_event.proto`, written field for field after NVSentinel's
//! `data-models/protobufs/health_event.proto`. Nothing here opens a socket. Start with
//! [`HealthEvent`]; of a NIC only the table of checks knows ([`Check`]).

pub use prost::Message;
pub use prost_types::Timestamp;

mod check;

mod generated {
    #![cfg_attr(
        feature = "rpc",
        expect(
            unused_qualifications,
            clippy::allow_attributes,
            clippy::allow_attributes_without_reason,
            reason = "the stubs are written by the generator"
        )
    )]
    include!(concat!(env!("OUT_DIR"), "/datamodels.rs"));
}

pub use check::{Check, CheckKind, Layer};
pub use generated::*;

/// The full path of the one method, as it stands in an HTTP/2 request.
pub const METHOD_PATH: &str = "/datamodels.PlatformConnector/HealthEventOccurredV1";

/// The version that both [`HealthEvents`] and [`HealthEvent`] carry.
pub const VERSION: u32 = 1;

/// Nanoseconds since the epoch as the timestamp of the wire.
///
/// # Panics
/// Never: the second count of 64-bit nanoseconds fits a signed 64-bit integer.
#[must_use]
pub fn timestamp_from_ns(wall_ns: u64) -> Timestamp {
    const NS_PER_S: u64 = 1_000_000_000;
    Timestamp {
        seconds: i64::try_from(wall_ns / NS_PER_S)
            .expect("u64 nanoseconds hold few enough seconds"),
        nanos: i32::try_from(wall_ns % NS_PER_S).expect("a remainder below one billion"),
    }
}
