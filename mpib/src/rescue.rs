//! Whether hints would have saved a job that died of an outage, which, and until when.
//!
//! A message's mask is decided when it is posted. A write that is lost stays on its queue pair, so a hint helps only if
//! it is there before that post. Whether it then helps is not concluded but played: the job is started anew with the same
//! inputs and the hints, up to the same instant.

use simfs::SimTime;

use super::event::{NetEventKind, QueuePairId};
use super::job::Input;
use super::traffic::Edge;
use super::{
    AgentAction, Bytes, Death, Failure, FailureCause, HostId, Job, Rail, ShareSource, Side,
    SupBandwidth,
};

/// The chance that a job had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rescue {
    /// With these hints, all written right before `at`, it was alive at the same instant, and no message waited.
    Hints {
        /// The first post that was lost.
        at: SimTime,
        /// The pairs, and the rail that each hint gives everything to.
        hints: Vec<(Edge, Rail)>,
    },
    /// With these hints, all written right before `at`, it still failed, or a message waited.
    NotEnough {
        /// The first post that was lost.
        at: SimTime,
        /// The pairs, and the rail that each hint gives everything to.
        hints: Vec<(Edge, Rail)>,
        /// How it failed; `None` if a message waited.
        failure: Option<Failure>,
    },
    /// No hint right before `at` would have saved it.
    None {
        /// The post of a write that ended it.
        at: SimTime,
        /// Why not.
        why: Hopeless,
    },
}

/// Why no hint right before a lost post saves a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hopeless {
    /// Clear-to-send was lost on this rail, which it uses whatever the mask.
    ClearToSend(Rail),
    /// The connection was made for this rail, and a hint does not change it: none is read, or in
    /// [`MpibProfile::Spec`](super::MpibProfile::Spec) only the class counts.
    Fixed(Rail),
    /// The host's agent is dead and writes none.
    NoHint(HostId),
    /// It was posted at the start of the job, when the connections were made; no pair has a slot before.
    TooEarly,
    /// However much of a message goes to the other rail, this much is posted on the rail; an empty message is posted
    /// on SOUT.
    Rest(Rail, Bytes),
}

/// A write that still waited when the job failed, the first of its queue pair.
#[derive(Clone, Copy)]
struct Lost {
    queue_pair: QueuePairId,
    rail: Rail,
    at: SimTime,
}

impl Job {
    /// The chance that the job had; `None` unless it died of a write that was never acknowledged.
    ///
    /// All pairs that had lost data get a hint, because any of them might have ended the job next. That no hint would have
    /// saved it is said of a write that ended it.
    #[must_use]
    pub fn rescue(&self) -> Option<Rescue> {
        let cause = self.failure()?.cause;
        let FailureCause::Network(Death::RetryExceeded { .. }) = cause else {
            return None;
        };
        let lost = self.lost();
        let killers = self.killers(&lost);
        let mut hints = self.other_rails(&lost);
        let first = lost.iter().map(|lost| lost.at).min()?;
        // Before the connections were made there is no hint.
        let at = if first > self.start {
            first
        } else {
            killers.iter().map(|killer| killer.at).min()?
        };
        let (played, silent) = self.with_hints(at, &hints);
        hints.retain(|(edge, _)| !silent.contains(&edge.from));
        let failure = played.failure().copied();
        if failure.is_none() && played.stalls().all(|stall| stall.to.is_some()) {
            return Some(Rescue::Hints { at, hints });
        }
        let hopeless = killers.iter().find_map(|killer| {
            let [from, _] = self.net().ends(killer.queue_pair.connection);
            let why = self.hopeless(*killer);
            let silent = silent.contains(&from).then_some(if killer.at > self.start {
                Hopeless::NoHint(from)
            } else {
                Hopeless::TooEarly
            });
            Some((killer.at, why.or(silent)?))
        });
        Some(match hopeless {
            Some((at, why)) => Rescue::None { at, why },
            None => Rescue::NotEnough { at, hints, failure },
        })
    }

    /// The lost writes whose queue pairs died when the job failed.
    fn killers(&self, lost: &[Lost]) -> Vec<Lost> {
        let end = self.failure().map(|failure| failure.at);
        let dead = |write: &&Lost| {
            self.net().events().iter().any(|event| {
                let NetEventKind::RetryExceeded { queue_pair, .. } = event.kind else {
                    return false;
                };
                Some(event.at) == end && queue_pair == write.queue_pair
            })
        };
        lost.iter().filter(dead).copied().collect()
    }

