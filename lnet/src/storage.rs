//! Storage traffic: a client that writes to a server over LNet, and its outcome.
//!
//! Once a second the client starts a write of 1 MiB: it sends a request (PUT), the server fetches the
//! data (GET) and answers (PUT). The client retries what LNet reports as failed, at either end, and
//! what stays unanswered; the server evicts a client that has been silent for too long. Numbers are
//! those of "lustre/include/obd_support.h".
//!
//! Locks, recovery after an eviction and the content of writes are not modelled.

use std::collections::BTreeMap;

use platforms::NodeName;
use simfs::SimTime;

use super::{
    error::LnetError,
    message::{MessageId, Request, Verb},
    network::Lnet,
    nid::Nid,
    stats::MessageKind,
    workload_event::{UlpResult, What, WorkloadEvent},
};
use workloads::WorkloadOutcome;

/// Size of a write in bytes: 1 MiB.
pub const WRITE_BYTES: u64 = 1_048_576;
/// Size in bytes of a request, an answer or a ping of the file system.
const RPC_BYTES: u64 = 4096;
/// Portals of requests and pings to the server, of its fetches, and of its answers. 0 is LNet's own.
const REQUEST_PORTAL: u32 = 6;
const BULK_PORTAL: u32 = 8;
const ANSWER_PORTAL: u32 = 4;

/// The intervals and timeouts of both sides. Each is at least a millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// The interval at which writes start.
    pub write_interval: SimTime,
    /// The number of writes that may be in flight (`max_rpcs_in_flight`).
    pub writes_max: usize,
    /// `obd_timeout`: a write without an answer for this long has failed.
    pub obd_timeout: SimTime,
    /// The ping interval of an idle client, a quarter of `obd_timeout`; a client that receives nothing
    /// for this long is stalled, and retries.
    pub ping_interval: SimTime,
    /// A client that is silent for this long, six pings, is evicted.
    pub eviction: SimTime,
    /// The client's delay before a retry after LNet has reported a failure.
    pub reconnect: SimTime,
}

impl Default for Patience {
    /// One write a second, 8 in flight; 100 s, 25 s and 150 s; 5 s, the shortest delay of a reconnect.
    fn default() -> Self {
        Self {
            write_interval: SimTime::from_secs(1),
            writes_max: 8,
            obd_timeout: SimTime::from_secs(100),
            ping_interval: SimTime::from_secs(25),
            eviction: SimTime::from_secs(150),
            reconnect: SimTime::from_secs(5),
        }
    }
}

impl Patience {
    /// Limits every value to at least a millisecond, because zero would stop time from passing.
    fn at_least_a_ms(self) -> Self {
        let ms = SimTime::from_ms(1);
        Self {
            write_interval: self.write_interval.max(ms),
            writes_max: self.writes_max,
            obd_timeout: self.obd_timeout.max(ms),
            ping_interval: self.ping_interval.max(ms),
            eviction: self.eviction.max(ms),
            reconnect: self.reconnect.max(ms),
        }
    }
}

/// The counters and events so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageReport {
    /// Number of writes started.
    pub started: u64,
    /// Number of writes answered.
    pub answered: u64,
    /// Number of errors that LNet reported to the client or about the server's side of a write.
    pub errors: u64,
    /// Number of the client's retries.
    pub retries: u64,
    /// When a write or the client first waited for a ping interval.
    pub stalled_at: Option<SimTime>,
    /// When the server evicted the client.
    pub evicted_at: Option<SimTime>,
    /// When a write had been unanswered for `obd_timeout`. A write's attempts use whatever paths LNet
    /// selects, so this is independent of the path.
    pub unanswered_at: Option<SimTime>,
}

impl StorageReport {
    /// The outcome so far.
    #[must_use]
    pub fn outcome(&self) -> WorkloadOutcome {
        if self.failed_at().is_some() {
            WorkloadOutcome::Failed
        } else if self.errors > 0 || self.retries > 0 || self.stalled_at.is_some() {
            WorkloadOutcome::Degraded
        } else {
            WorkloadOutcome::Survived
        }
    }

    /// When it failed: the earlier of the two kinds of failure.
    #[must_use]
    pub fn failed_at(&self) -> Option<SimTime> {
        [self.evicted_at, self.unanswered_at]
            .into_iter()
            .flatten()
            .min()
    }
}

/// The part of a write that a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Ask(u64),
    Fetch(u64),
    Answer(u64),
    Ping,
}

