//! Queries a monitor's metrics and health at the end of a tick, after the poll.

use std::{
    io,
    time::{Duration, Instant},
};

use platforms::NodeName;

use super::{Play, Player};
use director::metrics_query;
use observe::{Answers, PageForm, PageText, series};

use crate::process::http;

/// How long health is queried until it is as expected. A loop counts as stuck after three seconds
/// at the earliest (`drill/healthz`), and the machine may be loaded.
const HEALTH_LIMIT: Duration = Duration::from_secs(15);

/// The pause between two health queries.
const PAUSE: Duration = Duration::from_millis(50);

impl Player<'_> {
    /// Queries every monitor as far as the story's expectations for this tick need it.
    pub(super) fn ask_for_metrics(&mut self) -> Play<()> {
        let (tick, descriptor) = (self.tick(), self.descriptor);
        let nodes: Vec<NodeName> = self.node_runtimes.keys().cloned().collect();
        for node in nodes {
            let wanted = metrics_query(self.story, &node, tick);
            let mut answers = Answers::default();
            let mut instances = self.node_runtimes[&node].instances.values();
            let rests = instances.all(|instance| instance.granted.is_none());
            if let (true, Some(page)) = (wanted.metrics && rests, &descriptor.metrics) {
                let text = PageText::new(PageForm::Series, &descriptor.limits);
                let rendered = self.get(&node, &page.path, Some(text))?;
                answers.metrics = rendered
                    .filter(|(status, _)| *status == 200)
                    .and_then(|(_, text)| series(&text));
                // Files read for the answer belong to no poll.
                self.node_runtime(&node).forget_reads();
            }
            if let (Some(status), Some(path)) = (wanted.healthz, &descriptor.healthz) {
                let begun = Instant::now();
                loop {
                    let answer = self.get(&node, path, None)?;
                    answers.healthz = answer.map(|(status, _)| status);
                    let is_empty = self.node_runtimes[&node].instances.is_empty();
                    if answers.healthz == Some(status)
                        || is_empty
                        || begun.elapsed() >= HEALTH_LIMIT
                    {
                        break;
                    }
                    if let Some(event) = self.next(PAUSE) {
                        self.react(event)?;
                    }
                }
            }
            self.node_runtime(&node).tick.answers = answers;
        }
        Ok(())
    }

    /// The answer of the node's monitor that has run longest.
    fn get(
        &mut self,
        node: &NodeName,
        path: &str,
        page: Option<PageText>,
    ) -> Play<Option<(u16, String)>> {
        let Some(instance) = self.node_runtimes[node].instances.values().next() else {
            return Ok(None);
        };
        let at = (instance.program.pid(), instance.metrics_port);
        match http::get(&self.arm.runtime, at, path, page) {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                Err(self.over_limit(format!("its page has {error}")))
            }
            Err(_) => Ok(None),
        }
    }
}
