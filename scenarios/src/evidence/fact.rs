//! A topic of a story, and whether a machine lets it matter.

/// What a story can be about, in the order in which facts are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// A world of several nodes.
    World,
    /// A monitored port, for a story in which the monitor watches.
    Watched,
    /// The link layer of the checks, events or files that it names.
    Layer,
    /// The default route as the signal that excludes a NIC.
    Route,
    /// The NUMA node as the signal that excludes a NIC.
    Numa,
    /// The row of the topology matrix as the signal that makes a NIC's role.
    Matrix,
    /// The mark of a virtual function as what excludes it.
    Virtual,
    /// The comparison of a port's card with its peers.
    Peers,
    /// A counter that the check of the port's layer reads.
    Counter,
}

/// Whether one topic of a story can matter on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The topic.
    pub topic: Topic,
    /// Whether it can matter.
    pub holds: bool,
    /// Why, in a few plain words.
    pub text: String,
}

impl Fact {
    pub(crate) fn holds(topic: Topic, text: impl Into<String>) -> Self {
        let text = text.into();
        let holds = true;
        Self { topic, holds, text }
    }

    pub(crate) fn lacks(topic: Topic, text: impl Into<String>) -> Self {
        let holds = false;
        Self {
            holds,
            ..Self::holds(topic, text)
        }
    }
}
