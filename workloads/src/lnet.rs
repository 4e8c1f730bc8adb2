//! LNet Health: network interfaces, peers, health values, resends and recovery.
//!
//! It says what a Lustre node's network layer does when a port, a wire or a peer fails: which
//! interface a message leaves by, what a failure costs, when it is tried again, when an interface is
//! trusted again, and what the storage traffic on top notices. Three [`Profile`]s hold what the
//! "LNet Health HLD" says and what two releases of Lustre built of it.
//!
//! It leaves out how a link fails (it is told, by notices), the bytes on the wire, and memory.
//! Start at [`Params`].

mod health;
mod nid;
mod params;
mod profile;
mod status;

pub use health::Health;
pub use nid::{Lnd, NetName, Nid, NidError, NidPattern};
pub use params::{Param, ParamError, Params};
pub use profile::{Behaviour, Profile, ProfileError};
pub use status::{MsgStatus, Resend, StatusError};
