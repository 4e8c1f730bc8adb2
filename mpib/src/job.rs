//! A job: ranks that send to each other over a net until the first of them fails.
//!
//! Every edge has one connection, and sends one message per period: the receiver offers a buffer, and
//! its clear-to-send lets the sender post. So many messages can be in flight on an edge as its traffic says; what waits
//! behind another on a queue pair is flushed with it. By default edges do not wait for each other, so that the effects on
//! each edge can be observed separately; [`JobTraffic::dependent`] makes them the steps of an allreduce, each of which needs the
//! one before.
//!
//! If any rank's plugin is refused, the whole job runs on NCCL's own transport: one rail, SOUT, the
//! same outage rule, no classification (NCCL's behaviour if only some ranks are refused is not known).
//!
//! Changes of ports are inputs of [`Job::notify`], what agents do of [`Job::agent`]; [`Job::advance`] advances time.
//! A job remembers its inputs, so that it can be played again with a hint more (`rescue`).

use std::collections::{BTreeSet, VecDeque};

use simfs::SimTime;

use super::failure::{Failure, FailureCause, Stall};
use super::message::{Receive, RequestId, Tag};
use super::traffic::{Edge, JobTraffic};
use super::{
    AgentAction, ConnectionId, HostId, Isend, NcclResult, Net, Progress, RailChange, Refusal,
    Transport,
};
use workloads::WorkloadOutcome;

/// The tag of every message of a job; those of an edge go into the buffers in their order.
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

/// A message in flight.
#[derive(Clone, Copy, Debug)]
struct Flying {
    from: SimTime,
    sending: Sending,
    received: Option<RequestId>,
}

impl Flying {
    fn is_done(&self) -> bool {
        matches!((self.sending, self.received), (Sending::Done, None))
    }
}

#[derive(Clone, Debug)]
struct Lane {
    edge: Edge,
    connection: ConnectionId,
    /// When the next message begins; the largest time while as many are in flight as may be.
    beat: SimTime,
    /// The messages in flight, the oldest first.
    flying: VecDeque<Flying>,
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
    pub(super) traffic: JobTraffic,
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
    pub fn start(mut net: Net, edges: &[Edge], traffic: JobTraffic) -> Self {
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
                        beat,
                        flying: VecDeque::new(),
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
        let address = |host| self.net.host(host).nics.sout.gid.ipv4_bits();
        let source = address(host);
        let done = match action {
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
        };
        if done {
            self.remember(Input::Agent {
                after,
                host,
                action,
            });
        }
        done
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
        let lanes = self.lanes.iter().flat_map(|lane| {
            let oldest = lane.flying.front();
            let hangs = oldest.map(|oldest| oldest.from + self.traffic.time_limit);
            let begins = (lane.beat < SimTime::MAX).then_some(lane.beat);
            hangs.into_iter().chain(begins)
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
        let waiting = self.lanes.iter().flat_map(move |lane| {
            let waits = lane.flying.iter().filter(move |flying| flying.from < now);
            waits.map(|flying| Stall {
                edge: lane.edge,
                from: flying.from,
                to: None,
            })
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
            lane.beat = SimTime::MAX;
            lane.flying.clear();
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
            let now = self.net.now();
            let Lane {
                edge, beat, flying, ..
            } = &self.lanes[index];
            let (edge, is_due) = (*edge, *beat <= now);
            if flying.is_empty() && !is_due {
                continue;
            }
            let mut looked = self.drive(index);
            if looked.is_ok() && is_due {
                if self.may_begin(index) {
                    looked = self.begin(index);
                } else {
                    self.skip(index);
                }
            }
            // A job's calls fail on dead connections only, and one may have died of this call.
            if looked.is_err() {
                self.look_for_deaths();
            }
            if let Some(oldest) = self.lanes[index].flying.front()
                && oldest.from + self.traffic.time_limit <= now
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

    /// Whether what the next message of an edge depends on has arrived at its sender.
    fn may_begin(&self, index: usize) -> bool {
        let lane = &self.lanes[index];
        let begun = lane.messages + lane.flying.len() as u64;
        let mut inbound = self.lanes.iter().filter(|it| it.edge.to == lane.edge.from);
        !self.traffic.dependent || inbound.all(|it| it.messages >= begun)
    }

    /// Leaves out a time to send.
    fn skip(&mut self, index: usize) {
        let after = self.net.now() + SimTime::from_ns(1);
        self.lanes[index].beat = self.traffic.beat(self.start, after);
    }

    fn begin(&mut self, index: usize) -> Result<(), NcclResult> {
        let receive = Receive {
            tag: TAG,
            size_max: self.traffic.size,
        };
        let received = self.net.irecv(self.lanes[index].connection, &[receive])?;
        let from = self.net.now();
        let lane = &mut self.lanes[index];
        lane.flying.push_back(Flying {
            from,
            sending: Sending::Waits,
            received: Some(received),
        });
        let is_full = lane.flying.len() >= usize::from(self.traffic.in_flight);
        lane.beat = if is_full {
            SimTime::MAX
        } else {
            self.traffic.beat(self.start, from + SimTime::from_ns(1))
        };
        self.drive(index)
    }

    fn drive(&mut self, index: usize) -> Result<(), NcclResult> {
        let called = self.call(index);
        self.land(index);
        called
    }

    /// Makes the calls that are due on an edge.
    fn call(&mut self, index: usize) -> Result<(), NcclResult> {
        let connection = self.lanes[index].connection;
        // The calls are made in order: a message that cannot be sent yet holds up those behind it.
        let mut is_held_up = false;
        for place in 0..self.lanes[index].flying.len() {
            let Flying {
                from,
                mut sending,
                mut received,
            } = self.lanes[index].flying[place];
            if let Sending::Waits = sending
                && !is_held_up
            {
                sending = match self.net.isend(connection, TAG, self.traffic.size)? {
                    Isend::Request(request, _) => Sending::Posted(request),
                    Isend::CallAgain => Sending::Waits,
                    Isend::Spins => Sending::Spins,
                };
            }
            is_held_up |= matches!(sending, Sending::Waits | Sending::Spins);
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
            self.lanes[index].flying[place] = Flying {
                from,
                sending,
                received,
            };
        }
        Ok(())
    }

    /// Takes what is delivered off its edge.
    fn land(&mut self, index: usize) {
        let now = self.net.now();
        let lane = &mut self.lanes[index];
        let (edge, before) = (lane.edge, lane.flying.len());
        for flying in lane.flying.iter().filter(|flying| flying.is_done()) {
            lane.messages += 1;
            if flying.from < now {
                let (from, to) = (flying.from, Some(now));
                self.stalls.push(Stall { edge, from, to });
            }
        }
        lane.flying.retain(|flying| !flying.is_done());
        if lane.flying.len() < before && lane.beat == SimTime::MAX {
            let after = now + SimTime::from_ns(1);
            lane.beat = self.traffic.beat(self.start, after);
        }
    }
}
