//! An observation: one statement of a monitor, independent of the protocol.

use std::fmt;

use terms::Severity;

/// One statement of a monitor.
///
/// An adapter creates it from what it received; the judge, pages, recorder and the comparison of
/// arms read only observations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The node in the statement; `None` if the protocol has none.
    pub node: Option<String>,
    /// The timestamp, in nanoseconds since 1970; `None` if there is none or it is invalid.
    pub stamped_ns: Option<u64>,
    /// Whether the timestamp of a monitor with its own clock is further off the time of its receipt than its
    /// descriptor allows.
    pub off_clock: bool,
    /// The check; `None` if there is none.
    pub check: Option<String>,
    /// The subject.
    pub subject: Subject,
    /// The severity.
    pub severity: Severity,
    /// Codes that distinguish several faults of one subject, such as a counter's name.
    pub codes: Vec<String>,
    /// The message for people.
    pub text: String,
    /// All other fields, as name and value, in a fixed order.
    pub fields: Vec<(String, String)>,
    /// The received bytes, not decoded.
    pub raw: Vec<u8>,
}

/// The subject of an observation, as the monitor names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The node as a whole, or everything that the check monitors.
    #[default]
    Node,
    /// A device, such as `mlx5_3`.
    Device(String),
    /// A port of a device.
    Port {
        /// The device.
        device: String,
        /// The port's number, as received.
        port: String,
    },
    /// A card, by its PCI address without the function, such as `0000:19:00`.
    Card(String),
    /// A subject that the adapter does not know, as received.
    Other(String),
}

/// The field of an observation with the word of its monitor that the descriptor does not name.
pub const UNNAMED: &str = "word";

/// The fields of an observation with this unnamed word, if there is one.
pub(crate) fn unnamed(word: Option<String>) -> Vec<(String, String)> {
    let field = word.map(|word| (UNNAMED.to_owned(), word));
    field.into_iter().collect()
}

impl Subject {
    /// What these names are about: a port of a device, a device, a card, or the node. A port of no device is not told.
    #[must_use]
    pub fn named(device: Option<String>, port: Option<String>, card: Option<String>) -> Self {
        match (device, port, card) {
            (Some(device), Some(port), _) => Self::Port { device, port },
            (Some(device), None, _) => Self::Device(device),
            (None, _, Some(card)) => Self::Card(card),
            (None, _, None) => Self::Node,
        }
    }

    /// The device or card.
    #[must_use]
    pub fn nic(&self) -> Option<&str> {
        match self {
            Self::Device(name) | Self::Card(name) | Self::Port { device: name, .. } => Some(name),
            Self::Node | Self::Other(_) => None,
        }
    }

    /// The number of the port.
    #[must_use]
    pub fn port(&self) -> Option<&str> {
        match self {
            Self::Port { port, .. } => Some(port),
            _ => None,
        }
    }
}

/// `NIC=mlx5_0 NICPort=1`; empty for a whole node.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node => Ok(()),
            Self::Device(name) | Self::Card(name) => write!(f, "NIC={name}"),
            Self::Port { device, port } => write!(f, "NIC={device} NICPort={port}"),
            Self::Other(words) => f.write_str(words),
        }
    }
}

/// One line of text: severity, subject, check, message, and codes.
impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = self.severity.to_string();
        if self.subject != Subject::Node {
            line += &format!(" {}", self.subject);
        }
        if let Some(check) = &self.check {
            line += &format!(" {check}");
        }
        line += &format!(" \"{}\"", self.text);
        if !self.codes.is_empty() {
            line += &format!(" [{}]", self.codes.join(", "));
        }
        // A newline in what the monitor says begins no line of ours.
        f.write_str(&line.replace('\n', "\\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_severity_subject_check_text_and_codes() {
        let mut observation = Observation {
            check: Some("EthernetDegradationCheck".to_owned()),
            subject: Subject::Port {
                device: "mlx5_0".to_owned(),
                port: "1".to_owned(),
            },
            severity: Severity::Fatal,
            codes: vec!["link_downed".to_owned()],
            text: "counter".to_owned(),
            ..Observation::default()
        };
        assert_eq!(
            observation.to_string(),
            "fatal NIC=mlx5_0 NICPort=1 EthernetDegradationCheck \"counter\" [link_downed]"
        );
        observation = Observation {
            subject: Subject::Node,
            severity: Severity::Healthy,
            codes: Vec::new(),
            text: "counter\n1 drill: 1 passed".to_owned(),
            ..observation
        };
        assert_eq!(
            observation.to_string(),
            "healthy EthernetDegradationCheck \"counter\\n1 drill: 1 passed\""
        );
        observation.text = "counter".to_owned();
        assert_eq!(
            observation.to_string(),
            "healthy EthernetDegradationCheck \"counter\""
        );
    }
}
