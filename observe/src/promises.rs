//! What a monitor promises: rows over a closed list of kinds of faults, and promises about scope,
//! granularity and the wire.
//!
//! A kind without a row is not judged. The expectations of scenarios state what the documents ask;
//! `judge` translates them by these rows to what the monitor owes. What a row leaves out is as the
//! documents ask, which is what [`documents::row`] states. Start at [`Promises`].

mod conceded;
mod documents;
mod kind;
mod lasting;
mod misplaced;
mod row;
mod scope;
mod wire;

use std::collections::BTreeMap;

pub use conceded::Concession;
pub use documents::row as documents_row;
pub use kind::{ANY_COUNTER, Kind, KindOf, Named};
pub use lasting::Lasting;
pub use row::{
    Back, Clears, Compared, Garbled, KnownBy, Levels, Meanwhile, OverRestart, PromisedSubject,
    Restates, Row, Says, WhileUnreadable,
};
pub use scope::{Pinned, Scope, ScopeRole};
pub use wire::{
    Baselines, Calls, ClearedBy, ErrorCodes, FirstPollEvents, PortNaming, Recoveries, Stamps, Wire,
};

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

/// The promises of a monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Promises {
    /// `reference`, or a descriptor file, whose promises hold where these say nothing.
    pub like: Option<String>,
    /// Whether its reports begin and end faults, or state what is.
    pub style: Option<Style>,
    /// What its reports are about.
    pub granularity: Option<Granularity>,
    /// At device or node granularity: which faults its reports name.
    pub names: Option<Names>,
    /// Whose ports it monitors.
    pub scope: Option<Scope>,
    /// What becomes of a report that could not be delivered.
    pub lost_publish: Option<LostPublish>,
    /// What it says about each kind. A kind without a row is not judged.
    pub rows: BTreeMap<Kind, Row>,
    /// What its calls and events are like.
    pub wire: Option<Wire>,
}

/// How reports relate to faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// A report begins or ends a fault; the same thing is not reported twice.
    #[default]
    Edge,
    /// A report states what is, and may be repeated.
    Level,
}

/// What reports are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// Ports, devices and cards, as the documents ask.
    #[default]
    Port,
    /// Devices: the faults of a device's ports are one.
    Device,
    /// The node: all of its faults are one.
    Node,
}

/// Which faults of a device or node are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Names {
    /// The first; a second one while it stands owes nothing new.
    #[default]
    First,
    /// All, each when it begins.
    All,
}

/// What becomes of a report that could not be delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LostPublish {
    /// It is delivered later.
    #[default]
    Kept,
    /// It is lost, which every summary states.
    Lost,
}

impl Promises {
    /// These promises with what they leave out taken from others. `like` is resolved.
    #[must_use]
    pub fn over(&self, base: &Promises) -> Promises {
        let mut rows = base.rows.clone();
        for (kind, row) in &self.rows {
            let row = base
                .rows
                .get(kind)
                .map_or_else(|| row.clone(), |under| row.over(under));
            rows.insert(kind.clone(), row);
        }
        Promises {
            like: None,
            style: self.style.or(base.style),
            granularity: self.granularity.or(base.granularity),
            names: self.names.or(base.names),
            scope: self.scope.clone().or_else(|| base.scope.clone()),
            lost_publish: self.lost_publish.or(base.lost_publish),
            rows,
            wire: match (&self.wire, &base.wire) {
                (Some(own), Some(under)) => Some(own.over(under)),
                (own, under) => own.clone().or_else(|| under.clone()),
            },
        }
    }

    /// The row of a kind on a link layer; `None` if nothing is promised about it.
    #[must_use]
    pub fn row(&self, kind: &Kind, layer: Option<terms::LinkLayer>) -> Option<Row> {
        let any = || match kind {
            Kind::Counter(_) => self.rows.get(&Kind::Counter(ANY_COUNTER.to_owned())),
            Kind::Named(_) => None,
        };
        let row = self.rows.get(kind).or_else(any)?;
        Some(layer.map_or_else(|| row.clone(), |layer| row.on(layer)))
    }

    /// Whether nothing about a kind is judged: it has no row, or is `reboot` with a silent one. Who never asks for the boot id
    /// sees no reboot, and says after one, or where the boot id cannot be read, whatever is so.
    #[must_use]
    pub fn leaves_open(&self, kind: &Kind) -> bool {
        match self.row(kind, None) {
            None => true,
            Some(Row::Silent) => *kind == Named::Reboot.into(),
            Some(Row::Usual | Row::Says(_)) => false,
        }
    }

    /// Whether it classifies NICs by the metadata, so that it refuses to start where they do not tell NICs apart. Without a
    /// row for `metadata`, or with a silent one, nothing depends on them.
    #[must_use]
    pub fn needs_topology(&self) -> bool {
        let row = self.row(&Named::Metadata.into(), None);
        row.is_some_and(|row| row != Row::Silent)
    }

    /// Whether alarms are judged, from their beginning to their end, and not single events.
    #[must_use]
    pub fn has_alarms(&self) -> bool {
        self.granularity.unwrap_or_default() != Granularity::Port
            || self.style == Some(Style::Level)
    }

    /// Whether nothing is promised about any fault.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Names, and subjects of a first poll, that would have no effect. What `like` adds is not known here.
    fn unmeant(&self) -> impl Iterator<Item = Problem> {
        let is_alone = self.like.is_none();
        let is_of_ports = match self.granularity {
            Some(granularity) => granularity == Granularity::Port,
            None => is_alone,
        };
        let names = (self.names == Some(Names::All) && is_of_ports).then(|| {
            let what = "`names: all` has no effect with `granularity: port`: each fault of a port is reported by itself";
            Problem::at(
                ["names"],
                what,
                "leave it out, or write `granularity: device` or `node`",
            )
        });
        let tells_what_is_new = || {
            let added = self.rows.get(&Named::HotAdded.into());
            let by_name =
                |row: &Row| matches!(row, Row::Says(says) if says.known_by == Some(KnownBy::Name));
            added.is_some_and(|row| *row != Row::Silent)
                || self.rows.get(&Named::Rename.into()).is_some_and(by_name)
        };
        let baselines = self.wire.iter().filter(move |wire| {
            wire.baselines.is_some()
                && is_alone
                && wire.first_poll != Some(FirstPollEvents::Events)
                && wire.clears != Some(ClearedBy::Check)
                && !tells_what_is_new()
        });
        let baselines = baselines.map(|_| {
            let what = "`baselines` has no effect without `first_poll: events`, a row of `hot_added`, or `clears: check`";
            Problem::at(
                ["wire", "baselines"],
                what,
                "write `first_poll: events`, or leave it out",
            )
        });
        names.into_iter().chain(baselines)
    }

    /// The rows that cannot be, a scope without anything, and what would have no effect.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let says = self.rows.iter().filter_map(|(kind, row)| match row {
            Row::Says(says) => Some((kind, says)),
            _ => None,
        });
        let rows = says.flat_map(|(kind, says)| {
            let misplaced = misplaced::all(kind, says, self).into_iter();
            misplaced.map(move |(keys, what, hint)| {
                let what = format!("the row of `{kind}`: {what}");
                let problem = Problem::at(keys, what, hint);
                problem.below(["rows".to_owned(), kind.to_string()])
            })
        });
        let scope = self.scope.iter().flat_map(Scope::problems);
        scope.chain(self.unmeant()).chain(rows).collect()
    }
}

#[cfg(test)]
mod tests;
