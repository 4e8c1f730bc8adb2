//! GPU machines at rest: profiles and drivers as data, their parsing, and rendering to a tree.
//!
//! A *platform* describes a machine; a variant of it differs in a few points. A platform builds a
//! [`Machine`] for one node, which has the state that its kernel would show, and [`render`]
//! converts it to the files, folders and links below one mount root. The content is data:
//! `profiles/` has the hardware of each platform, `drivers/` the files and values of each driver;
//! both state the provenance of every value.
//!
//! Time and faults are in `fabric`. This crate opens no file: shipped files are embedded, a
//! vendor's files are passed in as texts.
//!
//! Start at [`Platforms::shipped`], [`Platform::machine`] and [`render`]; [`topo`] prints and parses `nvidia-smi topo -m`.

pub mod capture;
pub mod profile;
pub mod provenance;
pub mod topo;

mod assembly;
mod bridges;
mod catalogue;
mod check;
mod driver;
mod gid;
mod identifiers;
mod ids;
mod machine;
mod metadata;
mod name;
mod natural;
mod numbering;
mod pci;
mod places;
mod platform;
mod problem;
mod render;
mod rest;
mod schema;
mod source;
mod state;
mod survey;
mod template;
mod variant;

pub use assembly::{UPTIME_AT_REST_NS, WORLD_START_WALL_NS};
pub use bridges::{Bridge, BridgePort};
pub use catalogue::{NVIDIA_NETWORKING, Platforms};
pub use check::{Problem, platform_name};
pub use driver::{
    CounterFile, Driver, Duration, Keeps, LinkCondition, LinkEvent, LinkReasons, LinkView, Restart,
    TrafficCounters,
};
pub use gid::{Gid, GidKind};
pub use identifiers::{DeviceIdentifiers, GpuIdentifiers, Guid, HardwareAddress, Identifiers};
pub use ids::{Ids, boot_id};
pub use machine::{
    CharDevice, Clock, CounterValue, Counters, Function, Gpu, Machine, MetadataFile, NetDev, Port,
    PortFiles, Rdma, Route, Routes, Shared,
};
pub use metadata::{Metadata, MetadataGpu};
pub use name::{
    DeviceName, NAME_HINT, NicRole, NodeName, PortNumber, PortRef, SlotRef, TopoLevel, name_mistake,
};
pub use natural::natural;
pub use pci::{PciAddress, PciAddressError};
pub use platform::{Platform, PortFacts, Refusal};
pub use problem::ProblemKind;
pub use render::{CLASS_INFINIBAND, MODES, diff, follow, render};
pub use schema::{DIALECT as SCHEMA_DIALECT, driver_schema, profile_schema, schema_of};
pub use state::{LaneSpeed, PhysState, PortState, Rate};
pub use survey::Survey;
pub use template::NoTemplate;
pub use terms::{Card, LinkLayer};