/// A write in flight.
#[derive(Clone, Copy, Debug)]
struct Write {
    started: SimTime,
    /// When the present attempt began.
    tried: SimTime,
    /// When to retry, after a reported failure.
    again: Option<SimTime>,
}

/// A client, a server, and the writes between them.
#[derive(Clone, Debug)]
pub struct Storage {
    client: NodeName,
    server: NodeName,
    client_nid: Nid,
    server_nid: Nid,
    patience: Patience,
    next_write: SimTime,
    next_number: u64,
    writes: BTreeMap<u64, Write>,
    parts: BTreeMap<MessageId, Part>,
    /// The requests of `parts` that were sent since somebody asked.
    sent: Vec<MessageId>,
    /// When the server last received something from the client, and when the client last sent.
    heard: SimTime,
    spoke: SimTime,
    report: StorageReport,
}

impl Storage {
    /// A client and a server that are mounted from now on; the first write starts at once. Each is
    /// addressed by its primary NID.
    ///
    /// # Errors
    /// [`LnetError::NoNode`].
    pub fn new(
        lnet: &Lnet,
        client: &NodeName,
        server: &NodeName,
        patience: Patience,
    ) -> Result<Self, LnetError> {
        let primary = |name: &NodeName| {
            let ni = lnet.node(name).and_then(|node| node.nis().first());
            ni.map(|ni| ni.nid().clone())
                .ok_or_else(|| LnetError::NoNode(name.clone()))
        };
        Ok(Self {
            client_nid: primary(client)?,
            server_nid: primary(server)?,
            client: client.clone(),
            server: server.clone(),
            patience: patience.at_least_a_ms(),
            next_write: lnet.now(),
            next_number: 0,
            writes: BTreeMap::new(),
            parts: BTreeMap::new(),
            sent: Vec::new(),
            heard: lnet.now(),
            spoke: lnet.now(),
            report: StorageReport::default(),
        })
    }

    /// The counters and events so far.
    #[must_use]
    pub fn report(&self) -> &StorageReport {
        &self.report
    }

    /// Advances the network and its traffic.
    pub fn advance(&mut self, lnet: &mut Lnet, to: SimTime) {
        Self::advance_all(std::slice::from_mut(self), lnet, to);
    }

    /// Advances several clients and servers on one network.
    pub fn advance_all(all: &mut [Self], lnet: &mut Lnet, to: SimTime) {
        // Whose request an event is about: with many clients not each is asked.
        let mut whose: BTreeMap<MessageId, usize> = BTreeMap::new();
        for (at, storage) in all.iter_mut().enumerate() {
            storage.sent.clear();
            whose.extend(storage.parts.keys().map(|request| (*request, at)));
        }
        loop {
            let now = lnet.now();
            for (at, storage) in all.iter_mut().enumerate() {
                storage.act(lnet);
                whose.extend(storage.sent.drain(..).map(|request| (request, at)));
            }
            // Events due now come first; they may cause further actions at this time.
            let mut happened = lnet.advance(now);
            if happened.is_empty() {
                if now >= to {
                    return;
                }
                let own = all.iter().map(|storage| storage.next_due(now)).min();
                let next = lnet.next_due().min(own.unwrap_or(SimTime::MAX)).min(to);
                happened = lnet.advance(next);
            }
            for entry in &happened {
                let (What::Arrived { request, .. } | What::Told { request, .. }) = &entry.what
                else {
                    continue;
                };
                if let Some(&at) = whose.get(request) {
                    let storage = &mut all[at];
                    storage.hear(lnet, entry);
                    if !storage.parts.contains_key(request) {
                        whose.remove(request);
                    }
                    whose.extend(storage.sent.drain(..).map(|request| (request, at)));
                }
            }
        }
    }

    /// The next time after `now` at which the client or the server acts by itself.
    fn next_due(&self, now: SimTime) -> SimTime {
        let patience = &self.patience;
        let mut moments = vec![
            self.next_write,
            self.spoke + patience.ping_interval,
            self.heard + patience.eviction,
        ];
        for write in self.writes.values() {
            moments.push(write.started + patience.obd_timeout);
            moments.push(write.tried + patience.ping_interval);
            moments.extend(write.again);
        }
        moments
            .into_iter()
            .filter(|&moment| moment > now)
            .min()
            .unwrap_or(SimTime::MAX)
    }