    /// The first writes that still waited on their queue pairs when the job failed.
    fn lost(&self) -> Vec<Lost> {
        let mut lost: Vec<Lost> = Vec::new();
        let end = self.failure().map_or(SimTime::MAX, |failure| failure.at);
        for event in self.net().events().iter().filter(|event| event.at <= end) {
            match event.kind {
                NetEventKind::Post {
                    queue_pair,
                    behind: 0,
                    ..
                } => lost.push(Lost {
                    queue_pair,
                    rail: event.rail,
                    at: event.at,
                }),
                NetEventKind::Acknowledged { queue_pair, .. } => {
                    lost.retain(|waiting| waiting.queue_pair != queue_pair);
                }
                _ => {}
            }
        }
        lost
    }

    /// The other rail for the messages of each pair that lost data.
    fn other_rails(&self, lost: &[Lost]) -> Vec<(Edge, Rail)> {
        let mut hints: Vec<(Edge, Rail)> = Vec::new();
        for Lost {
            queue_pair, rail, ..
        } in lost
        {
            let [from, to] = self.net().ends(queue_pair.connection);
            let edge = Edge { from, to };
            if queue_pair.side == Side::Send && hints.iter().all(|(known, _)| *known != edge) {
                hints.push((edge, other(*rail)));
            }
        }
        hints
    }

    /// Why no hint right before a lost post changes it: the write would have been posted on the same rail at the same
    /// instant.
    fn hopeless(&self, lost: Lost) -> Option<Hopeless> {
        let Lost {
            queue_pair, rail, ..
        } = lost;
        if queue_pair.side == Side::Receive {
            return Some(Hopeless::ClearToSend(rail));
        }
        let path = self.net().path(queue_pair.connection, Side::Send);
        let split = path.split(all_to(other(rail)), self.traffic.size);
        let stays = split.mask().has(rail);
        let is_fixed = match path.share() {
            // A share that gives everything to the other rail put nothing here but the rest.
            ShareSource::Cached(share) => share == all_to(rail),
            // The rest of a split is SOUT's; only where the class alone counts does SUP keep anything.
            ShareSource::Agent => stays && rail == Rail::Sup,
        };
        if is_fixed {
            return Some(Hopeless::Fixed(rail));
        }
        stays.then(|| Hopeless::Rest(rail, split.on(rail)))
    }

    /// The job played again with hints right before `at`, up to the present instant; and the hosts whose agents could not
    /// write theirs.
    fn with_hints(&self, at: SimTime, hints: &[(Edge, Rail)]) -> (Self, Vec<HostId>) {
        let edges: Vec<Edge> = self.edges().map(|(edge, ..)| edge).collect();
        let mut job = Self::start((*self.began).clone(), &edges, self.traffic.clone());
        let mut silent = Vec::new();
        let before = at.before().filter(|before| *before >= self.start);
        let (early, late): (Vec<_>, Vec<_>) = self
            .inputs
            .iter()
            .partition(|(now, _)| Some(*now) <= before);
        for (_, input) in early {
            job.take(input);
        }
        if let Some(before) = before {
            job.advance(before);
        }
        for (edge, rail) in hints {
            let share = all_to(*rail);
            let hint = AgentAction::Hint { to: edge.to, share };
            if before.is_none() || !job.agent(edge.from, hint) {
                silent.push(edge.from);
            }
        }
        for (_, input) in late {
            job.take(input);
        }
        job.advance(self.net().now());
        (job, silent)
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Port(change) => self.notify(change),
            Input::Agent {
                after,
                host,
                action,
            } => {
                if let Some(after) = after {
                    self.advance(after);
                }
                self.agent(host, action);
            }
            Input::Loss { host, at } => self.lose_rank(host, at),
        }
    }
}

fn other(rail: Rail) -> Rail {
    match rail {
        Rail::Sout => Rail::Sup,
        Rail::Sup => Rail::Sout,
    }
}

/// The share that gives the most to a rail.
fn all_to(rail: Rail) -> SupBandwidth {
    match rail {
        Rail::Sout => SupBandwidth::NONE,
        Rail::Sup => SupBandwidth::MAX,
    }
}
