//! A drill as lanes over time: a row for each port, device, monitor and so on that something happened to, with stretches
//! of its true state and marks of what was done, said and expected. The terminal ([`lanes_page`]) and the HTML report draw
//! the same lanes. Start at [`Lanes`].

use std::fmt;

use terms::Arm;

mod svg;
mod text;

pub(crate) use svg::lanes_svg;
pub use text::lanes_page;

/// The lanes of a drill in one arm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// The arm; `None` for lanes of no particular one.
    pub arm: Option<Arm>,
    /// The simulated time of each tick, in milliseconds since the drill began.
    pub times_ms: Vec<u64>,
    /// The lanes, in the order in which they are drawn.
    pub lanes: Vec<Lane>,
    /// Number of ports that have no lane, because nothing happened to them.
    pub quiet_ports: usize,
}

/// The subject of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaneOf {
    /// The world as a whole: what is done to no single subject.
    World,
    /// A port.
    Port,
    /// A device.
    Device,
    /// A card.
    Card,
    /// A workload.
    Workload,
    /// A monitor.
    Monitor,
    /// The connector that receives a monitor's calls.
    Connector,
    /// The cluster that receives the events.
    Cluster,
}

impl LaneOf {
    /// The subject in a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::World => "world",
            Self::Port => "port",
            Self::Device => "device",
            Self::Card => "card",
            Self::Workload => "workload",
            Self::Monitor => "monitor",
            Self::Connector => "connector",
            Self::Cluster => "cluster",
        }
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Its subject.
    pub of: LaneOf,
    /// The subject's name, such as `mlx5_0/1`; empty if there is only one of it.
    pub name: String,
    /// The states of the subject, in order and without gaps; empty if it has none.
    pub stretches: Vec<Stretch>,
    /// What happened, in order of time.
    pub marks: Vec<Mark>,
}

/// `port mlx5_0/1`.
impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.of.word();
        match self.name.as_str() {
            "" => f.write_str(of),
            name => write!(f, "{of} {name}"),
        }
    }
}

/// A state that lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its first tick.
    pub from: u64,
    /// Its last tick.
    pub to: u64,
    /// Whether the subject is well in it.
    pub is_well: bool,
    /// The state.
    pub text: String,
}

/// Something at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The tick in which it is, from 0.
    pub tick: u64,
    /// The first tick of its window, for an expectation.
    pub since: Option<u64>,
    /// Its kind.
    pub kind: MarkKind,
    /// What happened.
    pub text: String,
}

/// The kind of a mark. Where marks share a place, the first kind is drawn first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// A finding that belongs to no expectation.
    Wrong,
    /// An expectation that did not hold.
    Missed,
    /// A step of the story.
    Step,
    /// The true state changed.
    Change,
    /// A fatal event was accepted.
    Fatal,
    /// A nonfatal event was accepted.
    NonFatal,
    /// A healthy event was accepted.
    Healthy,
    /// An event of unknown severity was accepted.
    Unknown,
    /// An event was said, and its call was not accepted.
    Refused,
    /// A call was accepted.
    Accepted,
    /// The monitor ended.
    Exit,
    /// An action of the cluster.
    Consequence,
    /// An expectation that held.
    Met,
    /// An expectation that was not judged.
    NotJudged,
    /// The reads of a poll.
    Read,
}

impl MarkKind {
    /// All kinds, in order.
    pub const ALL: [Self; 15] = [
        Self::Wrong,
        Self::Missed,
        Self::Step,
        Self::Change,
        Self::Fatal,
        Self::NonFatal,
        Self::Healthy,
        Self::Unknown,
        Self::Refused,
        Self::Accepted,
        Self::Exit,
        Self::Consequence,
        Self::Met,
        Self::NotJudged,
        Self::Read,
    ];

    /// The mark in a terminal, one column wide.
    #[must_use]
    pub const fn sign(self) -> char {
        match self {
            Self::Wrong => '!',
            Self::Missed => '✗',
            Self::Step => '*',
            Self::Change => '/',
            Self::Fatal => 'F',
            Self::NonFatal => 'N',
            Self::Healthy => 'h',
            Self::Unknown => 'u',
            Self::Refused => 'x',
            Self::Accepted => 'a',
            Self::Exit => 'E',
            Self::Consequence => 'c',
            Self::Met => '✓',
            Self::NotJudged => '?',
            Self::Read => ':',
        }
    }

    /// The kind in a few words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Wrong => "a finding beside the expectations",
            Self::Missed => "expectation missed",
            Self::Step => "step of the story",
            Self::Change => "the true state changed",
            Self::Fatal => "said fatal, accepted",
            Self::NonFatal => "said nonfatal, accepted",
            Self::Healthy => "said healthy, accepted",
            Self::Unknown => "said with unknown severity, accepted",
            Self::Refused => "said, not accepted",
            Self::Accepted => "call accepted",
            Self::Exit => "the monitor ended",
            Self::Consequence => "action of the cluster",
            Self::Met => "expectation met",
            Self::NotJudged => "expectation not judged",
            Self::Read => "reads of a poll",
        }
    }

    /// The kind as a class of the HTML report.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Missed => "missed",
            Self::Step => "step",
            Self::Change => "change",
            Self::Fatal => "fatal",
            Self::NonFatal => "nonfatal",
            Self::Healthy => "healthy",
            Self::Unknown => "unknown",
            Self::Refused => "refused",
            Self::Accepted => "accepted",
            Self::Exit => "exit",
            Self::Consequence => "consequence",
            Self::Met => "met",
            Self::NotJudged => "not-judged",
            Self::Read => "read",
        }
    }
}

impl Lanes {
    /// The lanes without the marks of reads.
    #[must_use]
    pub fn without_reads(mut self) -> Self {
        for lane in &mut self.lanes {
            lane.marks.retain(|mark| mark.kind != MarkKind::Read);
        }
        self
    }

    /// The kinds of marks that there are, in order.
    pub(crate) fn kinds(&self) -> Vec<MarkKind> {
        let is_there = |kind: &MarkKind| {
            let mut marks = self.lanes.iter().flat_map(|lane| &lane.marks);
            marks.any(|mark| mark.kind == *kind)
        };
        MarkKind::ALL.into_iter().filter(is_there).collect()
    }

    /// A tick with its time: `poll 4, 9s`.
    pub(crate) fn time(&self, tick: u64) -> String {
        let at = usize::try_from(tick).ok();
        match at.and_then(|at| self.times_ms.get(at)) {
            Some(ms) => format!("poll {tick}, {}", seconds(*ms)),
            None => format!("poll {tick}"),
        }
    }
}

/// Milliseconds as seconds: `9s`, `9.5s`.
pub(crate) fn seconds(ms: u64) -> String {
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}
