//! A job: ranks that send to each other over a net until the first of them fails.
//!
//! Every edge has one connection, and sends one message per period: the receiver offers a buffer, and
//! its clear-to-send lets the sender post. Edges do not wait for each other, so that the effects on
//! each edge can be observed separately.
//!
//! If any rank's plugin is refused, the whole job runs on NCCL's own transport: one rail, SOUT, the
//! same outage rule, no classification (NCCL's behaviour if only some ranks are refused is not known).
//!
//! Changes of ports are inputs of [`Job::notify`], what agents do of [`Job::agent`]; [`Job::advance`] advances time.
//! A job remembers its inputs, so that it can be played again with a hint more (`rescue`).

use std::collections::BTreeSet;

use simfs::SimTime;

use super::failure::{Failure, FailureCause, Stall};
use super::message::{Receive, RequestId, Tag};
use super::traffic::{Edge, Traffic};
use super::{
    AgentAction, ConnectionId, HostId, Isend, NcclResult, Net, Progress, RailChange, Refusal,
    Transport,
};
use workloads::WorkloadOutcome;

/// The tag of every message of a job; an edge has at most one message in flight.
const TAG: Tag = Tag(1);

#[derive(Clone, Copy, Debug)]
enum Sending {
    /// No clear-to-send yet.
    Waits,
    /// Posted.
    Posted(RequestId),
    /// Done.
    Done,
    /// The call does not return.
    Spins,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Idle {
        beat: SimTime,
    },
    Busy {
        from: SimTime,
        sending: Sending,
        received: Option<RequestId>,
    },
}

#[derive(Clone, Debug)]
struct Lane {
    edge: Edge,
    connection: ConnectionId,
    state: State,
    messages: u64,
}

/// What reached a job from outside.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input {
    /// A port changed.
    Port(RailChange),
    /// An agent acted; everything up to `after` had happened by then, or nothing yet.
    Agent {
        after: Option<SimTime>,
        host: HostId,
        action: AgentAction<HostId>,
    },
    /// A rank's process ended.
    Loss { host: HostId, at: SimTime },
}

/// A collective job with its net.
#[derive(Clone, Debug)]
pub struct Job {
    /// The net before the start.
    pub(super) began: Box<Net>,
    /// Inputs with the net's time after each, in order.
    pub(super) inputs: Vec<(SimTime, Input)>,
    /// Everything up to here has happened; `None` before the first message.
    advanced: Option<SimTime>,
    net: Net,
    pub(super) traffic: Traffic,
    pub(super) start: SimTime,
    ranks: BTreeSet<HostId>,
    lanes: Vec<Lane>,
    refusals: Vec<(HostId, Refusal)>,
    stalls: Vec<Stall>,
    failure: Option<Failure>,
}

impl Job {
    /// Starts the plugin of every rank on `edges`, connects the edges in order, and sends the first
    /// messages at the net's present time.
    #[must_use]
    pub fn start(mut net: Net, edges: &[Edge], traffic: Traffic) -> Self {
        let began = Box::new(net.clone());
        let ranks: BTreeSet<HostId> = edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
        let mut refusals = Vec::new();
        for host in &ranks {
            if let Err(refusal) = net.init(*host) {
                refusals.push((*host, refusal));
            }
        }
        if !refusals.is_empty() {
            net.fall_back();
        }
        let start = net.now();
        let mut job = Self {
            began,
            inputs: Vec::new(),
            advanced: None,
            net,
            start,
            ranks,
            lanes: Vec::new(),
            refusals,
            stalls: Vec::new(),
            failure: None,
            traffic,
        };
        for edge in edges {
            match job.net.connect(edge.from, edge.to) {
                Ok(connection) => {
                    let beat = job.traffic.beat(start, start);
                    job.lanes.push(Lane {
                        edge: *edge,
                        connection,
                        state: State::Idle { beat },
                        messages: 0,
                    });
                }
                Err(error) => {
                    job.fail(Some(*edge), FailureCause::Connect(error));
                    return job;
                }
            }
        }
        job
    }

