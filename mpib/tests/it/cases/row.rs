//! The language of `cases.yaml`: a world, steps, and expected observations.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// One case, or one part of a case that names several.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// The case's number.
    pub(crate) case: String,
    /// `spec`, `g1` or `g2`.
    pub(crate) profile: String,
    #[serde(default)]
    pub(crate) world: World,
    pub(crate) steps: Vec<Step>,
    /// Expected observations by name; each must be equal.
    pub(crate) expect: BTreeMap<String, Value>,
}

/// The differences of the hosts from the document's eight machines.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct World {
    /// This many hosts `vm1`, `vm2`, … in one island, in place of the eight.
    pub(crate) hosts: Option<u16>,
    /// Variables of every host; null removes one.
    pub(crate) environment: BTreeMap<String, Option<String>>,
    /// `missing` or `wrong-magic`, by host.
    pub(crate) agents: BTreeMap<String, String>,
    /// SOUT GIDs by host.
    pub(crate) gids: BTreeMap<String, String>,
    /// Hosts whose SUP port is InfiniBand.
    pub(crate) infiniband_sup: Vec<String>,
}

/// A step.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Step {
    /// Classifies a pair of addresses, with each prefix from the first to the last.
    Classify {
        pair: [String; 2],
        prefixes: [i32; 2],
    },
    /// Starts the plugin of a host.
    Init(String),
    /// Starts every plugin, then connects.
    Connect {
        from: String,
        to: String,
    },
    /// Connects a host to every other.
    ConnectToAll {
        from: String,
    },
    /// The agent of `from` writes the share for its flow to `to`.
    Hint {
        from: String,
        to: String,
        share: u32,
    },
    KillAgent(String),
    /// The agent of `from` dies while it writes for its flow to `to`.
    KillAgentWriting {
        from: String,
        to: String,
    },
    /// Offers a buffer on the connection with this number, counted from 0 in order of connecting.
    Receive {
        on: usize,
        size: u64,
    },
    Send {
        on: usize,
        size: u64,
    },
    /// A buffer and a message into it, on each of these connections.
    Message {
        on: Vec<usize>,
        sizes: Vec<u64>,
    },
    /// A message on every connection.
    MessageOnAll {
        size: u64,
    },
    /// Tests every request so far.
    Test {},
    /// Starts a job.
    Job {
        #[serde(default)]
        ring: Vec<String>,
        #[serde(default)]
        mesh: Vec<String>,
        #[serde(default)]
        size: Option<u64>,
        #[serde(default)]
        pause_ms: Option<[u64; 2]>,
    },
    Port {
        at_ms: u64,
        host: String,
        rail: String,
        state: String,
    },
    /// Down and up again.
    Outage {
        at_ms: u64,
        host: String,
        rail: String,
        length_ms: u64,
    },
    UntilMs(u64),
}
