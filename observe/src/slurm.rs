//! What a health check asks Slurm for: its calls of `scontrol`.
//!
//! `scontrol update NodeName=… State=DRAIN Reason=…` takes a node out of service and `State=RESUME` puts it back
//! (Slurm, `scontrol(1)`). Start at [`observed`].

use schemars::JsonSchema;
use serde::Deserialize;
use terms::Severity;

use crate::{ExitCodes, Observation, Subject};

/// Whom a program asks for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Actions {
    /// Slurm, by `scontrol`.
    Slurm,
}

/// The field of a statement that puts a node back into service which somebody else has drained: the reason of that drain.
pub const LIFTED: &str = "lifted";

/// The calls in the record of a node's `scontrol`: for each the number of its arguments and the arguments, all ended by
/// a zero byte. What is incomplete at the end is left out.
#[must_use]
pub fn calls(record: &str) -> Vec<Vec<String>> {
    let mut words = record.split_terminator('\0');
    let mut calls = Vec::new();
    while let Some(count) = words.next().and_then(|word| word.parse::<usize>().ok()) {
        let call: Vec<String> = words.by_ref().take(count).map(str::to_owned).collect();
        if call.len() == count {
            calls.push(call);
        }
    }
    calls
}

/// What a call of `scontrol` says about this node; `None` if it changes nothing, or is about another node.
#[must_use]
pub fn observed(call: &[String], node: &str, codes: &ExitCodes) -> Option<Observation> {
    let is_option = |word: &&String| word.starts_with('-');
    let mut words = call.iter().skip_while(is_option);
    if !words.next()?.eq_ignore_ascii_case("update") {
        return None;
    }
    let settings: Vec<(String, &str)> = words
        .filter_map(|word| word.split_once('='))
        .map(|(key, value)| (key.to_lowercase(), value))
        .collect();
    let setting = |name: &str| {
        let mut found = settings.iter().filter(|(key, _)| key == name);
        found.next().map(|(_, value)| *value)
    };
    let nodes = setting("nodename").or_else(|| setting("node"))?;
    if !nodes.split(',').any(|of| of == node) {
        return None;
    }
    let reason = setting("reason").unwrap_or_default();
    let severity = match setting("state")?.to_uppercase().as_str() {
        "DRAIN" | "DOWN" | "FAIL" | "FAILING" => Severity::Fatal,
        "RESUME" | "UNDRAIN" | "IDLE" => Severity::Healthy,
        _ => return None,
    };
    let lifted = codes
        .drained_by
        .clone()
        .filter(|_| severity == Severity::Healthy);
    Some(Observation {
        subject: match severity {
            Severity::Healthy => Subject::Node,
            _ => codes.subject_of(reason),
        },
        severity,
        text: format!("scontrol {}", call.join(" ")),
        fields: lifted
            .map(|reason| (LIFTED.to_owned(), reason))
            .into_iter()
            .collect(),
        ..Observation::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(codes: &str, call: &[&str], stated: Option<&str>) {
        let codes: ExitCodes = toml::from_str(codes).unwrap();
        let call: Vec<String> = call.iter().map(|word| (*word).to_owned()).collect();
        let observed = observed(&call, "n1", &codes);
        let line = observed.map(|it| format!("{} {}", it.severity, it.subject));
        assert_eq!(line.as_deref(), stated, "{call:?}");
    }

    const SLURM: &str = "actions = 'slurm'\nsubject = 'port (?P<device>[^/]+)/(?P<port>[0-9]+)'";

    #[test]
    fn a_drain_is_fatal_and_a_resume_is_healthy() {
        let drain = [
            "update",
            "NodeName=n1",
            "State=DRAIN",
            "Reason=NHC: port a/1 is down",
        ];
        check(SLURM, &drain, Some("fatal NIC=a NICPort=1"));
        check("actions = 'slurm'", &drain, Some("fatal "));
        check(
            SLURM,
            &["-Q", "update", "state=resume", "nodename=n2,n1"],
            Some("healthy "),
        );
    }

    #[test]
    fn what_changes_nothing_or_another_node_says_nothing() {
        check(SLURM, &["show", "node", "n1"], None);
        check(
            SLURM,
            &["update", "NodeName=n2", "State=DRAIN", "Reason=x"],
            None,
        );
        check(SLURM, &["update", "NodeName=n1", "Comment=x"], None);
        check(SLURM, &["update", "JobId=7", "State=DRAIN"], None);
        check(SLURM, &[], None);
    }

    #[test]
    fn a_resume_of_a_node_that_somebody_else_drained_is_marked() {
        let fields = |state: &str| {
            let codes: ExitCodes =
                toml::from_str("actions = 'slurm'\ndrained_by = 'a new PSU'").unwrap();
            let call = ["update", "NodeName=n1", state].map(str::to_owned);
            observed(&call, "n1", &codes).unwrap().fields
        };
        assert_eq!(
            fields("State=RESUME"),
            [(LIFTED.to_owned(), "a new PSU".to_owned())]
        );
        assert_eq!(fields("State=DRAIN"), []);
    }

    #[test]
    fn a_record_is_read_call_by_call() {
        let record = "2\0update\0Reason=two words\x002\0show\0node\x003\0update\0cut";
        let words: Vec<usize> = calls(record).iter().map(Vec::len).collect();
        assert_eq!(words, [2, 2]);
        assert_eq!(calls(record)[0][1], "Reason=two words");
        assert!(calls("").is_empty());
    }
}
