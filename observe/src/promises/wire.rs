//! What a monitor promises about the platform connector's wire. What it does not promise is not judged.
//! Start at [`Wire`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// Promises about calls and events of the platform connector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wire {
    /// The names of its checks: the documents' name, and its own. A check that is left out has the documents'
    /// name.
    pub checks: Option<BTreeMap<String, String>>,
    /// `agent` of every event.
    pub agent: Option<String>,
    /// `componentClass` of every event.
    pub component_class: Option<String>,
    /// How the entities of a port's event name the port.
    pub port: Option<PortNaming>,
    /// Which events a call has.
    pub calls: Option<Calls>,
    /// How the time stamps of a call's events relate.
    pub stamps: Option<Stamps>,
    /// Whether events may have `metadata` and other fields that the documents leave empty.
    pub extra_fields: Option<bool>,
    /// Whether `recommendedAction` is `REPLACE_VM` for fatal events and `NONE` for others.
    pub documented_actions: Option<bool>,
    /// The error codes of events.
    pub error_codes: Option<ErrorCodes>,
    /// What it sends in its first poll on a healthy node.
    pub first_poll: Option<FirstPollEvents>,
    /// Which subjects the events of a first poll are about.
    pub baselines: Option<Baselines>,
    /// How it clears what stands after a change of scope or a reboot.
    pub clears: Option<ClearedBy>,
    /// Of which ports it may report that they are healthy again.
    pub recoveries: Option<Recoveries>,
}

/// How a port is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortNaming {
    /// By two entities: `NIC` with the device, then `NICPort` with the number.
    NicThenPort,
    /// By one entity `NIC` with the device, a slash and the number: `mlx5_0/1`.
    Joined,
    /// By the device alone.
    Device,
}

/// Which events a call has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Calls {
    /// Those of one check.
    PerCheck,
    /// Those of any checks.
    Mixed,
}

/// How the time stamps of a call's events relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stamps {
    /// Each is later than the one before.
    Rising,
    /// They may be equal.
    Equal,
}

/// The error codes of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCodes {
    /// As the documents ask: the counter's name, or the kind of character device, and none on others.
    Documented,
    /// Its own.
    Own,
}

/// What is sent in a first poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FirstPollEvents {
    /// A healthy event for each subject that is healthy.
    Events,
    /// Nothing.
    None,
}

/// The subjects of a first poll's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Baselines {
    /// Ports.
    pub ports: bool,
    /// Devices.
    pub devices: bool,
    /// Cards.
    pub cards: bool,
    /// Whether a card that meets its peers later is told then.
    pub late_cards: bool,
    /// Counters.
    pub counters: bool,
    /// The check as a whole, before the others.
    pub check: bool,
    /// Whether they wait until every device can be read; else a monitor goes on after three polls with those that
    /// can.
    pub complete: bool,
}

impl Default for Baselines {
    /// As the documents ask ("NIC Health Monitor: Link State Detection", 7).
    fn default() -> Self {
        Self {
            ports: true,
            devices: true,
            cards: true,
            late_cards: true,
            counters: true,
            check: false,
            complete: false,
        }
    }
}

/// Of which ports a monitor may report that they are healthy again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recoveries {
    /// Of those that it reported.
    Reported,
    /// Of all that were not healthy, reported or not.
    All,
}

/// How what stands is cleared after a change of scope or a reboot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClearedBy {
    /// Each subject by an event of its own.
    Subject,
    /// The check as a whole, by an event without entities.
    Check,
}

impl Wire {
    /// The documents' name of a check of the monitor.
    #[must_use]
    pub fn documents_check<'n>(&'n self, own: &'n str) -> &'n str {
        let mut renamed = self.checks.iter().flatten();
        let found = renamed.find(|(_, name)| name.as_str() == own);
        found.map_or(own, |(documents, _)| documents)
    }

    /// The monitor's name of a check of the documents.
    #[must_use]
    pub fn own_check<'n>(&'n self, documents: &'n str) -> &'n str {
        let renamed = self
            .checks
            .as_ref()
            .and_then(|renamed| renamed.get(documents));
        renamed.map_or(documents, String::as_str)
    }

    /// These promises with what they leave out taken from others.
    #[must_use]
    pub fn over(&self, base: &Wire) -> Wire {
        let own = self.clone();
        let base = base.clone();
        Wire {
            checks: own.checks.or(base.checks),
            agent: own.agent.or(base.agent),
            component_class: own.component_class.or(base.component_class),
            port: own.port.or(base.port),
            calls: own.calls.or(base.calls),
            stamps: own.stamps.or(base.stamps),
            extra_fields: own.extra_fields.or(base.extra_fields),
            documented_actions: own.documented_actions.or(base.documented_actions),
            error_codes: own.error_codes.or(base.error_codes),
            first_poll: own.first_poll.or(base.first_poll),
            baselines: own.baselines.or(base.baselines),
            clears: own.clears.or(base.clears),
            recoveries: own.recoveries.or(base.recoveries),
        }
    }
}
