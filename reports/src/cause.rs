//! The cause of a finding, as facts: what is wrong, the severity, the field that differs, the subject
//! with its role and layer, and the action of the scenario before it.
//!
//! Nothing of it is read from a text, so rewording a finding changes no cause. Neither platform, poll
//! nor arm is part of it. Findings of one cause are told once ([`crate::groups`]). Start at [`Cause`].

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use terms::{EventField, LinkLayer, Severity};

/// Defines an enum of facts, each with the word that it has in a cause's name.
macro_rules! facts {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$of])* $variant,)*
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its word in a cause's name.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

/// Takes the word at the front of the words of a cause's name, if it is the word of one of these facts.
fn take<'w, F: Copy>(
    words: &mut std::iter::Peekable<impl Iterator<Item = &'w str>>,
    all: &[F],
    word: impl Fn(F) -> &'static str,
) -> Option<F> {
    let front = *words.peek()?;
    let fact = all.iter().find(|fact| word(**fact) == front)?;
    words.next();
    Some(*fact)
}

facts! {
    /// What is wrong. Each place in the judge and the runner that makes findings has its own kinds.
    CauseKind {
        /// No event about the subject came in the time of the expectation.
        Missed = "missed",
        /// An event about the subject came in time, and differs from the expected one in a field; without a field it is an
        /// alarm of another severity.
        Differs = "differs",
        /// The expected event came before its time.
        Early = "early",
        /// The expected event came after its time.
        Late = "late",
        /// The expected event was sent, the connector did not accept it, and it was not sent again.
        NotDelivered = "not-delivered",
        /// The expected event came less often than expected.
        TooRarely = "too-rarely",
        /// An event that no expectation matches.
        Unexpected = "unexpected",
        /// An event about which the scenario demands silence.
        Silence = "silence",
        /// An event that repeats what the same subject said before.
        Repeats = "repeats",
        /// Events of an ordered group came in another order.
        Order = "order",
        /// A port could be seen going down another number of times than the scenario says.
        Edges = "edges",
        /// An event or call violates the wire contract in a field.
        Contract = "contract",
        /// Two events of one call bear one timestamp, and their order decides what stands.
        Undecided = "undecided",
        /// A fault was not cleared after healing.
        NotCleared = "not-cleared",
        /// A node condition was present after healing, without an outstanding fault of its node.
        ConditionLeft = "condition-left",
        /// A node was cordoned after healing, without an outstanding fault of its node.
        CordonLeft = "cordon-left",
        /// A moment that the scenario waits for never came.
        Moment = "moment",
        /// The monitor's exit code.
        Exit = "exit",
        /// A line of the monitor's log that is expected, or not.
        Log = "log",
        /// The number of polls.
        Polls = "polls",
        /// The number of calls.
        Calls = "calls",
        /// The state file.
        StateFile = "state-file",
        /// The number of reads of a file.
        Reads = "reads",
        /// A metric.
        Metric = "metric",
        /// The status of `/healthz`.
        Healthz = "healthz",
        /// What the ends of a link remember. It is about the world alone.
        Link = "link",
        /// The state of an LNet interface. It is about the world alone.
        Lnet = "lnet",
        /// The outcome of a workload. It is about the world alone.
        Workload = "workload",
        /// The verdict on the monitor's report about a workload.
        Verdict = "verdict",
        /// A node condition that the scenario expects, or not.
        Condition = "condition",
        /// A cordon that the scenario expects, or not.
        Cordon = "cordon",
        /// A release that the scenario expects, or not.
        Release = "release",
        /// A correlation rule that fires, or does not.
        Rule = "rule",
        /// The monitor was expected to be stuck in the kernel.
        NotStuck = "not-stuck",
        /// The monitor ended by itself.
        Crashed = "crashed",
        /// The monitor made no progress within the limit.
        Hung = "hung",
        /// The monitor used more in one poll, or took longer, than a drill allows.
        Excess = "excess",
        /// The monitor cannot be killed.
        StuckInKernel = "stuck-in-kernel",
        /// The monitor removed the connector's socket, or put something else in its place.
        SocketTampered = "socket-tampered",
        /// The recordings of the two arms differ.
        ArmsDiffer = "arms-differ",
        /// The trace differs from the golden one.
        GoldenDiffers = "golden-differs",
        /// Two repeats of one drill differ.
        RepeatsDiffer = "repeats-differ",
        /// The stage could not be set.
        Stage = "stage",
        /// An internal error.
        Fault = "fault",
    }
}

