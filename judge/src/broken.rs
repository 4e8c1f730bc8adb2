//! A drill that broke off.

use observe::{Broken, Exit};
use reports::{Finding, FindingKind};
use scenarios::What;

use crate::Judging;

impl<'a> Judging<'a> {
    /// Whether the story expects the drill to end in this way.
    pub(super) fn expects_breaking(&self, broken: &Broken) -> bool {
        let wants = |what: &What| matches!(what, What::StuckInKernel);
        matches!(broken, Broken::StuckInKernel { .. })
            && self
                .story
                .expectations
                .iter()
                .any(|expectation| wants(&expectation.what))
    }

    pub(super) fn broken(&mut self, broken: &Broken) {
        let (kind, tick, expected, came) = match broken {
            Broken::Hung { tick, waiting_for } => (
                FindingKind::Hung,
                Some(*tick),
                waiting_for.clone(),
                vec!["no progress within the limit".to_owned()],
            ),
            Broken::Crashed {
                tick,
                exit,
                last_words,
            } => {
                let how = match exit {
                    Exit::Code(code) => format!("it ended with exit code {code}"),
                    Exit::Signal(signal) => format!("it was ended by signal {signal}"),
                };
                let words = last_words.iter().cloned();
                (
                    FindingKind::Crashed,
                    Some(*tick),
                    "a monitor that goes on".to_owned(),
                    std::iter::once(how).chain(words).collect(),
                )
            }
            Broken::Excess { tick, what } => (
                FindingKind::Excess,
                Some(*tick),
                "a poll that ends within its limits".to_owned(),
                vec![what.clone()],
            ),
            Broken::StuckInKernel { tick } => (
                FindingKind::StuckInKernel,
                Some(*tick),
                "a monitor that can be ended".to_owned(),
                vec!["it waits in the kernel".to_owned()],
            ),
            Broken::SocketTampered { tick, what } => (
                FindingKind::SocketTampered,
                Some(*tick),
                "the connector's socket, as the drill made it".to_owned(),
                vec![what.clone()],
            ),
            Broken::Interrupted => (
                FindingKind::Stage,
                None,
                "a drill that is played to its end".to_owned(),
                vec!["interrupted".to_owned()],
            ),
            Broken::Stage { cause } => (
                FindingKind::Stage,
                None,
                "a stage".to_owned(),
                vec![cause.clone()],
            ),
        };
        let cause = Finding::of(kind).cause;
        let mut finding = self.finding(kind, cause, None, tick);
        finding.expected.push(expected);
        finding.came = came;
        if let Some(tick) = tick {
            finding.reads = self.reads(None, tick, &[]);
        }
        self.findings.push(finding);
    }
}
