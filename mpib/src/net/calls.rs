//! The calls that move data: `irecv`, `isend`, `test`.

use simfs::SimTime;

use super::{CLEAR_TO_SEND, Hazard, Net, RECEIVES_MAX, REQUESTS_MAX, Transport};
use crate::connection::{ConnectionId, Death, Load, Side, Write};
use crate::message::{Immediate, Receive, RequestId, Tag};
use crate::path::ShareSource;
use crate::{Bytes, NcclResult, Rail, RailMask, Split, SupBandwidth};

/// The result of `isend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isend {
    /// A request, and the rails that got a part.
    Request(RequestId, RailMask),
    /// Success with a NULL request: there is no clear-to-send yet, or none for this tag; call again.
    CallAgain,
    /// The call does not return: it spins on a hint whose write never ends.
    Spins,
}

/// The result of `test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is not done.
    Pending,
    /// It was done at this instant. This is returned once; the request is gone then.
    Done(SimTime),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    connection: ConnectionId,
    side: Side,
    /// The number of unacknowledged posts of a send.
    parts: u8,
    done: Option<SimTime>,
}

impl Net {
    /// Offers one to eight buffers to the sender by a clear-to-send write.
    ///
    /// # Errors
    ///
    /// [`NcclResult::SystemError`] on a dead connection, and if the send queue for clear-to-send is full,
    /// which ends the connection; [`NcclResult::InvalidUsage`] for zero or more than eight buffers, [`NcclResult::InternalError`] if 256 requests are open.
    pub fn irecv(
        &mut self,
        id: ConnectionId,
        receives: &[Receive],
    ) -> Result<RequestId, NcclResult> {
        self.require_alive(id)?;
        if receives.is_empty() || receives.len() > RECEIVES_MAX {
            return Err(NcclResult::InvalidUsage);
        }
        if self.connection(id).receives_open() >= REQUESTS_MAX {
            return Err(NcclResult::InternalError);
        }
        self.require_place_for_clear(id)?;
        let request = self.request(id, Side::Receive);
        let connection = self.connection_mut(id);
        let head = connection.offer(request, receives);
        connection.clears += 1;
        let (path, number) = (connection.receive.path, connection.clears);
        let Some(queue_pair) = path.cts_queue_pair() else {
            self.hazards.push(Hazard::NothingPosted {
                connection: id,
                rail: path.cts_rail(),
            });
            return Ok(request);
        };
        let bytes = receives.iter().map(|_| CLEAR_TO_SEND).sum();
        let signaled = self.clear_is_signaled(id).then_some(number);
        let load = Load::Clear { head, signaled };
        self.post(id, Side::Receive, queue_pair, Write { bytes, load });
        Ok(request)
    }

    /// Sends a message into the first cleared buffer with its tag, divided among the rails.
    ///
    /// # Errors
    ///
    /// [`NcclResult::SystemError`] on a dead connection, [`NcclResult::InvalidUsage`] if the message
    /// is larger than the buffer, [`NcclResult::InternalError`] if 256 requests are open.
    pub fn isend(&mut self, id: ConnectionId, tag: Tag, size: Bytes) -> Result<Isend, NcclResult> {
        self.require_alive(id)?;
        let connection = self.connection(id);
        let Some((head, index, receive)) = connection.next_buffer(tag) else {
            return Ok(Isend::CallAgain);
        };
        if size > receive.size_max {
            return Err(NcclResult::InvalidUsage);
        }
        if usize::try_from(connection.sends_open).is_ok_and(|open| open >= REQUESTS_MAX) {
            return Err(NcclResult::InternalError);
        }
        let path = connection.send.path;
        let Some(share) = self.share(id) else {
            self.hazards.push(Hazard::SpinsOnHint { connection: id });
            return Ok(Isend::Spins);
        };
        let split = path.split(share, size);
        let (request, mask) = (self.request(id, Side::Send), split.mask());
        let connection = self.connection_mut(id);
        connection.sends_open += 1;
        connection.masks[usize::from(mask.bits())] += 1;
        connection.sent(head, index);
        let slot = u8::try_from(head % 256).expect("a remainder of 256 fits");
        let load = Load::Data {
            head,
            index,
            request,
            immediate: Immediate::new(slot, mask, size),
        };
        self.post_parts(id, request, split, load);
        Ok(Isend::Request(request, mask))
    }