impl CauseKind {
    /// Whether it is about the world alone, in which the monitor has no part.
    #[must_use]
    pub const fn is_of_the_world(self) -> bool {
        matches!(self, Self::Link | Self::Lnet | Self::Workload)
    }
}

facts! {
    /// The kind of a subject.
    CauseSubject {
        /// A port.
        Port = "port",
        /// A device.
        Device = "device",
        /// A card.
        Card = "card",
        /// A whole check or node.
        Check = "check",
        /// A subject of another kind.
        Other = "other",
    }
}

facts! {
    /// The role of a subject.
    CauseRole {
        /// A monitor must monitor it.
        Monitored = "monitored",
        /// It exists, and no monitor must monitor it: management, virtual, or of another vendor.
        Unmonitored = "unmonitored",
        /// The world has none of this name.
        Absent = "absent",
    }
}

facts! {
    /// What the scenario's last action before the finding acts on.
    CauseAction {
        /// A port or its cable.
        Port = "after-port",
        /// A counter, or traffic that counters count.
        Counter = "after-counter",
        /// A device, its driver or its functions.
        Device = "after-device",
        /// The node: reboot, clock, metadata, routes.
        Node = "after-node",
        /// The switch or the subnet manager.
        Fabric = "after-fabric",
        /// File operations of the monitor.
        File = "after-file",
        /// The connector.
        Connector = "after-connector",
        /// The monitor's process.
        Monitor = "after-monitor",
        /// The state file.
        StateFile = "after-state-file",
        /// A workload.
        Workload = "after-workload",
        /// Everything is healed.
        Healing = "after-healing",
    }
}

/// The cause of a finding. Facts that do not apply are `None`.
///
/// Its name (`Display`) is its words from the coarsest fact to the finest, such as
/// `missed.fatal.port.monitored.infiniband.after-port`, so that a prefix names a family of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cause {
    /// What is wrong.
    pub kind: CauseKind,
    /// The field that differs.
    pub field: Option<EventField>,
    /// The severity of the event.
    pub severity: Option<Severity>,
    /// The kind of the subject.
    pub subject: Option<CauseSubject>,
    /// The role of the subject.
    pub role: Option<CauseRole>,
    /// The layer of the subject or check.
    pub layer: Option<LinkLayer>,
    /// The action before it; `None` if there was none.
    pub action: Option<CauseAction>,
}

impl Cause {
    /// A cause of which nothing else is known.
    #[must_use]
    pub const fn of(kind: CauseKind) -> Self {
        Self {
            kind,
            field: None,
            severity: None,
            subject: None,
            role: None,
            layer: None,
            action: None,
        }
    }

    /// How many facts [`Cause::coarser`] can drop: action, layer and role.
    pub(crate) const COARSEST: u8 = 3;

    /// The cause without its finest facts: 0 leaves all, 1 drops the action, 2 the layer too, 3 and more the
    /// role too. What is left tells what the monitor does wrong. Its name is a prefix of this one's.
    #[must_use]
    pub fn coarser(self, by: u8) -> Self {
        Self {
            role: self.role.filter(|_| by < 3),
            layer: self.layer.filter(|_| by < 2),
            action: self.action.filter(|_| by < 1),
            ..self
        }
    }

