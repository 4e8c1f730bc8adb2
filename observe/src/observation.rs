//! One thing that a monitor said, whatever protocol carried it.

use std::fmt;

/// One thing that a monitor said.
///
/// An adapter makes it of what came over the wire; the judge, pages, recorder and the comparison of
/// arms read nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The node that it names; `None` if the protocol names none.
    pub node: Option<String>,
    /// The time that it states, in nanoseconds since 1970; `None` if it states none, or one that
    /// cannot be.
    pub stamped_ns: Option<u64>,
    /// The check that it names; `None` if it names none.
    pub check: Option<String>,
    /// What it is about.
    pub subject: Subject,
    /// How it says its subject is.
    pub severity: Severity,
    /// Codes that tell several faults of one subject apart, such as a counter's name.
    pub codes: Vec<String>,
    /// Its text, for people.
    pub text: String,
    /// Everything else that it says, as name and value, in a fixed order.
    pub fields: Vec<(String, String)>,
    /// The bytes that came, unopened.
    pub raw: Vec<u8>,
}

/// What an observation is about, as the monitor names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The node as a whole, or everything that the named check watches.
    #[default]
    Node,
    /// A device, such as `mlx5_3`.
    Device(String),
    /// A port of a device.
    Port {
        /// The device.
        device: String,
        /// The port's number, as it was written.
        port: String,
    },
    /// A card, by its PCI address without the function, such as `0000:19:00`.
    Card(String),
    /// Something that the adapter does not know, in the monitor's words.
    Other(String),
}

impl Subject {
    /// The device or card that it names.
    #[must_use]
    pub fn nic(&self) -> Option<&str> {
        match self {
            Self::Device(name) | Self::Card(name) | Self::Port { device: name, .. } => Some(name),
            Self::Node | Self::Other(_) => None,
        }
    }

    /// The number of the port that it names.
    #[must_use]
    pub fn port(&self) -> Option<&str> {
        match self {
            Self::Port { port, .. } => Some(port),
            _ => None,
        }
    }
}

/// `NIC=mlx5_0 NICPort=1`; nothing for a whole node.
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

/// How a monitor says that a subject is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong with it, or no longer.
    Healthy,
    /// Something is wrong, and work goes on.
    NonFatal,
    /// Work that uses it fails.
    Fatal,
    /// It cannot be told: the monitor says so, or contradicts itself.
    #[default]
    Unknown,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Healthy => "healthy",
            Self::NonFatal => "nonfatal",
            Self::Fatal => "fatal",
            Self::Unknown => "unknown",
        })
    }
}

/// One readable line: severity, subject, check, text, and codes.
impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.severity)?;
        if self.subject != Subject::Node {
            write!(f, " {}", self.subject)?;
        }
        if let Some(check) = &self.check {
            write!(f, " {check}")?;
        }
        write!(f, " \"{}\"", self.text)?;
        if !self.codes.is_empty() {
            write!(f, " [{}]", self.codes.join(", "))?;
        }
        Ok(())
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
            ..observation
        };
        assert_eq!(
            observation.to_string(),
            "healthy EthernetDegradationCheck \"counter\""
        );
    }
}