    /// Advances time up to and including `to`.
    pub fn advance(&mut self, to: SimTime) {
        while let Some(at) = self.next_at().filter(|at| *at <= to) {
            self.net.advance(at);
            self.look();
        }
        self.net.advance(to);
        self.advanced = self.advanced.max(Some(to));
    }

    /// Applies a change of a port. What is due before it happens first; what is due at the same
    /// instant happens after it.
    pub fn notify(&mut self, change: RailChange) {
        self.advance_before(change.at);
        self.net.notify(change);
        self.look_for_deaths();
        self.remember(Input::Port(change));
    }

    /// An action of the agent of `host`, or on it, at the net's present time. Returns `false` if it is impossible:
    /// the agent is dead, or has no slot for the pair.
    ///
    /// # Panics
    ///
    /// If the net has no such host.
    pub fn agent(&mut self, host: HostId, action: AgentAction<HostId>) -> bool {
        let after = self.advanced;
        self.remember(Input::Agent {
            after,
            host,
            action,
        });
        let address = |host| self.net.host(host).nics.sout.gid.ipv4_bits();
        let source = address(host);
        match action {
            AgentAction::Hint { to, share } => {
                let destination = address(to);
                let agent = self.net.agent_mut(host);
                agent.write(source, destination, share)
            }
            AgentAction::DiesWhileWriting { to } => {
                let destination = address(to);
                let agent = self.net.agent_mut(host);
                agent.kill_while_writing(source, destination)
            }
            AgentAction::Dies => {
                self.net.agent_mut(host).kill();
                true
            }
        }
    }

    /// Ends a rank's process, and with it the job.
    pub fn lose_rank(&mut self, host: HostId, at: SimTime) {
        self.advance_before(at);
        self.net.advance(at);
        self.fail(None, FailureCause::RankLost(host));
        self.remember(Input::Loss { host, at });
    }

    /// The time of the next event; `None` once the job has failed.
    #[must_use]
    pub fn next_at(&self) -> Option<SimTime> {
        if self.failure.is_some() {
            return None;
        }
        let lanes = self.lanes.iter().filter_map(|lane| match lane.state {
            State::Idle { beat } => (beat < SimTime::MAX).then_some(beat),
            State::Busy { from, .. } => Some(from + self.traffic.time_limit),
        });
        lanes.chain(self.net.next_at()).min()
    }

    /// The outcome so far.
    #[must_use]
    pub fn outcome(&self) -> WorkloadOutcome {
        if self.failure.is_some() {
            return WorkloadOutcome::Failed;
        }
        if self.stalls().next().is_some() {
            return WorkloadOutcome::Degraded;
        }
        WorkloadOutcome::Survived
    }

    /// The failure of the job, if it failed. It affects all ranks, because one dead connection ends
    /// the communicator.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The result of a rank's calls: success, or what ended the job; `None` if they never returned.
    #[must_use]
    pub fn result(&self) -> Option<NcclResult> {
        match self.failure {
            None => Some(NcclResult::Success),
            Some(failure) => failure.cause.result(),
        }
    }