    /// The cause with the finest facts that all of these have, which are it or kinds of it; without any it is this one.
    pub(crate) fn shared_by(self, full: impl IntoIterator<Item = Self>) -> Self {
        let both = |one: Self, other: Self| {
            let by = (0..Self::COARSEST).find(|by| one.coarser(*by) == other.coarser(*by));
            one.coarser(by.unwrap_or(Self::COARSEST))
        };
        let full = full.into_iter().map(|full| Self {
            role: full.role,
            layer: full.layer,
            action: full.action,
            ..self
        });
        full.reduce(both).unwrap_or(self)
    }

    /// Whether it is the other cause, or that with finer facts.
    pub(crate) fn is_kind_of(self, other: Self) -> bool {
        let mut words = self.words();
        other.words().all(|word| words.next() == Some(word))
    }

    /// Whether scenarios of a family are about what its action acts on.
    pub(crate) fn is_of_family(self, family: &str) -> bool {
        let of = self
            .action
            .and_then(|action| action.word().strip_prefix("after-"));
        of == Some(family)
    }

    /// The words of its name, from the coarsest fact to the finest.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        [
            Some(self.kind.word()),
            self.field.map(EventField::word),
            self.severity.map(Severity::word),
            self.subject.map(CauseSubject::word),
            self.role.map(CauseRole::word),
            self.layer.map(LinkLayer::word),
            self.action.map(CauseAction::word),
        ]
        .into_iter()
        .flatten()
    }

    /// The cause as a sentence about the monitor, without a subject: `reports ports that are not
    /// monitored`.
    #[must_use]
    pub fn headline(self) -> String {
        let mut text = self.predicate();
        if let Some(layer) = self.layer {
            text.push_str(match layer {
                LinkLayer::InfiniBand => ", on InfiniBand",
                LinkLayer::Ethernet => ", on Ethernet",
            });
        }
        if let Some(action) = self.action {
            text.push_str(match action {
                CauseAction::Port => ", after an action on a port",
                CauseAction::Counter => ", after an action on a counter",
                CauseAction::Device => ", after an action on a device",
                CauseAction::Node => ", after an action on the node",
                CauseAction::Fabric => ", after an action on the fabric",
                CauseAction::File => ", after an action on a file",
                CauseAction::Connector => ", after a change of the connector's answers",
                CauseAction::Monitor => ", after an action on the monitor",
                CauseAction::StateFile => ", after an action on the state file",
                CauseAction::Workload => ", after an action on a workload",
                CauseAction::Healing => ", after healing",
            });
        }
        text
    }

    /// The headline without layer and action.
    fn predicate(self) -> String {
        use CauseKind as Kind;
        let events = self.events();
        let field = self.field.map_or("field", EventField::word);
        match self.kind {
            Kind::Missed => format!("does not send {events}"),
            // An alarm that is judged by intervals has no field: it differs in its severity alone.
            Kind::Differs if matches!(self.field, None | Some(EventField::Severity)) => {
                format!("sends another severity where {events} are expected")
            }
            Kind::Differs if self.field == Some(EventField::Entities) => {
                format!("sends {events} with other entities than expected")
            }
            Kind::Differs => format!("sends {events} with another {field}"),
            Kind::Early => format!("sends {events} too early"),
            Kind::Late => format!("sends {events} too late"),
            Kind::NotDelivered => {
                format!("does not send {events} again after the connector refused them")
            }
            Kind::TooRarely => format!("sends {events} too rarely"),
            Kind::Unexpected | Kind::Silence
                if matches!(self.role, Some(CauseRole::Unmonitored | CauseRole::Absent)) =>
            {
                format!("reports {}", self.subjects())
            }
            Kind::Unexpected => format!("sends {events} that nobody expects"),
            Kind::Silence => format!("sends {events} where silence is expected"),
            Kind::Repeats => format!("repeats {events}"),
            Kind::Order => format!("sends {events} in another order"),
            Kind::Edges => "could see the port go down another number of times".to_owned(),
            Kind::Contract => format!("breaks the contract of the wire: {field}"),
            Kind::Undecided => "sends events in one call with equal timestamps".to_owned(),
            Kind::NotCleared => format!("does not clear {events}"),
            Kind::ConditionLeft => "leaves a node condition after healing".to_owned(),
            Kind::CordonLeft => "leaves a node cordoned after healing".to_owned(),
            Kind::Moment => "never reaches the moment that the scenario waits for".to_owned(),
            Kind::Exit => "ends with another exit code".to_owned(),
            Kind::Log => "logs other lines".to_owned(),
            Kind::Polls => "makes too many or too few polls".to_owned(),
            Kind::Calls => "makes too many or too few calls to the connector".to_owned(),
            Kind::StateFile => "leaves another state file".to_owned(),
            Kind::Reads => "reads a file too often or too rarely".to_owned(),
            Kind::Metric => "has another value of a metric".to_owned(),
            Kind::Healthz => "answers `/healthz` with another status".to_owned(),
            Kind::Link => "the ends of a link remember something else".to_owned(),
            Kind::Lnet => "LNet is in another state".to_owned(),
            Kind::Workload => {
                "a workload, or one of its counters, is otherwise than expected".to_owned()
            }
            Kind::Verdict => "is right or wrong about a workload, unlike the scenario".to_owned(),
            Kind::Condition => "leads to another node condition".to_owned(),
            Kind::Cordon => "leads to another cordon".to_owned(),
            Kind::Release => "leads to another release of the node".to_owned(),
            Kind::Rule => "makes correlation rules fire otherwise than expected".to_owned(),
            Kind::NotStuck => "is not stuck in the kernel".to_owned(),
            Kind::Crashed => "ends by itself".to_owned(),
            Kind::Hung => "hangs".to_owned(),
            Kind::Excess => "does too much in a poll".to_owned(),
            Kind::StuckInKernel => "is stuck in the kernel".to_owned(),
            Kind::SocketTampered => "takes the connector's socket away".to_owned(),
            Kind::ArmsDiffer => "the arms differ".to_owned(),
            Kind::GoldenDiffers => "the trace is not the golden one".to_owned(),
            Kind::RepeatsDiffer => "two repeats differ".to_owned(),
            Kind::Stage => "the stage could not be set".to_owned(),
            Kind::Fault => "a fault of nicdrill's own".to_owned(),
        }
    }

    /// `fatal events about ports`.
    fn events(self) -> String {
        let severity = self.severity.map_or("", Severity::word);
        match self.subject {
            None => format!("{severity} events").trim_start().to_owned(),
            Some(_) => format!("{severity} events about {}", self.subjects())
                .trim_start()
                .to_owned(),
        }
    }

    /// `ports that are not monitored`.
    fn subjects(self) -> String {
        let subjects = match self.subject {
            Some(CauseSubject::Port) => "ports",
            Some(CauseSubject::Device) => "devices",
            Some(CauseSubject::Card) => "cards",
            Some(CauseSubject::Check) => "the node or a whole check",
            Some(CauseSubject::Other) | None => "subjects of another kind",
        };
        let role = match self.role {
            Some(CauseRole::Unmonitored) => " that are not monitored",
            Some(CauseRole::Absent) => " that do not exist",
            Some(CauseRole::Monitored) | None => "",
        };
        format!("{subjects}{role}")
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, word) in self.words().enumerate() {
            if place > 0 {
                f.write_str(".")?;
            }
            f.write_str(word)?;
        }
        Ok(())
    }
}

