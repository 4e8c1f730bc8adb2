//! What is present at the end of polls: in one of a window's polls, or in each. Start at [`standing`].

use scenarios::{Stands, Window};

use super::fact::{Outcome, check};
use crate::consequences::{ClusterState, Consequences, TickMade};

/// Checks that something is present in one of the window's ticks, or in each; `what` names it.
pub(super) fn standing(
    is: Stands,
    window: Window,
    made: &Consequences,
    wanted: impl FnOnce() -> String,
    what: impl Fn(u64, &ClusterState) -> Vec<String>,
) -> Outcome {
    let ticks: Vec<(u64, &TickMade)> = made.between(window.from, window.to).collect();
    let right = |(tick, made): &(u64, &TickMade)| what(*tick, &made.standing).is_empty() != is.is;
    let wrong = ticks
        .iter()
        .find(|tick| !right(tick))
        .map(|(tick, _)| *tick);
    let holds = if is.throughout {
        !ticks.is_empty() && wrong.is_none()
    } else {
        ticks.iter().any(right)
    };
    check(
        holds,
        || {
            let each = if is.throughout { "each of " } else { "" };
            format!("{} at the end of {each}{}", wanted(), polls(window))
        },
        || {
            let mut lines = Vec::new();
            let mut before = None;
            for (tick, made) in ticks {
                let now = what(tick, &made.standing);
                if before.as_ref() == Some(&now) {
                    continue;
                }
                let at = at(tick, made);
                if now.is_empty() {
                    lines.push(format!("{at}: nothing stands"));
                }
                lines.extend(now.iter().map(|line| format!("{at}: {line}")));
                before = Some(now);
            }
            lines
        },
    )
    .wrong_in(wrong.filter(|_| is.throughout))
}

/// What holds exactly if the other does not.
pub(super) fn opposite(stands: Stands) -> Stands {
    Stands {
        is: !stands.is,
        throughout: !stands.throughout,
    }
}

/// `poll 12, at 12s`.
pub(super) fn at(tick: u64, made: &TickMade) -> String {
    format!("poll {tick}, at {}", made.at)
}

pub(crate) fn stands(check: &str, entry: &str) -> String {
    format!("{check} stands: {entry}")
}

pub(super) fn within(window: Window) -> String {
    format!("in {}", polls(window))
}

fn polls(window: Window) -> String {
    if window.from == window.to {
        format!("poll {}", window.from)
    } else {
        format!("polls {} to {}", window.from, window.to)
    }
}