    /// The ranks of the job, in the order of their hosts.
    pub fn ranks(&self) -> impl Iterator<Item = HostId> + '_ {
        self.ranks.iter().copied()
    }

    /// The ranks that failed: none or all, because one dead connection ends the communicator.
    #[must_use]
    pub fn failed_ranks(&self) -> Vec<HostId> {
        match self.failure {
            None => Vec::new(),
            Some(_) => self.ranks().collect(),
        }
    }

    /// The messages that had to wait, including those still waiting.
    pub fn stalls(&self) -> impl Iterator<Item = Stall> + '_ {
        let now = self.net.now();
        let waiting = self.lanes.iter().filter_map(move |lane| match lane.state {
            State::Busy { from, .. } if from < now => Some(Stall {
                edge: lane.edge,
                from,
                to: None,
            }),
            _ => None,
        });
        self.stalls.iter().copied().chain(waiting)
    }

    /// The connected edges, each with its connection and the number of messages delivered on it.
    pub fn edges(&self) -> impl Iterator<Item = (Edge, ConnectionId, u64)> + '_ {
        self.lanes
            .iter()
            .map(|lane| (lane.edge, lane.connection, lane.messages))
    }

    /// The ranks whose plugin was refused, and why.
    #[must_use]
    pub fn refusals(&self) -> &[(HostId, Refusal)] {
        &self.refusals
    }

    /// The transport that moves the data.
    #[must_use]
    pub const fn transport(&self) -> Transport {
        self.net.transport()
    }

    /// The net of the job.
    #[must_use]
    pub const fn net(&self) -> &Net {
        &self.net
    }

    fn remember(&mut self, input: Input) {
        self.inputs.push((self.net.now(), input));
    }

    fn advance_before(&mut self, at: SimTime) {
        if let Some(before) = at.before() {
            self.advance(before);
        }
    }

    fn fail(&mut self, edge: Option<Edge>, cause: FailureCause) {
        if self.failure.is_some() {
            return;
        }
        // A message that waits now will wait forever.
        self.stalls = self.stalls().collect();
        for lane in &mut self.lanes {
            lane.state = State::Idle { beat: SimTime::MAX };
        }
        let at = self.net.now();
        self.failure = Some(Failure { at, edge, cause });
    }

    /// Handles everything that is due on the edges at the net's present time.
    fn look(&mut self) {
        self.look_for_deaths();
        for index in 0..self.lanes.len() {
            if self.failure.is_some() {
                return;
            }
            let Lane { edge, state, .. } = self.lanes[index];
            let now = self.net.now();
            let looked = match state {
                State::Idle { beat } if beat <= now => self.begin(index),
                State::Idle { .. } => continue,
                State::Busy { .. } => self.drive(index),
            };
            // A job's calls fail on dead connections only, and one may have died of this call.
            if looked.is_err() {
                self.look_for_deaths();
            }
            if let State::Busy { from, .. } = self.lanes[index].state
                && from + self.traffic.time_limit <= now
            {
                self.fail(Some(edge), FailureCause::Hung);
            }
        }
    }

    fn look_for_deaths(&mut self) {
        let dead = self.lanes.iter().find_map(|lane| {
            let (_, death) = self.net.death(lane.connection)?;
            Some((lane.edge, death))
        });
        if let Some((edge, death)) = dead {
            self.fail(Some(edge), FailureCause::Network(death));
        }
    }

    fn begin(&mut self, index: usize) -> Result<(), NcclResult> {
        let receive = Receive {
            tag: TAG,
            size_max: self.traffic.size,
        };
        let received = self.net.irecv(self.lanes[index].connection, &[receive])?;
        self.lanes[index].state = State::Busy {
            from: self.net.now(),
            sending: Sending::Waits,
            received: Some(received),
        };
        self.drive(index)
    }

    fn drive(&mut self, index: usize) -> Result<(), NcclResult> {
        let Lane {
            connection,
            edge,
            state,
            ..
        } = self.lanes[index];
        let State::Busy {
            from,
            mut sending,
            mut received,
        } = state
        else {
            return Ok(());
        };
        if let Sending::Waits = sending {
            sending = match self.net.isend(connection, TAG, self.traffic.size)? {
                Isend::Request(request, _) => Sending::Posted(request),
                Isend::CallAgain => Sending::Waits,
                Isend::Spins => Sending::Spins,
            };
        }
        if let Sending::Posted(request) = sending
            && let Progress::Done(_) = self.net.test(request)?
        {
            sending = Sending::Done;
        }
        if let Some(request) = received
            && let Progress::Done(_) = self.net.test(request)?
        {
            received = None;
        }
        let now = self.net.now();
        let lane = &mut self.lanes[index];
        if let (Sending::Done, None) = (sending, received) {
            lane.messages += 1;
            let after = now + SimTime::from_ns(1);
            let beat = self.traffic.beat(self.start, after);
            lane.state = State::Idle { beat };
            if from < now {
                let to = Some(now);
                self.stalls.push(Stall { edge, from, to });
            }
        } else {
            lane.state = State::Busy {
                from,
                sending,
                received,
            };
        }
        Ok(())
    }
}