impl FromStr for Cause {
    type Err = CauseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || CauseError(text.to_owned());
        let mut words = text.split('.').peekable();
        let cause = Self {
            kind: take(&mut words, CauseKind::ALL, CauseKind::word).ok_or_else(error)?,
            field: take(&mut words, &EventField::ALL, EventField::word),
            severity: take(&mut words, &Severity::ALL, Severity::word),
            subject: take(&mut words, CauseSubject::ALL, CauseSubject::word),
            role: take(&mut words, CauseRole::ALL, CauseRole::word),
            layer: take(&mut words, &LinkLayer::ALL, LinkLayer::word),
            action: take(&mut words, CauseAction::ALL, CauseAction::word),
        };
        match words.next() {
            None => Ok(cause),
            Some(_) => Err(error()),
        }
    }
}

/// A text that is not the name of a cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of a cause, such as `missed.fatal.port`")]
pub struct CauseError(String);

impl Serialize for Cause {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cause {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const UNMONITORED: Cause = Cause {
        severity: Some(Severity::Healthy),
        subject: Some(CauseSubject::Port),
        role: Some(CauseRole::Unmonitored),
        layer: Some(LinkLayer::Ethernet),
        action: Some(CauseAction::Port),
        ..Cause::of(CauseKind::Unexpected)
    };

