//! The wire format of the platform connector. Messages are always available, client and server stubs
//! with the feature `rpc`.
//!
//! The contract is `proto/health_event.proto`, copied field for field from NVSentinel's
//! `data-models/protobufs/health_event.proto`. Nothing here opens a socket. Start with
//! [`HealthEvent`].

pub use prost::Message;
pub use prost_types::Timestamp;

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
    include!("generated.rs");
}

pub use generated::*;

/// The text of the contract, from which the messages are generated.
pub const TEXT: &str = include_str!("../proto/health_event.proto");

/// The path of the only method in an HTTP/2 request.
pub const METHOD_PATH: &str = "/datamodels.PlatformConnector/HealthEventOccurredV1";

/// The version in both [`HealthEvents`] and [`HealthEvent`].
pub const VERSION: u32 = 1;

/// Converts nanoseconds since the epoch to the timestamp of the wire format.
///
/// # Panics
/// Never: the number of seconds in 64-bit nanoseconds fits a signed 64-bit integer.
#[must_use]
pub fn timestamp_from_ns(wall_ns: u64) -> Timestamp {
    const NS_PER_S: u64 = 1_000_000_000;
    Timestamp {
        seconds: i64::try_from(wall_ns / NS_PER_S)
            .expect("u64 nanoseconds hold few enough seconds"),
        nanos: i32::try_from(wall_ns % NS_PER_S).expect("a remainder below one billion"),
    }
}