    /// Tests a request.
    ///
    /// # Errors
    ///
    /// [`NcclResult::SystemError`] if it is not done and its connection is dead,
    /// [`NcclResult::InternalError`] if there is no such request.
    pub fn test(&mut self, id: RequestId) -> Result<Progress, NcclResult> {
        let request = self.requests.get(&id).ok_or(NcclResult::InternalError)?;
        if let Some(at) = request.done {
            self.requests.remove(&id);
            return Ok(Progress::Done(at));
        }
        self.require_alive(request.connection)?;
        Ok(Progress::Pending)
    }

    /// Posts the parts of a message, the leading rail's first. A rail without queue pairs gets
    /// nothing, and its part counts as done.
    fn post_parts(&mut self, id: ConnectionId, request: RequestId, split: Split, load: Load) {
        let Load::Data { head, .. } = load else {
            unreachable!("the parts of a message are data")
        };
        let path = self.connection(id).send.path;
        let rails = Rail::BOTH
            .into_iter()
            .filter(|rail| split.mask().has(*rail));
        let pairs: Vec<_> = rails
            .map(|rail| (rail, path.queue_pair(rail, head)))
            .collect();
        let open = self
            .requests
            .get_mut(&request)
            .expect("it was made for these parts");
        for (rail, pair) in &pairs {
            match pair {
                Some(_) => open.parts += 1,
                None => self.hazards.push(Hazard::NothingPosted {
                    connection: id,
                    rail: *rail,
                }),
            }
        }
        if open.parts == 0 {
            self.completed(request);
        }
        for (rail, pair) in pairs {
            if let Some(pair) = pair {
                let bytes = split.on(rail);
                self.post(id, Side::Send, pair, Write { bytes, load });
            }
        }
    }

    /// Ends a connection whose receiver has no place for one more clear-to-send write. NCCL's own
    /// transport has a place for every request.
    fn require_place_for_clear(&mut self, id: ConnectionId) -> Result<(), NcclResult> {
        let (now, depth) = (self.now, u64::from(self.settings.cts_queue_depth));
        let plugin = self.transport == Transport::Mpib;
        let connection = self.connection_mut(id);
        if !plugin || connection.clears - connection.clears_freed < depth {
            return Ok(());
        }
        let (host, rail) = (connection.receive.host, connection.receive.path.cts_rail());
        connection.dead = Some((now, Death::QueueFull { host, rail }));
        Err(NcclResult::SystemError)
    }

    fn clear_is_signaled(&self, id: ConnectionId) -> bool {
        let connection = self.connection(id);
        let parameters = &self.host_state(connection.receive.host).parameters;
        let interval = parameters.as_ref().map_or(1, |has| has.cts_signal_interval);
        connection.clears.is_multiple_of(u64::from(interval))
    }

    pub(super) fn completed(&mut self, id: RequestId) {
        let now = self.now;
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        debug_assert!(request.done.is_none(), "a request completes once");
        request.done = Some(now);
        let (connection, side) = (request.connection, request.side);
        if side == Side::Send {
            self.connection_mut(connection).sends_open -= 1;
        }
    }

    pub(super) fn part_acknowledged(&mut self, id: RequestId) {
        let Some(request) = self.requests.get_mut(&id) else {
            return;
        };
        request.parts -= 1;
        if request.parts == 0 {
            self.completed(id);
        }
    }

    fn require_alive(&self, id: ConnectionId) -> Result<(), NcclResult> {
        match self.connection(id).dead {
            None => Ok(()),
            Some(_) => Err(NcclResult::SystemError),
        }
    }

    fn request(&mut self, connection: ConnectionId, side: Side) -> RequestId {
        let id = RequestId(self.requests_made);
        self.requests_made += 1;
        let request = Request {
            connection,
            side,
            parts: 0,
            done: None,
        };
        self.requests.insert(id, request);
        id
    }

    /// The share of SUP for the next message; `None` if reading it never ends.
    fn share(&mut self, id: ConnectionId) -> Option<SupBandwidth> {
        let end = &self.connection(id).send;
        let (host, slot) = (end.host, end.slot);
        match (end.path.share(), slot) {
            (ShareSource::Cached(share), _) => Some(share),
            (ShareSource::Agent, None) => unreachable!("an end that reads hints has a slot"),
            (ShareSource::Agent, Some(slot)) => {
                let host_state = self.host_state_mut(host);
                host_state.hint_reads += 1;
                host_state.host.agent.read(slot)
            }
        }
    }
}
