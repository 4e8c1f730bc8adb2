//! A call of a monitor, or what stands in the place of one. Start at [`Call`].

use crate::Observation;

/// A received call, before it is answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delivery {
    /// Its observations, in order.
    pub observations: Vec<Observation>,
    /// Fields of the call as a whole, as name and value.
    pub fields: Vec<(String, String)>,
}

impl From<Vec<Observation>> for Delivery {
    fn from(observations: Vec<Observation>) -> Self {
        Self {
            observations,
            fields: Vec::new(),
        }
    }
}

impl Delivery {
    /// The call, once it is answered.
    #[must_use]
    pub fn answered(self, accepted: bool, answer: String) -> Call {
        Call {
            observations: self.observations,
            fields: self.fields,
            accepted,
            answer,
        }
    }
}

/// A call that reached the connector.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its observations, in order.
    pub observations: Vec<Observation>,
    /// Fields of the call as a whole, as name and value.
    pub fields: Vec<(String, String)>,
    /// Whether it was accepted (whether or not the reply arrived).
    pub accepted: bool,
    /// The answer as text: `accepted`, `UNAVAILABLE`, `no reply`, …
    pub answer: String,
}
