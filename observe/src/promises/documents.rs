//! What the documents ask for each kind: the row that the expectations of scenarios are written by.
//!
//! Sources: "NIC Health Monitor: Link State Detection", sections 3.2, 4.3, 6, 7, 12 and its Appendix A, with
//! the decisions of docs/decisions.md, 1 to 13, where it is open.

use std::time::Duration;

use crate::Span;

use terms::Severity;

use super::{Clears, Compared, Kind, Lasting, Meanwhile, Named, Restates, Row, Says};

/// The default patience (`--escalate-after`; docs/decisions.md, 2).
const PATIENCE: Lasting = Lasting::Time(Span(Duration::from_secs(30)));

/// What the documents ask for a kind. A row without a verdict means that they distinguish cases
/// within the kind; the expectations of scenarios state which.
#[must_use]
pub fn row(kind: &Kind) -> Row {
    let Kind::Named(named) = kind else {
        // The counter's table decides (`lsd 5`); docs/decisions.md, 13.
        return says(Says::default());
    };
    match named {
        // docs/decisions.md, 1: `DOWN` is fatal whatever the physical state, and so is `Disabled`.
        Named::Down | Named::Disabled | Named::Polling | Named::Training => {
            says(verdict(Severity::Fatal))
        }
        // docs/decisions.md, 1: other unhealthy states are nonfatal on InfiniBand and silent on Ethernet.
        Named::Init | Named::Armed => says(Says {
            ethernet: Some(Row::Silent),
            ..verdict(Severity::NonFatal)
        }),
        // `DOWN` is fatal in these physical states too.
        Named::LinkErrorRecovery | Named::OddState => says(Says::default()),
        // docs/decisions.md, 2.
        Named::Persists => says(Says {
            after: Some(PATIENCE),
            ..verdict(Severity::Fatal)
        }),
        // `lsd 4.4`.
        Named::Slow => Row::Silent,
        // docs/decisions.md, 5.
        Named::GonePort | Named::CharDevice => says(verdict(Severity::Fatal)),
        Named::GoneDevice => says(Says {
            ports: Some(Meanwhile::Silent),
            ..verdict(Severity::Fatal)
        }),
        // docs/decisions.md, 6.
        Named::Unreadable | Named::Hang => says(Says {
            after: Some(PATIENCE),
            ..verdict(Severity::NonFatal)
        }),
        // `lsd 7.2`; docs/decisions.md, 4.
        Named::Card => says(Says {
            when: Some(Compared::FirstPoll),
            ..verdict(Severity::Fatal)
        }),
        // docs/decisions.md, 5.
        Named::MovedLayer => Row::Usual,
        // docs/decisions.md, 3: the first poll waits for ports on their way up, and so does that of a new device.
        Named::FirstPoll | Named::HotAdded => Row::Says(Box::new(Says {
            after: Some(PATIENCE),
            ..Says::default()
        })),
        // docs/decisions.md, 9: what was not told before is judged as in a first poll.
        Named::Reboot => Row::Says(Box::new(Says {
            after: Some(PATIENCE),
            restates: Some(Restates::All),
            ..Says::default()
        })),
        Named::Flap
        | Named::SmGone
        | Named::DriverReload
        | Named::FirmwareReset
        | Named::Rename
        | Named::Replaced
        | Named::MonitorRestart
        | Named::ScopeChange
        | Named::Metadata
        | Named::StateFile
        | Named::Connector => Row::Usual,
    }
}

/// The row of a condition.
fn says(says: Says) -> Row {
    Row::Says(Box::new(Says {
        after: says.after.or(Some(Lasting::NOTHING)),
        clears: says.clears.or(Some(Clears::Healed(None))),
        ..says
    }))
}

fn verdict(verdict: Severity) -> Says {
    Says {
        verdict: Some(verdict),
        ..Says::default()
    }
}
