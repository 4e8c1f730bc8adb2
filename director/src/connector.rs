//! The connector's script: how the platform connector reacts to calls, and whether it listens.
//!
//! It is pure and the same in both arms: the process arm applies it to a socket, the memory arm to
//! simulated calls. It does not look at the content of a call. Start at [`ConnectorScript`].

use scenarios::{ConnectorAction, ConnectorBehaviour, ConnectorLasting};
use simfs::SimTime;

/// The state of the socket path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Socket {
    /// No file.
    Absent,
    /// A socket file without a server: connections are refused.
    Refusing,
    /// A listening server.
    Listening,
}

/// The reaction to a received call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// It is accepted and answered.
    Accept,
    /// It is answered with this gRPC code, and not accepted.
    Status(i32),
    /// It is accepted, and answered after this much real time.
    Slow(SimTime),
    /// It is neither answered nor accepted; the caller's timeout ends it.
    Hang,
    /// It is accepted, and the connection is closed before the answer.
    LoseReply,
    /// The connection is closed; it is not accepted.
    Disconnect,
}

/// gRPC `UNAVAILABLE` (gRPC, "Status codes and their use in gRPC").
pub const UNAVAILABLE: i32 = 14;

const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

impl Reaction {
    /// Whether the connector accepted the call, whether or not the answer arrived.
    #[must_use]
    pub fn accepted(self) -> bool {
        matches!(self, Self::Accept | Self::Slow(_) | Self::LoseReply)
    }

    /// The answer as text, as a recording has it.
    #[must_use]
    pub fn answer(self) -> String {
        match self {
            Self::Accept => "accepted".to_owned(),
            Self::Status(code) => code_word(code),
            Self::Slow(after) => format!("accepted after {after}"),
            Self::Hang => "no answer".to_owned(),
            Self::LoseReply => "accepted, reply lost".to_owned(),
            Self::Disconnect => "cut off".to_owned(),
        }
    }
}

/// The name of a gRPC code, such as `UNAVAILABLE`.
#[must_use]
pub fn code_word(code: i32) -> String {
    let word = usize::try_from(code).ok().and_then(|code| CODES.get(code));
    word.map_or_else(|| format!("code {code}"), |word| (*word).to_owned())
}

/// The behaviour of a connector over the time of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectorScript {
    behaviour: ConnectorBehaviour,
    until: SimTime,
    calls_left: Option<u32>,
}

impl Default for ConnectorScript {
    fn default() -> Self {
        Self {
            behaviour: ConnectorBehaviour::Accept,
            until: SimTime::MAX,
            calls_left: None,
        }
    }
}

impl ConnectorScript {
    /// Sets the behaviour from `now` on. A limit in calls counts received calls, so it never ends
    /// an absent or refusing socket.
    pub fn set(&mut self, now: SimTime, action: &ConnectorAction) {
        self.behaviour = action.behaviour.clone();
        (self.until, self.calls_left) = match action.lasting {
            ConnectorLasting::Always => (SimTime::MAX, None),
            ConnectorLasting::For(span) => (now + span, None),
            ConnectorLasting::Calls(calls) => (SimTime::MAX, Some(calls)),
        };
    }

    /// Advances to `now`, and ends behaviours whose time is over.
    pub fn advance(&mut self, now: SimTime) {
        if self.until <= now {
            self.heal();
        }
    }

    /// Resets to accepting.
    pub fn heal(&mut self) {
        *self = Self::default();
    }

    /// The state of the socket path now.
    #[must_use]
    pub fn socket(&self) -> Socket {
        match self.behaviour {
            ConnectorBehaviour::Absent => Socket::Absent,
            ConnectorBehaviour::Down => Socket::Refusing,
            _ => Socket::Listening,
        }
    }

    /// The reaction to a received call. If nothing listens, no call is received; one that arrives
    /// all the same is answered as if the server had just gone.
    pub fn call(&mut self) -> Reaction {
        if self.calls_left == Some(0) {
            self.heal();
        }
        if let Some(left) = &mut self.calls_left {
            *left -= 1;
        }
        match self.behaviour {
            ConnectorBehaviour::Accept => Reaction::Accept,
            ConnectorBehaviour::Refuse => Reaction::Status(UNAVAILABLE),
            ConnectorBehaviour::Code(code) => Reaction::Status(code),
            ConnectorBehaviour::Slow(after) => Reaction::Slow(after),
            ConnectorBehaviour::Hang => Reaction::Hang,
            ConnectorBehaviour::LoseReply => Reaction::LoseReply,
            ConnectorBehaviour::Disconnect
            | ConnectorBehaviour::Absent
            | ConnectorBehaviour::Down => Reaction::Disconnect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(behaviour: ConnectorBehaviour, lasting: ConnectorLasting) -> ConnectorScript {
        let mut script = ConnectorScript::default();
        script.set(
            SimTime::from_secs(5),
            &ConnectorAction { behaviour, lasting },
        );
        script
    }

    #[test]
    fn a_number_of_calls_ends_a_behaviour() {
        let mut script = script(ConnectorBehaviour::Refuse, ConnectorLasting::Calls(2));
        let reactions: Vec<_> = (0..4).map(|_| script.call()).collect();
        assert_eq!(
            reactions,
            [
                Reaction::Status(UNAVAILABLE),
                Reaction::Status(UNAVAILABLE),
                Reaction::Accept,
                Reaction::Accept
            ]
        );
    }

    #[test]
    fn a_time_ends_a_behaviour_at_its_very_end() {
        let lasting = ConnectorLasting::For(SimTime::from_secs(3));
        let mut script = script(ConnectorBehaviour::Absent, lasting);
        script.advance(SimTime::from_secs(7));
        assert_eq!(script.socket(), Socket::Absent);
        script.advance(SimTime::from_secs(8));
        assert_eq!(script.socket(), Socket::Listening);
    }

    #[test]
    fn a_socket_is_there_where_somebody_listens_or_did() {
        let socket = |behaviour| script(behaviour, ConnectorLasting::Always).socket();
        assert_eq!(socket(ConnectorBehaviour::Absent), Socket::Absent);
        assert_eq!(socket(ConnectorBehaviour::Down), Socket::Refusing);
        assert_eq!(socket(ConnectorBehaviour::Hang), Socket::Listening);
    }

    #[test]
    fn an_answer_is_kept_in_words() {
        let reactions = [
            Reaction::Accept,
            Reaction::Status(UNAVAILABLE),
            Reaction::Status(99),
            Reaction::Slow(SimTime::from_secs(2)),
            Reaction::Hang,
            Reaction::LoseReply,
            Reaction::Disconnect,
        ];
        assert_eq!(
            reactions.map(Reaction::answer),
            [
                "accepted",
                "UNAVAILABLE",
                "code 99",
                "accepted after 2s",
                "no answer",
                "accepted, reply lost",
                "cut off"
            ]
        );
    }

    #[test]
    fn a_lost_reply_was_accepted_and_a_cut_call_was_not() {
        assert!(Reaction::LoseReply.accepted());
        assert!(!Reaction::Disconnect.accepted());
        assert!(!Reaction::Hang.accepted());
    }
}