    fn act(&mut self, lnet: &mut Lnet) {
        let now = lnet.now();
        let patience = self.patience;
        if now >= self.next_write {
            self.next_write = now + patience.write_interval;
            if self.writes.len() < patience.writes_max {
                let number = self.next_number;
                self.next_number += 1;
                self.report.started += 1;
                self.writes.insert(
                    number,
                    Write {
                        started: now,
                        tried: now,
                        again: None,
                    },
                );
                self.ask(lnet, number);
            }
        }
        let numbers: Vec<u64> = self.writes.keys().copied().collect();
        for number in numbers {
            let Some(write) = self.writes.get_mut(&number) else {
                continue;
            };
            if now >= write.started + patience.obd_timeout {
                self.report
                    .unanswered_at
                    .get_or_insert(write.started + patience.obd_timeout);
            }
            let silent = now >= write.tried + patience.ping_interval;
            if silent {
                self.report.stalled_at.get_or_insert(now);
            }
            if silent || write.again.is_some_and(|again| now >= again) {
                write.tried = now;
                write.again = None;
                self.report.retries += 1;
                self.ask(lnet, number);
            }
        }
        if now >= self.spoke + patience.ping_interval {
            self.say(lnet, Verb::Put, Part::Ping);
        }
        if now >= self.heard + patience.eviction {
            self.report
                .evicted_at
                .get_or_insert(self.heard + patience.eviction);
        }
    }

    fn ask(&mut self, lnet: &mut Lnet, number: u64) {
        self.say(lnet, Verb::Put, Part::Ask(number));
    }

    /// Sends a part of a write; a node without LNet sends nothing.
    fn say(&mut self, lnet: &mut Lnet, verb: Verb, part: Part) {
        let by_client = matches!(part, Part::Ask(_) | Part::Ping);
        let (length, portal) = match part {
            Part::Ask(_) | Part::Ping => (RPC_BYTES, REQUEST_PORTAL),
            Part::Fetch(_) => (WRITE_BYTES, BULK_PORTAL),
            Part::Answer(_) => (RPC_BYTES, ANSWER_PORTAL),
        };
        let (node, destination) = if by_client {
            self.spoke = lnet.now();
            (&self.client, &self.server_nid)
        } else {
            (&self.server, &self.client_nid)
        };
        let request = Request {
            node: node.clone(),
            verb,
            source: None,
            destination: destination.clone(),
            length,
            portal,
        };
        match lnet.send(request) {
            Ok(id) => {
                self.parts.insert(id, part);
                self.sent.push(id);
            }
            Err(_) => self.fail(lnet.now(), part),
        }
    }

    fn hear(&mut self, lnet: &mut Lnet, entry: &WorkloadEvent) {
        match &entry.what {
            What::Arrived { request, kind, .. } => {
                let Some(part) = self.parts.get(request).copied() else {
                    return;
                };
                if entry.node == self.server {
                    self.heard = entry.at;
                }
                if *kind == MessageKind::Put {
                    self.parts.remove(request);
                }
                match part {
                    Part::Ask(number) => self.say(lnet, Verb::Get, Part::Fetch(number)),
                    Part::Answer(number) => {
                        self.report.answered += u64::from(self.writes.remove(&number).is_some());
                    }
                    Part::Fetch(_) | Part::Ping => {}
                }
            }
            What::Told {
                request,
                result,
                last: true,
                ..
            } => {
                let Some(part) = self.parts.get(request).copied() else {
                    return;
                };
                match (part, result) {
                    (Part::Fetch(number), UlpResult::Ok) => {
                        self.parts.remove(request);
                        self.heard = entry.at;
                        self.say(lnet, Verb::Put, Part::Answer(number));
                    }
                    // It was sent; the part is kept until it arrives.
                    (_, UlpResult::Ok) => {}
                    (_, UlpResult::Failed(_) | UlpResult::TimedOut | UlpResult::Shutdown) => {
                        self.parts.remove(request);
                        self.fail(entry.at, part);
                    }
                }
            }
            _ => {}
        }
    }

    /// An error counts at either end. Only an error at the client makes it retry soon; it detects one
    /// at the server by waiting.
    fn fail(&mut self, at: SimTime, part: Part) {
        self.report.errors += 1;
        if let Part::Ask(number) = part
            && let Some(write) = self.writes.get_mut(&number)
        {
            write.again.get_or_insert(at + self.patience.reconnect);
        }
    }
}