    /// One of these facts, or none.
    fn fact<T: Copy + fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = Option<T>> {
        proptest::option::of(proptest::sample::select(all))
    }

    proptest! {
        #[test]
        fn a_cause_is_read_back_from_its_name(
            kind in proptest::sample::select(CauseKind::ALL),
            field in fact(&EventField::ALL),
            severity in fact(&Severity::ALL),
            subject in fact(CauseSubject::ALL),
            role in fact(CauseRole::ALL),
            layer in fact(&LinkLayer::ALL),
            action in fact(CauseAction::ALL),
        ) {
            let cause = Cause { kind, field, severity, subject, role, layer, action };
            prop_assert_eq!(cause.to_string().parse(), Ok(cause));
        }
    }

    #[test]
    fn what_is_no_cause_is_refused() {
        for text in [
            "",
            "fatal",
            "missed.port.fatal",
            "missed.fatal.unheard-of",
            "missed.",
        ] {
            assert!(text.parse::<Cause>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_cause_is_named_by_its_facts_and_told_as_a_sentence() {
        assert_eq!(
            UNMONITORED.to_string(),
            "unexpected.healthy.port.unmonitored.ethernet.after-port"
        );
        assert_eq!(
            UNMONITORED.coarser(2).headline(),
            "reports ports that are not monitored"
        );
        assert_eq!(
            UNMONITORED.headline(),
            "reports ports that are not monitored, on Ethernet, after an action on a port"
        );
    }

    /// `differs.fatal.port` is the name of an alarm that is less severe than it should be.
    #[test]
    fn a_headline_names_the_field_that_differs() {
        let differs = |field| Cause {
            field,
            severity: Some(Severity::Fatal),
            subject: Some(CauseSubject::Port),
            ..Cause::of(CauseKind::Differs)
        };
        let fields = EventField::ALL.map(Some);
        for field in fields.into_iter().chain([None]) {
            let headline = differs(field).headline();
            let word = field.map_or("severity", EventField::word);
            assert!(headline.contains(word), "{headline}");
        }
        assert_eq!(
            differs(None).headline(),
            "sends another severity where fatal events about ports are expected"
        );
    }

    #[test]
    fn the_name_of_a_coarser_cause_is_a_prefix() {
        for by in 0..4 {
            let name = UNMONITORED.coarser(by).to_string();
            assert!(UNMONITORED.to_string().starts_with(&name), "{name}");
        }
        assert_eq!(
            UNMONITORED.coarser(3).to_string(),
            "unexpected.healthy.port"
        );
    }

    #[test]
    fn no_two_kinds_have_one_word_or_one_headline() {
        let words: BTreeSet<&str> = CauseKind::ALL.iter().map(|kind| kind.word()).collect();
        assert_eq!(words.len(), CauseKind::ALL.len());
        let told = CauseKind::ALL
            .iter()
            .map(|kind| Cause::of(*kind).headline());
        assert_eq!(told.collect::<BTreeSet<_>>().len(), CauseKind::ALL.len());
    }
}
