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
        /// A post that was lost; for [`Hopeless::NoHint`] the first.
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
    /// The mask was fixed when the connection was made, and no hint is read.
    Fixed(Rail),
    /// The host's agent writes no hint: it is dead, or the pair has no slot yet.
    NoHint(HostId),
    /// However much a hint gives to the other rail, this much of each message is posted on the rail; an empty message
    /// is posted on SOUT.
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
    /// All connections with a lost write count, because any of them ends the job.
    #[must_use]
    pub fn rescue(&self) -> Option<Rescue> {
        let cause = self.failure()?.cause;
        let FailureCause::Network(Death::RetryExceeded { .. }) = cause else {
            return None;
        };
        let lost = self.lost();
        let at = lost.iter().map(|lost| lost.at).min()?;
        let hints = self.other_rails(&lost);
        if let Some((at, why)) = lost.iter().find_map(|lost| self.hopeless(*lost)) {
            return Some(Rescue::None { at, why });
        }
        let played = match self.with_hints(at, &hints) {
            Ok(played) => played,
            Err(host) => {
                let why = Hopeless::NoHint(host);
                return Some(Rescue::None { at, why });
            }
        };
        let failure = played.failure().copied();
        let waits = played.stalls().any(|stall| stall.to.is_none());
        Some(if failure.is_some() || waits {
            Rescue::NotEnough { at, hints, failure }
        } else {
            Rescue::Hints { at, hints }
        })
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

    /// Why no hint right before a lost post changes it: a write would have been posted on the same rail at the same
    /// instant.
    fn hopeless(&self, lost: Lost) -> Option<(SimTime, Hopeless)> {
        let Lost {
            queue_pair,
            rail,
            at,
        } = lost;
        if queue_pair.side == Side::Receive {
            return Some((at, Hopeless::ClearToSend(rail)));
        }
        let path = self.net().path(queue_pair.connection, Side::Send);
        if let ShareSource::Cached(_) = path.share() {
            return Some((at, Hopeless::Fixed(rail)));
        }
        let split = path.split(all_to(other(rail)), self.traffic.size);
        let rest = split.mask().has(rail).then(|| split.on(rail));
        rest.map(|rest| (at, Hopeless::Rest(rail, rest)))
    }

    /// The job played again with hints right before `at`, up to the present instant.
    ///
    /// # Errors
    ///
    /// The host whose agent cannot write its hint.
    fn with_hints(&self, at: SimTime, hints: &[(Edge, Rail)]) -> Result<Self, HostId> {
        let before = at.before().filter(|before| *before >= self.start);
        let Some(before) = before else {
            // The connections are made at the instant of the post.
            return Err(hints[0].0.from);
        };
        let edges: Vec<Edge> = self.edges().map(|(edge, ..)| edge).collect();
        let mut job = Self::start((*self.began).clone(), &edges, self.traffic.clone());
        let (early, late): (Vec<_>, Vec<_>) =
            self.inputs.iter().partition(|(now, _)| *now <= before);
        for (_, input) in early {
            job.take(*input);
        }
        job.advance(before);
        for (edge, rail) in hints {
            let share = all_to(*rail);
            let hint = AgentAction::Hint { to: edge.to, share };
            if !job.agent(edge.from, hint) {
                return Err(edge.from);
            }
        }
        for (_, input) in late {
            job.take(*input);
        }
        job.advance(self.net().now());
        Ok(job)
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
